"""The slope above which a certificate proves that x = 0 is the solution."""

import numpy as np

from atomsieve.certificate.gap import prove
from atomsieve.certificate.point import feasible
from atomsieve.certificate.statement import Statement
from atomsieve.numerics.enclosures import Enclosure, Uncertain
from atomsieve.penalties import Linear
from atomsieve.problem import Problem
from atomsieve.problem.span import UnsettledError


def critical_bound(problem: Problem) -> float:
    """Return an upper bound of the critical slope, proven in spite of rounding; inf if nothing can be proven."""
    if not 0 < problem.critical < np.inf or problem.limits is not None:
        return np.inf
    try:
        statement = Statement.of(problem.hosted.at_penalty(Linear(problem.critical)))
        point = feasible(statement, np.zeros(problem.shape), problem.lifted.origin.state.coordinates)
        return float((Enclosure.exact(prove(statement, *point).sigma) / statement.total).high)
    except (Uncertain, UnsettledError):
        return np.inf
