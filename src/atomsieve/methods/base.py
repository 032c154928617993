"""A method makes one state of another. The loop around it is the same for all (solve.py)."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from atomsieve.intake.arguments import require_piece
from atomsieve.methods.moves import Move, apply
from atomsieve.methods.steps import ShortStep, Step
from atomsieve.penalties import Penalty
from atomsieve.piece import Piece
from atomsieve.problem import Point, Problem
from atomsieve.problem.state import State


class Stepper(Protocol):
    """A method at work: what it remembers between the steps of one run is its own."""

    @property
    def patience(self) -> float:
        """Number of steps without a better gap after which there is no hope."""

    @property
    def room(self) -> float:
        """The part of the columns that may be copied to leave dead ones out of the products."""

    def advance(self, point: Point, t: int) -> tuple[State, float]:
        """Return the state after step t (the first is 1) and the length of the step."""


class Target(Protocol):
    """What a run is to reach."""

    @property
    def gap(self) -> float:
        """The gap that is small enough."""


@runtime_checkable
class Method(Protocol):
    """How the next state is found."""

    @property
    def max_iter(self) -> int:
        """Number of iterations after which the method gives up, unless told otherwise."""

    def check(self, problem: Problem) -> None:
        """Refuse, in a sentence, a problem that the method cannot solve."""

    def begin(self, problem: Problem, target: Target) -> Stepper:
        """Return the method at work on a problem."""


def require_bounded_oracle(method: object, penalty: Penalty) -> None:
    """Refuse penalties without an `argmax`: the generalized oracle is unbounded there."""
    if penalty.superlinear:
        return
    raise ValueError(
        f"{type(method).__name__} cannot solve a problem with {penalty!r}: the linear subproblem "
        "min over s of grad . s + phi(gauge(s)) is unbounded when phi grows only linearly and the gradient is "
        "steeper than phi. Use Corrective(), the default method, or Square(strength) or Ball(radius), which trace the "
        "same solutions for another value of their parameter."
    )


@dataclass(frozen=True, eq=False, repr=False)
class Walk(Piece, ABC):
    """A method that walks along moves: a subclass chooses the move, its step rule the length."""

    step: Step
    max_iter = 10_000
    patience = math.inf
    room = 0.5
    measured = True
    """Whether moves have lengths of their own, so that the step rule must look at them."""

    def __post_init__(self) -> None:
        require_piece(f"{type(self).__name__}: step", self.step, Step)
        if self.measured and not self.step.looks:
            raise ValueError(
                f"{type(self).__name__} needs a step rule that looks at the move: LineSearch() or ShortStep(), "
                f"not {self.step!r}."
            )

    def check(self, problem: Problem) -> None:
        require_bounded_oracle(self, problem.penalty)
        if isinstance(self.step, ShortStep) and problem.loss.smoothness == math.inf:
            raise ValueError(
                f"ShortStep() needs a bound of the curvature, and {type(problem.loss).__name__} has none. "
                "Use LineSearch()."
            )

    def begin(self, problem: Problem, target: Target) -> "Walk":  # noqa: ARG002
        return self

    @abstractmethod
    def move(self, point: Point) -> Move:
        """Return the way to go."""

    def advance(self, point: Point, t: int) -> tuple[State, float]:
        move = self.move(point)
        length = self.step.size(point, move, t)
        return apply(point, move, length), length
