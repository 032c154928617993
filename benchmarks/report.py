"""Writes docs/benchmarks.md and its figures from the results of `run.py` and `studies.py`."""

import os
import platform
from collections.abc import Iterable, Iterator
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from benchmark_utils.figures import draw_curves, draw_scaling
from benchmark_utils.store import CELLS, Cell, load_cells, load_study
from benchmark_utils.table import OURS, TARGETS, Problem, Table

DOCS = Path(__file__).resolve().parents[1] / "docs"
PACKAGES = ("atomsieve", "adelie", "celer", "skglm", "scikit-learn", "rpy2", "numba", "numpy", "scipy", "benchopt")

PREAMBLE = """# Benchmarks

Time to a given duality gap, against the packages that people use. `make bench` repeats everything;
`benchmarks/README.md` says how the data were prepared and how to measure a part. Each solver runs over a ladder of its
own tolerances; its time is the least that led to a small enough gap. The gap is computed from the coefficients by
formulas that no solver shares, relative to the objective at zero. Times are the best of several, after a first fit that
is not timed. `Square` has the strength at which its solution is that of `Linear`; paths are those of `Linear`.
"""

TIMES = """## Time to a relative gap of {target:.0e}

Seconds; in brackets, the time at the best gap of a solver that never came to {target:.0e} within its limit. The ratio
is the time of the best peer over ours: above 1 we are faster. Where no peer came to {target:.0e}, the least time in
brackets stands in for it, and the ratio is a lower bound (>).
"""

LOSSES = """## Where we lose

Every problem (gap {target:.0e}) on which the best peer was faster, or ours did not arrive (ratio 0).
"""

MEMORY = """## Peak memory

Megabytes of resident memory that a fit to the target needs beyond the data (lam = 0.1 lam_max, not the first fit).
"""

FIRST_FIT = """## The first fit in a new process

Wall time of a whole process that imports the package and fits a lasso of 200 x 2000; `nothing` is Python, NumPy and the
data.
"""

MNIST = """## MNIST 4 against 9: the default method and the paper's

Logistic loss, square penalty; the default method to a relative gap of 1e-9, GCG to 1e-3 with a limit of time.
"""

NESTED = """## Nested cross-validation

Sparse logistic regression without intercept: three outer folds, in each of them five inner folds and twenty strengths
down to a hundredth of the critical one, the same for every package at its default tolerance, and a last fit with the
strength of the least held-out loss. Seconds are the fits of all three; the loss is that of the outer folds. Packages
without a cross-validation of their own are searched by `GridSearchCV`.
"""

FLOOR = """## How far from the floor

A fit to 1e-6 at a tenth of the critical strength, `Problem(...)` and `solve(...)`, beside what no method can avoid: X
is read once for the scores at zero and once for the gap of the solution. *Reads* is the time of the fit over that of
two products with X'; *core* is the time of the fit over that of its calls of the compiled core and its passes over X.
"""

STABILITY = """## Stability selection

The paths of 100 random halves of leu (`StabilitySelector`), one job.
"""

SCALING = """## Cost against the number of non-zeros

Sparse simulations with 20000 rows and ever more columns, of which the same 50 matter, lam = 0.1 lam_max.
"""


