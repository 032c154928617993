"""Predictions against what was observed, as a picture."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from atomsieve.display.canvas import FONT, Display, canvas
from atomsieve.display.numbers import number
from atomsieve.display.palette import ACCENT, FAINT, INK, MUTED, PAPER, SECOND
from atomsieve.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CROWD = 3000
"""From so many samples on they are counted in hexagons, not drawn one by one."""

BINS = 15
"""Number of parts of the samples whose mean residual is drawn."""


@dataclass(eq=False, repr=False)
class PredictionDisplay(Display):
    """Numbers that a model predicts, against the numbers that were observed.

    `kind="observed"` sets predictions against observations, with the line on which they agree. `kind="residual"` sets
    the differences against the predictions, with their mean over parts of the samples: a trend says what the model
    misses. Make one by `from_estimator` or `from_predictions`; `plot` draws it. For classifiers take scikit-learn's
    `RocCurveDisplay` and `CalibrationDisplay`.

    Parameters
    ----------
    observed, predicted : arrays of shape (n,)
        Targets, and what the model says of them.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure of the last drawing.
    """

    observed: Array
    predicted: Array

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        offset: Any = None,
        kind: Literal["observed", "residual"] = "observed",
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw what a fitted regressor predicts for samples, best of all for samples that it has not seen.

        Parameters
        ----------
        estimator : regressor
            A fitted one, with one output.
        X, y : samples and their targets
            As for `score`.
        offset : array, optional
            As for `predict`.
        kind, ax
            As for `plot`.
        """
        if hasattr(estimator, "classes_"):
            raise TypeError(
                f"PredictionDisplay is for numbers, and {type(estimator).__name__} predicts classes: take "
                "RocCurveDisplay or CalibrationDisplay of scikit-learn."
            )
        predicted = estimator.predict(X) if offset is None else estimator.predict(X, offset=offset)
        return cls.from_predictions(y, predicted, kind=kind, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        predicted: Any,
        *,
        kind: Literal["observed", "residual"] = "observed",
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw predictions that are at hand; `kind` and `ax` as for `plot`."""
        observed, predicted = (np.asarray(numbers, dtype=np.float64) for numbers in (y, predicted))
        if observed.shape != predicted.shape or observed.ndim != 1:
            raise ValueError(
                f"PredictionDisplay draws one output: y has shape {observed.shape}, predictions {predicted.shape}. "
                "Choose a column of both."
            )
        return cls(observed, predicted).plot(ax, kind=kind)

    def plot(self, ax: "Axes | None" = None, *, kind: Literal["observed", "residual"] = "observed") -> Self:
        """Draw the samples (needs matplotlib), on new axes by default.

        Parameters
        ----------
        ax : axes, optional
            Where to draw; on new axes by default.
        kind : "observed" or "residual"
            Whether to set predictions against observations, or residuals against predictions.
        """
        if kind not in ("observed", "residual"):
            raise ValueError(f'kind must be "observed" or "residual", got {kind!r}.')
        ax = canvas(ax, (5.6, 5.0))
        if kind == "observed":
            self._draw_observed(ax)
        else:
            self._draw_residuals(ax)
        ax.text(0.03, 0.97, self._words(), transform=ax.transAxes, va="top", fontsize=FONT, color=INK, bbox=_box())
        return self._on(ax)

    def _draw_observed(self, ax: "Axes") -> None:
        _samples(ax, self.predicted, self.observed)
        ends = [min(self.observed.min(), self.predicted.min()), max(self.observed.max(), self.predicted.max())]
        ax.plot(ends, ends, color=SECOND, linewidth=1.4, zorder=4)
        ax.set_xlabel("predicted")
        ax.set_ylabel("observed")

    def _draw_residuals(self, ax: "Axes") -> None:
        residuals = self.observed - self.predicted
        _samples(ax, self.predicted, residuals)
        ax.axhline(0, color=MUTED, linewidth=1.0, zorder=3)
        parts = np.array_split(np.argsort(self.predicted, kind="stable"), min(BINS, len(residuals)))
        middles = [float(self.predicted[part].mean()) for part in parts]
        means = [float(residuals[part].mean()) for part in parts]
        ax.plot(middles, means, color=SECOND, linewidth=1.8, label=f"mean of {len(parts[0]):,} neighbours", zorder=4)
        ax.legend(loc="lower left", fontsize=FONT, facecolor=PAPER, edgecolor=FAINT, labelcolor=INK)
        ax.set_xlabel("predicted")
        ax.set_ylabel("observed − predicted")

    def _words(self) -> str:
        """Return how good the predictions are."""
        residuals = self.observed - self.predicted
        spread = float(((self.observed - self.observed.mean()) ** 2).sum())
        error = f"RMSE {number(float(np.sqrt((residuals**2).mean())), 3)}"
        told = f"{len(residuals):,} samples\n{error}"
        return told if spread == 0 else f"{told}\nR² {number(1 - float((residuals**2).sum()) / spread, 3)}"


def _samples(ax: "Axes", x: Array, y: Array) -> None:
    """Draw samples as points, or count them in hexagons where they are a crowd."""
    if len(x) < CROWD:
        size = float(np.clip(4000 / max(len(x), 1), 6, 22))
        ax.scatter(x, y, s=size, color=ACCENT, alpha=0.55, linewidths=0, zorder=2)
        return
    from matplotlib.colors import LinearSegmentedColormap  # noqa: PLC0415 -- optional

    shades = LinearSegmentedColormap.from_list("samples", [FAINT, ACCENT])
    ax.hexbin(x, y, gridsize=45, mincnt=1, bins="log", cmap=shades, linewidths=0.1, zorder=2)


def _box() -> dict[str, Any]:
    return {"boxstyle": "round,pad=0.3", "facecolor": PAPER, "edgecolor": FAINT, "alpha": 0.9}
