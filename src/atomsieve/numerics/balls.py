"""The array namespace of enclosures: `array_namespace` returns this module for an Enclosure, and NumPy for an array.

The names are those of the array API standard, and floats count as exact. Every function bounds its values at all
enclosed numbers for which it is defined. We assume that exp, log, log1p and expm1 have a relative error of at most
`FUNCTION`; a square root is rounded once.
"""

# ruff: noqa: A001 -- abs, all, any, max, pow and sum are names of the standard

from collections.abc import Callable
from typing import Any

import numpy as np

from atomsieve.numerics.enclosures import FUNCTION, Enclosure, Verdict, combine, gamma, quiet, up
from atomsieve.numerics.rounding import EPS

__all__ = [
    "abs",
    "all",
    "any",
    "arange",
    "asarray",
    "clip",
    "cosh",
    "exp",
    "expm1",
    "full_like",
    "inf",
    "log",
    "log1p",
    "log1pmx",
    "logaddexp",
    "max",
    "maximum",
    "minimum",
    "ones_like",
    "pow",
    "sinh",
    "sqrt",
    "square",
    "sum",
    "tanh",
    "where",
    "x_log_x",
    "zeros_like",
]

inf = float("inf")
arange = np.arange
asarray = Enclosure.of

TINY = 2.0**-1021
"""Absolute error of a function value that underflows."""

CHAIN = 64
"""Largest whole exponent whose power is computed as a chain of products."""


def zeros_like(x: Any) -> Enclosure:
    """Return zeros."""
    return full_like(x, 0.0)


def ones_like(x: Any) -> Enclosure:
    """Return ones."""
    return full_like(x, 1.0)


def full_like(x: Any, value: Any) -> Enclosure:
    """Return an array of the same shape with one number in every entry."""
    number, shape = Enclosure.of(value), Enclosure.of(x).shape
    return Enclosure(np.full(shape, number.mid), np.full(shape, number.rad))


def where(condition: Any, x: Any, y: Any) -> Enclosure:
    """Return x where the condition certainly holds and y where it certainly fails; elsewhere enclose both."""
    x = Enclosure.of(x)
    y = Enclosure.of(y)
    verdict = Verdict.of(condition)
    chosen = Enclosure(np.where(verdict.true, x.mid, y.mid), np.where(verdict.true, x.rad, y.rad))
    certain = verdict.true | verdict.false
    if np.all(certain):
        return chosen
    either = Enclosure.between(np.minimum(x.low, y.low), np.maximum(x.high, y.high))
    return Enclosure(np.where(certain, chosen.mid, either.mid), np.where(certain, chosen.rad, either.rad))


def abs(x: Any) -> Enclosure:
    """Return absolute values; an absolute value moves no further than its number."""
    return Enclosure.of(x).__abs__()


def maximum(x: Any, y: Any) -> Enclosure:
    """Return the larger of two numbers.

    It moves no further than one of them. Where it is certain which one is larger, that one is returned.
    """
    return combine(4, Enclosure.of(x), y)


def minimum(x: Any, y: Any) -> Enclosure:
    """Return the smaller of two numbers."""
    return -maximum(-Enclosure.of(x), -Enclosure.of(y))


def clip(x: Any, low: Any = None, high: Any = None) -> Enclosure:
    """Return numbers moved into a range."""
    x = Enclosure.of(x) if low is None else maximum(x, low)
    return x if high is None else minimum(x, high)


def max(x: Any, axis: int | None = None, keepdims: bool = False) -> Enclosure:
    """Return the largest number along an axis; it moves no further than one of the numbers."""
    x = Enclosure.of(x)
    return Enclosure(np.max(x.mid, axis=axis, keepdims=keepdims), np.max(x.rad, axis=axis, keepdims=keepdims))


def sum(x: Any, axis: int | None = None, keepdims: bool = False) -> Enclosure:
    """Return the sum along an axis, with a bound for any order of summation."""
    x = Enclosure.of(x)
    terms = np.size(x.mid) if axis is None else x.shape[axis]
    lost = float(gamma(terms + 2))
    with quiet():
        mid = np.sum(x.mid, axis=axis, keepdims=keepdims)
        sizes = np.sum(np.abs(x.mid), axis=axis, keepdims=keepdims)
        return Enclosure(mid, up((np.sum(x.rad, axis=axis, keepdims=keepdims) + lost * sizes) * (1 + lost)))


def all(x: Any, axis: int | None = None) -> Verdict:
    """Return whether all verdicts along an axis are true."""
    verdict = Verdict.of(x)
    return Verdict(np.all(verdict.true, axis=axis), np.any(verdict.false, axis=axis))


def any(x: Any, axis: int | None = None) -> Verdict:
    """Return whether at least one verdict along an axis is true."""
    return ~all(~Verdict.of(x), axis)


def exp(x: Any) -> Enclosure:
    """Return exponentials, which move by at most `exp(m) expm1(r)`."""
    x = Enclosure.of(x)
    with quiet():
        mid = np.exp(x.mid)
        return Enclosure(mid, up(_grown(mid, x.rad) + FUNCTION * mid + TINY))


def expm1(x: Any) -> Enclosure:
    """Return `exp(x) - 1`."""
    x = Enclosure.of(x)
    with quiet():
        mid = np.expm1(x.mid)
        return Enclosure(mid, up(_grown(np.exp(x.mid), x.rad) + FUNCTION * np.abs(mid)))


def _grown(rate: Any, rad: Any) -> Any:
    """Return how far an exponential moves when its argument moves by a radius."""
    moved = (rate * (1 + FUNCTION) + TINY) * np.expm1(rad) * (1 + FUNCTION)
    return np.where(rad == 0, 0.0, moved)


