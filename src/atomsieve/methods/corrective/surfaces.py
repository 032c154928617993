"""Newton steps on the surface of matrices of one rank, for models beside a gauge of singular values.

A proximal step finds the rank of x, and a Newton step is taken on the surface of matrices of that rank: by its tangent
space, and by how it bends. The system is solved by conjugate gradients, which need products with the Hessian alone.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from atomsieve.core.clock import look
from atomsieve.gauges.matrix import MatrixGauge, Triplets, decomposed, singular_values
from atomsieve.methods.corrective.proximal import SHORTEST, STEPS, Minimum, Quadratic
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array

ITERATIONS = 200
"""Conjugate gradients for one Newton step."""

ROUGHLY = 0.05
"""Part of the right-hand side to which the system of a Newton step is solved."""


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
    definite: bool

    @classmethod
    def at(cls, x: Triplets, z: Array, slope: float, gauge: MatrixGauge) -> "Surface":
        """Return the surface around a matrix x that is not 0, where minus the gradient is z.

        Where the part of z outside is larger than the slope, it is taken as large: beyond, the rank has to grow.
        """
        left, values, right = x
        outside = z - left @ (left.T @ z)
        outside -= (outside @ right) @ right.T
        return cls(left, values, right, slope, gauge.clipped(outside, slope), gauge.symmetric)

    def parts(self, change: Array) -> Array:
        """Return M, Y and W of a change, one after the other in a vector; inner products stay what they are."""
        across, along = change @ self.right, self.left.T @ change
        both = self.left.T @ across
        across -= self.left @ both
        along -= both @ self.right.T
        return np.concatenate([both.ravel(), across.ravel(), along.ravel()])

    def taken_apart(self, parts: Array) -> tuple[Array, Array, Array]:
        """Return M, Y and W as matrices."""
        r, rows = len(self.values), len(self.left)
        ends = r * r, r * r + rows * r
        return (
            parts[: ends[0]].reshape(r, r),
            parts[ends[0] : ends[1]].reshape(rows, r),
            parts[ends[1] :].reshape(r, -1),
        )

    def whole(self, parts: Array) -> Array:
        """Return the change with these parts."""
        both, across, along = self.taken_apart(parts)
        return np.asarray(across @ self.right.T + self.left @ (both @ self.right.T + along))

    def bent(self, parts: Array) -> Array:
        """Return the curvature of the gauge times the slope, less what z gains where the surface bends."""
        both, across, along = self.taken_apart(parts)
        turned = (both - both.T) / (self.values[:, None] + self.values)
        slope, each = self.slope, 1 / self.values
        rows = (slope * across - self.outside @ along.T) * each
        columns = (slope * along - across.T @ self.outside) * each[:, None]
        return np.concatenate([slope * turned.ravel(), rows.ravel(), columns.ravel()])

    def eased(self, parts: Array, curvature: float) -> Array:
        """Return a change divided by a curvature that is the same everywhere, and by that of the gauge."""
        both, across, along = self.taken_apart(parts)
        each = curvature + self.slope / self.values
        turned = self.slope / (self.values[:, None] + self.values)
        even, odd = (both + both.T) / 2, (both - both.T) / 2
        inner = even / curvature + odd / (curvature + 2 * turned)
        return np.concatenate([inner.ravel(), (across / each).ravel(), (along / each[:, None]).ravel()])

    @property
    def gradient(self) -> Array:
        """The gradient of the gauge: I in M."""
        count = len(self.values)
        found = np.zeros(count * (count + len(self.left) + len(self.right)))
        found[: count * count : count + 1] = 1.0
        return found

    def moved(self, parts: Array) -> tuple[Array, float] | None:
        """Return the change of x for a step in the tangent space, and the sum of the singular values of x there.

        It is bent so that the rank stays what it is: `x = L R'` with `L = U (S + M) + Y` and `R' = V' + (S + M)^-1 W`.
        None where S + M has no inverse: the rank falls there, which a proximal step will find out.
        """
        both, across, along = self.taken_apart(parts)
        core = np.diag(self.values) + both
        if self.definite and np.linalg.eigvalsh((core + core.T) / 2)[0] <= 0:
            return None
        try:
            turned = np.linalg.solve(core, along)
        except np.linalg.LinAlgError:
            return None
        change = self.whole(parts) + across @ turned
        left, right = _triangle(self.left @ core + across), _triangle(self.right + turned.T)
        return change, float(singular_values(left @ right.T).sum())


class SurfaceModel(Quadratic):
    """A quadratic model beside a gauge of singular values, with Newton steps on surfaces of one rank."""

    def minimise(self, x: Array, z: Array, enough: float) -> Minimum:
        form, price, seen = seen_by(self.gauge)
        z = seen.drawn(z.reshape(form)).ravel()
        steepest = float(self.hessian.diagonal().max())
        length, gap = 2 / steepest if steepest > 0 else 1.0, math.inf
        for _ in range(STEPS):
            look()
            found, change, allowed = self._shrunk(x, z, length)
            bent = self._bent(change, seen)
            left = float(np.linalg.norm(change / allowed - bent))
            x, z = x + change, z - bent
            size, moved_by = float(np.linalg.norm(x)), float(np.linalg.norm(change))
            gap = left * (size + moved_by)
            if gap <= enough or moved_by <= 4 * EPS * size:
                break
            # what was too long once will be so again
            length = 2 * allowed if allowed == length else allowed
            if len(found.values):
                slope = self._slope_at(found, price) * price
                x, z = self._newton_on(Surface.at(found, z.reshape(form), slope, seen), x, z)
        return Minimum(x, z, gap)

    def _bent(self, change: Array, seen: MatrixGauge) -> Array:
        """Return the product with the Hessian, as far as atoms see it."""
        product = np.asarray(self.hessian @ change)
        return seen.drawn(product.reshape(seen_by(self.gauge)[0])).ravel() if seen.symmetric else product

    def _slope_at(self, x: Triplets, price: float) -> float:
        return self.line[0] + self.line[1] * price * float(x.values.sum())

    def _charged(self, size: float, price: float) -> float:
        """Return the penalty of a sum of singular values."""
        kappa = size * price
        return self.line[0] * kappa + self.line[1] * kappa * kappa / 2

    def _shrunk(self, x: Array, z: Array, length: float) -> tuple[Triplets, Array, float]:
        """Return the point after a proximal step, the change, and the length, halved until the model allows it."""
        a, b = self.line
        while True:
            found = self.gauge.shrunk(x + length * z, (length * a, length * b))
            change = found.whole.ravel() - x
            square, curved = float(change @ change), float(change @ (self.hessian @ change))
            if curved * length <= square * (1 + 1e-9) or square == 0:
                return found, change, length
            length = min(length / 2, square / curved)

    def _newton_on(self, surface: Surface, x: Array, z: Array) -> tuple[Array, Array]:
        """Return the point after a Newton step on a surface, or a part of it, where that lowers the function."""
        form, price, seen = seen_by(self.gauge)
        step = self._solved(surface, surface.parts(z.reshape(form)) - surface.slope * surface.gradient, price)
        here = self._charged(float(surface.values.sum()), price)
        best, taken, part = 0.0, None, 1.0
        while part >= SHORTEST:
            moved = surface.moved(part * step)
            if moved is not None:
                change = moved[0].ravel()
                bent = self._bent(change, seen)
                fall = float(change @ bent) / 2 - float(z @ change) + self._charged(moved[1], price) - here
                if fall >= best and taken is not None:
                    break
                if fall < best or (part == 1.0 and fall <= EPS * here):
                    best, taken = fall, (change, bent)
                    if part == 1.0:
                        break
            part /= 2
        return (x, z) if taken is None else (x + taken[0], z - taken[1])

    def _solved(self, surface: Surface, right: Array, price: float, enough: float = ROUGHLY) -> Array:
        """Return the Newton step for a right-hand side in the tangent space."""
        gradient, rise = surface.gradient, self.line[1] * price * price
        mean = float(self.hessian.diagonal().mean())
        seen = seen_by(self.gauge)[2]

        def curved(step: Array) -> Array:
            change = surface.whole(step)
            found = surface.parts(self._bent(change.ravel(), seen).reshape(change.shape)) + surface.bent(step)
            return found if rise == 0 else found + rise * float(gradient @ step) * gradient

        return conjugate_gradients(curved, right, lambda r: surface.eased(r, mean), enough)

    def response(self, x: Array, z: Array) -> float:
        if not x.any():
            return 0.0
        form, price, seen = seen_by(self.gauge)
        found = decomposed(x.reshape(form))
        rank = int(np.count_nonzero(found.values > 8 * EPS * max(form) * found.values[0]))
        found = Triplets(found.left[:, :rank], found.values[:rank], found.right[:, :rank])
        slope = self._slope_at(found, price)
        surface = Surface.at(found, seen.drawn(z.reshape(form)), slope * price, seen)
        level = SurfaceModel(self.gauge, self.hessian, (slope, 0.0))
        gradient = surface.gradient
        return price * price * float(gradient @ level._solved(surface, gradient, price, 1e-4))


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


def _triangle(columns: Array) -> Array:
    """Return the triangular factor of a QR decomposition."""
    return np.asarray(np.linalg.qr(columns, mode="r"))


def seen_by(gauge: Any) -> tuple[tuple[int, int], float, MatrixGauge]:
    """Return the rows and columns that a gauge of vectors sees, its factor, and the gauge of matrices within it."""
    price = 1.0
    while not hasattr(gauge, "form"):
        price, gauge = price / gauge.radius, gauge.gauge
    return gauge.form, price, gauge.gauge
