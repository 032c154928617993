"""The fully corrective method: few passes over the data, and in between an exact solve on a working set.

See docs/method.md for the method with its cost model.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from atomsieve.core.clock import TimeUp
from atomsieve.methods.base import Target
from atomsieve.methods.corrective.atom_set import AtomSet
from atomsieve.methods.corrective.chained import Chained
from atomsieve.methods.corrective.cores import Completed, Cored, CoreSet
from atomsieve.methods.corrective.denoising import Denoising, is_denoising
from atomsieve.methods.corrective.hull import Hull
from atomsieve.methods.corrective.inner import LARGE, Compiled, Inner, Memory, Modelled, compiled
from atomsieve.methods.corrective.part import Part
from atomsieve.methods.corrective.proximal import Proximal
from atomsieve.methods.corrective.tall import carried
from atomsieve.methods.corrective.working_set import RowSet, WorkingSet
from atomsieve.piece import Piece
from atomsieve.problem import Point, Problem
from atomsieve.problem.state import State

FRACTION = 0.1
"""Gap on the working set, as a part of the gap before, at which the next pass over the data pays."""

SAFE = 0.25
"""Part of the gap asked for that is always small enough on the working set."""

CLOSE = 0.9
"""Part of the gap asked for that is small enough where no block outside the working set is expected to add to it."""

BATCH = 8
"""Slopes that are solved on one working set, unless that holds all columns: then no block joins from outside."""


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

    def begin(self, problem: Problem, target: Target) -> "Corrections | Denoising":
        if problem.core.ranked:
            return Corrections(CoreSet(), target)
        corrections = Corrections(RowSet() if by_rows(problem) else AtomSet(), target)
        return Denoising(corrections) if is_denoising(problem) else corrections


def by_rows(problem: Problem) -> bool:
    """Return whether working sets are rows of x: a Hessian of the widest block must fit into memory."""
    core = problem.core
    if core.listed:
        return modelled_whole(problem)
    if core.ranked:
        return True
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
    if problem.core.ranked:
        return Completed if problem.lifted.seen_places is not None else Cored
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
        target = (CLOSE if self.working_set.complete else SAFE) * self._within_reach(point)
        enough = max(fraction * min(point.gap, objective), target)
        # a copy of the columns alive may take as much memory as the working set does
        self.room = len(part.columns) / point.problem.meter.columns
        inner = inner_of(here.problem)(part, here, self._memory)
        try:
            self._left = inner.solve(enough)
        except TimeUp:  # what was found so far is not lost
            self._left = 0.0
        return self.working_set.leave(inner.state()), 1.0

    def follow(self, point: Point, problems: Sequence[Problem]) -> list[State]:
        """Return states for problems that differ from that of the point in the penalty alone, each from the one before.

        They are those of the first problems, all of them if one Gram matrix serves to the end. All are solved on one
        working set, so a single product with A' shows how good they are. Where a block outside has joined in between,
        that product tells, and the run goes on from there.
        """
        if not (compiled(point.problem) and isinstance(self.working_set, RowSet)):
            return []
        part = self.working_set.renew_for(point, problems[-1])
        some = problems if part.every and carried(part.lifted) else problems[:BATCH]
        lines = [problem.penalty.line for problem in some if problem.penalty.line is not None]
        if len(lines) < len(some):
            return []
        return Compiled(part, point, self._memory).follow(some, lines, CLOSE * self._within_reach(point))

    def _within_reach(self, point: Point) -> float:
        """Return the gap that is small enough, or what rounding does to `x . z`: below that, steps would follow noise.

        All rounding of a gap would be too much: the loss of an outlier is large, and says nothing of the others. It is
        the less of the two where features are far from zero.
        """
        return max(self.target.gap, min(point.doubt * point.state.length, point.rounding))
