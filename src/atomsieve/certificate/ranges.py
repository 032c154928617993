"""How far coefficients at a point can be from the optimum: one by one, and sums of those that depend on each other."""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from atomsieve.certificate import classes
from atomsieve.certificate.frame import beside
from atomsieve.certificate.gap import SLACK
from atomsieve.certificate.gram import LARGEST_INVERSE, Plain, inverse_of
from atomsieve.certificate.inverse import Dependency, Determined, determined
from atomsieve.certificate.pattern import Pattern
from atomsieve.certificate.point import image_of, mass_of
from atomsieve.certificate.proof import Proof
from atomsieve.certificate.scores import low
from atomsieve.certificate.segments import segment_inverse
from atomsieve.design.cumulated import CumulatedDesign
from atomsieve.gauges.facts import Facts
from atomsieve.numerics.enclosures import Enclosure, dots, gamma, quiet, root, up
from atomsieve.numerics.places import places_in, support_of
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask

FORMED = 1 << 24
"""Largest number of entries of steps that are formed for a Gram matrix, 128 MiB; beyond it there are no intervals."""


@dataclass(frozen=True, eq=False)
class Sum:
    """A sum of coefficients that the data determine, although they do not determine the coefficients themselves."""

    index: Index
    times: Array
    lower: float
    upper: float

    @property
    def needed(self) -> bool:
        """Whether at least one of the coefficients is not zero in every solution, all of them having a price."""
        return bool((self.index >= 0).all() and (self.lower > 0 or self.upper < 0))


class Ranges(NamedTuple):
    """Distances, inf where unknown. Entries of x are numbered 0, 1, ... and free columns -1, -2, ..."""

    away: Array
    """How far each entry of x can be from the optimum."""

    around: Array
    """The same for the free coefficients as the problem states them."""

    dependencies: list[Dependency]
    sums: list[Sum]


def ranges(proof: Proof, alive: Mask, facts: Facts | None = None) -> Ranges:
    """Return what is known of coefficients that are not proven zero; those of a cluster are as far as their head."""
    statement, shape = proof.statement, proof.statement.problem.shape
    around, left = np.full(proof.b.shape, np.inf), statement.by_entry(alive)
    if proof.held is None:
        away = np.zeros(shape)
        away.ravel()[places_in(left)] = np.inf
    else:
        away = up(up(proof.reach) * root(up(1 / proof.held))).reshape(shape)
        away = away if proof.sway is None else up(away + proof.sway[0].reshape(shape))
        away.ravel()[~left] = 0.0
    if statement.problem.outputs:
        return Ranges(*classes.intervals(proof, alive, away, around), [])
    pattern, kept = Pattern.of(left, facts), statement.used
    known, distances = _distances(proof, kept, pattern)
    given = [Dependency(-1 - d.column, -1 - d.of, d.times) for d in statement.sums]
    if not len(distances):
        return Ranges(away, around, given, [])
    names = np.concatenate([-1 - kept, pattern.heads])
    totals = ((_completed(given, names[some], times), distances[some[0]]) for some, times in known.combinations())
    sums = [_sum(proof, total, float(distance)) for total, distance in totals if total is not None]
    alone = distances.copy()
    alone[known.involved] = np.inf
    away[pattern.entries] = np.minimum(away[pattern.entries], alone[len(kept) :][pattern.owners])
    around[kept] = alone[: len(kept)]
    around[[k for d in statement.sums for k in (d.column, *d.of)]] = np.inf
    found = [Dependency(int(names[d.column]), names[d.of], d.times) for d in known.dependencies]
    return Ranges(away, around, given + found, sums)


def _distances(proof: Proof, kept: Index, pattern: Pattern) -> tuple[Determined, Array]:
    """Return what the data determine, and how far that is from the optimum: free coefficients first.

    A column on which others depend stands for the sum of all their coefficients.
    """
    statement, first = proof.statement, len(kept)
    with quiet():
        known, reach = knowledge(proof, kept, pattern)
        distances = up(root(known.sums) * reach)
        moved = proof.shift * proof.unit[kept]
        moved = moved if proof.sway is None else moved + proof.sway[1][kept]
        alone = np.zeros(len(pattern.heads)) if proof.sway is None else proof.sway[0].ravel()[pattern.heads]
        moved = np.concatenate([moved, alone])
        distances += up(moved)
        for home, stated in enumerate(statement.frame.directions(kept, pattern.entries)):
            v = pattern.folded(stated, first)
            distances[home] = root(np.asarray(known.of(v))) * reach + v.size @ moved
        distances[:first] = up(distances[:first] * (1 + 8 * EPS) + proof.stated.rad[kept])
    return known, distances


