"""Writes docs/benchmarks.md and its figures from the results of `run.py` and `studies.py`."""

import os
import platform
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from benchmark_utils.figures import draw_curves, draw_scaling
from benchmark_utils.store import Cell, load_cells, load_study

TARGET = 1e-6
DOCS = Path(__file__).resolve().parents[1] / "docs"
PACKAGES = ("atomsieve", "adelie", "celer", "skglm", "scikit-learn", "rpy2", "numba", "numpy", "scipy", "benchopt")
OURS = ("atomsieve[Linear]", "atomsieve[Square]")
SCALING = "simulated_sparse["

Problem = tuple[str, str, str]
"""Task, strength and dataset."""


class Table:
    """Cells by problem and solver, and what they say at the target."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self.cells: dict[Problem, dict[str, Cell]] = defaultdict(dict)
        for cell in cells:
            if cell.status != "skipped":
                self.cells[cell.task, str(cell.reg), cell.dataset][cell.solver] = cell

    @property
    def groups(self) -> list[tuple[str, str]]:
        """Return the pairs of task and strength, in the order of the page."""
        order = ["lasso", "logistic", "group_lasso", "group_logistic"]
        return sorted(
            {problem[:2] for problem in self.cells},
            key=lambda pair: (order.index(pair[0]), pair[1] != "0.1", pair[1] == "path"),
        )

    def rows(self, task: str, reg: str) -> list[Problem]:
        """Return the problems of a group."""
        return sorted(problem for problem in self.cells if problem[:2] == (task, reg))

    def solvers(self, problems: Iterable[Problem]) -> list[str]:
        """Return the solvers that tried any of these problems, ours first."""
        tried = {solver for problem in problems for solver in self.cells[problem]}
        return sorted(tried, key=lambda name: (name not in OURS, name))

    def time(self, problem: Problem, solver: str) -> tuple[float, bool] | None:
        """Return the time to the target and whether it was reached; else the time at the best gap."""
        cell = self.cells[problem].get(solver)
        if cell is None:
            return None
        reached = cell.first_below(TARGET)
        rung = reached or cell.best()
        return (rung["time"], reached is not None) if rung else None

    def best_peer(self, problem: Problem) -> tuple[str, float] | None:
        """Return the fastest peer that reaches the target; where none does, the fastest at its own best gap."""
        times = {solver: self.time(problem, solver) for solver in self.cells[problem] if solver not in OURS}
        known = {solver: entry for solver, entry in times.items() if entry}
        arrived = {solver: entry for solver, entry in known.items() if entry[1]} or known
        if not arrived:
            return None
        solver = min(arrived, key=lambda name: arrived[name][0])
        return solver, arrived[solver][0]

    def ratio(self, problem: Problem, ours: str) -> float | None:
        """Return the best peer's time over ours; None where ours did not arrive."""
        peer, mine = self.best_peer(problem), self.time(problem, ours)
        return peer[1] / mine[0] if peer and mine and mine[1] else None


def seconds(entry: tuple[float, bool] | None, cell: Cell | None) -> str:
    """Return a time for a table; in brackets where the target was not reached."""
    if entry is None:
        return "" if cell is None else {"error": "failed", "timeout": f"> {cell.limit:.0f}"}.get(cell.status, "")
    text = f"{entry[0]:.2g}" if entry[0] < 100 else f"{entry[0]:.0f}"
    return text if entry[1] else f"({text})"


