"""A move whose image is on the workers of dask: what one trip tells at each of its lengths is kept for the next."""

import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np

from atomsieve.core.clock import look
from atomsieve.losses import Loss
from atomsieve.losses.compiled import slopes_and_bends
from atomsieve.numerics.places import support_of
from atomsieve.numerics.samplewise import Made, arrays_of, in_chunks, lazily, sums_of, totals
from atomsieve.numerics.tasks import Trip, received
from atomsieve.problem import Point, State
from atomsieve.problem.place import Aside, told_of
from atomsieve.problem.smooth import Smooth
from atomsieve.problem.span import FLAT, UnsettledError, newton_direction
from atomsieve.typing import Array, Samples

SCOUTED = 2
"""Places at the end of a move that the trip along it looks at: where Newton's method begins, and where that leads."""


@dataclass(eq=False)
class Trail:
    """The image of a move, its coordinates along B, its norm; and the last place that was looked at."""

    image: Samples
    along: Array | None
    length: float
    bent: Array | None
    """The coordinates that the move takes back where the losses are as curved as at its beginning."""
    scouts: "Scouts"
    """What the trip that made the image found at the end of the move."""
    step: float = math.nan
    """Where the last look was."""
    there: Samples = None
    """The image of the state there."""
    reach: float | None = None
    """Its norm."""
    place: Any = None

    @classmethod
    def of(cls, point: Point, change: Array) -> Self | None:
        """Return the trail of a change of x; None where samples are at hand."""
        problem = point.problem
        design: Any = problem.design
        if not in_chunks(problem.y) or not design.sweeps or change.ndim > 1:
            return None
        index, span, scouts = support_of(change), problem.span, Scouts(point)
        basis = () if span is None else (span.basis, point.u, problem.targets)
        formula = partial(_moved, x=change[index], loss=problem.loss)
        found = design.sweep(formula, problem.weights, *basis, index=index, then=scouts)
        if span is None:
            return cls(found.arrays[0], None, math.sqrt(found.sums[0]), None, scouts)
        square, along, *curved = found.sums
        return cls(found.arrays[0], along, math.sqrt(square), _back(along, *curved), scouts)

    def move_to(self, state: State, step: float) -> Samples:
        """Return the image of the state that is so far along the move."""
        if step != self.step:
            self.there = lazily(partial(_stepped, step=step), state.image, self.image)
            self.step, self.reach, self.place = step, None, None
        return self.there

    def slope(self, point: Point, step: float) -> float:
        """Return the derivative of the losses after a step, at the best free coefficients there."""
        look()
        problem, state = point.problem, point.state
        smooth, image = problem.smooth, self.move_to(state, step)
        if smooth.span is None:
            formula = partial(_sloping, loss=smooth.loss)
            samples = (image, self.image, *_beside(smooth))
            slope, square = self.scouts.found[0].sums if step == 1.0 else totals(formula, *samples)
            self.reach = math.sqrt(square)
            return float(slope)
        assert self.along is not None and self.bent is not None  # noqa: S101, PT018
        aside = Aside(self.image, self.along, self.scouts.places if step == 1.0 else ())
        try:
            self.place = smooth.search(image, state.coordinates - step * self.bent, aside)
        except UnsettledError:  # so far out that losses cannot be compared
            return math.inf
        self.reach = self.place.length if smooth.fixed is None else None
        return float(self.place.slope)

    def settled(self, state: State, before: State, step: float) -> State:
        """Return the state at a step with the free coefficients that were found there."""
        if self.along is None:
            return state
        if self.place is not None and step == self.step and state.image is self.there:
            return replace(state, coordinates=self.place.coordinates, place=(self.there, self.place))
        return replace(state, coordinates=before.coordinates - step * self.along)


