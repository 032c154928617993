"""Which columns are expected to join the support: by slopes of the penalty, or by what a step would give weight."""

import math
from typing import Any

import numpy as np

from atomsieve.design import ALL
from atomsieve.problem import Point
from atomsieve.typing import Array, Mask


def slopes_of_joining(point: Point) -> Array:
    """Return the slope at which each column joins x, for a gauge whose blocks are split."""
    core: Any = point.problem.core
    slopes: Array = core.joining(point.pulls, point.unscaled_scores)
    return slopes if slopes.ndim == 1 else np.asarray(slopes.max(axis=1))


def stepped(point: Point, raised: float = 0.0, where: Mask | slice = ALL) -> Array:
    """Return where a proximal step from a point leads, if some pulls were raised by so much."""
    length, slope = step_length(point), marginal_slope(point)
    core: Any = point.problem.core
    pulls = point.pulls.copy()
    pulls[where] += raised * np.sign(pulls[where])
    return np.asarray(core.prox(point.state.x + length * pulls, (length * slope, 0.0)))


def step_length(point: Point) -> float:
    """Return the length of a proximal step that the curvature along the longest column allows."""
    problem = point.problem
    longest = float(problem.seminorm.column_norms().max(initial=0.0))
    steepest = problem.loss.smoothness_near(point.u) * longest * longest
    return 1 / steepest if 0 < steepest < math.inf else 1.0


def joining(point: Point, where: Mask) -> Mask:
    """Return which of some columns without weight may join, by the strong rule for gauges of one block.

    The score of all is expected to move by no more than it has to, from sigma to the slope of the penalty. So no pull
    moves by more than that times the size which an entry has for each unit of its own score.
    """
    unit = np.zeros_like(point.pulls)
    unit.flat[0] = 1.0
    excess = max(point.sigma / point.dual_scale - marginal_slope(point), 0.0)
    there = stepped(point, excess / float(point.problem.core.scores(unit)[0]), where)[where]
    return np.asarray(there != 0 if there.ndim == 1 else there.any(axis=1))


def joining_score(point: Point) -> float:
    """Return the score up to which no block is expected to join the support, by the strong rule.

    Scores are expected to move by no more than the best one has to: from sigma to the slope of the penalty.
    """
    return 2 * marginal_slope(point) - point.sigma / point.dual_scale


def marginal_slope(point: Point) -> float:
    """Return the slope of the penalty; where that changes with the mass and is no line, the slope that x . z bears.

    At a mass slightly off, a barrier or the edge of a ball has quite another slope than at the optimum.
    """
    penalty, mass = point.problem.penalty, point.state.mass
    limits = point.problem.limits
    if limits is not None:
        return limits.conjugate(penalty, point.z, point.scores > -math.inf).slope
    if penalty.line is not None or mass == 0:
        return penalty.slope(mass)
    return max(penalty.slope(0.0), point.pull / mass)
