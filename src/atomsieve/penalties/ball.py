"""Ball: the constraint `s <= C`."""

import math
from dataclasses import dataclass
from typing import Self

from atomsieve.intake.arguments import require_positive
from atomsieve.penalties.base import Penalty


@dataclass(frozen=True, eq=False, repr=False)
class Ball(Penalty):
    """Constraint, `phi(s) = 0` for `s <= radius`, otherwise +inf; its conjugate is `radius * t`.

    `Ball(1)` means that x is in the convex hull of the atoms *and 0*: for `Simplex()`, `x >= 0` and `sum(x) <= 1`. For
    x in the convex hull of the atoms themselves there is `Shifted`.

    >>> Ball(2.0).value(2.0), Ball(2.0).value(2.1), Ball(2.0).conjugate(3.0)
    (0.0, inf, 6.0)
    """

    radius: float = 1.0
    main = "radius"

    def __post_init__(self) -> None:
        require_positive(self, radius=self.radius)

    @property
    def limit(self) -> float:  # type: ignore[override]
        return self.radius

    def value(self, s: float) -> float:
        return 0.0 if s <= self.radius else math.inf

    def slope(self, s: float) -> float:
        return 0.0 if s <= self.radius else math.inf

    def conjugate(self, t: float) -> float:
        return self.radius * t

    def argmax(self, t: float) -> float:
        return self.radius

    def rise(self, slope: float, mass: float, pull: float) -> float:
        return max((mass - self.radius) / pull / pull, -slope) if pull > 0 else 0.0

    def through(self, size: float, slope: float) -> Self:
        return self.at(size)
