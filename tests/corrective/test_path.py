"""Paths: every slope solved, and one path for every penalty."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.linear_model import lasso_path

from atomsieve import (
    L1,
    Ball,
    Group,
    Linear,
    LinearSquare,
    LogBarrier,
    Logistic,
    NonNegative,
    Power,
    Problem,
    Square,
    Squared,
    path,
    solve,
)

RNG = np.random.default_rng(3)
X = RNG.standard_normal((50, 80))
SCORES = X[:, :6] @ RNG.standard_normal(6) + 0.5 * RNG.standard_normal(50)
LABELS = np.where(SCORES > 0, 1.0, -1.0)
GAUGES = [L1(), L1(positive=np.arange(80) % 2 == 0), NonNegative(), Group(np.arange(80) // 4)]


@pytest.mark.thin(2)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("gauge", GAUGES, ids=lambda g: type(g).__name__)
@pytest.mark.parametrize(("loss", "y"), [(Squared(), SCORES), (Logistic(), LABELS)], ids=["Squared", "Logistic"])
def test_every_slope_is_solved(loss, y, gauge, intercept):
    problem = Problem(X, y, loss=loss, gauge=gauge, intercept=intercept)
    found = path(problem, n=15, tol=1e-9)
    assert len(found.results) == len(found.coefs) == len(found.intercepts) == 15
    for slope, result, x in zip(found.slopes, found.results, found.coefs, strict=True):
        alone = solve(Problem(X, y, loss=loss, gauge=gauge, intercept=intercept, penalty=Linear(slope)), tol=1e-10)
        assert result.converged
        assert abs(result.objective - alone.objective) <= 1e-9 * problem.baseline
        assert result.problem.penalty == Linear(slope)
        np.testing.assert_array_equal(result.x, x)
        assert not (alone.lifted[~result.alive[problem.core.labels(problem.shape)]] != 0).any()
    assert not found.coefs[0].any()
    assert (np.diff(found.sizes) >= -1e-6).all()


@pytest.mark.parametrize(("loss", "y"), [(Squared(), SCORES), (Logistic(), LABELS)], ids=["Squared", "Logistic"])
def test_x_alone_shows_the_gap_of_every_slope(loss, y):
    problem = Problem(X, y, loss=loss, intercept=True)
    for result in path(problem, n=40).results:
        here = result.problem
        again = here.at(here.state(result.lifted, result.point.state.coordinates), here.eligible)
        assert again.gap <= 1.001e-6 * problem.baseline


@pytest.mark.parametrize(("loss", "y"), [(Squared(), SCORES), (Logistic(), LABELS)], ids=["Squared", "Logistic"])
def test_slopes_at_uneven_distances(loss, y):
    problem = Problem(X, y, loss=loss)
    critical = problem.origin.sigma
    slopes = critical * np.array([2.0, 1.0, 0.99, 0.3, 0.2999, 0.2999, 0.1, 0.09999, 0.02])
    found = path(problem, slopes, tol=1e-10)
    for slope, result in zip(found.slopes, found.results, strict=True):
        alone = solve(problem.at_penalty(Linear(float(slope))), tol=1e-11)
        assert result.converged
        assert abs(result.objective - alone.objective) <= 1e-10 * problem.baseline


def test_the_working_set_is_kept_from_slope_to_slope():
    wide = np.random.default_rng(5).standard_normal((60, 3000))
    labels = np.where(wide[:, :4].sum(axis=1) > 0, 1.0, -1.0)
    found = path(Problem(wide, labels, loss=Logistic()), n=50, ratio=0.1)
    assert all(result.converged for result in found.results)
    assert sum(result.passes for result in found.results) <= 1.25 * 50


def test_the_first_slope_is_critical():
    found = path(Problem(X, SCORES), n=2, ratio=0.99)
    assert not found.coefs[0].any()
    assert found.coefs[1].any()


def test_agrees_with_scikit_learn():
    found = path(Problem(X, SCORES), n=20, tol=1e-12)
    _, coefs, _ = lasso_path(X, SCORES, alphas=found.slopes, tol=1e-12, max_iter=100_000)
    np.testing.assert_allclose(found.coefs, coefs.T, atol=1e-6)


@pytest.mark.parametrize(
    "penalty",
    [
        Linear(0.1),
        Square(0.05),
        Power(0.1, 3.0),
        Power(0.1, 1.5),
        Ball(1.5),
        LogBarrier(2.0, 5.0),
        LinearSquare(0.1, 0.1),
    ],
    ids=repr,
)
def test_one_path_answers_for_every_penalty(penalty):
    """The slope that the penalty has at the solution is on the path, and the solution there is the same."""
    problem = Problem(X, SCORES)
    found = path(problem, n=30).at(penalty, tol=1e-11)
    alone = solve(Problem(X, SCORES, penalty=penalty), tol=1e-11)
    assert found.converged
    assert found.problem.penalty == penalty
    np.testing.assert_allclose(found.x, alone.x, atol=1e-4)
    along = solve(Problem(X, SCORES, penalty=Linear(found.point.sigma)), tol=1e-11)
    np.testing.assert_allclose(along.x, found.x, atol=1e-4)


def test_a_path_costs_less_than_its_solves():
    problem = Problem(RNG.standard_normal((50, 1000)), SCORES)
    found = path(problem, n=30)
    assert sum(result.passes for result in found.results) < 3 * 30


def test_given_slopes_are_sorted_and_limits_hold():
    problem = Problem(X, SCORES)
    found = path(problem, [0.1, 1.0, 0.5])
    np.testing.assert_array_equal(found.slopes, [1.0, 0.5, 0.1])
    short = path(problem, time_limit=1e-9)
    assert len(short.results) == len(short.slopes) == len(short.coefs) < 100
    stopped = path(problem, callbacks=[lambda _: False])
    assert len(stopped.results) == 2  # nothing is to be done at the critical slope
    assert "slopes from" in repr(found)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"slopes": []}, "slopes"),
        ({"slopes": [0.0, 1.0]}, "slopes"),
        ({"slopes": [np.nan]}, "slopes"),
        ({"slopes": "many"}, "slopes"),
        ({"n": 0}, "n must"),
        ({"n": 2.5}, "n must"),
        ({"ratio": 0.0}, "ratio"),
        ({"ratio": 1.0}, "ratio"),
        ({"tol": -1.0}, "tol"),
        ({"screening": "strong"}, "screening"),
    ],
)
def test_bad_input(arguments, word):
    with pytest.raises(ValueError, match=word):
        path(Problem(X, SCORES), **arguments)


def test_nothing_to_find():
    with pytest.raises(ValueError, match="whatever the slope"):
        path(Problem(np.zeros((3, 2)), [1.0, 2.0, 3.0]))


def test_plot():
    mpl.use("Agg")
    ax = path(Problem(X, SCORES), n=10).plot()
    assert ax.get_xscale() == "log"
    assert len(ax.lines) > 1
