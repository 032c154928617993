"""Subspaces near which the singular vectors of a matrix with large values lie, proven from an enclosure of it."""

import math
from typing import NamedTuple

import numpy as np

from atomsieve.gauges.triplets import Triplets
from atomsieve.numerics.enclosures import LEAST, Enclosure, gamma, norm, quiet, up
from atomsieve.numerics.rounding import EPS
from atomsieve.numerics.spectral import stretch
from atomsieve.typing import Array


class Leading(NamedTuple):
    """The span of the columns of `left` and of `right`, and what of a matrix z lies beyond: `z - left C right'`."""

    left: Array
    right: Array
    beyond: float
    """An upper bound of its largest singular value; of its largest eigenvalue, where left and right are the same."""
    leak: float
    """An upper bound of its products with vectors of length 1 in either span."""

    @property
    def rank(self) -> int:
        """The dimension of both subspaces."""
        return int(self.left.shape[1])

    def times(self, factor: float) -> "Leading":
        """Return the same for z times a positive number."""
        return self._replace(beyond=float(up(self.beyond * factor)), leak=float(up(self.leak * factor)))

    def sine(self, value: float, moved: float) -> float:
        """Return an upper bound of the sine of the angle between a singular vector and its subspace.

        It holds for all vectors of all matrices within `moved` of z, in spectral norm, whose singular value is at least
        `value`. Let `z* v = s u` and `z*' u = s v`, and P and Q be what is beside both subspaces. Then P z v is at most
        `leak + beyond |Q v|`, so that `s |P u| <= leak + beyond |Q v| + moved`, and the same the other way round. So
        the larger one of both is at most `(leak + moved) / (s - beyond)`.
        """
        room = (value - self.beyond) * (1 - 2 * EPS)
        return float(up(up(self.leak + moved) / room)) if room > 0 else np.inf


class Subspaces(NamedTuple):
    """Where the solutions of a problem over matrices lie: every vector of their columns, and of their rows.

    The columns of `left` span the subspace for columns of x, those of `right` that for its rows.
    """

    left: Array
    right: Array
    sine: float
    """An upper bound of the sine of the angle between such a vector and its subspace."""

    @property
    def degrees(self) -> float:
        """The angle in degrees, rounded."""
        return math.degrees(math.asin(self.sine))


def beyond(z: Enclosure, leading: Triplets) -> Enclosure:
    """Return every enclosed z less the matrix of some triplets, whose product is not rounded but enclosed."""
    left, values, right = leading
    taken = (left * values) @ right.T
    sizes = (np.abs(left) * np.abs(values)) @ np.abs(right).T
    return z - Enclosure(taken, up((len(values) + 4) * 2 * (EPS * sizes + LEAST)))


def leak(rest: Enclosure, basis: Array) -> float:
    """Return an upper bound of the length of `rest v`, for v of length 1 in the span of a nearly orthonormal basis.

    If `v = V w`, then `|w|^2 <= 1 / (1 - |V'V - I|)`.
    """
    if not basis.size:
        return 0.0
    with quiet():
        off = float(stretch(basis.T)) - 1.0
        if not off < 0.5:
            return np.inf
        moduli = np.abs(basis)
        lost = gamma(len(basis) + 4) * (np.abs(rest.mid) @ moduli) + rest.rad @ moduli * (1 + gamma(len(basis) + 4))
        size = norm(up(np.abs(rest.mid @ basis) + lost + 2 * len(basis) * LEAST).ravel())
        return float(up(size * up(1 + 2 * off)))
