"""Signals themselves: with X = I and squared losses, total variation and piecewise lines are solved at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from atomsieve.core.signals import denoised, jumps_of
from atomsieve.core.trees import denoised_tree
from atomsieve.design import CumulatedDesign, Jumps, Steps
from atomsieve.gauges.grounded import Grounded
from atomsieve.methods.base import Stepper
from atomsieve.methods.corrective.bending import bent
from atomsieve.penalties import Penalty
from atomsieve.problem import Point, Problem
from atomsieve.problem.state import State
from atomsieve.typing import Array

HALVINGS = 60
"""Steps of the search for the slope: about the number of bits of a float."""


def is_denoising(problem: Problem) -> bool:
    """Return whether a problem is one of a signal itself with squared losses: total variation, or lines by `Linear`."""
    design: Any = getattr(problem.design, "unmetered", problem.design)
    if not isinstance(design, CumulatedDesign):
        return False
    if not design.identity and (problem.penalty.superlinear or not design.is_ramp()):
        return False
    alone = problem.shrinkage is None and problem.limits is None and not problem.data.free.shape[1]
    prices = problem.lifted.prices
    over_graph = isinstance(problem.core, Grounded)
    finite = over_graph or (prices is not None and bool(np.isfinite(np.asarray(prices)).all()))
    return alone and finite and problem.loss.quadratic and not problem.outputs


class Denoising:
    """The first step is the solution, up to rounding; should rounding leave a gap, `rest` goes on from there."""

    sifts = False

    def __init__(self, rest: Any) -> None:
        self.rest = rest

    @property
    def patience(self) -> float:
        return float(self.rest.patience)

    @property
    def room(self) -> float:
        return float(self.rest.room)

    def advance(self, point: Point, t: int) -> tuple[State, float]:
        if t > 1 or not is_denoising(point.problem):
            following: Stepper = self.rest
            return following.advance(point, t)
        return solution(point.problem, point.state.coordinates), 1.0

    def follow(self, point: Point, problems: Sequence[Problem]) -> list[State]:
        """Return the solutions of problems that differ in the penalty alone."""
        return [solution(problem, point.state.coordinates) for problem in problems]


def solution(problem: Problem, coordinates: Array) -> State:
    """Return the state of the denoised signal: its jumps or bends, while level and slope are free coefficients."""
    design: Any = getattr(problem.design, "unmetered", problem.design)
    y = problem.data.y if problem.data.offset is None else problem.data.y - problem.data.offset
    y, weights = np.asarray(y, dtype=np.float64), np.asarray(problem.weights)
    if design.identity:
        return problem.inside(*_leaps(problem, design.right, y, weights), coordinates)
    stated = np.asarray(problem.lifted.prices)
    priced = np.flatnonzero(stated > 0)
    places, bends = bent(y, weights, problem.penalty.slope(0.0) * stated[priced])
    lifted = np.zeros(len(stated))
    lifted[priced[places]] = bends
    return problem.inside(lifted, design.matvec(lifted), coordinates, support=np.flatnonzero(lifted))


def _leaps(problem: Problem, steps: Jumps, y: Array, weights: Array) -> tuple[Array, Array]:
    """Return the jumps of the optimum for total variation, or levels above those of roots, with their sums."""
    core: Any = problem.core
    network = core.unearthed(steps.hung()[0]) if isinstance(core, Grounded) else None
    prices = np.zeros(0) if network else np.asarray(problem.lifted.prices)
    y = y - steps.matvec(y[steps.roots], steps.roots)  # the levels of the targets would only be rounded

    def levels(slope: float) -> Array:
        if network is not None:
            return network.denoised(y, weights, slope * core.weights)[0]
        return fitted(steps, y, weights, slope * prices)

    def mass(slope: float) -> float:
        return float(core.value(steps.jumps(levels(slope))))

    penalty = problem.penalty
    slope = penalty.slope(0.0) if not penalty.superlinear else _slope(penalty, mass, problem.critical)
    x = levels(slope)
    if isinstance(steps, Steps):
        return jumps_of(y, weights, np.delete(slope * prices, steps.root), steps.root, x)
    jumps = steps.jumps(x if network is not None else polished(steps, x, y, weights, slope * prices))
    return jumps, steps.matvec(jumps)


def fitted(steps: Any, y: Array, weights: Array, prices: Array) -> Array:
    """Return the x that minimises `sum_i w_i (x_i - y_i)^2 / 2 + sum of price abs(jump)`, with one price per place."""
    if isinstance(steps, Steps):
        return denoised(y, weights, np.delete(prices, steps.root))
    x, order = np.empty(len(y)), steps.order
    x[order] = denoised_tree(steps.above, y[order], weights[order], prices[order])
    return x


def polished(steps: Jumps, x: Array, y: Array, weights: Array, prices: Array) -> Array:
    """Return a denoised signal with sharp levels: the mean of a region, moved by the prices of the jumps around it.

    `W level = sum_i w_i y_i - price sign(jump) + ...`, less for a jump up to the region, more for one up from it.
    """
    jumps = steps.jumps(x)
    heads = np.flatnonzero(jumps)
    regions = steps.regions(heads)
    above, signs = regions.jumps.hung()
    pulls = prices[heads] * np.sign(jumps[heads]) * signs[regions.places]
    count = regions.jumps.count
    totals = np.bincount(above[regions.places], pulls, count) - np.bincount(regions.places, pulls, count)
    levels = (regions.together(weights * y) + totals) / regions.together(weights)
    return np.asarray(levels[regions.labels])


def _slope(penalty: Penalty, mass: Any, highest: float) -> float:
    """Return the slope that the penalty has at its own solution: masses fall as it rises."""
    low, high = 0.0, highest
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        size = mass(middle)
        if not penalty.admits(size) or penalty.slope(size) > middle:
            low = middle
        else:
            high = middle
    return high
