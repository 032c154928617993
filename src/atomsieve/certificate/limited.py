"""What limits of the coefficients change in a proof: the conjugate of penalty and limits, and values that are decided.

With t the slope of the penalty at the optimum, a coefficient is at the limit above 0 if `z*_j > t price_j`, at the
limit below 0 if `z*_j < -t price_j`, and as near to 0 as its limits allow if `|z*_j| < t price_j`. So bounds of z* and
of t decide values. The size of x* is that of its limits wherever z* is beyond t, and the slope of the penalty there is
t again: t rises with every |z*_j|, and bounds of z* are bounds of t, whatever the penalty.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from atomsieve.certificate.statement import Statement
from atomsieve.numerics.enclosures import Enclosure, up
from atomsieve.numerics.rounding import EPS
from atomsieve.problem.limits import CoefficientLimits
from atomsieve.typing import Array, Mask

if TYPE_CHECKING:
    from atomsieve.certificate.proof import Proof

BELOW = 1 - 16 * EPS
"""Factor by which a slope stays below that of a linear penalty, so that the comparison is certain."""

CLOSE = (1e-12, 1e-9, 1e-6)
"""Parts by which a bound of the slope is weakened until it is proven, one after the other."""


class Values(NamedTuple):
    """Which coefficients are proven to have one value: 0, or that of a limit."""

    zero: Mask
    at_lower: Mask
    at_upper: Mask

    @classmethod
    def of(cls, proof: "Proof", zero: Mask) -> "Values":
        """Return the values that a proof decides, and that its point has; without limits, zeros alone."""
        limits, values, none = proof.statement.limits, proof.values, np.zeros(len(zero), dtype=bool)
        if limits is None or values is None:
            return cls(zero, none, none)
        x = proof.x.ravel()
        return cls(zero, values.at_lower & (x == limits.lower), values.at_upper & (x == limits.upper))

    @property
    def at_limit(self) -> Mask:
        """Coefficients that are proven to be at a limit."""
        return self.at_lower | self.at_upper

    def settle(self, limits: CoefficientLimits, x: Array) -> Array:
        """Return x with the values that are proven."""
        at_lower = np.where(self.at_lower, limits.lower, x.ravel())
        return np.where(self.zero, 0.0, np.where(self.at_upper, limits.upper, at_lower)).reshape(x.shape)


def within(limits: CoefficientLimits, values: Values, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Return intervals within the limits; those of values that are proven are points."""
    shape, zero = lower.shape, values.zero
    lower = np.where(values.at_upper, limits.upper, np.maximum(lower.ravel(), np.where(zero, 0.0, limits.lower)))
    upper = np.where(values.at_lower, limits.lower, np.minimum(upper.ravel(), np.where(zero, 0.0, limits.upper)))
    return lower.reshape(shape), upper.reshape(shape)


Ways = list[tuple[Array, Mask]]


def ways(limits: CoefficientLimits) -> Ways:
    """Return the values at which h_j may attain its maximum, and for which coefficients: finite limits, and 0."""
    inside = (limits.lower <= 0) & (limits.upper >= 0)
    sides = [(side, np.isfinite(side)) for side in (limits.lower, limits.upper)]
    return [(np.where(known, side, 0.0), known) for side, known in [*sides, (np.zeros(len(inside)), inside)]]


def unbounded(limits: CoefficientLimits, z: Enclosure, floor: Array) -> Mask:
    """Return which h_j may be infinite: z is not certainly below the slope times the price on a side without limit."""
    return np.asarray((limits.upper == np.inf) & ~(z.high <= floor) | ((limits.lower == -np.inf) & ~(-z.low <= floor)))


def answer(proof: "Proof", limits: CoefficientLimits, slope: float, shrink: float) -> float:
    """Return an upper bound of the conjugate of penalty and limits at the dual point, scaled, by any slope t."""
    statement = proof.statement
    z = proof.z_flat * Enclosure.exact(shrink)
    cost = Enclosure.exact(slope) * statement.total * statement.prices_of_all
    highest = np.full(len(limits.lower), -np.inf)
    for value, allowed in ways(limits):
        reached = z * Enclosure.exact(value) - cost * Enclosure.exact(np.abs(value))
        highest = np.where(allowed, np.maximum(highest, np.where(value == 0, 0.0, reached.high)), highest)
    if unbounded(limits, z, cost.low).any():
        return math.inf
    charged = Enclosure.exact(highest[highest != 0]).sum()
    return float((statement.total * statement.penalty.conjugate(Enclosure.exact(slope)) + charged).high)


