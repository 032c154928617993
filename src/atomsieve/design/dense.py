"""Dense designs: NumPy arrays; float64 in any layout that BLAS takes is used as it is."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from atomsieve.checks import as_floats
from atomsieve.design.base import ALL, Recent, Rows
from atomsieve.typing import Array, Mask, Samples

CHUNK = 1 << 16
"""Entries of A that a temporary may hold."""


@dataclass(frozen=True, eq=False)
class DenseDesign:
    """A as a float64 array; single columns of arrays stored by rows are remembered, an eighth of them at most."""

    matrix: Array

    @cached_property
    def _recent(self) -> Recent:
        return Recent(max(64 * len(self.matrix), self.matrix.size // 8))

    @classmethod
    def of(cls, X: Any, name: str) -> "DenseDesign":
        """Take X as it is where BLAS can read it; convert other types and layouts once."""
        matrix = as_floats(X, name)
        readable = any(
            stride == matrix.itemsize and other >= 0 for stride, other in (matrix.strides, matrix.strides[::-1])
        )
        return cls(matrix if readable or not matrix.size else np.ascontiguousarray(matrix))

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape[0], self.matrix.shape[1]

    def matvec(self, x: Array, rows: Rows = ALL) -> Samples:
        by_rows = self.matrix.strides[0] > self.matrix.itemsize
        if by_rows and len(x) == 1 and isinstance(rows, slice) and rows != ALL:
            column = self._recent.get(rows, lambda: np.ascontiguousarray(self.matrix[:, rows]))
            return column[:, 0] * x[0] if x.ndim == 1 else column * x
        return self.matrix[:, rows] @ x

    def rmatvec(self, r: Samples) -> Array:
        product: Array = self.matrix.T @ r
        return product

    def columns(self, rows: Rows) -> Samples:
        if isinstance(rows, slice):
            return self.matrix[:, rows]
        by_columns = self.matrix.strides[0] == self.matrix.itemsize
        return self.matrix.T[rows].T if by_columns else self.matrix.take(rows, axis=1)  # the fast way to copy them

    def select(self, rows: Rows) -> "DenseDesign":
        return DenseDesign(self.columns(rows))

    def gram(self, weights: Samples, rows: Rows, others: Rows, unit: float, basis: Samples | None = None) -> Array:
        right = self.columns(others)
        return dense_gram(right if rows is others else self.columns(rows), weights, right, unit, basis)

    def samples(self, chosen: Mask) -> "DenseDesign":
        return DenseDesign(self.matrix[chosen])

    def largest(self) -> float:
        return max(float(self.matrix.max()), -float(self.matrix.min()))

    @cached_property
    def _squares(self) -> Array:
        """Sums of squares of the columns, in one read of the matrix."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(np.einsum("ij,ij->j", self.matrix, self.matrix))

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        if scale == 1.0 and weights.min() == weights.max():
            return float(weights[0]) * self._squares
        n, d = self.shape
        norms = np.zeros(d)
        for start in range(0, n, max(1, CHUNK // d)):
            block = self.matrix[start : start + max(1, CHUNK // d)] / scale
            norms += (block * block).T @ weights[start : start + len(block)]
        return norms

    def is_finite(self) -> bool:
        """Return whether every entry is finite; the sums of squares tell, unless they overflow."""
        return bool(np.isfinite(self._squares).all()) or bool(np.isfinite(self.matrix).all())


def dense_gram(left: Array, weights: Array, right: Array, unit: float, basis: Array | None) -> Array:
    """Return `left' diag(weights) right / unit^2` modulo a basis; BLAS does half the work where both are the same."""
    least, largest = weights.min(), weights.max()
    if least < 0:  # between different outputs of a loss
        return (left / unit).T @ ((weights / unit)[:, None] * right)
    if least == largest and basis is None and 1e-50 < unit < 1e50:
        return float(least) / unit / unit * (left.T @ right)
    root = np.sqrt(weights)[:, None] / unit
    scaled = root * right
    if basis is not None:
        rooted = np.linalg.qr(unit * root * basis)[0]
        for _ in range(2):  # once more for columns that are nearly along the basis
            scaled -= rooted @ (rooted.T @ scaled)
    return scaled.T @ scaled if left is right else left.T @ (root * scaled)
