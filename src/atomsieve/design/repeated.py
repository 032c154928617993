"""Several outputs that share the features: the matrix `A kron I`, never formed, with a sample for each output."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from atomsieve.design.base import ALL, Design, Rows, bounded
from atomsieve.numerics.enclosures import Enclosure
from atomsieve.typing import Array, Index, Mask, Samples


@dataclass(frozen=True, eq=False)
class RepeatedDesign:
    """Columns of `A kron I_K`: column e is that of feature `features[e]`, in the rows of output `outputs[e]`.

    Row i of A stands for the K rows `i K, ..., i K + K - 1`.
    """

    design: Design
    tasks: int
    features: Index
    outputs: Index

    @classmethod
    def of(cls, design: Design, tasks: int) -> Self:
        """Return all columns, output by output for each feature."""
        d = design.shape[1]
        return cls(design, tasks, np.repeat(np.arange(d), tasks), np.tile(np.arange(tasks), d))

    @property
    def shape(self) -> tuple[int, int]:
        return self.design.shape[0] * self.tasks, len(self.features)

    @property
    def density(self) -> float:
        return self.design.density

    def matvec(self, x: Array, rows: Rows = ALL) -> Samples:
        if x.ndim == 2:
            return np.stack([self.matvec(column, rows) for column in x.T], axis=1)
        used, places = self._used(rows)
        image: Samples = self.design.matvec(self._table(x, places, rows), used)
        return image.reshape(-1)

    def rmatvec(self, r: Samples) -> Array:
        if r.ndim == 2:
            return np.stack([self.rmatvec(column) for column in r.T], axis=1)
        product: Array = self.design.rmatvec(r.reshape(-1, self.tasks))
        return product[self.features, self.outputs]

    def columns(self, rows: Rows) -> Samples:
        return self._spread(np.asarray(self.design.columns(self.features[rows])), rows)

    def select(self, rows: Rows) -> "RepeatedDesign":
        used, places = self._used(rows)
        return RepeatedDesign(self.design.select(used), self.tasks, places, self.outputs[rows])

    def gram(self, weights: Samples, rows: Rows, others: Rows, unit: float, basis: Samples | None = None) -> Array:
        gram = np.zeros((len(self.outputs[rows]), len(self.outputs[others])))
        for k in range(self.tasks):  # columns of different outputs have nothing in common
            left, right = (np.flatnonzero(self.outputs[some] == k) for some in (rows, others))
            if not (len(left) and len(right)):
                continue
            own = None if basis is None else basis[k :: self.tasks]
            own = None if own is None else own[:, own.any(axis=0)]
            pair = self.features[rows][left], self.features[others][right]
            first, second = (pair[0], pair[0]) if rows is others else pair
            gram[np.ix_(left, right)] = self.design.gram(weights[k :: self.tasks], first, second, unit, own)
        return gram

    def samples(self, chosen: Mask) -> "RepeatedDesign":
        kept = chosen.reshape(-1, self.tasks)[:, 0]
        return RepeatedDesign(self.design.samples(kept), self.tasks, self.features, self.outputs)

    def largest(self) -> float:
        return self.design.largest()

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        each = [self.design.squared_norms(weights[k :: self.tasks], scale) for k in range(self.tasks)]
        return np.stack(each, axis=1)[self.features, self.outputs]

    def enclose(self, x: Enclosure, rows: Rows = ALL) -> Enclosure:
        used, places = self._used(rows)
        table = Enclosure(self._table(x.mid, places, rows), self._table(x.rad, places, rows))
        image = bounded(self.design).enclose(table, used)
        return Enclosure(image.mid.ravel(), image.rad.ravel())

    def enclose_adjoint(self, r: Enclosure, norms: Array | None = None) -> Enclosure:  # noqa: ARG002
        table = Enclosure(r.mid.reshape(-1, self.tasks), r.rad.reshape(-1, self.tasks))
        product = bounded(self.design).enclose_adjoint(table)
        return product[self.features, self.outputs]

    def enclose_columns(self, rows: Rows) -> Enclosure:
        columns = bounded(self.design).enclose_columns(self.features[rows])
        return Enclosure(self._spread(columns.mid, rows), self._spread(columns.rad, rows))

    def norm_bounds(self, weights: Array) -> Array:
        each = [bounded(self.design).norm_bounds(weights[k :: self.tasks]) for k in range(self.tasks)]
        return np.stack(each, axis=1)[self.features, self.outputs]

    def rows_as_bytes(self) -> Iterator[bytes | memoryview]:
        return bounded(self.design).rows_as_bytes()

    def _used(self, rows: Rows) -> tuple[Rows, Index]:
        """Return the features that some columns belong to, and for each column its place among them."""
        if isinstance(rows, slice) and rows == ALL:
            return ALL, self.features
        used, places = np.unique(self.features[rows], return_inverse=True)
        return used, places

    def _table(self, x: Array, places: Index, rows: Rows) -> Array:
        """Return entries of x as a table, a row for each feature that is used and a column for each output."""
        whole = places is self.features
        table = np.zeros((self.design.shape[1] if whole else int(places.max(initial=-1)) + 1, self.tasks))
        table[places, self.outputs[rows]] = x
        return table

    def _spread(self, columns: Array, rows: Rows) -> Array:
        """Return columns of A in the rows of their outputs."""
        n, m = columns.shape
        spread = np.zeros((n, self.tasks, m))
        spread[:, self.outputs[rows], np.arange(m)] = columns
        return spread.reshape(n * self.tasks, m)
