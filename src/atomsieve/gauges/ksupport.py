"""The k-support norm: the tightest convex bound of the l2 norm over vectors with k entries."""

import math
from dataclasses import dataclass, replace

import numpy as np

from atomsieve.gauges.facts import Evidence, Facts
from atomsieve.gauges.l2 import euclidean
from atomsieve.gauges.proximal import Face, Line
from atomsieve.gauges.symmetric import SymmetricGauge, falling, leading
from atomsieve.intake.arguments import require_count
from atomsieve.numerics.enclosures import LEAST, Enclosure, gamma, norm, up
from atomsieve.numerics.roots import monotone_zero
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array

ROUNDS = 100
"""Sets of entries that are tried for one prox; most often there are three."""


@dataclass(frozen=True, eq=False, repr=False)
class KSupport(SymmetricGauge):
    """Gauge of the hull of all vectors with at most k entries and an l2 norm of at most 1.

    `sigma(z)` is the l2 norm of the k largest absolute values of z. With k = 1 it is the l1 norm, with k = d the l2
    norm; in between it is an elastic net that is tight: k correlated features share their weight.

    Argyriou, Foygel and Srebro, Sparse prediction with the k-support norm, NIPS (2012).

    >>> import numpy as np
    >>> KSupport(1).value(np.array([1.0, -2.0, 3.0])), KSupport(2).value(np.array([1.0, 1.0, 1.0, 1.0])) ** 2
    (6.0, 8.000000000000002)
    """

    k: int = 1

    def __post_init__(self) -> None:
        require_count(self, k=self.k)

    def largest_score(self, falling: Array) -> tuple[float, int]:
        count = min(self.k, len(falling))
        return euclidean(falling[:count]), count

    def bound(self, falling: Array) -> float:
        return norm(falling[: self.k])

    def size(self, falling: Array) -> float:
        heads, level, shared = split(falling, self.k)
        return math.hypot(euclidean(falling[:heads]), level * math.sqrt(shared))

    def enclose_size(self, falling: Array) -> Enclosure:
        # kappa^2 = min { sum x_i^2 / t_i : 0 <= t <= 1, sum t <= k }. With the split of floats, t = 1 before it and in
        # proportion to x behind it show that kappa is at most as large, and the gradient as z that it is at least so;
        # what these miss their limits by is the rounding of a sum.
        size = self.size(falling)
        return Enclosure(np.float64(size), np.float64(up(8 * size * gamma(len(falling) + 8))))

    def weigh(self, chosen: Array) -> Array:
        length = euclidean(chosen)
        return chosen / length if length > 0 else np.zeros(len(chosen))

    def settle(self, evidence: Evidence, facts: Facts) -> Facts:
        # an atom with the best score is the part of z* on k entries that no others exceed, whatever the slope
        zero, nonzero = leading(evidence, self.k)
        return replace(facts, zero=zero, nonzero=nonzero)

    def prox(self, v: Array, line: Line) -> Array:
        # the prox of t kappa^2 / 2 has a closed form; what is wanted is its t, with (t - b) kappa = a
        a, b = line
        sizes = np.abs(v)
        order = falling(sizes)
        if self.largest_score(order)[0] <= a:
            return np.zeros(v.shape)
        t = b + a / self.size(order)
        return v * self._kept(sizes, order, t if a == 0 else self._balanced(order, line, t))

    def _balanced(self, order: Array, line: Line, least: float) -> float:
        """Return the t with `(t - b) kappa = a` for the prox of `t kappa^2 / 2`: Newton's method, set by set."""
        a, b = line
        t, low, high = least, least, math.inf
        before = None
        for _ in range(ROUNDS):
            sets = self._sets(order, t)
            if sets == before:
                break
            before = sets
            low, high = (t, high) if _charged(order, self.k, sets, t, b) < a else (low, t)
            t = _balance(order, self.k, sets, line)
            if not low <= t <= high or t == math.inf:
                t, before = (2 * low if high == math.inf else (low + high) / 2), None
        return t

    def _sets(self, order: Array, t: float) -> tuple[int, int]:
        """Return how many entries the prox of `t kappa^2 / 2` shrinks by a factor, and how many by a number."""
        count = int(np.count_nonzero(order))
        if count <= self.k:
            return count, 0
        scaled = _factor(order[:count], self.k, t) * order - t
        full = int(np.count_nonzero(scaled >= 1))
        return full, int(np.count_nonzero(scaled > 4 * EPS * t)) - full  # what is left by rounding is nothing

    def _kept(self, sizes: Array, order: Array, t: float) -> Array:
        """Return the part of each entry that the prox of `t kappa^2 / 2` keeps; `order` are all sizes, falling."""
        count = int(np.count_nonzero(order))
        if count <= self.k:
            return np.full(sizes.shape, 1 / (1 + t))
        share = np.minimum(_factor(order[:count], self.k, t) * sizes - t, 1.0)
        kept = share > 4 * EPS * t
        return np.where(kept, share / np.where(kept, share + t, 1.0), 0.0)

    def face(self, x: Array) -> Face:
        flat = x.ravel()
        sizes = np.abs(flat)
        order = falling(sizes)
        heads, level, shared = split(order, self.k)
        inside = np.flatnonzero(sizes)
        labels = np.full(len(flat), -1)
        labels[inside] = np.arange(len(inside))
        kappa = self.size(order)
        # kappa^2 / 2 is a quadratic function: squares before the split, the square of a sum behind it
        tail = np.ones(len(inside), dtype=bool)
        tail[np.argsort(-sizes[inside], kind="stable")[:heads]] = False
        gradient = np.where(tail, level, sizes[inside]) / kappa
        hessian = np.diag(np.where(tail, 0.0, 1.0)) + np.outer(tail, tail) / shared - np.outer(gradient, gradient)
        return Face.of_signs(np.sign(flat), labels, sizes[inside], gradient, hessian / kappa)


