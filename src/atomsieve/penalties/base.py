"""A penalty is the shape phi of `phi(kappa_P(x))`: convex, non-decreasing on [0, inf), zero at zero. Plain floats."""

import math
from abc import ABC, abstractmethod
from typing import Self

from atomsieve.piece import Piece


class Penalty(Piece, ABC):
    """One-dimensional convex shape with its conjugate, both in closed form."""

    limit: float = math.inf
    """Supremum of the domain: phi is +inf beyond it."""

    superlinear: bool = True
    """Whether phi grows faster than every line, so that `argmax` is defined for every slope."""

    quadratic: bool = True
    """Whether phi grows at least like a square, so that open-loop steps are proven to converge."""

    @abstractmethod
    def value(self, s: float) -> float:
        """Return phi(s) for s >= 0."""

    @abstractmethod
    def slope(self, s: float) -> float:
        """Return phi'(s), the left derivative where there are two (the right one at 0)."""

    @abstractmethod
    def curvature(self, s: float) -> float:
        """Return phi''(s)."""

    @abstractmethod
    def conjugate(self, t: float) -> float:
        """Return `phi*(t) = sup over s >= 0 of t s - phi(s)` for t >= 0."""

    @abstractmethod
    def argmax(self, t: float) -> float:
        """Return the size s that attains `phi*(t)`; +inf where none does."""

    @abstractmethod
    def at(self, strength: float) -> Self:
        """Return the same shape at another value of its main parameter (the radius, where it has one)."""

    def admits(self, s: float) -> bool:
        """Return whether phi(s) is finite."""
        return s <= self.limit


def power(base: float, exponent: float) -> float:
    """Return `base ** exponent` for base >= 0, +inf instead of an overflow error."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf
