"""How far a move in the data can reach: norms of images, `min over b of norm(A p - B b)_w`.

Free directions are minimised out, so the part of an image along them does not count.
"""

import math
from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace

from atomsieve.design import Design
from atomsieve.typing import Array, Index, Samples

EPS = 2.0**-53


@dataclass(frozen=True, eq=False)
class Measure:
    """The seminorm `norm(v)_w^2 = sum_i w_i v_i^2` modulo the span of an orthonormal `basis` of the free directions."""

    design: Design
    weights: Samples
    basis: Samples | None

    def project(self, v: Samples) -> Samples:
        """Return v less its part along the free directions."""
        if self.basis is None:
            return v
        return v - self.basis @ (self.basis.T @ self.weighted(v))

    def weighted(self, v: Samples) -> Samples:
        """Return v with row i multiplied by `w_i`."""
        return self.weights * v if v.ndim == 1 else self.weights[:, None] * v

    def plain_norm(self, v: Samples) -> float:
        """Return `norm(v)_w` with the part along the free directions counted."""
        return math.sqrt(float(array_namespace(v).sum(v * self.weighted(v))))

    def norm(self, v: Samples) -> float:
        """Return the norm of one vector or matrix of predictions."""
        return self.plain_norm(self.project(v))

    def cross(self, v: Samples) -> Array:
        """Return the inner products of every column of A with v."""
        return self.design.rmatvec(self.weighted(self.project(v)))

    def column_norms(self) -> Array:
        """Return the norm of every column of A, with room for the rounding of the subtraction."""
        squares = self.design.squared_norms(self.weights)
        if self.basis is None:
            return np.asarray(np.sqrt(squares))
        along = self.design.rmatvec(self.weighted(self.basis))
        slack = 4 * self.design.shape[0] * EPS * squares
        return np.asarray(np.sqrt(np.maximum(squares - np.sum(along * along, axis=1), 0.0) + slack))

    def spectral_norm(self, rows: Index | slice, largest: int = 1000) -> float:
        """Return an upper bound of `max of norm(A v)_w over unit v` on the given columns.

        Exact up to rounding when one side has at most `largest` rows or columns, else the Frobenius norm.
        """
        block = self.project(self.design.columns(rows))
        xp = array_namespace(block)
        block = np.asarray(xp.sqrt(self.weights)[:, None] * block)
        if min(block.shape) > largest:
            return float(np.linalg.norm(block))
        gram = block @ block.T if block.shape[0] < block.shape[1] else block.T @ block
        top = float(np.linalg.eigvalsh(gram)[-1])
        return math.sqrt(max(top, 0.0) + 4 * max(block.shape) * EPS * float(np.trace(gram)))
