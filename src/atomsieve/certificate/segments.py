"""The inverse of the Gram matrix of a signal itself: with X = I the levels of segments do not depend on each other.

In the levels of the segments between jumps the Gram matrix is diagonal: W_s is the sum of the weights over segment s. A
jump is the difference of two neighbouring levels, so `v . inv(G) v = sum_s t_s^2 / W_s` with `t = T' v`, where T turns
levels into jumps and the level of the root.
"""

from dataclasses import dataclass

import numpy as np

from atomsieve.design.base import Enclosed
from atomsieve.design.cumulated import CumulatedDesign, starts_of
from atomsieve.numerics.enclosures import Enclosure, gamma, root, up
from atomsieve.typing import Array, Index


@dataclass(frozen=True, eq=False)
class SegmentInverse:
    """`inv(G)` for the level of the root, and the jumps between segments in their order."""

    weights: Array
    """Lower bounds of the weights of the segments."""

    home: int
    """The segment of the root."""

    @property
    def diagonal(self) -> Array:
        """Upper bounds of the diagonal."""
        inverse = up(1 / self.weights)
        return np.append(inverse[self.home], up(inverse[1:] + inverse[:-1]))

    def of(self, v: Enclosure) -> float:
        """Return an upper bound of `v . inv(G) v`."""
        return float(self._squares(v[None])[0])

    def lengths(self, rows: Enclosure) -> Array:
        """Return upper bounds of the norms of rows in the inverse."""
        return root(self._squares(rows))

    def _squares(self, rows: Enclosure) -> Array:
        sizes = np.zeros((len(rows), len(self.weights)))
        for part, sign in ((rows.mid, -1.0), (rows.size, 1.0)):
            levels = np.zeros(sizes.shape)
            levels[:, self.home] = part[:, 0]
            levels[:, 1:] += part[:, 1:]
            levels[:, :-1] += sign * part[:, 1:]
            sizes += np.abs(levels) if sign < 0 else gamma(4) * levels
        blur = np.zeros(sizes.shape)
        blur[:, self.home] = rows.rad[:, 0]
        blur[:, 1:] += rows.rad[:, 1:]
        blur[:, :-1] += rows.rad[:, 1:]
        sizes = up(sizes + blur)
        return np.asarray(up((sizes * sizes) @ up(1 / self.weights) * (1 + gamma(len(self.weights) + 8))))


def segment_inverse(design: Enclosed, free: Enclosure, heads: Index, weights: Array) -> SegmentInverse | None:
    """Return the inverse for the jumps at these places beside one constant; None for other designs and free columns."""
    if not (isinstance(design, CumulatedDesign) and design.is_identity() and free.shape[1] == 1):
        return None
    if free.rad.any() or not (free.mid == 1).all():
        return None
    at = design.right.root
    sums = np.add.reduceat(weights, starts_of(heads, at))
    return SegmentInverse(sums * (1 - 2 * gamma(len(weights) + 4)), int(np.searchsorted(heads, at)))
