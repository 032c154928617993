"""The Hessian of the losses for matrices `L R'` that are given by their factors: what is seen of them, and its bend.

Where every sample sees one entry of x, that is the entries at the places that are seen, and nothing else is formed.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from atomsieve.design.places import Places
from atomsieve.typing import Array


class Curvature(Protocol):
    """A symmetric map of matrices of one form: what `seen` shows of a matrix, `times` maps to what `table` shows."""

    @property
    def form(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    def even(self) -> float:
        """What is added to the curvature in every direction, beside what is seen."""

    @property
    def mean(self) -> float:
        """The mean of the diagonal."""

    @property
    def steepest(self) -> float:
        """The largest entry of the diagonal."""

    def seen(self, left: Array, right: Array) -> Array:
        """Return the entries of `left right'` that are seen."""

    def times(self, seen: Array) -> Array:
        """Return the product with a matrix of which this is seen; as much is seen of the product."""

    def table(self, seen: Array) -> Any:
        """Return the matrix of which this is seen, and nothing else is not 0; it is known by its products."""


@dataclass(frozen=True, eq=False)
class Everywhere:
    """All entries are seen: the Hessian is a matrix, or known by its products (operators.py)."""

    hessian: Any
    form: tuple[int, int]
    even: float = 0.0

    @property
    def mean(self) -> float:
        return float(self.hessian.diagonal().mean())

    @property
    def steepest(self) -> float:
        return float(self.hessian.diagonal().max())

    def seen(self, left: Array, right: Array) -> Array:
        return np.asarray(left @ right.T).ravel()

    def times(self, seen: Array) -> Array:
        return np.asarray(self.hessian @ seen)

    def table(self, seen: Array) -> Array:
        return seen.reshape(self.form)


@dataclass(frozen=True, eq=False)
class AtPlaces:
    """No two entries meet, because every sample sees one. Free coefficients take a few directions from the diagonal."""

    places: Places
    own: Array
    free: Array
    even: float = 0.0

    @property
    def form(self) -> tuple[int, int]:
        return self.places.form

    @property
    def diagonal(self) -> Array:
        """The diagonal at the places."""
        return np.asarray(self.own - np.sum(self.free * self.free, axis=1))

    @property
    def mean(self) -> float:
        rows, columns = self.form
        return max(float(self.diagonal.sum()), 0.0) / rows / columns + self.even

    @property
    def steepest(self) -> float:
        return float(self.diagonal.max()) + self.even

    def seen(self, left: Array, right: Array) -> Array:
        return self.places.entries(left, right)

    def times(self, seen: Array) -> Array:
        product = self.own * seen
        return product - self.free @ (self.free.T @ seen) if self.free.shape[1] else product

    def table(self, seen: Array) -> Any:
        return self.places.matrix(seen)
