"""A penalty is the shape phi of `phi(kappa_P(x))`: convex, non-decreasing on [0, inf), zero at zero.

It is a function of one number. A run evaluates it on floats; a certificate evaluates it on enclosures to get bounds.
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

    `value`, `slope` and `conjugate` must run on floats and on enclosures; write them with operators, comparisons and
    the functions of `array_namespace`. `argmax` and `rise` are called with floats only.
    """

    limit: float = math.inf
    """Supremum of the domain; phi is +inf beyond it."""

    superlinear: bool = True
    """Whether phi grows faster than every linear function, as it does with a limit; then `argmax` is defined for every
    slope. A penalty that does not must have the same slope everywhere, like `Linear`."""

    quadratic: bool = True
    """Whether phi grows at least quadratically; then open-loop steps are proven to converge."""

    line: tuple[float, float] | None = None
    """The (a, b) with `phi'(s) = a + b s` for all s; None for other shapes."""

    main: str = "strength"
    """The name of the parameter that paths and searches vary; the radius if the penalty has one."""

    @abstractmethod
    def value(self, s: float) -> float:
        """Return phi(s) for s >= 0."""

    @abstractmethod
    def slope(self, s: float) -> float:
        """Return phi'(s): at a kink the left derivative, at 0 the right derivative."""

    @abstractmethod
    def conjugate(self, t: float) -> float:
        """Return `phi*(t) = sup over s >= 0 of t s - phi(s)` for t >= 0."""

    @abstractmethod
    def argmax(self, t: float) -> float:
        """Return the s that attains `phi*(t)`; +inf if no s does."""

    @property
    def bounds(self) -> PenaltyBounds:
        """The formulas above with error bounds, for certificates."""
        return PenaltyBounds(self)

    def at(self, strength: float) -> Self:
        """Return the same shape with another value of its main parameter."""
        return replace(self, **{self.main: strength})  # type: ignore[type-var]

    def through(self, size: float, slope: float) -> Self:
        """Return the same shape with the main parameter for which `phi'(size) = slope`; size and slope are positive.

        If the solution for `Linear(slope)` has the given size, it is also the solution for this shape. So all shapes
        share one path of solutions.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define through(size, slope), the same penalty with the {self.main} that has "
            "this slope at this size: cross-validation and rules for the strength ask for it."
        )

    def rise(self, slope: float, mass: float, pull: float) -> float:
        """Return the r with `slope + r = phi'(mass - r * pull^2)`; `slope + r` is at least phi'(0).

        This solves a whole face at once: along a face the size decreases in proportion to the slope. The method returns
        the change r instead of the slope itself, because r keeps its digits when the pull is large.
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
