"""Coefficients with their proven intervals as a picture."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from atomsieve.display.canvas import FONT, Display, canvas, plain
from atomsieve.display.coefficients import IN_GROUP, NONZERO, UNDECIDED, UNPENALISED, ZERO, Coefficients
from atomsieve.display.numbers import around, column, count
from atomsieve.display.palette import ACCENT, DOUBT, INK, MUTED, PAPER
from atomsieve.display.reading import place_of
from atomsieve.typing import Array, Index

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 25
"""Number of features that are drawn by default."""

ROW = 0.21
"""Height of a row, in inches."""

COLOURS = {NONZERO: ACCENT, IN_GROUP: ACCENT, UNDECIDED: DOUBT, UNPENALISED: MUTED}


@dataclass(eq=False, repr=False)
class CertificateDisplay(Display):
    """Each feature in the model with its coefficient, the interval that is proven to hold it, and how wide that is.

    Features stand by weight, the largest on top. What is proven zero is counted below. An undecided coefficient has a
    hollow mark; where nothing is known about its size, a dotted line runs through the picture. Make one by
    `from_estimator` or `from_certificate`; `plot` draws it.

    Parameters
    ----------
    coefficients : Coefficients
        Names, values, bounds and verdicts.
    quantity : str
        What the coefficients are.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure of the last drawing.
    """

    coefficients: Coefficients
    quantity: str = "coefficient"

    @classmethod
    def from_certificate(
        cls, certificate: Any, *, output: int | None = None, ax: "Axes | None" = None, **options: Any
    ) -> Self:
        """Draw a certificate.

        Parameters
        ----------
        certificate : Certificate
            What is proven.
        output : int, optional
            With several outputs, the one that is drawn; the first by default.
        ax, **options
            As for `plot`.
        """
        parts = certificate.coefficients()
        return cls(parts[0 if output is None else place_of(output, range(len(parts)))]).plot(ax, **options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        per: Literal["unit", "sd"] = "unit",
        output: Any = None,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Draw what is proven about a fitted estimator.

        Parameters
        ----------
        estimator : estimator of this package
            A fitted one, whose certificate is proven now if it was not asked for before.
        per : "unit" or "sd"
            Whether coefficients are shown as they are, or times the standard deviation of their feature.
        output : optional
            The class or output that is drawn, where there are several; the first by default.
        ax, **options
            As for `plot`.
        """
        parts = estimator._coefficients()
        part = parts[0 if output is None or len(parts) == 1 else place_of(output, estimator._outputs)]
        if per == "sd":
            return cls(part.per_sd(), "coefficient × standard deviation of the feature").plot(ax, **options)
        return cls(replace(part, scales=None)).plot(ax, **options)

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
        label = self.quantity if told.output is None else f"{self.quantity}, {told.output}"
        ax.set_xlabel(f"{label}\n{self._rest(len(drawn))}", linespacing=1.6)
        return self._on(ax)

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
