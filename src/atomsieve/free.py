"""Free directions: the unpenalised columns B, minimised out of the problem to full precision.

`x -> min over b of F(A x + B b)` is as convex and as smooth as F, and its gradient is A' theta at the best b, where
`B' theta = 0`. Everything else in the package sees only that function.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from scipy import linalg

from atomsieve.losses import Loss
from atomsieve.measure import EPS
from atomsieve.typing import Array, Samples

NEWTON_STEPS = 100
INDEPENDENT = 1e-11
"""Columns of B count as dependent when less than this part of them is new."""

FLAT = 1e-13
"""Part of the largest curvature below which a direction counts as flat."""


@dataclass(frozen=True, eq=False)
class FreeDirections:
    """Columns B through an orthonormal basis of their span: `basis = B transform`, `basis' diag(w) basis = I`."""

    loss: Loss
    y: Samples
    weights: Samples
    basis: Samples
    transform: Array

    @classmethod
    def of(cls, columns: Samples, loss: Loss, y: Samples, weights: Samples) -> "FreeDirections":
        """Orthonormalise the columns in the norm of the weights; dependent ones get the coefficient 0."""
        xp = array_namespace(columns)
        rooted = np.asarray(xp.sqrt(weights)[:, None] * columns)
        norms = np.sqrt(np.sum(rooted * rooted, axis=0))
        norms[norms == 0] = 1.0
        _, triangle, order = linalg.qr(rooted / norms, mode="economic", pivoting=True)
        rank = int(np.sum(np.abs(np.diag(triangle)) > INDEPENDENT))
        transform = np.zeros((columns.shape[1], rank))
        transform[order[:rank]] = linalg.solve_triangular(triangle[:rank, :rank], np.eye(rank))
        transform /= norms[:, None]
        return cls(loss, y, weights, columns @ xp.asarray(transform), transform)

    @cached_property
    def largest(self) -> float:
        """Largest absolute entry of the basis."""
        xp = array_namespace(self.basis)
        return float(xp.max(xp.abs(self.basis))) if self.basis.shape[1] else 0.0

    def start(self, outputs: tuple[int, ...]) -> Array:
        """Return the coordinates of b = 0."""
        return np.zeros((self.transform.shape[1], *outputs))

    def coefficients(self, coordinates: Array) -> Array:
        """Return b from coordinates in the orthonormal basis."""
        return self.transform @ coordinates

    def minimise(self, fit: Samples, start: Array) -> tuple[Array, Samples, Samples]:
        """Return the best coordinates for `u = fit + basis @ coordinates`, with u and loss'(u), by Newton's method."""
        here = _Here.at(self, fit, start)
        for _ in range(NEWTON_STEPS):
            # the level of rounding in the sums of B' theta: no step can do better
            if here.size <= (16 + math.sqrt(len(fit))) * EPS * here.scale:
                return here.coordinates, here.u, here.slopes
            here = self._newton_step(fit, here)
        raise ValueError(
            "No best coefficients exist for the free directions (intercept, `free`, weights of 0): they run off to "
            "infinity, because these columns alone separate the classes. Penalise them or leave them out."
        )

    def _newton_step(self, fit: Samples, here: "_Here") -> "_Here":
        """Return the point where the slope along Newton's direction has at least halved."""
        hessian = np.asarray(self.loss.hessian(self.basis, here.u, self.y, self.weights))
        values, vectors = np.linalg.eigh(hessian)
        # flat directions (all residuals clipped; one constant added to every class) have no Newton step: take M for
        # their curvature, an upper bound since the basis is orthonormal
        values = np.where(values > FLAT * values[-1], values, self.loss.smoothness)
        gradient = here.gradient.ravel()
        direction = -vectors @ (vectors.T @ gradient / values)
        # where the losses are nearly flat the step is nearly infinite: hold it to the size of the predictions
        reach = self.largest * float(np.abs(direction).sum())
        direction *= min(1.0, 10 * (1 + here.farthest) / reach)
        along = float(direction @ gradient)
        shortest, longest, step = 0.0, np.inf, 1.0
        following = here
        for _ in range(NEWTON_STEPS):
            coordinates = here.coordinates + step * direction.reshape(here.coordinates.shape)
            following = _Here.at(self, fit, coordinates)
            slope = float(direction @ following.gradient.ravel())
            if abs(slope) <= -along / 2:
                break
            if slope < 0:
                shortest = step
            else:  # NaN and inf land here as well: too far
                longest = step
            step = (shortest + longest) / 2 if longest < np.inf else 2 * step
        return following


@dataclass(frozen=True, eq=False)
class _Here:
    """One place of the search: predictions, slopes of the losses, gradient in the coordinates."""

    coordinates: Array
    u: Samples
    slopes: Samples
    gradient: Array
    size: float
    scale: float
    farthest: float

    @classmethod
    def at(cls, free: FreeDirections, fit: Samples, coordinates: Array) -> "_Here":
        xp: Any = array_namespace(fit)
        u = fit + free.basis @ xp.asarray(coordinates)
        slopes = free.loss.gradient(u, free.y)
        theta = free.weights * slopes if slopes.ndim == 1 else free.weights[:, None] * slopes
        gradient = np.asarray(free.basis.T @ theta)
        # rounding enters through the sum of B' theta, and through u, which moves theta by at most M times as much
        weights = free.weights if u.ndim == 1 else free.weights[:, None]
        scale = free.largest * float(xp.sum(xp.abs(theta) + free.loss.smoothness * weights * (xp.abs(fit) + xp.abs(u))))
        return cls(coordinates, u, slopes, gradient, float(np.abs(gradient).sum()), scale, float(xp.max(xp.abs(u))))
