"""Balls for all samples at once: their middles are pairs of doubles, which have about 100 bits.

Three arrays: a number is within `radius` of `high + low`, and high is `high + low`, rounded. So abs(low) is at most
UNIT times abs(high), and pairs are in the order of their highs, and then of their lows. The model is that of
`doubles.py`, and arrays are added, multiplied and divided one operation at a time, so that none is fused. Then the sum
of two doubles is a double and an error that is a double itself (Knuth), and so is their product (Dekker, with factors
of 26 bits). Numbers that are too large make radius or middle inf or NaN, which stays so in all that follows: it proves
nothing, and is refused where it matters. A result that is too small for a double is off by at most TINY.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from flint import arb, ctx

from .balls import LEAST
from .doubles import TINY, UNIT, UP, gamma, known, sums_above
from .verdict import Refused

FINE = 64 * UNIT * UNIT
"""More than the relative error of one product or quotient of pairs, as derived there."""

SMALL = 16 * TINY
"""More than what one operation loses to numbers that are too small."""

STEPS = 256
"""Places between 1 and 2 where powers of 2 are known, for exponentials."""

LARGEST = 690.0
"""Exponentials are computed for numbers up to this."""

EXPONENTIAL = 2.0**-92
"""More than the relative error of an exponential, as derived there."""


BITS = 256
"""For constants."""


class Pairs:
    """Numbers within `radius` of `high + low`."""

    __array_ufunc__ = None  # an array times pairs is for the pairs to answer

    def __init__(self, high: np.ndarray, low: np.ndarray, radius: np.ndarray) -> None:
        self.high, self.low, self.radius = high, low, radius

    @classmethod
    def exactly(cls, values: Any) -> "Pairs":
        """Return doubles as they are."""
        values = np.asarray(values, dtype=np.float64)
        return cls(values, np.zeros(values.shape), np.zeros(values.shape))

    @classmethod
    def of_balls(cls, values: list[arb]) -> "Pairs":
        """Return balls, with the rounding to pairs in their radii."""
        parts = [_rounded(v) for v in values]
        return cls(*(np.array([part[k] for part in parts]) for k in range(3)))

    def balls(self) -> list[arb]:
        """Return balls that contain the numbers."""
        ends = zip(self.high.tolist(), self.low.tolist(), self.known_radius().tolist())
        return [arb(a) + arb(b, r) for a, b, r in ends]

    def known_radius(self) -> np.ndarray:
        """Return the radii; inf where middle or radius are no numbers."""
        with np.errstate(all="ignore"):
            return np.where(np.isfinite(self.high + self.low), known(self.radius), np.inf)

    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper bounds in doubles; those of what is no number are infinite."""
        radius = self.known_radius()
        with np.errstate(all="ignore"):
            wide = (radius + np.abs(self.low)) * UP + LEAST
            low, high = np.nextafter(self.high - wide, -np.inf), np.nextafter(self.high + wide, np.inf)
        unknown = ~np.isfinite(radius)
        return np.where(unknown, -np.inf, low), np.where(unknown, np.inf, high)

    def widened(self, more: np.ndarray) -> "Pairs":
        """Return numbers that may be off by more."""
        with np.errstate(all="ignore"):
            return Pairs(self.high, self.low, (self.radius + more) * UP)

    def sizes(self) -> np.ndarray:
        """Return upper bounds of the absolute values."""
        with np.errstate(all="ignore"):
            return np.asarray((np.abs(self.high) + np.abs(self.low) + self.radius) * UP)

    def total(self) -> arb:
        """Return the sum: that of `high` is exact, that of `low` is in doubles."""
        radius, n = self.known_radius(), len(self.high)
        if not np.isfinite(radius).all():
            raise Refused("pairs of doubles do not suffice")
        total = sum_of(self.high)
        if self.low.any() or radius.any():
            with np.errstate(all="ignore"):
                off = sums_above(np.abs(self.low).sum(), n) * gamma(n + 8) + sums_above(radius.sum(), n)
                total += arb(float(self.low.sum()), float(off * UP + TINY))
        return total

    # -- arithmetic ----------------------------------------------------------------------------------------------------

    def __neg__(self) -> "Pairs":
        return Pairs(-self.high, -self.low, self.radius)

    def __add__(self, other: Any) -> "Pairs":
        """Return the sum: every step is exact but two, whose errors are at most UNIT times their results."""
        other = _pairs(other)
        with np.errstate(all="ignore"):
            high, error = two_sum(self.high, other.high)
            low, lost = two_sum(self.low, other.low)
            once = error + low
            high, error = two_sum(high, once)
            twice = error + lost
            high, low = two_sum(high, twice)
            off = (np.abs(once) + np.abs(twice)) * (2 * UNIT)
            return Pairs(high, low, (self.radius + other.radius + off) * UP + SMALL)

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Pairs":
        return self + -_pairs(other)

    def __rsub__(self, other: Any) -> "Pairs":
        return _pairs(other) + -self

    def __mul__(self, other: Any) -> "Pairs":
        """Return the product.

        Of `(a + a')(b + b')` the product of a and b is exact. Relative to it, with u = UNIT and `abs(a') <= u abs(a)`:
        `a' b'`, which is left out, is at most u^2; `a b'` and `a' b` are off by u^2 each, their sum, at most 2 u, by
        2 u^2, and its sum with the error of the product, at most 3 u, by 3 u^2. Together less than 10 u^2, below FINE.
        """
        other = _pairs(other)
        with np.errstate(all="ignore"):
            high, low = _product(self.high, self.low, other.high, other.low)
            off = np.abs(self.high) * other.radius + self.radius * (np.abs(other.high) + other.radius)
            return Pairs(high, low, (off * UP + np.abs(high) * FINE) * UP + SMALL)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Pairs":
        """Return the quotient.

        With `q = a / b` in doubles, `q b` is `p + e`, exactly, and `a - p` is exact, as p is within some units of a
        (Sterbenz). Relative to a: `a - p` is at most 3 u, e, a' and `q b'` at most 1.1 u each. So the rest
        `a + a' - q (b + b')` is at most 7 u, and its four roundings at most 7 u^2 each. It is divided by b and not by
        b + b', which adds 7 u^2, and rounding 7 u^2. Together less than 50 u^2, below FINE. What is too small for a
        double is divided by b.

        For all numbers in the balls, `x / y - m / n = (x - m - (m / n) (y - n)) / y`, and y is not nearer to 0 than its
        middle less its radius.
        """
        other = _pairs(other)
        with np.errstate(all="ignore"):
            first = self.high / other.high
            p, error = two_product(first, other.high)
            rest = ((self.high - p) - error) + (self.low - first * other.low)
            high, low = two_sum(first, rest / other.high)
            size = np.abs(other.high)
            nearest = size * (1 - 8 * UNIT) - other.radius * UP
            off = (self.radius + np.abs(high) * (1 + 8 * UNIT) * other.radius + 2 * SMALL) / nearest
            radius = (off * UP + np.abs(high) * FINE) * UP + SMALL
            return Pairs(high, low, np.where(nearest > 0, radius, np.inf))

    def __rtruediv__(self, other: Any) -> "Pairs":
        return _pairs(other) / self

    def max(self, other: Any) -> "Pairs":
        """Return the larger of two numbers, of which none moves by more than both."""
        return self._one_of(_pairs(other), np.greater)

    def min(self, other: Any) -> "Pairs":
        """Return the smaller of two numbers."""
        return self._one_of(_pairs(other), np.less)

    def _one_of(self, other: "Pairs", better: Callable[..., np.ndarray]) -> "Pairs":
        """Return that of two numbers which is better by its middle."""
        mine = better(self.high, other.high) | ((self.high == other.high) & better(self.low, other.low))
        with np.errstate(all="ignore"):
            unknown = ~np.isfinite(self.high + self.low) | ~np.isfinite(other.high + other.low)
        radius = np.where(unknown, np.inf, np.maximum(self.radius, other.radius))
        return Pairs(np.where(mine, self.high, other.high), np.where(mine, self.low, other.low), radius)

    # -- functions -----------------------------------------------------------------------------------------------------

    def exp(self) -> "Pairs":
        """Return the exponentials; those of numbers that are larger than LARGEST are unknown.

        `v = k log(2) / STEPS + r`, and abs(r) < 2^-9.4. k has at most 18 bits, the first two parts of the logarithm 34:
        their products with k are exact. What all three parts lack is less than 2^-125, times k 2^-107. The only sums
        for r that are rounded are at most 2^-43 (low is at most UNIT times LARGEST), so that r is off by less than
        2^-95. `exp(r)` is its series up to r^8: what is left out is less than 2^-103. Its tail from r^5 / 120 on, less
        than 2^-53, is a sum in doubles, off by less than 2^-103. The rest is five products and sums of pairs, of which
        all but the last are multiplied by r, and one product with the power of 2: less than FINE each. A power of 2 of
        the whole is exact. Together less than 2^-94, below EXPONENTIAL. A radius s multiplies by at most
        `exp(s) <= 1 + 2 s`, if s <= 1.
        """
        parts, powers = _logarithm(), _powers_of_two()
        with np.errstate(all="ignore"):
            fits = (np.abs(self.high) <= LARGEST) & (self.radius <= 1)
            v = np.where(fits, self.high, 0.0)
            k = np.rint(v * (STEPS / math.log(2)))
            r, lost = two_sum(v, -k * parts[0])
            r, s = two_sum(r, -k * parts[1])
            r, s = two_sum(r, s + (lost + (np.where(fits, self.low, 0.0) - k * parts[2])))
            tail = ((r / 40320 + 1 / 5040) * r + 1 / 720) * r + 1 / 120
            high, low = tail, np.zeros(tail.shape)
            for factor in (24, 6, 2, 1, 1):
                high, low = _sum(*_product(high, low, r, s), *_inverse_of(factor))
            whole, places = np.divmod(k, STEPS)
            places, whole = places.astype(int), whole.astype(int)
            high, low = _product(high, low, powers[0][places], powers[1][places])
            high, low = np.ldexp(high, whole), np.ldexp(low, whole)
            radius = high * ((2 * self.radius + EXPONENTIAL) * UP) * UP + SMALL
            return Pairs(high, low, np.where(fits, radius, np.inf))

    def log(self) -> "Pairs":
        """Return the logarithms of positive numbers: a double near it, and what the exponential says is left.

        With `w exp(-t) = 1 + e` it is `t + log(1 + e)`, and `abs(log(1 + e) - e) <= e^2` for abs(e) <= 1/2.
        """
        with np.errstate(all="ignore"):
            near = np.log(self.high)
            near = np.where(np.isfinite(near), near, 0.0)
            rest = self * Pairs.exactly(-near).exp() - 1
            size = rest.sizes()
            off = np.where(size <= 0.5, size * size * UP, np.inf)
            return rest.widened(off) + near


