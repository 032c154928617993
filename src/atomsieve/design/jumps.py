"""Matrices that turn levels and jumps into the levels of all places: they are square, invertible, and never formed."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from atomsieve.core import Packed
from atomsieve.design.base import ALL, Columns
from atomsieve.design.dense import DenseDesign, dense_gram
from atomsieve.design.selected import SelectedDesign
from atomsieve.numerics.enclosures import LEAST, Enclosure, gamma, root, up
from atomsieve.typing import Array, Index, Mask, Samples


class Regions(NamedTuple):
    """Places with the same level where all but some jumps are 0, and the jumps between them."""

    labels: Index
    """The region of every place."""

    jumps: "Jumps"
    """The same kind of matrix, for the levels of the regions."""

    places: Index
    """The coefficients among those of the regions, in the order in which they were chosen."""

    def together(self, values: Array) -> Array:
        """Return the sums of values over the regions; by halves, which loses fewer digits than one after the other."""
        labels = self.labels
        if not (labels[:-1] <= labels[1:]).all():
            order = np.argsort(labels, kind="stable")
            labels, values = labels[order], values[order]
        return np.asarray(np.add.reduceat(values, np.searchsorted(labels, np.arange(self.jumps.count))))


class Jumps(ABC):
    """Levels of `count` places from as many coefficients: jumps, and a level for each root. Columns are 0, 1 and -1."""

    count: int
    fixed: tuple[int, ...]

    @property
    @abstractmethod
    def roots(self) -> Index:
        """The places whose coefficients are levels."""

    @abstractmethod
    def matvec(self, x: Array, index: Columns = ALL) -> Samples:
        """Return the levels."""

    @abstractmethod
    def rmatvec(self, r: Samples) -> Array:
        """Return the sum over the places that each coefficient moves."""

    @abstractmethod
    def enclose(self, x: Enclosure, index: Columns = ALL) -> Enclosure:
        """Return the levels with bounds of their errors."""

    @abstractmethod
    def enclose_adjoint(self, r: Enclosure, norms: Array | None = None) -> Enclosure:
        """Return the sums with bounds of their errors."""

    @abstractmethod
    def hung(self) -> tuple[Index, Array]:
        """Return the place that each one hangs on, -1 for roots, and the sign of its coefficient in its level."""

    def jumps(self, levels: Array) -> Array:
        """Return the jumps between levels; 0 for the coefficients of roots."""
        above, signs = self.hung()
        return np.asarray(np.where(above < 0, 0.0, signs * (levels - levels[above])))

    @abstractmethod
    def regions(self, index: Columns) -> Regions:
        """Return the regions that are left where only chosen coefficients, and those of roots, are not 0."""

    @abstractmethod
    def touched(self, chosen: Mask) -> Mask:
        """Return which levels can be non-zero when only the chosen coefficients are."""

    @abstractmethod
    def rows_as_bytes(self) -> Iterator[bytes | memoryview]:
        """Yield what tells the matrix."""

    @abstractmethod
    def parts(self) -> Iterator[Array]:
        """Yield the same as numbers."""

    @abstractmethod
    def stated(self) -> dict[str, object]:
        """Return the matrix as a file states it."""

    @property
    def shape(self) -> tuple[int, int]:
        return self.count, self.count

    @property
    def density(self) -> float:
        return 1 / self.count

    def _placed(self, x: Array, index: Columns) -> Array:
        """Return the coefficients of all columns, given those of some, each of which is there once."""
        if isinstance(index, slice) and index == ALL:
            return np.asarray(x, dtype=np.float64)
        full = np.zeros((self.count, *x.shape[1:]))
        full[index] = x
        return full

    def products(self, vectors: Sequence[Samples]) -> Array:
        return np.ascontiguousarray(self.rmatvec(np.stack(vectors, axis=1)).T)

    def columns(self, index: Columns) -> Samples:
        chosen, places = np.unique(np.arange(self.shape[1])[index], return_inverse=True)  # outputs name a column twice
        return np.ascontiguousarray(self.matvec(np.eye(len(chosen)), chosen)[:, places])

    def select(self, index: Columns) -> SelectedDesign:
        return SelectedDesign(self, np.arange(self.count)[index])

    def gram(
        self, weights: Samples, index: Columns, others: Columns, unit: float, basis: Samples | None = None
    ) -> Array:
        right = self.columns(others)
        return dense_gram(right if index is others else self.columns(index), weights, right, unit, basis)

    def packed(self, index: Index) -> Packed:
        return Packed.of(self.columns(index))

    def samples(self, chosen: Mask) -> DenseDesign:
        return DenseDesign(self.columns(ALL)[chosen])

    def largest(self) -> float:
        return 1.0

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        return np.abs(self.rmatvec(weights / scale / scale))

    def enclose_columns(self, index: Columns) -> Enclosure:
        return Enclosure.exact(self.columns(index))

    def sharp(self, x: Array, index: Index) -> Enclosure:
        return self.enclose(Enclosure.exact(x), index)

    def sharp_adjoint(self, r: Enclosure, index: Index) -> Enclosure:
        return self.enclose_adjoint(r)[index]

    def norm_bounds(self, weights: Array, index: Index | None = None) -> Array:
        bounds = root(up(self.squared_norms(weights) * (1 + gamma(self.count + 4)) + 4 * self.count * LEAST))
        return bounds if index is None else bounds[index]
