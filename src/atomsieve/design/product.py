"""The product A Q of two designs, for the image of a gauge under Q; the product is never formed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from atomsieve.core import Packed
from atomsieve.design.array import array_gram
from atomsieve.design.base import ALL, Columns, Design, bounded, enclosed
from atomsieve.design.dense import dense_gram
from atomsieve.numerics.enclosures import LEAST, Enclosure, gamma, root, up
from atomsieve.numerics.namespace import array_namespace, on_host
from atomsieve.typing import Array, Index, Mask, Samples

WIDTH = 256
"""Number of columns of A Q that are formed at a time."""


@dataclass(frozen=True, eq=False)
class ProductDesign:
    """`left @ right`, applied one after the other."""

    left: Design
    right: Design

    @property
    def shape(self) -> tuple[int, int]:
        return self.left.shape[0], self.right.shape[1]

    @property
    def density(self) -> float:
        return self.left.density

    def matvec(self, x: Array, index: Columns = ALL) -> Samples:
        return self.left.matvec(self.right.matvec(x, index))

    def rmatvec(self, r: Samples) -> Array:
        return self.right.rmatvec(self.left.rmatvec(r))

    def products(self, vectors: Sequence[Samples]) -> Array:
        return np.stack([self.rmatvec(r) for r in vectors])

    def columns(self, index: Columns) -> Samples:
        return self.left.matvec(self.right.columns(index))

    def select(self, index: Columns) -> "ProductDesign":
        return ProductDesign(self.left, self.right.select(index))

    def gram(
        self, weights: Samples, index: Columns, others: Columns, unit: float, basis: Samples | None = None
    ) -> Array:
        right = self.columns(others)
        gram = dense_gram if type(right) is np.ndarray else array_gram
        return gram(right if index is others else self.columns(index), weights, right, unit, basis)

    def packed(self, index: Index) -> Packed:
        return Packed.of(np.asarray(self.columns(index)))

    def samples(self, chosen: Mask) -> "ProductDesign":
        return ProductDesign(self.left.samples(chosen), self.right)

    def enclose(self, x: Enclosure, index: Columns = ALL) -> Enclosure:
        return enclosed(self.left).enclose(enclosed(self.right).enclose(x, index))

    def enclose_adjoint(self, r: Enclosure, norms: Array | None = None) -> Enclosure:
        return enclosed(self.right).enclose_adjoint(enclosed(self.left).enclose_adjoint(r))

    def enclose_columns(self, index: Columns) -> Enclosure:
        return enclosed(self.left).enclose(enclosed(self.right).enclose_columns(index))

    def sharp(self, x: Array, index: Index) -> Enclosure:
        return self.enclose(Enclosure.exact(x), index)

    def sharp_adjoint(self, r: Enclosure, index: Index) -> Enclosure:
        return self.select(index).enclose_adjoint(r)

    def norm_bounds(self, weights: Array, index: Index | None = None) -> Array:
        if index is not None:
            return self.select(index).norm_bounds(weights)
        bounds = np.zeros(self.shape[1])
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for start in range(0, len(bounds), WIDTH):
                sizes = self.enclose_columns(slice(start, start + WIDTH)).size
                squares = (sizes * sizes).T @ weights
                floor = 4 * len(sizes) * LEAST * max(1.0, float(weights.max()))
                bounds[start : start + WIDTH] = root(up(squares * (1 + gamma(len(sizes) + 4)) + floor))
        return bounds

    def rows_as_bytes(self) -> Iterator[bytes | memoryview]:
        yield from bounded(self.left).rows_as_bytes()
        yield from bounded(self.right).rows_as_bytes()

    def parts(self) -> Iterator[Array]:
        yield from bounded(self.left).parts()
        yield from bounded(self.right).parts()

    def largest(self) -> float:
        blocks = (self.columns(slice(start, start + WIDTH)) for start in range(0, self.shape[1], WIDTH))
        return max(float(array_namespace(block).max(array_namespace(block).abs(block))) for block in blocks)

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        norms = np.zeros(self.shape[1])
        for start in range(0, len(norms), WIDTH):
            block = self.columns(slice(start, start + WIDTH)) / scale
            xp = array_namespace(block)
            norms[start : start + WIDTH] = on_host(xp.sum(weights[:, None] * block * block, axis=0))
        return norms
