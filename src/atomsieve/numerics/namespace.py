"""Which array library an array belongs to, told at once for the most common one."""

from typing import Any

import array_api_compat
import numpy as np


def array_namespace(array: Any) -> Any:
    """Return the array API namespace of an array."""
    return np if type(array) is np.ndarray else array_api_compat.array_namespace(array)
