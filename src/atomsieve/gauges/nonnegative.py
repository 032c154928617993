"""Non-negative coefficients: atoms `e_j / weights_j`."""

from dataclasses import dataclass

from atomsieve.gauges.coordinates import Coordinates


@dataclass(frozen=True, eq=False, repr=False)
class NonNegative(Coordinates):
    """Weighted sum of non-negative coordinates, `kappa(x) = sum_j weights_j x_j` for `x >= 0`, otherwise +inf.

    The support function is `sigma(z) = max(0, max_j z_j / weights_j)`. Weights are positive; a weight of inf excludes
    the coordinate.

    >>> import numpy as np
    >>> NonNegative().value(np.array([1.0, 2.0])), NonNegative().value(np.array([1.0, -2.0]))
    (3.0, inf)
    """

    signed = False
