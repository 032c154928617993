"""The functions for an array, a float or an enclosure; the most common types are recognised without a search."""

from typing import Any

import array_api_compat
import numpy as np

from atomsieve.numerics import balls, scalars
from atomsieve.numerics.enclosures import Enclosure


def array_namespace(array: Any) -> Any:
    """Return the namespace of an array (array API standard), of a float, or of an enclosure.

    >>> array_namespace(0.5).log1p(0.0), array_namespace(Enclosure.exact(0.5)).__name__
    (0.0, 'atomsieve.numerics.balls')
    """
    kind = type(array)
    if kind is np.ndarray:
        return np
    if kind is float or isinstance(array, (float, int)):
        return scalars
    return balls if kind is Enclosure else array_api_compat.array_namespace(array)
