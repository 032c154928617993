"""Pairwise conditional gradients: weight goes straight from the worst active atom to the best atom."""

from dataclasses import dataclass, field

from atomsieve.checks import require_piece
from atomsieve.methods.away import worst
from atomsieve.methods.base import apply, require_bounded_oracle, require_search, rescale, toward
from atomsieve.piece import Piece
from atomsieve.problem import Point, Problem
from atomsieve.state import Move, State
from atomsieve.steps import LineSearch, Step


def exchange(point: Point) -> Move | None:
    """Return the move of the worst active atom's weight to the best atom."""
    found, design = worst(point), point.problem.design
    if found is None or point.sigma == 0:
        return None
    old, weight = found
    new = point.atom
    descent = weight * (point.sigma - old.dot(point.z))
    image = weight * (new.image(design) - old.image(design))
    emptied = None if new.block == old.block else old
    return Move(0.0, ((new, weight), (old, -weight)), 0.0, descent, 1.0, image, emptied)


@dataclass(frozen=True, eq=False)
class Pairwise(Piece):
    """Pairwise conditional gradient on the lifted cone: exchanges atoms, and sets the mass by steps towards the best.

    S. Lacoste-Julien and M. Jaggi, On the global linear convergence of Frank-Wolfe optimization variants (2015).
    """

    step: Step = field(default_factory=LineSearch)
    max_iter = 10_000

    def __post_init__(self) -> None:
        require_piece("Pairwise: step", self.step, Step)

    def check(self, problem: Problem) -> None:
        require_bounded_oracle(self, problem.penalty)
        require_search(self, self.step)

    def advance(self, point: Point, t: int) -> tuple[State, float]:
        size = rescale(point)
        move = size if size is not None and size.descent > point.gap / 2 else exchange(point) or toward(point)
        length = self.step.size(point, move, t)
        return apply(point, move, length), length
