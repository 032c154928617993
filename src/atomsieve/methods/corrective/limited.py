"""Second-order models with limits of the coefficients: l1 within a box has a prox and faces as well.

Its prox is `clip(soft(v, t price), lower, upper)`. On a face, coefficients at a limit are fixed, and those strictly
within are free.
"""

from dataclasses import dataclass, replace

import numpy as np

from atomsieve.core import box_descent
from atomsieve.gauges.proximal import Face, Line, on_line
from atomsieve.methods.corrective.proximal import SHORTEST, Proximal, Quadratic, solve
from atomsieve.numerics.rounding import EPS
from atomsieve.problem import Point
from atomsieve.problem.limits import CoefficientLimits
from atomsieve.problem.state import State
from atomsieve.typing import Array

SWEEPS = 20
"""Sweeps of coordinate descent after a Newton step on a face."""


@dataclass(frozen=True, eq=False)
class Box:
    """A weighted l1 norm within limits, as a model sees it."""

    limits: CoefficientLimits

    @classmethod
    def in_units(cls, limits: CoefficientLimits, unit: float) -> "Box":
        """Return the same for coefficients times a power of two."""
        return cls(replace(limits, lower=limits.lower * unit, upper=limits.upper * unit))

    def value(self, x: Array) -> float:
        """Return the norm; x is within the limits."""
        return float(self.limits.prices @ np.abs(x))

    def growth(self, x: Array, there: Array) -> float:
        """Return how much larger the norm is at another point, to all digits."""
        return float(self.limits.prices @ (np.abs(there) - np.abs(x)))

    def prox(self, v: Array, line: Line) -> Array:
        """Return the x within the limits that minimises `|x - v|^2 / 2 + a kappa(x) + b kappa(x)^2 / 2`."""
        prices = self.limits.prices

        def shrunk(slope: float) -> Array:
            return self.limits.clip(np.sign(v) * np.maximum(np.abs(v) - slope * prices, 0.0))

        return on_line(shrunk, self.value, line, float((np.abs(v) / prices).max(initial=0.0)))

    def face(self, x: Array) -> Face:
        """Return the face that x lies on: coefficients at 0 or at a limit stay there."""
        limits = self.limits
        free = (x != 0) & (x > limits.lower) & (x < limits.upper)
        labels = np.where(free, np.cumsum(free) - 1, -1)
        return Face.of_signs(np.sign(x), labels, np.abs(x[free]), limits.prices[free])

    def project(self, x: Array, there: Array) -> Array:
        """Return the point near another one at which no coefficient is beyond a limit, or has the other sign than x."""
        return self.limits.clip(np.where(np.sign(there) == np.sign(x), there, 0.0))


class BoxQuadratic(Quadratic):
    """The function `x . H x / 2 - x . r` beside l1 within limits."""

    def _newton(self, x: Array, z: Array, face: Face) -> tuple[Array, Array]:
        """Return the point after a Newton step on a face, or a part of it, cut at 0 and at limits, and some sweeps.

        Where columns outnumber samples a step as long as all curvatures allow goes nowhere, and a sweep of coordinate
        descent does as much as hundreds of them.
        """
        slope, box = self.slope(x), self.gauge
        direction = face.directions.T @ solve(self.on(face, slope), face.directions @ z - slope * face.gradient)
        a, b = self.line
        size = box.value(x)
        best, taken, bent, part = 0.0, np.zeros(len(x)), np.zeros(len(x)), 1.0
        while part >= SHORTEST:
            change = box.project(x, x + part * direction) - x
            curved, more = self.hessian @ change, box.growth(x, x + change)
            fall = float(change @ (curved / 2 - z)) + more * (a + b * (size + more / 2))
            if fall >= best and taken.any():
                break
            if fall < best or (part == 1.0 and fall <= EPS * self.charge(x)):
                best, taken, bent = fall, change, curved
            part /= 2
        x, z = box.project(x, x + taken), z - bent
        limits = box.limits
        box_descent(self.hessian, z, x, limits.prices, (limits.lower, limits.upper), self.line, SWEEPS)
        return x, z


class Limited(Proximal):
    """The working set of a problem with limits: its columns, all of them, in one model."""

    quadratic = BoxQuadratic

    def _gauge(self, point: Point) -> Box:
        assert point.problem.limits is not None  # noqa: S101
        return Box.in_units(point.problem.limits, self.unit)

    def _arrived(self, point: Point, found: tuple[State, float], there: Array) -> tuple[State, float]:
        (state, length), problem = found, point.problem
        x = (there / self.unit).reshape(state.x.shape)
        if length == 1.0 and problem.penalty.admits(problem.lifted.mass(x)):
            # coefficients that have met a limit are there, to the last bit
            state = replace(state, x=x, known_support=None)
        return state, length
