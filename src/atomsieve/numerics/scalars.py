"""The namespace of floats: `array_namespace` returns this module for a number, and NumPy for an array.

The functions return inf or NaN where those of `math` raise an error.
"""

import math
from typing import Any

__all__ = ["abs", "exp", "expm1", "inf", "log", "log1p", "log1pmx", "maximum", "minimum", "pow", "sqrt", "where"]

inf = math.inf
abs = abs  # noqa: A001, PLW0127 -- the name of the standard
maximum = max
minimum = min


def where(condition: bool, x: Any, y: Any) -> Any:
    """Return x if the condition holds, otherwise y."""
    return x if condition else y


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
