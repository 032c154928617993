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


def needs_all(before: Point, point: Point, last: Problem) -> bool:
    """Return whether a working set is expected to hold all columns at the last slope of a path, from two points on it.

    The pulls of a squared loss are piecewise linear in the slope, so they are extrapolated along the line through both
    points, once the path has come half of its way. Blocks whose scores then exceed the last slope are expected in the
    support, and a working set has twice as many. Nothing but time depends on this guess.
    """
    problem, end = point.problem, last.penalty.slope(0.0)
    there, here = solved_slope(before), solved_slope(point)
    if not (end < here < there and here - end <= problem.critical - here):
        return False
    core: Any = problem.core
    x, pulls = point.state.x, point.pulls + (here - end) / (there - here) * (point.pulls - before.pulls)
    scores = core.scores(pulls) if problem.limits is None else problem.limits.open_scores(pulls, x)
    joins = core.joining(pulls, scores) > end if core.split else scores > end
    return 2 * int(np.count_nonzero(joins | ((np.abs(x) if core.split else core.sizes(x)) > 0))) >= len(joins)


def solved_slope(point: Point) -> float:
    """Return the slope of `Linear` that a point of a path belongs to: where x = 0, the critical one."""
    problem = point.problem
    return problem.penalty.slope(point.state.mass) if len(point.state.support) else problem.critical
