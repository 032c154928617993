"""Functions of balls."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb, arb_mat

from .doubles import UNIT
from .verdict import Refused

LEAST = 2.0**-1074
"""The least positive double."""

SECTIONS = 120
"""Golden sections for the slope of a penalty beside a ridge; every slope gives a bound."""


def power(x: arb, p: arb) -> arb:
    """Return x^p for x >= 0."""
    return (p * x.log()).exp() if x > 0 else (arb(0) if x == 0 else cannot("a power of a number that may be 0"))


def cannot(what: str) -> arb:
    """Refuse what cannot be bounded."""
    raise Refused(f"cannot bound {what}")


def square(v: arb) -> arb:
    """Return the square; `v ** 2` is NaN if v may be 0."""
    return v * v


def root(v: arb) -> arb:
    """Return the square root of a number that is not negative; its ball may contain negative numbers."""
    if v > 0:
        return v.sqrt()
    top = arb(v.upper()).max(arb(0)).sqrt().upper() / 2
    return arb(top, top)


def highest(values: Any) -> arb:
    """Return an upper bound of 0 and all numbers, as a ball: doubles would lose digits."""
    top = arb(0)
    for v in values:
        if not v.is_finite():
            raise Refused("a number that matters is not finite")
        top = top.max(arb(v.upper()))
    return arb(top.upper())


def positive_part(t: arb) -> arb:
    """Return the number, or 0 if it is negative."""
    return t.max(arb(0))


def larger_of(a: arb, b: arb) -> arb:
    """Return an upper bound of two numbers."""
    return arb(a.upper()).max(arb(b.upper()))


def clipped(t: arb, low: arb, high: arb) -> arb:
    """Return the nearest number between two others."""
    return t.max(low).min(high)


def largest_root(b: arb, c: arb) -> arb:
    """Return the largest a with `a^2 <= b a + c`."""
    return b / 2 + root(square(b) / 4 + c)


def quadratic_form(matrix: arb_mat, v: list[arb]) -> arb:
    """Return `v' matrix v`."""
    image = (matrix * arb_mat([[a] for a in v])).entries() if v else []
    return sum((a * b for a, b in zip(v, image)), arb(0))


def golden_section(function: Callable[[arb], arb], low: arb, high: arb) -> arb:
    """Return a place near the minimum of a convex function between two numbers, by golden sections."""
    ratio = (arb(5).sqrt() - 1) / 2
    ends = [arb(low.mid()), arb(high.mid())]
    inner = [arb((ends[1] - ratio * (ends[1] - ends[0])).mid()), arb((ends[0] + ratio * (ends[1] - ends[0])).mid())]
    values = [function(t).mid() for t in inner]
    for _ in range(SECTIONS):
        if values[0] < values[1]:
            ends[1], inner[1], values[1] = inner[1], inner[0], values[0]
            inner[0] = arb((ends[1] - ratio * (ends[1] - ends[0])).mid())
            values[0] = function(inner[0]).mid()
        else:
            ends[0], inner[0], values[0] = inner[0], inner[1], values[1]
            inner[1] = arb((ends[0] + ratio * (ends[1] - ends[0])).mid())
            values[1] = function(inner[1]).mid()
    return inner[0]


def length_of(column: arb_mat) -> arb:
    """Return the length of a column."""
    return root((column.transpose() * column)[0, 0])


def unit_of(column: arb_mat) -> arb:
    """Return a power of two near 1 over the largest entry of a column; scaling by it is exact."""
    largest = max(abs(float(v)) for v in column.entries())
    return arb(2) ** -round(math.log2(largest)) if 0 < largest < math.inf else arb(1)


def double_above(value: arb) -> float:
    """Return a double that is not below a ball."""
    top = float(value.upper())
    return math.nextafter(top + 4 * UNIT * abs(top), math.inf)


def radii_of(values: list[arb]) -> np.ndarray:
    """Return the radii of balls; 0 only for numbers that are exact."""
    return np.array([float(v.rad()) or (0.0 if v.is_exact() else LEAST) for v in values])


def bounds_of(values: list[arb]) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds of balls, in doubles; those of what is no number are infinite."""
    middles, radii = np.array([float(v) for v in values]), radii_of(values)
    with np.errstate(all="ignore"):
        radii = radii * (1 + 4 * UNIT) + 2 * UNIT * np.abs(middles) + 2 * LEAST
        low, high = np.nextafter(middles - radii, -np.inf), np.nextafter(middles + radii, np.inf)
    unknown = ~(np.isfinite(middles) & np.isfinite(radii))
    return np.where(unknown, -np.inf, low), np.where(unknown, np.inf, high)


def double_below(value: arb) -> float:
    """Return a double that is not above a ball."""
    return -double_above(-value)
