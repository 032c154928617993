"""Graphs with cycles: a certificate states a tree that fits its point, and a flow through the other edges."""

from typing import Any

import numpy as np

from atomsieve.gauges.grounded import Grounded
from atomsieve.gauges.witnessed import stated_with_flow
from atomsieve.problem import Problem
from atomsieve.problem.lifted import Lifted
from atomsieve.problem.problem import Beside
from atomsieve.typing import Array


def with_flow(problem: Problem, x: Array, coordinates: Array) -> tuple[Problem, Array]:
    """Return a problem over a graph with a tree and a flow in the place of all edges, and x in its coefficients.

    Other problems are returned as they are, and so are those for whose pieces there is no proof.
    """
    core, design = problem.core, getattr(problem.design, "unmetered", problem.design)
    plain = not problem.gauge.mapped or hasattr(problem.gauge, "priced")
    if not (isinstance(core, Grounded) and plain and problem.shrinkage is None and np.isfinite(x).all()):
        return problem, x
    point = problem.at(problem.inside(x, problem.design.matvec(x), coordinates))
    steps: Any = getattr(design, "right", None)
    if steps is None or not np.isfinite(point.z).all():
        return problem, x
    total = float(problem.data.stated_weights.sum())
    gauge, jumps = stated_with_flow(core, steps.hung()[0], x, point.z, total)
    lifted = Lifted.of(problem.data, problem.smooth.loss, gauge, None)
    return Problem.of(problem.data, gauge, problem.penalty, lifted, Beside(problem._beside.ridge, None)), jumps
