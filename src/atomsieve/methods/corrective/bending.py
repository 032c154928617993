"""Piecewise lines through a signal itself: knots are put in and taken out until the dual says that none is missing.

With given knots and signs of bends the best lines are a linear spline, whose values at the knots solve a tridiagonal
system. Its residuals, summed twice, are the dual of `sum_i w_i (x_i - y_i)^2 / 2 + sum_e price_e |(D x)_e|` with second
differences D: between the knots it must not exceed the price. A quick round takes out all knots that bend the wrong
way, and puts in one for each run of places where the dual is too large: a Newton step of the dual (Hintermueller, Ito
and Kunisch, 2002), in time proportional to the length. 10 to 40 of them suffice, unless they go in circles. Careful
rounds (Lawson and Hanson, 1974) go towards the best lines only until a bend vanishes, so the objective falls.
"""

import numpy as np

from atomsieve.core.signals import bends_of
from atomsieve.typing import Array, Index

QUICK = 40
"""Largest number of quick rounds."""

CAREFUL = 100
"""Number of careful rounds between two looks at the clock."""


def bent(y: Array, weights: Array, prices: Array) -> tuple[Index, Array]:
    """Return the places of the bends of the best lines through a signal among the differences, and the bends."""
    bends, _ = bends_of(y - _line(y, weights), weights, prices, QUICK, CAREFUL)
    places = np.flatnonzero(bends)
    return places, bends[places]


def _line(y: Array, weights: Array) -> Array:
    """Return the best single line: without it numbers are smaller, and the bends are the same."""
    along = np.arange(len(y)) - float(weights @ np.arange(len(y))) / float(weights.sum())
    weighted = weights * along
    return np.asarray(float(weights @ y) / float(weights.sum()) + float(weighted @ y) / float(weighted @ along) * along)
