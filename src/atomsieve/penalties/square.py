"""Square penalty: `a s^2 / 2`."""

from dataclasses import dataclass
from typing import Self

from atomsieve.intake.arguments import require_positive
from atomsieve.penalties.base import Penalty


@dataclass(frozen=True, eq=False, repr=False)
class Square(Penalty):
    """Square penalty, `phi(s) = strength * s^2 / 2`, with conjugate `t^2 / (2 strength)`.

    >>> Square(2.0).value(3.0), Square(2.0).argmax(4.0)
    (9.0, 2.0)
    """

    strength: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self, strength=self.strength)

    @property
    def line(self) -> tuple[float, float]:  # type: ignore[override]
        return 0.0, self.strength

    def value(self, s: float) -> float:
        return self.strength * s * s / 2

    def slope(self, s: float) -> float:
        return self.strength * s

    def conjugate(self, t: float) -> float:
        return t * (t / self.strength) / 2

    def argmax(self, t: float) -> float:
        return t / self.strength

    def rise(self, slope: float, mass: float, pull: float) -> float:
        return max((self.strength * mass - slope) / (1 + self.strength * pull * pull), -slope)

    def through(self, size: float, slope: float) -> Self:
        return self.at(slope / size)
