"""The rows of one design below those of another; nothing is stacked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from atomsieve.core import Packed
from atomsieve.design.base import ALL, Columns, Design, bounded, enclosed
from atomsieve.design.dense import dense_gram
from atomsieve.numerics.enclosures import Enclosure, up
from atomsieve.typing import Array, Index, Mask, Samples


@dataclass(frozen=True, eq=False)
class BelowDesign:
    """`[A; C]`: a ridge on `x = Q c` is a sample for each entry of x, with the rows of `C = Q` (`Ridged`)."""

    above: Design
    below: Design

    @property
    def shape(self) -> tuple[int, int]:
        return self.above.shape[0] + self.below.shape[0], self.above.shape[1]

    @property
    def height(self) -> int:
        """The number of rows above."""
        return self.above.shape[0]

    @property
    def density(self) -> float:
        n, m = self.above.shape[0], self.below.shape[0]
        return (n * self.above.density + m * self.below.density) / (n + m)

    def matvec(self, x: Array, index: Columns = ALL) -> Samples:
        return np.concatenate([self.above.matvec(x, index), self.below.matvec(x, index)])

    def rmatvec(self, r: Samples) -> Array:
        n = self.height
        return np.asarray(self.above.rmatvec(r[:n]) + self.below.rmatvec(r[n:]))

    def products(self, vectors: Sequence[Samples]) -> Array:
        return np.stack([self.rmatvec(r) for r in vectors])

    def columns(self, index: Columns) -> Samples:
        return np.concatenate([self.above.columns(index), self.below.columns(index)])

    def select(self, index: Columns) -> "BelowDesign":
        return BelowDesign(self.above.select(index), self.below.select(index))

    def gram(
        self, weights: Samples, index: Columns, others: Columns, unit: float, basis: Samples | None = None
    ) -> Array:
        n = self.height
        if basis is not None and np.any(basis[n:]):  # columns without a price reach into both
            right = self.columns(others)
            return dense_gram(right if index is others else self.columns(index), weights, right, unit, basis)
        first = self.above.gram(weights[:n], index, others, unit, None if basis is None else basis[:n])
        return first + self.below.gram(weights[n:], index, others, unit)

    def packed(self, index: Index) -> Packed:
        return Packed.of(np.asarray(self.columns(index)))

    def samples(self, chosen: Mask) -> "BelowDesign":
        n = self.height
        return BelowDesign(self.above.samples(chosen[:n]), self.below.samples(chosen[n:]))

    def largest(self) -> float:
        return max(self.above.largest(), self.below.largest())

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        n = self.height
        return self.above.squared_norms(weights[:n], scale) + self.below.squared_norms(weights[n:], scale)

    def enclose(self, x: Enclosure, index: Columns = ALL) -> Enclosure:
        return _joined(*(enclosed(part).enclose(x, index) for part in (self.above, self.below)))

    def enclose_adjoint(self, r: Enclosure, norms: Array | None = None) -> Enclosure:
        n = self.height
        return enclosed(self.above).enclose_adjoint(r[:n]) + enclosed(self.below).enclose_adjoint(r[n:])

    def enclose_columns(self, index: Columns) -> Enclosure:
        return _joined(*(enclosed(part).enclose_columns(index) for part in (self.above, self.below)))

    def sharp(self, x: Array, index: Index) -> Enclosure:
        return _joined(*(enclosed(part).sharp(x, index) for part in (self.above, self.below)))

    def sharp_adjoint(self, r: Enclosure, index: Index) -> Enclosure:
        n = self.height
        return enclosed(self.above).sharp_adjoint(r[:n], index) + enclosed(self.below).sharp_adjoint(r[n:], index)

    def norm_bounds(self, weights: Array, index: Index | None = None) -> Array:
        n = self.height
        first = enclosed(self.above).norm_bounds(weights[:n], index)
        return np.asarray(up(np.hypot(first, enclosed(self.below).norm_bounds(weights[n:], index)) * (1 + 2.0**-50)))

    def rows_as_bytes(self) -> Iterator[bytes | memoryview]:
        yield from bounded(self.above).rows_as_bytes()
        yield from bounded(self.below).rows_as_bytes()

    def parts(self) -> Iterator[Array]:
        yield from bounded(self.above).parts()
        yield from bounded(self.below).parts()


def _joined(above: Enclosure, below: Enclosure) -> Enclosure:
    """Return rows one below the other."""
    return Enclosure(np.concatenate([above.mid, below.mid]), np.concatenate([above.rad, below.rad]))
