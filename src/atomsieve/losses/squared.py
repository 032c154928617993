"""Squared error: `(u - y)^2 / 2`."""

from dataclasses import dataclass

import numpy as np

from atomsieve.losses.base import Loss
from atomsieve.losses.bounds import CompiledBounds
from atomsieve.numerics.namespace import array_namespace
from atomsieve.typing import Array, Samples


@dataclass(frozen=True, eq=False, repr=False)
class Squared(Loss):
    """Squared error, `loss(u, y) = (u - y)^2 / 2`, for real targets. It overflows for residuals above 1e154.

    >>> import numpy as np
    >>> Squared().value(np.array([3.0]), np.array([1.0]))
    array([2.])
    """

    smoothness = 1.0
    mean_is = "half the mean squared error"
    quadratic = True
    translates = True

    def value(self, u: Samples, y: Samples) -> Samples:
        residual = u - y
        return residual * residual / 2

    def gradient(self, u: Samples, y: Samples) -> Samples:
        return u - y

    def curvature(self, u: Samples, y: Samples) -> Samples:
        return array_namespace(u).ones_like(u)

    def curvature_at_slope(self, t: Samples, y: Samples) -> Samples:
        return array_namespace(t).ones_like(t)

    def conjugate(self, t: Samples, y: Samples) -> Samples:
        return t * (t / 2 + y)

    def fenchel_young(self, u: Samples, t: Samples, y: Samples) -> Samples:
        return (u - y - t) ** 2 / 2

    @property
    def bounds(self) -> CompiledBounds:
        return SquaredBounds(self)


class SquaredBounds(CompiledBounds):
    """Those of the compiled core; the curvature is 1. Losses that are made of this one have formulas of their own."""

    @property
    def number(self) -> int | None:
        return 0 if type(self.loss) is Squared else None

    def curvatures(self, low: Array, high: Array, y: Array) -> tuple[Array, Array]:
        if self.number is None:
            return super().curvatures(low, high, y)
        return np.ones(low.shape), np.ones(low.shape)
