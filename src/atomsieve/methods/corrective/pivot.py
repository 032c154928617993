"""The best face of a small quadratic model, found one pivot at a time.

    minimise over x     g . (x - x0) + (x - x0)' H (x - x0) / 2 + alpha sum over j of price_j abs(x_j)

The point x0 is the best one for another gradient, one that is easy to name. As the gradient is pulled from there to g
(and then alpha to where the penalty wants it) the best point moves in straight pieces. Where a coordinate reaches zero,
or the gradient of another its bound, one entry changes sides, and one matrix (H swept on the face) changes by a matrix
of rank one: cheaper than a new factor as long as the matrix is small. Rounding adds up on the way, so the answer is a
guess of the best face, for others to check.
"""

import math

import numpy as np
from scipy.linalg import blas, lapack

from atomsieve.gauges.signs import some, upward
from atomsieve.methods.corrective.factor import INDEPENDENT
from atomsieve.numerics.clock import look
from atomsieve.penalties import Penalty
from atomsieve.typing import Array, Index, Mask, Signs

TABLEAU = 150
"""Entries up to which pivots are cheaper than factors."""

PIVOTS = 3
"""Pivots for each entry before the walk is given up."""


class Tableau:
    """H swept on a face: `-inv(H_ff)` on it, the Schur complement off it, `inv(H_ff) H_fo` in between."""

    def __init__(self, hessian: Array, face: Mask) -> None:
        self.matrix: Array = hessian.copy(order="F")
        self.least = INDEPENDENT * hessian.diagonal()
        self.face = face.copy()
        self.independent = not face.any() or self._sweep(hessian, np.flatnonzero(face))

    def _sweep(self, hessian: Array, face: Index) -> bool:
        """Sweep on all entries of the first face at once; return whether they are independent."""
        rows = hessian[face]
        factor, failed = lapack.dpotrf(rows[:, face], lower=1)
        if failed or (factor.diagonal() ** 2 <= self.least[face]).any():
            return False
        solved = lapack.dpotrs(factor, rows, lower=1)[0]
        self.matrix -= rows.T @ solved
        self.matrix[face] = solved
        self.matrix[:, face] = solved.T
        self.matrix[face[:, None], face] = -lapack.dpotrs(factor, np.eye(len(face)), lower=1)[0]
        return True

    def exchange(self, j: int) -> bool:
        """Move an entry into the face or out of it; return False for one that depends on those in it."""
        matrix, enters = self.matrix, not self.face[j]
        pivot = float(matrix[j, j])
        if enters and pivot <= self.least[j]:
            return False
        column = matrix[:, j].copy()
        blas.dger(-1.0 / pivot, column, column, a=matrix, overwrite_a=1)
        column /= abs(pivot)
        matrix[:, j] = column
        matrix[j] = column
        matrix[j, j] = -1.0 / pivot
        self.face[j] = enters
        return True

    def respond(self, pull: Array) -> Array:
        """Return how fast x moves on the face, and the gradient off it, as the gradient is pulled."""
        moved = self.matrix @ np.where(self.face, pull, 0.0)
        return np.where(self.face, moved, pull - moved)


