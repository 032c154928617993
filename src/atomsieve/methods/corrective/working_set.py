"""Working sets: a small problem within the large one, and the way there and back."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from atomsieve.core import Blocks, Packed, best, highest_outside
from atomsieve.design import ALL, ArrayDesign, DenseDesign, Design, StackDesign
from atomsieve.gauges import Atom, NonNegative
from atomsieve.gauges.found import Combination
from atomsieve.methods.corrective.tall import carried, needs_all
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.namespace import array_namespace
from atomsieve.numerics.places import support_of
from atomsieve.problem import Point, Problem, State
from atomsieve.problem.lifted import Lifted, Spreads
from atomsieve.problem.limits import CoefficientLimits
from atomsieve.problem.shrinkage import Shrinkage
from atomsieve.typing import Array, Index, Mask, Samples

LEAST = 150
"""Blocks in a working set, at least."""

NEXT_TO_NOTHING = 1e-100
"""A block shorter than this part of the root of its ridge is measured as if it were as long."""

TOGETHER = 10
"""Atoms that join a working set of atoms in one pass, at least."""


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
    def every(self) -> bool:
        """Whether no block that can carry weight is left out: those with a price of 0 or infinity cannot."""
        return self.whole or len(self.blocks) == np.count_nonzero(self.lifted.eligible)

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
        if problem.shrinkage is not None:
            return sized(self.lifted, self.entries, problem.shrinkage)
        return limited(problem.limits, self.entries, self._sizes)

    def ridges_of(self, problem: Problem, blocks: Blocks) -> Array:
        """Return the ridge of each block as the core reads it, in the units of these blocks."""
        if problem.shrinkage is None:
            return np.zeros(len(blocks.ends))
        return np.asarray(problem.shrinkage.of_entries(self.entries[blocks.ends - 1]) * blocks.units * blocks.units)

    def holds(self, point: Point) -> bool:
        """Return whether a point is one of the same problem, and no coefficient outside carries weight there."""
        if self.lifted is not point.problem.lifted:
            return False
        return len(point.state.support) == np.count_nonzero(point.state.x[self.columns])

    def highest_outside(self, point: Point) -> float:
        """Return the highest score of the blocks that are left out, be it in part."""
        scores = point.unscaled_scores
        core: Any = point.problem.core
        if core.listed:  # all columns are here
            return -math.inf
        if core.split:
            slopes = slopes_of_joining(point)
            slopes[self.columns] = -math.inf
            return float(slopes.max())
        if not core.proximal:
            return highest_outside(scores, self.blocks)
        return -math.inf if self.whole or not joining(point, self._outside).any() else math.inf

    @cached_property
    def _outside(self) -> Mask:
        outside = np.ones(self.lifted.shape[0], dtype=bool)
        outside[self.columns] = False
        return outside

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
        return replace(state, held=x, known_support=None)


def sized(lifted: Lifted, entries: Index, shrinkage: Shrinkage | None, unit: float | None = None) -> Blocks:
    """Return the blocks of entries that are ordered by them; each has a unit of its own, unless one is given."""
    assert lifted.charges is not None  # noqa: S101
    blocks, ends = entries, np.arange(1, len(entries) + 1)
    if not lifted.core.one_by_one:
        blocks = lifted.labels[entries]
        ends = np.flatnonzero(np.append(blocks[1:] != blocks[:-1], True) | (lifted.charges[0][blocks] == 0)) + 1
        blocks = blocks[ends - 1]
    prices, each = (charge[blocks] for charge in lifted.charges)
    alone = prices == 0  # without a price of its norm a block is its entries
    prices, each = np.where(alone, each, prices), np.where(alone, 0.0, each)
    lengths = lifted.reaches[blocks] * (prices + each)
    ridges = None if shrinkage is None else shrinkage.ridges[blocks]
    longest = lengths if ridges is None else np.maximum(lengths, NEXT_TO_NOTHING * np.sqrt(ridges))
    # a power of two near the norm of a block, by which numbers are scaled without rounding; the Gram matrix, which is
    # kept when the ridge changes, has it too
    units = np.ldexp(1.0, -np.frexp(longest)[1]) if unit is None else np.full(len(blocks), unit)
    negative = np.empty(len(entries), dtype=np.uint8)
    signs = lifted.core.signs(lifted.shape)
    negative[:] = signs if isinstance(signs, bool) else signs[entries]
    ridge = np.zeros(len(blocks)) if ridges is None else ridges * units * units
    # |A x_b| is at most the reach times the gauge of x_b
    longest = lifted.reaches[blocks] * (prices + each * np.sqrt(np.diff(ends, prepend=0)))
    return Blocks(ends, prices * units, each * units, units, (longest * units) ** 2, ridge, negative)


def limited(limits: CoefficientLimits | None, entries: Index, blocks: Blocks) -> Blocks:
    """Return the same blocks of one entry each with the limits of these entries, if there are any."""
    if limits is None:
        return blocks
    return blocks._replace(limits=(limits.lower[entries] / blocks.units, limits.upper[entries] / blocks.units))


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


def slopes_of_joining(point: Point) -> Array:
    """Return the slope at which each column joins x, for a gauge whose blocks are split."""
    core: Any = point.problem.core
    slopes: Array = core.joining(point.pulls, point.unscaled_scores)
    return slopes if slopes.ndim == 1 else np.asarray(slopes.max(axis=1))


def stepped(point: Point, raised: float = 0.0, where: Mask | slice = ALL) -> Array:
    """Return where a proximal step from a point leads, if some pulls were raised by so much."""
    length, slope = step_length(point), marginal_slope(point)
    core: Any = point.problem.core
    pulls = point.pulls.copy()
    pulls[where] += raised * np.sign(pulls[where])
    return np.asarray(core.prox(point.state.x + length * pulls, (length * slope, 0.0)))


def step_length(point: Point) -> float:
    """Return the length of a proximal step that the curvature along the longest column allows."""
    problem = point.problem
    longest = float(problem.seminorm.column_norms().max(initial=0.0))
    steepest = problem.loss.smoothness_near(point.u) * longest * longest
    return 1 / steepest if 0 < steepest < math.inf else 1.0


def joining(point: Point, where: Mask) -> Mask:
    """Return which of some columns without weight may join, by the strong rule for gauges of one block.

    The score of all is expected to move by no more than it has to, from sigma to the slope of the penalty. So no pull
    moves by more than that times the size which an entry has for each unit of its own score.
    """
    unit = np.zeros_like(point.pulls)
    unit.flat[0] = 1.0
    excess = max(point.sigma / point.dual_scale - marginal_slope(point), 0.0)
    there = stepped(point, excess / float(point.problem.core.scores(unit)[0]), where)[where]
    return np.asarray(there != 0 if there.ndim == 1 else there.any(axis=1))


def joining_score(point: Point) -> float:
    """Return the score up to which no block is expected to join the support, by the strong rule.

    Scores are expected to move by no more than the best one has to: from sigma to the slope of the penalty.
    """
    return 2 * marginal_slope(point) - point.sigma / point.dual_scale


def marginal_slope(point: Point) -> float:
    """Return the slope of the penalty; where that changes with the mass and is no line, the slope that x . z bears.

    At a mass slightly off, a barrier or the edge of a ball has quite another slope than at the optimum.
    """
    penalty, mass = point.problem.penalty, point.state.mass
    limits = point.problem.limits
    if limits is not None:
        return limits.conjugate(penalty, point.z, point.scores > -math.inf).slope
    if penalty.line is not None or mass == 0:
        return penalty.slope(mass)
    return max(penalty.slope(0.0), point.pull / mass)


class AtomSet:
    """Atoms found by the oracle, some more at each pass, for gauges whose blocks are not l2 balls."""

    patience = 200.0
    complete = False

    def __init__(self) -> None:
        self.atoms: list[Atom] = []
        self.weights = np.empty(0)
        self.ids = np.empty(0, dtype=np.intp)
        self.idle = np.empty(0, dtype=np.intp)
        self.born = 0
        self.images: list[Samples] = []
        self.x: Array | None = None
        self.norms: Array | None = None
        self._rng = np.random.default_rng(0)

    def enter(self, point: Point) -> tuple[Part, Point]:
        problem, state = point.problem, point.state
        if self.x is None or not np.array_equal(self.x, state.x):
            self._restart(point)
        else:
            self._drop_idle()
        self._add(point, [(atom, 0.0) for atom in self._joining(point)])
        images = array_namespace(self.images[0]).stack(self.images, axis=-1)
        design = designed(images)
        self.problem = problem
        shape = (len(self.atoms),)
        lengths = np.array([problem.seminorm.plain_norm(image) for image in self.images])
        spreads = Spreads(lengths, lengths, float(lengths.max()))
        small = problem.over(Lifted(problem.smooth, design, NonNegative(), shape, shape, self.ids, spreads))
        every = np.arange(len(self.atoms))
        return Part(small.lifted, every, every), small.at(small.state(self.weights, state.coordinates))

    def leave(self, state: State) -> State:
        self.weights = state.x
        parts = Combination(tuple(self.atoms), state.x)
        if self.problem.core.listed:
            lifted = self.problem.combined(parts.plus(()), state.image, state.coordinates, state.drift)
        else:
            x = parts.sum(self.problem.shape)
            lifted = self.problem.inside(x, state.image, state.coordinates, state.drift)
        self.x = lifted.x
        return lifted

    def _restart(self, point: Point) -> None:
        """Begin with the atoms that x is made of, or with its blocks, each as one atom."""
        core, state = point.problem.core, point.state
        self.atoms = []
        self.images = []
        self.weights = np.empty(0)
        self.ids, self.idle = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
        if core.listed:
            self._add(point, (state.parts or Combination()).pairs)
        else:
            self._add(point, [core.part(state.x, int(block)) for block in np.flatnonzero(core.sizes(state.x))])

    def _drop_idle(self) -> None:
        """Let atoms go that had no weight twice in a row."""
        self.idle = np.where(self.weights > 0, 0, self.idle + 1)
        kept = np.flatnonzero(self.idle < 2)
        self.atoms, self.images = [self.atoms[j] for j in kept], [self.images[j] for j in kept]
        self.weights, self.ids, self.idle = self.weights[kept], self.ids[kept], self.idle[kept]

    def _joining(self, point: Point) -> list[Atom]:
        """Return the best atom, and others that may be as good at the optimum: best where z is moved within bounds."""
        core, z = point.problem.core, point.pulls
        count = max(TOGETHER, int(np.count_nonzero(self.weights)) // 2) - 1
        others = core.more(z, count)
        if others is None:
            if self.norms is None:
                self.norms = point.problem.seminorm.column_norms()
            norms = self.norms.reshape(-1, *[1] * (z.ndim - 1))
            noise = np.minimum(point.radius * norms, np.abs(z).max(initial=0.0))
            moved = (z + noise * self._rng.uniform(-1.0, 1.0, size=z.shape) for _ in range(count))
            others = [core.atom(there, point.best) for there in moved]
        known = {atom.key for atom in self.atoms}
        found = {atom.key: atom for atom in [point.atom, *others]}
        return [atom for key, atom in found.items() if key not in known]

    def _add(self, point: Point, pairs: Sequence[tuple[Atom, float]]) -> None:
        count = len(pairs)
        self.ids = np.append(self.ids, np.arange(self.born, self.born + count))
        self.idle = np.append(self.idle, np.zeros(count, dtype=np.intp))
        self.born += count
        self.images += images_of([atom for atom, _ in pairs], point.problem.design)
        self.atoms += [atom for atom, _ in pairs]
        self.weights = np.append(self.weights, [weight for _, weight in pairs])


def designed(images: Samples) -> Design:
    """Return the images of atoms as columns, where they are."""
    if type(images) is not np.ndarray:
        return ArrayDesign(images)
    return DenseDesign(images) if images.ndim == 2 else StackDesign(images)


def images_of(atoms: Sequence[Atom], design: Design) -> list[Samples]:
    """Return the image of each atom; those with entries in all columns share one pass over the data."""
    whole = [j for j, atom in enumerate(atoms) if isinstance(atom.columns, slice) and atom.values.ndim == 1]
    whole = [j for j in whole if atoms[j].columns == ALL]
    images: list[Samples] = [None] * len(atoms)
    if whole:
        together = design.matvec(np.stack([atoms[j].values for j in whole], axis=1))
        for place, j in enumerate(whole):
            images[j] = together[:, place]
    return [atom.image(design) if image is None else image for atom, image in zip(atoms, images, strict=True)]
