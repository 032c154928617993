"""Second-order models with a gauge that has a prox and faces: the prox finds the face, a Newton step is taken on it."""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from atomsieve.core import Outcome
from atomsieve.core.clock import look
from atomsieve.gauges.proximal import Face, Line
from atomsieve.methods.corrective.hessian import hessian
from atomsieve.methods.corrective.inner import ROUGH, Memory, Modelled
from atomsieve.methods.corrective.lines import meet
from atomsieve.methods.corrective.part import Part
from atomsieve.numerics.rounding import EPS
from atomsieve.problem import Point, Problem
from atomsieve.problem.state import State
from atomsieve.typing import Array

STEPS = 300
"""Proximal steps on one model."""

SHORTEST = 2.0**-12
"""Part of a Newton step on a face below which it is left out."""


@dataclass(frozen=True, eq=False)
class Quadratic:
    """The function `x . H x / 2 - x . r` beside a gauge whose penalty has a line of slopes."""

    gauge: Any
    hessian: Array
    line: Line

    def charge(self, x: Array) -> float:
        """Return the penalty."""
        kappa = float(self.gauge.value(x))
        return self.line[0] * kappa + self.line[1] * kappa * kappa / 2

    def slope(self, x: Array) -> float:
        """Return the slope of the penalty."""
        return self.line[0] + self.line[1] * float(self.gauge.value(x))

    def minimise(self, x: Array, z: Array, enough: float) -> "Minimum":
        """Return the minimiser from x on, where minus the gradient is z.

        It ends when what is left of the gradient, times the length of x, is small enough. Each round is a proximal
        step, as long as the curvature along it allows, and a Newton step on the face where that has led.
        """
        steepest = float(self.hessian.diagonal().max())
        length, gap = 1 / steepest if steepest > 0 else 1.0, math.inf
        for _ in range(STEPS):
            look()
            moved, change, length = self._proximal(x, z, 2 * length)
            bent = self.hessian @ change
            left = float(np.linalg.norm(change / length - bent))
            x, z = moved, z - bent
            size, moved_by = float(np.linalg.norm(x)), float(np.linalg.norm(change))
            gap = left * (size + moved_by)
            if gap <= enough or moved_by <= 4 * EPS * size:
                break
            if x.any():
                x, z = self._newton(x, z, self.gauge.face(x))
        return Minimum(x, z, gap)

    def _proximal(self, x: Array, z: Array, length: float) -> tuple[Array, Array, float]:
        """Return the point after a proximal step, the change, and the length, halved until the model allows it."""
        a, b = self.line
        while True:
            moved = self.gauge.prox(x + length * z, (length * a, length * b))
            change = moved - x
            square, curved = float(change @ change), float(change @ self.hessian @ change)
            if curved * length <= square * (1 + 1e-9) or square == 0:
                return moved, change, length
            length = min(length / 2, square / curved)

    def _newton(self, x: Array, z: Array, face: Face) -> tuple[Array, Array]:
        """Return the point after a Newton step on a face, or a part of it, where that lowers the function."""
        slope = self.slope(x)
        direction = face.directions.T @ solve(self.on(face, slope), face.directions @ z - slope * face.gradient)
        bent = self.hessian @ direction
        rising, curved = -float(z @ direction), float(direction @ bent)
        here = self.charge(x)
        best, taken, part = 0.0, 0.0, 1.0
        while part >= SHORTEST:
            change = part * rising + part * part * curved / 2 + self.charge(x + part * direction) - here
            if change >= best and taken:
                break
            if change < best or (part == 1.0 and change <= EPS * here):
                best, taken = change, part
            part /= 2
        return x + taken * direction, z - taken * bent

    def on(self, face: Face, slope: float) -> Array:
        """Return the Hessian on a face, with that of the penalty at a slope."""
        matrix = face.among(self.hessian)
        if self.line[1] > 0:
            matrix += self.line[1] * np.outer(face.gradient, face.gradient)
        return matrix if face.hessian is None else matrix + slope * face.hessian

    def response(self, x: Array, z: Array) -> float:
        """Return how fast the gauge of the minimiser falls as the slope rises, on the face of x.

        Minus the gradient is z there; where a surface takes the place of the face it tells how that bends.
        """
        if not x.any():
            return 0.0
        face = self.gauge.face(x)
        level = replace(self, line=(self.slope(x), 0.0))
        return float(face.gradient @ solve(level.on(face, self.slope(x)), face.gradient))


