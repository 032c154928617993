"""Any finite list of atoms, given as the columns of a matrix."""

from dataclasses import dataclass, field

from atomsieve.gauges.base import Gauge
from atomsieve.gauges.calculus.image import Image
from atomsieve.gauges.nonnegative import NonNegative


@dataclass(frozen=True, eq=False, repr=False)
class Atoms(Image):
    """Gauge of the atoms in the columns of `matrix`: `kappa(x) = min { sum(c) : matrix c = x, c >= 0 }`.

    The matrix may be dense or sparse. Linear programming finds the value; it is +inf outside the cone of the atoms.

    >>> import numpy as np
    >>> Atoms(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])).value(np.array([2.0, 1.0]))
    2.0
    """

    gauge: Gauge = field(default_factory=NonNegative, init=False, repr=False)
