"""Norms of images modulo the unpenalised columns: `min over b of norm(A p - B b)_w`.

The problem is minimised over the unpenalised columns, so the part of an image in their span does not count.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg

from atomsieve.design import BelowDesign, Columns, Design, as_slice
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.namespace import array_namespace, like, on_host
from atomsieve.numerics.rounding import EPS
from atomsieve.numerics.samplewise import Made, totals
from atomsieve.typing import Array, Index, Samples

SMALL_GRAM = 1000
"""Largest size of a Gram matrix that is formed for its largest eigenvalue."""

PROJECTION_SLACK = 4 * EPS
"""Rounding error of an inner product modulo the unpenalised columns, per sample, relative to the norms."""

NARROW_BLOCK = 32
"""Largest width of blocks that are processed together with others of the same width."""

TINY_SQUARES = 1e-200
"""Sum of squares below which a matrix is scaled before its entries are squared."""

WIDTH = 256
"""Number of columns that are processed at a time."""

LIGHT = 1 << 17
"""Number of entries, zeros included, up to which a sparse block of columns is processed like a dense one."""

HELD = 1 << 20
"""Number of entries of narrow blocks that are processed at a time, unless a single block has more."""


def weigh(weights: Samples, v: Samples) -> Samples:
    """Return v with each row multiplied by its weight."""
    return weights * v if v.ndim == 1 else weights[:, None] * v


def combine(basis: Samples, coordinates: Samples) -> Samples:
    """Return `basis @ coordinates`; for a single column a multiplication is ten times faster than `@`."""
    return basis[:, 0] * coordinates[0] if basis.shape[1] == 1 and coordinates.ndim == 1 else basis @ coordinates


def inner(a: Samples, b: Samples) -> float:
    """Return the sum of all entries of `a * b`, on the host; BLAS takes a fifth of the time for NumPy arrays."""
    return float(np.vdot(a, b)) if type(a) is np.ndarray else float(totals(_product, a, b)[0])


def _product(a: Samples, b: Samples) -> Made:
    xp: Any = array_namespace(a)
    return Made(sums=(xp.sum(a * b),))


@dataclass(frozen=True, eq=False)
class Seminorm:
    """The seminorm `norm(v)_w^2 = sum_i w_i v_i^2` modulo the span of B; `basis` is an orthonormal basis of it."""

    design: Design
    weights: Samples
    basis: Samples | None

    def project(self, v: Samples) -> Samples:
        """Return v without its part in the span of the unpenalised columns."""
        if self.basis is None:
            return v
        return v - combine(self.basis, self.basis.T @ self.weighted(v))

    def weighted(self, v: Samples) -> Samples:
        """Return v with row i multiplied by `w_i`."""
        return weigh(self.weights, v)

    def plain_norm(self, v: Samples) -> float:
        """Return `norm(v)_w`, including the part in the span of the unpenalised columns."""
        return math.sqrt(inner(v, weigh(self.weights, v)))

    def norm(self, v: Samples) -> float:
        """Return the norm of one vector or matrix of predictions."""
        return self.plain_norm(self.project(v))

    def cross(self, v: Samples) -> Array:
        """Return the inner products of every column of A with v."""
        return self.design.rmatvec(self.weighted(self.project(v)))

    def polar(self, v: Samples) -> tuple[Samples, float]:
        """Return v scaled to norm 1, and its norm; v is not scaled if the norm is 0."""
        xp = array_namespace(v)
        largest = float(xp.max(xp.abs(v)))
        if largest == 0:
            return v, 0.0
        scaled = v / largest  # squares of huge or tiny entries would overflow or underflow
        norm = self.norm(scaled)
        return (scaled / norm, largest * norm) if norm > 0 else (v, 0.0)

    def column_norms(self) -> Array:
        """Return the norm of every column of A, enlarged to cover the rounding of the subtraction; computed once."""
        return self._column_norms

    @cached_property
    def _column_norms(self) -> Array:
        with np.errstate(over="ignore", under="ignore"):
            scale, squares = 1.0, self.design.squared_norms(self.weights)
        if not TINY_SQUARES < float(squares.max()) < np.inf:
            scale = self.design.largest()
            if scale == 0:
                return np.zeros(self.design.shape[1])
            squares = self.design.squared_norms(self.weights, scale)
        if self.basis is None:
            norms = np.asarray(np.sqrt(squares))
            return norms if scale == 1 else scale * norms
        along = self.design.rmatvec(self.weighted(self.basis)) / scale
        slack = PROJECTION_SLACK * self.design.shape[0] * squares
        return np.asarray(scale * np.sqrt(np.maximum(squares - np.sum(along * along, axis=1), 0.0) + slack))

    @property
    def plain(self) -> "Seminorm":
        """The norm that includes the part in the span of B; rounding errors are proportional to it."""
        return self if self.basis is None else replace(self, basis=None)

    def restrict(self, index: Columns) -> "Seminorm":
        """Return the seminorm on the chosen columns."""
        return replace(self, design=self.design.select(index))

    def spectral_norms(self, members: list[Columns]) -> Array:
        """Return the spectral norm of each block of columns; narrow blocks of the same width are processed together."""
        n, d = self.design.shape
        every = np.arange(d)
        places = [every[index] for index in members]
        widths = np.array([len(columns) for columns in places])
        squares = self.plain.column_norms() ** 2
        frobenius = np.array([squares[columns].sum() for columns in places])
        together = (widths <= min(NARROW_BLOCK, n)) & (frobenius > TINY_SQUARES) & (frobenius < 1 / TINY_SQUARES)
        if self.design.density < 1:  # dense blocks also hold the zeros of a sparse matrix
            together &= n * widths <= LIGHT
        norms = np.empty(len(members))
        for b in np.flatnonzero(~together):
            norms[b] = self.restrict(members[b]).spectral_norm()
        for width in np.unique(widths[together]).tolist():
            alike = np.flatnonzero(together & (widths == width))
            each = max(1, min(WIDTH, HELD // n) // width)
            for some in (alike[start : start + each] for start in range(0, len(alike), each)):
                grams = self._grams(np.concatenate([places[b] for b in some]), width)
                top = np.linalg.eigvalsh((grams + grams.transpose(0, 2, 1)) / 2)[:, -1]
                norms[some] = np.sqrt(np.maximum(top, 0.0) + PROJECTION_SLACK * n * frobenius[some])
        return norms

    def _grams(self, places: Index, width: int) -> Array:
        """Return the Gram matrix of each block; all blocks have the same width and follow one another."""
        design = getattr(self.design, "unmetered", self.design)
        if isinstance(design, BelowDesign) and not (self.basis is not None and np.any(self.basis[design.height :])):
            n, count = design.height, len(places) // width
            basis = None if self.basis is None else self.basis[:n]
            first = Seminorm(design.above, self.weights[:n], basis)._grams(places, width)
            rest = design.below.gram(self.weights[n:], places, places, 1.0).reshape(count, width, count, width)
            return np.asarray(first + rest[np.arange(count), :, np.arange(count)])
        block = self.design.columns(as_slice(places) if (np.diff(places) == 1).all() else places)
        if type(block) is not np.ndarray:
            return self._grams_there(block, width)
        left, right = (np.asarray(part).T.reshape(-1, width, part.shape[0]) for part in (block, self.project(block)))
        weights = np.asarray(self.weights)
        if weights.min() == weights.max():
            return np.asarray(left @ right.transpose(0, 2, 1)) * float(weights[0])
        return np.asarray((left * weights) @ right.transpose(0, 2, 1))

    def _grams_there(self, block: Samples, width: int) -> Array:
        """Return the Gram matrix of each block of columns that are not on the host."""
        xp: Any = array_namespace(block)
        sides = (xp.matrix_transpose(part) for part in (block, self.project(block)))
        left, right = (xp.reshape(part, (-1, width, part.shape[1])) for part in sides)
        return on_host((left * self.weights) @ xp.matrix_transpose(right))

    def spectral_norm(self) -> float:
        """Return an upper bound of `max of norm(A v)_w over unit v`, using only products with A.

        It is exact up to rounding if A has at most SMALL_GRAM rows or columns; otherwise it is the Frobenius norm.
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
        """Return the Gram matrix of the columns of A, each column divided by the scale."""
        d = self.design.shape[1]
        blocks = (self.design.columns(slice(start, start + WIDTH)) for start in range(0, d, WIDTH))
        return np.hstack([self.cross(block / scale) / scale for block in blocks])

    def _row_gram(self, scale: float) -> Array:
        """Return `S A A' S'`, where S is the projection followed by `diag(w)^(1/2)`.

        It has the same non-zero eigenvalues as the Gram matrix of the columns.
        """
        n = self.design.shape[0]
        xp = array_namespace(self.weights)
        root = xp.sqrt(self.weights)[:, None]
        blocks = []
        for start in range(0, n, WIDTH):
            v = root * like(np.eye(n, min(WIDTH, n - start), -start), self.weights)
            if self.basis is not None:
                v = v - self.weighted(self.basis @ (self.basis.T @ v))
            blocks.append(on_host(root * self.project(self.design.matvec(self.design.rmatvec(v) / scale)) / scale))
        return np.hstack(blocks)
