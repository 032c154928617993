"""The fully corrective method: few passes over the data, and in between an exact solve on a working set.

See docs/method.md for the method with its cost model.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from atomsieve.core import Outcome
from atomsieve.core.clock import TimeUp
from atomsieve.methods.base import Target
from atomsieve.methods.corrective.chained import Chained
from atomsieve.methods.corrective.hull import Hull
from atomsieve.methods.corrective.inner import LARGE, Compiled, Inner, Memory, Modelled, compiled
from atomsieve.methods.corrective.proximal import Proximal
from atomsieve.methods.corrective.working_set import AtomSet, Part, RowSet, WorkingSet
from atomsieve.penalties import Penalty
from atomsieve.piece import Piece
from atomsieve.problem import Point, Problem
from atomsieve.problem.state import State

FRACTION = 0.1
"""Gap on the working set, as a part of the gap before, at which the next pass over the data pays."""

SAFE = 0.25
"""Part of the gap asked for that is always small enough on the working set."""

CLOSE = 0.9
"""Part of the gap asked for that is small enough where no block outside the working set is expected to add to it."""

TIGHT = 0.01
"""Part of the gap after a change of the slope to which the working set is solved at least, so that the mass follows."""

SLOPES = 60
"""Slopes that are tried on one working set, for a penalty whose slopes are not a line."""


@dataclass(frozen=True, eq=False, repr=False)
class Corrective(Piece):
    """Fully corrective steps: each solves the problem on a working set of blocks.

    The default method, for every loss, penalty and gauge. A step costs one pass over the data, for the gap, the sieve
    and the choice of the blocks that score best; all other work is on the working set, a small part of the data, in
    compiled code: coordinate descent, and Newton steps on faces where those cost less.
    """

    max_iter = 1000

    def check(self, problem: Problem) -> None:
        if problem.shrinkage is not None and not by_rows(problem):
            raise ValueError(
                f"Corrective() solves no problem with a ridge and {type(problem.loss).__name__} whose blocks have more "
                f"than {LARGE} coefficients. Use smaller groups, or leave out the ridge."
            )

    def begin(self, problem: Problem, target: Target) -> "Corrections":
        return Corrections(RowSet() if by_rows(problem) else AtomSet(), target)


def by_rows(problem: Problem) -> bool:
    """Return whether working sets are rows of x: a Hessian of the widest block must fit into memory."""
    core = problem.core
    if core.listed:
        return modelled_whole(problem)
    if core.proximal:
        return not core.dense or math.prod(problem.shape) <= LARGE
    if problem.lifted.charges is None or compiled(problem):
        return problem.lifted.charges is not None
    return core.split or bool(np.bincount(problem.lifted.labels).max() <= LARGE)


def modelled_whole(problem: Problem) -> bool:
    """Return whether a product with the Hessian of all columns costs no more than a product with A and one with A'."""
    size, (n, d) = math.prod(problem.shape), problem.design.shape
    return size <= LARGE and size * size <= 2 * problem.design.density * n * d * math.prod(problem.shape[1:])


def inner_of(problem: Problem) -> Callable[[Part, Point, Memory], Inner]:
    """Return what solves a working set of a problem."""
    if problem.core.listed:
        return Hull
    if problem.core.proximal:
        chained = problem.core.chained and problem.smooth.compiled is not None and problem.shrinkage is None
        return Chained if chained else Proximal
    return Compiled if compiled(problem) else Modelled


class Corrections:
    """The method at work: a working set at a time, with what was learned on those before."""

    sifts = False  # a pass over all columns is a small part of a step, and there are few steps

    def __init__(self, working_set: WorkingSet, target: Target) -> None:
        self.working_set = working_set
        self.target = target
        self.patience = working_set.patience
        self.room = 0.0
        self._left = 0.0
        self._lowest = math.inf
        self._fraction = FRACTION
        self._memory = Memory()

    def advance(self, point: Point, t: int) -> tuple[State, float]:
        part, here = self.working_set.enter(point)
        if t == 1:  # perhaps with another penalty than before
            self._left = 0.0
            self._lowest = math.inf
            self._fraction = FRACTION
        # where the working set leaves nothing out, no other pass is needed; where a new one brings no more than the old
        # one had left to give, that was left too early
        objective = point.objective
        idle = self._lowest - objective <= self._left
        self._fraction /= 10 if idle or point.gap <= 2 * self._left else 1
        fraction = 0.0 if self.working_set.complete else self._fraction
        self._lowest = objective
        target = (CLOSE if self.working_set.complete else SAFE) * self.target.gap
        enough = max(fraction * min(point.gap, objective), target)
        # a copy of the columns alive may take as much memory as the working set does
        self.room = len(part.columns) / point.problem.meter.columns
        inner = inner_of(here.problem)(part, here, self._memory)
        try:
            self._left = correct(inner, here, enough)
        except TimeUp:  # what was found so far is not lost
            self._left = 0.0
        return self.working_set.leave(inner.state()), 1.0

    def follow(self, point: Point, problems: Sequence[Problem]) -> list[State]:
        """Return states for problems that differ from that of the point in the penalty alone, each from the one before.

        All are solved on one working set, so a single product with A' shows how good they are. Where a block outside
        has joined in between, that product tells, and the run goes on from there.
        """
        lines = [problem.penalty.line for problem in problems if problem.penalty.line is not None]
        if len(lines) < len(problems) or not (compiled(point.problem) and isinstance(self.working_set, RowSet)):
            return []
        inner = Compiled(self.working_set.renew(point), point, self._memory)
        return inner.follow(problems, lines, CLOSE * self.target.gap)


