"""The state of a method: coefficients in blocks, their mass and their predictions. A move leads to another state."""

from dataclasses import dataclass

from atomsieve.gauges.found import Combination
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

    x: Array
    mass: float
    image: Samples
    coordinates: Array
    length: float
    drift: float
    known_support: Index | None = None
    """The support, if whoever made x knows it; None wherever x has changed."""

    parts: Combination | None = None
    """The atoms that x is made of, where the gauge of x is not known (`BlockGauge.listed`)."""

    @cached_property
    def support(self) -> Index:
        """The places of the coefficients that are not zero in x as a flat array, rising."""
        return support_of(self.x) if self.known_support is None else self.known_support
