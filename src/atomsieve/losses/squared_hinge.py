"""Squared hinge loss: `max(0, 1 - y u)^2 / 2`."""

from dataclasses import dataclass

from atomsieve.losses.base import Loss, infinite_where_not, require_signs, zero_where_not
from atomsieve.numerics.namespace import array_namespace
from atomsieve.typing import Samples


@dataclass(frozen=True, eq=False, repr=False)
class SquaredHinge(Loss):
    """Squared hinge, `loss(u, y) = max(0, 1 - y u)^2 / 2`, for labels -1 and 1.

    >>> import numpy as np
    >>> SquaredHinge().value(np.array([-1.0, 2.0]), np.array([1.0, 1.0]))
    array([2., 0.])
    """

    smoothness = 1.0
    targets = "signs"

    def value(self, u: Samples, y: Samples) -> Samples:
        shortfall = self._shortfall(u, y)
        return shortfall * shortfall / 2

    def gradient(self, u: Samples, y: Samples) -> Samples:
        return -y * self._shortfall(u, y)

    def curvature(self, u: Samples, y: Samples) -> Samples:
        return zero_where_not(y * u < 1, array_namespace(u).ones_like(u))

    def curvature_at_slope(self, t: Samples, y: Samples) -> Samples:
        return zero_where_not(t * y < 0, array_namespace(t).ones_like(t))

    def conjugate(self, t: Samples, y: Samples) -> Samples:
        return infinite_where_not(t * y <= 0, t * (t / 2 + y))

    def fenchel_young(self, u: Samples, t: Samples, y: Samples) -> Samples:
        shortfall, size = self._shortfall(u, y), -t * y
        surplus = shortfall - (1 - y * u)  # 0 where there is a shortfall
        return infinite_where_not(size >= 0, (shortfall - size) ** 2 / 2 + size * surplus)

    def check_targets(self, y: Samples) -> None:
        require_signs(self, y)

    def _shortfall(self, u: Samples, y: Samples) -> Samples:
        gap = 1 - y * u
        return array_namespace(u).maximum(gap, array_namespace(u).zeros_like(gap))
