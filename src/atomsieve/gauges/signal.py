"""Signals: total variation charges for jumps, trend filtering for bends. Both are an l1 norm seen through steps."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from atomsieve.design import Design, Steps
from atomsieve.gauges.base import Atom, BlockGauge, Gauge
from atomsieve.gauges.calculus.image import Image
from atomsieve.gauges.l1 import L1
from atomsieve.intake.arguments import as_floats, keep_copy, require_count
from atomsieve.typing import Array, Index, Mask


class Signal(Gauge):
    """What they share: `kappa(x) = sum_e weights_e |(D x)_e|` with differences D of some order.

    Polynomials of a lower degree cost nothing: they are free. With differences as coefficients this is a weighted l1
    norm of the preimage, and the coefficients of the free directions, one of each degree, have weight 0.
    """

    weights: Any
    mapped = True
    of_signals = True

    @property
    def differences(self) -> int:
        """The order of the differences that are charged for."""
        raise NotImplementedError

    def _check_weights(self) -> None:
        """Keep a copy of the weights."""
        if self.weights is None:
            return
        name = type(self).__name__
        weights = as_floats(self.weights, f"{name}: weights")
        if weights.ndim != 1 or not (weights > 0).all():
            raise ValueError(f"{name}: weights must be positive numbers in one row (inf forbids a change there).")
        keep_copy(self, "weights", weights)

    def check(self, shape: tuple[int, ...]) -> None:
        name, order, rows = type(self).__name__, self.differences, shape[0]
        if rows <= order:
            raise ValueError(f"{name}: x must have more than {order} entries in a row, got shape {shape}.")
        if self.weights is not None and len(self.weights) != rows - order:
            raise ValueError(
                f"{name}: weights must have one number for each difference, {rows - order} in all, "
                f"got {len(self.weights)}."
            )

    def over(self, rows: int) -> Image:
        """Return the same gauge of so many rows as an image of an l1 norm."""
        return _image(self, rows)

    def scores(self, z: Array) -> Array:
        return self.over(len(z)).scores(z)

    def atom(self, z: Array, block: int) -> Atom:
        return self.over(len(z)).atom(z, block)

    def value(self, x: Array) -> float:
        changes = np.abs(np.diff(x, self.differences, axis=0))
        if self.weights is None:
            return float(changes.sum())
        prices = self.weights.reshape(-1, *[1] * (changes.ndim - 1))
        with np.errstate(invalid="ignore"):
            return float(np.where(changes == 0, 0.0, prices * changes).sum())

    def lift(self, design: Design) -> tuple[Design, BlockGauge]:
        return self.over(design.shape[1]).lift(design)

    def lower(self, c: Array) -> Array:
        return self.over(len(c)).lower(c)

    def touched(self, chosen: Mask) -> Mask:
        return self.over(len(chosen)).touched(chosen)

    def spelled_out(self, form: tuple[int, ...]) -> Gauge:
        return self.over(form[0])

    def value_under(self, design: Design, x: Array) -> float:
        return self.over(design.shape[1]).value_under(design, x)


@lru_cache(maxsize=8)
def _image(gauge: Signal, rows: int) -> Image:
    maps: list[Steps] = []
    moving: Index = np.arange(rows)
    for _ in range(gauge.differences):
        maps.append(Steps(rows, int(moving[len(moving) // 2]), tuple(steps.root for steps in maps)))
        moving = np.delete(moving, len(moving) // 2)
    prices = np.zeros(rows)
    prices[moving] = 1.0 if gauge.weights is None else gauge.weights
    inner: Any = L1(prices)
    for steps in reversed(maps):
        inner = Image(inner, steps)
    image: Image = inner
    return image


@dataclass(frozen=True, eq=False, repr=False)
class TotalVariation(Signal):
    """Total variation of a signal, `kappa(x) = sum_e weights_e |x_{e+1} - x_e|`: solutions are piecewise constant.

    Its support function is `sigma(z) = max_e |z_{e+1} + ... + z_d| / weights_e`, for z whose entries add up to 0; it is
    +inf for others, because constants cost nothing. `weights` has one positive number for each jump (None: all 1).

    Certificates are about jumps: between which neighbours there is none in any solution, and where there is one. The
    level of the entry in the middle is free: it takes the part of an intercept, which is harmless beside it.

    Problem(None, y, gauge=TotalVariation(), ...) denoises a signal y itself.

    >>> import numpy as np
    >>> TotalVariation().value(np.array([1.0, 1.0, 4.0, 2.0]))
    5.0
    >>> TotalVariation().support(np.array([-1.0, -1.0, 1.0, 1.0]))
    2.0
    """

    weights: Any = None

    def __post_init__(self) -> None:
        self._check_weights()

    @property
    def differences(self) -> int:
        return 1


@dataclass(frozen=True, eq=False, repr=False)
class TrendFilter(Signal):
    """Trend filter, `kappa(x) = sum_e weights_e |(D x)_e|` with differences D of order `order + 1`.

    Solutions are piecewise polynomials: lines for an `order` of 1 (the default), parabolas for 2; `TotalVariation` is
    the order 0. Polynomials of degree `order` cost nothing. `weights` has one positive number for each difference.

    Certificates are about knots: where there is none in any solution, and where there is one.

    Kim, Koh, Boyd and Gorinevsky, l1 trend filtering, SIAM Review 2009.

    >>> import numpy as np
    >>> TrendFilter().value(np.array([0.0, 1.0, 2.0, 1.0]))
    2.0
    """

    order: int = 1
    weights: Any = None

    def __post_init__(self) -> None:
        require_count(self, order=self.order)
        self._check_weights()

    @property
    def differences(self) -> int:
        return self.order + 1
