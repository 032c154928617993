"""Why something is undecided, in a sentence."""

from functools import partial

import numpy as np

from atomsieve.certificate import classes
from atomsieve.certificate.dependence import dependence, in_all_classes, linked_columns
from atomsieve.certificate.entry_names import called, called_feature
from atomsieve.certificate.proof import Proof
from atomsieve.certificate.ranges import Ranges
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Mask


def why(proof: Proof, alive: Mask, nonzero: Mask, found: Ranges) -> str:
    """Return why blocks that are alive are not proven non-zero."""
    away, _, dependencies, sums = found
    if not (alive & ~nonzero).any():
        return "Every block is decided."
    problem = proof.statement.problem
    sets = [linked for linked in linked_columns(dependencies) if linked[-1] >= 0]  # the others are all unpenalised
    if sets and problem.shrinkage is None:
        return dependence(sets, partial(called, problem), sums)
    if not proof.curvatures[0].any() and problem.shrinkage is None:
        return "No lower bound of the curvature of the loss is known at any sample, so that nothing is proven non-zero."
    everywhere = classes.undetermined(proof, alive).tolist() if problem.outputs else []
    if everywhere:
        return in_all_classes([called_feature(problem, j) for j in everywhere])
    if not np.isfinite(away[proof.x != 0]).all():
        return "The columns that are left are linearly dependent, or nearly: their coefficients are not determined."
    return _too_far(proof)


def _too_far(proof: Proof) -> str:
    """Return why a distance is too large to decide more."""
    if proof.statement.family is not None:
        return "Others change within the family, or too nearly so; a smaller tolerance may decide more."
    relative = proof.gap / max(float(proof.objective.high), EPS)
    return (
        f"The gap is proven to be below {relative:.1e} of the objective; a smaller tolerance may decide more, unless "
        "scores are tied."
    )
