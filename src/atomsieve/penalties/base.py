"""A penalty is the shape phi of `phi(kappa_P(x))`: convex, non-decreasing on [0, inf), zero at zero.

It is a function of one number: of floats in a run, and of enclosures where a certificate asks for bounds.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Self

from atomsieve.numerics.roots import monotone_zero
from atomsieve.penalties.bounds import PenaltyBounds
from atomsieve.piece import Piece


class Penalty(Piece, ABC):
    """One-dimensional convex shape with its conjugate, both in closed form.

    `value`, `slope` and `conjugate` run on floats and on enclosures: operators, comparisons and the functions of
    `array_namespace` do. `argmax` and `rise` see floats alone.
    """

    limit: float = math.inf
    """Supremum of the domain: phi is +inf beyond it."""

    superlinear: bool = True
    """Whether phi grows faster than every line, so that `argmax` is defined for every slope."""

    quadratic: bool = True
    """Whether phi grows at least like a square, so that open-loop steps are proven to converge."""

    main: str = "strength"
    """The parameter that paths and searches vary; the radius, where there is one."""

    @abstractmethod
    def value(self, s: float) -> float:
        """Return phi(s) for s >= 0."""

    @abstractmethod
    def slope(self, s: float) -> float:
        """Return phi'(s), the left derivative where there are two (the right one at 0)."""

    @abstractmethod
    def conjugate(self, t: float) -> float:
        """Return `phi*(t) = sup over s >= 0 of t s - phi(s)` for t >= 0."""

    @abstractmethod
    def argmax(self, t: float) -> float:
        """Return the size s that attains `phi*(t)`; +inf where none does."""

    @property
    def bounds(self) -> PenaltyBounds:
        """The formulas above with error bounds."""
        return PenaltyBounds(self)

    def at(self, strength: float) -> Self:
        """Return the same shape at another value of its main parameter."""
        return replace(self, **{self.main: strength})  # type: ignore[type-var]

    def through(self, size: float, slope: float) -> Self:
        """Return the same shape with the main parameter for which `phi'(size) = slope`, for positive size and slope.

        It has the solution that `Linear(slope)` has, where that solution has the given size: all shapes share a path.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say which strength has slope {slope:g} at {size:g}.")

    def rise(self, slope: float, mass: float, pull: float) -> float:
        """Return the r for which phi charges `slope + r` at the size `mass - r * pull^2`, at least phi'(0).

        This is how a whole face is solved at once: along it the size falls in proportion to the slope. The change is
        returned and not the slope itself, so that its digits survive a large pull.
        """
        least = self.slope(0.0) - slope
        if pull == 0:
            return self.slope(max(mass, 0.0)) - slope
        if mass / pull - least * pull <= 0:
            return least

        def excess(r: float) -> float:
            return self.argmax(slope + r) / pull + pull * r - mass / pull

        if excess(0.0) < 0:
            return monotone_zero(excess, min(mass / pull / pull, self.slope(mass) - slope), 0.0)
        return -monotone_zero(lambda fall: -excess(-fall), -least, 0.0)

    def admits(self, s: float) -> bool:
        """Return whether phi(s) is finite."""
        return s <= self.limit
