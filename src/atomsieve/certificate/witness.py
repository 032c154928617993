"""Graphs with cycles: a certificate states a tree that fits its point, and a flow through the other edges."""

from typing import Any

import numpy as np

from atomsieve.design.dense import DenseDesign
from atomsieve.design.sparse import SparseDesign
from atomsieve.gauges.grounded import Grounded
from atomsieve.gauges.signal import TotalVariation
from atomsieve.gauges.witnessed import stated_with_flow
from atomsieve.problem import Problem
from atomsieve.problem.beside import Beside
from atomsieve.problem.lifted import Lifted
from atomsieve.typing import Array


def with_flow(problem: Problem, x: Array, coordinates: Array) -> tuple[Problem, Array]:
    """Return a problem over a graph with a tree and a flow in the place of all edges, and x in its coefficients.

    Other problems are returned as they are, and so are those for whose pieces there is no proof.
    """
    core: Any = problem.core
    design: Any = getattr(problem.design, "unmetered", problem.design)
    alone = isinstance(core, Grounded) and isinstance(problem.gauge, TotalVariation) and not np.any(problem.ridge)
    if not (alone and np.isfinite(x).all()):
        return problem, x
    z = problem.at(problem.inside(x, problem.design.matvec(x), coordinates)).z
    if not np.isfinite(z).all():
        z = np.zeros(len(z))  # any flow will do: the proof says what is not finite
    total = float(problem.data.stated_weights.sum())
    upward = not problem.data.intercept and is_upward(design.left)
    gauge, jumps = stated_with_flow(core, design.right.hung()[0], x, z, total, upward=upward)
    lifted = Lifted.of(problem.data, problem.smooth.loss, gauge, None)
    return Problem.of(problem.data, gauge, problem.penalty, lifted, Beside(problem._beside.ridge, None)), jumps


def is_upward(design: Any) -> bool:
    """Return whether the entries of a matrix are known not to be negative."""
    if isinstance(design, SparseDesign):
        return bool((design.matrix.data >= 0).all())
    return isinstance(design, DenseDesign) and bool((design.matrix >= 0).all())
