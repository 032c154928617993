"""The span of the unpenalised columns B; the problem is minimised over it to full precision.

The function `x -> min over b of F(A x + B b)` is as convex and as smooth as F. Its gradient is A' theta at the best b,
where `B' theta = 0`. The rest of the package uses only this function.
"""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np

from atomsieve.core.clock import look
from atomsieve.design.seminorm import weigh
from atomsieve.losses import Loss
from atomsieve.losses.compiled import CompiledLoss
from atomsieve.numerics.basis import combination, orthonormal
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.namespace import array_namespace, like, on_host
from atomsieve.numerics.rounding import EPS, noise_level
from atomsieve.numerics.samplewise import Made, totals
from atomsieve.problem.place import Aside, Place, bends_of, place_at, sizes_of
from atomsieve.typing import Array, Samples

EVALUATIONS = 1000
"""Largest number of evaluations of a search; a longer search is where losses cannot be distinguished."""

SEARCH_PLACES = 60
"""Largest number of evaluations of one line search: about the number of bits of a float."""

NEARLY_SETTLED = 1000
"""Multiple of the estimated rounding below which a search without progress ends."""

RECEDING = 1e-11
"""Curvature, relative to the largest one, below which the end of a search counts as diverged to infinity."""

SEPARATED = (
    "No best coefficients were found for the unpenalised columns (intercept, `free`, weights of 0): they run off to "
    "infinity. Either these columns alone separate the classes: penalise them or leave them out. Or an offset is so "
    "far from the others that its sample alone counts in double precision."
)

UNSETTLED = (
    "The unpenalised columns (intercept, `free`, weights of 0) could not be fitted to full precision: the targets are "
    "far out of scale. Rescale y and `free` to moderate size."
)

SHIFTS = 5
"""Largest number of shifts of the targets towards the smallest losses; each gains as many digits as a float has."""

SHARP_TARGETS = 1e-10
"""Rounding of predictions at x = 0, relative to the largest slope, that is small enough."""

FLAT_BEYOND = 1e3
"""Size of predictions beyond which a loss that is not quadratic is nearly flat; a search starts nearer if possible."""

FLAT = 1e-13
"""Curvature, relative to the largest one, below which a direction counts as flat."""

SUBNORMAL = 1e-290
"""Curvature too small to divide by."""


class UnsettledError(ValueError):
    """The best free coefficients were not found."""


