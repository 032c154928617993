"""Free directions: the unpenalised columns B, minimised out of the problem to full precision.

`x -> min over b of F(A x + B b)` is as convex and as smooth as F, and its gradient is A' theta at the best b, where
`B' theta = 0`. Everything else in the package sees only that function.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import linalg

from atomsieve.arrays import array_namespace
from atomsieve.losses import Loss
from atomsieve.measure import span, weigh
from atomsieve.rounding import EPS, noise_level
from atomsieve.typing import Array, Samples

NEWTON_STEPS = 200

FAR = 4
"""Newton steps after which a search has begun in the wrong place."""

INDEPENDENT = 1e-11
"""Columns of B count as dependent when less than this part of them is new."""

RECEDING = 1e-11
"""Curvature left at the end of a search that runs off to infinity, as a part of the largest possible."""

SEPARATED = (
    "No best coefficients exist for the free directions (intercept, `free`, weights of 0): they run off to infinity, "
    "because these columns alone separate the classes. Penalise them or leave them out."
)

UNSETTLED = (
    "The free directions (intercept, `free`, weights of 0) could not be fitted to full precision: the targets are far "
    "out of scale. Rescale y and `free` to moderate size."
)

FLAT = 1e-13
"""Part of the largest curvature below which a direction counts as flat."""

SUBNORMAL = 1e-290
"""Curvature too small to divide by."""


class UnsettledError(ValueError):
    """The best free coefficients were not found."""


@dataclass(frozen=True, eq=False)
class FreeDirections:
    """Columns B through an orthonormal basis of their span: `basis = B transform`, `basis' diag(w) basis = I`."""

    loss: Loss
    y: Samples
    weights: Samples
    basis: Samples
    transform: Array
    origin: Array
    floor: float = 0.0

    @classmethod
    def of(cls, columns: Samples, loss: Loss, y: Samples, weights: Samples, outputs: tuple[int, ...]) -> Self:
        """Orthonormalise the columns in the norm of the weights; dependent ones get the coefficient 0.

        Whether a best b exists does not depend on x, so it is settled here, at x = 0; the solution there is where
        later searches start, and its gradient tells which gradients are nothing.
        """
        xp = array_namespace(columns)
        sizes = np.asarray(xp.max(xp.abs(columns), axis=0))
        sizes[sizes == 0] = 1.0
        rooted = np.asarray(xp.sqrt(weights)[:, None] * (columns / xp.asarray(sizes)))
        norms = np.sqrt(np.sum(rooted * rooted, axis=0))
        norms[norms == 0] = 1.0
        _, triangle, order = linalg.qr(rooted / norms, mode="economic", pivoting=True)
        rank = int(np.sum(np.abs(np.diag(triangle)) > INDEPENDENT))
        transform = np.zeros((columns.shape[1], rank))
        transform[order[:rank]] = linalg.solve_triangular(triangle[:rank, :rank], np.eye(rank))
        transform /= norms[:, None]
        basis = (columns / xp.asarray(sizes)) @ xp.asarray(transform)
        # nearly dependent columns leave the basis askew: what is orthonormalised twice is orthonormal
        _, again = linalg.qr(np.asarray(xp.sqrt(weights)[:, None] * basis), mode="economic")
        straight = linalg.solve_triangular(again, np.eye(rank)) if rank else again
        basis, transform = basis @ xp.asarray(straight), transform @ straight
        free = cls(loss, y, weights, basis, transform / sizes[:, None], np.zeros((rank, *outputs)))
        origin, u, slopes = free.minimise(xp.zeros((len(y), *outputs)), free.origin)
        if free._recedes(u):
            raise ValueError(SEPARATED)
        floor = EPS**2 * free.largest * float(xp.sum(xp.abs(weigh(weights, slopes))))
        return replace(free, origin=origin, floor=floor)

    @cached_property
    def largest(self) -> float:
        """Largest absolute entry of the basis."""
        xp = array_namespace(self.basis)
        return float(xp.max(xp.abs(self.basis))) if self.basis.shape[1] else 0.0

    def coefficients(self, coordinates: Array) -> Array:
        """Return b from coordinates in the orthonormal basis."""
        return self.transform @ coordinates

    def minimise(self, fit: Samples, start: Array) -> tuple[Array, Samples, Samples]:
        """Return the best coordinates for `u = fit + basis @ coordinates`, with u and loss'(u), by Newton's method."""
        here = _Here.at(self, fit, start)
        if not math.isfinite(here.size):
            here = self._recentred(fit)
        for t in range(NEWTON_STEPS):
            level = max(self._rounding(fit, here), self.floor)
            if here.size <= level or not math.isfinite(here.size):
                return here.coordinates, here.u, here.slopes
            following = self._newton_step(fit, here)
            if following.size > here.size / 2 and here.size <= 1000 * level:
                break  # rounding is an estimate: stuck near it is as good
            here = following
            if t == FAR:
                here = min(here, self._recentred(fit), key=lambda place: place.size)
        else:
            raise UnsettledError(UNSETTLED if self.loss.attained else SEPARATED)
        return here.coordinates, here.u, here.slopes

    def _recentred(self, fit: Samples) -> "_Here":
        """Return where u has the part along the free directions that is best at x = 0.

        That is a fair guess wherever the search began. Columns far from zero move predictions far along the free
        directions, and where losses are exponential Newton's method takes a step for each unit of the way back.
        """
        return _Here.at(self, fit, self.origin - np.asarray(self.basis.T @ weigh(self.weights, fit)))

    def _recedes(self, u: Samples) -> bool:
        """Return whether the search ended far out, where losses without a minimiser are all but flat."""
        if self.loss.attained or not self.basis.shape[1]:
            return False
        values = np.linalg.eigvalsh(np.asarray(self.loss.hessian(self.basis, u, self.y, self.weights)))
        kernel = self.basis.shape[1] if u.ndim == 2 else 0  # a constant added to every class changes nothing
        return bool(values[kernel] < RECEDING * self.loss.smoothness_near(u))

    def _rounding(self, fit: Samples, here: "_Here") -> float:
        """Return the level of rounding in `B' theta`, below which no step can do better.

        Rounding enters through the sum itself and through u, which moves theta by its curvature times as much.
        """
        xp = array_namespace(fit)
        level = noise_level(len(fit)) * self.largest
        total = float(xp.sum(xp.abs(here.theta)))
        if here.size <= level * total:
            return level * total
        reach = xp.abs(fit) + xp.abs(here.u)
        most = level * (total + self.loss.smoothness_near(here.u) * float(xp.sum(weigh(self.weights, reach))))
        if here.size > most:  # far from it, whatever the curvature
            return most
        bend = weigh(self.weights, self.loss.curvature(here.u, self.y))
        return level * (total + float(xp.sum(bend * reach)))

    def _newton_step(self, fit: Samples, here: "_Here") -> "_Here":
        """Return the point where the slope along Newton's direction has at least halved."""
        values, vectors = np.linalg.eigh(np.asarray(self.loss.hessian(self.basis, here.u, self.y, self.weights)))
        gradient = here.gradient.ravel()
        along, bent = vectors.T @ gradient, values > max(FLAT * values[-1], SUBNORMAL)
        # flat directions (clipped residuals; one constant added to every class) have no Newton step: where they hold
        # much of the gradient, go down along them until the losses bend
        if np.abs(along[~bent]).sum() > np.abs(along[bent]).sum() / 10:
            direction = -vectors[:, ~bent] @ along[~bent] / max(self.loss.smoothness_near(here.u), SUBNORMAL)
        else:
            direction = -vectors[:, bent] @ (along[bent] / values[bent])
        # where the losses are nearly flat the step is nearly infinite: hold it to the size of the predictions
        reach = self.largest * float(np.abs(direction).sum())
        direction *= min(1.0, 10 * (1 + here.farthest) / reach)
        fall = -float(direction @ gradient)
        shortest, longest, step = 0.0, np.inf, 1.0
        following = here
        for _ in range(NEWTON_STEPS):
            coordinates = here.coordinates + step * direction.reshape(here.coordinates.shape)
            following = _Here.at(self, fit, coordinates)
            slope = float(direction @ following.gradient.ravel())
            if abs(slope) <= fall / 2:
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
    theta: Samples
    gradient: Array
    size: float
    farthest: float

    @classmethod
    def at(cls, free: FreeDirections, fit: Samples, coordinates: Array) -> "_Here":
        xp: Any = array_namespace(fit)
        u = fit + span(free.basis, xp.asarray(coordinates))
        slopes = free.loss.gradient(u, free.y)
        theta = weigh(free.weights, slopes)
        gradient = np.asarray(free.basis.T @ theta)
        farthest = float(xp.max(xp.abs(u)))
        return cls(coordinates, u, slopes, theta, gradient, float(np.abs(gradient).sum()), farthest)
