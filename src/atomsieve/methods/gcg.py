"""The generalized conditional gradient method, as in the paper."""

from dataclasses import dataclass, field

from atomsieve.methods.base import Walk
from atomsieve.methods.moves import Move, toward
from atomsieve.methods.steps import OpenLoop, Step
from atomsieve.problem import Point


@dataclass(frozen=True, eq=False, repr=False)
class GCG(Walk):
    """Generalized conditional gradient: `x <- (1 - s) x + s xi p`, p the best atom and xi its best size.

    One product with A' per iteration. With the default step 2/(t+1) objective error and smallest gap fall like 1/t
    for every penalty that grows at least quadratically (Sun and Bach, 2020, theorem 1), though with a weak penalty only
    after the iterates have wandered far; exact and short steps never go up.

    >>> import numpy as np
    >>> from atomsieve import LineSearch, Problem, solve
    >>> solve(Problem(np.eye(2), [3.0, 1.0]), GCG(LineSearch()), tol=1e-9).x.round(6)
    array([1., 0.])
    """

    step: Step = field(default_factory=OpenLoop)
    measured = False

    def move(self, point: Point) -> Move:
        return toward(point)
