"""Which blocks are zero in every solution: those whose scores stay below the slope of the penalty."""

import math
from typing import TYPE_CHECKING

import numpy as np

from atomsieve.certificate.point import SHARP
from atomsieve.certificate.scores import low
from atomsieve.gauges.signs import some
from atomsieve.numerics.enclosures import Enclosure, quiet, root, up
from atomsieve.numerics.places import places_in
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask

if TYPE_CHECKING:
    from atomsieve.certificate.proof import Proof


def zero_blocks(proof: "Proof") -> Mask:
    """Return the blocks that are zero in every solution."""
    statement = proof.statement
    if proof.values is not None:
        return proof.values.zero
    eligible, slope = statement.problem.eligible, proof.least_slope
    if statement.ridges is not None and statement.decides:
        return np.asarray((proof.optimal_scores[1] < slope) & eligible)
    with quiet():
        out = _below(proof, slope) if statement.single else _stay_below(proof, slope, proof.scores[1], proof.spread[0])
        if statement.ridges is not None:  # zero if and only if the score is at most the slope
            return np.asarray(out & eligible)
        if statement.priced and statement.problem.core.entrywise and not statement.problem.outputs:
            left = places_in(~out)
            left = left[eligible[left] & (proof.x.ravel()[left] == 0)]
            if len(left):
                out[left] = proof.beaten(left)
    return np.asarray(out & eligible)


def _stay_below(proof: "Proof", slope: float, above: Array, spread: Array) -> Mask:
    """Return where scores are below a slope at the optimum, from bounds of them at the point and of spreads."""
    return np.asarray(above + up(proof.radius * spread) + 2 * EPS * np.abs(above) < slope)


def _below(proof: "Proof", slope: float) -> Mask:
    """Return the coordinates whose scores are below a slope at the optimum.

    The length of the longest column, in the largest curvature, clears nearly all of them at once: a score that is
    below `(slope - radius * spread) / shrink`, rounded down. Those that are left are looked at one by one.
    """
    statement, above = proof.statement, proof.unscaled_scores[1]
    metric = up(statement.counts * proof.curvatures[1])
    prices = None if statement.free_of_prices else low(statement.prices)
    cheapest = 1.0 if prices is None else float(np.min(prices, where=statement.problem.eligible, initial=np.inf))
    least, most = float(metric.min()), float(metric.max())
    widest = float(up(float(statement.lengths.max()) * math.sqrt(most) * (1 + 4 * EPS)))
    room = (slope - float(up(proof.radius * up(widest / cheapest)))) * (1 - 8 * EPS)
    bound = room / proof.shrink * (1 - 8 * EPS) if proof.shrink > 0 else 0.0
    out = np.asarray(above < bound) if bound > 0 else np.zeros(len(above), dtype=bool)
    index = places_in(~out)
    for lengths in (statement.widest, statement.spreads):
        if not len(index):
            break
        spread = lengths(metric, index if 4 * len(index) < len(out) else None)
        spread = spread[index] if len(spread) > len(index) else spread
        spread = spread if prices is None else up(spread / prices[index])
        scores = proof.from_above(above[index])
        out[index] = _stay_below(proof, slope, scores, spread)
        # no length in the metric is shorter than this, so that most of those that are left are not worth a look
        shortest = spread * math.sqrt(least / most) if least > 0 else 0.0
        index = index[~out[index] & (scores + proof.radius * shortest < slope)] if least < most else index[:0]
    return out


def beaten(proof: "Proof", index: Index) -> Mask:
    """Return which coordinates the best atom rules out by the pairwise rule, with the distance of the images."""
    statement, signed, out = proof.statement, proof.statement.signs, np.zeros(len(index), dtype=bool)
    if not len(index):
        return out
    below = proof.unscaled_scores[0]
    q = np.array([np.where(statement.problem.eligible, below, -np.inf).argmax()])
    best = float(proof.from_below(below[q])[0])
    if not best > 0:
        return out
    metric = up(statement.counts * proof.curvatures[1])
    inverse, own = (Enclosure.exact(1.0) / statement.prices[which] for which in (index, q))
    sign = Enclosure.exact(math.copysign(1.0, proof.z.mid[q[0]]))
    image = statement.design.enclose_columns(q)[:, 0] * sign * own
    cross = _products(proof, image * Enclosure.exact(metric), index) * inverse
    length = up(statement.spreads(metric, index) * inverse.size)
    squares = up(length * length + up(statement.spreads(metric, q) * own.size) ** 2)
    along = proof.z[index] * inverse * Enclosure.exact(proof.shrink)
    for side in (1.0,) if signed is False else (1.0, -1.0):
        towards = Enclosure(side * cross.mid, cross.rad)
        apart = root(np.maximum(squares - 2 * towards.low, 0.0) + 8 * EPS * (squares + 2 * np.abs(towards.low)))
        highest = Enclosure(side * along.mid, along.rad).high + up(proof.radius * apart) * (1 + 4 * EPS)
        behind = highest + 4 * EPS * np.abs(highest) < best
        out = behind if side == 1.0 else out & (behind | np.logical_not(some(signed, index)))
    return np.asarray(out & (index != q))


def _products(proof: "Proof", image: Enclosure, index: Index) -> Enclosure:
    """Return the products of some columns with a vector."""
    design = proof.statement.design
    if len(index) * len(image) > SHARP:
        return design.enclose_adjoint(image, proof.statement.lengths)[index]
    return design.sharp_adjoint(image, index)
