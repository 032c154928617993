"""Limits of the coefficients."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb

from .balls import double_above, double_below, golden_section, root
from .data import Data
from .doubles import DOWN, TINY, UP, gamma, known
from .gauges import Gauge
from .ranges import Ranges
from .verdict import Refused, Unknown

HALVINGS = 200
"""Halvings of an interval of doubles, for bounds of the slope."""


class Limits(Ranges):
    """GAP, SLOPE, ZERO, AT LIMIT and NOT 0 with LIMITS; `nearest` is the point within them that is nearest to 0."""

    def __init__(self, content: dict[str, Any], data: Data, gauge: Gauge) -> None:
        super().__init__(content, data, gauge)
        stated = content["problem"].get("limits")
        self.limited = stated is not None
        self.at_lower: list[int] = self.claims.get("at_lower", [])
        self.at_upper: list[int] = self.claims.get("at_upper", [])
        if stated is None:
            if self.at_lower or self.at_upper:
                raise Refused("a coefficient is claimed to be at a limit that is not stated")
            return
        if not gauge.coordinates or gauge.matrix is not None or self.ridge:
            raise Unknown(
                "limits beside a gauge of other than coefficients, or a ridge and classes, are not known here"
            )
        self.lower = np.array([-math.inf if v is None else v for v in stated["lower"]], float)
        self.upper = np.array([math.inf if v is None else v for v in stated["upper"]], float)
        if not (len(self.lower) == len(self.upper) == self.d):
            raise Refused(f"there are {len(self.lower)} and {len(self.upper)} limits for {self.d} coefficients")
        self.lower = np.where(gauge.signed, self.lower, np.maximum(self.lower, 0.0))
        bounded = np.isfinite(self.lower) | np.isfinite(self.upper)
        if bounded[gauge.free].any():
            raise Refused("a coefficient without a price has limits")
        self.lower[~gauge.priced] = self.upper[~gauge.priced] = 0.0
        if not (self.lower <= self.upper).all():
            raise Refused("a lower limit is above the upper limit")
        self.nearest = np.clip(0.0, self.lower, self.upper)
        self.rises, self.falls = self.upper > self.nearest, self.lower < self.nearest

    def _evaluate(self) -> None:
        super()._evaluate()
        if self.limited:
            x = np.zeros(self.d)
            x[self.point["x"]["index"]] = self.point["x"]["value"]
            if not ((self.lower <= x) & (x <= self.upper)).all():
                raise Refused("the point is not within the limits")
            self.at = x

    # -- GAP -----------------------------------------------------------------------------------------------------------

    def _dual_points(self) -> None:
        if not self.limited:
            super()._dual_points()
            return
        self._add(arb(1), self._least(arb(1), self._paired))
        if self.phi_conjugate is None:
            shrink = self._fitting_open()
            if shrink < 1:
                self._add(shrink, self.objective + self._dual_loss(shrink) + self._least(shrink, self._conjugate))
                self.duals.sort(key=lambda dual: float(dual[2].mid()))

    def _fitting_open(self) -> arb:
        """Return a k at which no coefficient that may still grow has a score above the slope of a linear phi.

        Scores stay below it by a little, for balls cannot tell that numbers are equal.
        """
        first, below = self._first_slope(), 1 - arb(2) ** -100
        shrink = arb(1)
        for j in np.flatnonzero(self.scores.high > double_below(first)).tolist():
            closed = self.at[j] >= self.upper[j] if self.z[j] > 0 else self.at[j] <= self.lower[j]
            score = abs(self.z[j]) / self.gauge.prices[j]
            if score > first and not closed:
                shrink = shrink.min(arb((first / score).lower()) * below)
        return arb(shrink.lower())

    def _least(self, shrink: arb, function: Callable[[dict[int, arb], arb], arb]) -> arb:
        """Return the least value over slopes t of S phi of a function of k z, or a bound of it: GAP with LIMITS."""
        first = self._first_slope()
        with np.errstate(all="ignore"):
            sizes = np.maximum(np.abs(self.z.low), np.abs(self.z.high)) * double_above(shrink) * UP
            matters = known(sizes / self.gauge.prices.low * UP) >= double_below(first)
        matters = matters & (self.rises | self.falls) | (self.nearest != 0) | (self.at != 0)
        chosen = np.flatnonzero(matters & self.gauge.priced).tolist()
        self.z.sharpen(chosen)
        pulls = {j: shrink * self.z[j] for j in chosen}
        needed = [first] + [self._endless(j, z) for j, z in pulls.items()]
        low = arb(max(needed, key=lambda t: float(t.upper())).upper())
        if self.phi_conjugate is None:
            return function(pulls, first) if low <= first else arb("inf")
        tops = [abs(z) / self.gauge.prices[j] for j, z in pulls.items()]
        tops += [low, self._slope_at(self.mass, self.penalty)]
        top = arb(max(tops, key=lambda t: float(t.upper())).upper())
        best = golden_section(lambda t: function(pulls, t), low, top)
        values = [function(pulls, t) for t in (low, top, best) if t >= low]
        return min(values, key=lambda value: float(value.upper()))

    def _conjugate(self, pulls: dict[int, arb], t: arb) -> arb:
        """Return the conjugate of S phi(mass) within the limits, by a slope t."""
        total = arb(0) if self.phi_conjugate is None else self.phi_conjugate(self.penalty, t / self.total)
        return self.total * total + sum((self._best_value(j, z, t) for j, z in pulls.items()), arb(0))

    def _paired(self, pulls: dict[int, arb], t: arb) -> arb:
        """Return that less `x . z`, and with S phi(mass): in terms that are 0 for coefficients at their best value."""
        apart = arb(0)  # of a linear phi, whose only slope is t
        if self.phi_conjugate is not None:
            apart = self.charge + self.total * self.phi_conjugate(self.penalty, t / self.total) - t * self.mass
        for j, z in pulls.items():
            best, x = arb(0), self.x.get(j, arb(0))
            for q in self._turns(j):
                best = best if q == x else best.max(z * (q - x) - t * self.gauge.prices[j] * (abs(q) - abs(x)))
            apart += best
        return apart

    def _endless(self, j: int, z: arb) -> arb:
        """Return the least slope at which a coefficient without a limit has a finite answer."""
        sides = [arb(0)]
        sides += [z] if self.upper[j] == math.inf else []
        sides += [-z] if self.lower[j] == -math.inf else []
        needed: arb = max(sides, key=lambda v: float(v.upper())) / self.gauge.prices[j]
        return arb(needed.upper())

    def _best_value(self, j: int, z: arb, t: arb) -> arb:
        """Return the largest `z q - t price abs(q)` over the finite limits q, and over 0 if it lies between them."""
        values = [z * q - t * self.gauge.prices[j] * abs(q) for q in self._turns(j)]
        best = values[0]
        for value in values[1:]:
            best = best.max(value)
        return best

    def _turns(self, j: int) -> list[arb]:
        """Return the values at which `z q - t price abs(q)` may be largest: finite limits, and 0 between them."""
        ends = [float(q) for q in (self.lower[j], self.upper[j]) if math.isfinite(q)]
        return [arb(q) for q in ({*ends, 0.0} if self.nearest[j] == 0 else {*ends})]

    # -- SLOPE, ZERO and AT LIMIT --------------------------------------------------------------------------------------

    def _zeros(self) -> None:
        if not self.limited:
            super()._zeros()
            return
        self.spreads = self._spreads()
        moved = known(double_above(root(self.reach)) * self.lengths * UP + TINY)
        least, most = max(double_below(self.shrink), 0.0), double_above(self.shrink)
        with np.errstate(all="ignore"):
            low = np.where(self.z.low > 0, self.z.low * least * DOWN, self.z.low * most * UP) - moved
            high = np.where(self.z.high > 0, self.z.high * most * UP, self.z.high * least * DOWN) + moved
            self.ends = (
                np.where(np.isnan(low), -np.inf, low - np.abs(low) * 2.0**-50 - TINY),
                np.where(np.isnan(high), np.inf, high + np.abs(high) * 2.0**-50 + TINY),
            )
        self.steepness = self._steepness()
        self.floor = self.steepness[0]
        zero = self._told_zero()
        for j in np.flatnonzero(zero & ~self._rests_in_doubles(self.steepness[0])).tolist():
            self._claim(self._rests(j, moved[j]), f"coefficient or block {j} is not proven zero")
        self._claim(not (zero & ((self.at != 0) | (self.nearest != 0))).any(), "a block that is not 0 is claimed zero")
        self.checked += int(zero.sum())
        for j in self.at_upper:
            self._claim_at(j, float(self.upper[j]), moved[j], up=True)
        for j in self.at_lower:
            self._claim_at(j, float(self.lower[j]), moved[j], up=False)

    def _claim_at(self, j: int, limit: float, moved: float, *, up: bool) -> None:
        """AT LIMIT."""
        holds = self.gauge.counts(j) and self.at[j] == limit
        if holds and self.lower[j] != self.upper[j]:
            if self.nearest[j] == limit:
                holds = self._rests(j, moved)
            else:
                pressed = (1 if up else -1) * self.shrink * self.z[j] - arb(float(moved))
                holds = bool(pressed > self.steepness[1] * self.gauge.prices[j])
        self._claim(holds, f"coefficient {j} is not proven to be at its limit")

    def _rests_in_doubles(self, least: arb) -> np.ndarray:
        """Return which coefficients are certainly as near to 0 as the limits allow, as far as doubles tell."""
        cost = double_below(least) * self.gauge.prices.low * DOWN
        low, high = self.ends
        return np.asarray((~self.rises | (high < cost)) & (~self.falls | (-low < cost)))

    def _rests(self, j: int, moved: float) -> bool:
        """Return whether a coefficient is certainly as near to 0 as the limits allow."""
        pull, cost = self.shrink * self.z[j], self.steepness[0] * self.gauge.prices[j]
        rises = not self.rises[j] or pull + arb(float(moved)) < cost
        return bool(rises and (not self.falls[j] or -pull + arb(float(moved)) < cost))

    def _steepness(self) -> tuple[arb, arb]:
        """SLOPE: return bounds of the slope of S phi at the optimum."""
        first = self._first_slope()
        if self.phi_conjugate is None:
            return first, first
        low, high = self.ends
        with np.errstate(all="ignore"):
            sizes = np.maximum(np.abs(low), np.abs(high)) / np.where(self.gauge.priced, self.gauge.prices.low, 1.0)
        top = float(np.max(np.where(self.gauge.priced, sizes, 0.0), initial=double_above(first)))
        top = max(top, double_above(self._slope_at(self.mass, self.penalty))) * 2 + TINY
        if not math.isfinite(top):
            return first, arb("inf")
        least = last(self._is_above, top)
        most = arb(first_of(self._is_below, top)) if self._is_below(top) else arb("inf")
        return first.max(arb(least)), most

    def _is_above(self, slope: float) -> bool:
        """Return whether the slope is at least a number, for a smaller one would make x* too large for it."""
        cost = slope * self.gauge.prices.high * UP
        low, high = self.ends
        there = np.where(self.rises & (low > cost), self.upper, self.nearest)
        there = np.where(self.falls & (-high > cost), self.lower, there)
        if not np.isfinite(there).all():
            return True
        mass = self._sum(there, self.gauge.prices.low, below=True)
        return self._is_beyond(mass) or bool(self._slope_at(arb(mass), self.penalty) >= arb(slope))

    def _is_below(self, slope: float) -> bool:
        """Return whether the slope is at most a number, for a larger one would make x* too small for it."""
        cost = slope * self.gauge.prices.low * DOWN
        low, high = self.ends
        rest = np.abs(self.nearest)
        there = np.where(self.rises & ~(high < cost), np.maximum(rest, np.abs(self.upper)), rest)
        there = np.where(self.falls & ~(-low < cost), np.maximum(there, np.abs(self.lower)), there)
        if not np.isfinite(there).all():
            return False
        mass = self._sum(there, self.gauge.prices.high, below=False)
        radius = self.penalty.get("radius")
        if radius is not None and not arb(mass) < radius:
            return False
        return bool(self._slope_at(arb(mass), self.penalty) <= arb(slope))

    def _sum(self, sizes: np.ndarray, prices: np.ndarray, *, below: bool) -> float:
        """Return a bound of the sum of prices times absolute values, in doubles."""
        total = float(np.sum(np.abs(sizes) * np.where(self.gauge.priced, prices, 0.0)))
        off = 2 * gamma(len(sizes) + 8)
        return max(total * (1 - off) - len(sizes) * TINY, 0.0) if below else total * (1 + off) + len(sizes) * TINY

    def _is_beyond(self, mass: float) -> bool:
        """Return whether phi is infinite at a mass."""
        radius = self.penalty.get("radius")
        return radius is not None and bool(arb(mass) > radius)

    # -- RANGE and NOT 0 -----------------------------------------------------------------------------------------------

    def _left(self) -> list[int]:
        fixed = {*self.at_lower, *self.at_upper}
        return [j for j in super()._left() if j not in fixed]

    def _ends(self) -> dict[int, tuple[float | None, float | None]]:
        ends = super()._ends()
        for j in {*self.at_lower, *self.at_upper}:
            low, high = ends.pop(j, (None, None))
            inside = (low is None or low <= self.at[j]) and (high is None or high >= self.at[j])
            self._claim(inside, f"the interval of coefficient {j} does not contain its limit")
        return ends

    def _claimed(self, j: int, low: float | None, high: float | None) -> tuple[float | None, float | None]:
        low, high = super()._claimed(j, low, high)
        if self.limited:  # a limit is no claim
            low = None if low is not None and low <= self.lower[j] else low
            high = None if high is not None and high >= self.upper[j] else high
        return low, high

    def _is_surely_not_zero(self, g: int) -> bool:
        if not self.limited:
            return False
        return bool(self.nearest[g] != 0 or (g in {*self.at_lower, *self.at_upper} and self.at[g] != 0))


def last(holds: Callable[[float], bool], top: float) -> float:
    """Return nearly the largest number between 0 and another one for which something holds that holds for 0."""
    low, high = 0.0, top
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def first_of(holds: Callable[[float], bool], top: float) -> float:
    """Return nearly the smallest number between 0 and another one for which something holds that holds for that."""
    low, high = 0.0, top
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
