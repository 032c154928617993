"""Losses with error bounds: what is certain of values, slopes and curvature when predictions are known up to a radius.

All speak of one sample at a time; `t` is the slope loss'(u). The second derivative of each of these losses is a
function of the slope, so that an interval for the slope gives one for the curvature.
"""

from typing import Protocol

import numpy as np

from atomsieve.losses import Huber, Logistic, Loss, Multinomial, Poisson, Squared, SquaredHinge
from atomsieve.numerics.enclosures import FUNCTION, Enclosure, exp, log, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array


class BoundedLoss(Protocol):
    """What a certificate asks of a loss."""

    def slopes(self, u: Enclosure, y: Array) -> Enclosure:
        """Return loss'(u)."""

    def values(self, u: Enclosure, y: Array) -> Enclosure:
        """Return the losses."""

    def conjugates(self, low: Array, high: Array, y: Array) -> Array:
        """Return upper bounds of the conjugate over slopes between low and high, those in its domain."""

    def curvatures(self, low: Array, high: Array, y: Array) -> tuple[Array, Array]:
        """Return a lower and an upper bound of loss'' over slopes between low and high."""

    def largest(self, high: Array, low: Array, y: Array, gap_bound: Array) -> Array:
        """Return an upper bound of loss'' between any slope from low to high and the optimum (see smoothness_towards).

        `gap_bound` is divided by the weights already.
        """


class Smooth:
    """A loss with a bound of its curvature everywhere."""

    most = 1.0

    def largest(self, high: Array, low: Array, y: Array, gap_bound: Array) -> Array:  # noqa: ARG002
        return np.full(high.shape, self.most)


class BoundedSquared(Smooth):
    """`(u - y)^2 / 2`."""

    def slopes(self, u: Enclosure, y: Array) -> Enclosure:
        return u - Enclosure.exact(y)

    def values(self, u: Enclosure, y: Array) -> Enclosure:
        residual = self.slopes(u, y)
        return residual * residual * Enclosure.exact(0.5)

    def conjugates(self, low: Array, high: Array, y: Array) -> Array:
        return np.maximum(*(_square_conjugate(t, y) for t in (low, high)))  # convex: largest at an end

    def curvatures(self, low: Array, high: Array, y: Array) -> tuple[Array, Array]:  # noqa: ARG002
        return np.ones_like(low), np.ones_like(low)


class BoundedHuber(BoundedSquared):
    """The same up to residuals of `delta`, linear beyond."""

    def __init__(self, delta: float) -> None:
        self.delta = delta

    def slopes(self, u: Enclosure, y: Array) -> Enclosure:
        residual = super().slopes(u, y)
        return Enclosure(np.clip(residual.mid, -self.delta, self.delta), residual.rad)

    def values(self, u: Enclosure, y: Array) -> Enclosure:
        residual = super().slopes(u, y)
        clipped = np.clip(residual.mid, -self.delta, self.delta)
        at_mid = Enclosure.exact(clipped) * (Enclosure.exact(residual.mid) - Enclosure.exact(clipped / 2))
        return at_mid.widened(np.minimum(self.delta, residual.size) * residual.rad)

    def conjugates(self, low: Array, high: Array, y: Array) -> Array:
        return super().conjugates(np.clip(low, -self.delta, self.delta), np.clip(high, -self.delta, self.delta), y)

    def curvatures(self, low: Array, high: Array, y: Array) -> tuple[Array, Array]:  # noqa: ARG002
        inside = (low > -self.delta) & (high < self.delta)
        beyond = (low >= self.delta) | (high <= -self.delta)
        return inside.astype(np.float64), (~beyond).astype(np.float64)


class BoundedSquaredHinge(BoundedSquared):
    """`max(0, 1 - y u)^2 / 2`, y = -1 or 1."""

    def _shortfall(self, u: Enclosure, y: Array) -> Enclosure:
        short = Enclosure.exact(1.0) - Enclosure(y * u.mid, u.rad)
        return Enclosure(np.maximum(short.mid, 0.0), short.rad)

    def slopes(self, u: Enclosure, y: Array) -> Enclosure:
        short = self._shortfall(u, y)
        return Enclosure(-y * short.mid, short.rad)

    def values(self, u: Enclosure, y: Array) -> Enclosure:
        short = self._shortfall(u, y)
        return short * short * Enclosure.exact(0.5)

    def conjugates(self, low: Array, high: Array, y: Array) -> Array:
        return super().conjugates(
            np.where(y > 0, low, np.maximum(low, 0.0)), np.where(y > 0, np.minimum(high, 0.0), high), y
        )

    def curvatures(self, low: Array, high: Array, y: Array) -> tuple[Array, Array]:
        least, most = np.where(y > 0, -high, low), np.where(y > 0, -low, high)  # of the shortfall
        return (least > 0).astype(np.float64), (most > 0).astype(np.float64)


