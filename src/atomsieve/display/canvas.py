"""What all pictures share: axes in the colours of the palette, counts along the top, marks, names of lines."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from atomsieve.display.numbers import number
from atomsieve.display.palette import FAINT, GRID, INK, MUTED, PAPER
from atomsieve.intake.extras import install
from atomsieve.typing import Array, Index

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

FONT = 9.0
"""Size of names and notes, in points."""

TICKS = 8
"""About how many counts stand along the top."""

DECADE = 12.0
"""An axis whose ends have a smaller ratio has fewer than two powers of ten to write."""

MARK_STYLES = ((0, (5, 2)), (0, (1, 1.5)))
"""Dashes of the first and the second mark: they differ without colour."""


class Display:
    """A picture, in scikit-learn's convention: `from_...` makes it and draws it, `plot` draws it again."""

    ax_: "Axes"
    figure_: "Figure | SubFigure"

    def _on(self, ax: "Axes") -> Self:
        """Remember where the picture was drawn."""
        self.ax_, self.figure_ = ax, ax.figure
        return self


def canvas(ax: "Axes | None", size: tuple[float, float] = (7.2, 4.6)) -> "Axes":
    """Return the axes to draw on, new ones if none are given, dressed in the colours of the palette."""
    if ax is None:
        ax = pyplot().subplots(figsize=size, layout="constrained")[1]
        ax.figure.set_facecolor(PAPER)
    ax.set_facecolor(PAPER)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(MUTED)
    ax.tick_params(which="both", color=MUTED, labelcolor=INK, labelsize=FONT)
    ax.grid(visible=True, color=GRID, linewidth=0.7)
    ax.set_axisbelow(True)
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set_color(INK)
        label.set_fontsize(FONT + 1)
    ax.title.set_color(INK)
    return ax


def pyplot() -> Any:
    """Return the optional package matplotlib.pyplot, or raise an error that says how to get it."""
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 -- optional
    except ImportError as error:  # pragma: no cover
        raise ImportError(install("Pictures need", "matplotlib")) from error
    return plt


def counts_on_top(ax: "Axes", places: Array, counts: Index, noun: str = "features") -> None:
    """Write counts along the top, evenly spread, each at the place it belongs to."""
    top = ax.secondary_xaxis("top")
    top.set_facecolor("none")
    chosen = spread_out(across(ax, places))
    top.set_xticks(places[chosen], [f"{int(n):,}" for n in counts[chosen]])
    top.set_xticks([], minor=True)
    top.tick_params(color=FAINT, labelcolor=MUTED, labelsize=FONT - 1, length=3)
    top.spines["top"].set_color(FAINT)
    top.set_xlabel(noun, fontsize=FONT - 1, color=MUTED)


def across(ax: "Axes", places: Array) -> Array:
    """Return where places on the x-axis are, as fractions of its length."""
    points = np.column_stack([places, np.full(len(places), ax.get_ylim()[0])])
    fractions: Array = ax.transAxes.inverted().transform(ax.transData.transform(points))[:, 0]
    return fractions


def spread_out(fractions: Array, most: int = TICKS) -> Array:
    """Return the positions of a few of the given fractions that are about evenly spread."""
    wanted = np.linspace(fractions.min(), fractions.max(), most)
    nearest = np.abs(fractions[:, None] - wanted).argmin(axis=0)
    kept: list[int] = []
    for k in sorted(set(nearest.tolist()), key=lambda k: fractions[k]):
        if not kept or fractions[k] - fractions[kept[-1]] > 0.6 / most:
            kept.append(k)
    return np.array(kept)


def logarithmic(ax: "Axes", first: float, last: float) -> None:
    """Let the x-axis run from the first to the last number by equal ratios, and write plain numbers along it."""
    ax.set_xscale("log")
    first, last = (1.5 * first, first / 1.5) if first == last else (first, last)
    ax.set_xlim(first, last)
    if max(first / last, last / first) < DECADE:
        ax.set_xticks([float(number(tick, 2)) for tick in np.geomspace(first, last, 5)])
        ax.set_xticks([], minor=True)
    ax.xaxis.set_major_formatter(lambda value, _: number(value))


