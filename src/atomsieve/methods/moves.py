"""Moves: directions from a state, and the state after a step along one."""

from dataclasses import dataclass

import numpy as np

from atomsieve.gauges import Atom
from atomsieve.gauges.found import Combination
from atomsieve.methods.trail import Trail
from atomsieve.numerics.namespace import held
from atomsieve.numerics.rounding import EPS
from atomsieve.problem import Point, State
from atomsieve.typing import Array, Samples

STALE_MOVES = 512
"""Predictions are computed again when their error exceeds this multiple of their rounding error."""


@dataclass(frozen=True, eq=False)
class Move:
    """A straight line from a state: `x + s (growth * x + sum of weight * atom)` for s in [0, longest].

    `rate` is the change of the mass per unit of s, and `image` the change of the predictions. `descent` is how fast the
    objective falls at s = 0; for moves towards an atom, the chord of the penalty takes its place. `emptied` is the atom
    that loses all its weight at the longest step.
    """

    growth: float
    atoms: tuple[tuple[Atom, float], ...]
    rate: float
    descent: float
    longest: float
    image: Samples
    emptied: Atom | None = None
    trail: Trail | None = None
    """What is known of an image on the workers."""

    def apply(self, x: Array, s: float) -> Array:
        """Return the coefficients after a step of length s."""
        moved = (1 + s * self.growth) * x
        for atom, weight in self.atoms:
            atom.add_to(moved, s * weight)
        if self.emptied is not None and s == self.longest:
            moved[self.emptied.columns] = np.where(self.emptied.values != 0, 0.0, moved[self.emptied.columns])
        return moved

    def combine(self, parts: Combination, s: float) -> Combination:
        """Return the atoms that x is made of after a step of length s."""
        emptied = self.emptied if s == self.longest else None
        changes = ((atom, s * weight) for atom, weight in self.atoms)
        return parts.scaled(1 + s * self.growth).plus(changes, emptied)

    def change(self, x: Array) -> Array:
        """Return the change of the coefficients per unit of s."""
        change = self.growth * x
        for atom, weight in self.atoms:
            atom.add_to(change, weight)
        return change


def toward(point: Point) -> Move:
    """Return the move of the generalized conditional gradient: to `xi p` with the best atom p and its best size xi."""
    problem, state = point.problem, point.state
    size = problem.penalty.argmax(point.sigma)
    if point.sigma == 0:  # no atom helps: 0 is the best point of P
        return Move(-1.0, (), -state.mass, point.descent, 1.0, -state.image)
    image = size * point.atom.image(problem.design) - state.image
    return Move(-1.0, ((point.atom, size),), size - state.mass, point.descent, 1.0, image)


def rescale(point: Point) -> Move | None:
    """Return the move that rescales x to its best size, like `toward` with the atom `x / mass`."""
    state, penalty = point.state, point.problem.penalty
    if state.mass == 0:
        return None
    score = max(float(np.vdot(state.x, point.z)) / state.mass, 0.0)
    size = penalty.argmax(score)
    growth = size / state.mass - 1
    descent = penalty.value(state.mass) + penalty.conjugate(score) - state.mass * score
    return Move(growth, (), size - state.mass, descent, 1.0, growth * state.image)


def apply(point: Point, move: Move, step: float) -> State:
    """Return the state after a step along a move; after an overflow the state is not finite.

    Predictions are updated, not recomputed, until rounding has accumulated or they have cancelled.
    """
    state, problem = point.state, point.problem
    with np.errstate(over="ignore", invalid="ignore"):
        trail = move.trail
        image = held(state.image + step * move.image) if trail is None else trail.move_to(state, step)
        size = problem.seminorm.plain_norm(move.image) if trail is None else trail.length
        reach = None if trail is None else trail.reach
        drift = state.drift + EPS * (state.length + step * size)
        if problem.core.listed:
            moved = problem.combined(move.combine(state.parts or Combination(), step), image, state.coordinates, drift)
        else:
            moved = problem.inside(move.apply(state.x, step), image, state.coordinates, drift, length=reach)
        return problem.renewed(moved) if drift > STALE_MOVES * EPS * moved.length else moved
