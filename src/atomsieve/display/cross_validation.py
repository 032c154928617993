"""A cross-validation as a picture: the score of every strength, its standard error, and the two that rules choose."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from atomsieve.display.canvas import FONT, Display, canvas, counts_on_top, logarithmic, mark_places
from atomsieve.display.numbers import count, number
from atomsieve.display.palette import ACCENT, FAINT, INK, PAPER, SECOND
from atomsieve.display.reading import RULES, shown_scores
from atomsieve.typing import Array, Index

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class CVDisplay(Display):
    """Scores on held-out samples, from the sparsest model on the left to the largest on the right.

    Folds are thin lines, their mean a thick one with its standard error around it. Both strengths are marked: that of
    the best mean, and that of the strongest penalty within one standard error of it. Make one by `from_estimator`.

    Parameters
    ----------
    strengths : array of shape (m,)
        The strengths, as users know them, sparsest model first.
    scores : array of shape (m, folds)
        What is drawn for each strength and fold: a loss, which is to be small, or a score, which is to be large.
    mean, error : arrays of shape (m,)
        The mean over folds, and its standard error.
    counts : array of shape (m,)
        The number of features of each model.
    index_min, index_1se : int
        The strengths with the best mean, and within one standard error of it.
    label, score : str
        What the strengths and the scores are called.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure of the last drawing.
    line_
        The line of the mean.
    """

    strengths: Array
    scores: Array
    mean: Array
    error: Array
    counts: Index
    index_min: int
    index_1se: int
    label: str = "strength"
    score: str = "held-out loss"
    line_: Any = field(init=False, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: "Axes | None" = None) -> Self:
        """Draw the cross-validation of a fitted estimator.

        Parameters
        ----------
        estimator : estimator of this package
            One that chose its strength by cross-validation.
        ax : axes, optional
            Where to draw; on new axes by default.
        """
        if not hasattr(estimator, "cv_scores_"):
            name = type(estimator).__name__
            raise TypeError(f"CVDisplay draws cross-validations: {name} has none, or is not fitted. Take {name}CV.")
        choice = estimator._choice
        sign, score = shown_scores(estimator)
        return cls(
            choice.candidates.values,
            sign * estimator.cv_scores_,
            sign * estimator.cv_mean_,
            estimator.cv_standard_error_,
            estimator.cv_results_["n_features"],
            estimator.index_min_,
            estimator.index_1se_,
            choice.candidates.grid.label,
            score,
        ).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the scores (needs matplotlib), on new axes by default."""
        ax = canvas(ax)
        logarithmic(ax, *_ends(self.strengths))
        ax.plot(self.strengths, self.scores, color=FAINT, linewidth=0.8, zorder=1)
        low, high = self.mean - self.error, self.mean + self.error
        ax.fill_between(self.strengths, low, high, color=ACCENT, alpha=0.18, linewidth=0, zorder=2)
        words = f"mean over {count(self.scores.shape[1], 'fold')} ± standard error"
        (self.line_,) = ax.plot(self.strengths, self.mean, color=ACCENT, linewidth=2.0, label=words, zorder=3)
        ax.set_ylim(*self._limits())
        self._mark(ax)
        counts_on_top(ax, self.strengths, self.counts, "features")
        ax.set_xlabel(f"{self.label} (more features to the right)")
        ax.set_ylabel(self.score)
        return self._on(ax)

    def _mark(self, ax: "Axes") -> None:
        """Mark both strengths, and say what they are."""
        marks = {"1se": self.index_1se, "min": self.index_min}
        mark_places(ax, {name: float(self.strengths[k]) for name, k in marks.items()}, self.strengths, self.scores)
        colours = {"min": ACCENT, "1se": SECOND}
        for name, k in marks.items():
            text = (
                f"{name} ({RULES[name].short}): {number(self.strengths[k], 3)}, {count(int(self.counts[k]), 'feature')}"
            )
            ax.plot(
                self.strengths[k],
                self.mean[k],
                "o" if name == "min" else "D",
                color=colours[name],
                markeredgecolor=PAPER,
                markersize=8 if name == "min" else 7,
                linestyle="none",
                label=text,
                zorder=6 if name == "1se" else 5,
            )
        ax.legend(loc="best", fontsize=FONT, frameon=True, facecolor=PAPER, edgecolor=FAINT, labelcolor=INK)

    def _limits(self) -> tuple[float, float]:
        """Return limits of the y-axis: those of the mean and its error decide, and folds where they are not far off."""
        low, high = np.nanmin(self.mean - self.error), np.nanmax(self.mean + self.error)
        room = (high - low) or abs(high) or 1.0
        low, high = max(np.nanmin(self.scores), low - 0.5 * room), min(np.nanmax(self.scores), high + 0.5 * room)
        return float(low - 0.08 * room), float(high + 0.08 * room)


def _ends(places: Array) -> tuple[float, float]:
    """Return the ends of an axis with equal ratios."""
    first, last = float(places[0]), float(places[-1])
    room = (last / first) ** 0.02
    return first / room, last * room
