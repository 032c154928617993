"""A method turns one state into the next. The loop around it is the same for all methods (run/solve.py)."""

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
    """A method during one run, with everything that it remembers between steps."""

    @property
    def patience(self) -> float:
        """Number of steps without a smaller gap after which the run gives up."""

    @property
    def room(self) -> float:
        """Largest fraction of the columns that may be copied, to leave dead columns out of the products."""

    @property
    def sifts(self) -> bool:
        """Whether it pays to leave blocks out between the steps; if not, they are sieved when the result is asked."""

    def advance(self, point: Point, t: int) -> tuple[State, float]:
        """Return the state after step t (the first is 1) and the length of the step."""


class Target(Protocol):
    """What a run should reach."""

    @property
    def gap(self) -> float:
        """The gap that is small enough."""


@runtime_checkable
class Method(Protocol):
    """How to find the next state."""

    @property
    def max_iter(self) -> int:
        """Default for the largest number of iterations."""

    def check(self, problem: Problem) -> None:
        """Raise ValueError if the method cannot solve the problem."""

    def begin(self, problem: Problem, target: Target) -> Stepper:
        """Return the stepper for one problem."""


def require_bounded_oracle(method: object, penalty: Penalty) -> None:
    """Raise ValueError for penalties without an `argmax`: the generalized oracle is unbounded there."""
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
    """A method that takes steps along moves: a subclass chooses the move, the step rule chooses the length."""

    step: Step
    max_iter = 10_000
    patience = math.inf
    room = 0.5
    sifts = True
    measured = True
    """Whether the longest step depends on the move. The step rule must then look at the move."""

    def __post_init__(self) -> None:
        require_piece(f"{type(self).__name__}: step", self.step, Step)
        if self.measured and not self.step.looks:
            raise ValueError(
                f"{type(self).__name__} needs a step rule that looks at the move: LineSearch() or ShortStep(), "
                f"not {self.step!r}."
            )

    def check(self, problem: Problem) -> None:
        require_bounded_oracle(self, problem.penalty)
        if problem.limits is not None:
            raise ValueError(
                f"{type(self).__name__} solves no problem with limits: steps to atoms leave them. Use Corrective(), "
                "the default method."
            )
        if isinstance(self.step, ShortStep) and problem.loss.smoothness == math.inf:
            raise ValueError(
                f"ShortStep() needs a bound of the curvature, and {type(problem.loss).__name__} has none. "
                "Use LineSearch()."
            )

    def begin(self, problem: Problem, target: Target) -> "Walk":
        return self

    @abstractmethod
    def move(self, point: Point) -> Move:
        """Return the move from a point."""

    def advance(self, point: Point, t: int) -> tuple[State, float]:
        move = self.move(point)
        length = self.step.size(point, move, t)
        return apply(point, move, length), length
