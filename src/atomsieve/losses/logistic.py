"""Logistic loss: `log(1 + exp(-y u))`."""

from dataclasses import dataclass

import numpy as np

from atomsieve.losses.base import Loss, infinite_where_not, require_signs, x_log_x
from atomsieve.losses.bounds import LossBounds
from atomsieve.numerics.enclosures import LEAST
from atomsieve.numerics.namespace import array_namespace
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Samples


@dataclass(frozen=True, eq=False, repr=False)
class Logistic(Loss):
    """Logistic loss, `loss(u, y) = log(1 + exp(-y u))`, for labels -1 and 1.

    >>> import numpy as np
    >>> float(Logistic().value(np.array([0.0]), np.array([1.0]))[0])
    0.6931471805599453
    """

    smoothness = 0.25
    attained = False
    probabilistic = True
    mean_is = "log-loss"
    targets = "signs"
    inverse_link = "logistic"

    def value(self, u: Samples, y: Samples) -> Samples:
        xp = array_namespace(u)
        margin = y * u
        return xp.maximum(-margin, xp.zeros_like(margin)) + xp.log1p(xp.exp(-xp.abs(margin)))

    def gradient(self, u: Samples, y: Samples) -> Samples:
        # sigmoid(-margin) without overflow: the exponent is never positive
        xp = array_namespace(u)
        margin = y * u
        decay = xp.exp(-xp.abs(margin))
        return -y * xp.where(margin > 0, decay, xp.ones_like(decay)) / (1 + decay)

    def curvature(self, u: Samples, y: Samples) -> Samples:
        xp = array_namespace(u)
        decay = xp.exp(-xp.abs(y * u))
        return decay / (1 + decay) ** 2

    def curvature_at_slope(self, t: Samples, y: Samples) -> Samples:
        return _variance(-t * y)

    @property
    def bounds(self) -> LossBounds:
        return LogisticBounds(self)

    def conjugate(self, t: Samples, y: Samples) -> Samples:
        s = -t * y
        return infinite_where_not((s >= 0) & (s <= 1), x_log_x(s) + x_log_x(1 - s))

    def mean(self, u: Samples) -> Samples:
        return -self.gradient(-u, array_namespace(u).ones_like(u))

    def check_targets(self, y: Samples) -> None:
        require_signs(self, y)

    def check_intercept(self, y: Samples) -> None:
        xp = array_namespace(y)
        if bool(xp.all(y == y[0])):
            raise ValueError(
                f"Logistic: every label with a positive weight is {int(y[0])}, so the best intercept is "
                "infinite. Give labels of both classes or leave out the intercept."
            )


class LogisticBounds(LossBounds):
    """Sharper bounds of the curvature `p (1 - p)`.

    It is concave, so its minimum is at an end of the interval. Evaluated as a product, it would have wider bounds.
    """

    def curvatures(self, low: Array, high: Array, y: Array) -> tuple[Array, Array]:
        ends = [np.clip(-y * t, 0.0, 1.0) for t in (low, high)]
        bends = [_variance(p) for p in ends]  # rounded twice
        middle = (np.minimum(*ends) <= 0.5) & (np.maximum(*ends) >= 0.5)
        least = np.minimum(*bends) * (1 - 4 * EPS) - LEAST
        most = np.where(middle, 0.25, np.maximum(*bends) * (1 + 4 * EPS) + LEAST)
        return np.fmax(least, 0.0), np.fmin(most, 0.25)


def _variance(p: Samples) -> Samples:
    """Return the variance of a label with probability p."""
    return p * (1 - p)