def correct(inner: Inner, point: Point, enough: float) -> float:
    """Solve on a working set to a gap, for any penalty; return the gap that is left.

    Wherever the slope of the penalty is a line in the mass, this is a matter of the core. For other shapes a line is
    put through a point of their curve of slopes: where the curve should meet the mass that x has at each slope. On a
    face that mass falls in proportion to the slope, and `Penalty.rise` says where the two meet (Newton's method). The
    line is not level: where the solutions for one slope have many masses, it still picks one.
    """
    penalty, state = point.problem.penalty, point.state
    if penalty.line is not None:
        return inner.solve(penalty.line, enough, respond=False).gap
    least = enough / (4 * penalty.limit)  # with a smaller slope, what is left below the limit is worth nothing
    borne = point.pull / state.mass if state.mass > 0 else 0.0
    slope = max(borne if borne > 0 else point.sigma / 2, penalty.slope(0.0), least)
    if slope == 0:
        return 0.0
    low, high = 0.0, math.inf
    line, target = (slope, 0.0), enough / 2
    beyond = math.inf
    for _ in range(SLOPES):
        found = inner.solve(line, target, respond=True)
        slope = line[0] + line[1] * found.mass
        missed = mismatch(penalty, found, slope)
        before, beyond = beyond, found.mass - penalty.limit
        if (
            missed <= enough / 2
            and found.gap <= enough / 2
            and (bearable(point, beyond, enough) or beyond > before / 2)
        ):
            break
        short, blur = penalty.argmax(slope) - found.mass, math.sqrt(2 * max(found.response * found.gap, 0.0))
        if abs(short) >= blur:  # at a slope this mass is known no better
            low, high = (low, slope) if short > 0 else (slope, high)
        following = slope + penalty.rise(slope, found.mass, math.sqrt(max(found.response, 0.0)))
        if following == slope and found.response > 0:
            break
        if not low < following < high:
            following = between(low, high)
        following = max(following, least)
        mass = penalty.argmax(following)
        steepness = following / mass if mass > 0 else 0.0
        if steepness == math.inf:  # in units so small that no line rises fast enough
            steepness = 0.0
        # the gap on the next line is that of a mass which has not moved yet
        change = following - slope
        target = min(enough / 2, max(TIGHT * found.response * change * change, point.rounding))
        line = (max(following - steepness * mass, 0.0), steepness)
    return found.gap + missed


def bearable(point: Point, beyond: float, enough: float) -> bool:
    """Return whether x may be shrunk by a mass beyond the limit of the penalty: that moves the scores of all atoms."""
    problem = point.problem
    steepest = problem.steepest(problem.lifted.widest_reach)
    return beyond <= 0 or beyond * problem.penalty.limit * steepest <= enough / 2


def mismatch(penalty: Penalty, found: Outcome, slope: float) -> float:
    """Return what is lost because the penalty does not have this slope at this mass: `phi(s) + phi*(t) - s t`.

    A mass beyond the limit has to be shrunk, and that moves the slope that x bears.
    """
    inside = found.mass
    if not penalty.admits(inside):
        inside = penalty.limit if penalty.admits(penalty.limit) else math.nextafter(penalty.limit, 0.0)
    lost = max(penalty.value(inside) + penalty.conjugate(slope) - slope * inside, 0.0)
    beyond = found.mass - inside
    if beyond == 0:
        return lost
    return lost + beyond * (slope + (found.mass / found.response if found.response > 0 else math.inf))


def between(low: float, high: float) -> float:
    """Return a slope between two others, of which one may be 0 or infinite."""
    if high == math.inf:
        return 10 * low
    return math.sqrt(low) * math.sqrt(high) if low > 0 else high / 10
