"""Dense designs: NumPy arrays; a float64 array that BLAS can read is used without a copy."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomsieve.core import Packed, squares
from atomsieve.design.base import ALL, Columns, Recent, as_bytes, as_slice, blocks_of_rows
from atomsieve.intake.arguments import in_doubles
from atomsieve.numerics import exact
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import LEAST, Enclosure, gamma, norms_of, quiet, root, up
from atomsieve.numerics.threads import shared
from atomsieve.typing import Array, Index, Mask, Samples

TEMPORARY = 1 << 16
"""Largest number of entries of a temporary array."""

MODERATE = 1e-50, 1e50
"""Range of units in which squares of columns neither overflow nor underflow."""

WIDTH = 256
"""Number of rows or columns at a time in products with error bounds."""


@dataclass(frozen=True, eq=False)
class DenseDesign:
    """A as a float64 array.

    For an array stored by rows, recent single columns are cached: an eighth of A, or 64 columns if that is more.
    """

    matrix: Array

    @cached_property
    def _recent(self) -> Recent:
        return Recent(max(64 * len(self.matrix), self.matrix.size // 8))

    @classmethod
    def of(cls, X: NDArray[Any], name: str) -> "DenseDesign":
        """Use X itself if BLAS can read it; convert other types and layouts once."""
        matrix = in_doubles(X, name)
        readable = any(
            stride == matrix.itemsize and other >= 0 for stride, other in (matrix.strides, matrix.strides[::-1])
        )
        return cls(matrix if readable or not matrix.size else np.ascontiguousarray(matrix))

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape[0], self.matrix.shape[1]

    @property
    def density(self) -> float:
        return 1.0

    def matvec(self, x: Array, index: Columns = ALL) -> Samples:
        by_rows = self.matrix.strides[0] > self.matrix.itemsize
        if by_rows and len(x) == 1 and isinstance(index, slice) and index != ALL:
            column = self._recent.get(index, lambda: np.ascontiguousarray(self.matrix[:, index]))
            return column[:, 0] * x[0] if x.ndim == 1 else column * x
        return self.matrix[:, index] @ x

    def rmatvec(self, r: Samples) -> Array:
        with shared(self.matrix.size):
            product: Array = self.matrix.T @ r
        return product

    def products(self, vectors: Sequence[Samples]) -> Array:
        with shared(self.matrix.size * len(vectors)):
            found: Array = np.stack(vectors) @ self.matrix
        return found

    def columns(self, index: Columns) -> Samples:
        if isinstance(index, slice):
            return self.matrix[:, index]
        by_columns = self.matrix.strides[0] == self.matrix.itemsize
        # the fastest way to copy columns depends on the layout
        return self.matrix.T[index].T if by_columns else self.matrix.take(index, axis=1)

    def select(self, index: Columns) -> "DenseDesign":
        return DenseDesign(self.columns(index))

    def gram(
        self, weights: Samples, index: Columns, others: Columns, unit: float, basis: Samples | None = None
    ) -> Array:
        right = self.columns(others)
        left = right if index is others else self.columns(index)
        with shared(left.size * right.shape[1]):
            return dense_gram(left, weights, right, unit, basis)

    def packed(self, index: Index) -> Packed:
        n, _ = self.shape
        if self._by_columns is None:
            rows = np.empty((len(index), n))
            np.take(self.matrix.T, index, axis=0, out=rows, mode="clip")
            return Packed.of(rows.T)
        values, step = self._by_columns
        counts = np.empty(len(index), dtype=np.int64)
        counts.fill(n)
        return Packed(values, None, step * index, None, counts)

    @cached_property
    def _by_columns(self) -> tuple[Array, int] | None:
        """The matrix as one vector, and the distance of its columns there; None if it is stored by rows."""
        return as_vector(self.matrix)

    def samples(self, chosen: Mask) -> "DenseDesign":
        return DenseDesign(self.matrix[chosen])

    def largest(self) -> float:
        return max(float(self.matrix.max()), -float(self.matrix.min()))

    @cached_property
    def _squares(self) -> Array:
        """Sums of squares of the columns, in one pass over the matrix."""
        n, d = self.shape
        if self._by_columns is not None and self._by_columns[1] == n:
            return squares(self._by_columns[0], np.arange(n, n * d + 1, n))
        with quiet():
            return np.asarray(np.einsum("ij,ij->j", self.matrix, self.matrix))

    @cached_property
    def centres(self) -> Array:
        """Numbers near the means of the columns; any numbers would do, so that they are kept."""
        n = self.shape[0]
        with quiet():
            means = self.rmatvec(np.full(n, 1.0 / n))
        return np.where(np.isfinite(means), means, 0.0)

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        if weights.min() == weights.max() and MODERATE[0] < scale < MODERATE[1]:
            return float(weights[0]) / scale / scale * self._squares
        n, d = self.shape
        norms = np.zeros(d)
        if self.matrix.strides[0] == self.matrix.itemsize:  # stored by columns
            width = max(1, TEMPORARY // n)
            for start in range(0, d, width):
                block = self.matrix[:, start : start + width] / scale
                norms[start : start + width] = weights @ (block * block)
            return norms
        for start in range(0, n, max(1, TEMPORARY // d)):
            block = self.matrix[start : start + max(1, TEMPORARY // d)] / scale
            norms += (block * block).T @ weights[start : start + len(block)]
        return norms

    def enclose(self, x: Enclosure, index: Columns = ALL) -> Enclosure:
        mid, rad = np.zeros((self.shape[0], *x.mid.shape[1:])), np.zeros((self.shape[0], *x.mid.shape[1:]))
        places = np.arange(self.shape[1])[index]
        terms = len(places) + len(places) // WIDTH + 2
        with quiet():
            error = up(gamma(terms) * np.abs(x.mid) + (1 + gamma(terms)) * x.rad)
            for start in range(0, len(places), WIDTH):
                part = slice(start, start + WIDTH)
                block = self.columns(as_slice(places[part]))
                mid += block @ x.mid[part]
                rad += np.abs(block) @ error[part]
            return Enclosure(mid, up(rad * (1 + gamma(terms)) + 2 * terms * LEAST))

    def enclose_adjoint(self, r: Enclosure, norms: Array | None = None) -> Enclosure:
        n = self.shape[0]
        mid = np.zeros((self.shape[1], *r.mid.shape[1:]))
        with quiet():
            with shared(self.matrix.size):
                for start in range(0, n, WIDTH):  # a sum of short sums has a smaller error than one long sum
                    mid += self.matrix[start : start + WIDTH].T @ r.mid[start : start + WIDTH]
            terms = min(n, WIDTH) + n // WIDTH + 2
            sizes, rads = norms_of(r.mid), norms_of(r.rad)
            error = up(gamma(terms) * sizes + rads)  # Cauchy-Schwarz inequality
            rad = np.multiply.outer(self.norm_bounds(np.ones(n)) if norms is None else norms, error)
        return Enclosure(mid, up(rad + 2 * n * LEAST))

    def enclose_columns(self, index: Columns) -> Enclosure:
        return Enclosure.exact(self.columns(index))

    def sharp(self, x: Array, index: Index, level: tuple[float, float] = (0.0, 0.0)) -> Enclosure:
        return exact.image(self.packed(index), x, self.shape[0], level)

    def sharp_adjoint(self, r: Enclosure, index: Index, centres: Array | None = None) -> Enclosure:
        return exact.dots(self.packed(index), r, centres)

    def norm_bounds(self, weights: Array, index: Index | None = None, centres: Array | None = None) -> Array:
        n = self.shape[0]
        with quiet():
            squares = self._squares_less(weights, index, centres)
            return root(up(squares * (1 + gamma(n + 8)) + 4 * n * LEAST * max(1.0, float(weights.max()))))

    def _squares_less(self, weights: Array, index: Index | None, centres: Array | None) -> Array:
        """Return weighted sums of squares of columns less their centres: of a few, or all in one pass over A."""
        if index is not None:
            centres = np.zeros(len(index)) if centres is None else centres[index]
            return exact.squared_lengths(self.packed(index), weights, centres, by_rows=False)
        centres = np.zeros(self.shape[1]) if centres is None else centres
        by_rows = self._by_columns is None
        vector, step = self._stored()
        length, count = self.shape[::-1] if by_rows else self.shape
        packed = Packed(vector, None, step * np.arange(count), None, np.full(count, length))
        return exact.squared_lengths(packed, weights, centres, by_rows=by_rows)

    def survey(self, r: Enclosure, centres: Array | None = None, *, told: bool = True) -> exact.Survey:
        """Return `A' r`, lengths of the columns, each less its centre, and a fingerprint if asked, in one pass."""
        vector, step = self._stored()
        by_rows = self._by_columns is None
        whole = self.matrix if told and vector.size == self.matrix.size else None
        return exact.survey(exact.Lines(vector, None, None, step), r, self.shape[1], centres, whole, by_rows=by_rows)

    def _stored(self) -> tuple[Array, int]:
        """Return the matrix as one vector, and the distance of its lines there: of columns, or else of rows."""
        return self._by_columns or as_vector(self.matrix.T) or (np.zeros(0), 0)

    def parts(self) -> Iterator[Array]:
        if self.matrix.flags.c_contiguous or self.matrix.flags.f_contiguous:
            yield self.matrix
            return
        for rows in blocks_of_rows(self.shape):
            yield np.ascontiguousarray(self.matrix[rows])

    def rows_as_bytes(self) -> Iterator[bytes | memoryview]:
        yield f"{self.shape}".encode()
        every: Array = np.zeros(0, dtype="<i8")
        for rows in blocks_of_rows(self.shape):
            block = self.matrix[rows]
            held = block != 0
            counts = np.count_nonzero(held, axis=1)
            if counts.min() < self.shape[1]:
                yield from as_bytes(counts, np.nonzero(held)[1], block[held])
                continue
            if len(every) != block.size:  # the column numbers of a full block; only the last block differs
                every = np.tile(np.arange(self.shape[1], dtype="<i8"), len(block))
            yield from as_bytes(counts, every, block)

    def is_finite(self) -> bool:
        """Return whether every entry is finite; entries are checked one by one only if a sum of squares overflows."""
        return math.isfinite(self._squares.max()) or bool(np.isfinite(self.matrix).all())


def as_vector(matrix: Array) -> tuple[Array, int] | None:
    """Return a matrix as one vector, and the distance of its columns there; None if it is not stored by columns."""
    n, d = matrix.shape
    down, across = matrix.strides
    size = matrix.itemsize
    if down != size and n > 1:
        return None
    if matrix.flags.f_contiguous:
        return matrix.ravel(order="F"), n
    step = across // size if d > 1 else n
    vector = np.lib.stride_tricks.as_strided(matrix, ((d - 1) * step + n,), (size,), writeable=False)
    return vector, step


def dense_gram(left: Array, weights: Array, right: Array, unit: float, basis: Array | None) -> Array:
    """Return `left' diag(weights) right / unit^2` modulo a basis; if both are the same, BLAS does half the work."""
    least, largest = weights.min(), weights.max()
    if least < 0:  # weights between different outputs of a loss
        return (left / unit).T @ ((weights / unit)[:, None] * right)
    if least == largest and basis is None and MODERATE[0] < unit < MODERATE[1]:
        return float(least) / unit / unit * (left.T @ right)
    root = np.sqrt(weights)[:, None] / unit
    scaled = root * right
    if basis is not None:
        rooted = np.linalg.qr(unit * root * basis)[0]
        for _ in range(2):  # a second time, for columns that lie nearly in the span of the basis
            scaled -= rooted @ (rooted.T @ scaled)
    return scaled.T @ scaled if left is right else left.T @ (root * scaled)
