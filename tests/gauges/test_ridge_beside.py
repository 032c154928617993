"""A ridge beside gauges with a prox: the optimum of a conic solver, gaps that bound, certificates that are checked."""

import json
from functools import cache

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_against_cvxpy import charged, lost, modelled

from atomsieve import (
    L2,
    OWL,
    Ball,
    Group,
    KSparse,
    KSupport,
    Linear,
    LInf,
    LogBarrier,
    Logistic,
    Multinomial,
    Problem,
    SparseGroup,
    Square,
    Squared,
    Status,
    solve,
    verify,
)
from atomsieve.certificate.file import seal

RIDGE = 0.1
PAIRS = [0, 0, 1, 1, 2, 2]
GAUGES = [OWL([3.0, 2.0, 2.0, 1.0, 0.0, 0.0]), KSupport(2), KSparse(3), LInf(), SparseGroup(PAIRS), L2(), Group(PAIRS)]
PENALTIES = [Linear(0.05), Square(0.2), Ball(0.4), LogBarrier(1.0, 8.0)]


def drawn(loss, seed, n=14, d=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 1] = X[:, 0]  # a ridge tells copies apart
    y = X @ rng.integers(-1, 2, size=d) + rng.normal(size=n)
    return X, y if isinstance(loss, Squared) else np.where(y > 0, 1.0, -1.0)


def kappa_of(gauge, x):
    if isinstance(gauge, L2):
        return cp.norm(x, 2), []
    if isinstance(gauge, Group | SparseGroup):
        pairs = sum(np.sqrt(2) * cp.norm(x[g : g + 2], 2) for g in (0, 2, 4))
        return (pairs if isinstance(gauge, Group) else 0.5 * cp.norm(x, 1) + 0.5 * pairs), []
    found = modelled(gauge, x)
    return found if isinstance(found, tuple) else (found, [])


def optimum(X, y, loss, gauge, penalty):
    x, b = cp.Variable(X.shape[1]), cp.Variable()
    value, inside = kappa_of(gauge, x)
    kappa = cp.Variable()
    inside = [*inside, value <= kappa]
    charge, limits = charged(penalty, kappa)
    goal = lost(loss, X @ x + b, y) / len(y) + charge + RIDGE / 2 * cp.sum_squares(x)
    problem = cp.Problem(cp.Minimize(goal), inside + limits)
    accuracy = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11)
    problem.solve(solver=cp.CLARABEL, **accuracy)
    return problem.value


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate:UserWarning")  # of the reference, to 1e-11
@pytest.mark.thin(4)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda piece: type(piece).__name__)
@pytest.mark.parametrize("gauge", GAUGES, ids=lambda piece: type(piece).__name__)
@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=lambda piece: type(piece).__name__)
def test_the_optimum_is_that_of_a_conic_solver(loss, gauge, penalty, seed):
    X, y = drawn(loss, seed)
    problem = Problem(X, y, loss=loss, gauge=gauge, penalty=penalty, ridge=RIDGE, intercept=True)
    result = solve(problem, tol=1e-9)
    assert result.status is Status.CONVERGED
    truth = optimum(X, y, loss, gauge, penalty)
    assert abs(result.objective - truth) <= 1e-7 * problem.baseline
    assert result.gap <= 1e-8 * problem.baseline
    certificate = result.certificate()
    assert certificate.dual - 1e-8 <= truth <= certificate.primal + 1e-8
    assert (certificate.lower <= result.x).all()
    assert (result.x <= certificate.upper).all()
    assert np.isfinite(certificate.upper - certificate.lower).all()


@cache
def solved(number, seed, penalty):
    X, y = drawn(Squared(), seed)
    return solve(Problem(X, y, gauge=GAUGES[number], penalty=penalty, ridge=RIDGE), tol=1e-12)


@pytest.mark.parametrize("number", range(5), ids=lambda number: type(GAUGES[number]).__name__)
@given(seed=st.integers(0, 10**6), size=st.floats(0.0, 3.0))
def test_the_gap_bounds_the_distance_from_the_optimum(number, seed, size):
    """`gap >= objective - optimum >= ridge / 2 |x - x*|^2` wherever x is; no more than the gap of stacked samples."""
    for penalty in PENALTIES[:2]:
        best = solved(number, seed % 5, penalty)
        problem, gauge = best.problem, GAUGES[number]
        x = best.x + size * np.random.default_rng(seed).normal(size=6)
        point = problem.at(problem.state(x))
        above = point.objective - best.objective
        assert point.gap >= above - 1e-12
        assert above >= RIDGE / 2 * np.sum((x - best.x) ** 2) - 1e-9
        if penalty.superlinear:
            stacked = penalty.value(gauge.value(x)) + penalty.conjugate(point.sigma) - x @ point.pulls
            assert point.gap <= stacked * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda piece: type(piece).__name__)
@pytest.mark.parametrize("gauge", GAUGES[:5], ids=lambda piece: type(piece).__name__)
def test_certificates_are_checked_and_forged_ones_refused(gauge, penalty, tmp_path):
    X, y = drawn(Squared(), 3)
    path = tmp_path / "certificate.json"
    result = solve(Problem(X, y, gauge=gauge, penalty=penalty, ridge=RIDGE, intercept=True), tol=1e-11)
    result.certificate().save(path)
    assert verify(path, X, y).valid
    content = json.loads(path.read_text())
    value, ranges = content["claims"]["value"], content["claims"]["intervals"]
    width = value["upper"] - value["lower"]
    forgeries = [
        (value, "lower", value["lower"] + 2 * width + 1e-9),
        (value, "upper", value["upper"] - 2 * width - 1e-9),
        (content["problem"], "ridge", 10 * RIDGE),
        (ranges, "lower", [v + 0.1 for v in ranges["lower"]]),
        (ranges, "upper", [v - 0.1 for v in ranges["upper"]]),
    ]
    for place, key, forged in forgeries:
        true, place[key] = place[key], forged
        path.write_text(json.dumps(content | {"seal": seal(content)}))
        assert not verify(path, X, y).valid, key
        place[key] = true


def test_several_classes():
    X, y = drawn(Squared(), 4, n=30)
    classes = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    x = cp.Variable((6, 3))
    u, own = X @ x, np.eye(3)[classes]
    loss = (cp.sum(cp.log_sum_exp(u, axis=1)) - cp.sum(cp.multiply(own, u))) / len(y)
    kappa = 0.5 * cp.sum(cp.abs(x)) + 0.5 * sum(cp.norm(x[g : g + 2], "fro") for g in (0, 2, 4))
    best = cp.Problem(cp.Minimize(loss + 0.02 * kappa + RIDGE / 2 * cp.sum_squares(x))).solve(solver=cp.CLARABEL)
    gauge = SparseGroup(PAIRS, weights="equal")
    result = solve(Problem(X, classes, loss=Multinomial(), gauge=gauge, penalty=Linear(0.02), ridge=RIDGE), tol=1e-10)
    assert result.objective == pytest.approx(best, rel=1e-7)
    certificate = result.certificate()
    assert certificate.valid
    assert verify(certificate, X, classes).valid


def test_a_large_ridge_and_a_tiny_one():
    X, y = drawn(Squared(), 1)
    for gauge in GAUGES[:5]:
        for ridge in (1e-9, 1e6):
            result = solve(Problem(X, y, gauge=gauge, penalty=Linear(0.05), ridge=ridge), tol=1e-9)
            assert result.status is Status.CONVERGED
        assert np.abs(result.x).max() < 1e-5
