"""A few columns, where each column is a matrix: the image of an atom that moves several outputs at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from atomsieve.core import Packed
from atomsieve.design.base import ALL, Columns
from atomsieve.typing import Array, Index, Mask, Samples


@dataclass(frozen=True, eq=False)
class StackDesign:
    """Predictions of n samples and K outputs from m weights: `images` has the shape n x K x m."""

    images: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.images.shape[0], self.images.shape[2]

    @property
    def density(self) -> float:
        return 1.0

    def matvec(self, x: Array, index: Columns = ALL) -> Samples:
        return self.images[:, :, index] @ x

    def rmatvec(self, r: Samples) -> Array:
        return np.asarray(np.tensordot(self.images, r, axes=([0, 1], [0, 1])))

    def products(self, vectors: Sequence[Samples]) -> Array:
        return np.stack([self.rmatvec(r) for r in vectors])

    def columns(self, index: Columns) -> Samples:
        return self.images[:, :, index]

    def select(self, index: Columns) -> "StackDesign":
        return StackDesign(self.images[:, :, index])

    def packed(self, index: Index) -> Packed:
        raise TypeError("Images of several outputs are not columns.")  # pragma: no cover

    def samples(self, chosen: Mask) -> "StackDesign":
        return StackDesign(self.images[chosen])

    def gram(self, *_: object, **__: object) -> Array:
        raise TypeError("Images of several outputs have no weights of their own.")  # pragma: no cover

    def largest(self) -> float:
        return float(np.abs(self.images).max())

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        scaled = self.images / scale
        return np.asarray(np.einsum("ikj,ikj,i->j", scaled, scaled, weights))
