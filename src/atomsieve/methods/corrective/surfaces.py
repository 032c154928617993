"""Newton steps on the surface of matrices of one rank, for models beside a gauge of singular values.

A proximal step finds the rank of x, and a Newton step is taken on the surface of matrices of that rank: by its tangent
space, and by how it bends. The system is solved by conjugate gradients, which need products with the Hessian alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from atomsieve.gauges.matrix import decomposed
from atomsieve.methods.corrective.proximal import SHORTEST, Quadratic
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array

ITERATIONS = 200
"""Conjugate gradients for one Newton step."""


@dataclass(frozen=True, eq=False)
class Surface:
    """The surface of one rank at `x = U diag(s) V'`, for a slope of the gauge, and z outside of it.

    A change D has the parts M = U' D V, Y = D V less U M, and W = U' D less M V'. Along the surface the gauge grows by
    `tr M` and `(sum over i < j of (M_ij - M_ji)^2 / (s_i + s_j) + sum_i (|Y_i|^2 + |W_i|^2) / s_i) / 2`, and the
    surface bends away by `Y S^-1 W`, which scores by the part of z outside.
    """

    left: Array
    values: Array
    right: Array
    slope: float
    outside: Array

    @classmethod
    def at(cls, x: Array, z: Array, slope: float) -> "Surface":
        """Return the surface around a matrix x that is not 0, where minus the gradient is z.

        Where the part of z outside is larger than the slope, it is taken as large: beyond, the rank has to grow.
        """
        left, values, right = decomposed(x)
        rank = int(np.count_nonzero(values > 8 * EPS * max(x.shape) * values[0]))
        left, values, right = left[:, :rank], values[:rank], right[:, :rank]
        outside = z - left @ (left.T @ z)
        outside -= (outside @ right) @ right.T
        largest = decomposed(outside, 1).values[0]
        if largest > slope:
            u, sizes, v = decomposed(outside)
            outside = (u * np.minimum(sizes, slope)) @ v.T
        return cls(left, values, right, slope, outside)

    @property
    def gradient(self) -> Array:
        """The gradient of the gauge, `U V'`."""
        return np.asarray(self.left @ self.right.T)

    def parts(self, change: Array) -> tuple[Array, Array, Array]:
        """Return M, Y and W of a change."""
        across, along = change @ self.right, self.left.T @ change
        both = self.left.T @ across
        return both, across - self.left @ both, along - both @ self.right.T

    def whole(self, both: Array, across: Array, along: Array) -> Array:
        """Return the change with these parts."""
        return np.asarray((self.left @ both + across) @ self.right.T + self.left @ along)

    def inside(self, change: Array) -> Array:
        """Return the part of a change in the tangent space."""
        return self.whole(*self.parts(change))

    def bent(self, change: Array) -> Array:
        """Return the curvature of the gauge times the slope, less what z gains where the surface bends."""
        both, across, along = self.parts(change)
        turned = (both - both.T) / (self.values[:, None] + self.values)
        slope, each = self.slope, 1 / self.values
        return self.whole(
            slope * turned,
            (slope * across - self.outside @ along.T) * each,
            (slope * along - across.T @ self.outside) * each[:, None],
        )

    def eased(self, change: Array, curvature: float) -> Array:
        """Return a change divided by a curvature that is the same everywhere, and by that of the gauge."""
        both, across, along = self.parts(change)
        each = curvature + self.slope / self.values
        turned = self.slope / (self.values[:, None] + self.values)
        even, odd = (both + both.T) / 2, (both - both.T) / 2
        return self.whole(even / curvature + odd / (curvature + 2 * turned), across / each, along / each[:, None])

    def moved(self, step: Array) -> Array:
        """Return the change of x for a step in the tangent space, bent so that the rank stays what it is."""
        both, across, along = self.parts(step)
        try:
            return np.asarray(step + across @ np.linalg.solve(np.diag(self.values) + both, along))
        except np.linalg.LinAlgError:  # the rank falls: a proximal step will find out
            return step


class SurfaceModel(Quadratic):
    """A quadratic model beside a gauge of singular values, with Newton steps on surfaces of one rank."""

    def bettered(self, x: Array, z: Array) -> tuple[Array, Array]:
        form, price = seen_by(self.gauge)
        surface = Surface.at(x.reshape(form), z.reshape(form), self.slope(x) * price)
        pull = surface.inside(z.reshape(form)) - surface.slope * surface.gradient
        step = self._solved(surface, pull, price)
        here, best, taken, part = self.charge(x), 0.0, None, 1.0
        while part >= SHORTEST:
            change = surface.moved(part * step).ravel()
            bent = self.hessian @ change
            fall = -float(z @ change) + float(change @ bent) / 2 + self.charge(x + change) - here
            if fall >= best and taken is not None:
                break
            if fall < best or (part == 1.0 and fall <= EPS * here):
                best, taken = fall, (change, bent)
            part /= 2
        return (x, z) if taken is None else (x + taken[0], z - taken[1])

    def _solved(self, surface: Surface, right: Array, price: float, enough: float = 1e-2) -> Array:
        """Return the Newton step for a right-hand side in the tangent space."""
        gradient, rise = surface.gradient, self.line[1] * price * price
        mean = float(self.hessian.diagonal().mean())

        def curved(step: Array) -> Array:
            found = surface.inside((self.hessian @ step.ravel()).reshape(step.shape)) + surface.bent(step)
            return found if rise == 0 else found + rise * float(np.vdot(gradient, step)) * gradient

        return conjugate_gradients(curved, right, lambda r: surface.eased(r, mean), enough)

    def response(self, x: Array, z: Array) -> float:
        if not x.any():
            return 0.0
        form, price = seen_by(self.gauge)
        slope = self.slope(x)
        surface = Surface.at(x.reshape(form), z.reshape(form), slope * price)
        level = SurfaceModel(self.gauge, self.hessian, (slope, 0.0))
        gradient = surface.gradient
        return price * price * float(np.vdot(gradient, level._solved(surface, gradient, price, 1e-4)))


def conjugate_gradients(
    curved: Callable[[Array], Array], right: Array, eased: Callable[[Array], Array], enough: float
) -> Array:
    """Solve a system with a matrix that has no negative eigenvalue, to a part of the norm of the right-hand side."""
    found, left = np.zeros_like(right), right.copy()
    first = float(np.linalg.norm(right))
    direction, before = np.zeros_like(right), 1.0
    for _ in range(ITERATIONS):
        if float(np.linalg.norm(left)) <= enough * first:
            break
        towards = eased(left)
        along = float(np.vdot(left, towards))
        direction = towards + along / before * direction
        bent = curved(direction)
        curvature = float(np.vdot(direction, bent))
        if not curvature > 0:
            break
        step = along / curvature
        found, left, before = found + step * direction, left - step * bent, along
    return found


def seen_by(gauge: Any) -> tuple[tuple[int, int], float]:
    """Return the rows and columns that a gauge of vectors sees, and what it multiplies the sum of values by."""
    price = 1.0
    while not hasattr(gauge, "form"):
        price, gauge = price / gauge.radius, gauge.gauge
    return gauge.form, price
