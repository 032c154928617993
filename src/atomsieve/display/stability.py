"""How often features are selected on halves of the samples, as a picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from atomsieve.display.canvas import FONT, Display, canvas, logarithmic, names_at_end
from atomsieve.display.palette import FAINT, INK, MUTED, SERIES
from atomsieve.intake.names import feature_names
from atomsieve.typing import Array, Index

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABELLED = 12
"""Up to so many features have a name: those that are selected most often."""


@dataclass(eq=False, repr=False)
class StabilityDisplay(Display):
    """The probability that a feature is selected, along the path: those that are kept have a colour, and a name.

    Parameters
    ----------
    slopes : array of shape (m,)
        The slopes, largest first.
    probabilities : array of shape (m, d)
        How often each feature is selected.
    threshold : float
        The probability from which on a feature is kept.
    names : list of d names
        The names of the features.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure of the last drawing.
    """

    slopes: Array
    probabilities: Array
    threshold: float
    names: Sequence[str]

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: "Axes | None" = None) -> Self:
        """Draw the probabilities of a fitted `StabilitySelector`, on new axes by default."""
        path = estimator.probability_path_
        names = feature_names(getattr(estimator, "feature_names_in_", None), path.shape[1])
        return cls(estimator.slopes_, path, float(estimator.threshold), names).plot(ax)

    @property
    def kept(self) -> Index:
        """The features that are kept, most often selected first; of equal ones, those that enter first."""
        best = self.probabilities.max(axis=0)
        kept = np.flatnonzero(best >= self.threshold)
        return kept[np.lexsort((-self.probabilities.sum(axis=0)[kept], -best[kept]))]

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the probabilities (needs matplotlib), on new axes by default."""
        from matplotlib.collections import LineCollection  # noqa: PLC0415 -- optional

        ax = canvas(ax)
        fractions = self.slopes / self.slopes[0]
        logarithmic(ax, 1.0, float(fractions[-1]))
        ax.set_ylim(-0.02, 1.03)
        rest = np.setdiff1d(np.flatnonzero(self.probabilities.any(axis=0)), self.kept)
        lines = [np.column_stack([fractions, self.probabilities[:, j]]) for j in rest]
        ax.add_collection(LineCollection(lines, colors=FAINT, linewidths=0.7, alpha=0.7, zorder=1))
        colours = [SERIES[k % len(SERIES)] for k in range(len(self.kept))]
        for j, colour in zip(self.kept, colours, strict=True):
            ax.plot(fractions, self.probabilities[:, j], color=colour, linewidth=1.6, zorder=3)
        ax.axhline(self.threshold, color=MUTED, linewidth=1.0, linestyle=(0, (5, 2)), zorder=2)
        named = self.kept[:LABELLED]
        names_at_end(ax, self.probabilities[-1, named], [self.names[j] for j in named], colours[: len(named)])
        ax.set_xlabel("slope over the critical slope (more features to the right)")
        ax.set_ylabel("selection probability")
        kept = f"{len(self.kept):,} of {len(self.names):,} features kept"
        told = f"{kept}: selected with probability {self.threshold:g} or more"
        ax.set_title(told, fontsize=FONT + 1, loc="left", color=INK)
        return self._on(ax)
