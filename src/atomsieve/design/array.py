"""Designs on any device: an array of another library (PyTorch, CuPy, JAX, any of the array API standard) as it is.

x goes there and `A' r` comes back; predictions and theta never leave. Numbers that are not doubles stay as they are,
and a product widens a block of rows at a time: sums are in double precision, and X is never there twice.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import array_api_compat
import numpy as np

from atomsieve.design.base import ALL, Columns
from atomsieve.design.chunked import ChunkedDesign, HeldRows
from atomsieve.design.device import DeviceDesign, kernels_for
from atomsieve.intake.whole import WHOLE, require_held
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.namespace import array_namespace, like, on_host, places_in
from atomsieve.typing import Array, Index, Mask, Samples

WIDENED = 1 << 22
"""Number of entries that are widened to doubles at a time."""


@dataclass(frozen=True, eq=False)
class ArrayDesign:
    """A as an array of its own library, on its own device."""

    matrix: Samples

    @classmethod
    def of(cls, X: Any, name: str) -> "ArrayDesign":
        """Use X as it is; refuse arrays that products cannot be computed with."""
        xp = namespace_of(X, name)
        if not xp.isdtype(X.dtype, ("real floating", "integral", "bool")):
            raise ValueError(f"{name} must hold real numbers, got dtype {X.dtype}.")
        if getattr(X, "requires_grad", False):
            X = X.detach()
        if xp.isdtype(X.dtype, "integral") and max(int(xp.max(X)), -int(xp.min(X))) > WHOLE:
            require_held(on_host(X), name)
        return cls(X)

    @property
    def _xp(self) -> Any:
        return array_namespace(self.matrix)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])

    @property
    def density(self) -> float:
        return 1.0

    @cached_property
    def hosted(self) -> ChunkedDesign:
        """The same matrix for proofs: bounds are made on a GPU that has kernels, or the host reads rows in turn."""
        return ChunkedDesign(HeldRows(self.matrix)) if self.kernels is None else DeviceDesign.over(self.matrix)

    @cached_property
    def kernels(self) -> Any:
        """The kernels that read the matrix at the speed of its memory; None where there are none."""
        return kernels_for(self.matrix)

    def _chosen(self, index: Columns) -> Samples:
        """Return columns in the type in which they are held."""
        if isinstance(index, slice):
            first, last, _ = index.indices(self.shape[1])
            return self.matrix if index == ALL else self.matrix[:, first:last]
        return self._xp.take(self.matrix, places_in(index, self.matrix), axis=1)

    def _blocks(self, matrix: Samples) -> Iterator[tuple[slice, Samples]]:
        """Yield rows of a matrix as doubles, with their positions; a matrix of doubles is one block."""
        xp = self._xp
        n, d = matrix.shape
        if matrix.dtype == xp.float64:
            yield ALL, matrix
            return
        height = max(1, WIDENED // max(1, d))
        for start in range(0, n, height):
            rows = slice(start, min(start + height, n))
            yield rows, xp.astype(matrix[rows, :], xp.float64)

    def matvec(self, x: Array, index: Columns = ALL) -> Samples:
        moved = like(x, self.matrix)
        if self.kernels is not None and x.ndim == 1:
            return self.kernels.image(self._chosen(index), moved)[0]
        parts = [block @ moved for _, block in self._blocks(self._chosen(index))]
        return parts[0] if len(parts) == 1 else self._xp.concat(parts, axis=0)

    def rmatvec(self, r: Samples) -> Array:
        if self.kernels is not None and r.ndim == 1:
            return on_host(self.kernels.of_columns(self.matrix, r).products)
        xp = self._xp
        parts = (xp.matrix_transpose(block) @ r[rows, ...] for rows, block in self._blocks(self.matrix))
        total = next(parts)
        for part in parts:
            total = total + part
        return on_host(total)

    def products(self, vectors: Sequence[Samples]) -> Array:
        if self.kernels is not None:
            return np.stack([self.rmatvec(r) for r in vectors])
        return np.ascontiguousarray(self.rmatvec(self._xp.stack(list(vectors), axis=1)).T)

    def columns(self, index: Columns) -> Samples:
        xp, chosen = self._xp, self._chosen(index)
        return chosen if chosen.dtype == xp.float64 else xp.astype(chosen, xp.float64)

    def select(self, index: Columns) -> "ArrayDesign":
        return ArrayDesign(self._chosen(index))

    def gram(
        self, weights: Samples, index: Columns, others: Columns, unit: float, basis: Samples | None = None
    ) -> Array:
        right = self.columns(others)
        return array_gram(right if index is others else self.columns(index), weights, right, unit, basis)

    def packed(self, index: Index) -> NoReturn:
        raise TypeError("The columns of this design stay where they are.")  # pragma: no cover

    def samples(self, chosen: Mask) -> "ArrayDesign":
        return ArrayDesign(self._xp.take(self.matrix, places_in(np.flatnonzero(chosen), self.matrix), axis=0))

    def largest(self) -> float:
        xp = self._xp
        return max(float(xp.max(xp.abs(block))) for _, block in self._blocks(self.matrix))

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        if self.kernels is not None and scale == 1:
            least, most = float(self._xp.min(weights)), float(self._xp.max(weights))
            if least == most:
                return least * self._squares
            return on_host(self.kernels.of_columns(self.matrix, squares=True, weights=weights).squares)
        total = np.zeros(self.shape[1])
        height = max(1, WIDENED // self.shape[1])
        for start in range(0, self.shape[0], height):
            rows = slice(start, min(start + height, self.shape[0]))
            part = self._xp.astype(self.matrix[rows, :], self._xp.float64) / scale
            total = total + on_host(weights[rows] @ (part * part))
        return total

    @cached_property
    def _squares(self) -> Array:
        """The sum of the squares of each column, by the kernels."""
        return on_host(self.kernels.of_columns(self.matrix, squares=True).squares)

    def is_finite(self) -> bool:
        """Return whether every entry is finite."""
        if self.kernels is not None and np.isfinite(self._squares).all():
            return True  # squares of doubles may be too large, and then it is not sure yet
        xp = self._xp
        return all(bool(xp.all(xp.isfinite(block))) for _, block in self._blocks(self.matrix))


def array_gram(left: Samples, weights: Samples, right: Samples, unit: float, basis: Samples | None) -> Array:
    """Return `left' diag(weights) right / unit^2` on the host, modulo a basis, for arrays of any library."""
    xp: Any = array_namespace(right)
    if float(xp.min(weights)) < 0:  # weights between different outputs of a loss
        return on_host(xp.matrix_transpose(left / unit) @ ((weights / unit)[:, None] * right))
    root = xp.sqrt(weights)[:, None] / unit
    scaled = root * right
    if basis is not None:
        rooted = xp.linalg.qr(unit * root * basis)[0]
        for _ in range(2):  # a second time, for columns that lie nearly in the span of the basis
            scaled = scaled - rooted @ (xp.matrix_transpose(rooted) @ scaled)
    return on_host(
        xp.matrix_transpose(scaled if left is right else left) @ (scaled if left is right else root * scaled)
    )


def namespace_of(X: Any, name: str) -> Any:
    """Return the namespace of an array of another library; refuse one that cannot compute in double precision."""
    kind = f"{type(X).__module__.partition('.')[0]} {type(X).__name__}"
    if array_api_compat.is_pydata_sparse_array(X) or getattr(X, "is_sparse", False) or _compressed(X):
        raise TypeError(f"{name} is a sparse {kind}: pass it as a SciPy sparse matrix, which is solved as it is.")
    xp: Any = array_namespace(X)
    try:
        with warnings.catch_warnings(action="ignore"):  # JAX warns and goes on in single precision
            doubles = xp.zeros(1, dtype=xp.float64, device=array_api_compat.device(X)).dtype == xp.float64
    except (TypeError, RuntimeError, ValueError):
        doubles = False
    if not doubles:
        raise TypeError(
            f"{name} is a {kind} on {array_api_compat.device(X)}, which computes in single precision only, and gaps "
            "and proofs need doubles. For JAX, set jax_enable_x64 to True; otherwise pass a NumPy array."
        )
    return xp


def _compressed(X: Any) -> bool:
    """Return whether a tensor is stored in another layout than entry by entry."""
    return "strided" not in str(getattr(X, "layout", "strided")) and array_api_compat.is_torch_array(X)
