"""The sparse group norm, by its polar: the epsilon norm of each group."""

from typing import Any

import numpy as np
from flint import arb

from ..balls import positive_part, root
from ..doubles import DOWN, TINY, UP, gamma, known
from ..verdict import Refused
from .blocks import Group
from .rules import Rules

HALVINGS = 50
"""Halvings that find the polar norms of all groups in doubles; every bound is proven afterwards."""

NEAR = (2.0**-90, 2.0**-40)
"""Relative distances from what was found at which bounds are tried, the last one for doubles too."""


class SparseGroup(Group):
    """`balance sum_j abs(x_j) + sum_g price_g norm2(x_g)`, where the prices are `(1 - balance) weights_g` in doubles.

    The score of a group is the t with `norm2(soft(z_g, t balance)) = t price_g`: the left side falls with t, the right
    side rises, and one comparison of both proves a bound.
    """

    euclidean = False
    has_facts = True

    def __init__(self, piece: dict[str, Any], *given: Any) -> None:
        self.balance: float = piece["balance"]
        if not 0 < self.balance <= 1:
            raise Refused("the balance of SparseGroup must be between 0 and 1; with 0 it is Group")
        super().__init__(piece, *given)

    def _weights(self, stated: Any, blocks: int, rows: int, per: int) -> np.ndarray:
        self.lasting = (1 - self.balance) * super()._weights(stated, blocks, rows, per)
        return np.ones(blocks)

    def norm(self, values: list[arb], block: int = 0) -> arb:
        length = root(sum((v * v for v in values), arb(0)))
        return arb(self.balance) * sum(map(abs, values), arb(0)) + arb(float(self.lasting[block])) * length

    def score(self, block: int, z: Any) -> arb:
        values = self.pulls(block, z)
        lows, highs = ([arb(v.lower()).max(arb(0)) for v in values], [arb(v.upper()) for v in values])
        return self._polar(block, lows)[0].union(self._polar(block, highs)[1]) / self.prices[block]

    def rules(self, least: np.ndarray, most: np.ndarray, slope: arb, steepest: arb) -> Rules:
        return Thresholds(least, most, arb(self.balance) * slope, arb(self.balance) * steepest)

    def within(self, mass: arb, j: int) -> arb:
        return super().within(mass, j) / (arb(self.balance) + arb(float(self.lasting[self.labels[j]])))

    def _polar(self, block: int, values: list[arb]) -> tuple[arb, arb]:
        """Return bounds of the polar norm of numbers that are not negative."""
        single, price = arb(self.balance), arb(float(self.lasting[block]))
        largest = max(values, key=float)
        if not largest > 0:
            return arb(0), sum(values, arb(0)) / single
        t = arb((largest / (single + price)).mid())
        for _ in range(HALVINGS):  # Newton's method, from below, for a convex function
            left = [positive_part(v - t * single) for v in values]
            length = root(sum((v * v for v in left), arb(0)))
            if not length > 0:
                break
            step = (length - t * price) / (single * sum(left, arb(0)) / length + price)
            t = arb((t + step).mid())
            if abs(step) < t * NEAR[0]:
                break
        low, high = largest / (single + price), largest / single
        for near in reversed(NEAR):
            below, above = t * (1 - arb(near)), t * (1 + arb(near))
            low = below if self._excess(values, below, price) >= 0 else low
            high = above if self._excess(values, above, price) <= 0 else high
        return low, high

    def _excess(self, values: list[arb], t: arb, price: arb) -> arb:
        """Return `norm2(soft(v, t balance))^2 - (t price)^2`."""
        left = (positive_part(v - t * arb(self.balance)) for v in values)
        return sum((v * v for v in left), arb(0)) - t * t * price * price

    def dual_norms_above(self, sizes: np.ndarray) -> np.ndarray:
        largest = self._largest(sizes)
        if not np.isfinite(largest).all():
            return np.full(len(largest), np.inf)
        with np.errstate(all="ignore"):
            tried = self._found(sizes, largest) * (1 + NEAR[-1])
            cut = (tried * self.balance * DOWN)[self.labels]
            left = np.where(sizes > cut, (sizes - cut) * UP, 0.0)
            proven = self._lengths(left, largest) * self._rounded(1) + TINY <= tried * self.lasting * DOWN
            return np.where(proven, tried, known(largest / self.balance * UP + TINY))

    def dual_norms_below(self, sizes: np.ndarray) -> np.ndarray:
        largest = self._largest(sizes)
        with np.errstate(all="ignore"):
            tried = self._found(sizes, largest) * (1 - NEAR[-1])
            left = np.maximum(sizes - (tried * self.balance * UP + TINY)[self.labels], 0.0) * DOWN
            proven = self._lengths(left, largest) * self._rounded(-1) >= tried * self.lasting * UP + TINY
            alone = largest / (self.balance + self.lasting) * DOWN
            return np.where(proven, tried, np.where(alone > TINY, alone, 0.0))

    def _largest(self, sizes: np.ndarray) -> np.ndarray:
        """Return the largest entry of each group."""
        return np.asarray(np.maximum.reduceat(sizes[self._order], self._starts[:-1]))

    def _lengths(self, sizes: np.ndarray, largest: np.ndarray) -> np.ndarray:
        """Return the l2 norm of each group, with rounding, in units of the largest entries."""
        unit = np.where(largest > 0, largest, 1.0)
        scaled = sizes / unit[self.labels]
        sums = np.bincount(self.labels, scaled * scaled, len(largest))
        return np.asarray(np.sqrt(sums) * unit)

    def _rounded(self, side: int) -> float:
        """Return a factor that makes a bound of computed lengths."""
        return (1 + side * 2 * gamma(len(self.labels) + 8)) * (UP if side > 0 else DOWN)

    def _found(self, sizes: np.ndarray, largest: np.ndarray) -> np.ndarray:
        """Return the polar norms of all groups in doubles, by halving."""
        low, high = largest / (self.balance + self.lasting), largest / self.balance
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            left = np.maximum(sizes - (middle * self.balance)[self.labels], 0.0)
            above = self._lengths(left, largest) > middle * self.lasting
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return np.asarray((low + high) / 2)


class Thresholds(Rules):
    """Of a group that is not 0, a coefficient is 0 exactly where abs(z*) is at most the slope times the balance."""

    def __init__(self, least: np.ndarray, most: np.ndarray, low: arb, high: arb) -> None:
        super().__init__(least, most)
        self.low, self.high = low, high

    def in_no_set(self, j: int) -> bool:
        return bool(arb(self.most[j]) < self.low)

    def in_every_set(self, j: int) -> bool:
        return bool(arb(self.least[j]) > self.high)

    def never_apart(self, members: list[int]) -> bool:  # noqa: ARG002
        return False
