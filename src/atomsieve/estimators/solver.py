"""How the problems of an estimator are solved, by one method, one tolerance and one clock; and what is kept of that."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from atomsieve.estimators.strengths import StrengthRule, straight, through
from atomsieve.gauges.found import Combination
from atomsieve.intake.arguments import is_number, require_piece
from atomsieve.methods import Corrective, Method
from atomsieve.penalties import Penalty
from atomsieve.problem import Problem
from atomsieve.run.limits import Limits
from atomsieve.run.path import walk
from atomsieve.run.result import Result
from atomsieve.run.solve import solve
from atomsieve.run.status import Status
from atomsieve.typing import Array

INSTANT = 1e-9
"""Seconds for a run that begins when time is up: it ends where it starts."""


@dataclass(frozen=True, eq=False)
class Solver:
    """A method with its limits; `time_limit` counts from `started` and is shared by all runs."""

    method: Method
    tol: float
    max_iter: int | None
    time_limit: float | None
    started: float

    @classmethod
    def of(cls, model: Any, *, time_limit: float | None = None) -> "Solver":
        """Return the solver that the parameters of an estimator ask for, and start its clock."""
        method = Corrective() if model.method is None else model.method
        require_piece("method", method, Method)
        if time_limit is not None and not (is_number(time_limit) and time_limit > 0):
            raise ValueError(f"time_limit must be a positive number of seconds, got {time_limit!r}.")
        return cls(method, model.tol, model.max_iter, time_limit, perf_counter())

    @property
    def left(self) -> float | None:
        """Seconds that are left, None without a limit."""
        return None if self.time_limit is None else max(self.started + self.time_limit - perf_counter(), INSTANT)

    def share(self, parts: int) -> float | None:
        """Return the seconds that are left over a number of parts, None without a limit."""
        return None if self.left is None else self.left / parts

    def within(self, seconds: float | None) -> "Solver":
        """Return the same solver with so many seconds from now on."""
        return replace(self, time_limit=seconds, started=perf_counter())

    def for_linear(self) -> "Solver":
        """Return a solver on the way to the solution that is meant: the default method, which solves `Linear`."""
        return replace(self, method=Corrective(), max_iter=None)

    def solve(self, problem: Problem, start: Any = None, until: str | None = None) -> Result:
        """Solve one problem; the best point so far is the result where a limit is met."""
        return solve(
            problem,
            self.method,
            tol=self.tol,
            max_iter=self.max_iter,
            time_limit=self.left,
            start=start,
            until=until,
        )

    def solve_all(
        self, strength: Penalty | StrengthRule, problems: Sequence[Problem], last: "Solution | None" = None
    ) -> list[Result]:
        """Solve all problems for a penalty, or for the strength that a rule chooses; from the last solution, if any."""
        starts = [None for _ in problems] if last is None else last.starts(problems)
        if isinstance(strength, Penalty):
            return [self.solve(p.at_penalty(strength), start) for p, start in zip(problems, starts, strict=True)]
        if straight(strength.shape):
            return strength.solve(problems, self._step, starts)
        search = self.for_linear().within(self.share(2))
        found = strength.solve(problems, search._step, starts)
        if any(result.status is Status.TIME_LIMIT for result in found):
            return found  # no place on the path yet at which the shape could have its solution
        shapes = [through(strength.shape, result) for result in found]
        return [self.solve(p.at_penalty(shape), r) for p, shape, r in zip(problems, shapes, found, strict=True)]

    def follow(self, problem: Problem, penalties: Sequence[Penalty]) -> Iterator[Result]:
        """Yield the solutions for penalties that fall off, each found from the one before; end when time is up."""
        if all(straight(penalty) for penalty in penalties):
            most = self.method.max_iter if self.max_iter is None else self.max_iter
            limits = Limits.of(problem, self.tol, most, self.left)
            slopes = [penalty.slope(0.0) for penalty in penalties]
            yield from map(uninterrupted, walk(problem, slopes, limits, method=self.method))
            return
        last: Result | None = None
        for penalty in penalties:
            last = self._step(problem.at_penalty(penalty), last)
            yield last
            if last.status is Status.TIME_LIMIT:
                return

    def follow_all(self, problems: Sequence[Problem], penalties: Sequence[Penalty]) -> Iterator[tuple[Result, ...]]:
        """Yield for each penalty the solutions of all problems; end when time is up for one of them."""
        walks = [self.follow(problem, penalties) for problem in problems]
        return zip(*walks, strict=False)

    def _step(self, problem: Problem, start: Any) -> Result:
        """Solve one of many problems."""
        return uninterrupted(self.solve(problem, start))


def uninterrupted(result: Result) -> Result:
    """Return the result, or pass on an interruption: where many runs are to come, one cannot end with its best."""
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return result


@dataclass(frozen=True, eq=False)
class Solution:
    """The solutions of all problems of a fit: what a proof, or a warm start, begins with."""

    penalties: list[Penalty]
    lifted: list[Array | Combination]
    """Coefficients in the coordinates of the problems, or the atoms that they are made of."""

    objectives: list[float]

    @classmethod
    def of(cls, results: Sequence[Result]) -> "Solution":
        """Return what is kept of the results."""
        penalties = [result.problem.penalty for result in results]
        lifted = [result.point.state.parts or result.lifted for result in results]
        return cls(penalties, lifted, [result.objective for result in results])

    def starts(self, problems: Sequence[Problem]) -> list[Any]:
        """Return where to start with similar problems: here, where this fits them."""
        if len(self.lifted) != len(problems):
            return [None for _ in problems]
        return [x if fits(problem, x) else None for x, problem in zip(self.lifted, problems, strict=True)]


def fits(problem: Problem, x: Array | Combination) -> bool:
    """Return whether a problem can start from coefficients, or from the atoms that they are made of."""
    if isinstance(x, Combination):
        return problem.core.listed and all(getattr(atom, "shape", None) == problem.shape for atom in x.atoms)
    return x.shape == problem.shape and not problem.core.listed and bool(np.isfinite(problem.core.value(x)))


def attributes(results: Sequence[Result]) -> dict[str, Any]:
    """Return what users are shown of the results; the worst of them speaks for all."""
    worst = max(results, key=lambda result: (not result.converged, result.gap))
    penalties = [result.problem.penalty for result in results]
    alphas = [equivalent_alpha(result) for result in results]
    return {
        "n_iter_": max(1, *(result.n_iter for result in results)),
        "dual_gap_": worst.gap,
        "status_": worst.status,
        "penalty_": penalties[0] if len(set(penalties)) == 1 else penalties,
        "equivalent_alpha_": alphas[0] if len(alphas) == 1 else np.array(alphas),
    }


def coefficients(results: Sequence[Result]) -> Array:
    """Return one row of coefficients per output."""
    return np.concatenate([np.atleast_2d(result.x.T) for result in results])


def intercepts(results: Sequence[Result]) -> Array:
    """Return one intercept per output."""
    return np.concatenate([np.atleast_1d(result.intercept) for result in results])


def equivalent_alpha(result: Result) -> float:
    """Return the slope of the penalty at the solution: `Linear` of this strength has the same solution."""
    slope = result.problem.penalty.slope(result.point.state.mass)
    return slope if 0 < slope < math.inf else result.point.sigma
