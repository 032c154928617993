"""Gauges of a matrix x by its singular values or eigenvalues: solutions have a low rank.

The entries are one block. Such a gauge is the same in all orthonormal bases: `U S V'` is as large as its core S. So a
solver works on a core, the part of x between two subspaces (methods/corrective/cores.py).
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from atomsieve.design import ALL
from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges.base import Atom, BlockGauge
from atomsieve.gauges.leading import Leading
from atomsieve.gauges.proximal import Face, Line, ProximalGauge
from atomsieve.gauges.triplets import Triplets
from atomsieve.numerics.enclosures import Enclosure, norm
from atomsieve.numerics.krylov import Beyond
from atomsieve.typing import Array, Index, Mask


class Near(NamedTuple):
    """A table Z as a matrix `x = U diag(s) V'` sees it: `U' Z V`, and the norms of `U' Z` and `Z V` beside that."""

    corner: Array
    beside: tuple[float, float]

    @classmethod
    def of(cls, table: Any, x: Triplets, *, symmetric: bool, even: float = 0.0) -> "Near":
        """Return what x sees of `Z - even x`, or of its symmetric part."""
        across, along = products(table, x.left, x.right, symmetric=symmetric)
        corner = x.left.T @ across
        beside = _length(across - x.left @ corner), _length(along - x.right @ corner.T)
        return cls(corner - even * np.diag(x.values), beside)

    def pull(self, x: Triplets) -> float:
        """Return `x . z`."""
        return float(np.diagonal(self.corner) @ x.values)


def products(table: Any, left: Array, right: Array, *, symmetric: bool) -> tuple[Array, Array]:
    """Return `Z V` and `Z' U`, or those of the symmetric part of Z, where U = V."""
    across, along = table @ right, table.T @ left
    both = (across + along) / 2 if symmetric else across
    return np.asarray(both), np.asarray(both if symmetric else along)


def _length(tall: Array) -> float:
    """Return the largest singular value of a matrix with few columns."""
    if not np.isfinite(tall).all():
        return math.nan
    return math.sqrt(max(float(np.linalg.eigvalsh(tall.T @ tall)[-1]), 0.0)) if tall.shape[1] else 0.0


class MatrixGauge(ProximalGauge):
    """A gauge of one block for an x with rows and columns; `RowByRow` is the same for x as a vector."""

    dense = True
    ranked = True
    symmetric: bool = False
    """Whether x is symmetric, and atoms see the symmetric part of z alone."""

    def drawn(self, z: Array) -> Array:
        """Return the part of z that atoms see."""
        return (z + z.T) / 2 if self.symmetric else z

    def check(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 2:
            raise ValueError(
                f"{type(self).__name__} measures a matrix, got an x of shape {shape}: give y several columns, or "
                "shape=(rows, columns) to the problem."
            )

    def flat(self, shape: tuple[int, ...]) -> BlockGauge:
        return RowByRow(self, (shape[0], shape[1]))

    def restrict(self, columns: Index) -> BlockGauge:
        return self

    def labels(self, shape: tuple[int, ...]) -> Index:
        return np.zeros(shape, dtype=np.intp)

    def blocks(self, columns: Index, shape: tuple[int, ...]) -> Index:
        return np.zeros(1, dtype=np.intp)

    def cored(self, form: tuple[int, int]) -> BlockGauge:
        return RowByRow(self, form)

    @abstractmethod
    def leading(self, z: Array, count: int) -> Triplets:
        """Return so many pairs of unit vectors, at most, with the largest `u' z v` that atoms have."""

    @abstractmethod
    def shrunk(self, v: Array, line: Line) -> Triplets:
        """Return the prox by its values, those that are not 0, and their vectors."""

    def prox(self, v: Array, line: Line) -> Array:
        return self.shrunk(v, line).whole

    @abstractmethod
    def highest(self, corner: Array) -> float:
        """Return the score of a core."""

    def score_near(self, near: Near, beyond: float) -> float:
        """Return a bound of the score of a table, from what x sees of it and from the largest value beyond.

        The norm of a matrix is at most that of the norms of its four parts. Where x is a solution, the parts beside the
        corner are 0, and the bound is the score.
        """
        across, along = near.beside
        if not len(near.corner):
            return beyond
        parts = np.array([[self.highest(near.corner), along], [across, beyond]])
        if not np.isfinite(parts).all():
            return math.nan
        return float(np.linalg.eigvalsh(parts)[-1]) if self.symmetric else float(np.linalg.norm(parts, 2))

    def scores_at(self, table: Any, x: Triplets) -> Array:
        """Return the scores of a table near a matrix of low rank; see `score_near`."""
        beyond = Beyond(table, x.left, x.right, self.symmetric).highest()
        return np.array([self.score_near(Near.of(table, x, symmetric=self.symmetric), beyond)])

    @abstractmethod
    def leading_above(self, z: Enclosure, least: float) -> Leading | None:
        """Return subspaces beyond which all values of every enclosed z are below a number; None where there are none.

        No more of the values of z than these have dimensions are not below the number.
        """

    def growth(self, x: Array, there: Array) -> float:
        return self.value(there) - self.value(x)

    def spread(self, seminorm: Seminorm, outputs: int) -> Array:
        return self.spread_bounds(np.repeat(seminorm.column_norms()[:, None], outputs, axis=1))

    def spread_bounds(self, norms: Array) -> Array:
        # |A p| is at most sum_ij |p_ij| |A_ij|, and the Frobenius norm of an atom p is 1
        return np.array([norm(norms.ravel())])

    def nonnegative(self, rows: int) -> BlockGauge | None:
        return None  # signs matter together


@dataclass(frozen=True, eq=False, repr=False)
class RowByRow(ProximalGauge):
    """A gauge of matrices of a form, for vectors that hold their entries row by row."""

    gauge: MatrixGauge
    form: tuple[int, int]

    dense = True
    ranked = True

    def seen(self, x: Array) -> Array:
        """Return a vector as a matrix."""
        return x.reshape(self.form)

    def seen_within(self, z: Enclosure) -> Enclosure:
        """Return an enclosed vector as a matrix."""
        return Enclosure(self.seen(z.mid), self.seen(np.broadcast_to(z.rad, z.mid.shape)))

    def check(self, shape: tuple[int, ...]) -> None:
        self.gauge.check(self.form)

    def flat(self, shape: tuple[int, ...]) -> BlockGauge:
        return self

    def restrict(self, columns: Index) -> BlockGauge:
        raise TypeError(f"{type(self.gauge).__name__} measures whole matrices: no entries of x can be left out.")

    def cored(self, form: tuple[int, int]) -> BlockGauge:
        return RowByRow(self.gauge, form)

    def labels(self, shape: tuple[int, ...]) -> Index:
        return np.zeros(shape, dtype=np.intp)

    def blocks(self, columns: Index, shape: tuple[int, ...]) -> Index:
        return np.zeros(1, dtype=np.intp)

    def eligible(self, shape: tuple[int, ...]) -> Mask:
        return np.ones(1, dtype=bool)

    def keep(self, x: Array, alive: Mask) -> Array:
        return x if alive[0] else np.zeros_like(x)

    def scores(self, z: Array) -> Array:
        return self.gauge.scores(self.seen(z))

    def scores_at(self, table: Any, x: Triplets) -> Array:
        """Return the scores of a table near a matrix of low rank; see `MatrixGauge`."""
        return self.gauge.scores_at(table, x)

    def atom(self, z: Array, block: int) -> Atom:
        return Atom(ALL, self.gauge.atom(self.seen(z), block).toarray(self.form).ravel(), block)

    def sizes(self, x: Array | Triplets) -> Array:
        return np.array([x.values.sum()]) if isinstance(x, Triplets) else self.gauge.sizes(self.seen(x))

    def prox(self, v: Array, line: Line) -> Array:
        return self.gauge.prox(self.seen(v), line).reshape(v.shape)

    def face(self, x: Array) -> Face:
        return self.gauge.face(self.seen(x))

    def growth(self, x: Array, there: Array) -> float:
        return self.gauge.growth(self.seen(x), self.seen(there))

    def leading(self, z: Array, count: int) -> Triplets:
        """Return pairs of vectors with the best scores; see `MatrixGauge`."""
        return self.gauge.leading(self.seen(z), count)

    def leading_above(self, z: Enclosure, least: float) -> Leading | None:
        return self.gauge.leading_above(self.seen_within(z), least)

    def settled(self, x: Array) -> Array:
        return self.gauge.settled(self.seen(x)).reshape(x.shape)

    def enclose_sizes(self, x: Array) -> Enclosure:
        return self.gauge.enclose_sizes(self.seen(x))

    def enclose_scores(self, z: Enclosure) -> Enclosure:
        return self.gauge.enclose_scores(self.seen_within(z))

    def spread(self, seminorm: Seminorm, outputs: int) -> Array:
        return self.spread_bounds(seminorm.column_norms())

    def spread_bounds(self, norms: Array) -> Array:
        return self.gauge.spread_bounds(norms)

    def nonnegative(self, rows: int) -> BlockGauge | None:
        return None  # signs matter together
