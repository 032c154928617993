"""One place of the search for the best free coefficients: what the losses say there.

Where samples are at hand, a place has them, and what the search asks for is computed when it asks. Where they are in
chunks on the workers of dask, a place is one trip there, which brings all the numbers that the search may ask for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atomsieve import core
from atomsieve.design.seminorm import combine, weigh
from atomsieve.losses import Loss
from atomsieve.losses.compiled import number_of
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.namespace import array_namespace, like
from atomsieve.numerics.samplewise import Made, evaluate, in_chunks, lazily, numbers, totals
from atomsieve.typing import Array, Samples

if TYPE_CHECKING:
    from atomsieve.problem.span import Span


class Aside(NamedTuple):
    """A move whose slope is asked for at each place of a search: its image, and the coordinates of that along B."""

    image: Samples
    along: Array
    scouted: Sequence[tuple[Array, Made]] = ()
    """Coordinates at which a trip has looked already, with what it told."""


class Sized:
    """A place as far as the sizes at it go."""

    gradient: Array
    farthest: float

    @property
    def size(self) -> float:
        """The size of the gradient."""
        return float(np.abs(self.gradient).sum())

    @property
    def distance(self) -> float:
        """The largest absolute prediction; inf if the gradient is not finite."""
        return self.farthest if math.isfinite(self.size) else math.inf


@dataclass(frozen=True, eq=False)
class Here(Sized):
    """A place with its samples: predictions, slopes of the losses, gradient in the coordinates."""

    span: "Span"
    image: Samples
    coordinates: Array
    u: Samples
    slopes: Samples
    theta: Samples
    gradient: Array
    farthest: float

    @classmethod
    def at(cls, span: "Span", image: Samples, coordinates: Array) -> "Here":
        """Return what the losses say at an image and at coordinates of B b."""
        formula = partial(_seen, loss=span.loss, coordinates=coordinates)
        (u, slopes, theta), (gradient,), (farthest,) = evaluate(formula, image, span.basis, span.y, span.weights)
        return cls(span, image, coordinates, u, slopes, theta, gradient, farthest)

    @cached_property
    def steepest(self) -> float:
        """The largest curvature of the losses."""
        return self.span.loss.smoothness_near(self.u)

    @property
    def hessian(self) -> Array:
        """The second derivatives in the coordinates."""
        span = self.span
        found: Array = totals(partial(bends_of, loss=span.loss), span.basis, self.u, span.y, span.weights)[0]
        return found

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """Upper bounds of `basis' theta`, and of `basis' diag(weights) v` for v of the size of the terms of u."""
        span = self.span
        steep, reach = totals(sizes_of, span.spans, self.theta, self.image, self.u, span.weights)
        return float(steep), float(reach)

    @cached_property
    def bent_size(self) -> float:
        """The second of them with each sample multiplied by its curvature."""
        span = self.span
        bends = partial(_bent_sizes, loss=span.loss)
        return float(totals(bends, span.spans, self.image, self.u, span.y, span.weights)[0])


@dataclass(frozen=True, eq=False)
class There(Sized):
    """A place whose samples are on the workers, by the sums that one trip brought."""

    span: "Span"
    image: Samples
    coordinates: Array
    gradient: Array
    hessian: Array
    sizes: tuple[float, float]
    bent_size: float
    along: Array
    """The coordinates of the image."""
    length: float
    """The norm of the image."""
    slope: float
    """The slope of the losses along the move aside, if there is one."""
    farthest: float
    steepest: float

    @classmethod
    def at(cls, span: "Span", image: Samples, coordinates: Array, aside: Aside | None) -> "There":
        """Return the same by the sums that one trip brings."""
        for where, told in () if aside is None else aside.scouted:
            if np.array_equal(where, coordinates):
                return cls.told(span, image, coordinates, told)
        taken = None if aside is None else aside.along
        formula = partial(told_of, loss=span.loss, coordinates=coordinates, taken=taken)
        moved = () if aside is None else (aside.image,)
        told = numbers(formula, image, span.basis, span.y, span.weights, *moved)
        return cls.told(span, image, coordinates, told)

    @classmethod
    def told(cls, span: "Span", image: Samples, coordinates: Array, told: Made) -> "There":
        """Return a place by what the workers told of it."""
        _, sums, (farthest, steepest) = told
        gradient, hessian, steep, reach, bent, along, square, slope = sums
        sizes = float(steep), float(reach)
        return cls(
            span, image, coordinates, gradient, hessian, sizes, float(bent), along, math.sqrt(square), float(slope),
            farthest, steepest,
        )  # fmt: skip

    @cached_property
    def u(self) -> Samples:
        """The predictions, made anew by whoever reads them."""
        return lazily(partial(_predicted, coordinates=self.coordinates), self.image, self.span.basis)

    @cached_property
    def slopes(self) -> Samples:
        """The slopes of the losses, made anew by whoever reads them."""
        return lazily(self.span.loss.gradient, self.u, self.span.y)


Place = Here | There


def place_at(span: "Span", image: Samples, coordinates: Array, aside: Aside | None = None) -> Place:
    """Return what the losses say at an image and at coordinates of B b."""
    return There.at(span, image, coordinates, aside) if in_chunks(image) else Here.at(span, image, coordinates)


def _predicted(image: Samples, basis: Samples, *, coordinates: Array) -> Samples:
    return image + combine(basis, like(coordinates, basis))


def _seen(image: Samples, basis: Samples, y: Samples, weights: Samples, *, loss: Loss, coordinates: Array) -> Made:
    """Return predictions, slopes of the losses and theta; the gradient in the coordinates; the farthest prediction."""
    xp: Any = array_namespace(image)
    u = _predicted(image, basis, coordinates=coordinates)
    slopes = loss.gradient(u, y)
    theta = weigh(weights, slopes)
    return Made((u, slopes, theta), (basis.T @ theta,), (xp.max(xp.abs(u)),))


def told_of(
    image: Array, basis: Array, y: Array, weights: Array, *moved: Array,
    loss: Loss, coordinates: Array, taken: Array | None,
) -> Made:  # fmt: skip
    """Return all that a search may ask for; see `There`."""
    number = number_of(loss)
    if number is not None and loss.smoothness < math.inf:
        k, samples = basis.shape[1], (y, weights, basis.ravel())
        move = moved[0] if moved else None
        found, (*near, square, along, far) = core.told(number, samples, image, coordinates, move, taken)
        parts = (found[:k], found[2 * k :].reshape(k, k), *near, found[k : 2 * k], square, along)
        return Made((), parts, (far, loss.smoothness))
    u = _predicted(image, basis, coordinates=coordinates)
    theta, bends, weighted = weights * loss.gradient(u, y), weights * loss.curvature(u, y), weights * image
    spans, sizes = abs(basis).sum(axis=1), abs(image) + abs(u)
    slope = 0.0 if taken is None else theta @ (moved[0] - combine(basis, taken))
    sums = (
        basis.T @ theta, basis.T @ (bends[:, None] * basis), spans @ abs(theta), spans @ (weights * sizes),
        spans @ (bends * sizes), basis.T @ weighted, image @ weighted, slope,
    )  # fmt: skip
    return Made((), sums, (abs(u).max(), loss.smoothness_near(u)))


def bends_of(basis: Samples, u: Samples, y: Samples, weights: Samples, *, loss: Loss) -> Made:
    """Return the Hessian in the coordinates."""
    return Made(sums=(loss.hessian(basis, u, y, weights),))


def sizes_of(spans: Samples, theta: Samples, image: Samples, u: Samples, weights: Samples) -> Made:
    """Return upper bounds of `basis' theta`, and of `basis' diag(weights) v` for v of the size of the terms of u."""
    xp: Any = array_namespace(u)
    return Made(sums=(_along(spans, xp.abs(theta)), _along(spans, weigh(weights, xp.abs(image) + xp.abs(u)))))


def _bent_sizes(spans: Samples, image: Samples, u: Samples, y: Samples, weights: Samples, *, loss: Loss) -> Made:
    """Return the second of them with each sample multiplied by its curvature."""
    xp: Any = array_namespace(u)
    return Made(sums=(_along(spans, weigh(weights, loss.curvature(u, y)) * (xp.abs(image) + xp.abs(u))),))


def _along(spans: Samples, sizes: Samples) -> Samples:
    """Return the sum of `abs(basis)' sizes`, an upper bound of a product with the basis."""
    xp: Any = array_namespace(sizes)
    return xp.sum(spans * (sizes if sizes.ndim == 1 else xp.sum(sizes, axis=1)))
