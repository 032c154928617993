"""A gauge on flat entries, as faces and proximal steps see it: a sum of l2 norms of blocks."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomsieve.gauges.signs import admissible, some, upward
from atomsieve.typing import Array, Index, Signs


@dataclass(frozen=True, eq=False)
class Blocks:
    """A gauge on flat entries: `kappa(x) = sum over blocks of price_b norm2(x_b)`, entries signed or not.

    `signed` may have one answer for each entry where block j is entry j.
    """

    labels: Index
    prices: Array
    signed: Signs
    known_single: bool = False

    @cached_property
    def single(self) -> bool:
        """Whether block j is entry j."""
        if self.known_single:
            return True
        return len(self.labels) == len(self.prices) and bool((self.labels == np.arange(len(self.labels))).all())

    def sums(self, values: Array) -> Array:
        """Return the sum of the values of each block."""
        return values if self.single else np.bincount(self.labels, values, len(self.prices)).astype(np.float64)

    def over(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return one number per block at each of its entries."""
        return values if self.single else values[self.labels]

    def each(self, values: Array) -> Array:
        """Return one number per block from values that are the same within it."""
        found = np.empty(len(self.prices))
        found[self.labels] = values
        return found

    def norms(self, x: Array) -> Array:
        """Return the l2 norm of each block."""
        return np.abs(x) if self.single else np.sqrt(self.sums(x * x))

    def mass(self, x: Array) -> float:
        """Return the gauge."""
        return float(self.prices @ self.norms(x))

    def masses(self, targets: Array) -> Array:
        """Return the gauge of each column."""
        if self.single:
            return self.prices @ np.abs(targets)
        return np.array([self.mass(target) for target in targets.T])

    def growth(self, x: Array, target: Array) -> float:
        """Return how much larger the gauge of the target is, to full relative precision however close it is to x."""
        return float(self.growths(x, target[:, None])[0])

    def growths(self, x: Array, targets: Array) -> Array:
        """Return the growth to each column."""
        if not self.single:
            return np.array([self._growth(x, target) for target in targets.T])
        sums = np.abs(x)[:, None] + np.abs(targets)
        grown = (targets - x[:, None]) * (targets + x[:, None]) / np.where(sums > 0, sums, 1.0)
        return self.prices @ grown

    def _growth(self, x: Array, target: Array) -> float:
        sums = self.norms(x) + self.norms(target)
        return float(self.prices @ (self.sums((target - x) * (target + x)) / np.where(sums > 0, sums, 1.0)))

    def scores(self, z: Array) -> Array:
        """Return the best inner product of each block's atoms with z."""
        return (self.norms(z) if self.signed is True else upward(z, self.signed)) / self.prices

    def restrict(self, entries: Index) -> "Blocks":
        """Return the same gauge on some of the entries, whole blocks of them."""
        if self.single:
            return Blocks(np.arange(len(entries)), self.prices[entries], some(self.signed, entries), known_single=True)
        kept, labels = np.unique(self.labels[entries], return_inverse=True)
        return Blocks(labels, self.prices[kept], self.signed)

    def pairs(self, entries: Index) -> tuple[Index, Index]:
        """Return all pairs of entries of the same block, as places among the given ones: whole blocks, in order."""
        first, second = self._pairs
        if len(entries) == len(self.labels):
            return first, second
        places = np.full(len(self.labels), -1)
        places[entries] = np.arange(len(entries))
        first, second = places[first], places[second]
        chosen = first >= 0
        return first[chosen], second[chosen]

    @cached_property
    def _pairs(self) -> tuple[Index, Index]:
        order = np.argsort(self.labels, kind="stable")
        counts = np.bincount(self.labels, minlength=len(self.prices))
        sizes, ends = np.repeat(counts, counts), np.cumsum(counts)
        first = np.repeat(np.arange(len(order)), sizes)
        offset = np.arange(len(first)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return order[first], order[np.repeat(np.repeat(ends - counts, counts), sizes) + offset]

    def shrink(self, x: Array, by: Array) -> Array:
        """Return the proximal point of x: every block shorter by its number, zero where it is no longer than that."""
        if self.single:
            return admissible(x - np.clip(x, -by, by), self.signed)
        norms = self.norms(x)
        left = np.maximum(norms - by, 0.0) / np.where(norms > 0, norms, 1.0)
        return np.asarray(x * self.over(left))
