"""Columns less a number each: what is left of them for whatever is orthogonal to the constant.

Let theta be orthogonal to the constant. Then `A' theta = (A - 1 c')' theta` for any numbers c. With floats near the
means as c, norms and rounding are those of the spread of a feature, however far from zero it lies.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from atomsieve.design.base import ALL, Columns
from atomsieve.design.dense import DenseDesign
from atomsieve.numerics.enclosures import LEAST, Enclosure, dots, gamma, norms_of, root, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index

TEMPORARY = 1 << 17
"""Entries of the matrix that are centred at a time: they stay in the cache."""


@dataclass(frozen=True, eq=False)
class CentredDesign:
    """`A - 1 c'` with error bounds; it is never formed as a whole."""

    design: DenseDesign
    centres: Array

    @classmethod
    def of(cls, design: DenseDesign) -> "CentredDesign":
        """Return a dense design with each column less a float near its mean."""
        n = design.shape[0]
        with np.errstate(over="ignore", invalid="ignore"):
            means = design.rmatvec(np.full(n, 1.0 / n))
        return cls(design, np.where(np.isfinite(means), means, 0.0))

    @property
    def shape(self) -> tuple[int, int]:
        return self.design.shape

    def enclose_columns(self, index: Columns) -> Enclosure:
        with np.errstate(over="ignore", invalid="ignore"):
            columns = self.design.columns(index) - self.centres[index]
            return Enclosure(columns, EPS * np.abs(columns))  # a difference is rounded once

    def enclose(self, x: Enclosure, index: Columns = ALL) -> Enclosure:
        return self.design.enclose(x, index) - _product(self.centres[index], x)

    def sharp(self, x: Array, index: Index) -> Enclosure:
        """Return `(A - 1 c')[:, index] x` for floats x, as if summed in twice the precision."""
        level = dots(self.centres[index][:, None], Enclosure.exact(x))
        high = level.mid  # and what is left of it, which is much smaller
        low = dots(np.append(self.centres[index], -1.0)[:, None], Enclosure.exact(np.append(x, high)))
        terms = np.vstack([self.design.columns(index).T, np.full((2, self.shape[0]), -1.0)])
        return dots(terms, Enclosure.exact(np.concatenate([x, high, low.mid]))).widened(low.rad)

    def enclose_adjoint(self, r: Enclosure, norms: Array | None = None) -> Enclosure:
        n = self.shape[0]
        norms = self.norm_bounds(np.ones(n)) if norms is None else norms
        middle = self.design.enclose_adjoint(Enclosure.exact(r.mid), self._whole(norms))
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            moved = np.multiply.outer(norms, norms_of(r.rad))  # Cauchy-Schwarz inequality
        return self._less(middle, r).widened(moved)

    def sharp_adjoint(self, r: Enclosure, index: Index) -> Enclosure:
        """Return some entries of `(A - 1 c')' r`, as if summed in twice the precision."""
        columns = self.design.columns(index)
        middle = self._less(dots(columns, Enclosure.exact(r.mid)), r, index)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            return middle.widened(self.enclose_columns(index).size.T @ r.rad * (1 + gamma(len(r.rad) + 2)))

    def _less(self, product: Enclosure, r: Enclosure, index: Columns = ALL) -> Enclosure:
        """Return a product `A' r` less `c` times the sum of the middle of r."""
        centres = Enclosure.exact(self.centres[index])
        if r.ndim == 1:
            return product - centres * Enclosure.exact(r.mid).sum()
        sums = [Enclosure.exact(column).sum() for column in r.mid.T]
        total = Enclosure(np.array([s.mid for s in sums]), np.array([s.rad for s in sums]))
        return product - centres[:, None] * total

    def _whole(self, norms: Array) -> Array:
        """Return bounds of the norms of the columns of A, from those of what is left of them."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(up(norms + np.abs(self.centres) * np.sqrt(self.shape[0])))

    def norm_bounds(self, weights: Array) -> Array:
        n, d = self.shape
        squares = np.zeros(d)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for rows, columns in self._pieces():
                block = self.design.matrix[rows, columns] - self.centres[columns]
                squares[columns] += weights[rows] @ (block * block)
            return root(up(squares * (1 + gamma(n + 8)) + 4 * n * LEAST * max(1.0, float(weights.max()))))

    def _pieces(self) -> Iterator[tuple[slice, slice]]:
        """Yield blocks of rows, or of columns, as the matrix is stored."""
        n, d = self.shape
        if self.design.matrix.strides[0] == self.design.matrix.itemsize:
            width = max(1, TEMPORARY // n)
            yield from ((slice(None), slice(start, start + width)) for start in range(0, d, width))
        else:
            width = max(1, TEMPORARY // d)
            yield from ((slice(start, start + width), slice(None)) for start in range(0, n, width))


def _product(centres: Array, x: Enclosure) -> Enclosure:
    """Return `c' x`, for each column of x."""
    terms = (Enclosure.exact(centres) if x.ndim == 1 else Enclosure.exact(centres)[:, None]) * x
    if x.ndim == 1:
        return terms.sum()
    sums = [terms[:, k].sum() for k in range(terms.shape[1])]
    return Enclosure(np.array([s.mid for s in sums]), np.array([s.rad for s in sums]))
