"""Gauges of a matrix x by its singular values or eigenvalues: solutions have a low rank.

The entries are one block. Such a gauge is the same in all orthonormal bases: `U S V'` is as large as its core S. So a
solver works on a core, the part of x between two subspaces (methods/corrective/cores.py).
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, svds

from atomsieve.design import ALL
from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges.base import Atom, BlockGauge
from atomsieve.gauges.proximal import Face, Line, ProximalGauge
from atomsieve.numerics.enclosures import Enclosure, norm
from atomsieve.numerics.krylov import Beyond
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask

WHOLE = 400
"""Rows or columns, whichever are fewer, up to which all singular values are computed where a few are asked for."""

RESTARTS = 20
"""Restarts of Lanczos' method after which they are computed anyway; a restart takes about twenty products."""


class Triplets(NamedTuple):
    """Matrices `left diag(values) right'`; values are in falling order."""

    left: Array
    values: Array
    right: Array

    @classmethod
    def nothing(cls, form: tuple[int, int]) -> "Triplets":
        """Return the matrix 0 of a form."""
        return cls(np.zeros((form[0], 0)), np.zeros(0), np.zeros((form[1], 0)))

    @property
    def whole(self) -> Array:
        """The matrix."""
        return np.asarray((self.left * self.values) @ self.right.T)

    def times(self, factor: float) -> "Triplets":
        """Return the matrix times a positive number."""
        return Triplets(self.left, factor * self.values, self.right)

    def towards(self, other: "Triplets", part: float) -> "Triplets":
        """Return the matrix on the way to another one, without forming either."""
        left, first = np.linalg.qr(np.hstack([self.left, other.left]))
        right, second = np.linalg.qr(np.hstack([self.right, other.right]))
        weights = np.concatenate([(1 - part) * self.values, part * other.values])
        found = decomposed((first * weights) @ second.T)
        rank = int(np.count_nonzero(found.values > 4 * EPS * found.values.max(initial=0.0)))
        return Triplets(left @ found.left[:, :rank], found.values[:rank], right @ found.right[:, :rank])


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
    def rank_bound(self, z: Enclosure, least: float) -> int:
        """Return a number that bounds, for every enclosed z, how many of its values are not below `least`."""

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

    def rank_bound(self, z: Enclosure, least: float) -> int:
        """Return a bound of the number of values that are not below a number; see `MatrixGauge`."""
        return self.gauge.rank_bound(self.seen_within(z), least)

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


def decomposed(matrix: Array, count: int | None = None) -> Triplets:
    """Return the singular triplets of a matrix, or so many of the largest."""
    rows, columns = matrix.shape
    if not np.isfinite(matrix).all():  # far away from the optimum, where losses overflow
        nothing = np.full(1, np.nan)
        return Triplets(np.zeros((rows, 1)), nothing, np.zeros((columns, 1)))
    if not matrix.any():
        count = min(rows, columns) if count is None else count
        return Triplets(np.eye(rows, count), np.zeros(count), np.eye(columns, count))
    if count is None or min(rows, columns) <= max(WHOLE, 3 * count):
        left, values, right = np.linalg.svd(matrix, full_matrices=False)
        return Triplets(left[:, :count], values[:count], right.T[:, :count])
    start = np.random.default_rng(0).normal(size=min(rows, columns))
    try:
        left, values, right = svds(matrix, k=count, v0=start, maxiter=RESTARTS)
    except ArpackNoConvergence:  # many values next to each other, as at an optimum
        if count == 1:
            return top_pair(matrix, np.inf)
        left, values, right = np.linalg.svd(matrix, full_matrices=False)
    order = np.argsort(-values)[:count]
    return Triplets(left[:, order], np.asarray(values[order], dtype=np.float64), right[order].T)


def top_pair(matrix: Array, whole: float = WHOLE) -> Triplets:
    """Return the largest singular value and its vectors, by the Gram matrix of a smaller side up to so many entries."""
    rows, columns = matrix.shape
    largest = float(np.abs(matrix).max(initial=0.0))
    if not 0 < largest < np.inf or min(rows, columns) > whole:
        return decomposed(matrix, 1)
    scaled = matrix / largest
    tall = scaled if rows >= columns else scaled.T
    vector = linalg.eigh(tall.T @ tall, subset_by_index=[tall.shape[1] - 1] * 2)[1]
    other = tall @ vector
    size = float(np.linalg.norm(other))
    other /= size
    left, right = (other, vector) if rows >= columns else (vector, other)
    return Triplets(left, np.array([largest * size]), right)


def singular_values(matrix: Array) -> Array:
    """Return all singular values of a matrix, in falling order; NaN where it is not finite."""
    if not np.isfinite(matrix).all():
        return np.full(1, np.nan)
    return np.asarray(np.linalg.svd(matrix, compute_uv=False))