def paired_gap(proof: "Proof", limits: CoefficientLimits, mass: Enclosure, slope: float) -> float:
    """Return the gap with the dual point as it is, by any slope t.

    It is the sum of `phi(s) + phi*(t) - t s`, for the size s of x, and of `h_j(z_j) - z_j x_j + t price_j |x_j|`, none
    of which is negative: a coefficient at the limit where z presses it adds exactly 0.
    """
    statement = proof.statement
    z, x = proof.z_flat, proof.x.ravel()
    t = Enclosure.exact(slope)
    cost = t * statement.total * statement.prices_of_all
    highest = np.zeros(len(x))
    for value, allowed in ways(limits):
        there = Enclosure.exact(value)
        longer = Enclosure.exact(np.abs(value)) - Enclosure.exact(np.abs(x))
        more = z * (there - Enclosure.exact(x)) - cost * longer
        highest = np.where(allowed & (value != x), np.maximum(highest, more.high), highest)
    if unbounded(limits, z, cost.low).any():
        return math.inf
    apart = statement.penalty.value(mass) + statement.penalty.conjugate(t) - t * mass
    return float((statement.total * apart + Enclosure.exact(highest[highest != 0]).sum()).high)


def best_gap(
    proof: "Proof", limits: CoefficientLimits, mass: Enclosure, scaled_gap: Callable[[float, float], float]
) -> tuple[float, float]:
    """Return the gap and the scale of the dual point: 1, unless a linear penalty has a smaller gap with another.

    Every slope gives an upper bound. Tried are the best one in floats, and those that no score exceeds whose
    coefficient has no limit, or is not at its limit.
    """
    statement = proof.statement
    penalty, eligible = statement.problem.penalty, statement.problem.eligible
    total = float(statement.total.mid)
    z = proof.z_flat
    beyond = proof.scores[1] / float(statement.total.low)
    free = np.where(limits.open_scores(z.mid, proof.x) > 0, beyond, 0.0)
    if not penalty.superlinear:
        first = penalty.slope(0.0) * BELOW
        gap = paired_gap(proof, limits, mass, first)
        highest = float(np.max(free, where=eligible, initial=0.0))
        shrink = first / highest * BELOW if highest > first else 1.0
        scaled = np.inf if shrink == 1 else scaled_gap(shrink, answer(proof, limits, first, shrink))
        return (scaled, shrink) if 2 * scaled < gap else (gap, 1.0)
    best = limits.conjugate(penalty, z.mid / total, eligible).slope
    endless = (limits.upper == np.inf) & (z.high > 0) | (limits.lower == -np.inf) & (z.low < 0)
    needed = float(np.max(beyond, where=eligible & endless, initial=0.0)) / BELOW
    above = float(np.max(free, where=eligible, initial=0.0)) / BELOW
    tried = {best, max(best, needed), max(best, needed, above)}
    return min(paired_gap(proof, limits, mass, slope) for slope in tried), 1.0


def ends(proof: "Proof") -> tuple[Array, Array]:
    """Return bounds of z*, entry by entry."""
    with np.errstate(all="ignore"):
        z = proof.z_flat * Enclosure.exact(proof.shrink)
        away = up(proof.radius * proof.spread[1].ravel())
        z = z.widened(away)
        return np.where(np.isnan(z.low), -np.inf, z.low), np.where(np.isnan(z.high), np.inf, z.high)


