"""Gram matrices of columns with weights, and proven upper bounds of quadratic forms of their inverses.

The inverse and the bounds of its error are computed by the compiled core (`core/inverse.h`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from atomsieve.certificate.frame import beside
from atomsieve.core import _core
from atomsieve.core.clock import look, remaining
from atomsieve.design.sparse import DENSE, scaled_rows
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import Enclosure, gamma, quiet, up
from atomsieve.typing import Array, Index

INVERSE_PIECE = 2_000_000_000
"""Multiplications between two looks at the clock."""

LARGEST_INVERSE = 4000
"""Largest number of columns for which an inverse is computed."""

ROWS_AT_ONCE = 1 << 14
"""Entries of the rows that a Gram matrix takes at a time, or as many as it has itself if these are more."""


class Products(NamedTuple):
    """`C' diag(w) C` for the middle of columns, and for their radii the diagonal alone; sums in any order."""

    gram: Array
    blurs: Array


class Rows(Protocol):
    """A matrix C with a weight for each row; the weights are exact floats."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and columns."""

    def products(self) -> Products:
        """Return the products of the columns."""

    def select(self, columns: Index) -> Self:
        """Return the same rows with fewer columns."""


class Readable(Rows, Protocol):
    """Rows of which the columns can be had too."""

    @property
    def weights(self) -> Array:
        """The weights of the rows."""

    @property
    def columns(self) -> Enclosure:
        """All columns."""


def products_of(pieces: Iterator[tuple[Enclosure, Array]], count: int) -> Products:
    """Return the products of columns from some rows and their weights after the other."""
    gram, blurs = np.zeros((count, count)), np.zeros(count)
    for columns, weights in pieces:
        look()
        roots = np.sqrt(weights)[:, None]
        half = columns.mid * roots
        gram += half.T @ half
        if columns.rad.any():
            wide = columns.rad * roots
            blurs += np.einsum("ij,ij->j", wide, wide)
    return Products(gram, blurs)


@dataclass(frozen=True, eq=False)
class Plain:
    """Columns that are at hand, and others before them; they stand side by side in a few rows at a time only."""

    own: Enclosure
    weights: Array
    before: Enclosure | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and columns."""
        return len(self.weights), self.own.shape[1] + self._first

    @property
    def _first(self) -> int:
        return 0 if self.before is None else self.before.shape[1]

    @property
    def columns(self) -> Enclosure:
        """All columns."""
        return self.own if self.before is None else beside(self.before, self.own)

    def _rows(self, part: slice) -> Enclosure:
        return self.own[part] if self.before is None else beside(self.before[part], self.own[part])

    def products(self) -> Products:
        """Return the products of the columns."""
        n, k = self.shape
        step = max(1, min(max(ROWS_AT_ONCE // max(k, 1), k), INVERSE_PIECE // max(k * k, 1)))
        if n <= step:
            return products_of(iter([(self.columns, self.weights)]), k)
        parts = (slice(start, start + step) for start in range(0, n, step))
        return products_of(((self._rows(part), self.weights[part]) for part in parts), k)

    def select(self, columns: Index) -> "Plain":
        """Return the same rows with fewer columns, in rising order."""
        if self.before is None:
            return Plain(self.own[:, columns], self.weights)
        some, others = columns[columns < self._first], columns[columns >= self._first] - self._first
        return Plain(self.own[:, others], self.weights, self.before[:, some])


@dataclass(frozen=True, eq=False)
class Sparse:
    """Free columns, and after them exact ones of a sparse matrix (CSC); zeros are not multiplied."""

    free: Enclosure
    matrix: Any
    weights: Array

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and columns."""
        return len(self.weights), self.free.shape[1] + int(self.matrix.shape[1])

    @property
    def columns(self) -> Enclosure:
        """All columns, with their zeros."""
        mid = np.hstack([self.free.mid, self.matrix.toarray()])
        rad = np.zeros(mid.shape)
        rad[:, : self.free.shape[1]] = self.free.rad
        return Enclosure(mid, rad)

    def products(self) -> Products:
        """Return the products of the columns."""
        look()
        if self.matrix.nnz > DENSE * self.matrix.shape[0] * self.matrix.shape[1]:
            return Plain(self.columns, self.weights).products()
        first, count = self.free.shape[1], self.shape[1]
        free = Plain(self.free, self.weights).products()
        roots = np.sqrt(self.weights)
        half = scaled_rows(self.matrix, roots)
        gram, blurs = np.empty((count, count)), np.zeros(count)
        gram[:first, :first], blurs[:first] = free
        gram[first:, :first] = half.T @ (self.free.mid * roots[:, None])
        gram[:first, first:] = gram[first:, :first].T
        gram[first:, first:] = (half.T @ half).toarray()
        return Products(gram, blurs)

    def select(self, columns: Index) -> "Sparse":
        """Return the same rows with fewer columns, in rising order."""
        first = self.free.shape[1]
        some, others = columns[columns < first], columns[columns >= first] - first
        return Sparse(self.free[:, some], self.matrix[:, others], self.weights)


