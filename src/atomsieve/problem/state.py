"""Where a method stands: coefficients in blocks, their mass, and what they predict. Moves lead from state to state."""

from dataclasses import dataclass

from atomsieve.typing import Array, Samples


@dataclass(frozen=True, eq=False)
class State:
    """Lifted coefficients x with their predictions `image = A x`.

    `mass >= kappa(x)` is what the penalty is charged for. `coordinates` are those of B b in the basis of the span of B,
    best at the last point where they were looked for. `length` is the norm of `image`, and `drift` estimates how far
    rounding has moved it since it was computed from x.
    """

    x: Array
    mass: float
    image: Samples
    coordinates: Array
    length: float
    drift: float
