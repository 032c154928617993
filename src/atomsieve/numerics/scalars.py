"""The namespace of floats: `array_namespace` returns this module for a number, and NumPy for an array.

The functions return inf or NaN where those of `math` raise an error.
"""

import math
from typing import Any

__all__ = [
    "abs",
    "cosh",
    "exp",
    "expm1",
    "full_like",
    "inf",
    "log",
    "log1p",
    "log1pmx",
    "maximum",
    "minimum",
    "pow",
    "sinh",
    "sqrt",
    "tanh",
    "where",
]

inf = math.inf
abs = abs  # noqa: A001, PLW0127 -- the name of the standard
maximum = max
minimum = min
tanh = math.tanh


def where(condition: bool, x: Any, y: Any) -> Any:
    """Return x if the condition holds, otherwise y."""
    return x if condition else y


def full_like(x: float, value: float) -> float:  # noqa: ARG001 -- a number has no shape
    """Return the value."""
    return value


def exp(x: float) -> float:
    """Return `exp(x)`."""
    try:
        return math.exp(x)
    except OverflowError:
        return inf


def expm1(x: float) -> float:
    """Return `exp(x) - 1`."""
    try:
        return math.expm1(x)
    except OverflowError:
        return inf


def sinh(x: float) -> float:
    """Return the hyperbolic sine."""
    try:
        return math.sinh(x)
    except OverflowError:
        return math.copysign(inf, x)


def cosh(x: float) -> float:
    """Return the hyperbolic cosine."""
    try:
        return math.cosh(x)
    except OverflowError:
        return inf


def log(x: float) -> float:
    """Return the logarithm."""
    return math.log(x) if x > 0 else (-inf if x == 0 else math.nan)


def log1p(x: float) -> float:
    """Return `log(1 + x)`."""
    return math.log1p(x) if x > -1 else (-inf if x == -1 else math.nan)


def log1pmx(x: float) -> float:
    """Return `log(1 + x) - x`; near 0 the difference would cancel, so the series is used there."""
    if -0.05 < x < 0.05:
        return -math.fsum((-x) ** k / k for k in range(2, 14))
    return log1p(x) - x


def sqrt(x: float) -> float:
    """Return the square root."""
    return math.sqrt(x) if x >= 0 else math.nan


def pow(base: float, exponent: float) -> float:  # noqa: A001 -- the name of the standard
    """Return `base ** exponent` for base >= 0; +inf instead of an overflow error."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return inf
