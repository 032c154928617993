"""Working sets: a small problem within the large one, and the way there and back."""

from typing import Protocol

import numpy as np

from atomsieve.core import best
from atomsieve.methods.corrective.joining import joining_score, slopes_of_joining, stepped
from atomsieve.methods.corrective.part import Part
from atomsieve.methods.corrective.tall import carried, needs_all
from atomsieve.numerics.places import support_of
from atomsieve.problem import Point, Problem, State
from atomsieve.typing import Index

LEAST = 150
"""Blocks in a working set, at least."""


class WorkingSet(Protocol):
    """A small problem within the large one, and the way there and back."""

    patience: float
    """Number of passes without a better gap after which there is no hope."""

    complete: bool
    """Whether no block outside is expected to join the support at the optimum."""

    def enter(self, point: Point) -> tuple[Part, Point]:
        """Return the part of a problem to work on, and the point as one of that problem."""

    def leave(self, state: State) -> State:
        """Return a state of that problem as one of the large problem."""


class RowSet:
    """The support and the blocks with the best scores, together twice as many: rows of the lifted coefficients.

    The set is kept, with all that was prepared for it, as long as no block outside comes near to joining.
    """

    patience = 20.0

    def __init__(self) -> None:
        self.complete = False
        self._part: Part | None = None
        self._before: Point | None = None

    def enter(self, point: Point) -> tuple[Part, Point]:
        part, near = self._part, joining_score(point)
        if part is not None and part.holds(point) and part.highest_outside(point) <= near:
            self.complete = True
            return part, point
        part = self.renew(point)
        self.complete = part.highest_outside(point) <= near
        return part, point

    def leave(self, state: State) -> State:
        return state

    def renew_for(self, point: Point, last: Problem) -> Part:
        """Return a set for the slopes of a path from a point down to that of its last problem.

        It holds all columns that can carry weight where it would do so at the end, and where their Gram matrix, which
        is formed anyway then, makes every other slope cheap.
        """
        lifted, part = point.problem.lifted, self._part
        if not carried(lifted):
            return self.renew(point)
        if part is not None and part.every and part.lifted is lifted:
            return part
        before, self._before = self._before, point
        if before is None or not needs_all(before, point, last):
            return self.renew(point)
        every = np.flatnonzero(lifted.core.columns(lifted.eligible, lifted.shape))
        self._part = Part(lifted, every, lifted.core.blocks(every, lifted.shape))
        return self._part

    def renew(self, point: Point) -> Part:
        """Return a set for this point, and for others on the way from it."""
        problem, lifted = point.problem, point.problem.lifted
        if lifted.core.listed or lifted.core.together:
            every = np.arange(lifted.shape[0])
            self._part = Part(lifted, every, np.arange(len(point.unscaled_scores)))
            return self._part
        if lifted.core.proximal or lifted.core.split:
            columns = columns_near(point)
            self._part = Part(lifted, columns, lifted.core.blocks(columns, lifted.shape))
            return self._part
        support = point.state.support
        if not lifted.core.one_by_one:
            support = np.unique(lifted.labels[support])
        columns = blocks = best(point.unscaled_scores, max(LEAST - len(support), len(support)), beside=support)
        if not (lifted.core.one_by_one and len(lifted.shape) == 1):
            chosen = np.zeros(len(point.unscaled_scores), dtype=bool)
            chosen[blocks] = True
            columns = np.flatnonzero(problem.core.columns(chosen, lifted.shape))
            blocks = problem.core.blocks(columns, lifted.shape)
        self._part = Part(lifted, columns, blocks)
        return self._part


def columns_near(point: Point) -> Index:
    """Return the columns of the support and those that join it next, where blocks need not be there as a whole.

    Split blocks tell the slopes at which columns join. Other gauges have a proximal step, and of the columns that it
    would give weight as many sizes are taken as there are in x: a cluster of equal coefficients counts as one.
    """
    x = point.state.x
    support = support_of(x if x.ndim == 1 else x.any(axis=1))
    if point.problem.core.split:
        return best(slopes_of_joining(point), max(LEAST - len(support), len(support)), beside=support)
    pulls, sizes = np.abs(point.pulls), np.abs(stepped(point))
    if x.ndim > 1:
        pulls, sizes = pulls.max(axis=1), sizes.max(axis=1)
    levels = np.unique(sizes[sizes > 0])[::-1]
    count = max(LEAST, 2 * len(support))
    chosen = np.zeros(len(sizes), dtype=bool)
    chosen[support] = True
    if len(levels):
        chosen[sizes >= levels[min(count, len(levels)) - 1]] = True
    inside = np.flatnonzero(chosen)
    return best(pulls, LEAST - len(inside), beside=inside) if len(inside) < LEAST else inside
