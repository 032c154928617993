"""Columns of a design that may repeat, as overlapping groups need them; no column is copied."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from atomsieve.core import Packed
from atomsieve.design.base import ALL, Columns, Design, as_slice, bounded, enclosed
from atomsieve.numerics.enclosures import Enclosure, gamma, up
from atomsieve.typing import Array, Index, Mask, Samples


@dataclass(frozen=True, eq=False)
class SelectedDesign:
    """`A S` for a selection S: column k is column `places[k]` of A."""

    design: Design
    places: Index

    @property
    def shape(self) -> tuple[int, int]:
        return self.design.shape[0], len(self.places)

    @property
    def density(self) -> float:
        return self.design.density

    def matvec(self, x: Array, index: Columns = ALL) -> Samples:
        used, copies, count = self._used(index)
        return self.design.matvec(folded(x, copies, count), used)

    def rmatvec(self, r: Samples) -> Array:
        return np.asarray(self.design.rmatvec(r))[self.places]

    def products(self, vectors: Sequence[Samples]) -> Array:
        return self.design.products(vectors)[:, self.places]

    def columns(self, index: Columns) -> Samples:
        return self.design.columns(self.places[index])

    def select(self, index: Columns) -> "SelectedDesign":
        used, copies, _ = self._used(index)
        return SelectedDesign(self.design.select(used), copies)

    def gram(
        self, weights: Samples, index: Columns, others: Columns, unit: float, basis: Samples | None = None
    ) -> Array:
        left, rows, _ = self._used(index)
        right, columns = (left, rows) if index is others else self._used(others)[:2]
        return self.design.gram(weights, left, right, unit, basis)[np.ix_(rows, columns)]

    def packed(self, index: Index) -> Packed:
        used, copies = np.unique(self.places[index], return_inverse=True)
        own = self.design.packed(used)
        row_starts = None if own.row_starts is None else own.row_starts[copies]
        return Packed(own.values, own.rows, own.value_starts[copies], row_starts, own.counts[copies])

    def samples(self, chosen: Mask) -> "SelectedDesign":
        return SelectedDesign(self.design.samples(chosen), self.places)

    def largest(self) -> float:
        return self.design.largest()

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        return self.design.squared_norms(weights, scale)[self.places]

    def enclose(self, x: Enclosure, index: Columns = ALL) -> Enclosure:
        used, copies, count = self._used(index)
        return enclosed(self.design).enclose(enclosed_fold(x, copies, count), used)

    def enclose_adjoint(self, r: Enclosure, norms: Array | None = None) -> Enclosure:
        if norms is not None:  # of the columns of A; those that are not selected do not matter
            norms, own = np.zeros(self.design.shape[1]), norms
            norms[self.places] = own
        return enclosed(self.design).enclose_adjoint(r, norms)[self.places]

    def enclose_columns(self, index: Columns) -> Enclosure:
        return enclosed(self.design).enclose_columns(self.places[index])

    def sharp(self, x: Array, index: Index) -> Enclosure:
        return enclosed(self.design).sharp(x, self.places[index])

    def sharp_adjoint(self, r: Enclosure, index: Index) -> Enclosure:
        return enclosed(self.design).sharp_adjoint(r, self.places[index])

    def norm_bounds(self, weights: Array, index: Index | None = None) -> Array:
        if index is not None:
            return enclosed(self.design).norm_bounds(weights, self.places[index])
        return enclosed(self.design).norm_bounds(weights)[self.places]

    def rows_as_bytes(self) -> Iterator[bytes | memoryview]:
        yield from bounded(self.design).rows_as_bytes()
        yield np.ascontiguousarray(self.places, dtype="<i8").data

    def _used(self, index: Columns) -> tuple[Columns, Index, int]:
        """Return the columns of A that are needed, for each chosen column its position among them, and their number."""
        if isinstance(index, slice) and index == ALL:
            return ALL, self.places, self.design.shape[1]
        used, copies = np.unique(self.places[index], return_inverse=True)
        return as_slice(used) if len(used) else used, copies, len(used)


def places_of(matrix: Any) -> Index | None:
    """Return the row of the only entry of each column, if a sparse matrix is a selection; None if it is not."""
    if not issparse(matrix):
        return None
    entries: Any = matrix
    by_columns = entries.tocsc(copy=True)
    by_columns.sum_duplicates()
    by_columns.eliminate_zeros()
    single = (np.diff(by_columns.indptr) == 1).all() and (by_columns.data == 1).all()
    return by_columns.indices.astype(np.intp) if single else None


def folded(x: Array, copies: Index, count: int) -> Array:
    """Return the sums of the rows of x that are copies of the same column."""
    if x.ndim == 1:
        return np.bincount(copies, x, count).astype(np.float64)
    sums = np.zeros((count, x.shape[1]))
    for place, column in enumerate(x.T):
        sums[:, place] = folded(column, copies, count)
    return sums


def enclosed_fold(x: Enclosure, copies: Index, count: int) -> Enclosure:
    """Return those sums with a bound of all rounding errors; there are none where only one copy is not zero."""
    there = (x.mid != 0) | (x.rad != 0)
    terms = folded(there.astype(np.float64), copies, count)
    sums, radii, sizes = (folded(part, copies, count) for part in (x.mid, x.rad, np.abs(x.mid)))
    with np.errstate(invalid="ignore", over="ignore"):
        return Enclosure(sums, np.where(terms > 1, up(radii * (1 + gamma(terms)) + gamma(terms) * sizes), radii))
