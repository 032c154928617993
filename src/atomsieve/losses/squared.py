"""Squared error: `(u - y)^2 / 2`."""

from dataclasses import dataclass

from atomsieve.losses.base import Loss
from atomsieve.numerics.namespace import array_namespace
from atomsieve.typing import Samples


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
