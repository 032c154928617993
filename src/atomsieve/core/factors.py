"""Entries of matrices that are given by their factors, in the compiled core (factors.h)."""

import numpy as np
from numpy.typing import NDArray

from atomsieve.core import _core
from atomsieve.typing import Array


def factored_entries(left: Array, right: Array, rows: NDArray[np.int32], columns: NDArray[np.int32]) -> Array:
    """Return the entries `(left right')[rows[e], columns[e]]`; the product itself is never formed."""
    found = np.zeros(len(rows))
    if left.shape[1]:
        _core.factored_entries(
            np.ascontiguousarray(left), np.ascontiguousarray(right), left.shape[1], rows, columns, found
        )
    return found
