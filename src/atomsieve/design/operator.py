"""A matrix that is known by its products alone: a linear operator of SciPy.

Columns are products with unit vectors, some at a time. How products round is not known, so there are no bounds of them,
and no proofs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import aslinearoperator

from atomsieve.core import Packed
from atomsieve.design.base import ALL, Columns
from atomsieve.design.dense import DenseDesign, dense_gram
from atomsieve.design.files import spans
from atomsieve.intake.arguments import in_doubles
from atomsieve.numerics.cached import cached_property
from atomsieve.typing import Array, Index, Mask, Samples

TOGETHER = 1 << 22
"""Entries of the unit vectors, or of their images, that are held at a time: 32 megabytes."""

UNPROVABLE = (
    "X is a linear operator, and how its products round is not known: its entries, as an array or a sparse matrix, "
    "would make a proof"
)


@dataclass(frozen=True, eq=False)
class OperatorDesign:
    """A as an operator; rows of weight 0 are left out."""

    operator: Any
    kept: Mask | None = None

    @classmethod
    def of(cls, X: Any, name: str) -> "OperatorDesign":
        """Use an operator as it is; refuse one of complex numbers, one that is empty, and one without adjoint."""
        operator = aslinearoperator(X)
        if operator.dtype is not None and np.dtype(operator.dtype).kind not in "fiub":
            raise ValueError(f"{name} must hold real numbers, got dtype {operator.dtype}.")
        if 0 in operator.shape:
            raise ValueError(f"{name} is empty: its shape is {tuple(operator.shape)}.")
        try:
            answer = operator.rmatvec(np.zeros(operator.shape[0]))
        except (NotImplementedError, TypeError) as error:
            raise TypeError(f"{name} has no products with its adjoint: give it a method rmatvec.") from error
        if np.shape(answer) != (operator.shape[1],):
            raise ValueError(f"{name} has a method rmatvec that returns shape {np.shape(answer)}.")
        if not np.isfinite(answer).all():  # 0 times what is not finite; other products are checked as they come
            raise ValueError(f"{name} contains NaN or infinite values.")
        return cls(operator)

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.operator.shape
        return int(n) if self.kept is None else int(np.count_nonzero(self.kept)), int(d)

    @property
    def density(self) -> float:
        return 1.0

    def _image(self, x: Array) -> Array:
        """Return the product with a vector or a matrix."""
        found: Array = self.operator.matvec(x) if x.ndim == 1 else self.operator.matmat(x)
        found = in_doubles(np.asarray(found), "X")
        return found if self.kept is None else found[self.kept]

    def _adjoint(self, r: Array) -> Array:
        if self.kept is not None:
            whole = np.zeros((self.operator.shape[0], *r.shape[1:]))
            whole[self.kept] = r
            r = whole
        found: Array = self.operator.rmatvec(r) if r.ndim == 1 else self.operator.rmatmat(r)
        return in_doubles(np.asarray(found), "X")

    def matvec(self, x: Array, index: Columns = ALL) -> Samples:
        x = np.asarray(x, dtype=np.float64)
        if not x.any():
            return np.zeros((self.shape[0], *x.shape[1:]))
        whole = np.zeros((self.shape[1], *x.shape[1:]))
        whole[index] = x
        return self._image(whole)

    def rmatvec(self, r: Samples) -> Array:
        return self._adjoint(np.asarray(r, dtype=np.float64))

    def products(self, vectors: Sequence[Samples]) -> Array:
        return np.ascontiguousarray(self.rmatvec(np.stack(vectors, axis=1)).T)

    def columns(self, index: Columns) -> Samples:
        n, d = self.shape
        places = np.arange(d)[index]
        found = np.empty((len(places), n))
        for some in spans(len(places), TOGETHER // max(n, d)):
            units = np.zeros((d, some.stop - some.start))
            units[places[some], np.arange(units.shape[1])] = 1.0
            found[some] = self._image(units).T
        return found.T

    def select(self, index: Columns) -> DenseDesign:
        return DenseDesign(self.columns(index))

    def gram(
        self, weights: Samples, index: Columns, others: Columns, unit: float, basis: Samples | None = None
    ) -> Array:
        right = self.columns(others)
        return dense_gram(right if index is others else self.columns(index), weights, right, unit, basis)

    def packed(self, index: Index) -> Packed:
        return Packed.of(self.columns(index))

    def samples(self, chosen: Mask) -> "OperatorDesign":
        kept = chosen
        if self.kept is not None:
            kept = self.kept.copy()
            kept[self.kept] = chosen
        return OperatorDesign(self.operator, kept)

    def _blocks(self) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield all entries: some rows, or some columns, whichever are fewer."""
        n, d = self.shape
        if d <= n:
            for some in spans(d, TOGETHER // n):
                yield ALL, self.columns(some)
            return
        for some in spans(n, TOGETHER // d):
            units = np.zeros((n, some.stop - some.start))
            units[np.arange(some.start, some.stop), np.arange(units.shape[1])] = 1.0
            yield some, self._adjoint(units).T

    def largest(self) -> float:
        return max(float(np.abs(block).max()) for _, block in self._blocks())

    @cached_property
    def _squares(self) -> Array:
        return self._weighted(np.ones(self.shape[0]), 1.0)

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        if scale == 1 and weights.min() == weights.max():
            return float(weights[0]) * self._squares
        return self._weighted(weights, scale)

    def _weighted(self, weights: Array, scale: float) -> Array:
        """Return sums of squares, from all entries: as many products as there are rows, or columns."""
        parts = [weights[rows] @ (block / scale) ** 2 for rows, block in self._blocks()]
        found = np.concatenate(parts) if self.shape[1] <= self.shape[0] else np.sum(parts, axis=0)
        if not np.isfinite(found).all():
            raise ValueError("X contains NaN or infinite values, or numbers whose squares overflow.")
        return np.asarray(found)


def is_operator(X: Any) -> bool:
    """Return whether X is known by its products alone."""
    return callable(getattr(X, "matvec", None)) and not hasattr(X, "__array__")
