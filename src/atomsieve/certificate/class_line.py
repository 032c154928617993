"""How the point of a proof moves with the slope of the penalty, for several classes.

As in line.py, with predictions `u + t g` for g = C l. With the probabilities p at the point, slopes are

    t(u + t g)_c = t_c + t p_c (g_c - p . g),   off by at most   h^2 / 2 p_c exp(3 h D) max(m_c^2, V),

for t up to h, D the largest difference of g over two classes, `m_c = sum_d p_d |g_c - g_d|` and V the variance of g:
the second derivative of p_c is `p_c ((g_c - p . g)^2 - V)`, and no probability grows by more than `exp(h D)`. They move
by at most `h p_c exp(2 h D) m_c` in all.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from atomsieve.certificate.classes import Shared
from atomsieve.certificate.line import bends, image, products, turning, turning_blocks
from atomsieve.numerics import balls
from atomsieve.numerics.enclosures import LEAST, Enclosure, Uncertain, gamma, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index

if TYPE_CHECKING:
    from atomsieve.certificate.class_face import ClassFace, ClassPlace

IN_ALL_CLASSES = "no line is known for ranges of strengths where l1 leaves a feature in all classes"


@dataclass(frozen=True, eq=False)
class ClassLine:
    """Where the point moves with the slope of the penalty, per unit of it, and what the line leaves."""

    step: float
    """Half of the range of slopes."""

    p: Array
    """By features and classes; the sums over the classes are 0 but for rounding where columns are differences."""

    change: Enclosure
    """How z falls along the line, as if losses were quadratic."""

    rest: Enclosure
    """What the line leaves of `delta`, per unit of the slope, by columns."""

    turn: Array
    """Bounds of what the turning of blocks adds to `delta`, by features of A and classes, flattened."""

    growth: Array
    """How much larger probabilities of a sample can be on the line."""

    swing: Array
    """How far slopes move along the line."""

    off: Array
    """How far slopes can be from the straight line."""


def still(face: "ClassFace", place: "ClassPlace") -> ClassLine:
    """Return the line of a point that stays where it is."""
    (n, classes), none = place.tops.shape, np.zeros(place.tops.shape)
    z, k = Enclosure.exact(np.zeros(face.nominal.z.shape)), len(place.names)
    rest = Enclosure.exact(np.zeros(place.rows.shape[1]))
    turn = np.zeros(len(place.left.features) * classes)
    return ClassLine(0.0, np.zeros((k, classes)), z, rest, turn, np.ones(n), none, none)


def class_line(face: "ClassFace", place: "ClassPlace") -> ClassLine:
    """Return the line of optima at a point."""
    if not face.step or place.inverse is None:
        return replace(still(face, place), step=face.step)
    if place.left.unknown.any():
        raise Uncertain(IN_ALL_CLASSES)
    statement, rows, first, classes = face.statement, place.rows, len(face.statement.used), place.tops.shape[1]
    index = entries_of(place)
    p = direction(face, place, index)
    along = face.along(index)
    blocks = turning_blocks(face, index)
    turned, turn = turning(face, index, p[first:].ravel(), blocks)
    share = face.nominal.slopes + (np.arange(classes) == statement.y[:, None]).astype(float)
    g = image(rows.features, p)
    bend = (g - balls.sum(share * g, axis=1)[:, None]) * share * statement.weights_of(2)
    pulled = [products(rows.features, bend[:, c]) for c in range(classes)]
    rest = Enclosure(np.stack([v.mid for v in pulled], axis=1), np.stack([v.rad for v in pulled], axis=1))
    own = along + turned
    if statement.ridges is not None:
        own = own + statement.ridges[statement.labels[index]] * Enclosure.exact(p[first:].ravel())
    rest = rows.of_columns(rest + _below(own, first, classes))
    carried = carried_columns(face, place, index)
    rest = Enclosure(np.where(carried, rest.mid, 0.0), np.where(carried, rest.rad, 0.0))
    change = statement.design.enclose_adjoint(bend, statement.lengths)
    return ClassLine(face.step, p, change, rest, turn, *_bounds(g, share.high, face.step))


def entries_of(place: "ClassPlace") -> Index:
    """Return all classes of the features of A that are alive, as entries of x, flattened."""
    classes = place.tops.shape[1]
    return np.asarray((place.left.features[:, None] * classes + np.arange(classes)).ravel())


def carried_columns(face: "ClassFace", place: "ClassPlace", index: Index) -> Array:
    """Return which columns are free, or in blocks that are not zero at the point."""
    rows, first, classes = place.rows, len(face.statement.used), place.tops.shape[1]
    carries = np.vstack([np.ones((first, classes), dtype=bool), face.carries(index).reshape(-1, classes)])
    return np.asarray(carries[rows.feature, rows.plus])


def direction(face: "ClassFace", place: "ClassPlace", index: Index) -> Array:
    """Return the direction of the line, by features and classes, in floats."""
    statement, rows, first, classes = face.statement, place.rows, len(face.statement.used), place.tops.shape[1]
    slopes = face.nominal.slopes.mid + (np.arange(classes) == statement.y[:, None])
    hessian = replace(rows, shares=np.clip(slopes, 0.0, 1.0)).products().gram
    map_ = _map(rows, first, classes)
    hessian = hessian + map_.T @ bends(face, index, turning_blocks(face, index)) @ map_
    carried = np.flatnonzero(carried_columns(face, place, index))
    towards, p = map_.T @ face.along(index).mid, np.zeros(rows.shape[1])
    p[carried] = -np.linalg.lstsq(hessian[np.ix_(carried, carried)], towards[carried], rcond=None)[0]
    every = np.zeros((rows.features.shape[1], classes))
    every[rows.feature, rows.plus] += p
    coded = np.flatnonzero(rows.minus >= 0)
    np.add.at(every, (rows.feature[coded], rows.minus[coded]), -p[coded])
    return every


def _map(rows: Shared, first: int, classes: int) -> Array:
    """Return how columns become entries of x: 1 in their class, -1 in the last one."""
    whole = np.zeros((rows.features.shape[1], classes, rows.shape[1]))
    every = np.arange(rows.shape[1])
    whole[rows.feature, rows.plus, every] = 1.0
    coded = np.flatnonzero(rows.minus >= 0)
    whole[rows.feature[coded], rows.minus[coded], coded] = -1.0
    return np.asarray(whole[first:].reshape(-1, rows.shape[1]))


def _below(values: Enclosure, first: int, classes: int) -> Enclosure:
    """Return numbers for features of A below zeros for columns of B."""
    free = np.zeros((first, classes))
    mid, rad = (np.vstack([free, part.reshape(-1, classes)]) for part in (values.mid, values.rad))
    return Enclosure(mid, rad)


def _bounds(g: Enclosure, share: Array, step: float) -> tuple[Array, Array, Array]:
    """Return how much probabilities grow along the line, how far slopes move, and how far they are off a line."""
    classes, p = share.shape[1], np.clip(share, 0.0, 1.0)
    means, far, variance = np.zeros(p.shape), np.zeros(len(p)), np.zeros(len(p))
    for c in range(classes):
        for d in range(c):
            apart = (g[:, c] - g[:, d]).size
            means[:, c] += p[:, d] * apart
            means[:, d] += p[:, c] * apart
            far = np.maximum(far, apart)
            variance += p[:, c] * p[:, d] * apart * apart
    lost = (1 + gamma(classes * classes + 8)) * (1 + 64 * EPS)
    growth = np.asarray(up(np.exp(up(far * step)) * (1 + 32 * EPS)))
    means, variance = up(means * lost), up(variance * lost)
    swing = up(p * means * (step * growth * growth)[:, None] * lost + LEAST)
    bent = np.maximum(means * means, variance[:, None]) * (step * step / 2 * growth**3)[:, None]
    return growth, np.asarray(swing), np.asarray(up(p * bent * lost + LEAST))
