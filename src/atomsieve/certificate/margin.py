"""How far the decisions of a proof are from wrong ones."""

import numpy as np

from atomsieve.certificate.proof import Proof
from atomsieve.certificate.statement import Statement
from atomsieve.numerics.enclosures import quiet
from atomsieve.numerics.places import places_in
from atomsieve.typing import Array, Index, Mask


def margin(proof: Proof, zero: Mask, nonzero: Mask, away: Array) -> float:
    """Return the smallest relative distance from a wrong decision."""
    statement = proof.statement
    with quiet():
        sizes, moved = norms(statement, proof.x, away, places_in(nonzero))
        held = (1 - moved / sizes)[sizes > 0]
        if statement.decides:  # the scores of sets of entries decide, which are too many to list
            return float(np.min(held, initial=1.0, where=held > 0))
        highest = np.max(proof.unscaled_scores[1], where=zero & statement.eligible, initial=-np.inf)
        above = proof.from_above(np.array([highest]))
        slope = float(statement.total.mid) * statement.problem.penalty.slope(0.0)
        best = proof.sigma * proof.shrink if statement.limits is None else proof.least_slope
        slack = 1 - above / max(best, slope, 1e-300)
        return float(np.min(np.concatenate([slack, held]), initial=1.0))


def norms(statement: Statement, x: Array, away: Array, units: Index) -> tuple[Array, Array]:
    """Return bounds of the norm of some units of x, and of its distance, over the entries whose distance is known."""
    if statement.plain or statement.decides:
        known, sizes = away.ravel()[units], np.abs(x.ravel()[units])
        return np.where(np.isfinite(known), sizes, 0.0), np.where(np.isfinite(known), known, 0.0)
    finite = np.isfinite(away)
    least = statement.least_norms(np.where(finite, np.abs(x), 0.0))
    return least[units], statement.block_norms(np.where(finite, away, 0.0))[units]
