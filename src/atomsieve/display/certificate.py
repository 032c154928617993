"""Coefficients with their proven intervals as a picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from atomsieve.display.canvas import FONT, Display, canvas, plain
from atomsieve.display.coefficients import BY_WEIGHT, DECIDED, IN_GROUP, UNDECIDED, UNPENALISED, ZERO, Coefficients
from atomsieve.display.numbers import around, column, count
from atomsieve.display.palette import ACCENT, DOUBT, INK, MUTED, PAPER
from atomsieve.display.reading import QUANTITIES, place_of, quantity_of
from atomsieve.typing import Array, Index

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 25
"""Number of features that are drawn by default."""

ROW = 0.21
"""Height of a row, in inches."""

COLOURS = dict.fromkeys((*DECIDED, IN_GROUP), ACCENT) | {UNDECIDED: DOUBT, UNPENALISED: MUTED}


@dataclass(eq=False, repr=False)
class CertificateDisplay(Display):
    """Each feature in the model with its coefficient, the interval that is proven to hold it, and how wide that is.

    Features stand by weight, the largest on top, as in `summary()`: absolute coefficient × standard deviation of the
    feature where that is known, whatever is drawn. What is proven zero is counted below. An undecided coefficient has a
    hollow mark; where nothing is known about its size, a dotted line runs through the picture. Make one by
    `from_estimator` or `from_certificate`; `plot` draws it.

    Parameters
    ----------
    coefficients : Coefficients
        Names, values, bounds and verdicts.
    quantity : str
        What the coefficients are.
    among : int
        How many outputs or classes there are to choose from, where nobody has chosen and the first is drawn.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure of the last drawing.
    """

    coefficients: Coefficients
    quantity: str = QUANTITIES["unit"]
    among: int = 1

    @classmethod
    def from_certificate(
        cls, certificate: Any, *, target: int | None = None, ax: "Axes | None" = None, **options: Any
    ) -> Self:
        """Draw a certificate.

        Parameters
        ----------
        certificate : Certificate
            What is proven.
        target : int, optional
            With several outputs, the one that is drawn; the first by default, and the picture says so.
        ax, **options
            As for `plot`.
        """
        parts = certificate.coefficients()
        return cls._of(parts, range(len(parts)), target).plot(ax, **options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        per: Literal["unit", "sd"] = "unit",
        target: Any = None,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Draw what is proven about a fitted estimator.

        Parameters
        ----------
        estimator : estimator of this package
            A fitted one, whose certificate is proven now if it was not asked for before.
        per : "unit" or "sd"
            Whether coefficients are drawn as they are, or times the standard deviation of their feature. The order of
            the features is the same.
        target : optional
            The class (by its label) or output (by its number) that is drawn, where there are several; the first by
            default, and the picture says so.
        ax, **options
            As for `plot`.
        """
        parts = estimator._coefficients()
        quantity = quantity_of(per)
        shown = [part.per_sd() for part in parts] if per == "sd" else parts
        return cls._of(shown, estimator._outputs, target, quantity).plot(ax, **options)

    @classmethod
    def _of(
        cls, parts: Sequence[Coefficients], outputs: Sequence[Any], target: Any, quantity: str = QUANTITIES["unit"]
    ) -> Self:
        """Return the display of one of several outputs: the one that is asked for, or the first."""
        if target is None or len(parts) == 1:
            return cls(parts[0], quantity, among=len(parts))
        return cls(parts[place_of(target, outputs)], quantity)

    def plot(self, ax: "Axes | None" = None, *, most: int = MOST) -> Self:
        """Draw the features of the largest weight (needs matplotlib), at most so many, on new axes by default."""
        told = self.coefficients
        drawn = told.shown[:most]
        ax = canvas(ax, (7.2, 1.5 + ROW * max(len(drawn), 4)))
        heights = -np.arange(len(drawn), dtype=float)
        ax.axvline(0, color=MUTED, linewidth=0.9, zorder=1)
        for height, j in zip(heights, drawn, strict=True):
            self._row(ax, height, int(j))
        ax.set_ylim(-max(len(drawn), 1) + 0.4, 0.7)
        ax.set_xlim(*_limits(told, drawn))
        ax.set_yticks(heights, [plain(told.names[j]) for j in drawn])
        ax.tick_params(axis="y", length=0)
        ax.grid(visible=False, axis="y")
        ax.spines["left"].set_visible(False)
        if not len(drawn):
            ax.set_xticks([])
        self._numbers(ax, heights, drawn)
        ax.set_xlabel(f"{self._label()}\n{self._rest(len(drawn))}", linespacing=1.6)
        return self._on(ax)

    def _label(self) -> str:
        """Return what is drawn, of which output, and by what it is sorted where that is something else."""
        told = self.coefficients
        label = self.quantity if told.output is None else f"{self.quantity}, {told.output}"
        label += f" (the first of {self.among}; target= chooses another)" if self.among > 1 else ""
        return label if told.scales is None else f"{label}\nsorted by weight: {BY_WEIGHT}"

    def _row(self, ax: "Axes", height: float, j: int) -> None:
        """Draw one coefficient: a line from zero, its interval, and a mark that is hollow where it is undecided."""
        told = self.coefficients
        value, lower, upper = (float(part[j]) for part in (told.values, told.lower, told.upper))
        colour = COLOURS[told.verdicts[j]]
        if np.isfinite(lower) and np.isfinite(upper):
            ax.plot([0, value], [height, height], color=colour, linewidth=1.6, alpha=0.35, zorder=2)
            ax.plot([lower, upper], [height, height], color=colour, linewidth=4.5, solid_capstyle="round", zorder=3)
        else:
            ax.axhline(height, color=colour, linewidth=1.0, linestyle=":", zorder=2)
        hollow = told.verdicts[j] == UNDECIDED
        ax.plot(value, height, "o", color=colour, markerfacecolor=PAPER if hollow else colour, markersize=6, zorder=4)

    def _numbers(self, ax: "Axes", heights: Array, drawn: Index) -> None:
        """Write each coefficient and how far its interval reaches to the right of the picture."""
        told = self.coefficients
        for height, j, value in zip(heights, drawn, column(told.values[drawn]), strict=True):
            words = around(*(float(part[j]) for part in (told.values, told.lower, told.upper)))
            _beside(ax, float(height), value.strip(), words, INK)
        if len(drawn):
            _beside(ax, 1.0, "value", "proven within", MUTED)

    def _rest(self, drawn: int) -> str:
        """Return what is not drawn, in words."""
        told = self.coefficients
        left = len(told.shown) - drawn
        parts = [f"{count(told.number(ZERO), 'feature')} proven zero"]
        unseen = told.number(UNDECIDED) - int(np.count_nonzero(told.verdicts[told.shown] == UNDECIDED))
        if unseen:
            parts.append(f"{count(unseen, 'feature')} undecided")
        if left:
            parts.insert(0, f"{left:,} smaller not shown")
        return ", ".join(parts)


def _beside(ax: "Axes", height: float, value: str, words: str, colour: str) -> None:
    """Write a number and words about it to the right of the picture."""
    place: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": FONT - 0.5}
    at: dict[str, Any] = {"xy": (1.0, height), "xycoords": ax.get_yaxis_transform()}
    ax.annotate(value, xytext=(58, 0), ha="right", color=colour, **at, **place)
    ax.annotate(words, xytext=(66, 0), ha="left", color=MUTED, **at, **place)


def _limits(told: Coefficients, drawn: Index) -> tuple[float, float]:
    """Return limits of the x-axis that hold all that is finite, with some room."""
    ends = np.concatenate([[0.0], *(part[drawn] for part in (told.values, told.lower, told.upper))])
    ends = ends[np.isfinite(ends)]
    room = 0.06 * (ends.max() - ends.min()) or 1.0
    return float(ends.min() - room), float(ends.max() + room)
