"""Gauges that are made of others: whatever is asked of them is asked of what they are made into."""

from abc import abstractmethod

from atomsieve.design import Design
from atomsieve.gauges.base import Atom, BlockGauge, Gauge
from atomsieve.typing import Array, Index, Mask


class Made(Gauge):
    """A gauge in terms of `Image` and gauges of separate rows, which depend on the number of features."""

    @abstractmethod
    def made(self, count: int) -> Gauge:
        """Return the same gauge of so many features in terms of others."""

    @abstractmethod
    def features(self, rows: int) -> int:
        """Return the number of features that are lifted to so many rows."""

    def check(self, shape: tuple[int, ...]) -> None:
        self.made(shape[0]).check(shape)

    def scores(self, z: Array) -> Array:
        return self.made(len(z)).scores(z)

    def atom(self, z: Array, block: int) -> Atom:
        return self.made(len(z)).atom(z, block)

    def value(self, x: Array) -> float:
        return self.made(len(x)).value(x)

    def value_under(self, design: Design, x: Array) -> float:
        return self.made(design.shape[1]).value_under(design, x)

    def lift(self, design: Design) -> tuple[Design, BlockGauge]:
        return self.made(design.shape[1]).lift(design)

    def owners(self, shape: tuple[int, ...]) -> Index:
        return self.made(shape[0]).owners(shape)

    def lower(self, c: Array) -> Array:
        return self.made(self.features(len(c))).lower(c)

    def touched(self, chosen: Mask) -> Mask:
        return self.made(self.features(len(chosen))).touched(chosen)

    def copies(self, rows: int) -> Index | None:
        return self.made(self.features(rows)).copies(rows)

    def spelled_out(self, form: tuple[int, ...]) -> Gauge:
        return self.made(self.features(form[0])).spelled_out(form)