class BoundedLogistic(Smooth):
    """`log(1 + exp(-y u))`, y = -1 or 1; `-y t` is a probability p, and the curvature `p (1 - p)`."""

    most = 0.25

    def slopes(self, u: Enclosure, y: Array) -> Enclosure:
        margin = y * u.mid
        decay = np.exp(-np.abs(margin))
        p = np.where(margin > 0, decay, 1.0) / (1 + decay)
        with np.errstate(over="ignore", invalid="ignore"):
            # log p falls by at most as much as the margin grows
            moved = np.minimum(p * (1 + 16 * EPS) * np.expm1(u.rad) * (1 + FUNCTION), u.rad / 4)
            return Enclosure(-y * p, up(moved + (FUNCTION + 4 * EPS) * p + 2.0**-1021))

    def values(self, u: Enclosure, y: Array) -> Enclosure:
        margin = y * u.mid
        tail = np.log1p(np.exp(-np.abs(margin)))
        values = np.maximum(-margin, 0.0) + tail
        return Enclosure(values, up((2 * FUNCTION + 4 * EPS) * values + u.rad + 2.0**-1021))

    def conjugates(self, low: Array, high: Array, y: Array) -> Array:
        return np.maximum(*(_entropy(np.clip(-y * t, 0.0, 1.0)) for t in (low, high)))

    def curvatures(self, low: Array, high: Array, y: Array) -> tuple[Array, Array]:
        ends = np.clip(np.where(y > 0, -high, low), 0.0, 1.0), np.clip(np.where(y > 0, -low, high), 0.0, 1.0)
        bends = [p * (1 - p) for p in ends]
        least = np.minimum(*bends) * (1 - 4 * EPS)
        most = np.where((ends[0] <= 0.5) & (ends[1] >= 0.5), 0.25, np.maximum(*bends))
        return least, np.minimum(up(most), 0.25)


class BoundedPoisson:
    """`exp(u) - y u + y log y - y`; the curvature is the rate `exp(u) = t + y`."""

    def slopes(self, u: Enclosure, y: Array) -> Enclosure:
        return exp(u) - Enclosure.exact(y)

    def values(self, u: Enclosure, y: Array) -> Enclosure:
        return exp(u) - Enclosure.exact(y) * u + self._offset(y)

    def _offset(self, y: Array) -> Enclosure:
        counts = Enclosure.exact(np.where(y > 0, y, 1.0))
        logs = log(counts)
        product = counts * logs
        return Enclosure(np.where(y > 0, product.mid, 0.0), product.rad) - Enclosure.exact(y)

    def conjugates(self, low: Array, high: Array, y: Array) -> Array:
        offset, ends = self._offset(y), []
        for t in (low, high):
            rate = Enclosure.exact(t) + Enclosure.exact(y)
            ends += [np.maximum(rate.low, 0.0), np.maximum(rate.high, 0.0)]
        bounds = [(Enclosure.exact(_x_log_x(rate)) - Enclosure.exact(rate) - offset).high for rate in ends]
        return np.asarray(np.maximum.reduce(bounds))  # convex in the rate

    def curvatures(self, low: Array, high: Array, y: Array) -> tuple[Array, Array]:
        least, most = Enclosure.exact(low) + Enclosure.exact(y), Enclosure.exact(high) + Enclosure.exact(y)
        return np.maximum(least.low, 0.0), np.maximum(most.high, 0.0)

    def largest(self, high: Array, low: Array, y: Array, gap_bound: Array) -> Array:
        # v > u: (v - u) (exp(v) - exp(u)) >= exp(u) (v - u)^2, and exp(v) - exp(u) - exp(u) (v - u) >= half of that
        with np.errstate(all="ignore"):
            rate = np.maximum((Enclosure.exact(low) + Enclosure.exact(y)).low, 0.0)
            further = up(np.sqrt(up(gap_bound / rate)))
            most = np.maximum((Enclosure.exact(high) + Enclosure.exact(y)).high, 0.0)
            return np.asarray(up(most * np.exp(further) * (1 + 4 * FUNCTION)))


