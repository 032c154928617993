"""Losses of one prediction."""

from typing import Any

import numpy as np
from flint import arb

from .balls import clipped, larger_of, positive_part, square
from .doubles import DOWN, TINY, UP, exp_below, known
from .verdict import Refused


class Loss:
    """One loss: value, slope, conjugate of a slope, and the range of loss'' over a range of slopes; M bounds loss''."""

    def __init__(self, piece: dict[str, Any]) -> None:
        self.kind = piece["type"]
        self.kink = float(piece.get("delta", 1))
        self.delta = arb(self.kink)

    def check_targets(self, y: np.ndarray) -> None:
        """Refuse targets for which the formulas do not hold."""
        if self.kind in ("Logistic", "SquaredHinge") and not np.isin(y, (-1.0, 1.0)).all():
            raise Refused(f"the labels of {self.kind} must be -1 and 1")
        if self.kind == "Poisson" and (y < 0).any():
            raise Refused("counts must not be negative")

    def most(self, low: np.ndarray, high: np.ndarray, y: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Return bounds of loss'' between slopes in [low, high] and the optimum; reach is divided by the weights.

        Poisson, for v > u: `(v - u)(exp(v) - exp(u)) >= exp(u) (v - u)^2`, and the Bregman distance is at least half of
        that. Also `log(t) (t - 1) >= t - 2` and `2 (t log(t) - t + 1) >= t - 2` for t = exp(v - u) > 1. So
        `reach + 2 exp(u)` bounds exp(v), even if exp(u) may be 0.
        """
        if self.kind != "Poisson":
            return np.full(len(y), 0.25 if self.kind in ("Logistic", "Multinomial") else 1.0)
        with np.errstate(all="ignore"):
            least, most = self._rates(low, high, y)
            anyhow = (reach + 2 * most) * UP
            near = most / exp_below(np.sqrt(reach / least) * UP) * UP
        return known(np.minimum(anyhow, np.where((least > 0) & ~np.isnan(near), near, np.inf)))

    @staticmethod
    def _rates(low: np.ndarray, high: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return bounds of `exp(u)`, which is the slope plus y."""
        with np.errstate(all="ignore"):
            below, above = np.nextafter(low + y, -np.inf), np.nextafter(known(high) + y, np.inf)
        return np.fmax(below, 0.0), np.fmax(above, 0.0)

    @property
    def translates(self) -> bool:
        """Whether the loss is a function of u - y."""
        return self.kind in ("Squared", "Huber")

    def slopes(self, u: list[arb], y: list[float]) -> list[arb]:
        """Return the slopes of all samples."""
        if self.kind == "Squared":
            return [v - t for v, t in zip(u, y)]
        if self.kind == "Logistic":
            return [1 / (1 + (-v).exp()) if t < 0 else -1 / (1 + v.exp()) for v, t in zip(u, y)]
        return [self.slope(v, t) for v, t in zip(u, y)]

    def slope(self, u: arb, y: float) -> arb:
        """Return the slope of one sample."""
        if self.kind == "Poisson":
            return u.exp() - arb(y)
        if self.kind == "Logistic":
            return -y / (1 + (y * u).exp())
        if self.kind == "SquaredHinge":
            return -y * positive_part(1 - y * u)
        residual = u - arb(y)
        return residual if self.kind == "Squared" else residual.max(-self.delta).min(self.delta)

    def least_around(self, low: np.ndarray, high: np.ndarray, y: np.ndarray, moved: np.ndarray) -> np.ndarray:
        """Return lower bounds of loss'' where u moves by at most so much from where the slopes are in [low, high].

        Slopes of Squared, Huber and SquaredHinge move by no more than u. The logarithm of loss'' moves by no more than
        u for Logistic and Poisson, and that of a probability by no more than twice as much.
        """
        if self.kind in ("Logistic", "Poisson", "Multinomial"):
            factor = exp_below(moved * (2.0 if self.kind == "Multinomial" else 1.0))
            return np.asarray(np.maximum(self.bends(low, high, y)[0] * factor * DOWN - TINY, 0.0))
        with np.errstate(all="ignore"):
            ends = np.nextafter(low - known(moved), -np.inf), np.nextafter(high + known(moved), np.inf)
        return self.bends(*ends, y)[0]

    def values(self, u: list[arb], y: list[float], slopes: list[arb]) -> list[arb]:
        """Return the losses of all samples."""
        return [self.value(*sample) for sample in zip(u, y, slopes)]

    def conjugates(self, slopes: list[arb], y: list[float]) -> list[arb]:
        """Return upper bounds of the conjugates of all samples."""
        return [self.conjugate(t, target) for t, target in zip(slopes, y)]

    def value(self, u: arb, y: float, slope: arb) -> arb:
        """Return the value at the middle of a ball, plus or minus the largest slope times the radius.

        For Logistic it is minus the logarithm of the probability of the label, and the slope that of the other one.
        """
        if self.kind == "Logistic" and abs(slope) < 0.75:
            return -(-abs(slope)).log1p()
        return self._at(arb(u.mid()), y) + arb(0, (abs(slope) * arb(u.rad())).upper())

    def _at(self, u: arb, y: float) -> arb:
        if self.kind == "Poisson":
            return u.exp() - arb(y) * u + self._offset(y)
        if self.kind == "Logistic":
            return (1 + (-y * u).exp()).log() if y * u > -50 else -y * u + (1 + (y * u).exp()).log()
        t = self.slope(u, y)
        return t * (u - arb(y) - t / 2) if self.kind == "Huber" else square(t) / 2

    def conjugate(self, t: arb, y: float) -> arb:
        """Return an upper bound of the conjugate over the ball t: it is convex, so the ends are enough."""
        share = -y * t
        if self.kind == "Logistic" and 0 < share < 1:
            return share * share.log() + (1 - share) * (-share).log1p()
        ends = [arb(t.lower()), arb(t.upper())]
        if self.kind == "Poisson":
            rates = [positive_part(end + arb(y)) for end in ends]
            values = [(r * r.log() if r > 0 else arb(0)) - r - self._offset(y) for r in rates]
            return larger_of(*values)
        if self.kind == "Multinomial":  # what one class adds; it is not positive
            shares = (clipped(end + arb(y), arb(0), arb(1)) for end in ends)
            return larger_of(*(p * p.log() if p > 0 else arb(0) for p in shares))
        if self.kind == "Logistic":
            return larger_of(*(self._entropy(clipped(-y * end, arb(0), arb(1))) for end in ends))
        if self.kind == "Huber":
            ends = [clipped(end, -self.delta, self.delta) for end in ends]
        if self.kind == "SquaredHinge":
            ends = [-y * positive_part(-y * end) for end in ends]
        return larger_of(*(end * end / 2 + end * arb(y) for end in ends))

    @staticmethod
    def _offset(y: float) -> arb:
        return arb(y) * arb(y).log() - arb(y) if y > 0 else arb(0)

    @staticmethod
    def _entropy(p: arb) -> arb:
        return sum((q * q.log() for q in (p, 1 - p) if not q == 0), arb(0))

    def bends(self, low: np.ndarray, high: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return bounds of loss'' over slopes from low to high; for a class, q and a bound of p (1 - p)."""
        if self.kind == "Squared":
            return np.ones(len(y)), np.ones(len(y))
        if self.kind == "Poisson":
            return self._rates(low, high, y)
        if self.kind == "Huber":
            inside, beyond = (low > -self.kink) & (high < self.kink), (low >= self.kink) | (high <= -self.kink)
            return inside * 1.0, ~beyond * 1.0
        if self.kind == "SquaredHinge":  # slopes are minus y times the margin's shortfall
            return np.where(y < 0, low > 0, high < 0) * 1.0, np.where(y < 0, ~(high <= 0), ~(low >= 0)) * 1.0
        if self.kind == "Logistic":
            low, high, y = np.where(y < 0, low, -high), np.where(y < 0, high, -low), np.zeros(len(y))
        least, most = self.shares(low, high, y)
        with np.errstate(all="ignore"):
            ends = [p * (1 - p) for p in (least, most)]
        top = np.where((least > 0.5) | (most < 0.5), np.maximum(*ends) * UP + TINY, 0.25)
        if self.kind == "Multinomial":
            return least, top
        return np.maximum(np.minimum(*ends) * DOWN - TINY, 0.0), top

    def shares(self, low: np.ndarray, high: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return bounds of probabilities: slopes plus 1 at the label, which y marks."""
        least, most = self._rates(low, high, y)
        return np.clip(least, 0.0, 1.0), np.clip(most, 0.0, 1.0)