def knowledge(proof: Proof, kept: Index, pattern: Pattern) -> tuple[Determined, float]:
    """Return what the data determine of the coefficients of columns of B and A, and how far predictions can be off."""
    statement, first = proof.statement, len(kept)
    weights = statement.counts * proof.curvatures[0] * (1 - 4 * EPS)
    ridge = None
    if proof.held is not None:  # a coefficient that stands for k others has k times their ridge
        many = np.bincount(pattern.owners, minlength=len(pattern.heads))
        ridge = np.append(np.zeros(first), proof.held[pattern.heads] * many * (1 - 4 * EPS))

    def exact(some: Index) -> Enclosure:
        return pattern.exact_columns(statement, kept[some[some < first]], some[some >= first] - first)

    segments = segment_inverse(statement.design, statement.unpenalised[:, kept], pattern.heads, weights)
    if segments is not None and ridge is None:
        every = np.arange(first + len(pattern.heads))
        return Determined(len(every), segments, every, [], np.zeros(0)), proof.reach
    count = first + len(pattern.heads)
    too_many = isinstance(statement.design, CumulatedDesign) and count * len(weights) > FORMED
    if too_many or count > LARGEST_INVERSE:  # columns of several outputs would be mostly zeros, and very many
        return Determined(count, None, np.zeros(0, dtype=np.intp), [], np.zeros(0)), proof.reach
    rows = pattern.rows(statement, kept, weights)
    known = determined(rows, first, ridge, exact, statement.frame.constants, bounded=statement.priced)
    return known, _reach(proof, known, pattern.heads, first)


def alive_blocks(proof: Proof, nonzero: Mask, facts: Facts) -> Mask:
    """Return which blocks are not zero in any solution, from entries that are not: needed where others follow them.

    A single block is also not zero if its predictions are further from those without it than the optimum can be.
    """
    statement, kept = proof.statement, proof.statement.used
    found = np.bincount(statement.labels[nonzero], minlength=len(statement.problem.eligible)) > 0
    if len(found) > 1 or found.any() or not facts.nonzero.any() or not proof.x.any():
        return found
    weights = statement.counts * proof.curvatures[0] * (1 - 4 * EPS)
    image = image_of(statement, proof.x, support_of(proof.x))
    inverse = inverse_of(Plain(beside(statement.unpenalised[:, kept], image[:, None]), weights))
    with np.errstate(all="ignore"):
        return found if inverse is None else np.array([up(root(inverse.diagonal[-1]) * proof.reach) < 1])


def _reach(proof: Proof, known: Determined, index: Index, first: int) -> float:
    """Return how far predictions can be from the optimum, in the curvature metric, without dependent columns.

    No coefficient of the optimum is larger than its mass, at which the penalty is at most the objective at the point.
    """
    if not known.rests.any():
        return proof.reach
    statement = proof.statement
    value = float((Enclosure.exact(proof.objective.high) / statement.total).high)
    mass = statement.penalty.largest_mass(value, float(mass_of(statement, proof.x).high) or 1.0)
    entries = index[np.array([d.column for d in known.dependencies]) - first]
    most = up(mass / low(statement.prices)[statement.labels[entries]])
    lost = known.rests @ up(np.abs(proof.x.ravel()[entries]) + most) * (1 + float(gamma(len(entries) + 2)))
    return float(up(proof.reach + up(lost * SLACK)))


def _completed(given: list[Dependency], names: Index, times: Array) -> tuple[Index, Array] | None:
    """Return a sum with the free columns that depend on others in it, whose coefficients the data do not tell apart.

    A column that is `sum_l t_l C_l` has the factor `sum_l t_l v_l` if others have v_l. If that is no float, there is no
    such sum: None.

    >>> twin = Dependency(-2, np.array([-1]), np.ones(1))
    >>> _completed([twin], np.array([4, -1]), np.array([-2.0, 1.0]))
    (array([ 4, -1, -2]), array([-2.,  1.,  1.]))
    """
    factors = dict(zip(names.tolist(), map(Fraction, times.tolist()), strict=True))
    for d in given:
        shares = zip(d.of.tolist(), d.times.tolist(), strict=True)
        factor = sum((Fraction(t) * factors.get(other, 0) for other, t in shares), Fraction(0))
        if factor != float(factor):
            return None
        if factor:
            names, times = np.append(names, d.column), np.append(times, float(factor))
    return names, times


def _sum(proof: Proof, total: tuple[Index, Array], distance: float) -> Sum:
    """Return a sum of coefficients with its interval: features in their order, and then free coefficients."""
    names, times = total
    order = np.lexsort((np.abs(names), names < 0))
    names, times = names[order], times[order]
    values = np.where(names < 0, proof.free[np.maximum(-1 - names, 0)] if len(proof.free) else 0.0, 0.0)
    values = np.where(names < 0, values, proof.x.ravel()[np.maximum(names, 0)])
    value = dots(times[:, None], Enclosure.exact(values))[0].widened(distance)
    return Sum(names, times, float(value.low), float(value.high))