def mark_places(ax: "Axes", marks: Mapping[str, float], places: Array, curves: Array) -> None:
    """Draw a vertical line at each marked place, with its name where the curves leave room; equal places share a line.

    `curves` has a row for each of the places.
    """
    shared: dict[float, list[str]] = {}
    for name, place in marks.items():
        shared.setdefault(float(place), []).append(name)
    along, reach = across(ax, places), 0.0
    low, high = ax.get_ylim()
    wide = ax.get_window_extent().width * 72 / ax.figure.dpi
    order = sorted(shared, key=lambda place: across(ax, np.array([place]))[0])
    for k, place in enumerate(order):
        here, text = float(across(ax, np.array([place]))[0]), " = ".join(shared[place])
        length = 0.7 * FONT * (len(text) + 1) / wide
        left = here + length > 1 or (k == 0 and len(order) > 1 and here > length)
        begin = here - length if left else here
        near = curves[(along > begin - 0.02) & (along < begin + length + 0.02)]
        top = near.size > 0 and high - np.nanmax(near) > np.nanmin(near) - low
        lift = 5 + 1.5 * FONT * (begin < reach)
        ax.axvline(place, color=INK, linewidth=1.0, linestyle=MARK_STYLES[k % 2], zorder=2)
        ax.annotate(
            text,
            (place, float(top)),
            (-4 if left else 4, -lift if top else lift),
            xycoords=ax.get_xaxis_transform(),
            textcoords="offset points",
            ha="right" if left else "left",
            va="top" if top else "bottom",
            fontsize=FONT,
            color=INK,
            zorder=5,
        )
        reach = begin + length


def names_at_end(ax: "Axes", heights: Array, names: Sequence[str], colours: Sequence[str]) -> None:
    """Write names to the right of the axes, each at the height where its line ends, moved apart where they overlap."""
    low, high = ax.get_ylim()
    ends = (heights - low) / (high - low)
    tall = ax.get_window_extent().height * 72 / ax.figure.dpi
    places = apart(ends, 1.3 * FONT / tall)
    for end, place, name, colour in zip(ends, places, names, colours, strict=True):
        ax.plot([1.0, 1.025], [end, place], transform=ax.transAxes, color=colour, linewidth=0.8, clip_on=False)
        ax.text(1.03, place, plain(name), transform=ax.transAxes, color=colour, fontsize=FONT, va="center")


def apart(wanted: Array, gap: float) -> Array:
    """Return places at least a gap apart, in the given order of height and as near to the wanted ones as that allows.

    The least sum of squared moves: pool adjacent violators, on places less what the gaps take up.

    >>> apart(np.array([0.5, 0.5, 0.9]), 0.1)
    array([0.45, 0.55, 0.9 ])
    """
    order = np.argsort(wanted, kind="stable")
    pools: list[list[float]] = []
    for k, place in enumerate(wanted[order]):
        pools.append([float(place) - k * gap, 1.0])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, size = pools.pop()
            other, number = pools.pop()
            pools.append([(mean * size + other * number) / (size + number), size + number])
    level = np.concatenate([np.full(int(size), mean) for mean, size in pools]) if pools else np.zeros(0)
    placed = np.empty(len(wanted))
    placed[order] = level + gap * np.arange(len(level))
    return placed


def plain(name: str) -> str:
    r"""Return a name as matplotlib takes it for plain text: dollars would begin a formula.

    >>> plain("price in $")
    'price in \\$'
    """
    return re.sub(r"(?<!\\)\$", r"\\$", shortened(name))


def shortened(name: str, most: int = 22) -> str:
    """Return a name that is not too long for a picture.

    >>> shortened("concavity"), shortened("a very long name of a feature")
    ('concavity', 'a very long name of a…')
    """
    return name if len(name) <= most else name[: most - 1].rstrip() + "…"
