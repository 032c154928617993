"""Dense designs: NumPy arrays; float64 in any layout that BLAS takes is used as it is."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from atomsieve.checks import as_floats
from atomsieve.design.base import ALL, Recent, Rows
from atomsieve.typing import Array, Mask, Samples

CHUNK = 1 << 20
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
        return self.matrix[:, rows]

    def select(self, rows: Rows) -> "DenseDesign":
        return DenseDesign(self.matrix[:, rows])

    def samples(self, chosen: Mask) -> "DenseDesign":
        return DenseDesign(self.matrix[chosen])

    def largest(self) -> float:
        return max(float(self.matrix.max()), -float(self.matrix.min()))

    def squared_norms(self, weights: Samples, scale: float) -> Array:
        n, d = self.shape
        norms = np.zeros(d)
        for start in range(0, n, max(1, CHUNK // d)):
            block = self.matrix[start : start + max(1, CHUNK // d)] / scale
            norms += (block * block).T @ weights[start : start + len(block)]
        return norms

    def is_finite(self) -> bool:
        """Return whether every entry is finite; the sum tells, unless it overflows."""
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(self.matrix.sum())) or bool(np.isfinite(self.matrix).all())
