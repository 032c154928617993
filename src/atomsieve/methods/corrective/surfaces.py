"""Newton steps on the surface of matrices of one rank, for models beside a gauge of singular values.

x is held by its singular values and vectors throughout. A proximal step on the space of its vectors, and of the pairs
of vectors of z with the largest values beyond, finds the rank of x: those whose value exceeds the slope join. A Newton
step is taken on the surface of matrices of that rank: by its tangent space, and by how it bends. The system is solved
by conjugate gradients, which need products with the Hessian alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from atomsieve.gauges.matrix import MatrixGauge, products
from atomsieve.gauges.triplets import Triplets
from atomsieve.methods.corrective.curvature import Curvature
from atomsieve.numerics.krylov import Pairs, less
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array


@dataclass(frozen=True, eq=False)
class Surface:
    """The surface of one rank at `x = U diag(s) V'`, for a slope of the gauge, and z outside of it times a factor.

    A change D has the parts M = U' D V, Y = D V less U M, and W = D' U less V M'. Along the surface the gauge grows by
    `tr M` and `(sum over i < j of (M_ij - M_ji)^2 / (s_i + s_j) + sum_i (|Y_i|^2 + |W_i|^2) / s_i) / 2`, and the
    surface bends away by `Y S^-1 W'`, which scores by the part of z outside.
    """

    x: Triplets
    slope: float
    z: Any
    factor: float
    gauge: MatrixGauge
    others: Pairs
    """Pairs of z outside, as far as they are known, with the largest values: along them the surface bends away most."""

    def parts(self, table: Any, even: float = 0.0) -> Array:
        """Return M, Y and W of `Z - even x`, one after the other; inner products with changes stay what they are."""
        across, along = products(table, self.x.left, self.x.right, symmetric=self.gauge.symmetric)
        both = self.x.left.T @ across
        across = across - self.x.left @ both
        along = along - self.x.right @ both.T
        return _joined(both - even * np.diag(self.x.values), across, along)

    def curved(self, table: Any, parts: Array) -> Array:
        """Return the parts of Z, and the curvature of the gauge times the slope, less what z gains by the bend."""
        both, across, along = self.taken_apart(parts)
        (left, values, right), slope, symmetric = self.x, self.slope, self.gauge.symmetric
        rows, columns = products(table, left, right, symmetric=symmetric)
        inner = left.T @ rows + slope * (both - both.T) / (values[:, None] + values)
        outer = products(self.z, across, along, symmetric=symmetric)
        rows = less(rows - self.factor * outer[0] / values, left) + slope * across / values
        columns = less(columns - self.factor * outer[1] / values, right) + slope * along / values
        return _joined(inner, rows, columns)

    def taken_apart(self, parts: Array) -> tuple[Array, Array, Array]:
        """Return M, Y and W as matrices."""
        r, rows = len(self.x.values), len(self.x.left)
        ends = r * r, r * r + rows * r
        return parts[: ends[0]].reshape(r, r), parts[ends[0] : ends[1]].reshape(-1, r), parts[ends[1] :].reshape(-1, r)

    def factors(self, parts: Array) -> tuple[Array, Array]:
        """Return factors of the change with these parts."""
        both, across, along = self.taken_apart(parts)
        left, _, right = self.x
        return np.hstack([across + left @ both, left]), np.hstack([right, along])

    def eased(self, parts: Array, curvature: float) -> Array:
        """Return a change divided by a curvature that is the same everywhere, and by that of the gauge.

        The bend is seen along the pairs that are known: it takes from changes that turn both vectors of x towards a
        pair, and adds to those that turn them apart.
        """
        both, across, along = self.taken_apart(parts)
        values, (left, others, right) = self.x.values, self.others
        each, turned = curvature + self.slope / values, self.slope / (values[:, None] + values)
        even, odd = (both + both.T) / 2, (both - both.T) / 2
        first, second, bend = left.T @ across, right.T @ along, self.factor * others[:, None]
        flatter = curvature + np.maximum(self.slope - bend, 0.0) / values
        steeper = curvature + (self.slope + bend) / values
        near, apart = (first + second) / 2, (first - second) / 2
        near, apart = near / flatter - near / each, apart / steeper - apart / each
        return _joined(
            even / curvature + odd / (curvature + 2 * turned),
            across / each + left @ (near + apart),
            along / each + right @ (near - apart),
        )

    @property
    def gradient(self) -> Array:
        """The gradient of the gauge: I in M."""
        count = len(self.x.values)
        found = np.zeros(count * (count + len(self.x.left) + len(self.x.right)))
        found[: count * count : count + 1] = 1.0
        return found

    def ways(self, parts: Array) -> Callable[[float], Triplets]:
        """Return what leads from x along a change: for each part of it, the nearest matrix of the rank of x.

        Directions of x that have changed their sign on the way are left out: the rank falls there.
        """
        both, across, along = self.taken_apart(parts)
        left, values, right = self.x
        count = len(values)
        first, below = np.linalg.qr(across)
        second, beside = (first, below) if self.gauge.symmetric else np.linalg.qr(along)
        bases = np.hstack([left, first]), np.hstack([right, second])

        def at(part: float) -> Triplets:
            core = np.zeros((count + len(below), count + len(beside)))
            core[:count, :count] = np.diag(values) + part * both
            core[count:, :count], core[:count, count:] = part * below, part * beside.T
            if self.gauge.symmetric:
                core = (core + core.T) / 2
            found = self.gauge.shrunk(core, (0.0, 0.0))
            agree = np.einsum("ik,ik->k", found.left[:count], found.right[:count])[:count]
            kept = np.flatnonzero((agree > 0) & (found.values[:count] > 4 * EPS * found.values.max(initial=0.0)))
            return Triplets(bases[0] @ found.left[:, kept], found.values[kept], bases[1] @ found.right[:, kept])

        return at


def _joined(both: Array, across: Array, along: Array) -> Array:
    return np.concatenate([both.ravel(), across.ravel(), along.ravel()])


@dataclass(frozen=True, eq=False)
class System:
    """The second-order model on a surface: the Hessian of the losses, that of the gauge, and how the slope rises."""

    surface: Surface
    curvature: Curvature
    rise: float
    """How fast the slope of singular values rises with their sum."""

    def times(self, step: Array) -> Array:
        """Return the product with a change in the tangent space."""
        bent = self.curvature.times(self.curvature.seen(*self.surface.factors(step)))
        found = self.surface.curved(self.curvature.table(bent), step) + self.curvature.even * step
        if self.rise == 0:
            return found
        gradient = self.surface.gradient
        return found + self.rise * float(gradient @ step) * gradient

    def solved(self, right: Array, enough: float, most: int) -> Array:
        """Return the solution for a right-hand side, to a part of it, in so many iterations at most."""
        mean = self.curvature.mean
        return conjugate_gradients(self.times, right, lambda r: self.surface.eased(r, mean), enough, most)


def conjugate_gradients(
    times: Callable[[Array], Array], right: Array, eased: Callable[[Array], Array], enough: float, most: int
) -> Array:
    """Return a solution of a system, to a part of the right-hand side, or as far as it is not flat."""
    found, left = np.zeros_like(right), right
    size, direction, before = float(np.linalg.norm(right)), np.zeros_like(right), 0.0
    for _ in range(most):
        if float(np.linalg.norm(left)) <= enough * size:
            break
        better = eased(left)
        along = float(left @ better)
        direction = better + (along / before) * direction if before > 0 else better
        bent = times(direction)
        curvature = float(direction @ bent)
        if not curvature > 0:
            break
        step = along / curvature
        found, left, before = found + step * direction, left - step * bent, along
    return found


def seen_by(gauge: Any) -> tuple[tuple[int, int], float, MatrixGauge]:
    """Return the rows and columns that a gauge of vectors sees, its factor, and the gauge of matrices within it."""
    price = 1.0
    while not hasattr(gauge, "form"):
        price, gauge = price / gauge.radius, gauge.gauge
    return gauge.form, price, gauge.gauge
