"""The (weighted) l1 norm: atoms `+e_j / weights_j` and `-e_j / weights_j`."""

from dataclasses import dataclass

from atomsieve.gauges.coordinates import Coordinates


@dataclass(frozen=True, eq=False, repr=False)
class L1(Coordinates):
    """Weighted l1 norm, `kappa(x) = sum_j weights_j |x_j|`, with `sigma(z) = max_j |z_j| / weights_j`.

    `weights` has one number per coordinate (None: all 1): 0 leaves the coordinate unpenalised (it moves to the free
    directions of the problem), inf excludes it. A matrix x is measured entry by entry.

    >>> import numpy as np
    >>> L1().value(np.array([1.0, -2.0])), L1([1.0, 4.0]).support(np.array([1.0, -2.0]))
    (3.0, 1.0)
    """
