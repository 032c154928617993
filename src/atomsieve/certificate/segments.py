"""The inverse of the Gram matrix of a signal itself: with X = I the levels of regions do not depend on each other.

In the levels of the regions between jumps the Gram matrix is diagonal: W_s is the sum of the weights over region s. A
jump is the difference of the levels of two regions, so `v . inv(G) v = sum_s t_s^2 / W_s` with `t = T' v`, where T
turns levels into jumps and the levels of the roots.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from atomsieve.design.base import Enclosed
from atomsieve.design.cumulated import CumulatedDesign
from atomsieve.numerics.enclosures import Enclosure, gamma, root, up
from atomsieve.typing import Array, Index


@dataclass(frozen=True, eq=False)
class SegmentInverse:
    """`inv(G)` for the levels of the roots, and the jumps between regions in their order."""

    weights: Array
    """Lower bounds of the weights of the regions."""

    turned: csr_array
    """T: a row for each coefficient, with 1 or -1 at one region or two."""

    @property
    def diagonal(self) -> Array:
        """Upper bounds of the diagonal."""
        return np.asarray(up(abs(self.turned) @ up(1 / self.weights)))

    def of(self, v: Enclosure) -> float:
        """Return an upper bound of `v . inv(G) v`."""
        return float(self._squares(v[None])[0])

    def lengths(self, rows: Enclosure) -> Array:
        """Return upper bounds of the norms of rows in the inverse."""
        return root(self._squares(rows))

    def _squares(self, rows: Enclosure) -> Array:
        moduli = abs(self.turned)
        most = int(np.diff(moduli.tocsc().indptr).max())  # so many terms a sum has
        levels = np.abs(_times(rows.mid, self.turned)) + gamma(most + 2) * _times(rows.size, moduli)
        sizes = up((levels + _times(rows.rad, moduli)) * (1 + gamma(most + 2)))
        return np.asarray(up((sizes * sizes) @ up(1 / self.weights) * (1 + gamma(len(self.weights) + 8))))


def _times(rows: Array, matrix: csr_array) -> Array:
    """Return the product of rows with a sparse matrix."""
    return np.asarray((matrix.T @ rows.T).T)


def segment_inverse(design: Enclosed, free: Enclosure, heads: Index, weights: Array) -> SegmentInverse | None:
    """Return the inverse for the jumps at these places beside the levels of roots; None for other designs and columns.

    The free columns have to be those of the roots: constants, each on the places that hang together.
    """
    if not (isinstance(design, CumulatedDesign) and design.is_identity()):
        return None
    roots = design.right.roots
    if free.shape[1] != len(roots) or free.rad.any() or not (free.mid == design.right.columns(roots)).all():
        return None
    regions = design.right.regions(np.concatenate([roots, heads]))
    sums = regions.together(weights)
    if not (sums > 0).all():  # a loss without curvature there tells nothing of a level: others have to look
        return None
    above, signs = regions.jumps.hung()
    own = np.arange(len(sums))
    inner = np.flatnonzero(above >= 0)
    places = np.concatenate([own, inner]), np.concatenate([own, above[inner]])
    turned = csr_array((np.concatenate([signs, -signs[inner]]), places), shape=(len(own), len(own)))
    return SegmentInverse(sums * (1 - 2 * gamma(len(weights) + 4)), turned[regions.places])
