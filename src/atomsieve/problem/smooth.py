"""The smooth part of a problem, `A x -> min over b of F(A x + B b + offset)`; gauge and penalty play no role here."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from atomsieve.design.seminorm import inner, weigh
from atomsieve.losses import Loss
from atomsieve.losses.compiled import CompiledLoss, measured, slopes_and_bends
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.namespace import array_namespace, like, on_host
from atomsieve.numerics.samplewise import Made, evaluate, in_chunks, lazily, numbers, totals
from atomsieve.numerics.tasks import Errand
from atomsieve.problem.data import Data
from atomsieve.problem.place import Aside, Place
from atomsieve.problem.span import Span
from atomsieve.typing import Array, Samples


class Measured(NamedTuple):
    """Predictions u and slopes of the losses there in numbers."""

    value: float
    """F(u)."""

    apart: float
    """`F(u) + F*(scale theta) - scale u . theta`, where theta is the gradient at u; summed without cancellation."""

    size: float
    """The norm of u."""

    steep: float
    """The norm of the slopes."""


class Told(NamedTuple):
    """What the trip to the workers of dask that made predictions told of them."""

    pull: float
    """The product of the image, less its part in the span of B, with theta."""
    length: float
    """The norm of that part of the image."""
    measured: Measured
    """The losses there, with slopes that are not scaled."""
    errand: Errand | None = None
    """What the next trip, if one is needed to measure slopes that are scaled, asks for as well."""


@dataclass(frozen=True, eq=False)
class Smooth:
    """The weighted loss of all samples as a function of the image A x, at the best free coefficients.

    Outputs with their own targets count as separate samples here: n x K samples, each with the weight of its row.
    """

    loss: Loss
    y: Samples
    weights: Samples
    stated_weights: Array
    """The weights as stated by the user."""
    unpenalised: Samples
    """The columns B: the constant, the given columns, and the unpenalised columns of A."""
    offset: Samples | None
    outputs: tuple[int, ...]
    """Trailing shape of the predictions: (K,) if the loss makes K outputs from one target."""
    hosted: Self | None = None
    """The same on the host, from where samples came that are on the workers of dask; None elsewhere."""

    @classmethod
    def of(cls, data: Data, loss: Loss, own: Samples) -> Self:
        """Return the smooth part for data and the unpenalised columns of the lifted design; it lives with these."""
        given = [np.ones((len(data.weights), int(data.intercept))), data.free]
        weights, stated = data.weights, data.stated_weights
        if data.tasks > 1:
            given = [np.kron(part, np.eye(data.tasks)) for part in given]
            weights, stated = (np.repeat(array, data.tasks) for array in (weights, stated))
        offset = data.offset
        outputs = data.outputs
        if data.tasks > 1:
            offset = None if offset is None else offset.ravel()
            outputs = ()
        unpenalised, y = np.concatenate([*given, on_host(own)], axis=1), data.y.ravel()
        here = cls(loss, y, weights, stated, unpenalised, offset, outputs)
        if type(own) is np.ndarray:
            return here
        y, weights = like(y, own), like(weights, own)
        offset = None if offset is None else like(offset, own)
        if in_chunks(own):
            return replace(here, y=y, weights=weights, offset=offset, hosted=here)
        return cls(loss, y, weights, stated, like(unpenalised, own), offset, outputs)

    @cached_property
    def span(self) -> Span | None:
        """The span of the unpenalised columns, with the best coefficients at x = 0; None without such columns."""
        if not self.unpenalised.shape[1]:
            return None
        if self.hosted is not None:
            found = self.hosted.span
            assert found is not None  # noqa: S101
            return found.beside(self.y if found.y is self.hosted.y else like(found.y, self.y), self.weights)
        return Span.of(self.unpenalised, self.loss, self.y, self.weights, self.outputs, self.offset)

    @cached_property
    def targets(self) -> Samples:
        """What predictions are compared with.

        For a loss that depends only on `u - y`, this is y without the offset and without what unpenalised columns
        explain. For other losses it is y.
        """
        if self.span is not None:
            return self.span.y
        return self.y - self.offset if self.offset is not None and self.loss.translates else self.y

    @cached_property
    def fixed(self) -> Samples | None:
        """The offset, if it is not subtracted from the targets."""
        return None if self.loss.translates else self.offset

    @cached_property
    def compiled(self) -> CompiledLoss | None:
        """The loss and the samples for the core, if it knows the loss."""
        basis = None if self.span is None else self.span.basis
        return None if self.outputs else CompiledLoss.of(self.loss, self.targets, self.weights, self.fixed, basis)

    def measure(self, u: Samples, slopes: Samples, scale: float, told: Told | None = None) -> Measured:
        """Measure predictions with the slopes of the losses there; what was told of them is not asked again."""
        if told is not None:
            return told.measured if scale == 1 else told.measured._replace(apart=self._apart(u, scale, told))
        if self.compiled is not None:
            return Measured(*self.compiled.measure(u, slopes, scale))
        if type(u) is not np.ndarray:
            return self._measure_there(u, slopes, scale)
        weighted = weigh(self.weights, u), weigh(self.weights, slopes)
        apart = 0.0
        if scale != 1:
            apart = float(np.sum(self.weights * self.loss.fenchel_young(u, scale * slopes, self.targets)))
        return Measured(self.value(u), apart, math.sqrt(inner(u, weighted[0])), math.sqrt(inner(slopes, weighted[1])))

    def _measure_there(self, u: Samples, slopes: Samples, scale: float) -> Measured:
        """Measure them where they are; all numbers come to the host in one go."""
        formula = partial(_measures, loss=self.loss, scale=scale)
        value, apart, size, steep = map(float, totals(formula, u, slopes, self.targets, self.weights))
        return Measured(value, apart, math.sqrt(size), math.sqrt(steep))

    def _apart(self, u: Samples, scale: float, told: Told) -> float:
        """Return how far losses are from their conjugates at scaled slopes."""
        formula = partial(_aparts, loss=self.loss, scale=scale)
        return float(numbers(formula, u, self.targets, self.weights, errand=told.errand).sums[0])

    def value(self, u: Samples) -> float:
        """Return F(u)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(array_namespace(u).sum(self.weights * self.loss.value(u, self.targets)))

    def predict(self, image: Samples, coordinates: Array) -> tuple[Array, Samples, Samples]:
        """Return the best coordinates of B b for `A x = image`, the predictions u there, and loss'(u)."""
        with np.errstate(over="ignore", invalid="ignore"):
            image = image if self.fixed is None else image + self.fixed
            if self.span is None:
                found = evaluate(partial(_slopes, loss=self.loss), image, self.targets).arrays
                return coordinates, *found
            return self.span.minimise(image, coordinates)

    def search(self, image: Samples, start: Array, aside: Aside | None = None) -> Place:
        """Return the place of the best coordinates of B b for `A x = image`."""
        assert self.span is not None  # noqa: S101
        fixed = self.fixed
        return self.span.search(image if fixed is None else lazily(_sum, image, fixed), start, aside)

    @cached_property
    def fixed_along(self) -> Array:
        """The coordinates of the offset that is not subtracted from the targets."""
        assert self.span is not None  # noqa: S101
        return self.span.along(self.fixed)

    def shortfall(self, u: Samples, stray: float, enough: float, size: float) -> float:
        """Return a bound of how far better free coefficients can lower the loss.

        A rough bound is returned if it is at most `enough`. `stray` is the slope of the loss along B. We assume that
        the best u is not farther away than u is from 0 (`size`), or than the step that this slope suggests.
        """
        if self.span is None:
            return 0.0
        curvature = self.loss.smoothness_near(u)
        farthest = max(size, stray / curvature if curvature > 0 else math.inf)
        lost = stray * farthest
        return lost if lost <= enough else min(lost, self.span.shortfall(u, stray))


def _sum(first: Samples, second: Samples) -> Samples:
    return first + second


def _slopes(u: Samples, y: Samples, *, loss: Loss) -> Made:
    """Return predictions and the slopes of the losses there."""
    return Made((u, loss.gradient(u, y)))


def _aparts(u: Array, y: Array, weights: Array, *, loss: Loss, scale: float) -> Made:
    slopes, _ = slopes_and_bends(loss, u, y, weights)
    return Made(sums=(measured(loss, u, slopes, y, weights, scale)[1],))


def _measures(u: Samples, slopes: Samples, y: Samples, weights: Samples, *, loss: Loss, scale: float) -> Made:
    """Return the loss, how far it is from its conjugate at scaled slopes, and the squares of u and of the slopes."""
    xp: Any = array_namespace(u)
    terms = [loss.value(u, y), 0.0 * u, u * u, slopes * slopes]
    if scale != 1:
        terms[1] = loss.fenchel_young(u, scale * slopes, y)
    return Made(sums=tuple(xp.sum(weights * term) for term in terms))
