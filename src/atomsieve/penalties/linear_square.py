"""Linear plus square penalty: `a s + m s^2 / 2`."""

from dataclasses import dataclass
from typing import Self

from atomsieve.intake.arguments import require_positive
from atomsieve.numerics.namespace import array_namespace
from atomsieve.penalties.base import Penalty


@dataclass(frozen=True, eq=False, repr=False)
class LinearSquare(Penalty):
    """Linear plus square, `phi(s) = strength * s + square * s^2 / 2`; conjugate `max(0, t - strength)^2 / (2 square)`.

    >>> LinearSquare(1.0, 2.0).value(3.0), LinearSquare(1.0, 2.0).argmax(5.0)
    (12.0, 2.0)
    """

    strength: float = 1.0
    square: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self, strength=self.strength, square=self.square)

    @property
    def line(self) -> tuple[float, float]:  # type: ignore[override]
        return self.strength, self.square

    def value(self, s: float) -> float:
        return s * (self.strength + self.square * s / 2)

    def slope(self, s: float) -> float:
        return self.strength + self.square * s

    def conjugate(self, t: float) -> float:
        excess: float = array_namespace(t).maximum(0.0, t - self.strength)
        return excess * (excess / self.square) / 2

    def argmax(self, t: float) -> float:
        return max(0.0, t - self.strength) / self.square

    def rise(self, slope: float, mass: float, pull: float) -> float:
        change = (self.strength + self.square * mass - slope) / (1 + self.square * pull * pull)
        return max(change, self.strength - slope)

    def through(self, size: float, slope: float) -> Self:
        strength = slope - self.square * size
        if strength <= 0:
            raise ValueError(
                f"LinearSquare: no strength has the slope {slope:g} at the size {size:g}: the square alone charges "
                f"{self.square * size:g}. Choose a smaller `square`."
            )
        return self.at(strength)
