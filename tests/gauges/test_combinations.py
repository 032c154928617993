"""Gauges beside others and beside a ridge, in combinations that once were refused or raised."""

import cvxpy as cp
import numpy as np
import pytest

from atomsieve import (
    L1,
    L2,
    Ball,
    Birkhoff,
    Coverage,
    Image,
    Linear,
    Logistic,
    LovaszNorm,
    Multinomial,
    PathsInDAG,
    Permutahedron,
    Positive,
    Problem,
    Product,
    Scaled,
    TotalVariation,
    TrendFilter,
    Union,
    solve,
    verify,
)


def data(seed=0, d=6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, d))
    return X, X @ np.resize([2.0, 2.0, 2.0, -1.0, -1.0, 0.5], d) + 0.1 * rng.standard_normal(12)


def beside_jumps(x, order):
    return cp.norm1(x[:1]) + cp.norm1(cp.diff(x[1:], order))


def either_jumps(x):
    part = cp.Variable(6)
    return cp.norm1(x - part) + cp.norm1(cp.diff(part))


def either_positive(x):
    part = cp.Variable(6, nonneg=True)
    return cp.norm1(part) + 2 * cp.norm2(x - part)


REST = [1, 2, 3, 4, 5]
SIGNALS = [
    (Product([([0], L1()), (REST, TotalVariation())]), lambda x: beside_jumps(x, 1)),
    (Product([([0], L1()), (REST, TrendFilter(1))]), lambda x: beside_jumps(x, 2)),
    (Union(L1(), TotalVariation()), either_jumps),
    (Union(Positive(L1()), Scaled(L2(), 0.5)), either_positive),
]


@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize(("gauge", "convex"), SIGNALS, ids=["jumps", "bends", "either", "positive"])
def test_signals_and_orthants_stand_beside_other_gauges(gauge, convex, ridge):
    X, y = data()
    x = cp.Variable(6)
    charge = 0.3 * convex(x) + ridge / 2 * cp.sum_squares(x)
    cp.Problem(cp.Minimize(cp.sum_squares(X @ x - y) / 24 + charge)).solve(solver=cp.CLARABEL)
    problem = Problem(X, y, gauge=gauge, penalty=Linear(0.3), ridge=ridge)
    assert np.allclose(solve(problem, tol=1e-10).x, x.value, atol=1e-5)
    certificate = solve(problem, tol=1e-5).certificate()
    frame = certificate.feature_frame()
    assert ((frame.lower <= x.value + 1e-5) & (frame.upper >= x.value - 1e-5)).all()
    assert verify(certificate, X, y).valid


def test_jumps_within_an_image_that_selects_have_a_certificate():
    X, y = data()
    gauge = Image(TotalVariation(), np.eye(6)[:, [3, 0, 1, 2, 5, 4]])
    certificate = solve(Problem(X, y, gauge=gauge, penalty=Ball(2.0), intercept=True)).certificate()
    assert certificate.valid
    assert verify(certificate, X, y).valid


LISTED = [
    PathsInDAG([("a", "b"), ("b", "d"), ("a", "c"), ("c", "d")], "a", "d"),
    Birkhoff(2),
    Permutahedron([2.0, 1.5, 1.0, 0.5]),
    LovaszNorm(Coverage([[0, 3], [0, 1], [0, 2], [2, 3]], weights=[1.5, 1.1, 1.9, 1.7])),
]


@pytest.mark.parametrize("gauge", LISTED, ids=lambda gauge: type(gauge).__name__)
@pytest.mark.parametrize("ridge", [0.0, 0.002, 0.5])
def test_the_checker_confirms_gauges_of_named_atoms(gauge, ridge):
    for seed in range(6):
        X, y = data(seed, 4)
        problem = Problem(X, np.sign(y), loss=Logistic(), gauge=gauge, penalty=Ball(0.5), ridge=ridge)
        for tol in (1e-2, 1e-5):
            said = verify(solve(problem, tol=tol).certificate(), X, np.sign(y))
            assert said.valid, said


def test_the_checker_confirms_classes_with_limits_on_one_side():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((12, 3)), np.arange(12) % 3
        limits = ([-0.2, -0.3, -np.inf], [np.inf, 0.04, 0.13])
        problem = Problem(X, y, loss=Multinomial(), gauge=L1(), penalty=Linear(0.03), limits=limits)
        said = verify(solve(problem, tol=1e-6).certificate(), X, y)
        assert said.valid, said


def test_a_ridge_beside_the_jumps_of_several_outputs():
    X, _ = data(1, 3)
    Y = X @ np.array([[2.0, -1.0], [2.0, 0.5], [1.0, 0.5]])
    x = cp.Variable((3, 2))
    charge = 0.1 * cp.sum(cp.abs(x[1:] - x[:-1])) + 0.25 * cp.sum_squares(x)
    best = cp.Problem(cp.Minimize(cp.sum_squares(X @ x - Y) / 24 + charge)).solve(solver=cp.CLARABEL)
    certificate = solve(Problem(X, Y, gauge=TotalVariation(), penalty=Linear(0.1), ridge=0.5)).certificate()
    assert certificate.dual <= best + 1e-7
    assert certificate.primal >= best - 1e-7
    assert verify(certificate, X, Y).valid
