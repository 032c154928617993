"""Types for the two sides of the wire: features are in NumPy, samples in the array library of the data."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
"""Host side: x, z, scores, in NumPy."""

Mask: TypeAlias = NDArray[np.bool_]
"""Host side: one truth value per block, row, column or entry."""

Signs: TypeAlias = bool | Mask
"""Host side: whether coefficients may be negative. One answer for all coefficients, or one answer for each."""

Index: TypeAlias = NDArray[np.intp]
"""Host side: positions of columns or blocks."""

Samples: TypeAlias = Any
"""Data side: u, theta, y and weights, in the array library of the data (the array API standard)."""
