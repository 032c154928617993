"""The generalized conditional gradient method of the paper."""

from dataclasses import dataclass, field

from atomsieve.methods.base import Walk
from atomsieve.methods.moves import Move, toward
from atomsieve.methods.steps import OpenLoop, Step
from atomsieve.problem import Point


@dataclass(frozen=True, eq=False, repr=False)
class GCG(Walk):
    """Generalized conditional gradient: `x <- (1 - s) x + s xi p` with the best atom p and its best size xi.

    Each iteration takes one product with A'. With the default step 2/(t+1), objective error and smallest gap fall like
    1/t for every penalty that grows at least quadratically (Sun and Bach, 2020, theorem 1). If the penalty is weak, the
    iterates first move far away. With exact or short steps the objective never increases.

    >>> import numpy as np
    >>> from atomsieve import LineSearch, Problem, solve
    >>> solve(Problem(np.eye(2), [3.0, 1.0]), GCG(LineSearch()), tol=1e-9).x.round(6)
    array([1., 0.])
    """

    step: Step = field(default_factory=OpenLoop)
    measured = False

    def move(self, point: Point) -> Move:
        return toward(point)
