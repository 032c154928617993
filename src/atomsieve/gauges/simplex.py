"""The unit simplex: atoms `e_j`."""

from dataclasses import dataclass, field

from atomsieve.gauges.coordinates import Coordinates


@dataclass(frozen=True, eq=False, repr=False)
class Simplex(Coordinates):
    """Gauge of the unit simplex, `kappa(x) = sum_j x_j` for `x >= 0`, otherwise +inf: mixtures and portfolios.

    A gauge does not distinguish the simplex from its convex hull with 0. With `Ball(1)` the feasible set is
    `x >= 0, sum(x) <= 1`, and the sum is 1 exactly when the constraint is active. For a sum of 1 in any case there is
    `Shifted(np.eye(d))`.

    >>> import numpy as np
    >>> Simplex().value(np.array([0.25, 0.75]))
    1.0
    """

    weights: None = field(default=None, init=False, repr=False)
    signed = False
