"""The Euclidean norm: every unit vector is an atom."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from atomsieve.design import ALL
from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges.base import Atom, BlockGauge
from atomsieve.typing import Array, Index


def euclidean(x: Array) -> float:
    """Return the l2 norm of all entries, without intermediate overflow or underflow (BLAS nrm2)."""
    return float(linalg.norm(x.ravel(), check_finite=False))


@dataclass(frozen=True, eq=False, repr=False)
class L2(BlockGauge):
    """Euclidean norm, `kappa(x) = norm2(x)` (Frobenius for a matrix): one block, nothing to screen.

    >>> import numpy as np
    >>> L2().value(np.array([3.0, -4.0]))
    5.0
    """

    def nonnegative(self, rows: int) -> BlockGauge:
        from atomsieve.gauges.sparse_group import SparseGroup  # noqa: PLC0415 -- one group

        return SparseGroup(np.zeros(rows, dtype=int), 0.0, "equal").nonnegative(rows)

    def check(self, shape: tuple[int, ...]) -> None:
        pass

    def flat(self, shape: tuple[int, ...]) -> BlockGauge:
        return self

    def restrict(self, columns: Index) -> "L2":
        return self

    def labels(self, shape: tuple[int, ...]) -> Index:
        return np.zeros(shape, dtype=np.intp)

    def scores(self, z: Array) -> Array:
        return np.array([euclidean(z)])

    def sizes(self, x: Array) -> Array:
        return np.array([euclidean(x)])

    def prices(self, shape: tuple[int, ...]) -> Array:
        return np.ones(1)

    def atom(self, z: Array, block: int) -> Atom:
        norm = euclidean(z)
        return Atom(ALL, z / norm if norm > 0 else np.zeros_like(z), block)

    def spread(self, seminorm: Seminorm, outputs: int) -> Array:
        return np.array([seminorm.spectral_norm()])
