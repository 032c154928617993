"""Signals in the compiled core (steps.h): running sums, norms of sums of columns, and denoising."""

import numpy as np
from numpy.typing import NDArray

from atomsieve.core import _core
from atomsieve.core.clock import look
from atomsieve.typing import Array

PARTS = 10
"""How often careful rounds look at the clock."""


def running_sums(values: Array, radii: Array) -> Array:
    """Return four rows: running sums, the sums of their rounding errors and of the absolute values of these, radii."""
    found = np.empty((4, len(values)))
    _core.running_sums(np.ascontiguousarray(values), np.ascontiguousarray(radii), found)
    return found


def levels(jumps: Array, root: int) -> Array:
    """Return the levels of places: that of the root, plus the jumps to its right, less those to its left.

    Rounding errors are added up beside the sums, so each level is rounded about once.
    """
    found = np.empty(len(jumps))
    _core.levels(np.ascontiguousarray(jumps), root, found)
    return found


def moved(values: Array, root: int) -> Array:
    """Return the sum of what each jump moves: from its place on, or less the sum up to it to the left of the root."""
    found = np.empty(len(values))
    _core.moved(np.ascontiguousarray(values), root, found)
    return found


def squares_of_sums(
    rows: tuple[Array, NDArray[np.int32], NDArray[np.int64]], weights: Array, width: int, *, upward: bool, unit: float
) -> Array:
    """Return by how much `sum_i w_i s_i(j)^2` changes at each place j, and the sums of the sizes of the terms.

    s_i(j) is the sum of row i of a sparse matrix (values, places that rise, starts) from j on, or up to j if `upward`.
    With `unit`, twice the rounding of one operation, upper bounds of abs(s_i) take its place.
    """
    found = np.zeros((2, width))
    _core.squares_of_sums(*rows, np.ascontiguousarray(weights), upward, unit, found)
    return found


def denoised(y: Array, weights: Array, prices: Array) -> Array:
    """Return the x that minimises `sum_i w_i (x_i - y_i)^2 / 2 + sum_e price_e |x_{e+1} - x_e|`, in time O(n).

    Weights are positive, prices are not negative, all finite. Johnson's dynamic program (2013).
    """
    x = np.empty(len(y))
    _core.denoised(np.ascontiguousarray(y), np.ascontiguousarray(weights), np.ascontiguousarray(prices), x)
    return x


def jumps_of(y: Array, weights: Array, prices: Array, root: int, x: Array) -> tuple[Array, Array]:
    """Return the jumps of a denoised signal x with sharp levels, 0 at the root, and their sums, the levels above it.

    A level is the mean of its region, moved by the prices of the jumps around it. Jumps are rounded such that errors
    do not add up from jump to jump.
    """
    x, jumps = x.copy(), np.empty(len(y))
    arrays = [np.ascontiguousarray(part) for part in (y, weights, prices)]
    _core.jumps(*arrays, root, x, jumps)
    return jumps, x


def bends_of(y: Array, weights: Array, prices: Array, quick: int, careful: int) -> tuple[Array, bool]:
    """Return the bends of the x that minimises `sum_i w_i (x_i - y_i)^2 / 2 + sum_e price_e |(D x)_e|`.

    D are second differences. The second value tells whether no bend is missing, up to rounding.
    At most so many `quick` rounds put in and take out all knots at once, and at most PARTS times so many `careful` ones
    lower the objective.
    """
    signs, bends = np.zeros((2, len(y)))
    given = [np.ascontiguousarray(part) for part in (y, weights, prices)]
    ended = _core.bent(*given, (quick, 0), signs, bends)
    for _ in range(PARTS):
        if ended:
            break
        look()
        ended = _core.bent(*given, (0, careful), signs, bends)
    return bends[1:-1], ended
