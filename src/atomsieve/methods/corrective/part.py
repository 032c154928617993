"""A part of the columns of a problem, as the core and the small problem see it."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from atomsieve.core import Blocks, Packed, highest_outside
from atomsieve.methods.corrective.joining import joining, slopes_of_joining
from atomsieve.numerics.cached import cached_property
from atomsieve.problem import Point, Problem, State
from atomsieve.problem.lifted import Lifted
from atomsieve.problem.limits import CoefficientLimits
from atomsieve.problem.shrinkage import Shrinkage
from atomsieve.typing import Array, Index, Mask

NEXT_TO_NOTHING = 1e-100
"""A block shorter than this part of the root of its ridge is measured as if it were as long."""


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
