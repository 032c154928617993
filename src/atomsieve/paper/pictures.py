"""How every picture looks, and how it is saved: the same bytes for the same numbers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

PICTURE_STYLE: dict[Any, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "font.size": 9,
    "grid.color": "0.92",
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.3,
    "svg.fonttype": "none",
    "svg.hashsalt": "atomsieve",
}


DOTS_PER_INCH = 200
"""Of the pictures in PNG."""


def picture(folder: Path, name: str, size: tuple[float, float], paint: Callable[[Figure], Any]) -> list[str]:
    """Let a function paint on a new figure; save it as PNG and SVG and return the names of the files."""
    files = [f"{name}.png", f"{name}.svg"]
    with mpl.rc_context(PICTURE_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        paint(figure)
        figure.savefig(folder / files[0], dpi=DOTS_PER_INCH, metadata={"Software": None})
        figure.set_layout_engine("none")  # the layout is found, and takes as long as the drawing
        figure.savefig(folder / files[1], metadata={"Date": None})
    return files


def spaced(frame: pd.DataFrame, n: int = 400, column: str = "t") -> pd.DataFrame:
    """Return the first and last row and about n between them, at equal ratios of a column that counts from 1.

    >>> spaced(pd.DataFrame({"t": range(1, 1001)}), n=4).t.tolist()
    [1, 10, 100, 1000]
    """
    count = len(frame)
    places = sorted({round(count ** (i / (n - 1))) - 1 for i in range(n)}) if count > 1 else [0] * count
    return frame.sort_values(column).iloc[places]
