"""How far a move in the data can reach: norms of images, `min over b of norm(A p - B b)_w`.

Unpenalised columns are minimised out, so the part of an image along them does not count.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from atomsieve.design import Columns, Design, as_slice
from atomsieve.numerics.namespace import array_namespace
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Samples

SMALL_GRAM = 1000
"""Side up to which a Gram matrix is formed for its largest eigenvalue."""

PROJECTION_SLACK = 4 * EPS
"""Rounding of an inner product modulo the unpenalised columns, for each sample, as a part of that of the lengths."""

NARROW_BLOCK = 32
"""Columns up to which blocks of the same width are worked on together."""

TINY = 1e-200
"""Squares below which a matrix is scaled before its entries are squared."""

WIDTH = 256
"""Columns that are worked on at a time."""

LIGHT = 1 << 17
"""Entries, zeros included, up to which it does not matter whether a block of columns is sparse."""

HELD = 1 << 20
"""Entries of narrow blocks that are worked on at a time, unless one block has more."""


def weigh(weights: Samples, v: Samples) -> Samples:
    """Return v with each row multiplied by its weight."""
    return weights * v if v.ndim == 1 else weights[:, None] * v


def combine(basis: Samples, coordinates: Samples) -> Samples:
    """Return `basis @ coordinates`; a single column is multiplied, which is ten times faster than the product."""
    return basis[:, 0] * coordinates[0] if basis.shape[1] == 1 and coordinates.ndim == 1 else basis @ coordinates


def inner(a: Samples, b: Samples) -> float:
    """Return the sum over all entries of `a * b`, on the host; BLAS has it in a fifth of the time where it can."""
    return float(np.vdot(a, b)) if type(a) is np.ndarray else float(array_namespace(a).sum(a * b))


@dataclass(frozen=True, eq=False)
class Seminorm:
    """The seminorm `norm(v)_w^2 = sum_i w_i v_i^2` modulo the span of B, of which `basis` is orthonormal."""

    design: Design
    weights: Samples
    basis: Samples | None

    def project(self, v: Samples) -> Samples:
        """Return v less its part along the unpenalised columns."""
        if self.basis is None:
            return v
        return v - combine(self.basis, self.basis.T @ self.weighted(v))

    def weighted(self, v: Samples) -> Samples:
        """Return v with row i multiplied by `w_i`."""
        return weigh(self.weights, v)

    def plain_norm(self, v: Samples) -> float:
        """Return `norm(v)_w` with the part along the unpenalised columns counted."""
        return math.sqrt(inner(v, self.weighted(v)))

    def norm(self, v: Samples) -> float:
        """Return the norm of one vector or matrix of predictions."""
        return self.plain_norm(self.project(v))

    def cross(self, v: Samples) -> Array:
        """Return the inner products of every column of A with v."""
        return self.design.rmatvec(self.weighted(self.project(v)))

    def polar(self, v: Samples) -> tuple[Samples, float]:
        """Return v scaled to norm 1, and its norm; v itself where the norm is 0."""
        xp = array_namespace(v)
        largest = float(xp.max(xp.abs(v)))
        if largest == 0:
            return v, 0.0
        scaled = v / largest  # squares of huge or tiny entries would overflow or vanish
        norm = self.norm(scaled)
        return (scaled / norm, largest * norm) if norm > 0 else (v, 0.0)

    def column_norms(self) -> Array:
        """Return the norm of every column of A, with room for the rounding of the subtraction."""
        with np.errstate(over="ignore", under="ignore"):
            scale, squares = 1.0, self.design.squared_norms(self.weights)
        if not TINY < float(squares.max()) < np.inf:
            scale = self.design.largest()
            if scale == 0:
                return np.zeros(self.design.shape[1])
            squares = self.design.squared_norms(self.weights, scale)
        if self.basis is None:
            return np.asarray(scale * np.sqrt(squares))
        along = self.design.rmatvec(self.weighted(self.basis)) / scale
        slack = PROJECTION_SLACK * self.design.shape[0] * squares
        return np.asarray(scale * np.sqrt(np.maximum(squares - np.sum(along * along, axis=1), 0.0) + slack))

    @property
    def plain(self) -> "Seminorm":
        """The seminorm that counts the part along the unpenalised columns: what rounding is in proportion to."""
        return self if self.basis is None else replace(self, basis=None)

    def restrict(self, index: Columns) -> "Seminorm":
        """Return the seminorm on the chosen columns."""
        return replace(self, design=self.design.select(index))

    def spectral_norms(self, members: list[Columns]) -> Array:
        """Return the spectral norm of each block of columns; narrow blocks of the same width are taken together."""
        n, d = self.design.shape
        every = np.arange(d)
        places = [every[rows] for rows in members]
        widths, squares = np.array([len(columns) for columns in places]), self.plain.column_norms() ** 2
        frobenius = np.array([squares[columns].sum() for columns in places])
        together = (widths <= min(NARROW_BLOCK, n)) & (frobenius > TINY) & (frobenius < 1 / TINY)
        if self.design.density < 1:  # the zeros between its entries would be counted too
            together &= n * widths <= LIGHT
        norms = np.empty(len(members))
        for b in np.flatnonzero(~together):
            norms[b] = self.restrict(members[b]).spectral_norm()
        for width in np.unique(widths[together]).tolist():
            alike, each = np.flatnonzero(together & (widths == width)), max(1, min(WIDTH, HELD // n) // width)
            for some in (alike[start : start + each] for start in range(0, len(alike), each)):
                grams = self._grams(np.concatenate([places[b] for b in some]), width)
                top = np.linalg.eigvalsh((grams + grams.transpose(0, 2, 1)) / 2)[:, -1]
                norms[some] = np.sqrt(np.maximum(top, 0.0) + PROJECTION_SLACK * n * frobenius[some])
        return norms

    def _grams(self, places: Index, width: int) -> Array:
        """Return the inner products within each block of so many columns, one block after the other."""
        block = self.design.columns(as_slice(places) if (np.diff(places) == 1).all() else places)
        left, right = (np.asarray(part).T.reshape(-1, width, part.shape[0]) for part in (block, self.project(block)))
        weights = np.asarray(self.weights)
        if weights.min() == weights.max():
            return np.asarray(left @ right.transpose(0, 2, 1)) * float(weights[0])
        return np.asarray((left * weights) @ right.transpose(0, 2, 1))

    def spectral_norm(self) -> float:
        """Return an upper bound of `max of norm(A v)_w over unit v`, from products with A alone.

        Exact up to rounding when A has a side of at most SMALL_GRAM, else the Frobenius norm.
        """
        n, d = self.design.shape
        if min(n, d) > SMALL_GRAM:
            return float(linalg.norm(self.column_norms()))
        frobenius = float(linalg.norm(self.plain.column_norms()))
        if frobenius == 0:
            return 0.0
        gram = self._column_gram(frobenius) if d <= n else self._row_gram(frobenius)
        top = float(np.linalg.eigvalsh((gram + gram.T) / 2)[-1])
        return frobenius * math.sqrt(max(top, 0.0) + PROJECTION_SLACK * max(n, d))

    def _column_gram(self, scale: float) -> Array:
        """Return the inner products of the columns of A, each divided by the scale."""
        d = self.design.shape[1]
        blocks = (self.design.columns(slice(start, start + WIDTH)) for start in range(0, d, WIDTH))
        return np.hstack([self.cross(block / scale) / scale for block in blocks])

    def _row_gram(self, scale: float) -> Array:
        """Return `S A A' S'`, S the projection and then `diag(w)^(1/2)`: the same eigenvalues, from the rows."""
        n = self.design.shape[0]
        xp = array_namespace(self.weights)
        root = xp.sqrt(self.weights)[:, None]
        blocks = []
        for start in range(0, n, WIDTH):
            v = root * xp.asarray(np.eye(n, min(WIDTH, n - start), -start))
            if self.basis is not None:
                v = v - self.weighted(self.basis @ (self.basis.T @ v))
            blocks.append(np.asarray(root * self.project(self.design.matvec(self.design.rmatvec(v) / scale)) / scale))
        return np.hstack(blocks)
