"""Tall data and squared losses: where the Gram matrix of all columns carries a path from slope to slope."""

import math
from typing import Any

import numpy as np

from atomsieve.core import carries
from atomsieve.problem import Point, Problem
from atomsieve.problem.lifted import Lifted


def carried(lifted: Lifted) -> bool:
    """Return whether the Gram matrix of all columns carries a path from slope to slope: a squared loss of tall data."""
    n, d = lifted.design.shape
    return lifted.smooth.loss.quadratic and carries(math.prod(lifted.shape), lifted.design.density * n * d)


def needs_all(point: Point, last: Problem) -> bool:
    """Return whether a working set is expected to hold all columns at the last slope of a path from this point.

    The pulls of a squared loss are piecewise linear in the slope, so they are extrapolated to the last slope, along the
    line from the critical slope, where x = 0, to here. Blocks whose scores then exceed it are expected in the support,
    and a working set has twice as many. Nothing but time depends on this guess.
    """
    problem, here, end = point.problem, point.problem.penalty.slope(point.state.mass), last.penalty.slope(0.0)
    if not len(point.state.support) or not end < here < problem.critical:
        return False
    core: Any = problem.core
    x, bent = point.state.x, point.pulls - problem.origin.pulls
    pulls = point.pulls + (here - end) / (problem.critical - here) * bent
    scores = core.scores(pulls) if problem.limits is None else problem.limits.open_scores(pulls, x)
    joins = core.joining(pulls, scores) > end if core.split else scores > end
    return 2 * int(np.count_nonzero(joins | ((np.abs(x) if core.split else core.sizes(x)) > 0))) >= len(joins)
