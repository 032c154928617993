"""How the point of a proof moves with the slope of the penalty: along the line of optima, as far as that is straight.

With w the subgradient of the gauge at x, and t the difference of the slope to the stated one, sigma, optima obey
`-C' theta - R x = (sigma + t) w(x)`, R the ridge. So to first order they are `p + t l` with

    (C' diag(s D) C + R + sigma H) l = -w,

where D are curvatures at the point and H is the derivative of w: 0 for coordinates, and `price / |x| (1 - n n')` for a
block with the direction n = x / |x|. Any l would do for the proof. What it leaves is linear in t, but for the curvature
of losses (`off`) and for the turning of blocks: with `q = |x| |l - n (n . l)|` and r the least norm on the way,

    |(sigma + t) w(x + t l) - (sigma + t) w(x) - t sigma H l| <= price t^2 (sigma |l| q / r^3 + q / r^2),

since the part of l across x(t) is q / |x(t)| long, and the second derivative of x(t) / |x(t)| at most `2 |l| q / r^3`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from atomsieve.numerics.enclosures import LEAST, Enclosure, Uncertain, gamma, norm, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index

if TYPE_CHECKING:
    from atomsieve.certificate.face import Face, Place

REACHES_ZERO = "the range of strengths is too wide: a coefficient reaches zero within it"


@dataclass(frozen=True, eq=False)
class Line:
    """Where the point moves with the slope of the penalty, per unit of it, and how far."""

    step: float
    """Half of the range of slopes: the point moves by up to as much in both directions."""

    p: Array
    u: Enclosure
    """The predictions of p."""

    curvature: Array
    """Curvatures near those at the point, as floats."""

    change: Enclosure
    """How z falls along the line, as if losses were quadratic."""

    rest: Enclosure
    """What the line leaves of `delta`, per unit of the slope."""

    turn: Array
    """Bounds of what the turning of blocks adds to `delta`, for all of the range."""

    def off(self, least: Array, most: Array) -> Array:
        """Return how much the slopes of samples can be off the line, over the step."""
        bent = np.maximum(np.abs(most - self.curvature), np.abs(self.curvature - least)) * (1 + 4 * EPS)
        none = (bent == 0) | (self.u.size == 0) | (not self.step)
        return np.where(none, 0.0, up(up(bent * self.u.size) * self.step))


def still(face: "Face", place: "Place", step: float = 0.0) -> Line:
    """Return the line of a point that stays where it is."""
    n, k = place.columns.shape
    none, zeros = Enclosure.exact(np.zeros(n)), Enclosure.exact(np.zeros(face.nominal.z.shape))
    return Line(step, np.zeros(k), none, np.zeros(n), zeros, Enclosure.exact(np.zeros(k)), np.zeros(len(place.index)))


def line_of(face: "Face", place: "Place") -> Line:
    """Return the line of optima at a point."""
    if not face.step or place.inverse is None:
        return still(face, place, face.step)
    statement, t, first = face.statement, face.nominal.slopes, len(place.kept)
    middle = np.mean(statement.loss.curvatures(t.low, t.high, statement.y), axis=0)
    towards = _after(first, face.along(place.index))
    blocks = turning_blocks(face, place.index)
    p = _direction(face, place, statement.counts * middle, towards.mid, blocks)
    columns = place.columns
    u = image(columns, p)
    bend = u * Enclosure.exact(middle) * Enclosure.exact(statement.counts)
    rest = towards + products(columns, bend)
    if statement.ridges is not None:
        own = statement.ridges[statement.labels[place.index]]
        rest = rest + _after(first, own * Enclosure.exact(p[first:]))
    turned, turn = turning(face, place.index, p[first:], blocks)
    carried = np.append(np.ones(first, dtype=bool), face.carries(place.index))
    rest = rest + _after(first, turned)
    rest = Enclosure(np.where(carried, rest.mid, 0.0), np.where(carried, rest.rad, 0.0))
    change = statement.design.enclose_adjoint(bend, statement.lengths)
    return Line(face.step, p, u, middle, change, rest, turn)


def derivative(face: "Face") -> float:
    """Return the derivative of the gauge of the optima by the slope of the penalty, in floats; it is not positive."""
    statement, t = face.statement, face.nominal.slopes
    curvatures = statement.loss.curvatures(t.low, t.high, statement.y)
    place = face.place(face.held, *curvatures)
    towards = np.append(np.zeros(len(place.kept)), face.along(place.index).mid)
    if not len(place.index):
        return 0.0
    weights = statement.counts * np.mean(curvatures, axis=0)
    return min(float(towards @ _direction(face, place, weights, towards, turning_blocks(face, place.index))), 0.0)


def _direction(face: "Face", place: "Place", weights: Array, towards: Array, blocks: list[Index]) -> Array:
    """Return the direction of the line, in floats."""
    first, columns = len(place.kept), place.columns.mid
    hessian = columns.T @ (weights[:, None] * columns)
    hessian[first:, first:] += bends(face, place.index, blocks)
    carried = np.append(np.arange(first), first + np.flatnonzero(face.carries(place.index)))
    p = np.zeros(len(towards))
    p[carried] = -np.linalg.lstsq(hessian[np.ix_(carried, carried)], towards[carried], rcond=None)[0]
    return p


def bends(face: "Face", index: Index, blocks: list[Index]) -> Array:
    """Return `R + sigma H` for some entries of x, in floats."""
    statement, x = face.statement, face.nominal.x.ravel()[index]
    used = statement.labels[index]
    found = np.zeros((len(index), len(index)))
    if statement.ridges is not None:
        np.fill_diagonal(found, statement.ridges.mid[used])
    for rows in blocks:
        length = np.linalg.norm(x[rows])
        unit, price = x[rows] / length, float(statement.prices.mid[used[rows[0]]])
        found[np.ix_(rows, rows)] += (np.eye(len(rows)) - np.outer(unit, unit)) * (
            float(face.slope.mid) * price / length
        )
    return found


def turning_blocks(face: "Face", index: Index) -> list[Index]:
    """Return the places of blocks of several entries that are not zero at the point."""
    used = face.statement.labels[index]
    if face.statement.plain:
        return []
    many = np.bincount(used, minlength=len(face.held))
    return [np.flatnonzero(used == g) for g in np.flatnonzero((many > 1) & face.held)]


def turning(face: "Face", index: Index, p: Array, blocks: list[Index]) -> tuple[Enclosure, Array]:
    """Return `sigma H l`, and bounds of what the turning of blocks is off that; raise Uncertain if one reaches 0."""
    statement, x = face.statement, face.nominal.x.ravel()[index]
    used = statement.labels[index]
    mid, rad, turn = np.zeros(len(p)), np.zeros(len(p)), np.zeros(len(p))
    alone = np.ones(len(p), dtype=bool)
    high, least = face.norms
    for rows in blocks:
        g, alone[rows] = used[rows[0]], False
        size = Enclosure((high[g] + least[g]) / 2, up((high[g] - least[g]) / 2 + EPS * high[g]))
        unit, along, price = Enclosure.exact(x[rows]) / size, Enclosure.exact(p[rows]), statement.prices[g]
        across = along - unit * (unit * along).sum()
        length, sweep = norm(np.abs(p[rows])), up(norm(across.size) * high[g])
        room = (least[g] - up(face.step * length)) * (1 - 4 * EPS)
        if not room > 0:
            raise Uncertain(REACHES_ZERO)
        turned = across / size * price * face.slope
        mid[rows], rad[rows] = turned.mid, turned.rad
        bent = up(float(up(face.slope.high)) * length * sweep / room**3 + sweep / room**2)
        turn[rows] = up(up(float(price.high) * face.step**2 * bent) * (1 + 64 * EPS) + LEAST)
    if (np.abs(x) < up(face.step * np.abs(p)))[alone & (p != 0)].any():
        raise Uncertain(REACHES_ZERO)
    return Enclosure(mid, rad), turn


def image(columns: Enclosure, p: Array) -> Enclosure:
    """Return the predictions of coefficients that are floats: a vector, or one column for each class."""
    sizes = np.abs(p)
    return Enclosure(columns.mid @ p, up(columns.rad @ sizes + gamma(len(p) + 4) * (columns.size @ sizes)))


def products(columns: Enclosure, v: Enclosure) -> Enclosure:
    """Return the products of columns with a vector."""
    n = len(v)
    rad = columns.size.T @ v.rad + columns.rad.T @ v.size + gamma(n + 4) * (columns.size.T @ v.size)
    return Enclosure(columns.mid.T @ v.mid, up(rad * (1 + gamma(n + 4)) + n * LEAST))


def _after(first: int, v: Enclosure) -> Enclosure:
    """Return numbers for columns of A after zeros for those of B."""
    return Enclosure(np.append(np.zeros(first), v.mid), np.append(np.zeros(first), v.rad))
