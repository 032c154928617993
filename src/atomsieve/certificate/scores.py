"""Scores of blocks: how much z pulls at them for their price."""

import numpy as np

from atomsieve.certificate.point import SHARP, side_by_side
from atomsieve.certificate.statement import Statement
from atomsieve.gauges.signs import some
from atomsieve.numerics.enclosures import Enclosure, up
from atomsieve.numerics.places import places_in
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index

NEAR = 0.999
"""Scores above this fraction of the best one are computed in twice the precision."""


def pulls(statement: Statement, z: Enclosure, index: Index | None = None) -> tuple[Array, Array]:
    """Return lower and upper bounds of the norm of z over each block; of z itself where x must not be negative.

    If every block is one entry, z may be that of some of them.
    """
    signed = statement.signs if index is None else some(statement.signs, index)
    if signed is False:
        return z.low.ravel(), z.high.ravel()
    if signed is True and statement.plain:
        return z.sizes()
    least = statement.least_norms(np.maximum(np.abs(z.mid) - z.rad, 0.0) * (1 - 4 * EPS))
    highest = statement.block_norms(z.size)
    if signed is True:
        return least, highest
    first = slice(None) if statement.plain else np.unique(statement.labels, return_index=True)[1]
    signed = signed[first]  # blocks without signs are single entries
    return np.where(signed, least, z.low.ravel()[first]), np.where(signed, highest, z.high.ravel()[first])


def scores_of(statement: Statement, z: Enclosure, index: Index | None = None) -> tuple[Array, Array]:
    """Return lower and upper bounds of the scores of all blocks at z; or of some, if every block is one entry."""
    if not statement.priced:
        scores = statement.problem.core.enclose_scores(z)
        return np.fmax(scores.low, -np.inf), np.where(np.isnan(scores.high), np.inf, scores.high)
    least, highest = pulls(statement, z, index)
    if statement.free_of_prices:
        return least, highest
    prices = statement.prices if index is None else statement.prices[index]
    above = np.where(highest > 0, up(np.abs(highest) / low(prices)), highest / prices.high * (1 - 4 * EPS))
    below = np.where(least > 0, least / prices.high * (1 - 4 * EPS), -up(np.abs(least) / low(prices)))
    return below, above


def low(prices: Enclosure) -> Array:
    """Return lower bounds of positive numbers."""
    return np.asarray(prices.mid - prices.rad if prices.rad.any() else prices.mid)


def sharper(
    statement: Statement, z: Enclosure, theta: Enclosure, support: Index
) -> tuple[Enclosure, tuple[Array, Array]]:
    """Return z with the rows of the best scores, which matter most, known to nearly all digits; and all scores.

    These rows of z itself are replaced: nobody else has seen it.
    """
    below, above = scores_of(statement, z)
    matters = statement.for_entries(above >= NEAR * statement.highest(below)).reshape(z.shape)
    matters[support] = True
    index = places_in(matters if matters.ndim == 1 else np.asarray(matters.any(axis=1)))
    if len(index) * theta.mid.size > SHARP:
        index = support
    if not len(index) or len(index) * theta.mid.size > SHARP:
        return z, (below, above)
    if theta.ndim == 1:
        sharp = -statement.design.sharp_adjoint(theta, index)
    else:
        outputs = range(theta.shape[1])
        sharp = -side_by_side([statement.design.sharp_adjoint(theta[:, k], index) for k in outputs])
    better = sharp.rad < z.rad[index]  # not where it overflows
    z.mid[index] = np.where(better, sharp.mid, z.mid[index])
    z.rad[index] = np.where(better, sharp.rad, z.rad[index])
    if not statement.single:
        return z, scores_of(statement, z)
    below[index], above[index] = scores_of(statement, z[index], index)
    return z, (below, above)
