"""What a ridge adds to a proof: the conjugate of penalty and ridge together, and intervals from the dual point alone.

With R_b the ridge of a block, times S like everything here, and t the slope of the penalty at the optimum,
`x*_b = (1 - t price_b / |z*_b|)_+ z*_b / R_b`. So bounds of z* and of t are bounds of x*, without any matrix.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from atomsieve.certificate.statement import Statement
from atomsieve.numerics.enclosures import LEAST, Enclosure, root, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask

if TYPE_CHECKING:
    from atomsieve.certificate.proof import Proof

BELOW = 1 - 16 * EPS
"""Factor by which a slope stays below that of a linear penalty, so that the comparison is certain."""


class Box(NamedTuple):
    """Bounds of the optimal coefficients, and which blocks are certainly not zero."""

    lower: Array
    upper: Array
    nonzero: Mask


def held(statement: Statement, ridges: Enclosure, x: Array, support: Index) -> Enclosure:
    """Return what the ridge charges for x; it is zero outside of the rows of the support."""
    own = ridges[statement.labels.reshape(x.shape)[support]]
    there = Enclosure.exact(x[support])
    return (own * there * there).sum() * 0.5


def answer(proof: "Proof", ridges: Enclosure, shrink: float) -> float:
    """Return an upper bound of the conjugate of penalty and ridge at the dual point, scaled by `shrink`.

    Every slope t gives an upper bound. Tried are the best one for the scores in floats and, unless the penalty is
    linear, one that no score exceeds.
    """
    statement = proof.statement
    if not statement.priced:
        return answer_beside(proof, ridges)
    problem = statement.problem
    assert problem.shrinkage is not None  # noqa: S101
    penalty, total, eligible = problem.penalty, statement.total, problem.eligible
    scores = np.where(eligible, proof.scores[1] * shrink / float(total.mid), -np.inf)
    pulls = Enclosure.exact(proof.pulls[1]) * Enclosure.exact(shrink)

    def at(slope: float) -> float:
        over = pulls - Enclosure.exact(slope) * total * statement.prices
        excess = np.where(eligible, np.maximum(over.high, 0.0), 0.0)
        blocks = np.flatnonzero(excess)
        beyond = Enclosure.exact(excess[blocks])
        charged = (beyond * beyond / ridges[blocks]).sum() * 0.5
        return float((total * statement.penalty.conjugate(Enclosure.exact(slope)) + charged).high)

    best = problem.shrinkage.conjugate(penalty, scores).slope
    if not penalty.superlinear:
        return at(best * BELOW)
    return min(at(best), at(max(best, float(scores.max(initial=0.0)) / BELOW)))


def answer_beside(proof: "Proof", ridges: Enclosure) -> float:
    """Return an upper bound of the same conjugate for a gauge without prices: `S phi*(t / S) + |z - w|^2 / (2 R)`.

    Every w with sigma(w) <= t gives one. At the optimum the best w is `z - R x`; for a linear penalty it may have to be
    a little shorter.
    """
    statement, z = proof.statement, proof.z
    dragged = ridges[statement.labels.reshape(proof.x.shape)] * Enclosure.exact(proof.x)
    sigma = float(np.max(proof.at(z - dragged).scores[1], initial=0.0))
    total, scale = statement.total, 1.0
    if not statement.problem.penalty.superlinear:
        slope = float((total * statement.penalty.first_slope).low)
        scale = 1.0 if sigma <= slope else slope / sigma * (1 - 8 * EPS)
    kept = Enclosure.exact(scale)
    left = z * (Enclosure.exact(1.0) - kept) + dragged * kept
    charged = (left * left / ridges[statement.labels.reshape(proof.x.shape)]).sum() * 0.5
    if not statement.problem.penalty.superlinear:
        return float(charged.high)
    return float((total * statement.penalty.conjugate(Enclosure.exact(sigma) / total) + charged).high)


def fitting_scale(proof: "Proof") -> float:
    """Return a scale of the dual point of a linear penalty at which no score is much higher than at the optimum."""
    problem = proof.statement.problem
    assert problem.shrinkage is not None  # noqa: S101
    scores = np.where(problem.eligible, proof.scores[1] / float(proof.statement.total.mid), -np.inf)
    sizes = problem.core.sizes(proof.x)
    return problem.shrinkage.fitting_scale(problem.penalty.slope(0.0), scores, sizes) * BELOW


def slopes(proof: "Proof", ridges: Enclosure) -> tuple[float, float]:
    """Return bounds of the slope of the penalty at the optimum, times S.

    A linear penalty has one slope. For others, the slope is the best score of `z - R x` at the optimum, and from a
    paired point that score moves by at most `sqrt(gap (spread^2 + 2 R / price^2))`.
    """
    statement = proof.statement
    first = statement.total * statement.penalty.first_slope
    if not statement.problem.penalty.superlinear:
        return float(first.low), float(first.high)
    if not statement.priced:
        return float(first.low), math.inf
    x = proof.x
    dragged = ridges[statement.labels.reshape(x.shape)] * Enclosure.exact(x)
    below, above = proof.at(proof.z - dragged).scores
    eligible = statement.problem.eligible
    atoms = (ridges / statement.prices / statement.prices).high
    away = root(up(proof.gap_bound * up(proof.spread[0] * proof.spread[0] + 2 * atoms)))
    least = np.where(eligible, below - away - 4 * EPS * (np.abs(below) + away), -np.inf)
    most = np.where(eligible, above + away + 4 * EPS * (np.abs(above) + away), -np.inf)
    low = float(np.fmax.reduce(least, initial=float(first.low)))  # a score that is not known bounds nothing from below,
    high = float(np.max(most, initial=float(first.high)))  # and leaves nothing bounded from above
    return low, math.inf if math.isnan(high) else high


def box(proof: "Proof", ridges: Enclosure) -> Box:
    """Return bounds of the optimal coefficients from the dual point; blocks without a price have none."""
    statement = proof.statement
    shape = proof.x.shape
    labels = statement.labels.reshape(shape)
    with np.errstate(all="ignore"):
        radius = root(np.asarray(proof.gap_bound))
        z = (proof.z * Enclosure.exact(proof.shrink)).widened(up(radius * proof.spread[1]))
        apart = up(radius * up(proof.spread[0] * statement.prices.high))
        least, most = (proof.shrink * pulls for pulls in proof.pulls)
        least = least - apart - 8 * EPS * (np.abs(least) + apart) - LEAST
        most = most + apart + 8 * EPS * (np.abs(most) + apart) + LEAST
        low, high = slopes(proof, ridges)
        weak, strong = low * statement.prices.low, high * statement.prices.high
        # the part of z* that is left: it grows with the norm
        larger = np.where(most <= weak, 0.0, np.fmin(1 - weak / most, 1.0))  # at most 1, where nothing is known
        smaller = np.where(least > strong, 1 - strong / least, 0.0)
        nonzero = least * (1 - 8 * EPS) > strong * (1 + 8 * EPS)
        upper = np.where(z.high > 0, larger[labels] * z.high, smaller[labels] * z.high)
        lower = np.where(z.low < 0, larger[labels] * z.low, smaller[labels] * z.low)
        blur = 64 * EPS * z.size  # parts are off by a few roundings of numbers that are at most 1
        # a pull that is exactly 0, of a constant column beside an intercept, is no claim for a checker to match
        blur = blur + EPS * EPS * np.max(z.size, where=np.isfinite(z.size), initial=0.0)
        upper, lower = upper + blur, lower - blur
        ends = (ridges.low[labels], ridges.high[labels])
        upper = np.where(upper > 0, upper / ends[0], upper / ends[1])
        lower = np.where(lower < 0, lower / ends[0], lower / ends[1])
        upper = upper + 4 * EPS * np.abs(upper) + 4 * LEAST
        lower = lower - 4 * EPS * np.abs(lower) - 4 * LEAST
    priced = statement.problem.eligible[labels]
    upper = np.where(priced & ~np.isnan(upper), upper, np.inf)
    lower = np.where(priced & ~np.isnan(lower), lower, -np.inf)
    return Box(lower, upper, np.asarray(nonzero & statement.problem.eligible))
