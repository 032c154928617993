"""Huber's loss: quadratic near zero, linear beyond `delta`."""

from dataclasses import dataclass

from atomsieve.intake.arguments import require_positive
from atomsieve.losses.base import Loss, infinite_where_not, zero_where_not
from atomsieve.numerics.namespace import array_namespace
from atomsieve.typing import Samples


@dataclass(frozen=True, eq=False, repr=False)
class Huber(Loss):
    """Huber's loss of r = u - y: `r^2 / 2` for `|r| <= delta`, otherwise `delta |r| - delta^2 / 2`.

    Huber, Robust Estimation of a Location Parameter, Annals of Mathematical Statistics 35 (1964).

    >>> import numpy as np
    >>> Huber(1.0).value(np.array([0.5, 3.0]), np.array([0.0, 0.0]))
    array([0.125, 2.5  ])
    """

    delta: float = 1.0
    smoothness = 1.0
    translates = True

    def __post_init__(self) -> None:
        require_positive(self, delta=self.delta)

    def value(self, u: Samples, y: Samples) -> Samples:
        clipped = self.gradient(u, y)
        return clipped * ((u - y) - clipped / 2)

    def gradient(self, u: Samples, y: Samples) -> Samples:
        return array_namespace(u).clip(u - y, -self.delta, self.delta)

    def curvature(self, u: Samples, y: Samples) -> Samples:
        xp = array_namespace(u)
        return zero_where_not(xp.abs(u - y) <= self.delta, xp.ones_like(u))

    def curvature_at_slope(self, t: Samples, y: Samples) -> Samples:
        xp = array_namespace(t)
        return zero_where_not(xp.abs(t) < self.delta, xp.ones_like(t))

    def conjugate(self, t: Samples, y: Samples) -> Samples:
        return infinite_where_not(array_namespace(t).abs(t) <= self.delta, t * (t / 2 + y))

    def fenchel_young(self, u: Samples, t: Samples, y: Samples) -> Samples:
        clipped = self.gradient(u, y)
        inside = array_namespace(t).abs(t) <= self.delta
        return infinite_where_not(inside, (clipped - t) * ((u - y) - (clipped + t) / 2))