def split(falling: Array, k: int) -> tuple[int, float, int]:
    """Return how many entries count by their squares, the level of the rest, and how many places these share.

    Every split whose level is at least as high as all entries behind it bounds the gauge from above, and the least
    bound is the gauge. At a tie, where rounding decides which splits these are, the next one has the same value.
    """
    count = min(k, len(falling))
    shared = count - np.arange(count)
    tails = np.cumsum(falling[::-1])[::-1][:count]
    levels = tails / shared
    scaled = falling / falling[0] if falling[0] > 0 else falling
    squares = np.append(0.0, np.cumsum(scaled[: count - 1] ** 2)) + (levels / max(falling[0], LEAST)) ** 2 * shared
    chosen = int(np.where(levels >= falling[:count], squares, math.inf).argmin())
    return chosen, float(levels[chosen]), count - chosen


def _factor(falling: Array, k: int, t: float) -> float:
    """Return the c with `sum of clip(c v - t, 0, 1) = k`, for more than k positive numbers."""
    starts, ends = t / falling, (1 + t) / falling
    points = np.concatenate([starts, ends])
    order = np.argsort(points, kind="stable")
    points = points[order]
    rates = np.cumsum(np.concatenate([falling, -falling])[order])
    sums = np.append(0.0, np.cumsum(rates[:-1] * np.diff(points)))
    place = min(int(np.searchsorted(sums, k)), len(points) - 1)
    middle = (points[place - 1] + points[place]) / 2
    full, rising = ends <= middle, (starts <= middle) & (ends > middle)
    weight = float(falling[rising].sum())
    return (k - int(full.sum()) + t * int(rising.sum())) / weight if weight > 0 else float(points[place])


def _charged(falling: Array, k: int, sets: tuple[int, int], t: float, b: float) -> float:
    """Return `(t - b) kappa` of the prox of `t kappa^2 / 2`, where its sets are known."""
    full, shared = sets
    heads = euclidean(falling[:full]) / (1 + t)
    if not shared:
        return (t - b) * heads
    places = max(k - full, 0)  # below 0 by rounding alone
    tail = float(falling[full : full + shared].sum()) * math.sqrt(places) / (places + t * shared)
    return (t - b) * math.hypot(heads, tail)


def _balance(falling: Array, k: int, sets: tuple[int, int], line: Line) -> float:
    """Return the t at which `(t - b) kappa` is a if the sets of the prox are these at every t; inf if there is none."""
    a, b = line
    full, shared = sets
    heads, places = euclidean(falling[:full]), k - full
    tail = float(falling[full : full + shared].sum()) * math.sqrt(max(places, 0))

    def missing(more: float) -> float:
        t = b + more
        return more * math.hypot(heads / (1 + t), tail / (places + t * shared) if shared else 0.0) - a

    longest = 1.0
    while missing(longest) < 0:
        longest *= 16
        if longest > 1e30:
            return math.inf
    return b + monotone_zero(missing, longest, 1e-16)
