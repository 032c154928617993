"""Gauges that treat all entries alike, whatever their order and their signs: functions of sorted absolute values."""

from abc import abstractmethod
from dataclasses import replace

import numpy as np

from atomsieve.design import Columns, as_slice
from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges.base import Atom, BlockGauge
from atomsieve.gauges.facts import Evidence, Facts
from atomsieve.gauges.proximal import ProximalGauge
from atomsieve.numerics.enclosures import LEAST, Enclosure, gamma, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask


class SymmetricGauge(ProximalGauge):
    """A gauge of one block, by its formulas for absolute values in falling order.

    A solution x has the signs of z*, and its absolute values have the order of those of z*: otherwise `x . z*` would
    grow if signs were turned or entries changed places, at the same gauge, and it is the largest possible.
    """

    decides = True

    @abstractmethod
    def largest_score(self, falling: Array) -> tuple[float, int]:
        """Return sigma of absolute values in falling order, and how many of them its atom holds."""

    @abstractmethod
    def bound(self, falling: Array) -> float:
        """Return an upper bound of sigma, with all rounding, from upper bounds of absolute values in falling order."""

    @abstractmethod
    def size(self, falling: Array) -> float:
        """Return the gauge of absolute values in falling order."""

    @abstractmethod
    def enclose_size(self, falling: Array) -> Enclosure:
        """Return the same with a bound of all rounding errors."""

    @abstractmethod
    def weigh(self, chosen: Array) -> Array:
        """Return the entries of the atom that attains sigma, from those of z that it holds."""

    def check(self, shape: tuple[int, ...]) -> None:
        pass

    def flat(self, shape: tuple[int, ...]) -> BlockGauge:
        return self

    def restrict(self, columns: Index) -> BlockGauge:
        return self

    def decide(self, evidence: Evidence) -> Facts:
        facts = self.settle(evidence, replace(Facts.none(len(evidence.most)), signs=evidence.signs))
        return replace(facts, tiers=tiers_of(evidence, facts.zero))

    @abstractmethod
    def settle(self, evidence: Evidence, facts: Facts) -> Facts:
        """Return the facts with zeros, non-zeros, clusters and saturated entries; signs are known."""

    def labels(self, shape: tuple[int, ...]) -> Index:
        return np.zeros(shape, dtype=np.intp)

    def blocks(self, columns: Index, shape: tuple[int, ...]) -> Index:
        return np.zeros(1, dtype=np.intp)

    def scores(self, z: Array) -> Array:
        return np.array([self.largest_score(falling(z))[0]])

    def sizes(self, x: Array) -> Array:
        return np.array([self.size(falling(x))])

    def atom(self, z: Array, block: int) -> Atom:
        flat = z.ravel()
        order = np.argsort(-np.abs(flat), kind="stable")
        chosen = order[: self.largest_score(np.abs(flat[order]))[1]]
        values = np.zeros(z.shape)
        values.ravel()[chosen] = self.weigh(flat[chosen])
        columns: Columns = as_slice(np.unique(chosen // (flat.size // len(z))))
        return Atom(columns, values[columns], block)

    def enclose_sizes(self, x: Array) -> Enclosure:
        found = self.enclose_size(falling(x))
        return Enclosure(np.array([found.mid]), np.array([found.rad]))

    def enclose_scores(self, z: Enclosure) -> Enclosure:
        least = np.maximum(np.abs(z.mid) - z.rad, 0.0) * (1 - 4 * EPS)
        rounding = 1 - 2 * gamma(z.mid.size + 8)
        lower = self.largest_score(falling(least))[0] * rounding - LEAST
        return Enclosure.between(np.array([max(lower, 0.0)]), np.array([self.bound(falling(z.size))]))

    def spread_bounds(self, norms: Array) -> Array:
        return np.array([self.bound(falling(norms))])

    def spread(self, seminorm: Seminorm, outputs: int) -> Array:
        # sigma of the norms of the columns, for |A p| is at most sum_j |p_j| |A_j|
        return self.scores(np.repeat(seminorm.column_norms(), outputs))


def falling(values: Array) -> Array:
    """Return absolute values in falling order."""
    return np.sort(np.abs(values), axis=None)[::-1]


def sums_above(values: Array) -> Array:
    """Return upper bounds of the sums of the first 1, 2, ... numbers that are not negative."""
    counts = np.arange(1, len(values) + 1)
    return np.asarray(up(np.cumsum(values) * (1 + 2 * gamma(counts))))


def tiers_of(evidence: Evidence, zero: Mask) -> Index:
    """Return a tier for each entry, the largest first; no entry is smaller than one of a later tier.

    A tier ends where the least absolute values of z* so far are above the largest ones behind. Zeros are the last tier.
    """
    left = np.flatnonzero(~zero)
    order = left[np.argsort(-evidence.most[left], kind="stable")]
    ends = np.minimum.accumulate(evidence.least[order])[:-1] > evidence.most[order][1:]
    tiers = np.zeros(len(zero), dtype=np.intp)
    tiers[order] = np.append(0, np.cumsum(ends))[: len(order)]
    tiers[zero] = int(tiers.max(initial=0)) + 1 if len(left) else 0
    return tiers


def leading(evidence: Evidence, k: int) -> tuple[Mask, Mask]:
    """Return which entries are in no set of the k largest absolute values of z*, and which are in all such sets.

    The former are below k others, the latter not below any k others, and not 0.
    """
    count = len(evidence.most)
    below = np.zeros(count, dtype=bool)
    if k < count:
        below = evidence.most < np.partition(evidence.least, count - k)[count - k]
    rising = np.sort(evidence.most)
    at_least = count - np.searchsorted(rising, evidence.least, side="left")  # the entry itself is one of them
    return below, (evidence.least > 0) & (at_least <= k)
