"""Linear penalty: `a s`, the ordinary Lasso penalty."""

import math
from dataclasses import dataclass
from typing import Self

from atomsieve.intake.arguments import require_positive
from atomsieve.penalties.base import Penalty


@dataclass(frozen=True, eq=False, repr=False)
class Linear(Penalty):
    """Linear penalty, `phi(s) = strength * s`; its conjugate is 0 up to the strength and +inf beyond.

    >>> Linear(2.0).value(3.0), Linear(2.0).conjugate(1.5), Linear(2.0).conjugate(2.5)
    (6.0, 0.0, inf)
    """

    strength: float = 1.0
    superlinear = False
    quadratic = False

    def __post_init__(self) -> None:
        require_positive(self, strength=self.strength)

    @property
    def line(self) -> tuple[float, float]:  # type: ignore[override]
        return self.strength, 0.0

    def value(self, s: float) -> float:
        return self.strength * s

    def slope(self, s: float) -> float:
        return self.strength

    def conjugate(self, t: float) -> float:
        return 0.0 if t <= self.strength else math.inf

    def argmax(self, t: float) -> float:
        return 0.0 if t <= self.strength else math.inf

    def rise(self, slope: float, mass: float, pull: float) -> float:
        return self.strength - slope

    def through(self, size: float, slope: float) -> Self:
        return self.at(slope)