def markdown(header: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def seconds(entry: tuple[float, bool] | None, cell: Cell | None) -> str:
    """Return a time for a table; in brackets where the target was not reached."""
    if entry is None:
        return "" if cell is None else {"error": "failed", "timeout": f"> {cell.limit:.0f}"}.get(cell.status, "")
    text = f"{entry[0]:.2g}" if entry[0] < 100 else f"{entry[0]:.0f}"
    return text if entry[1] else f"({text})"


def factor(ratio: float | None, settled: bool) -> str:
    """Return a ratio for a table; bold where we lose."""
    if ratio is None:
        return ""
    if not settled:
        return f"> {ratio:.2f}"
    return f"**{ratio:.2f}**" if ratio < 1 else f"{ratio:.2f}"


def times_section(table: Table) -> Iterator[str]:
    yield TIMES.format(target=table.target)
    for task, reg, problems in table.groups():
        solvers = table.solvers(problems)
        ours = [name for name in OURS if name in solvers]
        strength = "a path of 100 strengths" if reg == "path" else f"lam = {reg} lam_max"
        yield f"### {task.replace('_', ' ')}, {strength}\n"
        rows = [
            [problem[2]]
            + [seconds(table.time(problem, solver), table.cells[problem].get(solver)) for solver in solvers]
            + [factor(table.ratio(problem, name), table.settled(problem)) for name in ours]
            for problem in problems
        ]
        yield from markdown(["data", *solvers, *(f"ratio {name.split('[')[1][:-1]}" for name in ours)], rows)
        for name in ours:
            if ratios := [ratio for problem in problems if (ratio := table.ratio(problem, name))]:
                yield f"Geometric mean of the {len(ratios)} ratios of {name}: {geometric_mean(ratios):.2f}.\n"


def lost(table: Table) -> Iterator[tuple[float, Problem, str]]:
    """Yield ratio, problem and flavour wherever a peer was faster."""
    for problem in (problem for _, _, problems in table.groups() for problem in problems):
        for name in OURS:
            ratio = table.ratio(problem, name)
            if name in table.cells[problem] and table.settled(problem) and (ratio is None or ratio < 1):
                yield ratio or 0.0, problem, name


def losses_section(table: Table) -> Iterator[str]:
    yield LOSSES.format(target=table.target)
    if not any(lost(table)):
        yield "There is none.\n"
        return
    rows = []
    for ratio, problem, name in sorted(lost(table)):
        peer, time = table.best_peer(problem)
        mine = seconds(table.time(problem, name), table.cells[problem][name])
        rows.append([*problem, name, mine, peer, f"{time:.2g}", f"{ratio:.2f}"])
    yield from markdown(["task", "strength", "data", "ours", "seconds", "best peer", "its seconds", "ratio"], rows)


def memory_section(table: Table) -> Iterator[str]:
    problems = sorted(problem for problem in table.cells if problem[1] == "0.1")
    solvers = table.solvers(problems)
    rows = []
    for problem in problems:
        used = (
            table.cells[problem][solver].megabytes if solver in table.cells[problem] else None for solver in solvers
        )
        rows.append([problem[0], problem[2], *("" if number is None else f"{number:.0f}" for number in used)])
    yield MEMORY
    yield from markdown(["task", "data", *solvers], rows)


def scaling_section(table: Table, folder: Path) -> Iterator[str]:
    if draw_scaling(table.cells, folder / "scaling.png", table.target):
        yield SCALING
        yield "![time against non-zeros](_static/benchmarks/scaling.png)\n"


def curves_section(table: Table, folder: Path) -> Iterator[str]:
    yield "## Gap against time\n"
    for task, reg, problems in table.groups():
        panels = {problem[2]: table.cells[problem] for problem in problems}
        draw_curves(panels, f"{task.replace('_', ' ')}, {reg}", folder / f"{task}-{reg}.png")
        yield f"![{task}, {reg}](_static/benchmarks/{task}-{reg}.png)\n"


def first_fit_section(rows: list[dict[str, Any]] | None) -> Iterator[str]:
    if rows:
        yield FIRST_FIT
        body = (
            [row["solver"], f"{row['seconds']:.2f}" if row["seconds"] else f"failed: {row['reason']}"] for row in rows
        )
        yield from markdown(["package", "seconds"], body)


def mnist_section(rows: list[dict[str, Any]] | None) -> Iterator[str]:
    if rows:
        yield MNIST
        body = []
        for row in rows:
            facts = [f"{row['seconds']:.2f}", f"{row['gap']:.1e}", str(row["iterations"]), str(row["alive"])]
            arrived = "yes" if row["reached"] else f"no, {row['tol']:g} not reached"
            body.append([f"{row['strength']:g}", row["method"], *facts, arrived])
        yield from markdown(["strength", "method", "seconds", "gap", "iterations", "not ruled out", "arrived"], body)


def nested_section(rows: list[dict[str, Any]] | None) -> Iterator[str]:
    if rows:
        yield NESTED
        body = ([row["data"], row["package"], f"{row['seconds']:.2f}", f"{row['loss']:.4f}"] for row in rows)
        yield from markdown(["data", "package", "seconds", "held-out loss"], body)


def floor_section(rows: list[dict[str, Any]] | None) -> Iterator[str]:
    if rows:
        yield FLOOR
        body = []
        for row in rows:
            needed = row["core"] + row["passes"] * row["read"]
            facts = [f"{1e3 * row['seconds']:.2f}", f"{1e3 * row['read']:.3f}", f"{row['passes']:.1f}"]
            multiples = [f"{row['seconds'] / (2 * row['read']):.1f}", f"{row['seconds'] / needed:.1f}"]
            body.append([row["data"], row["loss"], *facts, *multiples])
        yield from markdown(["data", "loss", "fit, ms", "product, ms", "passes", "reads", "core"], body)


def stability_section(rows: list[dict[str, Any]] | None) -> Iterator[str]:
    if rows:
        yield STABILITY
        yield from markdown(["model", "seconds"], ([row["model"], f"{row['seconds']:.2f}"] for row in rows))


def machine_section(table: Table) -> Iterator[str]:
    yield "## Machine and versions\n"
    yield f"{_processor()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()};"
    yield ", ".join(f"{name} {found}" for name in PACKAGES if (found := _version(name))) + "."
    threads = sorted({cell.threads for cells in table.cells.values() for cell in cells.values()})
    chosen = " or ".join(str(number) if number else "each package's default" for number in threads)
    limits = sorted({cell.limit for cells in table.cells.values() for cell in cells.values()})
    yield f"Threads for linear algebra: {chosen}."
    yield f"Seconds for one solver on one problem, all tolerances together: {' or '.join(f'{s:g}' for s in limits)}."
    yield f"Measured {_days()}. A place in a table that is empty was not measured.\n"


def _days() -> str:
    """Return the days of the first and the last measurement."""
    written = [path.stat().st_mtime for path in CELLS.glob("*.json")]
    first, last = (date.fromtimestamp(when).isoformat() for when in (min(written), max(written)))
    return f"on {first}" if first == last else f"from {first} to {last}"


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.is_file() else []
    named = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def main() -> None:
    cells = list(load_cells())
    table, harder = (Table(cells, target) for target in TARGETS)
    figures = DOCS / "_static" / "benchmarks"
    figures.mkdir(parents=True, exist_ok=True)
    lines = [
        PREAMBLE,
        *times_section(table),
        *losses_section(table),
        *times_section(harder),
        *curves_section(table, figures),
        *scaling_section(table, figures),
        *memory_section(table),
        *first_fit_section(load_study("first_fit")),
        *mnist_section(load_study("mnist")),
        *nested_section(load_study("nested")),
        *stability_section(load_study("stability")),
        *floor_section(load_study("floor")),
        *machine_section(table),
    ]
    page = DOCS / "benchmarks.md"
    page.write_text("\n".join(lines).rstrip() + "\n")
    print(f"wrote {page}")


if __name__ == "__main__":
    main()
