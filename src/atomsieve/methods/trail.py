"""A move whose image is on the workers of dask: what one trip tells at each of its lengths is kept for the next."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from atomsieve.core.clock import look
from atomsieve.losses import Loss
from atomsieve.numerics.places import support_of
from atomsieve.numerics.samplewise import Made, in_chunks, lazily, totals
from atomsieve.problem import Point, State
from atomsieve.problem.place import Aside
from atomsieve.problem.span import FLAT, UnsettledError
from atomsieve.typing import Array, Index, Samples


@dataclass(eq=False)
class Trail:
    """The image of a move, its coordinates along B, its norm; and the last place that was looked at."""

    image: Samples
    along: Array | None
    length: float
    bent: Array | None
    """The coordinates that the move takes back where the losses are as curved as at its beginning."""
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
        index, span = support_of(change), problem.span
        basis = () if span is None else (span.basis, point.u, problem.targets)
        formula = partial(_moved, x=change[index], index=index, loss=problem.loss)
        found = design.sweep(formula, problem.weights, *basis)
        if span is None:
            return cls(found.arrays[0], None, math.sqrt(found.sums[0]), None)
        square, along, hessian, bent = found.sums
        known = np.isfinite(hessian).all() and np.isfinite(bent).all()
        back = np.linalg.lstsq(hessian, bent, rcond=FLAT)[0] if known else along
        return cls(found.arrays[0], along, math.sqrt(square), back)

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
            samples = [image, self.image, smooth.targets, smooth.weights]
            samples += [] if smooth.fixed is None else [smooth.fixed]
            slope, square = totals(partial(_sloping, loss=smooth.loss), *samples)
            self.reach = math.sqrt(square)
            return float(slope)
        assert self.along is not None and self.bent is not None  # noqa: S101, PT018
        try:
            self.place = smooth.search(image, state.coordinates - step * self.bent, Aside(self.image, self.along))
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


def _moved(design: Any, weights: Array, *others: Array, x: Array, index: Index, loss: Loss) -> Made:
    """Return the image of a change of x; its square, its coordinates along B, and what bends along B and the image."""
    image = np.asarray(design.matvec(x, index))
    weighted = weights * image
    if not others:
        return Made((image,), (image @ weighted,))
    basis, u, y = others
    curvature = loss.curvature(u, y)
    along = (basis.T @ weighted, basis.T @ ((weights * curvature)[:, None] * basis), basis.T @ (curvature * weighted))
    return Made((image,), (image @ weighted, *along))


def _stepped(image: Array, move: Array, *, step: float) -> Array:
    return image + step * move


def _sloping(image: Array, move: Array, y: Array, weights: Array, *fixed: Array, loss: Loss) -> Made:
    """Return the slope of the losses along a move, and the square of the image."""
    slopes = loss.gradient(image + fixed[0] if fixed else image, y)
    return Made(sums=((weights * slopes) @ move, weights @ (image * image)))
