"""The generalized conditional gradient method, as in the paper."""

from dataclasses import dataclass, field

from atomsieve.checks import require_piece
from atomsieve.methods.base import apply, require_bounded_oracle, toward
from atomsieve.piece import Piece
from atomsieve.problem import Point, Problem
from atomsieve.state import State
from atomsieve.steps import OpenLoop, Step


@dataclass(frozen=True, eq=False)
class GCG(Piece):
    """Generalized conditional gradient: `x <- (1 - s) x + s xi p`, p the best atom and xi its best size.

    One product with A' per iteration. With the default step 2/(t+1) objective error and smallest gap fall like 1/t
    for every penalty that grows at least quadratically (Sun and Bach, 2020, theorem 1).
    """

    step: Step = field(default_factory=OpenLoop)
    max_iter = 10_000

    def __post_init__(self) -> None:
        require_piece("GCG: step", self.step, Step)

    def check(self, problem: Problem) -> None:
        require_bounded_oracle(self, problem.penalty)

    def advance(self, point: Point, t: int) -> tuple[State, float]:
        move = toward(point)
        length = self.step.size(point, move, t)
        return apply(point, move, length), length
