"""From a point to a proof: its objective, its dual point and the gap between them, in spite of rounding."""

import math
from collections.abc import Callable

import numpy as np

from atomsieve.certificate import elastic, limited
from atomsieve.certificate.free import seen
from atomsieve.certificate.point import image_of, mass_of
from atomsieve.certificate.proof import Proof
from atomsieve.certificate.scores import sharper
from atomsieve.certificate.statement import Statement
from atomsieve.numerics.enclosures import Enclosure, Uncertain, quiet, up
from atomsieve.numerics.places import support_of
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array

SLACK = 1 + 2.0**-9
"""Factor by which the gap in the claims is enlarged; the interval of the objective is widened by the same amount. A
checker with slightly weaker bounds can then still confirm the claims."""

NEARLY = 1 + 2.0**-10
"""Factor by which a gap may be too large before it is computed from conjugates, which takes longer: half the slack."""


def prove(statement: Statement, x: Array, b: Array, image: Enclosure | None = None) -> Proof:
    """Evaluate gap, scores and objective at a point, with error bounds; raise Uncertain if that fails.

    The predictions of x alone may be known.
    """
    blur = statement.blur(x)
    sizes = x if blur is None else Enclosure(x, blur).size
    support = support_of(sizes if x.ndim == 1 else sizes.any(axis=1))
    image = image_of(statement, x, support) if image is None else image
    if blur is not None:
        image = image + statement.design.enclose(Enclosure(0 * x[support], blur[support]), support)
    offset = statement.frame.offset
    shift, slopes, theta, losses = seen(statement, image if offset is None else image + offset, b)
    mass = mass_of(statement, x)
    with quiet():
        z, scores = sharper(statement, statement.pulled(theta), theta, support)
    sigma = statement.highest(scores[1])
    unscaled = Proof(statement, x, b, slopes, z, shift, sigma, 1.0, mass, np.inf, (z, scores))
    charge = statement.total * statement.penalty.value(mass)
    if statement.ridges is not None:
        charge = charge + elastic.held(statement, statement.ridges, x, support)
    objective = losses + charge
    held = Enclosure.exact(x[support]) if blur is None else Enclosure(x[support], blur[support])
    pull = (held * z[support]).sum()

    def gap_at(shrink: float, answer: float) -> float:
        if shrink == 1:
            return float((charge + Enclosure.exact(answer) - pull).high)
        tangent = charge + Enclosure.exact(answer) - pull * Enclosure.exact(shrink)
        scaled = float(up(max(float(tangent.high), 0.0) + scaling_cost(statement, slopes, shrink)))
        if scaled <= float(tangent.low) * NEARLY:  # the gap is not smaller than that, however it is computed
            return scaled
        conjugate = _dual_loss(unscaled, theta, shrink)
        return min(float((objective + conjugate + Enclosure.exact(answer)).high), scaled)  # which may be NaN

    if statement.limits is None:
        gap, shrink = _best_gap(unscaled, gap_at)
    else:
        gap, shrink = limited.best_gap(unscaled, statement.limits, mass, gap_at)
    if not math.isfinite(gap):
        raise Uncertain("the gap is not finite in double precision")
    gap = float(up(max(gap, 0.0) * SLACK))
    objective = objective.widened(gap * (SLACK - 1))
    return Proof(statement, x, b, slopes, z, shift, sigma, shrink, objective, gap, (z, scores))


def _best_gap(unscaled: Proof, gap_at: Callable[[float, float], float]) -> tuple[float, float]:
    """Return the gap and the scale of the dual point at which it is reached: 1, unless a linear penalty needs another.

    `gap_at` returns the gap for a scale and an upper bound of the conjugate of penalty and ridge there.
    """
    statement = unscaled.statement
    sigma, ridges, penalty = unscaled.sigma, statement.ridges, statement.penalty
    if ridges is None:
        answer = float((statement.total * penalty.conjugate(Enclosure.exact(sigma) / statement.total)).high)
        if math.isfinite(answer):
            return gap_at(1.0, answer), 1.0
        slope = float((statement.total * penalty.first_slope).low)
        shrink = max(slope / sigma * (1 - 8 * EPS), 0.0) if sigma > 0 else 0.0
        return gap_at(shrink, 0.0), shrink
    gap = gap_at(1.0, elastic.answer(unscaled, ridges, 1.0))
    if statement.problem.penalty.superlinear or not statement.priced:
        return gap, 1.0
    shrink = elastic.fitting_scale(unscaled)
    scaled = gap_at(shrink, elastic.answer(unscaled, ridges, shrink))
    return (scaled, shrink) if 2 * scaled < gap else (gap, 1.0)


def scaling_cost(statement: Statement, slopes: Enclosure, shrink: float) -> float:
    """Return an upper bound of how far the conjugates of the losses, at scaled slopes, are above their tangents.

    Let `loss'(u) = t`, and `loss'' >= m` for slopes from `shrink t` to t. With `e = 1 - shrink`,
    `conjugate(shrink t) <= t u - loss(u) - e t u + (e t)^2 / (2 m)`, for the derivative of the conjugate at t is u, and
    its second derivative is 1 / loss''. In the sum over the samples with their weights, `t u - loss(u)` cancels against
    the losses at the point and `shrink t u` is the product of x with the scaled z.
    """
    if slopes.ndim > 1:
        return math.inf
    total = statement.loss.stiffness(slopes, shrink, statement.y, statement.counts)
    return float(up(total / 2 * float(up(1 - shrink)) ** 2))


def _dual_loss(unscaled: Proof, theta: Enclosure, shrink: float) -> Enclosure:
    """Return an upper bound of the conjugate of the loss at the dual point, scaled; without what an offset adds."""
    statement = unscaled.statement
    dual = statement.loss.dual_sum(unscaled.slopes, shrink, statement.y, statement.counts)
    offset = statement.frame.offset
    return dual if offset is None else dual - (theta * Enclosure.exact(shrink) * offset).sum()
