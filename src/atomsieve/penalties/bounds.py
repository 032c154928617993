"""What a certificate needs of a penalty: phi, its slope at 0 and its conjugate, as enclosures."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import Enclosure, Undecided
from atomsieve.piece import Formulas

if TYPE_CHECKING:
    from atomsieve.penalties.base import Penalty

UNKNOWN = Enclosure(np.float64(np.inf), np.float64(np.inf))


@dataclass(frozen=True, eq=False)
class PenaltyBounds:
    """Bounds that include rounding, from the formulas of the penalty.

    Uncertain is raised if a formula does not run on enclosures.
    """

    penalty: "Penalty"
    strengths: tuple[float, float] | None = None
    """A range of its main parameter, if the bounds are to hold for all numbers in it."""

    @cached_property
    def _formulas(self) -> Formulas:
        ranges = {} if self.strengths is None else {self.penalty.main: Enclosure.between(*self.strengths)}
        return Formulas(self.penalty, ranges)

    @cached_property
    def _unlimited(self) -> bool:
        """Whether the class says that there is no limit, and no parameter and no formula of it says otherwise."""
        return "limit" not in vars(self.penalty) and getattr(type(self.penalty), "limit", None) == np.inf

    def value(self, mass: Enclosure) -> Enclosure:
        """Return phi(mass); inf if the mass may lie outside its domain."""
        inside = mass.high < np.inf if self._unlimited else (mass <= self._known("limit")).true
        return self._known("value", mass) if inside else UNKNOWN

    def conjugate(self, t: Enclosure) -> Enclosure:
        """Return phi*(t); inf if t may lie outside its domain."""
        return self._known("conjugate", t)

    def slope(self, mass: Enclosure) -> Enclosure:
        """Return phi'(mass)."""
        return self._known("slope", mass)

    @cached_property
    def first_slope(self) -> Enclosure:
        """The slope of phi at 0, which is its smallest slope."""
        return self.slope(Enclosure.exact(0.0))

    def largest_mass(self, value: float, guess: float) -> float:
        """Return a bound of all masses where phi is at most a value; any guess that is positive will do."""
        limit = float(self._known("limit").high)
        while guess < limit and not self.value(Enclosure.exact(guess)).low > value:
            guess *= 2
        return min(guess, limit)

    def check(self) -> None:
        """Raise Uncertain if a formula does not run on enclosures at all."""
        self.value(Enclosure.exact(0.0))
        self.conjugate(self.first_slope)

    def _known(self, name: str, *number: Enclosure) -> Enclosure:
        """Evaluate a formula; return UNKNOWN if it needs a comparison that cannot be decided."""
        try:
            return self._formulas.evaluate(name, *number, shape=())
        except Undecided:
            return UNKNOWN
