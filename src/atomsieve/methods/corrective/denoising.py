"""Signals themselves: with X = I and squared losses, total variation and piecewise lines are solved at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from atomsieve.core.signals import denoised
from atomsieve.design import CumulatedDesign
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
    finite = bool(np.isfinite(np.asarray(problem.lifted.prices)).all())
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
    y = np.asarray(y - y[design.right.root], dtype=np.float64)  # the level of the targets would only be rounded
    stated, weights = np.asarray(problem.lifted.prices), np.asarray(problem.weights)
    priced = stated > 0
    if design.identity:
        changes = jumps_of(problem, y, weights, stated[priced])
    else:
        prices = problem.penalty.slope(0.0) * stated[priced]
        _, places, bends = bent(y, weights, prices)
        changes = np.zeros(len(prices))
        changes[places] = bends
    lifted = np.zeros(len(stated))
    lifted[priced] = changes
    return problem.inside(lifted, design.matvec(lifted), coordinates, support=np.flatnonzero(lifted))


def jumps_of(problem: Problem, y: Array, weights: Array, prices: Array) -> Array:
    """Return the jumps of the optimum for total variation."""

    def mass(slope: float) -> float:
        return float(np.abs(np.diff(denoised(y, weights, slope * prices))) @ prices)

    penalty = problem.penalty
    slope = penalty.slope(0.0) if not penalty.superlinear else _slope(penalty, mass, problem.critical)
    charged = slope * prices
    return np.diff(polished(denoised(y, weights, charged), y, weights, charged))


def polished(x: Array, y: Array, weights: Array, prices: Array) -> Array:
    """Return a denoised signal with sharp levels: the mean of a segment, moved by the prices at its ends.

    `W level = sum_i w_i y_i - price sign(jump) at its left end + price sign(jump) at its right end`.
    """
    jumps = np.diff(x)
    places = np.flatnonzero(jumps)
    starts = np.append(0, places + 1)
    pulls = np.append(0.0, prices[places] * np.sign(jumps[places]))
    totals = np.add.reduceat(weights * y, starts) - pulls + np.append(pulls[1:], 0.0)
    return np.repeat(totals / np.add.reduceat(weights, starts), np.diff(np.append(starts, len(x))))


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