def _pairs(values: Any) -> Pairs:
    if isinstance(values, Pairs):
        return values
    if isinstance(values, arb):
        return Pairs.of_balls([values])
    return Pairs.exactly(values)


def _rounded(v: arb) -> tuple[float, float, float]:
    """Return a ball as a pair and a radius."""
    high = float(v.mid())
    if not (math.isfinite(high) and v.is_finite()):
        return math.nan, math.nan, math.inf
    low = float((arb(v.mid()) - arb(high)).mid())
    rest = abs(v - arb(high) - arb(low)).upper()
    high, low = high + low, low - ((high + low) - high)
    return high, low, 0.0 if rest == 0 else float(rest) * UP + LEAST


def sum_of(values: np.ndarray) -> arb:
    """Return the sum of doubles: `math.fsum` rounds the exact sum, and then the sum of what it has lost, until 0."""
    rest, total = values.tolist(), arb(0)
    try:
        while part := math.fsum(rest):
            total += arb(part)
            rest.append(-part)
    except OverflowError:  # too large for doubles
        return sum(map(arb, values.tolist()), arb(0))
    return total


def two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum of doubles, rounded, and its error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the product of doubles, rounded, and its error."""
    product = a * b
    (upper, lower), (above, below) = _halves(a), _halves(b)
    return product, lower * below - (((product - upper * above) - lower * above) - upper * below)


def _halves(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return doubles as sums of two of 26 bits each."""
    far = 134217729.0 * a
    upper = far - (far - a)
    return upper, a - upper


