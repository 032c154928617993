"""The same optimum as scikit-learn and cvxpy, for elastic nets of many kinds."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, LogisticRegression, MultiTaskElasticNet
from sklearn.preprocessing import StandardScaler

from atomsieve import (
    L1,
    L2,
    Away,
    Ball,
    Group,
    Linear,
    LinearSquare,
    Logistic,
    Multinomial,
    NonNegative,
    Pairwise,
    Problem,
    Square,
    Squared,
    path,
    solve,
)

RNG = np.random.default_rng(3)
WIDE = RNG.standard_normal((40, 150))
WIDE[:, 9] = WIDE[:, 0]
TARGETS = WIDE[:, :5] @ np.array([3.0, -2.0, 1.0, 1.0, 1.0]) + RNG.standard_normal(40)


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def mixed(kind, slope, ridge, X, y, **options):
    """Return scikit-learn's model with both strengths, as near to its optimum as rounding lets it come."""
    alpha = slope + ridge
    model = kind(alpha=alpha, l1_ratio=slope / alpha, tol=1e-15, max_iter=200_000, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


@pytest.mark.parametrize("ridge", [1e-3, 0.1, 3.0])
@pytest.mark.parametrize("slope", [0.02, 0.3])
@pytest.mark.parametrize("kind", ["tall", "wide", "sparse"])
def test_scikit_learn(kind, slope, ridge):
    X, y = diabetes() if kind == "tall" else (WIDE, TARGETS)
    if kind == "sparse":
        X = sparse.csc_array(np.where(np.abs(WIDE) > 1, WIDE, 0.0))
    peer = mixed(ElasticNet, slope, ridge, X, y)
    result = solve(Problem(X, y, penalty=Linear(slope), ridge=ridge, intercept=True), tol=1e-15)
    assert result.x == pytest.approx(peer.coef_, abs=1e-9 * np.abs(peer.coef_).max())
    assert result.intercept == pytest.approx(peer.intercept_)


@pytest.mark.parametrize("shape", [Square, Ball, LinearSquare])
@pytest.mark.parametrize("method", [None, Away(), Pairwise()], ids=repr)
def test_other_penalties_meet_the_same_path(shape, method):
    """The slope of every penalty at the size of its solution is that of the Lasso part."""
    X, y = diabetes()
    peer = mixed(ElasticNet, 1.0, 0.2, X, y)
    size = np.abs(peer.coef_).sum()
    penalty = {Square: Square(1.0 / size), Ball: Ball(size), LinearSquare: LinearSquare(0.5, 0.5 / size)}[shape]
    result = solve(Problem(X, y, penalty=penalty, ridge=0.2, intercept=True), method, tol=1e-12)
    assert result.x == pytest.approx(peer.coef_, abs=1e-3 if method else 1e-7)
    assert (result.alive | (peer.coef_ == 0)).all()


def test_several_outputs():
    X, y = diabetes()
    Y = np.column_stack([y, X[:, 0] * 50 + y[::-1]])
    peer = mixed(MultiTaskElasticNet, 2.0, 0.5, X, Y)
    result = solve(Problem(X, Y, gauge=Group(), penalty=Linear(2.0), ridge=0.5, intercept=True), tol=1e-14)
    assert pytest.approx(peer.coef_, abs=1e-8) == result.x.T


@pytest.mark.parametrize("classes", [2, 3])
def test_logistic_elastic_net(classes):
    X, y = diabetes()
    labels = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    slope, ridge = 0.03, 0.05
    C = 1 / len(y) / (slope + ridge)
    peer = LogisticRegression(C=C, l1_ratio=slope / (slope + ridge), solver="saga", tol=1e-12, max_iter=100_000)
    peer.fit(X, labels)
    loss, targets = (Logistic(), 2.0 * labels - 1) if classes == 2 else (Multinomial(3), labels)
    result = solve(Problem(X, targets, loss=loss, penalty=Linear(slope), ridge=ridge, intercept=True), tol=1e-13)
    assert np.atleast_2d(result.x.T) == pytest.approx(peer.coef_, abs=1e-7)


GROUPS = np.repeat(np.arange(5), 3)
PRICES = np.array([0.0, 1, 2, 0.5, 1, 1, 1, 1, np.inf, 1, 1, 3, 1, 1, 1])


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # it is compared to what it reaches
@pytest.mark.parametrize("penalty", [Linear(0.1), Square(0.1), Ball(0.8), LinearSquare(0.05, 0.1)], ids=repr)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize(
    "gauge", [Group(GROUPS, "equal"), L1(PRICES), NonNegative(), L2()], ids=lambda g: type(g).__name__
)
def test_cvxpy(gauge, loss, penalty):
    n, d, ridge = 40, 15, 0.07
    A, y = WIDE[:, :d], TARGETS
    x, b, size = cp.Variable(d), cp.Variable(), cp.Variable()
    u = A @ x + b
    if loss == "squared":
        smooth = cp.sum_squares(u - y) / (2 * n)
    else:
        y = np.where(y > 0, 1.0, -1.0)
        smooth = cp.sum(cp.logistic(cp.multiply(-y, u))) / n
    held = np.arange(d)
    limits = []
    if isinstance(gauge, Group):
        measured = sum(cp.norm2(x[g == GROUPS]) for g in range(5))
    elif isinstance(gauge, L2):
        measured = cp.norm2(x)
    elif isinstance(gauge, NonNegative):
        measured, limits = cp.sum(x), [x >= 0]
    else:
        measured = cp.norm1(cp.multiply(np.where(np.isinf(PRICES), 0.0, PRICES), x))
        held, limits = np.flatnonzero(PRICES > 0), [x[8] == 0]
    charged = {
        "Linear": lambda p: p.strength * size,
        "Square": lambda p: p.strength * cp.square(size) / 2,
        "LinearSquare": lambda p: p.strength * size + p.square * cp.square(size) / 2,
        "Ball": lambda _: 0.0,
    }[type(penalty).__name__](penalty)
    if isinstance(penalty, Ball):
        limits.append(size <= penalty.radius)
    objective = smooth + charged + ridge / 2 * cp.sum_squares(x[held])
    reference = cp.Problem(cp.Minimize(objective), [measured <= size, *limits])
    reference.solve(solver="CLARABEL", tol_gap_abs=1e-8, tol_gap_rel=1e-8, tol_feas=1e-8)
    meant = Logistic() if loss == "logistic" else Squared()
    result = solve(Problem(A, y, loss=meant, gauge=gauge, penalty=penalty, ridge=ridge, intercept=True), tol=1e-12)
    assert result.objective == pytest.approx(reference.value, abs=1e-7)
    assert result.dual <= reference.value + 1e-7
    assert result.x == pytest.approx(x.value, abs=2e-4)


def test_a_path_of_elastic_nets_of_one_ratio():
    """The ridge falls with the slope, and a Gram matrix that is kept is given the new one."""
    problem = Problem(WIDE, TARGETS, intercept=True, ridge=2.0).coupled()
    found = path(problem, n=12, tol=1e-13)
    for slope, result in zip(found.slopes, found.results, strict=True):
        assert result.problem.ridge == 2.0 * slope
        peer = mixed(ElasticNet, slope, 2.0 * slope, WIDE, TARGETS)
        assert result.x == pytest.approx(peer.coef_, abs=1e-9)
