"""Where numbers are not 0."""

from typing import Any

import numpy as np

from atomsieve.typing import Index


def support_of(x: Any) -> Index:
    """Return the places, in x row by row, of numbers that are not 0; those of rows of a matrix with `x.any(axis=1)`.

    NumPy finds places in a mask about ten times as fast as in floats.

    >>> support_of(np.array([0.0, 2.0, 0.0, -1.0]))
    array([1, 3])
    """
    return np.flatnonzero(x != 0)
