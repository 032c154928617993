"""The view at a state whose samples are on the workers of dask: one trip makes all of it, product with A' included."""

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from atomsieve.design.seminorm import combine
from atomsieve.losses import Loss
from atomsieve.numerics.samplewise import Made, evaluate
from atomsieve.problem.place import There
from atomsieve.problem.state import State
from atomsieve.problem.view import Told, View
from atomsieve.typing import Array

if TYPE_CHECKING:
    from atomsieve.problem.lifted import Lifted


def view_there(lifted: "Lifted", state: State) -> View:
    """Return the view at a state, with the image of that held on the workers."""
    smooth, span = lifted.smooth, lifted.smooth.span
    place: Any = None if span is None else ended(state) or smooth.search(state.image, state.coordinates)
    samples = [state.image, smooth.targets, smooth.weights]
    samples += [] if smooth.fixed is None else [smooth.fixed]
    pieces: dict[str, Any] = {"loss": smooth.loss, "shifted": smooth.fixed is not None}
    if span is not None:
        samples.append(span.basis)
        along = place.along if smooth.fixed is None else place.along - smooth.fixed_along
        pieces |= {"coordinates": place.coordinates, "gradient": place.gradient, "along": along}
    design: Any = lifted.design
    if design.sweeps:
        found = design.sweep(partial(_viewed, **pieces), *samples)
    else:
        found = evaluate(partial(_viewed, None, **pieces), *samples)
    image, *own, slopes, theta = found.arrays
    pull, square, *z = found.sums
    told = Told(float(pull), math.sqrt(square))
    moved = replace(state, image=image, place=None)
    if span is not None:
        moved = replace(moved, coordinates=place.coordinates, place=(image, place))
    stray = 0.0 if span is None else float(np.linalg.norm(place.gradient))
    return View(moved, own[0] if own else image, slopes, theta, z[0] if z else lifted.pulled(theta), stray, told)


def ended(state: State) -> There | None:
    """Return where a search at the image and the coordinates of a state has ended."""
    if state.place is None:
        return None
    image, place = state.place
    return place if image is state.image and place.coordinates is state.coordinates else None


def _viewed(
    design: Any, image: Array, y: Array, weights: Array, *others: Array, loss: Loss, shifted: bool,
    coordinates: Array | None = None, gradient: Array | None = None, along: Array | None = None,
) -> Made:  # fmt: skip
    """Return image, predictions, slopes of the losses and theta; and what is told of them."""
    u, centred = image + others[0] if shifted else image, image
    if coordinates is not None:
        u, centred = u + combine(others[-1], coordinates), image - combine(others[-1], along)
    slopes = loss.gradient(u, y)
    # B' theta = 0 holds only up to rounding, and features far from 0 amplify the error in z
    theta = weights * (slopes if coordinates is None else slopes - combine(others[-1], gradient))
    arrays = (image, slopes, theta) if u is image else (image, u, slopes, theta)
    sums = (theta @ centred, weights @ (centred * centred))
    return Made(arrays, sums if design is None else (*sums, design.rmatvec(-theta)))
