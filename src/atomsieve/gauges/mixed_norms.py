"""The norm `single |v|_1 + price |v|_2` of many groups at once, and its polar, the epsilon norm, with error bounds."""

from dataclasses import dataclass

import numpy as np

from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import LEAST, Enclosure, gamma, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index

POLISH = 2
"""Newton steps for the polar norm, from a point that is off by rounding alone; one is enough but at ties."""

SLACK = 2.0**-46
"""Relative distance between a polar norm and a number that is tried as its bound."""


@dataclass(frozen=True, eq=False)
class MixedNorms:
    """Norms of groups of entries. `labels` has the group of each; all methods take absolute values of the entries."""

    labels: Index
    single: float
    prices: Array

    @cached_property
    def counts(self) -> Index:
        """The number of entries of each group."""
        return np.bincount(self.labels)

    @cached_property
    def _order(self) -> Index:
        """The entries, group by group."""
        return np.argsort(self.labels, kind="stable")

    @cached_property
    def _starts(self) -> Index:
        """The place of the first entry of each group in that order."""
        return np.cumsum(self.counts) - self.counts

    def largest(self, sizes: Array) -> Array:
        """Return the largest entry of each group."""
        return np.asarray(np.maximum.reduceat(sizes[self._order], self._starts))

    def _units(self, sizes: Array) -> Array:
        """Return a power of two near the largest entry of each group, by which squares stay in range."""
        largest = self.largest(sizes)
        usable = (largest > 0) & np.isfinite(largest)
        return np.where(usable, np.ldexp(1.0, np.clip(np.frexp(largest)[1], -1000, 1000)), 1.0)

    def lengths(self, sizes: Array) -> Array:
        """Return the l2 norm of each group."""
        units = self._units(sizes)
        return units * np.sqrt(np.bincount(self.labels, (sizes / units[self.labels]) ** 2))

    def values(self, sizes: Array) -> Array:
        """Return the norm of each group."""
        return self.single * np.bincount(self.labels, sizes) + self.prices * self.lengths(sizes)

    def shrunk(self, sizes: Array, slope: float) -> Array:
        """Return the prox of the slope times the sum of all norms: soft thresholds, then shorter groups."""
        left = np.maximum(sizes - slope * self.single, 0.0)
        lengths = self.lengths(left)
        kept = lengths > slope * self.prices
        factors = np.where(kept, 1 - slope * self.prices / np.where(kept, lengths, 1.0), 0.0)
        return np.asarray(left * factors[self.labels])

    def polar(self, sizes: Array) -> Array:
        """Return the polar norm of each group: the t with `|soft(v, t single)|_2 = t price`."""
        if self.single == 0:
            return self.lengths(sizes) / self.prices
        if not self.prices.any():
            return self.largest(sizes) / self.single
        units = self._units(sizes)
        scaled = sizes / units[self.labels]
        levels, steepness = self._first_level(scaled), self.prices / self.single
        for _ in range(POLISH):
            left = np.maximum(scaled - levels[self.labels], 0.0)
            lengths = np.sqrt(np.bincount(self.labels, left * left))
            some = lengths > 0
            falling = np.bincount(self.labels, left) / np.where(some, lengths, 1.0) + steepness
            levels = levels + np.where(some, (lengths - levels * steepness) / falling, 0.0)
        return np.asarray(units * (levels / self.single))

    def _first_level(self, sizes: Array) -> Array:
        """Return `t single` from sums over sorted entries: the first k of a group are above it, the others below.

        The k-th largest entry v is above it where `sum of (v_i - v)^2` over the entries before is less than
        `(v price / single)^2`. With k known, t solves a quadratic equation.
        """
        order = np.lexsort((-sizes, self.labels))
        falling, labels = sizes[order], self.labels[order]
        ranks = np.arange(1, len(order) + 1) - self._starts[labels]
        sums, squares = self._sums(falling, labels), self._sums(falling * falling, labels)
        ratios, tops = self.prices / self.single, falling[self._starts]
        steepness = ratios * ratios
        above = squares - 2 * falling * sums + ranks * falling * falling < steepness[labels] * falling * falling
        counts = np.maximum(np.bincount(labels, above), 1).astype(np.intp)
        last = self._starts + counts - 1
        total, square = sums[last], squares[last]
        root = np.sqrt(np.maximum(total * total - (counts - steepness) * square, 0.0))
        some = total > 0
        levels = np.where(some, square / np.where(some, total + root, 1.0), 0.0)
        return np.where(levels < tops, levels, tops / (1 + ratios))  # by the largest entry alone

    def _sums(self, values: Array, labels: Index) -> Array:
        """Return the sums of the first 1, 2, ... values of each group, given group by group."""
        sums = np.cumsum(values)
        return np.asarray(sums - np.append(0.0, sums)[self._starts][labels])

    def enclose_values(self, sizes: Array) -> Enclosure:
        """Return the norm of each group with a bound of all rounding errors."""
        values = self.values(sizes)
        return Enclosure(values, up(2 * values * gamma(self.counts + 16)))

    def polar_above(self, sizes: Array) -> Array:
        """Return upper bounds of the polar norms: numbers t with `|soft(v, t single)|_2 <= t price`, rounding included.

        Where a number slightly above the polar norm is not proven to be one, an entry or the l2 norm alone bounds it.
        """
        with np.errstate(all="ignore"):
            tried = up(self.polar(sizes) * (1 + SLACK + 4 * gamma(self.counts + 8)))
            cut = np.maximum(tried * self.single * (1 - 4 * EPS) - LEAST, 0.0)[self.labels]
            left = np.where(sizes > cut, up(sizes - cut), 0.0)
            proven = self._lengths_above(left) <= tried * self.prices * (1 - 4 * EPS) - LEAST
            alone = np.where(self.prices > 0, up(self._lengths_above(sizes) / self.prices), np.inf)
            if self.single > 0:
                alone = np.fmin(alone, up(self.largest(sizes) / self.single))
            return np.where(proven, tried, np.where(np.isnan(alone), np.inf, alone))

    def polar_below(self, sizes: Array) -> Array:
        """Return lower bounds of the polar norms, in the same way: `|soft(v, t single)|_2 >= t price`."""
        with np.errstate(all="ignore"):
            tried = np.maximum(self.polar(sizes) * (1 - SLACK - 4 * gamma(self.counts + 8)), 0.0)
            cut = up(tried * self.single)[self.labels]
            left = np.maximum(sizes - cut, 0.0) * (1 - 2 * EPS)
            lengths = self.lengths(left) * (1 - 2 * gamma(self.counts + 8))
            proven = lengths >= up(tried * self.prices)
            alone = np.maximum(self.largest(sizes) / up(self.single + self.prices) * (1 - 4 * EPS) - LEAST, 0.0)
            return np.where(proven, tried, np.where(np.isfinite(alone), alone, 0.0))

    def _lengths_above(self, sizes: Array) -> Array:
        return np.asarray(up(self.lengths(sizes) * (1 + 2 * gamma(self.counts + 8))))
