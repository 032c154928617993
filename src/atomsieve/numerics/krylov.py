"""The largest singular values of what a matrix does outside of two subspaces, by its products alone.

`(I - U U') Z (I - V V')` is never formed, so Z may be sparse while U and V hold a matrix of low rank. For symmetric
matrices these are eigenvalues, and U = V.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, svds

from atomsieve.typing import Array, Index

NEW = 1e-12
"""Part of a column of length 1 that must be new, or it is nearly in the span of others."""

STEPS = 3
"""Times that a block is multiplied by the matrix and its transpose to find directions that help; any do."""

MOST = 400
"""Rows or columns, whichever are fewer, up to which the largest value is computed from the matrix itself."""

EXACTLY = 1e-10
"""Part of the largest value to which it is found where it is asked for alone."""


class Pairs(NamedTuple):
    """Unit vectors u and v with falling values `u' M v`."""

    left: Array
    values: Array
    right: Array

    def at(self, chosen: Any) -> "Pairs":
        """Return some of the pairs."""
        return Pairs(self.left[:, chosen], self.values[chosen], self.right[:, chosen])


@dataclass(frozen=True, eq=False)
class Beyond:
    """The matrix `(I - U U') Z (I - V V')`, or that of the symmetric part of Z."""

    table: Any
    left: Array
    right: Array
    symmetric: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.left), len(self.right)

    def times(self, block: Array) -> Array:
        """Return the product with some columns."""
        block = less(block, self.right)
        product = self.table @ block
        return less((product + self.table.T @ block) / 2 if self.symmetric else product, self.left)

    def adjoint(self, block: Array) -> Array:
        """Return the product of the transpose with some columns."""
        return self.times(block) if self.symmetric else less(self.table.T @ less(block, self.left), self.right)

    def whole(self) -> Array:
        """Return the matrix itself."""
        dense = as_dense(self.table)
        if self.symmetric:
            dense = (dense + dense.T) / 2
        return less(less(dense, self.left).T, self.right).T

    def leading(self, count: int, start: Array) -> Pairs:
        """Return so many pairs with large values, at most: the best ones in the Krylov space of a block of columns.

        They are the largest of all where that space, or the matrix, is small.
        """
        inside = min(self.shape) - self.left.shape[1]
        if start.shape[1] * (STEPS + 1) >= inside:
            return self._decomposed(max(min(count, inside), 0))
        basis = orthonormal(start, self.right)
        block = basis
        for _ in range(STEPS):
            block = orthonormal(self.adjoint(self.times(block)), self.right, basis)
            basis = np.hstack([basis, block])
        image = self.times(basis)
        if self.symmetric:
            values, vectors = np.linalg.eigh(basis.T @ image)
            turned = basis @ vectors[:, ::-1][:, :count]
            return Pairs(turned, values[::-1][:count], turned)
        left, values, turns = np.linalg.svd(image, full_matrices=False)
        return Pairs(left[:, :count], values[:count], basis @ turns[:count].T)

    def _decomposed(self, count: int) -> Pairs:
        if self.symmetric:
            values, vectors = np.linalg.eigh(self.whole())
            order = _without(self.left, vectors, values, count)
            return Pairs(vectors[:, order], values[order], vectors[:, order])
        left, values, right = np.linalg.svd(self.whole(), full_matrices=False)
        return Pairs(left[:, :count], values[:count], right[:count].T)

    def highest(self) -> float:
        """Return the largest value, at least 0, to nearly all digits."""
        sizes = getattr(self.table, "data", 0.0) if issparse(self.table) else self.table
        size = float(np.abs(sizes).max(initial=0.0))
        if size == 0 or not np.isfinite(size):
            return size
        if min(self.shape) <= MOST:
            whole = self.whole() / size
            tall = whole if len(whole) >= whole.shape[1] else whole.T
            values = np.linalg.eigvalsh(whole if self.symmetric else tall.T @ tall)
            top = max(float(values[-1]), 0.0)
            return size * (top if self.symmetric else float(np.sqrt(top)))
        start = np.random.default_rng(0).normal(size=min(self.shape))
        operator = LinearOperator(self.shape, matvec=self.times, rmatvec=self.adjoint, dtype=np.float64)
        try:
            found: Any
            if self.symmetric:
                found = eigsh(operator, k=1, which="LA", v0=start, tol=EXACTLY, return_eigenvectors=False)
            else:
                found = svds(operator, k=1, v0=start, tol=EXACTLY, return_singular_vectors=False)
        except ArpackError:  # of a matrix that is nothing but rounding
            return float(max(self.leading(4, np.random.default_rng(1).normal(size=(self.shape[1], 8))).values[0], 0.0))
        return max(float(found[0]), 0.0)


def as_dense(table: Any) -> Array:
    """Return a sparse or dense matrix as an array."""
    return np.asarray(table.toarray() if hasattr(table, "toarray") else table)


def _without(left: Array, vectors: Array, values: Array, count: int) -> Index:
    """Return the places of the largest eigenvalues whose vectors are not in the subspace that is left out."""
    outside = np.linalg.norm(less(vectors, left), axis=0) > 1 / 2
    places = np.flatnonzero(outside)
    return places[np.argsort(-values[places])][:count]


def less(block: Array, basis: Array) -> Array:
    """Return columns without their part in the span of an orthonormal basis."""
    return block - basis @ (basis.T @ block) if basis.shape[1] else block


def orthonormal(columns: Array, *others: Array) -> Array:
    """Return an orthonormal basis of columns outside of orthonormal others; what is nearly in their span is not."""
    lengths = np.linalg.norm(columns, axis=0)
    columns = columns[:, lengths > 0] / lengths[lengths > 0]
    for _ in range(2):  # twice is enough
        for other in others:
            columns = less(columns, other)
        left, values, _ = np.linalg.svd(columns, full_matrices=False)
        columns = left[:, values > NEW]
    return columns