class Minimum(NamedTuple):
    """Where a model was minimised: x, or its factors, minus the gradient there, and a bound of what is left to gain."""

    x: Any
    z: Array
    gap: float


@dataclass(eq=False)
class Descent:
    """A model in units on which the line of slopes may change, and how far it was minimised."""

    model: Any
    unit: float
    x: Any
    z: Array

    def solve(self, line: Line, target: float, respond: bool) -> Outcome:
        unit = self.unit
        model = replace(self.model, line=(line[0] / unit, line[1] / unit / unit))
        self.x, self.z, gap = model.minimise(self.x, self.z, target)
        response = model.response(self.x, self.z) / unit / unit if respond else 0.0
        return Outcome(gap, float(model.gauge.value(self.x)) / unit, response)


def solve(matrix: Array, right: Array) -> Array:
    """Solve a system with a matrix that has no negative eigenvalue, up to rounding."""
    if not len(right):  # old versions of SciPy know no empty systems
        return right
    try:
        factor = linalg.cho_factor(matrix + 4 * EPS * np.trace(matrix) * np.eye(len(matrix)), check_finite=False)
        return np.asarray(linalg.cho_solve(factor, right, check_finite=False))
    except linalg.LinAlgError:
        return np.asarray(linalg.lstsq(matrix, right, check_finite=False)[0])


class Proximal(Modelled):
    """The working set for a gauge with a prox: its columns, all of them, in one model."""

    def __init__(self, part: Part, point: Point, memory: Memory) -> None:
        super().__init__(part, point, memory)
        lengths = self.point.problem.seminorm.column_norms()
        longest = float(lengths.max(initial=0.0))
        outputs = self.point.state.x.size // len(lengths)
        self.unit = 2.0 ** round(math.log2(longest)) if longest > 0 else 1.0
        self.stiffness = np.repeat((lengths / self.unit) ** 2, outputs)
        self.rough = 0.0 if point.problem.loss.quadratic else ROUGH  # the model is then the problem itself
        self._matrix: Array | None = None

    def _newton(self, point: Point, enough: float) -> tuple[State, float]:
        gauge, unit = self._gauge(point), self.unit
        start = point.state.x.ravel() * unit
        model = Quadratic(gauge, self._hessian(point), (0.0, 0.0))
        descent = Descent(model, unit, start, point.pulls.ravel() / unit)
        meet(descent.solve, point, enough)
        change = ((descent.x - start) / unit).reshape(point.state.x.shape)
        move = self.along(point, change, gauge.growth(start, descent.x) / unit)
        return self._arrived(point, self._go(point, change, move), descent.x)

    def _next(self, problem: Problem, state: State, scores: Array) -> None:
        """Ask for nothing beforehand."""

    def _gauge(self, point: Point) -> Any:
        """Return the gauge of the entries of x, in units."""
        return point.problem.core.flat(point.problem.shape)

    def _arrived(self, point: Point, found: tuple[State, float], there: Array) -> tuple[State, float]:
        """Return the state after a step, and its length, when the model had its minimum there."""
        return found

    def _hessian(self, point: Point) -> Array:
        loss = point.problem.loss
        if self._matrix is None or not loss.quadratic:
            self._matrix = np.ascontiguousarray(hessian(point, np.arange(point.state.x.size), self.unit))
            if point.problem.shrinkage is not None:
                ridge = point.problem.shrinkage.by_entry / self.unit / self.unit
                self._matrix.ravel()[:: len(self._matrix) + 1] += ridge
            self._steepen(self._matrix, loss.smoothness_near(point.u) * self.stiffness)
        return self._matrix