def sinh(x: Any) -> Enclosure:
    """Return hyperbolic sines, from those at the ends; both terms of a sine have one sign."""
    return _rising(lambda end: (expm1(end) - expm1(-end)) / 2, x)


def cosh(x: Any) -> Enclosure:
    """Return hyperbolic cosines: 1 and more."""
    half = sinh(Enclosure.of(x) / 2)
    return 1 + 2 * maximum(square(half), 0.0)


def tanh(x: Any) -> Enclosure:
    """Return hyperbolic tangents, from those at the ends."""

    def at(end: Enclosure) -> Enclosure:
        decay = expm1(-2 * abs(end))
        return where(end >= 0, -decay / (2 + decay), decay / (2 + decay))

    return _rising(at, x)


def _rising(function: Callable[[Enclosure], Enclosure], x: Any) -> Enclosure:
    """Return a function that does not fall, from its values at the ends."""
    x = Enclosure.of(x)
    with quiet():
        return Enclosure.between(function(Enclosure.exact(x.low)).low, function(Enclosure.exact(x.high)).high)


def log(x: Any) -> Enclosure:
    """Return logarithms, which move by at most `-log(1 - r / m)`; the radius is inf where x may be 0."""
    x = Enclosure.of(x)
    with quiet():
        mid = np.log(x.mid)
        return Enclosure(mid, up(_fallen(x.mid, x.rad) + FUNCTION * np.abs(mid)))


def log1p(x: Any) -> Enclosure:
    """Return `log(1 + x)`; the radius is inf where `1 + x` may be 0."""
    x = Enclosure.of(x)
    with quiet():
        mid = np.log1p(x.mid)
        return Enclosure(mid, up(_fallen((1 + x.mid) * (1 - 2 * EPS), x.rad) + FUNCTION * np.abs(mid)))


def _fallen(mid: Any, rad: Any) -> Any:
    """Return how far a logarithm moves when its argument, at least mid, moves by a radius."""
    part = up(rad / mid)
    return np.where((mid > 0) & (part < 1), np.where(rad == 0, 0.0, -np.log1p(-part) * (1 + 4 * FUNCTION)), np.inf)


def log1pmx(x: Any) -> Enclosure:
    """Return `log(1 + x) - x`."""
    return log1p(x) + -Enclosure.of(x)


def logaddexp(x: Any, y: Any) -> Enclosure:
    """Return `log(exp(x) + exp(y))`."""
    x, y = Enclosure.of(x), Enclosure.of(y)
    return maximum(x, y) + log1p(exp(-abs(x - y)))


def x_log_x(x: Any) -> Enclosure:
    """Return `x log x`, with its limit 0 at 0 (and 0 below). The function is convex; its minimiser is 1/e."""
    x = Enclosure.of(x)
    ends = np.maximum(x.low, 0.0), np.maximum(x.high, 0.0)
    with quiet():
        at = [e * np.log(np.where(e > 0, e, 1.0)) for e in ends]
        lost = [up((FUNCTION + 2 * EPS) * np.abs(value) + TINY) for value in at]
        least = np.where(ends[1] <= 0.36, at[1] - lost[1], np.where(ends[0] >= 0.37, at[0] - lost[0], -0.367879441172))
        most = np.maximum(at[0] + lost[0], at[1] + lost[1])
        return Enclosure.between(np.nextafter(least, -inf), np.nextafter(most, inf))


def sqrt(x: Any) -> Enclosure:
    """Return square roots of non-negative numbers.

    The roots of x and m differ by `(x - m) / (root x + root m)`.
    """
    x = Enclosure.of(x)
    with quiet():
        mid = np.sqrt(np.where(x.mid > 0, x.mid, 0.0))
        apart = (mid + np.sqrt(np.maximum(x.low, 0.0))) * (1 - 4 * EPS)
        inside = np.where(x.rad == 0, 0.0, x.rad / apart)
        rad = up(np.where(x.mid > 0, inside, np.sqrt(x.high)) + EPS * mid)
        return Enclosure(np.where(x.high >= 0, mid, np.nan), np.where(x.high == 0, 0.0, rad))


def square(x: Any) -> Enclosure:
    """Return squares."""
    return _chain(Enclosure.of(x), 2)


def pow(x: Any, exponent: Any) -> Enclosure:
    """Return powers: products for whole exponents; for others `exp(p log x)`, where x is not negative."""
    x, p = Enclosure.of(x), Enclosure.of(exponent)
    if p.ndim == 0 and p.rad == 0 and p.mid == np.round(p.mid) and np.abs(p.mid) <= CHAIN:
        return _chain(x, int(p.mid))
    inside = exp(p * log(x))
    # where x may be 0 and the exponent is positive, no power exceeds that of the largest absolute value: for whole
    # exponents negative numbers count
    with quiet():
        largest = np.where(x.size > 0, exp(p * log(np.where(x.size > 0, x.size, 1.0))).high, 0.0)
    near = (x.low <= 0) & (x.high >= 0) & (p.low > 0)
    return Enclosure(np.where(near, 0.0, inside.mid), np.where(near, largest, inside.rad))


def _chain(x: Enclosure, exponent: int) -> Enclosure:
    """Return a whole power by repeated squaring."""
    if exponent < 0:
        return 1.0 / _chain(x, -exponent)
    if exponent == 0:
        return ones_like(x)
    if exponent == 1:
        return x
    half = _chain(x, exponent // 2)
    return half * half * x if exponent % 2 else half * half
