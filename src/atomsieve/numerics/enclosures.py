"""Arrays with error bounds: every number is `mid` up to `rad`, and every operation keeps that true.

The model: IEEE double precision, round to nearest, sums in any order, fused multiply-add allowed. A rounded result is
off by at most `EPS` times itself, or by `LEAST` where it underflows. Radii are sums of products of non-negative
numbers, a handful of operations, so that a last factor `1 + 2^-48` makes up for their own rounding.

A radius of inf or NaN says nothing, and stays that way: comparisons that would decide something come out false.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from atomsieve.numerics.clock import look
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array

LEAST = 2.0**-1074
"""Absolute error of a product that underflows."""

FUNCTION = 8 * EPS
"""Relative error assumed of exp, log, log1p, expm1 and powers: 4 units in the last place."""

_UP = 1 + 2.0**-48


def up(radius: Any) -> Any:
    """Return a bound of a radius that was computed in a handful of operations on non-negative numbers."""
    return radius * _UP + 4 * LEAST


def gamma(terms: Any) -> Any:
    """Return the relative error of a sum of that many products, as a part of the sum of their absolute values."""
    terms = np.asarray(terms, dtype=np.float64)
    with np.errstate(divide="ignore"):
        bound = np.where(terms < 2.0**50, terms * EPS / (1 - np.minimum(terms, 2.0**50) * EPS), np.inf)
    return up(bound)


@dataclass(frozen=True, eq=False)
class Enclosure:
    """Numbers `mid` up to `rad`, entry by entry."""

    mid: Any
    rad: Any

    @classmethod
    def exact(cls, mid: Any) -> "Enclosure":
        """Return floats as they are."""
        mid = np.asarray(mid, dtype=np.float64)
        return cls(mid, np.zeros(mid.shape))

    @property
    def low(self) -> Array:
        """A lower bound of every number."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(np.nextafter(self.mid - self.rad, -np.inf))

    @property
    def high(self) -> Array:
        """An upper bound of every number."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(np.nextafter(self.mid + self.rad, np.inf))

    @property
    def size(self) -> Array:
        """An upper bound of every absolute value."""
        if not np.any(self.rad):
            return np.asarray(np.abs(self.mid))
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(np.nextafter(np.abs(self.mid) + self.rad, np.inf))

    def __add__(self, other: "Enclosure") -> "Enclosure":
        with np.errstate(over="ignore", invalid="ignore"):
            mid = self.mid + other.mid
            return Enclosure(mid, up(self.rad + other.rad + EPS * np.abs(mid)))

    def __sub__(self, other: "Enclosure") -> "Enclosure":
        return self + Enclosure(-other.mid, other.rad)

    def __mul__(self, other: "Enclosure") -> "Enclosure":
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            mid = self.mid * other.mid
            cross = np.abs(self.mid) * other.rad + np.abs(other.mid) * self.rad + self.rad * other.rad
            return Enclosure(mid, up(cross + EPS * np.abs(mid)))

    def __truediv__(self, other: "Enclosure") -> "Enclosure":
        with np.errstate(all="ignore"):
            mid, least = self.mid / other.mid, np.abs(other.mid) - other.rad
            least = np.maximum(least, 0.0) * (1 - 2 * EPS)
            spread = np.where(least > 0, self.rad / least + np.abs(mid) * (other.rad / least), np.inf)
            return Enclosure(mid, up(spread * (1 + 4 * EPS) + EPS * np.abs(mid)))

    def __neg__(self) -> "Enclosure":
        return Enclosure(-self.mid, self.rad)

    def __getitem__(self, index: Any) -> "Enclosure":
        return Enclosure(self.mid[index], self.rad[index])

    def widened(self, rad: Any) -> "Enclosure":
        """Return the same numbers, known less well."""
        with np.errstate(over="ignore", invalid="ignore"):
            return Enclosure(self.mid, up(self.rad + rad))

    def sum(self) -> "Enclosure":
        """Return the sum of all entries, rounded once."""
        with np.errstate(over="ignore", invalid="ignore"):
            rad = up(np.sum(self.rad) * (1 + float(gamma(np.size(self.rad)))))
        if not np.isfinite(self.mid).all():
            return Enclosure(np.nan, np.inf)
        try:
            mid = math.fsum(np.ravel(self.mid))
        except OverflowError:
            return Enclosure(np.nan, np.inf)
        return Enclosure(mid, up(rad + EPS * abs(mid)))


def norm(sizes: Array) -> float:
    """Return an upper bound of the l2 norm of numbers with the given upper bounds of their absolute values."""
    largest = float(np.max(sizes, initial=0.0))
    if not 0 < largest < np.inf:
        return largest
    scale = 2.0 ** min(max(-math.frexp(largest)[1], -1000), 1000)
    with np.errstate(under="ignore"):
        squares = float(np.sum((sizes * scale) ** 2))
    return float(up(math.sqrt(squares * (1 + float(gamma(len(sizes) + 2))) + len(sizes) * LEAST) / scale))


def norms_of(columns: Array) -> Any:
    """Return an upper bound of the l2 norm of a vector, or of each column of a matrix."""
    return norm(np.abs(columns)) if columns.ndim == 1 else np.array([norm(np.abs(column)) for column in columns.T])


def root(squares: Array) -> Array:
    """Return upper bounds of square roots of upper bounds."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(up(np.sqrt(squares)))