class BoundedMultinomial(Smooth):
    """`log(sum of exp(u)) - u[y]`; the slopes are probabilities, less 1 at the label."""

    def slopes(self, u: Enclosure, y: Array) -> Enclosure:
        scaled = np.exp(u.mid - u.mid.max(axis=1, keepdims=True))
        p = scaled / scaled.sum(axis=1, keepdims=True)
        classes, most = u.mid.shape[1], u.rad.max(axis=1, keepdims=True)
        # the differences are rounded before exp
        rounded = EPS * (np.abs(u.mid).max(axis=1, keepdims=True) * 2)
        with np.errstate(over="ignore", invalid="ignore"):
            part = np.expm1(2 * (most + rounded)) * (1 + FUNCTION) + 2 * FUNCTION + (classes + 8) * EPS
        label = np.arange(classes)[None, :] == y[:, None]
        others = np.where(label, 0.0, p).sum(axis=1, keepdims=True)
        t = np.where(label, -others, p)
        return Enclosure(
            t,
            up(
                part * (1 + part) * (np.abs(t) + 2.0**-1015) * (1 + classes * EPS)
                + classes * EPS * np.abs(t)
                + 2.0**-1015
            ),
        )

    def values(self, u: Enclosure, y: Array) -> Enclosure:
        top = u.mid.max(axis=1)
        logs = np.log(np.exp(u.mid - top[:, None]).sum(axis=1))
        own = u.mid[np.arange(len(y)), y]
        classes, most = u.mid.shape[1], np.abs(u.mid).max(axis=1)
        error = (2 * FUNCTION + (classes + 8) * EPS) * (1 + logs) + 8 * EPS * most + 2 * u.rad.max(axis=1)
        return Enclosure((top - own) + logs, up(error))

    def conjugates(self, low: Array, high: Array, y: Array) -> Array:
        """Return upper bounds: the negative entropy of probabilities, `sum of p log p`, entry by entry."""
        label = np.arange(low.shape[1])[None, :] == y[:, None]
        ends = [np.clip(t + label, 0.0, 1.0) for t in (low, high)]
        ends = [np.clip(ends[0] - 2 * EPS * label, 0.0, 1.0), np.clip(ends[1] + 2 * EPS * label, 0.0, 1.0)]
        entries = np.maximum(*(_x_log_x(p) for p in ends))
        return np.asarray(entries.sum(axis=1) + up(low.shape[1] * 2 * EPS * np.abs(entries).sum(axis=1)))


def _square_conjugate(t: Array, y: Array) -> Array:
    """Return an upper bound of `t^2 / 2 + t y`."""
    exact = Enclosure.exact(t)
    return (exact * exact * Enclosure.exact(0.5) + exact * Enclosure.exact(y)).high


def _x_log_x(p: Array) -> Array:
    """Return an upper bound of `p log p`, 0 at 0, for a float p."""
    logs = np.log(np.where(p > 0, p, 1.0))
    return np.asarray(p * logs + up((FUNCTION + 2 * EPS) * np.abs(p * logs) + 2.0**-1021))


def _entropy(p: Array) -> Array:
    """Return an upper bound of `p log p + (1 - p) log(1 - p)`, for a float p."""
    rest = np.log1p(-np.where(p < 1, p, 0.0))
    other = (1 - p) * rest
    first = _x_log_x(p)
    with np.errstate(over="ignore"):
        error = up((FUNCTION + 4 * EPS) * np.abs(other) + 2 * EPS * np.abs(first) + 2.0**-1021)
        return np.asarray(first + other + error)


def bounded_loss(loss: Loss) -> BoundedLoss | None:
    """Return a loss with its error bounds, None where none are known."""
    kind = type(loss)
    if kind is Huber:
        return BoundedHuber(loss.delta)  # type: ignore[attr-defined]
    known = {
        Squared: BoundedSquared,
        SquaredHinge: BoundedSquaredHinge,
        Logistic: BoundedLogistic,
        Multinomial: BoundedMultinomial,
        Poisson: BoundedPoisson,
    }
    return known[kind]() if kind in known else None  # type: ignore[return-value]
