"""The product A Q of two designs, never formed: what the image of a gauge under Q needs."""

from dataclasses import dataclass

import numpy as np

from atomsieve.arrays import array_namespace
from atomsieve.design.base import ALL, Design, Rows
from atomsieve.design.dense import dense_gram
from atomsieve.typing import Array, Mask, Samples

WIDTH = 256
"""Columns of A Q that are formed at a time."""


@dataclass(frozen=True, eq=False)
class ProductDesign:
    """`left @ right`, applied one after the other."""

    left: Design
    right: Design

    @property
    def shape(self) -> tuple[int, int]:
        return self.left.shape[0], self.right.shape[1]

    def matvec(self, x: Array, rows: Rows = ALL) -> Samples:
        return self.left.matvec(self.right.matvec(x, rows))

    def rmatvec(self, r: Samples) -> Array:
        return self.right.rmatvec(self.left.rmatvec(r))

    def columns(self, rows: Rows) -> Samples:
        return self.left.matvec(self.right.columns(rows))

    def select(self, rows: Rows) -> "ProductDesign":
        return ProductDesign(self.left, self.right.select(rows))

    def gram(self, weights: Samples, rows: Rows, others: Rows, unit: float, basis: Samples | None = None) -> Array:
        right = self.columns(others)
        return dense_gram(right if rows is others else self.columns(rows), weights, right, unit, basis)

    def samples(self, chosen: Mask) -> "ProductDesign":
        return ProductDesign(self.left.samples(chosen), self.right)

    def largest(self) -> float:
        blocks = (self.columns(slice(start, start + WIDTH)) for start in range(0, self.shape[1], WIDTH))
        return max(float(array_namespace(block).max(array_namespace(block).abs(block))) for block in blocks)

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        norms = np.zeros(self.shape[1])
        for start in range(0, len(norms), WIDTH):
            block = self.columns(slice(start, start + WIDTH)) / scale
            xp = array_namespace(block)
            norms[start : start + WIDTH] = np.asarray(xp.sum(weights[:, None] * block * block, axis=0))
        return norms
