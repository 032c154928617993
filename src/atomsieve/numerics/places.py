"""Where numbers are not 0."""

from typing import Any

from atomsieve.typing import Index, Mask


def places_in(mask: Mask) -> Index:
    """Return the places of a mask, row by row; `np.flatnonzero` takes as long again to find out what it was given."""
    places: Index = mask.ravel().nonzero()[0]
    return places


def support_of(x: Any) -> Index:
    """Return the places, in x row by row, of numbers that are not 0; those of rows of a matrix with `x.any(axis=1)`.

    NumPy finds places in a mask about ten times as fast as in floats.

    >>> import numpy as np
    >>> support_of(np.array([0.0, 2.0, 0.0, -1.0]))
    array([1, 3])
    """
    return places_in(x != 0)
