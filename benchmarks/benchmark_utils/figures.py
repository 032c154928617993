"""The figures of the report."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from benchmark_utils.store import Cell
from benchmark_utils.table import SCALING

STYLE = {
    "atomsieve[Linear]": {"color": "black", "linewidth": 2},
    "atomsieve[Square]": {"color": "black", "linewidth": 2, "linestyle": "--"},
    "celer": {"color": "tab:orange"},
    "skglm": {"color": "tab:green"},
    "scikit-learn[cd]": {"color": "tab:blue"},
    "scikit-learn[liblinear]": {"color": "tab:blue"},
    "scikit-learn[saga]": {"color": "tab:cyan"},
    "adelie": {"color": "tab:red"},
    "glmnet": {"color": "tab:purple"},
}


def front(cell: Cell) -> np.ndarray:
    """Return times, and the best gap that a solver reaches within each of them."""
    times, gaps = np.array(sorted((rung["time"], max(rung["gap"], 1e-16)) for rung in cell.rungs)).T
    return np.array([times, np.minimum.accumulate(gaps)])


def tidy(axis: Axes) -> None:
    """Label decades only, a little wider where there would be none: labels in between run into each other."""
    low, high = axis.get_xlim()
    if low > 0 and np.floor(np.log10(high)) < np.ceil(np.log10(low)) + 1:
        axis.set_xlim(10 ** np.floor(np.log10(low)), 10 ** np.ceil(np.log10(high)))
    axis.xaxis.set_minor_formatter(NullFormatter())


def draw_curves(panels: Mapping[str, Mapping[str, Cell]], title: str, path: Path) -> None:
    """Draw gap against time, one panel per dataset."""
    columns = min(4, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(max(3.4 * columns, 7), 2.8 * rows + 1.2))
    axes = figure.subplots(rows, columns, squeeze=False)
    handles = {}
    for axis, (dataset, by_solver) in zip(axes.flat, panels.items(), strict=False):
        for solver, cell in sorted(by_solver.items()):
            if cell.rungs:
                (handles[solver],) = axis.loglog(*front(cell), marker=".", **STYLE.get(solver, {}))
        axis.axhline(1e-6, color="grey", linewidth=0.5)
        axis.set(title=dataset, ylim=(1e-10, 2))
        tidy(axis)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    figure.suptitle(f"{title}: relative gap against seconds")
    figure.tight_layout(rect=(0, 0.7 / figure.get_figheight(), 1, 1))
    figure.legend(list(handles.values()), list(handles), loc="lower center", ncols=4, fontsize="small")
    figure.savefig(path, dpi=90)


def draw_scaling(cells: Mapping[tuple[str, str, str], Mapping[str, Cell]], path: Path, target: float) -> bool:
    """Draw time against the non-zeros of X for the data that grow; return whether there were several sizes."""
    lines: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for (task, reg, dataset), by_solver in cells.items():
        for solver, cell in by_solver.items():
            if dataset.startswith(SCALING) and reg == "0.1" and (rung := cell.quickest_below(target)):
                lines.setdefault(task, {}).setdefault(solver, []).append((cell.entries, rung["time"]))
    if all(len(points) < 2 for by_solver in lines.values() for points in by_solver.values()):
        return False
    figure = Figure(figsize=(4.8 * len(lines), 3.8))
    for axis, (task, by_solver) in zip(figure.subplots(1, len(lines), squeeze=False).flat, lines.items(), strict=True):
        for solver, points in sorted(by_solver.items()):
            axis.loglog(*np.array(sorted(points)).T, marker="o", label=solver, **STYLE.get(solver, {}))
        axis.set(title=task, xlabel="non-zeros of X", ylabel=f"seconds to {target:g}")
        tidy(axis)
        axis.legend(fontsize="x-small")
    figure.tight_layout()
    figure.savefig(path, dpi=90)
    return True
