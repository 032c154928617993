"""Single atoms that are in no solution, for every gauge.

All atoms of an optimal decomposition have the same score, the best one: `p . z* = sigma(z*)`. So a point p of P whose
score is proven to stay below the slope of the penalty, or below the score of another point q, has no weight in any of
them. Scores move by no more than the radius times the length of the image, of p or of `p - q`. With a ridge,
`z* - R x*` takes the place of z*.
"""

import math
from typing import Any

import numpy as np

from atomsieve.certificate.point import mass_of
from atomsieve.certificate.proof import Proof
from atomsieve.numerics.enclosures import Enclosure, norm, root, up
from atomsieve.numerics.rounding import EPS, noise_level
from atomsieve.problem import Problem
from atomsieve.typing import Array, Index, Mask


def excludes(proof: Proof, zero: Mask, p: Array) -> bool:
    """Return whether a point of P is proven to have no weight in any optimal decomposition."""
    rows = _rows(p)
    if zero[proof.statement.units.reshape(p.shape)[p != 0]].any():
        return True  # no atom of the best score is not 0 there, so that no point made of such atoms is, either
    if proof.statement.limits is not None:
        return False  # scores of atoms at their limits are higher than those of others
    if proof.statement.family is not None and proof.statement.family.strengths is not None:
        return False  # z is that of one strength
    with np.errstate(all="ignore"):
        return _highest(proof, _entries(proof, p, rows), rows) < max(proof.least_slope, 0.0) or _is_beaten(proof, p)


def _entries(proof: Proof, p: Array, rows: Index) -> Enclosure:
    """Return some rows of a point of P; those of an oracle may be rounded differences."""
    listed = proof.statement.problem.core.listed
    return Enclosure(p[rows], up(4 * EPS * np.abs(p[rows]))) if listed else Enclosure.exact(p[rows])


def _is_beaten(proof: Proof, p: Array) -> bool:
    """Return whether an atom of the best block, divided by its gauge, has a higher score than p at the optimum."""
    problem = proof.statement.problem
    best = int(np.where(problem.eligible, proof.scores[0], -np.inf).argmax())
    q = problem.core.atom(proof.z.mid - _pulled_back(proof).mid, best).toarray(problem.shape)
    rows = np.union1d(_rows(p), _rows(q))
    size = Enclosure.exact(1.0 if problem.core.listed else mass_of(proof.statement, q).high)
    return _highest(proof, _entries(proof, p, rows) - _entries(proof, q, rows) / size, rows) < 0


def _highest(proof: Proof, point: Enclosure, rows: Index) -> float:
    """Return an upper bound of `p . z*` for a p that is zero outside of some rows: score plus radius times length."""
    statement = proof.statement
    z = proof.z * Enclosure.exact(proof.shrink) - _pulled_back(proof)
    image = statement.design.enclose(point, rows)
    if statement.family is not None:
        image = image.widened(statement.family.rows(point.size, rows))
    most = proof.curvatures[1]
    metric = up(statement.counts * (most if most.ndim == 1 else statement.loss.largest_eigenvalues(most)))
    length = norm(up((root(metric) * image.size.T).T).ravel())
    if statement.ridges is not None:
        held = statement.ridges.high[statement.labels].reshape(proof.x.shape)[rows] * (2.0 if proof.paired else 1.0)
        length = norm(np.array([length, norm(up(root(held) * point.size).ravel())]))
    return float(((point * z[rows]).sum() + Enclosure(0.0, up(proof.radius * length))).high)


def _rows(p: Array) -> Index:
    return np.flatnonzero(p if p.ndim == 1 else p.any(axis=1))


def _pulled_back(proof: Proof) -> Enclosure:
    """Return R x, what a ridge takes from z; 0 without a ridge."""
    ridges, x = proof.statement.ridges, proof.x
    if ridges is None:
        return Enclosure.exact(np.zeros(x.shape))
    return ridges[proof.statement.labels.reshape(x.shape)] * Enclosure.exact(x)


def as_point(problem: Problem, atom: Any) -> Array:
    """Return an atom as an array in the shape of the lifted coefficients; refuse what is no point of P."""
    form = problem.lifted.form
    if problem.core.listed:
        return problem.core.presented(atom, problem.shape).toarray(problem.shape)
    try:
        p = np.asarray(atom, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError("atom must be an array of numbers; that of an Atom is atom.toarray(x.shape).") from error
    if p.shape != form:
        raise ValueError(f"atom must have the shape {form} of the coefficients in the certificate, got {p.shape}.")
    if not np.isfinite(p).all():
        raise ValueError("atom must hold finite numbers, without NaN.")
    p = p.reshape(problem.shape)
    if p[problem.core.unpenalised()].any():
        raise ValueError("atom must be 0 at coefficients without a price: they belong to no atom.")
    size = problem.core.value(p)
    if not size <= 1 + noise_level(p.size):
        remedy = "; divide it by that" if math.isfinite(size) else ""
        raise ValueError(f"atom must be a point of P, with a gauge of at most 1: its gauge is {size:.6g}{remedy}.")
    return p