def _product(a: Any, more: Any, b: Any, other: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the product of two pairs."""
    high, low = two_product(a, b)
    return two_sum(high, low + (a * other + more * b))


def _sum(a: Any, more: Any, b: Any, other: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum of two pairs, of which the first is the smaller one by far: less than 8 UNIT^2 is lost."""
    high, low = two_sum(a, b)
    return two_sum(high, low + (more + other))


@cache
def _inverse_of(factor: int) -> tuple[float, float]:
    with ctx.workprec(BITS):
        return _rounded(arb(1) / factor)[:2]


@cache
def _logarithm() -> tuple[float, float, float]:
    """Return `log(2) / STEPS` as a sum of three doubles, the first two of 34 bits."""
    with ctx.workprec(BITS):
        rest, parts = arb(2).log() / STEPS, []
        for bits in (42, 76):
            parts.append(float((rest * arb(2) ** bits).mid().floor().mid()) * 2.0**-bits)
            rest -= arb(parts[-1])
        return parts[0], parts[1], float(rest.mid())


@cache
def _powers_of_two() -> tuple[np.ndarray, np.ndarray]:
    """Return 2^(k / STEPS) as pairs."""
    with ctx.workprec(BITS):
        found = Pairs.of_balls([(arb(2).log() * k / STEPS).exp() for k in range(STEPS)])
    return found.high, found.low
