"""The view at a state whose samples are on the workers of dask: one trip makes all of it, product with A' included."""

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from atomsieve.design.seminorm import combine
from atomsieve.losses import Loss
from atomsieve.losses.compiled import measured, slopes_and_bends
from atomsieve.numerics.samplewise import Made, evaluate, lazily
from atomsieve.problem.place import There
from atomsieve.problem.smooth import Measured, Told
from atomsieve.problem.state import State
from atomsieve.problem.view import View
from atomsieve.typing import Array

if TYPE_CHECKING:
    from atomsieve.problem.lifted import Lifted


def view_there(lifted: "Lifted", state: State) -> View:
    """Return the view at a state, with the image of that held on the workers; all else is made anew from it.

    Where the same image was seen last, as at the end of a working set that leaves nothing out, nothing is asked again.
    """
    for last in lifted.last_seen:
        if last.state.image is state.image and last.state.coordinates is state.coordinates:
            return replace(last, state=replace(state, place=last.state.place))
    lifted.last_seen[:] = [_view_there(lifted, state)]
    return lifted.last_seen[0]


def _view_there(lifted: "Lifted", state: State) -> View:
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
    image = found.arrays[0]
    own = [] if span is None else [span.basis]
    u = lazily(partial(_predicted, **kept(pieces, "shifted", "coordinates")), image, *samples[3:])
    slopes = lazily(smooth.loss.gradient, u, smooth.targets)
    theta = lazily(partial(_weighed, **kept(pieces, "gradient")), slopes, smooth.weights, *own)
    pull, square, value, size, steep, *z = found.sums
    seen = Measured(float(value), 0.0, math.sqrt(size), math.sqrt(steep))
    moved = replace(state, image=image, place=None)
    if span is not None:
        moved = replace(moved, coordinates=place.coordinates, place=(image, place))
    stray = 0.0 if span is None else float(np.linalg.norm(place.gradient))
    told = Told(float(pull), math.sqrt(square), seen)
    return View(moved, u, slopes, theta, z[0] if z else lifted.pulled(theta), stray, told)


def ended(state: State) -> There | None:
    """Return where a search at the image and the coordinates of a state has ended."""
    if state.place is None:
        return None
    image, place = state.place
    return place if image is state.image and place.coordinates is state.coordinates else None


def kept(pieces: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return the pieces of these names, as far as there are such."""
    return {name: pieces[name] for name in names if name in pieces}


def _viewed(
    design: Any, image: Array, y: Array, weights: Array, *others: Array, loss: Loss, shifted: bool,
    coordinates: Array | None = None, gradient: Array | None = None, along: Array | None = None,
) -> Made:  # fmt: skip
    """Return the image; its product with theta, how it is measured, and the product of minus theta with A'."""
    u = _predicted(image, *others, shifted=shifted, coordinates=coordinates)
    slopes, _ = slopes_and_bends(loss, u, y, weights)
    centred = image if along is None else image - combine(others[-1], along)
    theta = _weighed(slopes, weights, *others[-1:], gradient=gradient)
    value, _, size, steep = measured(loss, u, slopes, y, weights, 1.0)
    sums = (theta @ centred, weights @ (centred * centred), value, size, steep)
    return Made((image,), sums if design is None else (*sums, design.rmatvec(-theta)))


def _predicted(image: Array, *others: Array, shifted: bool, coordinates: Array | None = None) -> Array:
    u = image + others[0] if shifted else image
    return u if coordinates is None else u + combine(others[-1], coordinates)


def _weighed(slopes: Array, weights: Array, *basis: Array, gradient: Array | None = None) -> Array:
    """Return theta: `B' theta = 0` holds only up to rounding, and features far from 0 amplify the error in z."""
    return weights * (slopes if gradient is None else slopes - combine(basis[-1], gradient))
