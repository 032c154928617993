"""Sparse designs: CSR and CSC matrices and arrays of SciPy; float64 without duplicates is used without a copy."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomsieve.core import Packed, squares
from atomsieve.design.base import ALL, Columns, Recent, as_bytes, blocks_of_rows
from atomsieve.intake.arguments import in_doubles
from atomsieve.intake.whole import require_held
from atomsieve.numerics import exact
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import LEAST, Enclosure, gamma, norms_of, quiet, root, up
from atomsieve.typing import Array, Index, Mask, Samples

DENSE = 0.1
"""Density above which a Gram matrix is computed from dense columns."""

TOGETHER = 8
"""Vectors in one product: that takes half the time of one after another, and more no longer fit into the cache."""


@dataclass(frozen=True, eq=False)
class SparseDesign:
    """A as a float64 CSR or CSC matrix with any index type.

    Recent columns of a CSR matrix are cached, up to as many entries as A has.
    """

    matrix: Any

    @cached_property
    def _recent(self) -> Recent:
        return Recent(self.matrix.nnz)

    @classmethod
    def of(cls, X: Any, name: str) -> "SparseDesign":
        """Use CSR and CSC matrices without a copy; convert other formats, types and duplicate entries once."""
        if X.dtype.kind not in "fiub":
            raise ValueError(f"{name} must hold real numbers, got dtype {X.dtype}.")
        matrix = X if X.format in ("csr", "csc") else X.tocsc()
        require_held(matrix.data, name)
        matrix = matrix.astype(np.float64, copy=False)
        if matrix.dtype.byteorder != "=":  # doubles whose byte order is stated
            matrix = type(matrix)((in_doubles(matrix.data, name), matrix.indices, matrix.indptr), shape=matrix.shape)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        return cls(matrix)

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape[0], self.matrix.shape[1]

    @property
    def density(self) -> float:
        return float(self.matrix.nnz) / (self.shape[0] * self.shape[1])

    @cached_property
    def apart(self) -> bool:
        """Whether every row has one entry at most, so that no two columns meet."""
        return bool(np.diff(self.matrix.tocsr().indptr).max(initial=0) <= 1)

    def matvec(self, x: Array, index: Columns = ALL) -> Samples:
        return self._block(index) @ x

    @cached_property
    def _transposed(self) -> Any:
        """The transposed view, kept because making it takes as long as a small product."""
        return self.matrix.T

    def rmatvec(self, r: Samples) -> Array:
        product: Array = self._transposed @ r
        return product

    def products(self, vectors: Sequence[Samples]) -> Array:
        found = np.empty((len(vectors), self.shape[1]))
        for start in range(0, len(vectors), TOGETHER):
            some = slice(start, start + TOGETHER)
            found[some] = (self._transposed @ np.stack(vectors[some], axis=1)).T
        return found

    def columns(self, index: Columns) -> Samples:
        return self._block(index).toarray()

    def select(self, index: Columns) -> "SparseDesign":
        return SparseDesign(self.matrix[:, index])

    def gram(
        self, weights: Samples, index: Columns, others: Columns, unit: float, basis: Samples | None = None
    ) -> Array:
        left = self._block(index).tocsc()
        right = left if index is others else self._block(others).tocsc()
        dense = right.nnz > DENSE * right.shape[0] * right.shape[1]
        if dense and left is right and (weights >= 0).all():  # by symmetry this is half the work
            half = scaled_rows(right, np.sqrt(weights) / unit).toarray()
            gram = np.asarray(half.T @ half)
        else:
            scaled = scaled_rows(right, weights / unit)
            gram = np.asarray(left.T @ scaled.toarray(order="C") if dense else (left.T @ scaled).toarray()) / unit
        if basis is None:
            return gram
        root = np.sqrt(weights)[:, None]
        rooted = np.linalg.qr(root * basis)[0] * root / unit
        return np.asarray(gram - (left.T @ rooted) @ (right.T @ rooted).T)

    def packed(self, index: Index) -> Packed:
        if self.matrix.format != "csc":
            return packed_lines(self.matrix[:, index].tocsc())
        starts = self._starts[index]
        return Packed(self._values, self._rows, starts, starts, self._starts[index + 1] - starts)

    @cached_property
    def _rows(self) -> NDArray[np.int32]:
        """The rows of the entries, for the core."""
        return np.ascontiguousarray(self.matrix.indices, dtype=np.int32)

    @cached_property
    def _values(self) -> Array:
        """The entries, for the core."""
        return np.ascontiguousarray(self.matrix.data)

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """Where each column begins, for the core."""
        starts: NDArray[np.int64] = self.matrix.indptr.astype(np.int64)
        return starts

    def samples(self, chosen: Mask) -> "SparseDesign":
        return SparseDesign(self.matrix[np.flatnonzero(chosen)])

    def largest(self) -> float:
        return float(np.abs(self.matrix.data).max(initial=0.0))

    @cached_property
    def _squares(self) -> Array:
        """Sums of squares of the columns, in one pass over the entries."""
        if self.matrix.format == "csc":
            return squares(self._values, self._starts[1:])
        with quiet():
            sums = np.bincount(self.matrix.indices, self.matrix.data * self.matrix.data, self.shape[1])
        return sums.astype(np.float64)

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        if scale == 1.0 and weights.min() == weights.max():
            return float(weights[0]) * self._squares
        m = self.matrix
        squares = type(m)(((m.data / scale) ** 2, m.indices, m.indptr), shape=m.shape)
        norms: Array = squares.T @ weights
        return norms

    def enclose(self, x: Enclosure, index: Columns = ALL) -> Enclosure:
        block = self._block(index)
        counts = np.diff(block.indptr) if block.format == "csr" else np.bincount(block.indices, minlength=1)
        terms = int(counts.max(initial=0)) + 2  # of a row: completion sees one of millions
        with quiet():
            error = up(gamma(terms) * np.abs(x.mid) + (1 + gamma(terms)) * x.rad)
            rad = (abs(block) @ error) * (1 + gamma(terms))
            return Enclosure(np.asarray(block @ x.mid), up(np.asarray(rad) + 2 * terms * LEAST))

    def enclose_adjoint(self, r: Enclosure, norms: Array | None = None) -> Enclosure:
        terms = self._counts() + 2
        with quiet():
            norms = self.norm_bounds(np.ones(self.shape[0])) if norms is None else norms
            error = np.multiply.outer(norms * gamma(terms), norms_of(r.mid)) + np.multiply.outer(norms, norms_of(r.rad))
            product = self.matrix.T @ r.mid  # not the cached view: a proof uses the entries as they are now
            return Enclosure(product, up(error * (1 + gamma(4)) + 2 * self.shape[0] * LEAST))

    def enclose_columns(self, index: Columns) -> Enclosure:
        return Enclosure.exact(self.columns(index))

    def sharp(self, x: Array, index: Index) -> Enclosure:
        return exact.image(packed_lines(self.matrix[:, index].tocsc()), x, self.shape[0])

    def sharp_adjoint(self, r: Enclosure, index: Index) -> Enclosure:
        return exact.dots(packed_lines(self.matrix[:, index].tocsc()), r)

    def survey(self, r: Enclosure) -> exact.Survey:
        """Return `A' r` and upper bounds of the lengths of the columns, in one pass over the entries of now."""
        m = self.matrix
        places = np.ascontiguousarray(m.indices, dtype=np.int32)
        starts = np.ascontiguousarray(m.indptr, dtype=np.int64)
        lines = exact.Lines(np.ascontiguousarray(m.data), places, starts, 0)
        return exact.survey(lines, r, self.shape[1], by_rows=m.format == "csr")

    def norm_bounds(self, weights: Array, index: Index | None = None) -> Array:
        if index is not None:
            return SparseDesign(self.matrix[:, index]).norm_bounds(weights)
        with quiet():
            squares = self._weighted_squares(weights)
            floor = 4 * self.shape[0] * LEAST * max(1.0, float(weights.max()))
            return root(up(squares * (1 + gamma(self._counts() + 4)) + floor))

    def _weighted_squares(self, weights: Array) -> Array:
        """Return `sum_i w_i A_ij^2` for each column j, from the entries as they are now."""
        m = self.matrix
        if m.format == "csc" and weights.min() == weights.max():  # the rows do not matter
            return squares(np.ascontiguousarray(m.data), m.indptr[1:].astype(np.int64)) * float(weights[0])
        return exact.squared_lengths(packed_lines(m), weights, np.zeros(self.shape[1]), by_rows=m.format == "csr")

    def parts(self) -> Iterator[Array]:
        yield from (self.matrix.data, self.matrix.indices, self.matrix.indptr)

    def rows_as_bytes(self) -> Iterator[bytes | memoryview]:
        yield f"{self.shape}".encode()
        by_rows = self.matrix.tocsr()
        if not (by_rows.has_sorted_indices and by_rows.data.all()):
            by_rows = by_rows.copy()
            by_rows.eliminate_zeros()
            by_rows.sort_indices()
        starts, counts = by_rows.indptr, np.diff(by_rows.indptr)
        for rows in blocks_of_rows(self.shape):
            part = slice(starts[rows.start], starts[min(rows.stop, self.shape[0])])
            yield from as_bytes(counts[rows], by_rows.indices[part], by_rows.data[part])

    def _counts(self) -> Array:
        """Return the number of stored entries of each column."""
        by_columns = self.matrix.format == "csc"
        counts = (
            np.diff(self.matrix.indptr) if by_columns else np.bincount(self.matrix.indices, minlength=self.shape[1])
        )
        return counts.astype(np.float64)

    def is_finite(self) -> bool:
        """Return whether every stored entry is finite; entries are checked one by one only if a sum overflows."""
        if self.matrix.nnz < self.shape[1]:  # the sums would be more numbers than the entries
            return bool(np.isfinite(self.matrix.data).all())
        return math.isfinite(self._squares.max()) or bool(np.isfinite(self.matrix.data).all())

    def _block(self, index: Columns) -> Any:
        if isinstance(index, slice) and index == ALL:
            return self.matrix
        if self.matrix.format == "csc" or not isinstance(index, slice):
            return self.matrix[:, index]

        def sliced() -> Any:
            return self.matrix[:, index].tocsc()

        return self._recent.get(index, sliced)


def packed_lines(matrix: Any) -> Packed:
    """Return the columns of a CSC matrix, or the rows of a CSR matrix, as they are now."""
    starts = matrix.indptr.astype(np.int64)
    places = np.ascontiguousarray(matrix.indices, dtype=np.int32)
    return Packed(np.ascontiguousarray(matrix.data), places, starts[:-1], starts[:-1], np.diff(starts))


def scaled_rows(matrix: Any, factors: Samples) -> Any:
    """Return a CSC matrix with each row multiplied by its factor."""
    return type(matrix)((matrix.data * factors[matrix.indices], matrix.indices, matrix.indptr), shape=matrix.shape)
