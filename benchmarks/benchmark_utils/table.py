"""Cells as a table: times to the target, the best peer, and the ratio that compares it with us."""

from collections import defaultdict
from collections.abc import Iterable

from benchmark_utils.ladder import FAR_ENOUGH
from benchmark_utils.store import Cell

TARGETS = (1e-6, FAR_ENOUGH)
"""The relative gaps that count."""

OURS = ("atomsieve[Linear]", "atomsieve[Square]")
TASKS = ("lasso", "logistic", "group_lasso", "group_logistic")
STRENGTHS = (0.1, 0.02, "path")
SCALING = "growing"
"""The dataset whose sizes are compared with each other; its rows stay out of the tables of times."""

Problem = tuple[str, str, str]
"""Task, strength and dataset."""


class Table:
    """Cells by problem and solver, less those that were skipped, and times to one target."""

    def __init__(self, cells: Iterable[Cell], target: float) -> None:
        self.target = target
        self.cells: dict[Problem, dict[str, Cell]] = defaultdict(dict)
        for cell in cells:
            if cell.status != "skipped":
                self.cells[cell.task, str(cell.reg), cell.dataset][cell.solver] = cell

    def groups(self) -> list[tuple[str, str, list[Problem]]]:
        """Return task, strength and problems, in the order of the page."""
        groups = [(task, str(reg), self.problems(task, str(reg))) for task in TASKS for reg in STRENGTHS]
        return [group for group in groups if group[2]]

    def problems(self, task: str, reg: str) -> list[Problem]:
        """Return the problems of one task and strength, less those that study the cost of growing data."""
        chosen = (problem for problem in self.cells if problem[:2] == (task, reg))
        return sorted(problem for problem in chosen if not problem[2].startswith(SCALING))

    def solvers(self, problems: Iterable[Problem]) -> list[str]:
        """Return the solvers that tried any of these problems, ours first."""
        tried = {solver for problem in problems for solver in self.cells[problem]}
        return sorted(tried, key=lambda name: (name not in OURS, name))

    def time(self, problem: Problem, solver: str) -> tuple[float, bool] | None:
        """Return the time to the target and whether it was reached; else the time at the best gap."""
        cell = self.cells[problem].get(solver)
        if cell is None:
            return None
        reached = cell.quickest_below(self.target)
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

    def settled(self, problem: Problem) -> bool:
        """Return whether a peer reached the target; otherwise its time, and a ratio, are lower bounds."""
        times = (self.time(problem, solver) for solver in self.cells[problem] if solver not in OURS)
        return any(entry is not None and entry[1] for entry in times)

    def ratio(self, problem: Problem, ours: str) -> float | None:
        """Return the best peer's time over ours; None where ours did not arrive."""
        peer, mine = self.best_peer(problem), self.time(problem, ours)
        return peer[1] / mine[0] if peer and mine and mine[1] else None
