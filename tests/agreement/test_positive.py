"""Coefficients that must not be negative, one by one: the optimum of a conic solver, and of the gauges at the ends."""

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from atomsieve import (
    GCG,
    L1,
    Away,
    Ball,
    Corrective,
    Image,
    Linear,
    LineSearch,
    Logistic,
    Multinomial,
    NonNegative,
    Pairwise,
    Problem,
    Scaled,
    Square,
    Squared,
    path,
    solve,
)

N, D = 40, 12
LOSSES = [Squared(), Logistic()]
PENALTIES = [Linear(0.04), Square(0.03)]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)
every_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=repr)


def draw(loss, seed):
    """Return a design, targets, prices and which coefficients must not be negative; many of them would like to be."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D)) + 0.5 * rng.standard_normal((N, 1))
    signal = X @ rng.standard_normal(D) + 1.0 + 0.3 * rng.standard_normal(N)
    y = signal if isinstance(loss, Squared) else np.where(signal > np.median(signal), 1.0, -1.0)
    return X, y, rng.choice([0.5, 1.0, 2.0], D), rng.random(D) < 0.5


def conic(loss, penalty, X, y, prices, positive):
    """Return x and the intercept that a conic solver finds."""
    x, b = cp.Variable(D), cp.Variable()
    u, size = X @ x + b, cp.norm1(cp.multiply(prices, x))
    losses = cp.square(u - y) / 2 if isinstance(loss, Squared) else cp.logistic(-cp.multiply(y, u))
    strength = penalty.strength
    charge = strength * size if isinstance(penalty, Linear) else strength * cp.square(size) / 2
    program = cp.Problem(cp.Minimize(cp.sum(losses) / N + charge), [x[np.flatnonzero(positive)] >= 0])
    program.solve(solver=cp.CLARABEL, **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11))
    return x.value, b.value


@pytest.mark.thin(3)
@every_loss
@every_penalty
@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_a_conic_solver(loss, penalty, seed):
    X, y, prices, positive = draw(loss, seed)
    problem = Problem(X, y, loss=loss, gauge=L1(prices, positive=positive), penalty=penalty, intercept=True)
    result = solve(problem, tol=1e-12)
    x, b = conic(loss, penalty, X, y, prices, positive)
    assert result.converged
    assert (result.x[positive] >= 0).all()
    theirs = problem.at(problem.state(np.where(positive, np.maximum(x, 0.0), x))).objective
    assert result.objective <= theirs * (1 + 1e-11)
    np.testing.assert_allclose(result.x, x, atol=1e-4)
    np.testing.assert_allclose(result.intercept, b, atol=1e-4)


@pytest.mark.thin(3)
@every_loss
@every_penalty
@pytest.mark.parametrize("method", [GCG(LineSearch()), Away(), Pairwise()], ids=repr)
def test_every_method_goes_to_the_same_optimum(loss, penalty, method):
    if isinstance(penalty, Linear):
        penalty = Ball(1.5)
    X, y, prices, positive = draw(loss, 1)
    problem = Problem(X, y, loss=loss, gauge=L1(prices, positive=positive), penalty=penalty, intercept=True)
    exact, walked = solve(problem, Corrective(), tol=1e-12), solve(problem, method, tol=1e-6, max_iter=400)
    assert walked.converged or isinstance(method, GCG)
    assert walked.gap <= 1e-2 * problem.baseline
    assert walked.objective - walked.gap <= exact.objective * (1 + 1e-11) <= walked.objective * (1 + 2e-11)
    assert not (exact.lifted[~walked.alive] != 0).any()
    assert (walked.x[positive] >= 0).all()


@every_loss
@every_penalty
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("flag", "twin"), [(True, NonNegative), (False, L1)])
def test_all_or_none_is_another_gauge(loss, penalty, form, flag, twin):
    X, y, prices, _ = draw(loss, 2)
    given = {"loss": loss, "penalty": penalty, "intercept": True}
    gauge = L1(prices, positive=np.full(D, flag))
    one, other = (solve(Problem(form(X), y, gauge=g, **given), tol=1e-12) for g in (gauge, twin(prices)))
    np.testing.assert_allclose(one.x, other.x, atol=1e-9)
    np.testing.assert_allclose(one.intercept, other.intercept, atol=1e-9)
    np.testing.assert_array_equal(one.zero, other.zero)
    first, second = one.certificate(), other.certificate()
    np.testing.assert_array_equal(first.nonzero, second.nonzero)
    np.testing.assert_allclose(first.lower, second.lower, atol=1e-9)


@every_loss
@every_penalty
def test_turned_columns(loss, penalty):
    """Two signs are two columns: L1 with a mask is NonNegative over the columns and the turned ones of both signs."""
    X, y, prices, positive = draw(loss, 3)
    both = ~positive
    wide, dear = np.hstack([X, -X[:, both]]), np.concatenate([prices, prices[both]])
    given = {"loss": loss, "penalty": penalty, "intercept": True}
    masked = solve(Problem(X, y, gauge=L1(prices, positive=positive), **given), tol=1e-12)
    doubled = solve(Problem(wide, y, gauge=NonNegative(dear), **given), tol=1e-12)
    x = doubled.x[:D].copy()
    x[both] -= doubled.x[D:]
    np.testing.assert_allclose(masked.x, x, atol=1e-6)
    assert masked.objective == pytest.approx(doubled.objective, rel=1e-11)


@pytest.mark.parametrize("wrap", [lambda g: Scaled(g, 3.0), lambda g: Image(g, np.eye(D))], ids=["Scaled", "Image"])
def test_gauges_of_gauges_keep_the_mask(wrap):
    X, y, prices, positive = draw(Squared(), 4)
    gauge = L1(prices, positive=positive)
    plain = solve(Problem(X, y, gauge=gauge, penalty=Ball(0.6)), tol=1e-12)
    other = solve(Problem(X, y, gauge=wrap(gauge), penalty=Ball(0.2 if wrap(gauge).value(plain.x) < 0.5 else 0.6)))
    np.testing.assert_allclose(other.x, plain.x, atol=1e-4)


def test_weights_of_0_and_inf_beside_a_mask():
    X, y, prices, positive = draw(Squared(), 5)
    positive[:3] = [False, True, False]
    prices[:2] = [0.0, np.inf]
    result = solve(Problem(X, y, gauge=L1(prices, positive=positive), penalty=Linear(0.04), intercept=True), tol=1e-12)
    rest = solve(
        Problem(
            X[:, 2:],
            y,
            gauge=L1(prices[2:], positive=positive[2:]),
            penalty=Linear(0.04),
            intercept=True,
            free=X[:, :1],
        ),
        tol=1e-12,
    )
    np.testing.assert_allclose(result.x[2:], rest.x, atol=1e-9)
    np.testing.assert_allclose(result.x[:2], [rest.free[0], 0.0], atol=1e-9)


def test_rows_of_a_matrix():
    """One truth value holds for all classes."""
    rng = np.random.default_rng(6)
    X, y, positive = rng.standard_normal((60, 6)), rng.integers(0, 3, 60), np.arange(6) % 2 == 0
    result = solve(Problem(X, y, loss=Multinomial(), gauge=L1(positive=positive), penalty=Linear(0.01)), tol=1e-11)
    x = cp.Variable((6, 3))
    u = X @ x
    losses = cp.log_sum_exp(u, axis=1) - cp.sum(cp.multiply(u, np.eye(3)[y]), axis=1)
    program = cp.Problem(cp.Minimize(cp.sum(losses) / 60 + 0.01 * cp.sum(cp.abs(x))), [x[::2] >= 0])
    program.solve(solver=cp.CLARABEL)
    assert result.converged
    assert (result.x[positive] >= 0).all()
    np.testing.assert_allclose(result.x, x.value, atol=1e-4)


def test_a_path_keeps_the_signs():
    X, y, prices, positive = draw(Squared(), 7)
    found = path(Problem(X, y, gauge=L1(prices, positive=positive), intercept=True), n=20, tol=1e-10)
    assert all(result.converged for result in found.results)
    assert (found.coefs[:, positive] >= 0).all()
    assert (found.coefs[-1][~positive] < 0).any()
