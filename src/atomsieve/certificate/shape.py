"""Ranges of strengths of penalties that are not linear: which slopes their solutions can have.

A solution for phi solves the problem for `Linear` at the slope `s = phi'(kappa(x))`, and the larger the slope, the
smaller kappa is along the path of `Linear`. So let a proof be about all slopes from s0 to s1, and let kappa at the
solutions be at least k0 at s0, and at most k1 at s1. If `phi'(k0) >= s0` and `phi'(k1) <= s1` for all strengths, no
solution has a slope beyond: one with s > s1 would have a smaller kappa than k1, and so a slope of at most `phi'(k1)`.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from atomsieve.certificate.family import Family
from atomsieve.certificate.gap import SLACK
from atomsieve.certificate.point import mass_of
from atomsieve.numerics.enclosures import Enclosure, Uncertain
from atomsieve.numerics.rounding import EPS
from atomsieve.penalties.base import Penalty

if TYPE_CHECKING:
    from atomsieve.certificate.face import Face
    from atomsieve.certificate.face_proof import FaceProof

TRIALS = 8
"""How often a range of slopes is widened until it proves itself."""

BISECTIONS = 60

STEEPEST = 1e300
"""Slopes beyond this are not looked for."""

TOO_WIDE = "the range of strengths is too wide: the slopes of the penalty at the solutions are not bounded"


def covering(
    face_of: Callable[[Family], "Face"], settled: Callable[["Face"], "FaceProof"], family: Family
) -> "FaceProof":
    """Return the proof for a range of slopes that holds those of all strengths; raise Uncertain if none is found."""
    low, high = _guess(face_of, family)
    for _ in range(TRIALS):
        middle = (low + high) / 2
        half = (high - low) / 2 * SLACK + 8 * EPS * middle
        low, high = middle - half, middle + half
        if not 0 < low < high < math.inf:
            break
        proof = settled(face_of(_with(family, low, high)))
        lowest, highest = _needed(proof)
        if low <= lowest and highest <= high:
            return proof
        low, high = min(lowest, 2 * middle - highest), max(highest, 2 * middle - lowest)
    raise Uncertain(TOO_WIDE)


def _needed(proof: "FaceProof") -> tuple[float, float]:
    """Return bounds of the slopes of the penalty at the optima, for all strengths; inf where it may have no slope."""
    penalty, (least, most) = proof.statement.penalty, (Enclosure.exact(mass) for mass in proof.masses)
    inside = math.isfinite(float(penalty.value(most).high))
    return float(penalty.slope(least).low), float(penalty.slope(most).high) if inside else math.inf


def _with(family: Family, low: float, high: float) -> Family:
    """Return the family with a range of slopes that a file can name."""
    return replace(family, slopes=(low, high), told=family.told | {"slopes": [low, high]})


def _guess(face_of: Callable[[Family], "Face"], family: Family) -> tuple[float, float]:
    """Return the slopes at both ends of the range of strengths, to first order."""
    assert family.strengths is not None  # noqa: S101
    face = face_of(Family.none(family.problem))
    total, penalty = float(face.statement.total.mid), family.problem.penalty
    mass = float(mass_of(face.statement, face.nominal.x).mid)
    here, rate = float(face.slope.mid) / total, face.rate() * total
    found = [
        _crossing(penalty.at(strength), lambda slope: mass + (slope - here) * rate) for strength in family.strengths
    ]
    return min(found), max(found)


def _crossing(penalty: Penalty, mass: Callable[[float], float]) -> float:
    """Return the slope at which the mass that belongs to it has this slope."""

    def is_steeper(slope: float) -> bool:
        size = max(mass(slope), 0.0)
        return size >= penalty.limit or penalty.slope(size) > slope

    low, high = 0.0, 1.0
    while is_steeper(high) and high < STEEPEST:
        low, high = high, 2 * high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_steeper(middle) else (low, middle)
    return high
