"""Logistic loss: `log(1 + exp(-y u))`."""

from dataclasses import dataclass

import numpy as np

from atomsieve.core import _core
from atomsieve.losses.base import Loss, infinite_where_not, require_signs, x_log_x
from atomsieve.losses.bounds import SETTLED, CompiledBounds, LossBounds
from atomsieve.numerics.enclosures import Enclosure
from atomsieve.numerics.namespace import array_namespace
from atomsieve.typing import Array, Samples

SLOPES, CURVATURES, VALUES, BENDS = range(4)
"""What the core knows of this loss."""


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


class LogisticBounds(CompiledBounds):
    """Sharper bounds of the curvature `p (1 - p)`, and those of the compiled core (`core/logistic.h`).

    The curvature is concave in p, so its minimum is at an end of the interval. Evaluated as a product, it would have
    wider bounds. Losses that are made of this one have formulas of their own, which count.
    """

    @property
    def number(self) -> int | None:
        return 1 if type(self.loss) is Logistic else None

    def slopes_at(self, u: Array, y: Array) -> Enclosure:
        found = self._compiled(SLOPES, u, u, y)
        return super().slopes_at(u, y) if found is None else Enclosure(*found)

    def curvature(self, u: Enclosure, y: Array) -> Enclosure:
        found = self._compiled(CURVATURES, u.mid, u.rad, y)
        return super().curvature(u, y) if found is None else Enclosure(*found)

    def values_at(self, u: Array, y: Array) -> Enclosure:
        found = self._compiled(VALUES, u, u, y)
        return super().values_at(u, y) if found is None else Enclosure(*found)

    def curvatures(self, low: Array, high: Array, y: Array) -> tuple[Array, Array]:
        given = (np.ascontiguousarray(part, dtype=np.float64) for part in (low, high, y))
        out = np.empty((2, len(low)))
        if not _core.logistic(BENDS, *given, out):
            raise ValueError("expected a label for each slope.")
        return out[0], out[1]

    def between(
        self, slopes: Enclosure, shrink: float, y: Array, counts: Array, gap_bound: float
    ) -> tuple[Array, Array]:
        out = np.empty((5, len(y)))
        given = slopes.mid, slopes.rad, y, counts, shrink, gap_bound, SETTLED, out
        if self.number is None or not _core.reach(*given):
            return super().between(slopes, shrink, y, counts, gap_bound)
        return out[0].copy(), out[1].copy()

    def _compiled(self, what: int, first: Array, second: Array, y: Array) -> Array | None:
        """Return two rows of bounds from the core; None where it does not know the formula, or cannot read numbers."""
        if self.number is None:
            return None
        out = np.empty((2, len(y)))
        return out if _core.logistic(what, first, second, y, out) else None


def _variance(p: Samples) -> Samples:
    """Return the variance of a label with probability p."""
    return p * (1 - p)
