"""Single atoms that are in no solution, for every gauge.

All atoms of an optimal decomposition have the same score, the best one: `p . z* = sigma(z*)`. So a point p of P whose
score is proven to stay below the best score has no weight in any of them. With a ridge, `z* - R x*` takes the place of
z*. Both sides move by no more than the radius times the norm of the image of the atom.
"""

import math
from typing import Any

import numpy as np

from atomsieve.certificate.proof import Proof, mass_of
from atomsieve.numerics.enclosures import Enclosure, norm, root, up
from atomsieve.numerics.rounding import EPS, noise_level
from atomsieve.problem import Problem
from atomsieve.typing import Array, Mask


def excludes(proof: Proof, zero: Mask, p: Array) -> bool:
    """Return whether a point of P is proven to have no weight in any optimal decomposition."""
    if zero[proof.statement.labels[np.flatnonzero(p)]].any():
        return True  # all atoms of this block are out, and p is a combination of points of P that has one of them
    with np.errstate(all="ignore"):
        score, away = _score(proof, p)
        return bool(score.high + away + 4 * EPS * (abs(score.high) + away) < least_best(proof))


def least_best(proof: Proof) -> float:
    """Return a lower bound of the best score at the optimum: from the slope, or from an atom of the best block."""
    statement = proof.statement
    problem = statement.problem
    least = max(proof.least_slope, 0.0)
    if not problem.penalty.superlinear:
        return least
    z = proof.z.mid - _pulled_back(proof).mid
    best = int(np.where(problem.eligible, proof.scores[0], -np.inf).argmax())
    q = problem.core.atom(z, best).toarray(problem.shape)
    score, away = _score(proof, q)
    size = float(mass_of(statement, q).high)
    floor = (float(score.low) - away - 4 * EPS * (abs(float(score.low)) + away)) / size * (1 - 4 * EPS)
    return max(least, floor) if math.isfinite(floor) and size > 0 else least


def _score(proof: Proof, p: Array) -> tuple[Enclosure, float]:
    """Return the score of a point at the dual point, and how far its score at the optimum can be from that."""
    statement = proof.statement
    support = np.flatnonzero(p if p.ndim == 1 else p.any(axis=1))
    there = Enclosure.exact(p[support])
    z = proof.z * Enclosure.exact(proof.shrink) - _pulled_back(proof)
    image = statement.design.enclose(there, support)
    most = proof.curvatures[1]
    metric = up(statement.counts * (most if most.ndim == 1 else statement.loss.largest_eigenvalues(most)))
    along = root(metric) if image.ndim == 1 else root(metric)[:, None]
    length = norm(up(along * image.size).ravel())
    if statement.ridges is not None:
        bend = statement.ridges.high[statement.labels].reshape(p.shape)[support] * (2.0 if proof.paired else 1.0)
        length = norm(np.array([length, norm(up(root(bend) * np.abs(p[support])).ravel())]))
    return (there * z[support]).sum(), float(up(proof.radius * length))


def _pulled_back(proof: Proof) -> Enclosure:
    """Return R x, what a ridge takes from z; 0 without a ridge."""
    ridges, x = proof.statement.ridges, proof.x
    if ridges is None:
        return Enclosure.exact(np.zeros(x.shape))
    return ridges[proof.statement.labels.reshape(x.shape)] * Enclosure.exact(x)


def as_point(problem: Problem, atom: Any) -> Array:
    """Return an atom as an array in the shape of the lifted coefficients; refuse what is no point of P."""
    form = problem.lifted.form
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
