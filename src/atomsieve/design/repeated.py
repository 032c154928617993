"""Several outputs that share the features: the matrix `A kron I`, which is never formed; each output is a sample."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from atomsieve.core import Packed
from atomsieve.design.base import ALL, Columns, Design, bounded, enclosed
from atomsieve.numerics.enclosures import Enclosure
from atomsieve.typing import Array, Index, Mask, Samples


@dataclass(frozen=True, eq=False)
class RepeatedDesign:
    """Columns of `A kron I_K`: column e holds feature `features[e]` in the rows of output `outputs[e]`.

    Row i of A becomes the K rows `i K, ..., i K + K - 1`.
    """

    design: Design
    tasks: int
    features: Index
    outputs: Index

    @classmethod
    def of(cls, design: Design, tasks: int) -> Self:
        """Return all columns, feature by feature, and output by output within a feature."""
        d = design.shape[1]
        return cls(design, tasks, np.repeat(np.arange(d), tasks), np.tile(np.arange(tasks), d))

    @property
    def shape(self) -> tuple[int, int]:
        return self.design.shape[0] * self.tasks, len(self.features)

    @property
    def density(self) -> float:
        return self.design.density

    def matvec(self, x: Array, index: Columns = ALL) -> Samples:
        if x.ndim == 2:
            return _each(lambda column: self.matvec(column, index), x, self.shape[0])
        used, places = self._used(index)
        image: Samples = self.design.matvec(self._table(x, places, index), used)
        return image.reshape(-1)

    def rmatvec(self, r: Samples) -> Array:
        if r.ndim == 2:
            return _each(self.rmatvec, r, self.shape[1])
        product: Array = self.design.rmatvec(r.reshape(-1, self.tasks))
        return product[self.features, self.outputs]

    def products(self, vectors: Sequence[Samples]) -> Array:
        return np.stack([self.rmatvec(r) for r in vectors])

    def columns(self, index: Columns) -> Samples:
        return self._spread(np.asarray(self.design.columns(self.features[index])), index)

    def select(self, index: Columns) -> "RepeatedDesign":
        used, places = self._used(index)
        return RepeatedDesign(self.design.select(used), self.tasks, places, self.outputs[index])

    def gram(
        self, weights: Samples, index: Columns, others: Columns, unit: float, basis: Samples | None = None
    ) -> Array:
        gram = np.zeros((len(self.outputs[index]), len(self.outputs[others])))
        for k in range(self.tasks):  # columns of different outputs are orthogonal
            left, right = (np.flatnonzero(self.outputs[some] == k) for some in (index, others))
            if not (len(left) and len(right)):
                continue
            own = None if basis is None else basis[k :: self.tasks]
            own = None if own is None else own[:, own.any(axis=0)]
            pair = self.features[index][left], self.features[others][right]
            first, second = (pair[0], pair[0]) if index is others else pair
            gram[np.ix_(left, right)] = self.design.gram(weights[k :: self.tasks], first, second, unit, own)
        return gram

    def packed(self, index: Index) -> Packed:
        used, places = self._used(index)
        own = self.design.packed(np.asarray(used) if not isinstance(used, slice) else np.arange(self.design.shape[1]))
        outputs, counts = self.outputs[index], own.counts[places]
        if own.rows is None:  # all rows, once for each output
            n = self.design.shape[0]
            rows = (np.arange(n) * self.tasks + np.arange(self.tasks)[:, None]).astype(np.int32).ravel()
            return Packed(own.values, rows, own.value_starts[places], n * outputs, counts)
        assert own.row_starts is not None  # noqa: S101
        ends = np.cumsum(counts)
        source = np.repeat(own.row_starts[places] - (ends - counts), counts) + np.arange(ends[-1] if len(ends) else 0)
        rows = (own.rows[source] * self.tasks + np.repeat(outputs, counts)).astype(np.int32)
        return Packed(own.values, rows, own.value_starts[places], ends - counts, counts)

    def samples(self, chosen: Mask) -> "RepeatedDesign":
        kept = chosen.reshape(-1, self.tasks)[:, 0]
        return RepeatedDesign(self.design.samples(kept), self.tasks, self.features, self.outputs)

    def largest(self) -> float:
        return self.design.largest()

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        each = [self.design.squared_norms(weights[k :: self.tasks], scale) for k in range(self.tasks)]
        return np.stack(each, axis=1)[self.features, self.outputs]

    def enclose(self, x: Enclosure, index: Columns = ALL) -> Enclosure:
        used, places = self._used(index)
        table = Enclosure(self._table(x.mid, places, index), self._table(x.rad, places, index))
        image = enclosed(self.design).enclose(table, used)
        return Enclosure(image.mid.ravel(), image.rad.ravel())

    def enclose_adjoint(self, r: Enclosure, norms: Array | None = None) -> Enclosure:
        table = Enclosure(r.mid.reshape(-1, self.tasks), r.rad.reshape(-1, self.tasks))
        product = enclosed(self.design).enclose_adjoint(table)
        return product[self.features, self.outputs]

    def enclose_columns(self, index: Columns) -> Enclosure:
        columns = enclosed(self.design).enclose_columns(self.features[index])
        return Enclosure(self._spread(columns.mid, index), self._spread(columns.rad, index))

    def sharp(self, x: Array, index: Index) -> Enclosure:
        image = np.zeros((2, self.design.shape[0], self.tasks))
        for k in range(self.tasks):
            mine = self.outputs[index] == k
            own = enclosed(self.design).sharp(x[mine], self.features[index][mine])
            image[:, :, k] = own.mid, own.rad
        return Enclosure(image[0].ravel(), image[1].ravel())

    def sharp_adjoint(self, r: Enclosure, index: Index) -> Enclosure:
        product = np.zeros((2, len(index)))
        for k in range(self.tasks):
            mine = self.outputs[index] == k
            own = enclosed(self.design).sharp_adjoint(r[k :: self.tasks], self.features[index][mine])
            product[:, mine] = own.mid, own.rad
        return Enclosure(product[0], product[1])

    def norm_bounds(self, weights: Array, index: Index | None = None) -> Array:
        if index is not None:
            used, places = np.unique(self.features[index], return_inverse=True)
            each = [enclosed(self.design).norm_bounds(weights[k :: self.tasks], used) for k in range(self.tasks)]
            return np.stack(each, axis=1)[places, self.outputs[index]]
        each = [enclosed(self.design).norm_bounds(weights[k :: self.tasks]) for k in range(self.tasks)]
        return np.stack(each, axis=1)[self.features, self.outputs]

    def rows_as_bytes(self) -> Iterator[bytes | memoryview]:
        return bounded(self.design).rows_as_bytes()

    def parts(self) -> Iterator[Array]:
        return bounded(self.design).parts()

    def _used(self, index: Columns) -> tuple[Columns, Index]:
        """Return the features of the chosen columns, and for each column the position of its feature among them."""
        if isinstance(index, slice) and index == ALL:
            return ALL, self.features
        used, places = np.unique(self.features[index], return_inverse=True)
        return used, places

    def _table(self, x: Array, places: Index, index: Columns) -> Array:
        """Return entries of x as a table, with a row for each used feature and a column for each output."""
        whole = places is self.features
        table = np.zeros((self.design.shape[1] if whole else int(places.max(initial=-1)) + 1, self.tasks))
        table[places, self.outputs[index]] = x
        return table

    def _spread(self, columns: Array, index: Columns) -> Array:
        """Return columns of A in the rows of their outputs."""
        n, m = columns.shape
        spread = np.zeros((n, self.tasks, m))
        spread[:, self.outputs[index], np.arange(m)] = columns
        return spread.reshape(n * self.tasks, m)


def _each(product: Callable[[Array], Array], columns: Array, length: int) -> Array:
    """Return the products of each column, of which there may be none."""
    found = np.empty((length, columns.shape[1]))
    for k, column in enumerate(columns.T):
        found[:, k] = product(column)
    return found