class Bracket(NamedTuple):
    """Bounds of z*, and what it takes to prove bounds of the slope t of the penalty at the optimum."""

    statement: Statement
    limits: CoefficientLimits
    low: Array
    high: Array

    def least(self) -> float:
        """Return a proven lower bound of t."""
        penalty, limits = self.statement.problem.penalty, self.limits
        first = float(self.statement.penalty.first_slope.low)
        if not penalty.superlinear:
            return first
        rooms = np.where(self.low > 0, limits.above, limits.below) * limits.prices
        pressed = np.maximum(np.where(limits.above > 0, self.low, 0.0), np.where(limits.below > 0, -self.high, 0.0))
        return self._first_proven(pressed, rooms, -1.0, first, self._is_above)

    def most(self) -> float:
        """Return a proven upper bound of t; inf if there is none."""
        penalty, limits = self.statement.problem.penalty, self.limits
        if not penalty.superlinear:
            return float(self.statement.penalty.first_slope.high)
        sides = (np.where(limits.above > 0, self.high, 0.0), np.where(limits.below > 0, -self.low, 0.0))
        rooms = np.where(sides[0] >= sides[1], limits.above, limits.below) * limits.prices
        return self._first_proven(np.maximum(*sides), rooms, 1.0, math.inf, self._is_below)

    def _first_proven(
        self, pressed: Array, rooms: Array, side: float, otherwise: float, holds: Callable[[float], bool]
    ) -> float:
        """Return the slope for certain scores, weakened until it is proven."""
        scores = np.maximum(pressed, 0.0) / (self.limits.prices * float(self.statement.total.mid))
        with np.errstate(all="ignore"):
            counted = np.flatnonzero(scores > 0)
            slope = self.limits.slope(self.statement.problem.penalty, scores[counted], rooms[counted])
            if not math.isfinite(slope):
                return otherwise
            for close in CLOSE:
                if holds(slope * (1 + side * close)):
                    return slope * (1 + side * close)
        return otherwise

    def _cost(self, slope: float) -> Enclosure:
        return Enclosure.exact(slope) * self.statement.total * self.statement.prices_of_all

    def _is_above(self, slope: float) -> bool:
        """Return whether t is at least a slope.

        If it were smaller, all coefficients pressed beyond it would be at their limits, and the slope of the penalty at
        the size of those limits would not be smaller: a contradiction.
        """
        cost, limits = self._cost(slope).high, self.limits
        up_there, down_there = (self.low > cost) & (limits.above > 0), (-self.high > cost) & (limits.below > 0)
        there = np.where(up_there, limits.upper, np.where(down_there, limits.lower, limits.nearest))
        if not np.isfinite(there).all():
            return True
        mass = (Enclosure.exact(np.abs(there)) * self.statement.prices_of_all).sum()
        found = self.statement.penalty.slope(Enclosure.exact(max(float(mass.low), 0.0)))
        return bool(found.low >= slope)

    def _is_below(self, slope: float) -> bool:
        """Return whether t is at most a slope: if it were larger, all coefficients not pressed so far would be at p."""
        cost, limits = self._cost(slope).low, self.limits
        rising = np.where((self.high < cost) | (limits.above == 0), np.abs(limits.nearest), np.abs(limits.upper))
        falling = np.where((-self.low < cost) | (limits.below == 0), np.abs(limits.nearest), np.abs(limits.lower))
        sizes = np.maximum(rising, falling)
        if not np.isfinite(sizes).all():
            return False
        mass = (Enclosure.exact(sizes) * self.statement.prices_of_all).sum()
        found = self.statement.penalty.slope(Enclosure.exact(float(up(mass.high))))  # not below the right derivative
        return bool(found.high <= slope)


def values(proof: "Proof", limits: CoefficientLimits) -> Values:
    """Return which coefficients are proven to be 0 or at a limit."""
    statement = proof.statement
    low, high = ends(proof)
    bracket = Bracket(statement, limits, low, high)
    with np.errstate(all="ignore"):
        weak = (Enclosure.exact(bracket.least()) * statement.total * statement.prices_of_all).low
        strong = (Enclosure.exact(bracket.most()) * statement.total * statement.prices_of_all).high
        strong = np.where(np.isnan(strong), np.inf, strong)
        rests = ((high < weak) | (limits.above == 0)) & ((-low < weak) | (limits.below == 0))
        rises, falls = (low > strong) & (limits.above > 0), (-high > strong) & (limits.below > 0)
    eligible, nearest = statement.problem.eligible, limits.nearest
    return Values(
        rests & (nearest == 0) & eligible,
        (falls | (rests & (nearest > 0)) | (limits.lower == limits.upper) & (nearest != 0)) & eligible,
        (rises | (rests & (nearest < 0)) | (limits.lower == limits.upper) & (nearest != 0)) & eligible,
    )
