"""A design that counts its passes over A."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from atomsieve.core import Packed
from atomsieve.design.base import ALL, Columns, Design
from atomsieve.numerics.samplewise import Made, Then
from atomsieve.typing import Array, Index, Mask, Samples


@dataclass
class Meter:
    """The number of products with A or A'; a product with some of the columns counts as that fraction."""

    columns: int
    passes: float = 0.0


@dataclass(frozen=True, eq=False)
class Metered:
    """A design with its meter; `share` is the fraction of the columns of A that it holds."""

    design: Design
    meter: Meter
    share: float = 1.0

    @property
    def unmetered(self) -> Design:
        """The design itself."""
        return self.design

    @property
    def sweeps(self) -> bool:
        """Whether one trip to the workers takes formulas over samples together with a product."""
        return hasattr(self.design, "sweep")

    def sweep(
        self, formula: Callable[..., Made], *samples: Samples, index: Columns = ALL, then: Then | None = None
    ) -> Made:
        """Return what a formula makes of samples and of the rows of A beside them: one product with A or A'."""
        own: Any = self.design
        self.meter.passes += self.share if isinstance(index, slice) else self.share * len(index) / self.shape[1]
        found: Made = own.sweep(formula, *samples, index=index, then=then)
        return found

    @property
    def shape(self) -> tuple[int, int]:
        return self.design.shape

    @property
    def density(self) -> float:
        return self.design.density

    def matvec(self, x: Array, index: Columns = ALL) -> Samples:
        self.meter.passes += self.share if index is ALL else self.share * len(x) / self.shape[1]
        return self.design.matvec(x, index)

    def rmatvec(self, r: Samples) -> Array:
        self.meter.passes += self.share
        return self.design.rmatvec(r)

    def products(self, vectors: Sequence[Samples]) -> Array:
        self.meter.passes += self.share
        return self.design.products(vectors)

    def columns(self, index: Columns) -> Samples:
        return self.design.columns(index)

    def select(self, index: Columns) -> "Metered":
        part = self.design.select(index)
        return Metered(part, self.meter, self.share * part.shape[1] / self.shape[1])

    def packed(self, index: Index) -> Packed:
        return self.design.packed(index)

    def samples(self, chosen: Mask) -> "Metered":
        return Metered(self.design.samples(chosen), self.meter, self.share)

    def gram(
        self, weights: Samples, index: Columns, others: Columns, unit: float, basis: Samples | None = None
    ) -> Array:
        return self.design.gram(weights, index, others, unit, basis)

    def largest(self) -> float:
        return self.design.largest()

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        self.meter.passes += self.share
        return self.design.squared_norms(weights, scale)
