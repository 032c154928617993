"""A point of a proof: feasible coefficients, their gauge and their predictions."""

import math
from typing import NamedTuple

import numpy as np

from atomsieve.certificate.statement import Statement
from atomsieve.gauges.signs import admissible
from atomsieve.numerics.enclosures import Enclosure, Uncertain, up
from atomsieve.numerics.places import support_of
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index

SHARP = 1 << 25
"""Largest number of entries for which products are computed in twice the precision."""


class Feasible(NamedTuple):
    """A point in the domain of the penalty."""

    x: Array
    b: Array
    """The best free coefficients in the frame, as far as floats tell."""

    image: Enclosure | None
    """The predictions of x alone; None if nobody has needed them."""


def feasible(statement: Statement, x: Array, coordinates: Array) -> Feasible:
    """Return x, shrunk until its gauge is certainly in the domain of the penalty, and the best free coefficients."""
    problem = statement.problem
    eligible = statement.for_entries(problem.eligible).reshape(x.shape)
    x = x.copy() if eligible.all() else np.where(eligible, x, 0.0)
    x = admissible(x.ravel(), statement.signs).reshape(x.shape)
    limit, limits = problem.penalty.limit, statement.limits
    x = x if limits is None else limits.clip(x)
    if not np.isfinite(x).all():
        raise Uncertain("the coefficients are not finite in double precision")
    x = problem.core.settled(x)
    for _ in range(100):
        if limit == np.inf or math.isfinite(float(statement.penalty.value(mass_of(statement, x)).high)):
            break
        most, least = float(mass_of(statement, x).high), 0.0 if limits is None else limits.least_mass
        part = min((limit - least) / (most - least), 1.0) * (1 - 4 * EPS)
        x = part * x if limits is None else limits.shrunk(x, part)
    if problem.span is None:
        return Feasible(x, np.zeros((0, *problem.outputs)), None)
    support = support_of(x if x.ndim == 1 else x.any(axis=1))
    image = image_of(statement, x, support)
    b = statement.frame.best(x, support, image.mid, coordinates)
    for column, of, times in statement.sums:
        b[of] += times.reshape(-1, *[1] * (b.ndim - 1)) * b[column]
        b[column] = 0.0
    if problem.outputs:  # losses of several classes see differences only
        b = b - b.mean(axis=1, keepdims=True)
    if not np.isfinite(b).all():
        raise Uncertain("the free coefficients are not finite in double precision")
    return Feasible(x, b, image)


def mass_of(statement: Statement, x: Array) -> Enclosure:
    """Return the gauge of x."""
    if statement.parts is not None and x.any():
        return Enclosure.exact(statement.parts.weights).sum()
    if not statement.priced:
        return statement.problem.core.enclose_sizes(x).sum()
    flat = x.ravel()
    if statement.plain:
        blocks = support_of(flat)
        norms = Enclosure.exact(np.abs(flat[blocks]))
    else:
        sizes = np.abs(flat)
        blocks = np.unique(statement.labels[support_of(sizes)])
        high = statement.block_norms(sizes)[blocks]
        low = statement.least_norms(sizes)[blocks]
        norms = Enclosure((high + low) / 2, up((high - low) / 2 + EPS * high))
    return (norms if statement.free_of_prices else norms * statement.prices[blocks]).sum()


def image_of(statement: Statement, x: Array, support: Index) -> Enclosure:
    """Return the predictions of x alone."""
    if x[support].size * len(statement.counts) > SHARP:
        return statement.design.enclose(Enclosure.exact(x[support]), support)
    if x.ndim == 1:
        return statement.design.sharp(x[support], support)
    return side_by_side([statement.design.sharp(column, support) for column in x[support].T])


def side_by_side(columns: list[Enclosure]) -> Enclosure:
    """Return vectors as the columns of a matrix."""
    return Enclosure(np.stack([v.mid for v in columns], axis=1), np.stack([v.rad for v in columns], axis=1))
