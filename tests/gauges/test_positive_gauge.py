"""Gauges of coefficients that must not be negative: the same optimum as a conic solver finds, and what is refused."""

import cvxpy as cp
import numpy as np
import pytest

from atomsieve import L1, L2, Atoms, Group, Linear, LInf, Positive, Problem, SparseGroup, Square, solve, verify

LABELS = np.array([0, 0, 1, 1, 1, 2, 2])


def lengths(x, prices):
    return sum(price * cp.norm2(x[np.flatnonzero(g == LABELS)]) for g, price in enumerate(prices))


CASES = [
    (L1(), cp.norm1),
    (L2(), cp.norm2),
    (LInf(), cp.norm_inf),
    (Group(LABELS, "equal"), lambda x: lengths(x, np.ones(3))),
    (SparseGroup(LABELS, 0.4), lambda x: 0.4 * cp.norm1(x) + 0.6 * lengths(x, np.sqrt(np.bincount(LABELS)))),
]


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate:UserWarning")  # of the reference, to 1e-11
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("gauge", "stated"), CASES, ids=lambda value: type(value).__name__)
def test_same_optimum(gauge, stated, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, 7)), rng.normal(size=12)
    given = Problem(X, y, gauge=Positive(gauge), intercept=True)
    for penalty in (Linear(0.2 * given.critical), Square(0.3)):
        problem = given.at_penalty(penalty)
        result = solve(problem, tol=1e-10)
        x, b, kappa = cp.Variable(7, nonneg=True), cp.Variable(), cp.Variable()
        price = penalty.strength * (kappa if isinstance(penalty, Linear) else cp.square(kappa) / 2)
        objective = cp.sum_squares(X @ x + b - y) / 24 + price
        truth = cp.Problem(cp.Minimize(objective), [stated(x) <= kappa]).solve(
            solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11
        )
        assert result.converged, result.status
        assert (result.x >= 0).all()
        assert abs(result.objective - truth) <= 1e-7 * problem.baseline
        checked = verify(result.certificate(), X, y)
        assert checked.valid, checked.reason


@pytest.mark.parametrize("gauge", [Atoms(np.eye(3)), L1(positive=[True, False]), Positive(L2())])
def test_gauges_with_signs_are_refused(gauge):
    with pytest.raises(ValueError, match="must not depend on the signs"):
        Positive(gauge)
