"""Accelerated proximal steps: no system is solved, so that hundreds of blocks come and go in each.

They are taken where solving a face would cost far more than the products they need: to guess the face of a model, and
on all columns of A where so many of them matter that picking some is no help. Coordinates and gradients are those of
the caller, in the caller's units.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from atomsieve.methods.corrective.blocks import Blocks
from atomsieve.numerics.clock import late
from atomsieve.penalties import Penalty
from atomsieve.typing import Array, Samples

CHECK = 10
"""Steps between two looks at the size of the support."""

SETTLED = 0.01
"""Change of the support between two looks, as a part of it, below which the face is found."""

SPARE = 1.1
"""Room that the scale gets beyond what a step asked for, so that it rarely grows again."""


@dataclass(frozen=True, eq=False)
class Spot:
    """Coordinates, and an affine function of them from which the gradient is had."""

    x: Array
    image: Samples

    def beyond(self, other: "Spot", part: float) -> "Spot":
        """Return the spot on the line from the other one, a part of their distance further."""
        return Spot(self.x + part * (self.x - other.x), self.image + part * (self.image - other.image))


class Ground(Protocol):
    """The smooth part of an objective."""

    def pull(self, spot: Spot) -> Array:
        """Return the negative gradient."""

    def reach(self, x: Array, spot: Spot) -> Spot:
        """Return the spot at x, near a known one."""

    def curvature(self, spot: Spot, other: Spot) -> float:
        """Return a bound of the curvature between two spots, times the square of their distance."""


@dataclass(frozen=True, eq=False)
class Paraboloid:
    """The smooth part of a quadratic model as proximal steps see it: the image of x is the gradient there."""

    hessian: Array

    def pull(self, spot: Spot) -> Array:
        return -np.asarray(spot.image)

    def reach(self, x: Array, spot: Spot) -> Spot:
        return Spot(x, np.asarray(spot.image + self.hessian @ (x - spot.x)))

    def curvature(self, spot: Spot, other: Spot) -> float:
        return float((spot.x - other.x) @ (spot.image - other.image))


@dataclass
class Metric:
    """`scale * diagonal`, the curvature that steps reckon with, and the gauge whose proximal map is taken in it."""

    diagonal: Array
    """One number for each block: the same curvature for all of its entries."""
    blocks: Blocks
    penalty: Penalty
    slope: float
    """What the penalty charges at the margin."""
    scale: float = 1.0

    def step(self, x: Array, pull: Array) -> Array:
        """Return the proximal step from x, and keep the slope that the penalty charges there."""
        blocks, rates = self.blocks, 1 / (self.scale * self.diagonal)
        goal, each = x + blocks.over(rates) * pull, rates * blocks.prices
        moved = blocks.shrink(goal, self.slope * each)
        if self.penalty.superlinear:
            norms = blocks.norms(moved)
            force = math.sqrt(float(blocks.prices @ np.where(norms > 0, each, 0.0)))
            self.slope += self.penalty.rise(self.slope, float(blocks.prices @ norms), force)
            moved = blocks.shrink(goal, self.slope * each)
        return moved

    def bears(self, step: Array, curvature: float) -> bool:
        """Return whether the metric is no less than the curvature along a step; make it so if not."""
        given = self.inner(step, step)
        if not curvature > self.scale * given > 0:
            return True
        self.scale = SPARE * curvature / given
        return False

    def inner(self, a: Array, b: Array) -> float:
        """Return the inner product of two steps, up to the scale."""
        return float((self.blocks.over(self.diagonal) * a) @ b)


def glide(ground: Ground, metric: Metric, here: Spot, longest: int) -> Spot:
    """Return the spot after accelerated proximal steps, as many as it takes until the support settles."""
    ahead = here
    momentum = 1.0
    support = np.count_nonzero(here.x)
    for t in range(1, longest + 1):
        after = proximal_step(ground, metric, ahead)
        if metric.inner(ahead.x - after.x, after.x - here.x) > 0:  # the momentum leads astray: begin anew
            momentum = 1.0
        grown = (1 + math.sqrt(1 + 4 * momentum * momentum)) / 2
        ahead = after.beyond(here, (momentum - 1) / grown)
        here = after
        momentum = grown
        if t % CHECK == 0:
            before, support = support, np.count_nonzero(here.x)
            if abs(support - before) <= SETTLED * support:
                break
        if late():
            break
    return here


def proximal_step(ground: Ground, metric: Metric, ahead: Spot) -> Spot:
    """Return the spot one step on, with a metric that bears it."""
    pull = ground.pull(ahead)
    while True:
        after = ground.reach(metric.step(ahead.x, pull), ahead)
        if metric.bears(after.x - ahead.x, ground.curvature(after, ahead)):
            return after
