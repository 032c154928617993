"""Working sets: a small problem within the large one, and the way there and back."""

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from atomsieve.core import Blocks, Packed, best, highest_outside
from atomsieve.design import DenseDesign, StackDesign
from atomsieve.gauges import Atom, NonNegative
from atomsieve.numerics.cached import cached_property
from atomsieve.problem import Point, Problem, State
from atomsieve.problem.lifted import Lifted, Spreads
from atomsieve.problem.shrinkage import Shrinkage
from atomsieve.typing import Array, Index

LEAST = 150
"""Blocks in a working set, at least."""

NEXT_TO_NOTHING = 1e-100
"""A block shorter than this part of the root of its ridge is measured as if it were as long."""

EDGE = 1e-12
"""Relative distance from the limit of a penalty that counts as none."""


@dataclass(frozen=True, eq=False)
class Part:
    """Some columns of a problem with all that the core and the small problem need of them, computed when asked for.

    The penalty plays no role here, so the same part serves along a path.
    """

    lifted: Lifted
    columns: Index
    blocks: Index

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return len(self.columns) == self.lifted.shape[0]

    @cached_property
    def entries(self) -> Index:
        """The columns, block by block."""
        if self.lifted.core.one_by_one:
            return self.columns
        labels = self.lifted.labels[self.columns]
        in_order = (labels[1:] >= labels[:-1]).all()
        return self.columns if in_order else self.columns[np.argsort(labels, kind="stable")]

    @cached_property
    def packed(self) -> Packed:
        """The columns as the core reads them."""
        return self.lifted.design.packed(self.entries)

    @cached_property
    def ids(self) -> Index:
        """The positions of the columns in the full design."""
        places = self.lifted.places
        return np.ascontiguousarray(self.entries if places is None else places[self.entries], dtype=np.int64)

    @cached_property
    def _sizes(self) -> Blocks:
        return sized(self.lifted, self.entries, None)

    def blocks_of(self, problem: Problem) -> Blocks:
        """Return the blocks as the core reads them; each has a unit of its own, and the ridge of the problem."""
        return self._sizes if problem.shrinkage is None else sized(self.lifted, self.entries, problem.shrinkage)

    def ridges_of(self, problem: Problem, blocks: Blocks) -> Array:
        """Return the ridge of each block as the core reads it, in the units of these blocks."""
        if problem.shrinkage is None:
            return np.zeros(len(blocks.ends))
        return np.asarray(problem.shrinkage.by_entry[self.entries[blocks.ends - 1]] * blocks.units * blocks.units)

    def holds(self, point: Point) -> bool:
        """Return whether a point is one of the same problem, and no coefficient outside carries weight there."""
        if self.lifted is not point.problem.lifted:
            return False
        return len(point.state.support) == np.count_nonzero(point.state.x[self.columns])

    def highest_outside(self, point: Point) -> float:
        """Return the highest score of the blocks that are left out, be it in part."""
        scores, core = point.unscaled_scores, point.problem.core
        if core.listed:  # all columns are here
            return -math.inf
        if len(scores) == 1 and core.proximal:
            return float(scores[0]) if core.scores(point.pulls[self.columns])[0] < scores[0] else -math.inf
        return highest_outside(scores, self.blocks)

    def restrict(self, point: Point) -> Point:
        """Return a point of the large problem as one of the small problem."""
        if self.whole:
            return point
        return point.restrict(point.problem.over(self._small), self.columns, self.blocks)

    @cached_property
    def _small(self) -> Lifted:
        return self.lifted.restrict(self.columns)

    def widen(self, state: State) -> State:
        """Return a state of the small problem as one of the large problem."""
        if self.whole:
            return state
        x = np.zeros(self.lifted.shape)
        x[self.columns] = state.x
        return replace(state, x=x, known_support=None)


def sized(lifted: Lifted, entries: Index, shrinkage: Shrinkage | None, unit: float | None = None) -> Blocks:
    """Return the blocks of entries that are ordered by them; each has a unit of its own, unless one is given."""
    blocks, ends = entries, np.arange(1, len(entries) + 1)
    if not lifted.core.one_by_one:
        blocks = lifted.labels[entries]
        ends = np.append(np.flatnonzero(blocks[1:] != blocks[:-1]) + 1, len(entries))
        blocks = blocks[ends - 1]
    assert lifted.prices is not None  # noqa: S101
    prices = lifted.prices[blocks]
    lengths = lifted.reaches[blocks] * prices
    ridges = None if shrinkage is None else shrinkage.ridges[blocks]
    longest = lengths if ridges is None else np.maximum(lengths, NEXT_TO_NOTHING * np.sqrt(ridges))
    # a power of two near the norm of a block, by which numbers are scaled without rounding; the Gram matrix, which is
    # kept when the ridge changes, has it too
    units = np.ldexp(1.0, -np.frexp(longest)[1]) if unit is None else np.full(len(blocks), unit)
    negative = np.empty(len(entries), dtype=np.uint8)
    signs = lifted.core.signs(lifted.shape)
    negative[:] = signs if isinstance(signs, bool) else signs[entries]
    ridge = np.zeros(len(blocks)) if ridges is None else ridges * units * units
    return Blocks(ends, prices * units, units, (lengths * units) ** 2, ridge, negative)


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

    def renew(self, point: Point) -> Part:
        """Return a set for this point, and for others on the way from it."""
        problem, lifted = point.problem, point.problem.lifted
        if lifted.core.listed:
            self._part = Part(lifted, np.arange(lifted.shape[0]), np.zeros(1, dtype=np.intp))
            return self._part
        if len(point.unscaled_scores) == 1 and lifted.core.proximal:
            self._part = Part(lifted, columns_near(point), np.zeros(1, dtype=np.intp))
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
    """Return the columns of the support and those with the largest pulls, for a gauge that treats them all alike."""
    x, pulls = point.state.x, np.abs(point.pulls)
    support = np.flatnonzero(x if x.ndim == 1 else x.any(axis=1))
    sizes = pulls if x.ndim == 1 else pulls.max(axis=1)
    return best(sizes, max(LEAST - len(support), len(support)), beside=support)


def joining_score(point: Point) -> float:
    """Return the score up to which no block is expected to join the support, by the strong rule.

    Scores are expected to move by no more than the best one has to: from sigma to the slope of the penalty.
    """
    return 2 * marginal_slope(point) - point.sigma / point.dual_scale


def marginal_slope(point: Point) -> float:
    """Return the slope of the penalty; on the edge of its domain, where that is open to choice, what x . z bears."""
    penalty, mass = point.problem.penalty, point.state.mass
    on_edge = mass >= penalty.limit * (1 - EDGE)
    return max(penalty.slope(mass), point.pull / mass) if on_edge else penalty.slope(mass)


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

    def enter(self, point: Point) -> tuple[Part, Point]:
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
        every = np.arange(len(self.atoms))
        return Part(small.lifted, every, every), small.at(small.state(self.weights, state.coordinates))

    def leave(self, state: State) -> State:
        self.weights = state.x
        x = np.zeros(self.problem.shape)
        for atom, weight in zip(self.atoms, state.x, strict=True):
            atom.add_to(x, weight)
        lifted = self.problem.inside(x, state.image, state.coordinates, state.drift)
        self.x = lifted.x
        return lifted

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