class Elsewhere(Protocol):
    """A design that makes Gram matrices where its entries are."""

    def enclose_columns(self, index: Index) -> Enclosure:
        """Return some columns."""

    def squares_of(self, free: Enclosure, index: Index, weights: Array) -> tuple[Array, Array]:
        """Return the products of free columns and some of the design, as `Rows.products` does."""


@dataclass(frozen=True, eq=False)
class Remote:
    """Free columns, and after them columns that stay where they are."""

    free: Enclosure
    design: Elsewhere
    index: Index
    weights: Array

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and columns."""
        return len(self.weights), self.free.shape[1] + len(self.index)

    @property
    def columns(self) -> Enclosure:
        """All columns, on the host."""
        return beside(self.free, self.design.enclose_columns(self.index))

    def products(self) -> Products:
        """Return the products of the columns."""
        look()
        return Products(*self.design.squares_of(self.free, self.index, self.weights))

    def select(self, columns: Index) -> "Remote":
        """Return the same rows with fewer columns, in rising order."""
        first = self.free.shape[1]
        some, others = columns[columns < first], columns[columns >= first] - first
        return Remote(self.free[:, some], self.design, self.index[others], self.weights)


@dataclass(frozen=True, eq=False)
class Inverse:
    """An approximate inverse R of a scaled matrix, with proven bounds of its error, column by column."""

    approximate: Array
    error: Array
    scale: Array

    @cached_property
    def diagonal(self) -> Array:
        """Upper bounds of the diagonal of the exact inverse."""
        bound = np.maximum(self.approximate.diagonal() + self.error, 0.0)
        return np.asarray(up(bound * (1 + 2.0**-50)) * self.scale * self.scale)

    def over(self, sizes: Array) -> float:
        """Return an upper bound of `v . inv(G) v` for all v whose entries are at most of these sizes."""
        scaled = sizes * self.scale
        squares = scaled @ (np.abs(self.approximate) @ scaled) + scaled.sum() * (scaled @ self.error)
        return float(up(squares * (1 + gamma(2 * len(sizes) + 4))))

    def lengths(self, rows: Enclosure) -> Array:
        """Return upper bounds of the norms of rows in the inverse."""
        scaled = rows.mid * self.scale
        sizes = np.abs(scaled)
        rough = (sizes @ np.abs(self.approximate) * sizes).sum(axis=1)
        middle = (scaled @ self.approximate * scaled).sum(axis=1)
        middle = middle + sizes.sum(axis=1) * (sizes @ self.error) * (1 + 2.0**-40)
        middle = up(np.maximum(middle + gamma(2 * sizes.shape[1] + 4) * rough, 0.0) * (1 + 2.0**-40))
        return np.asarray(up((np.sqrt(middle) + rows.rad @ np.sqrt(self.diagonal)) * (1 + 2.0**-40)))

    def of(self, v: Enclosure) -> float:
        """Return an upper bound of `v . inv(G) v`, which is the square of a norm."""
        parts = (self.approximate, self.error, self.scale, v.mid, v.rad)
        return float(_core.form(*(np.ascontiguousarray(part) for part in parts)))


@dataclass(frozen=True, eq=False)
class Gram:
    """`C' diag(w) C + diag(ridge)` of columns that are known up to a radius, in floating point."""

    rows: int
    matrix: Array
    blurs: Array
    ridge: Array

    @classmethod
    def of(cls, rows: Rows, ridge: Array | None = None) -> "Gram | None":
        """Return the Gram matrix of columns; None if there are none or too many."""
        n, k = rows.shape
        if not 0 < k <= LARGEST_INVERSE:
            return None
        with quiet():
            return cls(n, *rows.products(), np.zeros(k) if ridge is None else ridge)

    def select(self, columns: Index) -> "Gram":
        """Return the Gram matrix of fewer columns."""
        return Gram(self.rows, self.matrix[np.ix_(columns, columns)], self.blurs[columns], self.ridge[columns])

    def inverse(self) -> Inverse | None:
        """Return the inverse, or None if it cannot be proven."""
        k = len(self.matrix)
        if not k or np.count_nonzero(self.ridge == 0) > self.rows:
            return None
        look()
        approximate, beside = np.empty((k, k)), np.empty((2, k))
        given = (np.ascontiguousarray(part) for part in (self.matrix, self.blurs, self.ridge))
        proven = _core.inverse(self.rows, *given, approximate, beside, remaining())
        if not proven:
            look()  # or time was up
            return None
        return Inverse(approximate, beside[0], beside[1])

    def twins(self, first: int) -> tuple[Index, Index, Array]:
        """Return columns that are multiples of others as far as products tell, these others, and the multiples.

        No proof relies on it; nor could one tell such a pair apart, for as much is lost when products are rounded. The
        first columns are no multiples, and no column is that of another multiple.
        """
        with quiet():
            units = 1 / np.sqrt(self.matrix.diagonal())
            cosines = self.matrix * units * units[:, None]
            alike = np.abs(cosines) >= 1 - gamma(self.rows + 12) / 2
        heads = np.where(alike.any(axis=0), alike.argmax(axis=0), np.arange(len(alike)))
        others = np.flatnonzero((heads[heads] == heads) & (heads < np.arange(len(heads))))
        others = others[others >= first]
        heads = heads[others]
        return others, heads, self.matrix[heads, others] / self.matrix[heads, heads]

    def suspects(self, first: int, tolerance: float) -> Index:
        """Return the first columns, and those that nearly depend on others with those that these depend on.

        No proof relies on it. Pivots and shares below the tolerance, relative to norms, count as zero.
        """
        every = np.arange(len(self.matrix))
        with quiet():
            units = 1 / np.sqrt(self.matrix.diagonal())
            units[:first] *= 2.0**20  # pivoting chooses the longest columns first
            scaled = self.matrix * units * units[:, None]
        if not np.isfinite(scaled).all():
            return every
        triangle, places, rank, _ = lapack.dpstrf(scaled, tol=tolerance * tolerance)
        order = np.asarray(places, dtype=np.intp) - 1
        shares = linalg.solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])
        involved = order[:rank][(np.abs(shares) > tolerance).any(axis=1)]
        return np.unique(np.concatenate([every[:first], order[rank:], involved]))


def inverse_of(rows: Rows, ridge: Array | None = None) -> Inverse | None:
    """Return the inverse of `C' diag(w) C + diag(ridge)`, or None if it cannot be proven.

    The weights w and the ridge are exact floats. The columns C are known up to a radius.
    """
    gram = Gram.of(rows, ridge)
    return None if gram is None else gram.inverse()