def markdown(header: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def factor(ratio: float | None) -> str:
    return "" if ratio is None else f"**{ratio:.2f}**" if ratio < 1 else f"{ratio:.2f}"


def times_section(table: Table) -> Iterator[str]:
    yield "## Time to a relative gap of 1e-6"
    yield ""
    yield "Seconds; in brackets, the time at the best gap of a solver that never came to 1e-6 within its limit. The ratio is"
    yield "the time of the best peer over ours: above 1 we are faster."
    yield ""
    for task, reg in table.groups:
        problems = table.rows(task, reg)
        solvers = table.solvers(problems)
        mine = [name for name in OURS if name in solvers]
        strength = "a path of 100 strengths" if reg == "path" else f"lam = {reg} lam_max"
        yield f"### {task.replace('_', ' ')}, {strength}"
        yield ""
        rows = []
        for problem in problems:
            cells = table.cells[problem]
            row = [problem[2]] + [seconds(table.time(problem, solver), cells.get(solver)) for solver in solvers]
            rows.append(row + [factor(table.ratio(problem, ours)) for ours in mine])
        yield from markdown(["data", *solvers, *(f"ratio {ours.split('[')[1][:-1]}" for ours in mine)], rows)
        for ours in mine:
            ratios = [ratio for problem in problems if (ratio := table.ratio(problem, ours))]
            if ratios:
                yield f"Geometric mean of the ratios of {ours} over {len(ratios)} data sets: {geometric_mean(ratios):.2f}."
                yield ""


def losses_section(table: Table) -> Iterator[str]:
    yield "## Where we lose"
    yield ""
    rows = []
    for ours in OURS:
        for problem in table.cells:
            ratio, peer, mine = table.ratio(problem, ours), table.best_peer(problem), table.time(problem, ours)
            if ours in table.cells[problem] and (ratio is None or ratio < 1) and peer:
                rows.append(
                    (
                        ratio or 0.0,
                        [*problem, ours, seconds(mine, table.cells[problem][ours]), peer[0], f"{peer[1]:.2g}"],
                    )
                )
    rows.sort(key=lambda row: row[0])
    if not rows:
        yield "Nowhere among the problems above."
        yield ""
        return
    yield "Every problem on which the best peer was faster, or ours did not arrive (ratio 0):"
    yield ""
    header = ["task", "strength", "data", "ours", "seconds", "best peer", "its seconds", "ratio"]
    yield from markdown(header, ([*row, f"{ratio:.2f}"] for ratio, row in rows))


def memory_section(table: Table) -> Iterator[str]:
    problems = [problem for problem in table.cells if problem[1] == "0.1" and problem[0] in ("lasso", "logistic")]
    problems = [
        problem for problem in problems if any(cell.megabytes is not None for cell in table.cells[problem].values())
    ]
    if not problems:
        return
    solvers = table.solvers(problems)
    yield "## Peak memory"
    yield ""
    yield "Megabytes of resident memory that a fit to the target needs at most beyond the data (lam = 0.1 lam_max, second fit)."
    yield ""
    rows = []
    for problem in sorted(problems):
        found = (table.cells[problem].get(solver) for solver in solvers)
        rows.append(
            [problem[0], problem[2], *("" if c is None or c.megabytes is None else f"{c.megabytes:.0f}" for c in found)]
        )
    yield from markdown(["task", "data", *solvers], rows)


def first_fit_section(rows: list[dict[str, Any]] | None) -> Iterator[str]:
    if not rows:
        return
    yield "## The first fit in a new process"
    yield ""
    yield "Wall time of a whole process that imports the package and fits a lasso of 200 x 2000; `nothing` is Python, NumPy and"
    yield "the data."
    yield ""
    yield from markdown(
        ["package", "seconds"],
        ([r["solver"], f"{r['seconds']:.2f}" if r["seconds"] else f"failed: {r['reason']}"] for r in rows),
    )


def mnist_section(rows: list[dict[str, Any]] | None) -> Iterator[str]:
    if not rows:
        return
    yield "## MNIST 4 against 9: the default method and the paper's"
    yield ""
    yield "Logistic loss, square penalty; the default method to a relative gap of 1e-9, GCG to 1e-3 with a limit of time."
    yield ""
    body = (
        [
            f"{r['strength']:g}",
            r["method"],
            f"{r['seconds']:.2f}",
            f"{r['gap']:.1e}",
            str(r["iterations"]),
            str(r["alive"]),
            "yes" if r["reached"] else f"no: {r['tol']:g} not reached",
        ]
        for r in rows
    )
    yield from markdown(["strength", "method", "seconds", "gap", "iterations", "not ruled out", "arrived"], body)


def machine_section() -> Iterator[str]:
    yield "## Machine and versions"
    yield ""
    model = next(
        (line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")), platform.processor()
    )
    yield f"{model or platform.machine()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()};"
    yield ", ".join(f"{name} {found}" for name in PACKAGES if (found := _version(name))) + "."
    yield "BLAS uses all cores; every package runs with its own default number of threads."
    yield ""


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.is_file() else []


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


PREAMBLE = """# Benchmarks

Time to a given duality gap, against the packages that people use. `make bench` repeats everything; `benchmarks/README.md`
says how the data were prepared and how to measure a part. Each solver runs over a ladder of its own tolerances; its time
is that of the loosest tolerance of which the result has a small enough gap. The gap is computed from the coefficients by
formulas that no solver shares, relative to the objective at zero. Times are the best of several, after a first fit that is
not timed. `Square` has the strength at which its solution is that of `Linear`; a path exists for `Linear` only.
"""


def main() -> None:
    table = Table(load_cells())
    figures = DOCS / "_static" / "benchmarks"
    figures.mkdir(parents=True, exist_ok=True)
    lines = [PREAMBLE]
    lines += machine_section()
    lines += times_section(table)
    lines += losses_section(table)
    lines += draw_scaling(table.cells, figures, TARGET)
    lines += memory_section(table)
    lines += first_fit_section(load_study("first_fit"))
    lines += mnist_section(load_study("mnist"))
    lines += draw_curves(table.cells, figures)
    page = DOCS / "benchmarks.md"
    page.write_text("\n".join(lines).rstrip() + "\n")
    print(f"wrote {page}")


if __name__ == "__main__":
    main()
