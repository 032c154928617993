"""Pictures of what is proven: a pixel map for each model, and supports along the common path."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from atomsieve.paper.grids import LABELS, ROWS, Digits
from atomsieve.paper.pictures import picture
from atomsieve.paper.stages import from_frame

STATES = {
    "always blank": "white",
    "zero": "0.86",
    "open": "#f0b03f",
    "open, always blank": "#f9e2b0",
    "towards 9": "#bf3b32",
    "towards 4": "#2f6db3",
}
"""What a pixel can be, and its colour."""

STRENGTHS = (0, 2, 4, 6, 8)
"""Which penalties of a row are shown, counted from the weakest."""


def pixels(lines: pd.DataFrame, frame: pd.DataFrame, digits: Digits) -> pd.DataFrame:
    """Return what the paper's rule and the certificate say of every pixel under every penalty."""
    signs, alive = np.array([list(word) for word in lines.signs]), from_frame(frame, len(lines)).alive
    count, blank = signs.shape[1], np.tile(digits.constant, len(lines))
    table = {name: np.repeat(lines[name].to_numpy(), count) for name in ("row", "parameter", "penalty")}
    return pd.DataFrame(
        table
        | {
            "pixel": np.tile(np.arange(count), len(lines)),
            "constant": blank,
            "open": alive.ravel(),
            "proven": np.select(
                [signs == letter for letter in "zpn"], ["zero", "towards 9", "towards 4"], "open"
            ).ravel(),
        }
    )


def draw_maps(seen: pd.DataFrame, folder: Path) -> list[str]:
    """Draw two maps for some penalties of each row: what the rule leaves open, and below it what is proven."""
    chosen = {row: strengths(seen, row) for row in ROWS}

    def paint(canvas: Figure) -> None:
        panels = canvas.subplots(2 * len(ROWS), len(STRENGTHS), squeeze=False)
        for place, row in enumerate(ROWS):
            for column, parameter in enumerate(chosen[row]):
                model = seen[(seen.row == row) & (seen.parameter == parameter)]
                above, below = panels[2 * place : 2 * place + 2, column]
                show(above, by_rule(model), f"{LABELS[row][1]} = {written(parameter)}")
                show(below, by_certificate(model), "")
            panels[2 * place, 0].set_ylabel("the rule")
            panels[2 * place + 1, 0].set_ylabel("proven")
        patches = [Patch(facecolor=color, edgecolor="0.6", lw=0.5, label=state) for state, color in STATES.items()]
        canvas.legend(handles=patches, loc="outside lower center", ncols=len(STATES), columnspacing=1, handlelength=1)

    return picture(folder, "beyond-pixels", (6.6, 8.6), paint)


def strengths(seen: pd.DataFrame, row: str) -> list[float]:
    """Return the hyper-parameters of a row that are shown, weakest penalty first."""
    values = sorted(seen.parameter[seen.row == row].unique(), reverse=row != "square")
    return [float(values[place]) for place in STRENGTHS if place < len(values)]


def written(value: float) -> str:
    """Return a number for a title, small and large powers of ten as such.

    >>> written(1e-05), written(46.42)
    ('$10^{-5}$', '46.42')
    """
    exponent = round(np.log10(value))
    return f"$10^{{{exponent}}}$" if abs(exponent) > 2 and value == float(f"1e{exponent}") else f"{value:g}"


def by_rule(model: pd.DataFrame) -> Any:
    """Return what the paper's rule says of each pixel of one model."""
    left = np.where(model.constant, "open, always blank", "open")
    return np.where(model.open, left, np.where(model.constant, "always blank", "zero"))


def by_certificate(model: pd.DataFrame) -> Any:
    """Return what the certificate says of each pixel of one model."""
    return np.where(model.constant & (model.proven == "zero"), "always blank", model.proven)


def show(ax: Axes, states: Any, title: str) -> None:
    """Draw one map."""
    side = int(np.sqrt(len(states)))
    codes = np.array([list(STATES).index(state) for state in states]).reshape(side, side)
    ax.imshow(codes, cmap=ListedColormap(list(STATES.values())), vmin=-0.5, vmax=len(STATES) - 0.5)
    ax.set(xticks=[], yticks=[], title=title)
    ax.grid(visible=False)
    ax.spines[:].set_visible(True)
    ax.spines[:].set_color("0.7")


def caption(seen: pd.DataFrame) -> str:
    """Say what the maps show."""
    used = seen.proven.str.startswith("towards").groupby([seen.row, seen.parameter]).sum()
    counts = [f"{', '.join(str(used[row, value]) for value in strengths(seen, row))} ({row})" for row in ROWS]
    blank, undecided = seen.pixel[seen.constant].nunique(), int((seen.proven == "open").sum())
    return (
        "**Pixel maps.** For each penalty, above: what the paper's rule leaves open after its last iteration; below: "
        "what is proven. Red pixels speak for a 9, blue ones for a 4, and grey ones are zero in every solution; the "
        f"{blank} pixels that are the same in every image are white, or pale where they are open. Proven non-zero, "
        f"from left to right: {'; '.join(counts)}. {undecided or 'No'} pixels are undecided."
    )


def draw_path(lines: pd.DataFrame, folder: Path) -> list[str]:
    """Draw supports, and what the rule leaves open, over the slope of the penalty at the solution."""

    def paint(canvas: Figure) -> None:
        axes = canvas.subplots()
        curve = lines.sort_values("slope")
        axes.plot(curve.slope, curve.support, color="0.6", lw=0.8, zorder=0)
        for row, marker, color in zip(ROWS, "so^", ("tab:blue", "tab:red", "tab:green"), strict=True):
            part = lines[lines.row == row]
            axes.plot(part.slope, part.support, marker, color=color, ms=4, label=f"proven non-zero, {LABELS[row][0]}")
            axes.plot(part.slope, part.open, marker, color=color, ms=5, mfc="none")
        axes.plot([], [], "o", color="0.3", ms=5, mfc="none", label="left open by the rule")
        axes.set(xscale="log", yscale="log", xlabel="slope of the penalty at the solution", ylabel="pixels")
        axes.invert_xaxis()
        axes.legend(loc="lower right")

    return picture(folder, "beyond-path", (6.4, 4.0), paint)
