"""Step rules: open loop, exact line search, short step."""

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from atomsieve.core.clock import look
from atomsieve.design.seminorm import inner
from atomsieve.intake.arguments import require_positive
from atomsieve.methods.moves import Move
from atomsieve.numerics.roots import monotone_zero
from atomsieve.piece import Piece
from atomsieve.problem import Point
from atomsieve.problem.span import UnsettledError
from atomsieve.typing import Samples


@runtime_checkable
class Step(Protocol):
    """Chooses the step length of a move."""

    @property
    def looks(self) -> bool:
        """Whether the length depends on the move. Moves whose longest step varies need such a rule."""

    def size(self, point: Point, move: Move, t: int) -> float:
        """Return the length of step t (the first is 1), in [0, move.longest]."""


@dataclass(frozen=True, eq=False, repr=False)
class OpenLoop(Piece):
    """`scale / (t + shift)`, at most 1: fixed in advance. The paper uses 2/(t+1), its appendix 4/(t+2).

    >>> OpenLoop().size(None, Move(-1.0, (), 0.0, 0.0, 1.0, None), 3)
    0.5
    """

    scale: float = 2.0
    shift: float = 1.0
    looks = False

    def __post_init__(self) -> None:
        require_positive(self, scale=self.scale, shift=self.shift)

    def size(self, point: Point, move: Move, t: int) -> float:
        return min(self.scale / (t + self.shift), move.longest)


@dataclass(frozen=True, eq=False, repr=False)
class ShortStep(Piece):
    """The minimiser of the quadratic upper bound along the move: `descent / (M norm(A d)_w^2 + d' ridge d)`."""

    looks = True

    def size(self, point: Point, move: Move, t: int) -> float:
        problem = point.problem
        bend = problem.loss.smoothness * problem.seminorm.norm(move.image) ** 2 + ridge_along(point, move)[1]
        if bend * move.longest <= move.descent:
            return move.longest
        return move.descent / bend


@dataclass(frozen=True, eq=False, repr=False)
class LineSearch(Piece):
    """The exact minimiser along the move and over the free coefficients, always in the domain of the penalty.

    The derivative is monotone; the Illinois variant of the false position finds its zero. If the objective is quadratic
    along the move, the first chord is already exact.
    """

    looks = True

    def size(self, point: Point, move: Move, t: int) -> float:
        # B' theta = 0: the part along the unpenalised columns would only add rounding
        across = point.problem.seminorm.project(move.image)
        held = ridge_along(point, move)

        def derivative(s: float) -> float:
            return slope_along(point, move, across, held, s)

        return monotone_zero(derivative, move.longest)


def ridge_along(point: Point, move: Move) -> tuple[float, float]:
    """Return the derivative of the ridge along a move at its beginning, and how fast that rises."""
    shrinkage = point.problem.shrinkage
    if shrinkage is None:
        return 0.0, 0.0
    change = move.change(point.state.x)
    drag = shrinkage.by_entry.reshape(change.shape) * change
    return float(np.vdot(drag, point.state.x)), float(np.vdot(drag, change))


def slope_along(point: Point, move: Move, across: Samples, held: tuple[float, float], s: float) -> float:
    """Return the derivative of the objective after a step s along a move.

    `across` is the image of the move modulo B, and `held` what `ridge_along` says of it.
    """
    look()
    problem = point.problem
    state = point.state
    try:
        _, _, slopes = problem.smooth.predict(state.image + s * move.image, state.coordinates)
    except UnsettledError:  # so far out that losses cannot be compared
        return math.inf
    with np.errstate(over="ignore", invalid="ignore"):
        slope = inner(problem.seminorm.weighted(slopes), across) + held[0] + s * held[1]
    return slope_of(point, move, slope, s)


def slope_of(point: Point, move: Move, slope: float, s: float) -> float:
    """Return the derivative of the objective after a step s, from that of loss and ridge."""
    state, penalty = point.state, point.problem.penalty
    mass = state.mass + s * move.rate
    while not penalty.admits(mass):  # only rounding goes beyond the limit: both ends are inside
        mass = math.nextafter(min(mass, penalty.limit), 0.0)
    return slope + move.rate * penalty.slope(mass)
