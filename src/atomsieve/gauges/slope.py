"""Ordered weights that follow from the number of features: OSCAR and SLOPE."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from atomsieve.design import Design
from atomsieve.gauges.base import Atom, BlockGauge, Gauge
from atomsieve.gauges.owl import OWL
from atomsieve.intake.arguments import require_positive
from atomsieve.typing import Array, Mask


@dataclass(frozen=True, eq=False, repr=False)
class OrderedByCount(Gauge):
    """An `OWL` whose weights follow from the number of features; a problem, which knows it, holds that `OWL`."""

    @abstractmethod
    def weights(self, count: int) -> Array:
        """Return the weights for so many features."""

    def _ordered(self, x: Array) -> OWL:
        return OWL(self.weights(len(x)))

    def named(self, names: Sequence[str] | None, count: int) -> Gauge:
        return OWL(self.weights(count))

    def nonnegative(self, rows: int) -> BlockGauge | None:
        return OWL(self.weights(rows)).nonnegative(rows)

    def check(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 1:
            raise ValueError(
                f"{type(self).__name__} measures vectors, not an x of shape {shape}: give the weights of all "
                "coefficients, OWL(weights)."
            )

    def scores(self, z: Array) -> Array:
        return self._ordered(z).scores(z)

    def atom(self, z: Array, block: int) -> Atom:
        return self._ordered(z).atom(z, block)

    def value(self, x: Array) -> float:
        return self._ordered(x).value(x)

    def lift(self, design: Design) -> tuple[Design, BlockGauge]:
        return design, OWL(self.weights(design.shape[1]))

    def lower(self, c: Array) -> Array:
        return c

    def touched(self, chosen: Mask) -> Mask:
        return chosen


@dataclass(frozen=True, eq=False, repr=False)
class OSCAR(OrderedByCount):
    """An `OWL` with weights that fall by equal steps, `a + b (d - i)`: `a |x|_1` and b times all pairwise maxima.

    The second part, the sum of `max(|x_i|, |x_j|)` over all pairs, draws correlated features to one absolute value.

    Bondell and Reich, Simultaneous regression shrinkage, variable selection, and supervised clustering of predictors
    with OSCAR, Biometrics 64 (2008).

    >>> import numpy as np
    >>> OSCAR(1.0, 0.5).value(np.array([3.0, -2.0, 0.0]))
    9.0
    """

    a: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self, a=self.a, b=self.b)

    def weights(self, count: int) -> Array:
        return self.a + self.b * np.arange(count - 1.0, -1.0, -1.0)


@dataclass(frozen=True, eq=False, repr=False)
class SLOPE(OrderedByCount):
    """An `OWL` with weights of the Benjamini-Hochberg procedure, normal quantiles of `1 - i q / (2 d)`.

    For independent features and normal errors `q` is the rate of false discoveries that the weights aim at. The
    strength of the penalty stands for the standard deviation of the errors.

    >>> SLOPE(0.1).weights(3).round(3).tolist()
    [2.128, 1.834, 1.645]
    """

    q: float = 0.1

    def __post_init__(self) -> None:
        require_positive(self, q=self.q)
        if not self.q < 1:
            raise ValueError(f"SLOPE: q must be a rate below 1, got {self.q!r}.")

    def weights(self, count: int) -> Array:
        from scipy.special import ndtri  # noqa: PLC0415 -- its import takes longer than many fits

        return np.asarray(-ndtri(self.q * np.arange(1, count + 1) / (2 * count)))
