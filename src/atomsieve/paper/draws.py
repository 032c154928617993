"""Random integers and rationals for statements that are tested exactly."""

from fractions import Fraction

import numpy as np


def integer(rng: np.random.Generator, low: int, high: int) -> int:
    """Return an integer from low to high, both included."""
    return int(rng.integers(low, high, endpoint=True))


def positive(rng: np.random.Generator) -> Fraction:
    """Return a positive rational from 1/12 to 12."""
    return Fraction(integer(rng, 1, 12), integer(rng, 1, 12))