def log(x: Enclosure) -> Enclosure:
    """Return logarithms; nothing is known of them where the numbers may not be positive."""
    with np.errstate(all="ignore"):
        mid, part = np.log(x.mid), up(x.rad / x.mid)
        rad = np.where((x.mid > 0) & (part < 1), -np.log1p(-part) * (1 + 4 * FUNCTION), np.inf)
        return Enclosure(mid, up(rad + FUNCTION * np.abs(mid)))


def exp(x: Enclosure) -> Enclosure:
    """Return exponentials."""
    with np.errstate(all="ignore"):
        mid = np.exp(x.mid)
        moved = (mid * (1 + FUNCTION) + 2.0**-1021) * np.expm1(x.rad) * (1 + FUNCTION)
        return Enclosure(mid, up(moved + FUNCTION * mid + 2.0**-1021))


CHUNK = 1 << 18
"""Entries of a temporary matrix in `dots`."""


def dots(columns: Array, v: Enclosure) -> Enclosure:
    """Return the inner product of each column with v, as if summed in twice the precision.

    Every product and every sum of a tree of sums comes with its own rounding error, which is a float, and the errors
    are added up beside the sum: only the rounding of that second sum is left (Ogita, Rump and Oishi, 2005).
    """
    n, d = columns.shape
    mid, rad = np.empty(d), np.empty(d)
    width = max(1, CHUNK // max(n, 1))
    with np.errstate(all="ignore"):
        for start in range(0, d, width):
            look()
            block = columns[:, start : start + width]
            total, small, errors = _tree(*_two_product(block, v.mid[:, None]))
            mid[start : start + width] = total + small
            spread = np.abs(block).T @ v.rad * (1 + gamma(n + 2))
            lost = gamma(4 * n + 64) * errors * (1 + gamma(4 * n + 64)) + 32 * n * LEAST
            rad[start : start + width] = up(spread + lost + EPS * np.abs(total + small))
    return Enclosure(mid, rad)


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return products and their rounding errors, by Veltkamp's splitting; NaN where that overflows."""
    product = a * b
    (high, low), (top, rest) = _split(a), _split(b)
    return product, low * rest - (((product - high * top) - low * top) - high * rest)


def _split(a: Array) -> tuple[Array, Array]:
    """Return a number as the sum of two with half of its digits."""
    scaled = 134217729.0 * a  # 2^27 + 1
    high = scaled - (scaled - a)
    return high, a - high


def _tree(terms: Array, errors: Array) -> tuple[Array, Array, Array]:
    """Return the sums of the columns, the sums of all rounding errors, and the sums of their absolute values."""
    small, size = errors.sum(axis=0), np.abs(errors).sum(axis=0)
    while len(terms) > 1:
        half = len(terms) // 2
        a, b = terms[:half], terms[half : 2 * half]
        sums = a + b
        part = sums - a
        error = (a - (sums - part)) + (b - part)
        small = small + error.sum(axis=0)
        size = size + np.abs(error).sum(axis=0)
        terms = np.concatenate([sums, terms[2 * half :]]) if len(terms) % 2 else sums
    return (terms[0] if len(terms) else np.zeros(terms.shape[1])), small, size
