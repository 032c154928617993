"""Where a method stands: coefficients in blocks, their mass, and what they predict. Moves lead from state to state."""

from dataclasses import dataclass

import numpy as np

from atomsieve.gauges import Atom
from atomsieve.typing import Array, Samples


@dataclass(frozen=True, eq=False)
class State:
    """Lifted coefficients x with their predictions `fit = A x`.

    `mass >= kappa(x)` is what the penalty is charged for; `free` holds coordinates of the free directions, best at
    the last point where they were looked for; `length` is the norm of `fit`, and `drift` estimates how far rounding has
    moved it since it was computed from x.
    """

    x: Array
    mass: float
    fit: Samples
    free: Array
    length: float
    drift: float


@dataclass(frozen=True, eq=False)
class Move:
    """A straight way out of a state: `x + s (growth * x + sum of weight * atom)` for s in [0, longest].

    `rate` is the change of the mass per unit of s, `descent` how fast the objective falls at s = 0 (with the penalty
    replaced by its chord for moves towards an atom), `image` the change of the predictions per unit of s.
    `emptied` is the atom that loses all its weight at the longest step.
    """

    growth: float
    atoms: tuple[tuple[Atom, float], ...]
    rate: float
    descent: float
    longest: float
    image: Samples
    emptied: Atom | None = None

    def apply(self, x: Array, s: float) -> Array:
        """Return the coefficients after a step of length s."""
        moved = (1 + s * self.growth) * x
        for atom, weight in self.atoms:
            atom.add_to(moved, s * weight)
        if self.emptied is not None and s == self.longest:
            moved[self.emptied.rows] = np.where(self.emptied.values != 0, 0.0, moved[self.emptied.rows])
        return moved
