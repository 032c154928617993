"""A design that counts what it is asked for: how often the whole of A was gone through."""

from dataclasses import dataclass

from atomsieve.design.base import ALL, Design, Rows
from atomsieve.typing import Array, Mask, Samples


@dataclass
class Meter:
    """Products with the whole of A or A'; one with a part of the columns counts as that part."""

    columns: int
    passes: float = 0.0


@dataclass(frozen=True, eq=False)
class Metered:
    """A design with its meter; `share` is the part of the columns of A that it holds."""

    design: Design
    meter: Meter
    share: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        return self.design.shape

    @property
    def density(self) -> float:
        return self.design.density

    def matvec(self, x: Array, rows: Rows = ALL) -> Samples:
        self.meter.passes += self.share if rows is ALL else self.share * len(x) / self.shape[1]
        return self.design.matvec(x, rows)

    def rmatvec(self, r: Samples) -> Array:
        self.meter.passes += self.share
        return self.design.rmatvec(r)

    def columns(self, rows: Rows) -> Samples:
        return self.design.columns(rows)

    def select(self, rows: Rows) -> "Metered":
        part = self.design.select(rows)
        return Metered(part, self.meter, self.share * part.shape[1] / self.shape[1])

    def samples(self, chosen: Mask) -> "Metered":
        return Metered(self.design.samples(chosen), self.meter, self.share)

    def gram(self, weights: Samples, rows: Rows, others: Rows, unit: float, basis: Samples | None = None) -> Array:
        return self.design.gram(weights, rows, others, unit, basis)

    def largest(self) -> float:
        return self.design.largest()

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        self.meter.passes += self.share
        return self.design.squared_norms(weights, scale)
