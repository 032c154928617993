"""The best free coefficients at a point, enclosed: intercept, `free`, unpenalised columns."""

import math

import numpy as np

from atomsieve.certificate.classes import Shared
from atomsieve.certificate.gram import Plain, Rows, inverse_of
from atomsieve.certificate.statement import Statement
from atomsieve.losses.bounds import Sight
from atomsieve.numerics.enclosures import LEAST, Enclosure, Uncertain, gamma, norm, quiet, root, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index


def seen(statement: Statement, image: Enclosure, b: Array) -> Sight:
    """Return what the samples show at the exact minimiser over the free coefficients, with no or one by the core."""
    samples, used = (statement.y, statement.counts), statement.used
    if image.ndim == 1 and len(used) < 2:
        column, coefficient = None, 0.0
        if statement.problem.span is not None and len(used):
            free = scaled_columns(statement, used)[:, 0]
            column, coefficient = free, float(b[used[0]] / statement.free_scale[used[0]])
        found = statement.loss.seen(image, column, coefficient, samples)
        if found is not None:
            return found
    u, shift, slopes = with_free(statement, image, b)
    theta = slopes * statement.weights_of(slopes.ndim)
    losses = (statement.loss.values(u, slopes, statement.y) * Enclosure.exact(statement.counts)).sum()
    return Sight(shift, slopes, theta, losses)


def with_free(statement: Statement, image: Enclosure, b: Array) -> tuple[Enclosure, float, Enclosure]:
    """Return the predictions at the exact minimiser over the free coefficients, how far that is from b, and slopes.

    Let the Hessian be at least lambda on a ball around b. If the gradient at b is shorter than lambda times the radius,
    then the minimiser lies within `norm(gradient) / lambda` of b. Columns are scaled to entries of at most about 1.

    Several classes have no best b, but a best one among those with the same sum over the classes. A change is known by
    its entries for all classes but one, the base; that of the base is minus their sum.
    """
    loss, y = statement.loss, statement.y
    if statement.problem.span is None:
        return image, 0.0, loss.slopes(image, y)
    used = statement.used
    scale, free = statement.free_scale[used], scaled_columns(statement, used)
    u = image + _product(free, b[used] / scale.reshape(-1, *[1] * (b.ndim - 1)))
    middle = loss.slopes(Enclosure.exact(u.mid) if u.ndim == 1 else u, y)
    bend = loss.curvature(u, y) if u.ndim == 1 else None
    theta = (middle if bend is None else loss.moved(middle, u.rad, bend)) * statement.weights_of(u.ndim)
    size = norm(_gradient(free, theta))
    # entries are at most about 1: their squares do not overflow
    one = len(used) == 1
    lengths = free.size[:, 0] if one else root(up((free.size**2).sum(axis=1) * (1 + gamma(len(used) + 2))))
    reach = lengths if u.ndim == 1 else np.tile(up(lengths * math.sqrt(u.shape[1]))[:, None], u.shape[1])
    with quiet():
        guess = _least_eigenvalue(_curved(statement, free, u, bend))
        for radius in (4.0, 64.0, 2.0**20):
            if guess is None:
                break
            ball = max(radius * size / guess, 1e-300)
            around = u.widened(reach * ball)
            bend = loss.curvature(around, y) if u.ndim == 1 else None
            least = _least_eigenvalue(_curved(statement, free, around, bend))
            if least is not None and size < least * ball * (1 - 2.0**-40):
                shift = float(up(size / least * (1 + 2.0**-40)))
                u = u.widened(up(reach * shift))
                # the minimiser lies in the ball, and so do the curvatures on the way
                return u, shift, loss.slopes(u, y) if bend is None else loss.moved(middle, u.rad, bend)
    raise Uncertain("the best free coefficients (intercept) could not be enclosed")


def scaled_columns(statement: Statement, used: Index) -> Enclosure:
    """Return free columns, scaled to entries of at most about 1: by powers of two, exact but for what underflows."""
    free, scale = statement.unpenalised[:, used], statement.free_scale[used]
    with quiet():
        mid, rad = free.mid * scale, free.rad * scale
        lost = (mid / scale != free.mid) | (rad / scale != free.rad)
        return Enclosure(mid, np.where(lost, up(rad + LEAST), rad) if lost.any() else rad)


def _gradient(free: Enclosure, theta: Enclosure) -> Array:
    """Return upper bounds of the entries of the gradient; with several classes, less that of the last one."""
    each = [free[:, k] for k in range(free.shape[1])]
    if theta.ndim == 1:
        return np.array([float((column * theta).sum().size) for column in each])
    *others, base = (theta[:, c] for c in range(theta.shape[1]))
    return np.array([float((column * (other - base)).sum().size) for column in each for other in others])


def _curved(statement: Statement, free: Enclosure, u: Enclosure, bend: Enclosure | None) -> Rows:
    """Return rows whose squares bound the Hessian in the free coefficients from below, at all enclosed predictions.

    For one output, the curvatures there are `bend`.
    """
    loss, y, counts = statement.loss, statement.y, statement.counts
    if bend is not None:
        return Plain(free, np.asarray(counts * np.fmax(bend.low, 0.0) * (1 - 8 * EPS)))
    slopes = loss.slopes(u, y)
    return Shared.coded(free, loss.shares(slopes.low, slopes.high, y), counts)


def _least_eigenvalue(rows: Rows) -> float | None:
    """Return a lower bound of the smallest eigenvalue of `C' diag(w) C`, or None if none is proven.

    The smallest eigenvalue is 1 / (norm of the inverse), and the trace of the inverse bounds that norm.
    """
    if isinstance(rows, Plain) and rows.shape[1] == 1:
        return _square_from_below(rows)
    inverse = inverse_of(rows)
    if inverse is None:
        return None
    trace = float(up(inverse.diagonal.sum() * (1 + float(gamma(rows.shape[1])))))
    return 1 / trace * (1 - 4 * EPS) if trace > 0 else None


def _square_from_below(rows: Plain) -> float | None:
    """Return a lower bound of the square of a single column, None if it may be 0 or has overflowed.

    Sizes are rounded twice and products three times; none is larger than the weight where entries are at most about 1.
    """
    n, least = len(rows.weights), rows.columns.sizes()[0]
    underflow = 4 * n * LEAST * (1 + float(rows.weights.max()))
    square = float(rows.weights @ (least * least)) * (1 - float(gamma(n + 12))) - underflow
    return square * (1 - 8 * EPS) if 1e-280 < square < math.inf else None


def _product(columns: Enclosure, b: Array) -> Enclosure:
    """Return C b."""
    each = [columns[:, k] if b.ndim == 1 else columns[:, k][:, None] for k in range(len(b))]
    terms = [column * Enclosure.exact(number) for column, number in zip(each, b, strict=True)]
    return sum(terms[1:], start=terms[0]) if terms else Enclosure.exact(np.zeros((len(columns), *b.shape[1:])))
