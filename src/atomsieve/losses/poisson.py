"""Poisson loss with the log link: half the deviance."""

from dataclasses import dataclass

import numpy as np

from atomsieve.losses.base import Loss, infinite_where_not, x_log_x
from atomsieve.numerics.namespace import array_namespace
from atomsieve.typing import Samples


@dataclass(frozen=True, eq=False, repr=False)
class Poisson(Loss):
    """Poisson loss of counts y at the rate exp(u), `loss(u, y) = exp(u) - y u + y log y - y`, half the deviance.

    Its curvature exp(u) is unbounded, so steps that need a bound (`ShortStep`) cannot be used. Screening and
    certificates use bounds of the curvature between the point and the optimum.

    >>> import numpy as np
    >>> Poisson().value(np.array([0.0]), np.array([1.0]))
    array([0.])
    """

    smoothness = float("inf")
    attained = False
    targets = "counts"
    inverse_link = "exp"

    def value(self, u: Samples, y: Samples) -> Samples:
        # y (exp(v) - 1 - v) with v = u - log y: in the plain formula terms as large as the counts would cancel
        xp = array_namespace(u)
        v = u - xp.log(xp.where(y > 0, y, xp.ones_like(y)))
        return xp.where(y > 0, y * (xp.expm1(v) - v), xp.exp(u))

    def gradient(self, u: Samples, y: Samples) -> Samples:
        return array_namespace(u).exp(u) - y

    def curvature(self, u: Samples, y: Samples) -> Samples:
        return array_namespace(u).exp(u)

    def curvature_at_slope(self, t: Samples, y: Samples) -> Samples:
        return t + y

    def conjugate(self, t: Samples, y: Samples) -> Samples:
        rate = t + y
        return infinite_where_not(rate >= 0, x_log_x(rate) - rate - self._entropy(y))

    def fenchel_young(self, u: Samples, t: Samples, y: Samples) -> Samples:
        # with r = exp(u) and q = t + y this is q log(q / r) - q + r; its terms cancel if q is near r
        xp = array_namespace(u)
        rate, moved = xp.exp(u), t - self.gradient(u, y)
        part = moved / xp.where(rate > 0, rate, xp.ones_like(rate))
        near = (xp.abs(part) < 0.5) & (rate > 0)
        part = xp.where(near, part, xp.zeros_like(part))
        close, far = rate * ((1 + part) * xp.log1p(part) - part), x_log_x(t + y) - (t + y) * u - (t + y) + rate
        return infinite_where_not(t + y >= 0, xp.where(near, close, far))

    def smoothness_near(self, u: Samples) -> float:
        xp = array_namespace(u)
        return float(xp.exp(xp.max(u)))

    def smoothness_towards(self, slopes: Samples, y: Samples, gap_bound: Samples) -> Samples:
        # v > u: (v - u) (exp(v) - exp(u)) >= exp(u) (v - u)^2, and exp(v) - exp(u) - exp(u) (v - u) >= half of that
        xp = array_namespace(slopes)
        rate = slopes + y
        positive = xp.where(rate > 0, rate, xp.ones_like(rate))
        with np.errstate(over="ignore"):
            largest = positive * xp.exp(xp.sqrt(gap_bound / positive))
        return xp.where(rate > 0, largest, xp.full_like(rate, xp.inf))

    def mean(self, u: Samples) -> Samples:
        return array_namespace(u).exp(u)

    def check_targets(self, y: Samples) -> None:
        if not bool(array_namespace(y).all(y >= 0)):
            raise ValueError("Poisson: targets y are counts and must not be negative.")

    def check_intercept(self, y: Samples) -> None:
        if not bool(array_namespace(y).any(y > 0)):
            raise ValueError(
                "Poisson: every count with a positive weight is 0, so the best intercept is infinite. Give counts that "
                "are not all 0 or leave out the intercept."
            )

    @staticmethod
    def _entropy(y: Samples) -> Samples:
        return x_log_x(y) - y
