"""Losses of one prediction."""

from typing import Any

import numpy as np
from flint import arb

from .balls import clipped, larger_of, positive_part, root, square
from .verdict import Refused


class Loss:
    """One loss: value, slope, conjugate of a slope, and the range of loss'' over a range of slopes; M bounds loss''."""

    def __init__(self, piece: dict[str, Any]) -> None:
        self.kind = piece["type"]
        self.delta = arb(piece.get("delta", 1))

    def check_targets(self, y: np.ndarray) -> None:
        """Refuse targets for which the formulas do not hold."""
        if self.kind in ("Logistic", "SquaredHinge") and not np.isin(y, (-1.0, 1.0)).all():
            raise Refused(f"the labels of {self.kind} must be -1 and 1")
        if self.kind == "Poisson" and (y < 0).any():
            raise Refused("counts must not be negative")

    def most(self, low: arb, high: arb, y: float, reach: arb) -> arb:
        """Return a bound of loss'' between a slope in [low, high] and the optimum; reach is divided by the weight.

        Poisson, for v > u: `(v - u)(exp(v) - exp(u)) >= exp(u) (v - u)^2`, and the Bregman distance is at least half of
        that. Also `log(t) (t - 1) >= t - 2` and `2 (t log(t) - t + 1) >= t - 2` for t = exp(v - u) > 1. So
        `reach + 2 exp(u)` bounds exp(v), even if exp(u) may be 0.
        """
        if self.kind == "Poisson":
            least, most = low + arb(y), high + arb(y)
            anyhow = arb((reach + 2 * positive_part(most)).upper())
            return anyhow.min(arb((most * root(reach / least).exp()).upper())) if least > 0 else anyhow
        return arb(0.25) if self.kind in ("Logistic", "Multinomial") else arb(1)

    @property
    def translates(self) -> bool:
        """Whether the loss is a function of u - y."""
        return self.kind in ("Squared", "Huber")

    def slope(self, u: arb, y: float) -> arb:
        if self.kind == "Poisson":
            return u.exp() - arb(y)
        if self.kind == "Logistic":
            return -y / (1 + (y * u).exp())
        if self.kind == "SquaredHinge":
            return -y * positive_part(1 - y * u)
        residual = u - arb(y)
        return residual if self.kind == "Squared" else residual.max(-self.delta).min(self.delta)

    def slopes_around(self, u: arb, moved: arb, y: float) -> tuple[arb, arb]:
        """Return the slopes at both ends of a way; residuals first, whose distance from kinks may be tiny beside u."""
        if self.kind == "Huber":
            return self.slope(u - arb(y) - moved, 0.0), self.slope(u - arb(y) + moved, 0.0)
        return self.slope(u - moved, y), self.slope(u + moved, y)

    def value(self, u: arb, y: float) -> arb:
        """Return the value at the middle of a ball, plus or minus the largest slope times the radius."""
        steepest = arb(abs(self.slope(u, y)).upper())
        return self._at(arb(u.mid()), y) + arb(0, (steepest * arb(u.rad())).upper())

    def _at(self, u: arb, y: float) -> arb:
        if self.kind == "Poisson":
            return u.exp() - arb(y) * u + self._offset(y)
        if self.kind == "Logistic":
            return (1 + (-y * u).exp()).log() if y * u > -50 else -y * u + (1 + (y * u).exp()).log()
        t = self.slope(u, y)
        return t * (u - arb(y) - t / 2) if self.kind == "Huber" else square(t) / 2

    def conjugate(self, t: arb, y: float) -> arb:
        """Return an upper bound of the conjugate over the ball t: it is convex, so the ends are enough."""
        ends = [arb(t.lower()), arb(t.upper())]
        if self.kind == "Poisson":
            rates = [positive_part(end + arb(y)) for end in ends]
            values = [(r * r.log() if r > 0 else arb(0)) - r - self._offset(y) for r in rates]
            return larger_of(*values)
        if self.kind == "Multinomial":  # what one class adds; it is not positive
            return larger_of(*(p * p.log() if p > 0 else arb(0) for p in self._probabilities(ends[0], ends[1], y)))
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

    @staticmethod
    def _probabilities(low: arb, high: arb, y: float) -> list[arb]:
        """Return the ends of the probabilities of a class whose slopes are from low to high."""
        ends = (arb(low.lower()) + arb(y)).lower(), (arb(high.upper()) + arb(y)).upper()
        return [clipped(arb(end), arb(0), arb(1)) for end in ends]

    def bends(self, low: arb, high: arb, y: float) -> tuple[arb, arb]:
        """Return bounds of loss'' over slopes from low to high; for a class, q and a bound of p (1 - p)."""
        if self.kind == "Squared":
            return arb(1), arb(1)
        if self.kind == "Poisson":
            return positive_part(low + arb(y)), positive_part(high + arb(y))
        if self.kind == "Huber":
            inside, beyond = low > -self.delta and high < self.delta, low >= self.delta or high <= -self.delta
            return arb(int(inside)), arb(int(not beyond))
        least, most = (low, high) if y < 0 else (-high, -low)  # of the margin's shortfall, or of the probability
        if self.kind == "SquaredHinge":
            return arb(int(least > 0)), arb(int(not most <= 0))
        ends = self._probabilities(low, high, y) if self.kind == "Multinomial" else self._probabilities(least, most, 0)
        bends = [p * (1 - p) for p in ends]
        middle = not (ends[0] > 0.5 or ends[1] < 0.5)
        lower = ends[0] if self.kind == "Multinomial" else bends[0].min(bends[1])
        return lower, arb(0.25) if middle else bends[0].max(bends[1])
