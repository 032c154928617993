"""The figures of the report, and the lines of the page that show them."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import matplotlib as mpl
import numpy as np

from benchmark_utils.store import Cell

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402 -- after the choice of the backend

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

Cells = Mapping[tuple[str, str, str], Mapping[str, Cell]]


def front(cell: Cell) -> np.ndarray:
    """Return times and the best gap that a solver reaches within each of them."""
    points = sorted((rung["time"], max(rung["gap"], 1e-16)) for rung in cell.rungs)
    times, gaps = np.array(points).T
    return np.array([times, np.minimum.accumulate(gaps)])


def draw_curves(cells: Cells, folder: Path) -> Iterator[str]:
    """Draw gap against time, one figure per task and strength with one panel per dataset; yield lines for the page."""
    groups = sorted({problem[:2] for problem in cells})
    if groups:
        yield "## Gap against time"
        yield ""
    for task, reg in groups:
        panels = {problem[2]: by_solver for problem, by_solver in sorted(cells.items()) if problem[:2] == (task, reg)}
        name = f"{task}-{reg}.png"
        _draw_panels(panels, f"{task.replace('_', ' ')}, {reg}", folder / name)
        yield f"![{task}, {reg}](_static/benchmarks/{name})"
        yield ""


def _draw_panels(panels: Mapping[str, Mapping[str, Cell]], title: str, path: Path) -> None:
    columns = min(4, len(panels))
    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3.4 * columns, 2.8 * rows + 0.8), squeeze=False)
    handles = {}
    for axis, (dataset, by_solver) in zip(axes.flat, panels.items(), strict=False):
        for solver, cell in sorted(by_solver.items()):
            if cell.rungs:
                (handles[solver],) = axis.loglog(*front(cell), marker=".", **STYLE.get(solver, {}))
        axis.axhline(1e-6, color="grey", linewidth=0.5)
        axis.set(title=dataset, ylim=(1e-10, 2))
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    figure.suptitle(f"{title}: relative gap against seconds")
    figure.tight_layout(rect=(0, 0.8 / figure.get_figheight() * 0.5, 1, 1))
    figure.legend(list(handles.values()), list(handles), loc="lower center", ncols=5, fontsize="small")
    figure.savefig(path, dpi=90)
    plt.close(figure)


def draw_scaling(cells: Cells, folder: Path, target: float) -> Iterator[str]:
    """Draw time against the non-zeros of X for the sparse simulations; yield lines for the page."""
    chosen = {problem: by for problem, by in cells.items() if "simulated_sparse" in problem[2] and problem[1] == "0.1"}
    if len({problem[2] for problem in chosen}) < 2:
        return
    tasks = sorted({problem[0] for problem in chosen})
    figure, axes = plt.subplots(1, len(tasks), figsize=(4.5 * len(tasks), 3.6), squeeze=False)
    for axis, task in zip(axes.flat, tasks, strict=True):
        lines: dict[str, list[tuple[int, float]]] = {}
        for problem, by_solver in chosen.items():
            for solver, cell in by_solver.items():
                if problem[0] == task and (rung := cell.first_below(target)):
                    lines.setdefault(solver, []).append((cell.entries, rung["time"]))
        for solver, points in sorted(lines.items()):
            axis.loglog(*np.array(sorted(points)).T, marker="o", label=solver, **STYLE.get(solver, {}))
        axis.set(title=task, xlabel="non-zeros of X", ylabel=f"seconds to {target:g}")
        axis.legend(fontsize="x-small")
    figure.tight_layout()
    figure.savefig(folder / "scaling.png", dpi=90)
    plt.close(figure)
    yield "## Cost against the number of non-zeros"
    yield ""
    yield "Sparse simulations with 20000 rows, ever more columns and the same 50 that matter, lam = 0.1 lam_max."
    yield ""
    yield "![time against non-zeros](_static/benchmarks/scaling.png)"
    yield ""
