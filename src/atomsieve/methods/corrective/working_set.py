"""Working sets: a small problem within the large one, and the way there and back."""

from dataclasses import replace
from typing import Protocol

import numpy as np

from atomsieve.design import DenseDesign, Design, StackDesign
from atomsieve.gauges import Atom, NonNegative
from atomsieve.methods.corrective.margin import marginal_slope
from atomsieve.problem import Point, State
from atomsieve.problem.lifted import Lifted, Spreads
from atomsieve.typing import Array, Index, Mask

START = 100
"""Blocks in the first working set, where samples are many."""

FEW = 150
"""Blocks in the first working set, where samples are few: a hundred or less."""

FULL = 0.98
"""Part of a working set that carries weight where columns are nearly orthogonal: proximal steps are good there."""

MANY = 16
"""Blocks that ask to join, for each in the working set, above which it would have to double too often."""

SEVERAL = 2
"""The number that takes the place of MANY for curved blocks, whose faces take many products each."""


class WorkingSet(Protocol):
    """A small problem within the large one, and the way there and back."""

    patience: float
    """Number of passes without a better gap after which there is no hope."""

    complete: bool
    """Whether no block outside is expected to join the support at the optimum."""

    def enter(self, point: Point) -> Point:
        """Return a point of the large problem as one of the small problem."""

    def leave(self, state: State) -> State:
        """Return a state of the small problem as one of the large problem."""

    def filled(self, point: Point) -> bool:
        """Return whether the working set is saturated: nearly all of it is active, and many more blocks ask to join."""


class RowSet:
    """The support and the blocks with the best scores, together twice as many: rows of the lifted coefficients.

    The set is kept, with the copy of its columns, as long as no block outside comes near to joining.
    """

    patience = 20.0

    def __init__(self) -> None:
        self.complete = False
        self._design: Design | None = None
        self._columns: Index = np.empty(0, dtype=np.intp)
        self._blocks: Index = self._columns

    def enter(self, point: Point) -> Point:
        problem = point.problem
        if problem.design is not self._design or not self._suffices(point):
            self._choose(point)
            self._suffices(point)
        if len(self._columns) == self._shape[0]:
            return point
        return point.restrict(self._part.at_penalty(problem.penalty), self._columns, self._blocks)

    def leave(self, state: State) -> State:
        if len(self._columns) == self._shape[0]:
            return state
        x = np.zeros(self._shape)
        x[self._columns] = state.x
        return replace(state, x=x)

    def _choose(self, point: Point) -> None:
        """Make a set for this point."""
        problem, core = point.problem, point.problem.core
        sizes = core.sizes(point.state.x)
        count = max(FEW if len(point.u) <= 100 else START, 2 * int(np.count_nonzero(sizes)))
        chosen = best(np.where(sizes > 0, np.inf, point.scores), count)
        self._design, self._shape = problem.design, problem.shape
        self._columns = np.flatnonzero(core.columns(chosen, problem.shape))
        self._blocks = core.blocks(self._columns, problem.shape)
        self._part = problem if len(self._columns) == problem.shape[0] else problem.restrict(self._columns)

    def _suffices(self, point: Point) -> bool:
        """Return whether the set holds the support and all blocks that may join it, by the strong rule.

        Scores are expected to move by no more than the best one has to: from sigma to the slope of the penalty.
        """
        x, mass = point.state.x, point.state.mass
        slope = marginal_slope(point.problem.penalty, mass, float(np.vdot(x, point.z))) * point.dual_scale
        outside = point.scores.copy()
        outside[self._blocks] = -np.inf
        self.complete = float(outside.max()) <= 2 * slope - point.sigma
        return self.complete and np.count_nonzero(x) == np.count_nonzero(x[self._columns])

    def filled(self, point: Point) -> bool:
        held, support = len(self._blocks), int(np.count_nonzero(point.problem.core.sizes(point.state.x)))
        slope = marginal_slope(point.problem.penalty, point.state.mass, float(np.vdot(point.state.x, point.z)))
        wanted = int(np.count_nonzero(point.scores / point.dual_scale > slope)) - support
        return 0 < FULL * held <= support and wanted > (MANY if point.problem.core.entrywise else SEVERAL) * held


class AtomSet:
    """Atoms found by the oracle, one more at each pass, for gauges whose blocks are not l2 balls."""

    patience = 200.0
    complete = False

    def __init__(self) -> None:
        self.atoms: list[Atom] = []
        self.weights = np.empty(0)
        self.ids = np.empty(0, dtype=np.intp)
        self.born = 0
        self.images: list[Array] = []
        self.x: Array | None = None

    def enter(self, point: Point) -> Point:
        problem, state = point.problem, point.state
        if self.x is None or not np.array_equal(self.x, state.x):
            self._restart(point)
        used = np.flatnonzero(self.weights)
        self.atoms, self.images = [self.atoms[j] for j in used], [self.images[j] for j in used]
        self.weights, self.ids = self.weights[used], self.ids[used]
        self._add(point, point.atom, 0.0)
        images = np.stack(self.images, axis=-1)
        design = DenseDesign(images) if images.ndim == 2 else StackDesign(images)
        self.problem = problem
        spread = np.array([problem.spread[atom.block] for atom in self.atoms])
        shape = (len(self.atoms),)
        spreads = Spreads(spread, spread, float(spread.max()))
        small = problem.over(Lifted(problem.smooth, design, NonNegative(), shape, shape, self.ids, spreads))
        return small.at(small.state(self.weights, state.coordinates))

    def leave(self, state: State) -> State:
        self.weights = state.x
        x = np.zeros(self.problem.shape)
        for atom, weight in zip(self.atoms, state.x, strict=True):
            atom.add_to(x, weight)
        lifted = self.problem.inside(x, state.image, state.coordinates, state.drift)
        self.x = lifted.x
        return lifted

    def filled(self, point: Point) -> bool:
        return False  # one atom at a time is the rule here

    def _restart(self, point: Point) -> None:
        """Begin with the blocks of x, each as one atom."""
        core, x = point.problem.core, point.state.x
        self.atoms = []
        self.images = []
        self.weights = np.empty(0)
        self.ids = np.empty(0, dtype=np.intp)
        for block in np.flatnonzero(core.sizes(x)):
            self._add(point, *core.part(x, int(block)))

    def _add(self, point: Point, atom: Atom, weight: float) -> None:
        self.ids = np.append(self.ids, self.born)
        self.born += 1
        self.atoms.append(atom)
        self.images.append(np.asarray(atom.image(point.problem.design)))
        self.weights = np.append(self.weights, weight)


def best(scores: Array, count: int) -> Mask:
    """Return which scores are among the best, less those that are -inf."""
    chosen = scores > -np.inf
    places = np.flatnonzero(chosen)
    if len(places) > count:  # among these alone: many equal scores would slow the partition down
        chosen[:] = False
        chosen[places[np.argpartition(scores[places], len(places) - count)[len(places) - count :]]] = True
    return chosen
