"""Log-barrier: a smooth approximation of the ball, finite only in its interior."""

import math
from dataclasses import dataclass
from typing import Self

from atomsieve.intake.arguments import require_positive
from atomsieve.numerics.namespace import array_namespace
from atomsieve.penalties.base import Penalty


@dataclass(frozen=True, eq=False, repr=False)
class LogBarrier(Penalty):
    """Log-barrier, `phi(s) = (-log(1 - s/C) - s/C) / sharpness` for `s < C = radius`.

    It tends to the ball as the sharpness grows. The conjugate is `C t - log(1 + C sharpness t) / sharpness`
    (Sun and Bach, 2020, section 2.4).

    >>> LogBarrier(10.0, 1.0).value(5.0) == math.log(2) - 0.5
    True
    """

    radius: float = 1.0
    main = "radius"
    sharpness: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self, radius=self.radius, sharpness=self.sharpness)

    @property
    def limit(self) -> float:  # type: ignore[override]
        return self.radius

    def admits(self, s: float) -> bool:
        return s < self.radius

    def value(self, s: float) -> float:
        r = s / self.radius
        return -array_namespace(r).log1pmx(-r) / self.sharpness if r < 1 else math.inf

    def slope(self, s: float) -> float:
        r = s / self.radius
        return r / (1 - r) / (self.radius * self.sharpness) if r < 1 else math.inf

    def conjugate(self, t: float) -> float:
        scaled = self.radius * self.sharpness * t
        excess: float = -array_namespace(scaled).log1pmx(scaled)
        return excess / self.sharpness

    def argmax(self, t: float) -> float:
        scaled = self.radius * self.sharpness * t
        # for a steep slope the quotient rounds to 1, where the barrier is infinite
        return min(self.radius * (scaled / (1 + scaled)), math.nextafter(self.radius, 0.0))

    def through(self, size: float, slope: float) -> Self:
        return self.at(size / 2 * (1 + math.sqrt(1 + 4 / (slope * self.sharpness * size))))