@dataclass(frozen=True, eq=False)
class Span:
    """Columns B and an orthonormal basis of their span: `basis = B transform`, `basis' diag(w) basis = I`.

    Targets may be far from zero. If the loss depends only on `u - y`, a combination of the columns is subtracted from
    them. `y` is the rest, to all digits, and `shift` holds the coefficients of this combination. So predictions are
    moderate, and rounding is in proportion to what the columns cannot explain. An offset is subtracted from such
    targets as well. `origin` are the best coordinates at x = 0. `centre` are the coordinates of the predictions there.
    """

    loss: Loss
    y: Samples
    weights: Samples
    basis: Samples
    transform: Array
    shift: Array
    origin: Array
    centre: Array
    floor: float = 0.0
    hosted: Self | None = None
    """The same on the host, where what is as long as the samples is elsewhere."""

    @classmethod
    @np.errstate(over="ignore", invalid="ignore")
    def of(
        cls,
        columns: Samples,
        loss: Loss,
        y: Samples,
        weights: Samples,
        outputs: tuple[int, ...],
        offset: Samples | None = None,
    ) -> Self:
        """Orthonormalise the columns in the norm of the weights; dependent columns get the coefficient 0.

        Whether a best b exists does not depend on x, so it is decided here, at x = 0. Later searches start at the
        solution for x = 0, and the slopes there determine which gradients count as zero.
        """
        xp = array_namespace(columns)
        basis, transform = orthonormal(on_host(columns), on_host(weights))
        zeros = np.zeros((transform.shape[1], *outputs))
        none = offset is None or loss.translates
        nothing = like(np.zeros((y.shape[0], *outputs)), columns) if none else offset
        no_shift = np.zeros((columns.shape[1], *outputs))
        span = cls(loss, y, weights, like(basis, columns), transform, no_shift, zeros, zeros)
        stated = Stated(y, columns, offset)
        if loss.translates:
            span = span._shifted(stated, span.along(y if offset is None else y - offset))
        origin, u, slopes = span.minimise(nothing, zeros)
        for _ in range(SHIFTS):  # outliers may have moved the mean away from the smallest losses
            if not loss.translates or EPS * float(xp.max(xp.abs(u))) <= SHARP_TARGETS * float(xp.max(xp.abs(slopes))):
                break
            span = span._shifted(stated, origin)
            origin, u, slopes = span.minimise(nothing, zeros)
        if span._recedes(u):
            raise ValueError(SEPARATED)
        floor = EPS**2 * float(totals(sizes_of, span.spans, weigh(weights, slopes), u, u, weights)[0])
        return replace(span, origin=origin, centre=origin + span.along(nothing), floor=floor)

    def beside(self, y: Samples, weights: Samples) -> Self:
        """Return the same span with its targets, its weights and its basis where targets and weights are given."""
        return replace(self, y=y, weights=weights, basis=like(self.basis, y), hosted=self)

    def along(self, image: Samples) -> Array:
        """Return the coordinates of the part of an image in the span of the basis."""
        found: Array = totals(_coordinates, self.basis, self.weights, image)[0]
        return found

    def _shifted(self, stated: "Stated", coordinates: Array) -> Self:
        """Return the same span with a further combination of its columns subtracted from the stated targets."""
        shift = self.shift + self.transform @ coordinates
        return replace(self, shift=shift, y=stated.less(shift))

    @cached_property
    def largest(self) -> float:
        """Largest absolute entry of the basis."""
        if self.hosted is not None:
            return self.hosted.largest
        xp = array_namespace(self.basis)
        return float(xp.max(xp.abs(self.basis))) if self.basis.shape[1] else 0.0

    def coefficients(self, coordinates: Array) -> Array:
        """Return the free coefficients b for coordinates in the orthonormal basis."""
        return self.shift + self.transform @ coordinates

    @cached_property
    def compiled(self) -> CompiledLoss | None:
        """The loss and the samples for the core, if it knows the loss."""
        return CompiledLoss.of(self.loss, self.y, self.weights, None, self.basis)

    def minimise(self, image: Samples, start: Array) -> tuple[Array, Samples, Samples]:
        """Return the best coordinates for `u = image + basis @ coordinates`, u and loss'(u), by Newton's method."""
        if self.compiled is not None:
            seen = self.compiled.view(np.ascontiguousarray(image), start)
            if seen.settled:
                return seen.coordinates, seen.u, seen.slopes
        here = self.search(image, start)
        return here.coordinates, here.u, here.slopes

    def search(self, image: Samples, start: Array, aside: Aside | None = None) -> Place:
        """Return the place of the best coordinates, with the slope along a move if one is given."""
        here = place_at(self, image, self._without_kernel(image, start), aside)
        if not here.farthest <= FLAT_BEYOND and not self.loss.translates:
            other = self._recentred(image, aside)
            here = other if other.distance < here.distance else here
        spent, astray = 0, False
        while spent < EVALUATIONS:
            look()
            level = max(self._rounding(here), self.floor)
            if here.size <= level or not math.isfinite(here.size):
                return here
            following, evaluations = self._newton_step(here, aside)
            spent += evaluations
            if following.size > here.size / 2:
                if here.size <= NEARLY_SETTLED * level:
                    return here
                if not astray:  # a search without progress may have started in the wrong place
                    astray, other = True, self._recentred(image, aside)
                    following = other if other.size < following.size else following
            here = following
        raise UnsettledError(UNSETTLED if self.loss.attained else SEPARATED)

    def settled(self, image: Samples, guess: Array | None = None) -> Array:
        """Return the best coordinates for an image; a guess may lead nowhere, and then a good one takes its place."""
        if guess is not None and self.compiled is not None:
            seen = self.compiled.view(np.ascontiguousarray(image), guess)
            if seen.settled and math.isfinite(float(np.abs(seen.theta).sum())):
                return seen.coordinates
        return self.minimise(image, self.centre - self.along(image))[0]

    def shortfall(self, u: Samples, stray: float) -> float:
        """Return how much lower the loss may be at better coordinates, if its slope along the basis is `stray`."""
        values = np.linalg.eigvalsh(self._hessian(u))[self._kernel(u) :]
        return stray * stray / float(values[0]) if len(values) and values[0] > 0 else math.inf

    def _hessian(self, u: Samples) -> Array:
        """Return the second derivatives in the coordinates."""
        return finite(totals(partial(bends_of, loss=self.loss), self.basis, u, self.y, self.weights)[0])

    def _kernel(self, u: Samples) -> int:
        """Return the number of flat directions that every loss of this kind has."""
        return self.basis.shape[1] if u.ndim == 2 else 0  # a constant added to every class changes nothing

    def _without_kernel(self, image: Samples, coordinates: Array) -> Array:
        """Return coordinates whose predictions have no part along B that all classes share: it changes nothing.

        Such a part may grow from search to search, and rounding with it.
        """
        if coordinates.ndim == 1:
            return coordinates
        shared = coordinates.mean(axis=1) + self.along(array_namespace(image).mean(image, axis=1))
        return np.asarray(coordinates - shared[:, None])

    def _recentred(self, image: Samples, aside: Aside | None = None) -> Place:
        """Return the place where u has the part in the span of B that is best at x = 0.

        This is a good guess for every start. Columns of A far from zero move predictions far in the span of B. If
        losses are exponential, Newton's method needs one step for each unit of the way back.
        """
        return place_at(self, image, self.centre - self.along(image), aside)

    def _recedes(self, u: Samples) -> bool:
        """Return whether the search diverged to where losses without a minimiser are nearly flat."""
        if self.loss.attained or not self.basis.shape[1]:
            return False
        values = np.linalg.eigvalsh(self._hessian(u))
        return bool(values[self._kernel(u)] < RECEDING * self.loss.smoothness_near(u))

    def _rounding(self, here: Place) -> float:
        """Return the level of rounding in `B' theta`; no step can reduce the gradient below it.

        Rounding enters through the sum itself and through u. An error of u moves theta by the curvature times the
        error.
        """
        noise = noise_level(here.image.shape[0])
        steep, reach = here.sizes
        level = noise * steep
        if here.size <= level:
            return level
        most = level + noise * here.steepest * reach
        return most if here.size > most else level + noise * here.bent_size  # far above for every possible curvature

    @cached_property
    def spans(self) -> Samples:
        """The sum of absolute values in each row of the basis."""
        xp = array_namespace(self.basis)
        return xp.sum(xp.abs(self.basis), axis=1)

    def _newton_step(self, here: Place, aside: Aside | None) -> tuple[Place, int]:
        """Return a place where the slope along Newton's direction is at most half, and the number of places tried."""
        gradient = here.gradient.ravel()
        direction = newton_direction(gradient, finite(here.hessian), here.steepest, here.farthest, self.largest)
        fall = -float(direction @ gradient)
        shortest = 0.0
        longest = np.inf
        step = 1.0
        following = here
        tried = 0
        while tried < SEARCH_PLACES:
            look()
            tried += 1
            coordinates = here.coordinates + step * direction.reshape(here.coordinates.shape)
            following = place_at(self, here.image, coordinates, aside)
            slope = float(direction @ following.gradient.ravel())
            if abs(slope) <= fall / 2:
                break
            if slope < 0:
                shortest = step
            else:  # NaN and inf also mean that the step is too long
                longest = step
            step = (shortest + longest) / 2 if longest < np.inf else 2 * step
        return following, tried


