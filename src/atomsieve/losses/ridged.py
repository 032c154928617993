"""A ridge on x as samples: `F(A x) + ridge / 2 |x|^2` is the loss of n + d samples, the last d of them squared.

A ridge beside a gauge that has neither prices nor a prox in x (`Image`, `LatentGroup`, `Atoms`, `Union`, `Oracle`) is
this loss, of the rows of A and of those that make x. So the gap and all that follows from it are those of a problem
without a ridge: `z = -A' theta - ridge x`, and it holds for every gauge.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from atomsieve.losses.base import Loss
from atomsieve.losses.bounds import LossBounds
from atomsieve.numerics.enclosures import Enclosure, up
from atomsieve.numerics.namespace import array_namespace
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Samples

ROUNDED = 8 * EPS
"""How far the stated weight of a ridge, a product of three numbers, may be off, relative to it."""


@dataclass(frozen=True, eq=False, repr=False)
class Ridged(Loss):
    """A loss of the first `count` samples, and `curved u^2 / 2` of all others, of which there may be none.

    `curved` is the smoothness of the loss, if that is finite: then no sample is more curved than others, and the weight
    of the ridge is divided by it.

    >>> import numpy as np
    >>> from atomsieve import Logistic
    >>> Ridged(Logistic(), 1).value(np.array([0.0, 2.0]), np.array([1.0, 0.0])).round(4)
    array([0.6931, 0.5   ])
    """

    loss: Loss
    count: int

    @property
    def curved(self) -> float:
        """The curvature of the samples of the ridge."""
        return self.loss.smoothness if 0 < self.loss.smoothness < math.inf else 1.0

    @property
    def smoothness(self) -> float:  # type: ignore[override]
        return max(self.loss.smoothness, self.curved)

    @property
    def attained(self) -> bool:  # type: ignore[override]
        return self.loss.attained

    @property
    def quadratic(self) -> bool:  # type: ignore[override]
        return self.loss.quadratic

    @property
    def translates(self) -> bool:  # type: ignore[override]
        return self.loss.translates

    @property
    def stated_loss(self) -> Loss:
        return self.loss

    def _each(self, own: Callable[..., Samples], others: Callable[..., Samples], *arguments: Samples) -> Samples:
        """Return what the loss says of its samples, and what the ridge says of all others."""
        first, rest = ([part[where] for part in arguments] for where in (slice(self.count), slice(self.count, None)))
        return np.concatenate([own(*first), others(*rest)])

    def smoothness_near(self, u: Samples) -> float:
        return max(self.loss.smoothness_near(u[: self.count]), self.curved)

    def smoothness_towards(self, slopes: Samples, y: Samples, gap_bound: Samples) -> Samples:
        return self._each(self.loss.smoothness_towards, self._flat, slopes, y, gap_bound)

    def _flat(self, u: Samples, *_: Samples) -> Samples:
        return array_namespace(u).full_like(u, self.curved)

    def value(self, u: Samples, y: Samples) -> Samples:
        return self._each(self.loss.value, lambda u, y: self.curved * (u - y) * (u - y) / 2, u, y)

    def gradient(self, u: Samples, y: Samples) -> Samples:
        return self._each(self.loss.gradient, lambda u, y: self.curved * (u - y), u, y)

    def curvature(self, u: Samples, y: Samples) -> Samples:
        return self._each(self.loss.curvature, self._flat, u, y)

    def curvature_at_slope(self, t: Samples, y: Samples) -> Samples:
        return self._each(self.loss.curvature_at_slope, self._flat, t, y)

    def conjugate(self, t: Samples, y: Samples) -> Samples:
        return self._each(self.loss.conjugate, lambda t, y: t * (t / self.curved / 2 + y), t, y)

    def fenchel_young(self, u: Samples, t: Samples, y: Samples) -> Samples:
        def ridge(u: Samples, t: Samples, y: Samples) -> Samples:
            apart = u - y - t / self.curved
            return self.curved * apart * apart / 2

        return self._each(self.loss.fenchel_young, ridge, u, t, y)

    @property
    def bounds(self) -> LossBounds:
        return RidgedBounds(self)


class RidgedBounds(LossBounds):
    """The bounds of the loss for its samples; those of the ridge cover the rounding of its weight.

    Targets of the ridge are 0. With the exact weight, its curvature is between `curved (1 - ROUNDED)` and
    `curved (1 + ROUNDED)`, beside the weight that is stated.
    """

    loss: Ridged

    @cached_property
    def _own(self) -> LossBounds:
        return self.loss.loss.bounds

    @cached_property
    def _bend(self) -> Enclosure:
        return Enclosure.exact(self.loss.curved).widened(ROUNDED * self.loss.curved)

    @cached_property
    def smoothness(self) -> float:
        return max(self._own.smoothness, float(self._bend.high))

    @cached_property
    def entry_smoothness(self) -> float:
        return max(self._own.entry_smoothness, float(self._bend.high))

    def slopes(self, u: Enclosure, y: Array) -> Enclosure:
        n = self.loss.count
        return _joined(self._own.slopes(u[:n], y[:n]), u[n:] * self._bend)

    def curvature(self, u: Enclosure, y: Array) -> Enclosure:
        n = self.loss.count
        return _joined(self._own.curvature(u[:n], y[:n]), Enclosure.exact(np.ones(len(y[n:]))) * self._bend)

    def values(self, u: Enclosure, slopes: Enclosure, y: Array) -> Enclosure:
        n, there = self.loss.count, u[self.loss.count :]
        return _joined(self._own.values(u[:n], slopes[:n], y[:n]), there * there * self._bend * 0.5)

    def conjugates(self, low: Array, high: Array, y: Array) -> Array:
        n = self.loss.count
        t = np.maximum(np.abs(low[n:]), np.abs(high[n:]))
        bound = up(up(t * t) / 2 / float(self._bend.low))
        return np.concatenate([self._own.conjugates(low[:n], high[:n], y[:n]), bound])

    def curvatures(self, low: Array, high: Array, y: Array) -> tuple[Array, Array]:
        n = self.loss.count
        least, most = self._own.curvatures(low[:n], high[:n], y[:n])
        rest = np.ones(len(low[n:]))
        return np.append(least, rest * float(self._bend.low)), np.append(most, rest * float(self._bend.high))

    def largest(self, low: Array, high: Array, y: Array, gap_bound: Array) -> Array:
        n = self.loss.count
        rest = np.full(len(low[n:]), float(self._bend.high))
        return np.append(self._own.largest(low[:n], high[:n], y[:n], gap_bound[:n]), rest)


def _joined(own: Enclosure, others: Enclosure) -> Enclosure:
    """Return the numbers of the samples and of the ridge."""
    return Enclosure(np.append(own.mid, others.mid), np.append(own.rad, others.rad))
