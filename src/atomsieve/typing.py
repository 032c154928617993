"""The two sides of the wire, as types: features are counted in NumPy, samples in the array library of the data."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
"""Host side: x, z, scores, in NumPy."""

Mask: TypeAlias = NDArray[np.bool_]
"""Host side: one truth value per block, row or entry."""

Signs: TypeAlias = bool | Mask
"""Host side: whether coefficients may be negative, one answer for all of them or one for each."""

Index: TypeAlias = NDArray[np.intp]
"""Host side: positions of columns or blocks."""

Samples: TypeAlias = Any
"""Data side: u, theta, y and weights, in the array library of the data (the array API standard)."""
