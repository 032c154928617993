"""The size of rounding errors in double precision."""

import math

EPS = 2.0**-53
"""Relative error of one rounding: half a unit in the last place."""


def noise_level(n: int) -> float:
    """Return the expected relative rounding error of a sum of n terms; this is an estimate, not a bound."""
    return (16 + math.sqrt(n)) * EPS
