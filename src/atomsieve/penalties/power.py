"""Power penalty: `a s^p / p`, the paper's monomials."""

import math
from dataclasses import dataclass
from typing import Self

from atomsieve.intake.arguments import is_number, keep_plain, require_positive, shown
from atomsieve.numerics.namespace import array_namespace
from atomsieve.penalties.base import Penalty


@dataclass(frozen=True, eq=False, repr=False)
class Power(Penalty):
    """Power penalty, `phi(s) = strength * s^p / p` for p > 1; `p = inf` is the unit ball for every strength.

    The conjugate is `strength * (t / strength)^q / q` with `1/p + 1/q = 1`. The open-loop method is proven to
    converge for `p >= 2`; for `1 < p < 2` it may diverge (Sun and Bach, 2020, section 2.4).

    >>> Power(1.0, 3).value(3.0), Power(1.0, math.inf).value(1.5)
    (9.0, inf)
    """

    strength: float = 1.0
    p: float = 2.0

    def __post_init__(self) -> None:
        require_positive(self, strength=self.strength)
        if not (is_number(self.p) and self.p > 1):
            raise ValueError(f"Power: p must be greater than 1, got {shown(self.p)}. For p = 1 use Linear.")
        keep_plain(self, "p", self.p)

    @property
    def limit(self) -> float:  # type: ignore[override]
        return 1.0 if self.p == math.inf else math.inf

    @property
    def quadratic(self) -> bool:  # type: ignore[override]
        return self.p >= 2

    @property
    def _dual(self) -> float:
        """Return the conjugate exponent q."""
        return 1.0 if self.p == math.inf else self.p / (self.p - 1)

    def value(self, s: float) -> float:
        if self.p == math.inf:
            return 0.0 if s <= 1 else math.inf
        return s * self.slope(s) / self.p  # s^p itself would overflow or underflow sooner

    def slope(self, s: float) -> float:
        if self.p == math.inf:
            return 0.0 if s <= 1 else math.inf
        power: float = array_namespace(s).pow(s, self.p - 1)
        return self.strength * power

    def conjugate(self, t: float) -> float:
        return t if self.p == math.inf else t * self.argmax(t) / self._dual

    def argmax(self, t: float) -> float:
        if self.p == math.inf:
            return 1.0
        power: float = array_namespace(t).pow(t / self.strength, self._dual - 1)
        return power

    def through(self, size: float, slope: float) -> Self:
        if self.p == math.inf:
            raise ValueError("Power with p = inf has no strength to choose: use Ball(radius).")
        return self.at(slope / array_namespace(size).pow(size, self.p - 1))
