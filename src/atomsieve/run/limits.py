"""When a run ends: target gap, iterations, seconds."""

import time
from dataclasses import dataclass

import numpy as np

from atomsieve.intake.arguments import is_number
from atomsieve.problem import Point, Problem
from atomsieve.run.status import Status
from atomsieve.run.trace import Progress

HOPELESS = 1e10
"""A run without a convergence theorem is given up when the objective exceeds this multiple of its value at x = 0."""

UNLIKELY = 16
"""The error of the scores is usually so much smaller than its estimate, which assumes that all roundings add up."""

BLURRED = 1000
"""Up to this multiple of the rounding of the gap, rounding in the steps of a method may be what stops it."""


@dataclass(frozen=True)
class Limits:
    """When a run ends."""

    baseline: float
    gap: float
    max_iter: int
    time: float
    started: float

    @classmethod
    def of(cls, problem: Problem, tol: float, max_iter: int, time_limit: float | None) -> "Limits":
        """Check the limits and start the clock."""
        started = time.perf_counter()
        if not (is_number(tol) and 0 <= tol < np.inf):
            raise ValueError(f"tol must be a finite number that is not negative, got {tol!r}.")
        if not (is_number(max_iter) and 0 <= max_iter < np.inf and max_iter == int(max_iter)):
            raise ValueError(f"max_iter must be a whole number that is not negative, got {max_iter!r}.")
        if time_limit is not None and not (is_number(time_limit) and time_limit > 0):
            raise ValueError(f"time_limit must be a positive number of seconds, got {time_limit!r}.")
        return cls(problem.baseline, tol * problem.baseline, int(max_iter), time_limit or np.inf, started)

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return time.perf_counter() - self.started

    @property
    def ends(self) -> float:
        """When the time is up, on the clock of `time.perf_counter`."""
        return self.started + self.time

    def reached(self, point: Point) -> bool:
        """Return whether the gap is within the tolerance, and its rounding error too.

        The uncertainty of the scores may be larger by a factor UNLIKELY: many roundings hardly ever add up.
        """
        return max(point.gap, point.rounding) <= self.gap and point.is_certain(UNLIKELY * self.gap)

    def status(self, progress: Progress) -> Status | None:
        """Return why the run ends here, or None if it continues."""
        point = progress.point
        if self.reached(point) or self._nothing_left(point):
            return Status.CONVERGED
        if not point.is_finite or (not point.problem.penalty.quadratic and self._above(point, HOPELESS)):
            return Status.DIVERGED
        if point.gap <= point.rounding:
            return Status.STALLED
        if progress.iteration > self.max_iter:
            astray = Status.NO_PROGRESS if point.problem.penalty.quadratic else Status.DIVERGED
            return astray if self._above(point, 1.0) else Status.MAX_ITER
        return Status.TIME_LIMIT if progress.time > self.time else None

    @staticmethod
    def without_headway(point: Point) -> Status:
        """Return why many steps in a row brought no smaller gap."""
        return Status.EXHAUSTED if point.gap <= BLURRED * point.uncertainty else Status.NO_HEADWAY

    def _nothing_left(self, point: Point) -> bool:
        """Return whether the unpenalised columns fit the targets so well that the objective is only rounding."""
        negligible = point.problem.negligible
        return self.baseline <= negligible and point.objective <= negligible

    def _above(self, point: Point, multiple: float) -> bool:
        """Return whether the objective exceeds a multiple of its value at x = 0; check the gap first, it is free."""
        ceiling = multiple * self.baseline
        return point.gap > ceiling - self.baseline and point.objective > ceiling