class PivotWalk:
    """The best point on its way: x on the face, the gradient off it, each between its bounds.

    A coordinate of the face may run to zero, which is both its bounds; the gradient of another to the slope of the
    penalty times its price, up or down.
    """

    def __init__(self, tableau: Tableau, x: Array, gradient: Array, prices: Array, slope: float, *, signed: Signs):
        self.tableau = tableau
        self.prices = prices
        self.slope = slope
        self.signed = signed
        self.values = np.where(tableau.face, x, gradient)
        self.normals = np.where(tableau.face, np.copysign(prices, x), 0.0)
        self.earliest = np.where(tableau.face, 0.0, -np.inf)  # an entry of the face moves off zero first
        self.pivots = PIVOTS * len(x)
        self._bound()

    @property
    def x(self) -> Array:
        """The best point."""
        return np.where(self.tableau.face, self.values, 0.0)

    def pull(self, change: Array) -> bool:
        """Change the gradient; return False when lost."""
        left = 1.0
        while self.pivots:
            look()
            rates = self.tableau.respond(change)
            length, j = self._first((np.where(rates > 0, self.upper, self.lower) - self.values) / rates)
            if length >= left:
                self.values += left * rates
                return True
            self.values += length * rates
            left -= length
            self._exchange(j)
        return False

    def settle(self, penalty: Penalty) -> bool:
        """Change the slope to what the penalty charges for the mass; return False when lost."""
        longest = float(self.prices.max())
        while self.pivots:
            look()
            normals = self.normals / longest  # their squares may overflow
            rates = self.tableau.respond(normals)
            mass, shrink = float(self.normals @ self.values), -float(normals @ rates)
            rates *= longest
            if shrink > 0:
                rise = penalty.rise(self.slope, mass, longest * math.sqrt(shrink))
            else:  # no entry, no mass
                rise = penalty.slope(0.0) - self.slope
            if rise == 0:
                return True
            if rise < 0:
                rates = -rates
            closing = np.where(self.tableau.face, 0.0, math.copysign(1.0, rise) * self.prices)
            up, down = rates - closing, rates + closing
            rising = np.where(up > 0, (self.upper - self.values) / up, np.inf)
            falling = np.where(down < 0, (self.lower - self.values) / down, np.inf)
            length, j = self._first(np.minimum(rising, falling))
            step = min(length, abs(rise))
            self.values += step * rates
            self.slope += math.copysign(step, rise)
            self._bound()
            if length >= abs(rise):
                return True
            self._exchange(j)
        return False

    def _first(self, lengths: Array) -> tuple[float, int]:
        """Return when an entry reaches a bound, and which one; no entry does so at NaN."""
        lengths[~(lengths > self.earliest)] = np.inf
        j = int(lengths.argmin())
        return max(float(lengths[j]), 0.0), j

    def _exchange(self, j: int) -> None:
        """Move an entry into the face or out of it."""
        self.pivots -= 1
        if self.tableau.face[j]:
            self.tableau.exchange(j)
            self.values[j] = -self.slope * self.normals[j]
            self.normals[j], self.earliest[j] = 0.0, -np.inf
            self.lower[j] = -self.slope * self.prices[j]
            self.upper[j] = -self.lower[j] if some(self.signed, j) else np.inf
        elif self.tableau.exchange(j):
            self.normals[j] = -math.copysign(self.prices[j], self.values[j])
            self.values[j] = self.earliest[j] = self.upper[j] = self.lower[j] = 0.0
        else:
            self.earliest[j] = np.inf

    def _bound(self) -> None:
        bounds = np.where(self.tableau.face, 0.0, self.slope * self.prices)
        self.lower = -bounds
        self.upper = bounds if self.signed is True else np.where(self.tableau.face | self.signed, bounds, np.inf)


def best_face(
    hessian: Array, gradient: Array, x: Array, slope: float, penalty: Penalty, *, prices: Array, signed: Signs
) -> tuple[Array, float] | None:
    """Return the best point of the model, as far as rounding lets it be found, and its slope; None where it is lost."""
    face = x != 0
    tableau = Tableau(hessian, face)
    if not tableau.independent:
        return None
    scores = np.where(face, 0.0, upward(-gradient, signed)) / prices
    highest = float(scores.max())
    slope = slope if slope > 0 else highest
    if not slope > 0:
        return None
    excess = max(highest / slope, 1.0)
    start = np.where(face, -np.copysign(slope * prices, x), gradient / excess)
    with np.errstate(divide="ignore", invalid="ignore"):
        walk = PivotWalk(tableau, x, start, prices, slope, signed=signed)
        return (walk.x, walk.slope) if walk.pull(gradient - start) and walk.settle(penalty) else None