@dataclass(eq=False)
class Scouts:
    """What looks at the end of a move in the trip that makes its image.

    Each of the first steps of the search for the best free coefficients there is made by a task, with the formulas of
    that search: where it comes by again, it finds what was told. Anywhere else it makes a trip of its own.
    """

    point: Point
    found: list[Any] = field(default_factory=list)

    def follow(self, trip: Trip, made: list[Any], whole: Any) -> list[Any]:
        """Add the tasks to the trip, and return the nodes of what comes back."""
        state, smooth = self.point.state, self.point.problem.smooth
        ends = [trip.chunks(state.image), arrays_of(made, 0)]
        own = [trip.chunks(part) for part in _beside(smooth)]
        if smooth.span is None:
            return [sums_of(trip, partial(_sloping_there, loss=smooth.loss), *ends, *own)]
        own.insert(0, trip.chunks(smooth.span.basis))
        aims, told = [trip.task(_aimed, whole, state.coordinates)], []
        for k in range(SCOUTED):
            formula = partial(_told_there, loss=smooth.loss)
            told.append(sums_of(trip, formula, *ends, *own, given=(aims[k], whole)))
            if k + 1 < SCOUTED:
                aims.append(trip.task(_aimed_on, told[k], aims[k], smooth.span.largest))
        return [*aims, *told]

    @property
    def places(self) -> list[tuple[Array, Made]]:
        """The coordinates at which losses were looked at, with what was told there."""
        return list(zip(self.found[:SCOUTED], self.found[SCOUTED:], strict=True))


def _beside(smooth: Smooth) -> tuple[Samples, ...]:
    return (smooth.targets, smooth.weights, *(() if smooth.fixed is None else (smooth.fixed,)))


def _back(along: Array, hessian: Array, bent: Array) -> Array:
    """Return the coordinates that a move takes back where the losses are as curved as at its beginning."""
    known = np.isfinite(hessian).all() and np.isfinite(bent).all()
    return np.asarray(np.linalg.lstsq(hessian, bent, rcond=FLAT)[0]) if known else along


def _aimed(whole: Made, coordinates: Array) -> Array:
    """Return where the search at the end of a move begins."""
    return np.asarray(coordinates - 1.0 * _back(*received(whole.sums)[1:]))


def _aimed_on(told: Made, coordinates: Array, largest: float) -> Array:
    """Return where Newton's method leads from there."""
    gradient, hessian = received(told.sums)[:2]
    farthest, steepest = told.maxima
    if not (np.isfinite(gradient).all() and np.isfinite(hessian).all()):
        return coordinates
    return np.asarray(coordinates + newton_direction(gradient, hessian, steepest, farthest, largest))


def _moved(design: Any, weights: Array, *others: Array, x: Array, loss: Loss) -> Made:
    """Return the image of a change of x; its square, its coordinates along B, and what bends along B and the image."""
    image = np.asarray(design.matvec(x))
    weighted = weights * image
    if not others:
        return Made((image,), (image @ weighted,))
    basis, u, y = others
    _, bends = slopes_and_bends(loss, u, y, weights)
    along = (basis.T @ weighted, basis.T @ (bends[:, None] * basis), basis.T @ (bends * image))
    return Made((image,), (image @ weighted, *along))


def _stepped(image: Array, move: Array, *, step: float) -> Array:
    return image + step * move


def _sloping(image: Array, move: Array, y: Array, weights: Array, *fixed: Array, loss: Loss) -> Made:
    """Return the slope of the losses along a move, and the square of the image."""
    slopes = loss.gradient(image + fixed[0] if fixed else image, y)
    return Made(sums=((weights * slopes) @ move, weights @ (image * image)))


def _sloping_there(image: Array, move: Array, *others: Array, loss: Loss) -> Made:
    """Return the same at the end of a move."""
    return _sloping(image + move, move, *others, loss=loss)


def _told_there(aim: Array, whole: Made, image: Array, move: Array, *others: Array, loss: Loss) -> Made:
    """Return what a search may ask for at the end of a move."""
    basis, y, weights, *fixed = others
    there = image + move + fixed[0] if fixed else image + move
    return told_of(there, basis, y, weights, move, loss=loss, coordinates=aim, taken=whole.sums[1])
