"""The state of a method: coefficients in blocks, their mass and their predictions. A move leads to another state."""

from dataclasses import dataclass
from typing import Any

from atomsieve.gauges.found import Combination
from atomsieve.gauges.triplets import Triplets
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.places import support_of
from atomsieve.typing import Array, Index, Samples


@dataclass(frozen=True, eq=False)
class State:
    """Lifted coefficients x with their predictions `image = A x`.

    `mass >= kappa(x)` is what the penalty is charged for. `coordinates` are those of B b in the basis of the span of B;
    they were the best ones at the last point that was evaluated. `length` is the norm of `image`. `drift` estimates how
    far rounding has moved the image since it was computed from x.
    """

    held: Array | Triplets
    """x, or its factors where it is a matrix that need not be formed."""
    mass: float
    image: Samples
    coordinates: Array
    length: float
    drift: float
    known_support: Index | None = None
    """The support, if whoever made x knows it; None wherever x has changed."""

    parts: Combination | None = None
    """The atoms that x is made of, where the gauge of x is not known (`BlockGauge.listed`)."""

    place: Any = None
    """Where a search for the best coordinates at this image ended, if one has been there (`Place`)."""

    @property
    def factors(self) -> Triplets | None:
        """The factors of x; None where x itself is held."""
        return self.held if isinstance(self.held, Triplets) else None

    @cached_property
    def x(self) -> Array:
        """The coefficients; a matrix that is held by its factors is formed, row by row."""
        return self.held.whole.ravel() if isinstance(self.held, Triplets) else self.held

    @cached_property
    def support(self) -> Index:
        """The places of the coefficients that are not zero in x as a flat array, rising."""
        return support_of(self.x) if self.known_support is None else self.known_support
