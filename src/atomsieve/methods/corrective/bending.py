"""Piecewise lines through a signal itself: an interior point method finds the knots, and a spline the rest.

The dual of `sum_i w_i (x_i - y_i)^2 / 2 + sum_e price_e |(D x)_e|`, with second differences D, is a quadratic program
in a box whose matrix has five diagonals (Kim, Koh, Boyd and Gorinevsky, 2009). Its multipliers tell the knots and the
signs of the bends. With these the best lines are a linear spline, whose values at the knots solve a tridiagonal system.
"""

import numpy as np
from scipy.linalg import solveh_banded

from atomsieve.core.clock import look
from atomsieve.typing import Array, Index

STEPS = 100
"""Largest number of steps of the interior point method; 60 to 80 suffice for 10^5 points."""

CENTRED = 0.1
"""How much nearer to the boundary every step aims."""

INSIDE = 0.995
"""Part of the way to the boundary that a step goes."""

ENOUGH = 1e-10
"""Products of multipliers and slacks, beside the sum of squares, at which the knots are clear."""

ROUNDS = 10
"""How often knots that bend the wrong way are taken out, and knots that are missing put in."""

TOO_MUCH = 1e-9
"""Part of the price by which the dual may exceed it through rounding."""


def bent(y: Array, weights: Array, prices: Array) -> tuple[Array, Index, Array]:
    """Return the best lines through a signal, the places of their bends among the differences, and the bends."""
    signs = _signs(y, weights, prices)
    for _ in range(ROUNDS):
        places = np.flatnonzero(signs)
        x, bends = _spline(y, weights, places, signs[places] * prices[places])
        wrong, missing = places[bends * signs[places] <= 0], _missing(x, y, weights, prices)
        if not len(wrong) and not len(missing[0]):
            break
        signs[wrong] = 0.0
        signs[missing[0]] = missing[1]
    return x, places, bends


def _missing(x: Array, y: Array, weights: Array, prices: Array) -> tuple[Index, Array]:
    """Return where bends would pay, one place of each run of such places, and their signs."""
    f = np.cumsum(np.cumsum(weights * (y - x)))[:-2]
    over = np.abs(f) - prices * (1 + TOO_MUCH)
    found = np.flatnonzero(over > 0)
    if not len(found):
        return found, f[:0]
    runs = np.cumsum(np.append(True, np.diff(found) > 1)) - 1
    order = np.lexsort((-over[found], runs))
    best = found[order[np.append(True, np.diff(runs[order]) > 0)]]
    return best, np.sign(f[best])


def _signs(y: Array, weights: Array, prices: Array) -> Array:
    """Return the signs of the bends of the optimum, 0 where there is none, as far as the dual tells."""
    v, m = 1 / weights, len(prices)
    diagonals = np.zeros((3, m))
    diagonals[0] = v[:-2] + 4 * v[1:-1] + v[2:]
    diagonals[1, :-1] = -2 * (v[1:-2] + v[2:-1])
    diagonals[2, :-2] = v[2:-2]
    f = np.zeros(m)
    above = np.full(m, float(np.abs(np.diff(y, 2)).max()))
    below, size = above.copy(), float(weights @ (y * y))
    for _ in range(STEPS):
        look()
        gradient, room, depth = -np.diff(y - v * _adjoint(f), 2), prices - f, prices + f
        left = float(above @ room + below @ depth)
        if left <= ENOUGH * size:
            break
        aim = CENTRED * left / (2 * m)
        system = diagonals.copy()
        system[0] += above / room + below / depth
        step = solveh_banded(system, aim / depth - aim / room - gradient, lower=True, overwrite_ab=True)
        moves = (aim + above * step) / room - above, (aim - below * step) / depth - below
        length = min(
            _longest(value, move)
            for value, move in ((above, moves[0]), (below, moves[1]), (room, -step), (depth, step))
        )
        f, above, below = f + length * step, above + length * moves[0], below + length * moves[1]
    largest = float(max(above.max(), below.max()))
    # the bends are `above - below`; a multiplier counts where it is larger, in its units, than the slack
    return np.asarray((above * prices > (prices - f) * largest) * 1.0 - (below * prices > (prices + f) * largest) * 1.0)


def _adjoint(f: Array) -> Array:
    """Return `D' f`."""
    return np.asarray(np.diff(np.concatenate([[0.0, 0.0], f, [0.0, 0.0]]), 2))


def _longest(value: Array, move: Array) -> float:
    """Return how far a step may go so that positive numbers stay positive, at most 1."""
    falls = move < 0
    return min(1.0, INSIDE * float((-value[falls] / move[falls]).min())) if falls.any() else 1.0


def _spline(y: Array, weights: Array, places: Index, pulls: Array) -> tuple[Array, Array]:
    """Return the linear spline v that minimises `sum_i w_i (x_i - y_i)^2 / 2 + pulls . bends`, and its bends."""
    knots = np.concatenate([[0], places + 1, [len(y) - 1]])
    lengths = np.diff(knots).astype(np.float64)
    segment = np.minimum(np.searchsorted(knots, np.arange(len(y)), side="right") - 1, len(lengths) - 1)
    part = (np.arange(len(y)) - knots[segment]) / lengths[segment]
    system, right = np.zeros((2, len(knots))), np.zeros(len(knots))

    def sums(values: Array) -> Array:
        return np.asarray(np.bincount(segment, values, len(lengths)), dtype=np.float64)

    system[0, :-1] += sums(weights * (1 - part) ** 2)
    system[0, 1:] += sums(weights * part**2)
    system[1, :-1] = sums(weights * part * (1 - part))
    right[:-1] += sums(weights * y * (1 - part))
    right[1:] += sums(weights * y * part)
    slopes = np.diff(np.concatenate([[0.0], pulls, [0.0]])) / lengths  # of the pulls, by which slopes are charged
    right[:-1] -= slopes
    right[1:] += slopes
    values = solveh_banded(system, right, lower=True)
    bends = np.diff(np.diff(values) / lengths)
    return values[segment] * (1 - part) + values[segment + 1] * part, bends
