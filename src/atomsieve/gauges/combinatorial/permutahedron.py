"""The permutahedron of weights: all rankings, and what lies between them."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from atomsieve.gauges.base import Atom
from atomsieve.gauges.combinatorial.birkhoff import total_above
from atomsieve.gauges.combinatorial.structure import Combinatorial
from atomsieve.gauges.facts import Evidence, Facts
from atomsieve.intake.arguments import as_floats, keep_copy
from atomsieve.numerics.rounding import noise_level
from atomsieve.typing import Array, Index


@dataclass(frozen=True, eq=False)
class Ranking:
    """An order of the entries, with a number for each place."""

    order: Index
    falling: Array

    def entries(self) -> Array:
        """Return the numbers at the entries."""
        values = np.empty(len(self.order))
        values[self.order] = self.falling
        return values


class Ranked(Combinatorial):
    """Atoms are rankings. Entries that are certainly before all others in z* have the largest sum that there is."""

    def told(self, atom: Any) -> list[int]:
        return [int(j) for j in atom.order]

    def settle(self, evidence: Evidence, facts: Facts) -> Facts:
        return replace(facts, tight=tops(evidence.low, evidence.high))

    def agrees(self, atom: Atom, facts: Facts) -> bool:
        return not atom.toarray(facts.zero.shape)[facts.zero].any()


def tops(low: Array, high: Array) -> tuple[list[int], ...]:
    """Return entries in parts: each is, for every z* between the bounds, above all those behind it."""
    order = np.argsort(-high, kind="stable")
    ends = np.flatnonzero(np.minimum.accumulate(low[order])[:-1] > high[order][1:]) + 1
    return tuple(sorted(int(j) for j in part) for part in np.split(order, ends)[:-1]) if len(ends) else ()


@dataclass(frozen=True, eq=False, repr=False)
class Permutahedron(Ranked):
    """Gauge over all permutations of some weights: x gives the largest weights to what ranks first.

    `sigma(z)` is the sum of products of sorted weights and sorted z. If the weights add up to s other than 0, then
    `kappa(x) = sum(x) / s`, for an x whose k largest entries add up to no more than kappa times the k largest weights,
    and inf for others. If s = 0, it is the largest quotient of these two sums, for an x that adds up to 0.

    For rankings themselves, and what lies between them, use `Shifted(Permutahedron(weights), by=...)` with `Ball(1)`.

    Entries whose z* is certainly above that of all others are proven to have the sum `kappa` times that of as many of
    the largest weights, and each of them is at least as large as all others: `facts.tight`, part by part.

    >>> import numpy as np
    >>> gauge = Permutahedron([3.0, 2.0, 1.0])
    >>> gauge.support(np.array([0.0, 2.0, 1.0])), gauge.value(np.array([2.0, 2.0, 2.0]))
    (8.0, 1.0)
    """

    weights: Any

    def __post_init__(self) -> None:
        weights = as_floats(self.weights, "Permutahedron: weights")
        if weights.ndim != 1 or not len(weights) or not np.isfinite(weights).all():
            raise ValueError("Permutahedron: weights must be one list of finite numbers, one for each coefficient.")
        if not weights.any():
            raise ValueError("Permutahedron: one of the weights must not be 0.")
        keep_copy(self, "weights", weights)

    @property
    def nonnegative_atoms(self) -> bool:  # type: ignore[override]
        return bool((self.weights >= 0).all())

    @cached_property
    def falling(self) -> Array:
        """The weights, the largest first."""
        return np.sort(self.weights)[::-1].copy()

    def count(self) -> int:
        return len(self.weights)

    def best(self, z: Array) -> Ranking:
        return Ranking(np.argsort(-z.ravel(), kind="stable"), self.falling)

    def bound(self, z: Array, err: Array) -> float:
        with np.errstate(all="ignore"):
            if self.nonnegative_atoms:
                return self._sum_above(np.nextafter(z + err, np.inf), self.falling)
            own = self._sum_above(z, self.falling)
            moved = self._sum_above(err, np.sort(np.abs(self.weights))[::-1])
            return math.nextafter(own + moved, math.inf)

    def _sum_above(self, values: Array, falling: Array) -> float:
        """Return an upper bound of the sum of products of sorted numbers."""
        ordered = np.sort(values, axis=None)[::-1]
        if not np.isfinite(ordered).all():
            return math.inf
        return total_above(np.nextafter(ordered * falling, np.inf))

    def several(self, z: Array, count: int) -> list[Ranking]:
        """Return the best ranking with two neighbours swapped, for those that are nearest to each other."""
        order = np.argsort(-z.ravel(), kind="stable")
        falls = -np.diff(z.ravel()[order]) * -np.diff(self.falling)
        found = []
        for k in np.argsort(np.where(np.diff(self.falling) == 0, np.inf, falls), kind="stable")[:count]:
            swapped = order.copy()
            swapped[[k, k + 1]] = swapped[[k + 1, k]]
            found.append(Ranking(swapped, self.falling))
        return found

    def size(self, x: Array) -> float:
        total, room = float(self.weights.sum()), noise_level(len(x))
        sums, tops_of_weights = np.cumsum(np.sort(x)[::-1]), np.cumsum(self.falling)
        rounding = 4 * room * float(np.abs(x).sum())
        if abs(total) > room * float(np.abs(self.weights).sum()):
            size = float(x.sum()) / total
            inside = size >= 0 and (sums <= size * tops_of_weights + rounding).all()
            return size if inside else math.inf
        if abs(float(x.sum())) > rounding or not self.falling[0] > self.falling[-1]:
            return math.inf
        return float((sums[:-1] / tops_of_weights[:-1]).max())

    def settle(self, evidence: Evidence, facts: Facts) -> Facts:
        facts = super().settle(evidence, facts)
        # ranks that an entry can have: behind what is certainly above it, before what is certainly below it
        first = len(self.falling) - np.searchsorted(np.sort(evidence.low), evidence.high, side="right")
        last = len(self.falling) - 1 - np.searchsorted(np.sort(evidence.high), evidence.low, side="left")
        highest, lowest = self.falling[np.minimum(first, last)], self.falling[last]
        signs = np.where(lowest >= 0, 1.0, np.where(highest <= 0, -1.0, 0.0))
        zero = (lowest == 0) & (highest == 0)
        return replace(facts, zero=zero, nonzero=(lowest > 0) | (highest < 0), signs=np.where(zero, 0.0, signs))
