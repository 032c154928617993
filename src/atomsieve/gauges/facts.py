"""Facts: what holds for the entries of every solution, and the evidence from which a gauge derives them.

All atoms of an optimal decomposition have the best score, `p . z* = sigma(z*) = slope`. So whatever holds for all atoms
that can have it, for every z* within known bounds, holds for every solution: an entry is 0 if it is 0 in all of them.
"""

from dataclasses import dataclass, replace

import numpy as np

from atomsieve.numerics.enclosures import Enclosure, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is certain of z at the optimum, all rounding included. Entries of x are numbered row by row."""

    least: Array
    """Lower bounds of the absolute values of z*."""

    most: Array
    """Upper bounds of them; inf where none is known."""

    signs: Array
    """The signs of z*; 0 where they are not known."""

    scores: tuple[Array, Array]
    """Lower and upper bounds of the scores of all blocks at z*."""

    slope: tuple[float, float]
    """Lower and upper bounds of the slope of the penalty at a solution that is not 0."""

    ends: tuple[Array, Array] | None = None
    """Lower and upper bounds of z* itself, where they say more than absolute values and signs."""

    seen: tuple[Enclosure, Array] | None = None
    """z at the dual point, and how far each entry of z* can be from it."""

    @property
    def low(self) -> Array:
        """Lower bounds of z*."""
        return self.ends[0] if self.ends is not None else np.where(self.signs > 0, self.least, -self.most)

    @property
    def high(self) -> Array:
        """Upper bounds of z*."""
        return self.ends[1] if self.ends is not None else np.where(self.signs < 0, -self.least, self.most)

    @classmethod
    def around(cls, z: Enclosure, away: Array, scores: tuple[Array, Array], slope: tuple[float, float]) -> "Evidence":
        """Return the evidence for every z* whose entries are within `away` of an enclosed z."""
        moved = z.widened(away)
        with np.errstate(invalid="ignore", over="ignore"):
            most = np.where(np.isnan(moved.size), np.inf, moved.size)
            least = np.fmax((np.abs(moved.mid) - moved.rad) * (1 - 4 * EPS), 0.0)
            ends = np.fmax(moved.low, -most), np.fmin(moved.high, most)
        signs = np.where(least > 0, np.sign(moved.mid), 0.0)
        return cls(least, most, signs, scores, slope, ends, (z, away))

    def over(self, radius: float) -> "Evidence":
        """Return the evidence where all atoms are divided by a number, and so scores and slope."""
        (below, above), (low, high) = self.scores, self.slope
        down, over = 1 - 4 * EPS, 1 + 4 * EPS
        with np.errstate(all="ignore"):
            below = below / radius * np.where(below > 0, down, over)
            above = np.where(above > 0, up(np.abs(above) / radius), above / radius * down)
        return replace(
            self, scores=(below, above), slope=(low / radius * (down if low > 0 else over), up(high / radius))
        )


@dataclass(frozen=True, eq=False)
class Facts:
    """Linear facts about the entries of every solution, which are numbered row by row."""

    zero: Mask
    """Entries that are zero."""

    nonzero: Mask
    """Entries that are not zero, unless all of their block is."""

    signs: Array
    """1 for entries that are never negative, -1 for those that are never positive, 0 where neither is known."""

    clusters: Index
    """Entries with the same number have the same absolute value, with the signs above; -1 for all others."""

    saturated: Mask
    """Entries whose absolute value is the gauge of the solution, with the signs above: one of the clusters."""

    tiers: Index
    """No entry is smaller, in absolute value, than one of a higher tier."""

    tight: tuple[list[int], ...] = ()
    """Entries in parts. Those of the first part, of the first two and so on add up to the most that the gauge of the
    solution allows; those of a Permutahedron are then as large as all behind them, or larger."""

    @classmethod
    def none(cls, count: int) -> "Facts":
        """Return that nothing is known of so many entries."""
        never = np.zeros(count, dtype=bool)
        return cls(never, never, np.zeros(count), np.full(count, -1), never, np.zeros(count, dtype=np.intp))

    @property
    def sets(self) -> list[Index]:
        """The clusters, each with its entries in rising order."""
        order = np.argsort(self.clusters, kind="stable")[np.count_nonzero(self.clusters < 0) :]
        return np.split(order, np.flatnonzero(np.diff(self.clusters[order])) + 1) if len(order) else []

    @property
    def order(self) -> list[Index]:
        """The entries that are not zero, tier by tier, the largest first; empty where there is only one tier."""
        tiers = np.where(self.zero, -1, self.tiers)
        order = np.argsort(tiers, kind="stable")[np.count_nonzero(self.zero) :]
        ends = np.flatnonzero(np.diff(tiers[order])) + 1
        return np.split(order, ends) if len(ends) else []

    def fitted(self, x: Array) -> Array:
        """Return entries near those given with the zeros and the clusters that every solution has."""
        x = np.where(self.zero, 0.0, x)
        inside = np.flatnonzero((self.clusters >= 0) & ~self.zero)
        if not len(inside):
            return x
        labels = self.clusters[inside]
        towards = x[inside] * self.signs[inside]
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.bincount(labels, towards) / np.bincount(labels)
        first = np.zeros(len(means))
        first[labels[::-1]] = towards[::-1]
        alike = np.ones(len(means), dtype=bool)
        alike[labels[towards != first[labels]]] = False  # a mean of equal numbers may be rounded
        x[inside] = np.maximum(np.where(alike, first, means), 0.0)[labels] * self.signs[inside]
        return x

    def held_by(self, x: Array) -> "Facts":
        """Return the facts without the zeros and the clusters that a point does not have."""
        fitted = self.fitted(x)
        broken = np.unique(self.clusters[fitted != x])
        lost = np.isin(self.clusters, broken[broken >= 0])
        return replace(
            self,
            zero=self.zero & (x == 0),
            clusters=np.where(lost, -1, self.clusters),
            saturated=self.saturated & ~lost,
        )

    def settled(self, zero: Mask, nonzero: Mask) -> "Facts":
        """Return the facts where it is settled which entries are zero and which are not; only others have facts."""
        labels = np.where(zero, -1, self.clusters)
        counts = np.bincount(labels[labels >= 0], minlength=1)
        labels = np.where((labels >= 0) & (counts[labels] > 1), labels, -1)
        inside = labels >= 0
        labels[inside] = np.unique(labels[inside], return_inverse=True)[1]
        return Facts(
            zero, nonzero, np.where(zero, 0.0, self.signs), labels, self.saturated & ~zero, self.tiers, self.tight
        )

    def clipped(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Return bounds of the entries, which may be infinite, with what the signs tell."""
        signs = self.signs.reshape(lower.shape)
        return np.where(signs > 0, np.maximum(lower, 0.0), lower), np.where(signs < 0, np.minimum(upper, 0.0), upper)