def newton_direction(gradient: Array, hessian: Array, steepest: float, farthest: float, largest: float) -> Array:
    """Return Newton's direction from what a place says; `largest` is the largest entry of the basis."""
    values, vectors = _spectrum(hessian)
    along, bent = vectors.T @ gradient, values > max(FLAT * values[-1], SUBNORMAL)
    # Flat directions (clipped residuals; one constant added to every class) have no Newton step. If they hold a
    # large part of the gradient, go down along them until the losses have curvature.
    if np.abs(along[~bent]).sum() > np.abs(along[bent]).sum() / 10:
        direction = -vectors[:, ~bent] @ along[~bent] / max(steepest, SUBNORMAL)
    else:
        direction = -vectors[:, bent] @ (along[bent] / values[bent])
    # where the losses are nearly flat, the step is nearly infinite: limit it to the size of the predictions
    longest_move, limit = largest * float(np.abs(direction).sum()), 10 * (1 + farthest)
    return np.asarray(direction * (limit / longest_move) if longest_move > limit else direction)


def finite(hessian: Array) -> Array:
    """Return a Hessian; predictions far out have none in doubles."""
    if not np.isfinite(hessian).all():
        raise UnsettledError(UNSETTLED)
    return hessian


def _coordinates(basis: Samples, weights: Samples, image: Samples) -> Made:
    return Made(sums=(basis.T @ weigh(weights, image),))


def _spectrum(matrix: Array) -> tuple[Array, Array]:
    """Return eigenvalues and eigenvectors of a symmetric matrix, which is usually 1 x 1."""
    if len(matrix) > 1:
        values, vectors = np.linalg.eigh(matrix)
        return values, vectors
    return matrix[0], np.ones((1, 1))


@dataclass(frozen=True, eq=False)
class Stated:
    """Targets as stated by the user, and what may be subtracted from them."""

    y: Samples
    columns: Samples
    offset: Samples | None

    def less(self, shift: Array) -> Samples:
        """Return `y - offset - columns @ shift`, accurate to all digits of the difference."""
        constant = self.offset is None and self.columns.shape[1] == 1
        if constant and bool(array_namespace(self.columns).all(self.columns == 1.0)):
            return self.y - float(shift[0])
        taken = [] if self.offset is None else [self.offset]
        terms = np.column_stack([on_host(part) for part in (self.y, *taken, self.columns)])
        factors = np.concatenate([[1.0], -np.ones(len(taken)), -shift])
        return like(combination(terms, factors), self.y)
