"""Paths on tall data: one Gram matrix of all columns carries a squared loss to the end, and the data decide."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import lasso_path

from atomsieve import L1, Group, Huber, Linear, Problem, SparseGroup, Status, TotalVariation, path, solve
from atomsieve.methods.corrective.inner import Compiled
from atomsieve.methods.corrective.tall import carried, needs_all

N, D = 1500, 170
"""More columns than a working set holds at first, and more than four samples for each."""


def data(seed=0, factor=0.0):
    """Return columns with a common factor, each of which carries some signal."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D)) + factor * rng.standard_normal((N, 1))
    w = rng.standard_normal(D) * 0.9 ** np.arange(D)
    return X, X @ w + rng.standard_normal(N)


X, Y = data()
WEIGHTS = np.random.default_rng(1).uniform(0.2, 3.0, N)
SPARSE = sparse.csc_array(np.where(np.abs(X) > 0.7, X, 0.0))
GROUPS = np.arange(D) // 5

TALL = {
    "plain": (X, {}),
    "by rows": (np.asfortranarray(X), {}),
    "intercept and weights": (X + 30.0, {"intercept": True, "sample_weight": WEIGHTS}),
    "sparse": (SPARSE, {}),
    "sparse with intercept": (SPARSE.tocsr(), {"intercept": True, "sample_weight": WEIGHTS}),
    "groups": (X, {"gauge": Group(GROUPS)}),
    "sparse groups": (X, {"gauge": SparseGroup(GROUPS)}),
    "ridge": (X, {"ridge": 0.05}),
    "limits": (X, {"limits": (-0.1, 0.2)}),
    "weights of 0 and inf": (X, {"gauge": L1(np.r_[0.0, np.ones(D - 2), np.inf])}),
    "jumps beside a level": (X, {"gauge": TotalVariation()}),
}


def batches(monkeypatch):
    """Return a list to which every batch of slopes adds its length."""
    seen, follow = [], Compiled.follow

    def counted(self, problems, lines, target):
        seen.append((len(problems), self.part.every))
        return follow(self, problems, lines, target)

    monkeypatch.setattr(Compiled, "follow", counted)
    return seen


@pytest.mark.parametrize("name", TALL)
def test_one_batch_goes_to_the_end_and_every_slope_is_solved(name, monkeypatch):
    matrix, pieces = TALL[name]
    seen = batches(monkeypatch)
    problem = Problem(matrix, Y, **pieces)
    found = path(problem, n=40, tol=1e-8)
    assert seen[-1] == (40 - sum(count for count, _ in seen[:-1]), True)
    assert len(seen) <= 3
    assert all(result.converged for result in found.results)
    for k in (3, 20, 39):
        alone = solve(problem.at_penalty(Linear(float(found.slopes[k]))), tol=1e-10)
        assert abs(found.results[k].objective - alone.objective) <= 1e-8 * problem.baseline
    for result in found.results[::7]:  # the gap is that of x itself, on the data
        here = result.problem
        again = here.at(here.state(result.lifted, result.point.state.coordinates), here.eligible)
        assert again.gap <= 1.001e-8 * problem.baseline


def test_agrees_with_scikit_learn():
    found = path(Problem(X, Y), n=60, tol=1e-12)
    _, coefs, _ = lasso_path(X, Y, alphas=found.slopes, tol=1e-12, max_iter=100_000)
    np.testing.assert_allclose(found.coefs, coefs.T, atol=1e-6)


def test_a_short_path_needs_no_matrix_of_all_columns(monkeypatch):
    seen = batches(monkeypatch)
    found = path(Problem(X, Y), n=40, ratio=0.5)
    assert all(result.converged for result in found.results)
    assert {every for _, every in seen} == {False}


def test_columns_that_share_a_factor_are_not_all_expected():
    """All pulls are large at x = 0, and fall in proportion to the slope: the factor explains them."""
    rng = np.random.default_rng(2)
    matrix = rng.standard_normal((N, 1)) + 0.3 * rng.standard_normal((N, D))
    problem = Problem(matrix, matrix[:, 0] + 0.01 * rng.standard_normal(N))
    assert np.count_nonzero(np.abs(problem.origin.pulls) > 0.5 * problem.critical) > D / 2
    before, point = (solve(problem.at_penalty(Linear(part * problem.critical))).point for part in (0.7, 0.5))
    assert not needs_all(before, point, problem.at_penalty(Linear(0.3 * problem.critical)))


def test_wide_data_and_other_losses_go_on_in_batches():
    assert carried(Problem(X, Y).lifted)
    assert not carried(Problem(X[:600], Y[:600]).lifted)
    assert not carried(Problem(X, Y, loss=Huber(1.0)).lifted)
    assert not carried(Problem(sparse.csc_array(np.where(np.abs(X) > 2, X, 0.0)), Y).lifted)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.0, 3.0), st.sampled_from([0.5, 0.05, 1e-3]), st.booleans())
def test_the_guess_changes_no_answer(seed, factor, ratio, intercept):
    matrix, y = data(seed, factor)
    problem = Problem(matrix, y, intercept=intercept)
    found = path(problem, n=25, ratio=ratio, tol=1e-7)
    alone = solve(problem.at_penalty(Linear(float(found.slopes[-1]))), tol=1e-9)
    assert all(result.converged for result in found.results)
    assert abs(found.results[-1].objective - alone.objective) <= 1e-7 * problem.baseline


def test_columns_that_depend_on_each_other():
    twins = np.hstack([X[:, :85], X[:, :85]])
    problem = Problem(twins, Y)
    assert all(result.converged for result in path(problem, n=40).results)


def test_time_limits_and_callbacks():
    problem = Problem(X, Y)
    for limit in (1e-9, 0.002, 0.01):
        short = path(problem, n=200, tol=1e-9, time_limit=limit)
        assert all(result.converged for result in short.results[:-1])
        assert len(short.results) == 200 or short.results[-1].status is Status.TIME_LIMIT
    steps = []
    watched = path(problem, n=12, callbacks=[lambda progress: steps.append(progress.point.gap)])
    assert len(steps) >= 12
    assert all(result.converged for result in watched.results)


def test_ctrl_c_ends_with_what_was_found_before(monkeypatch):
    seen, follow = [], Compiled.follow

    def interrupted(self, problems, lines, target):
        seen.append(len(problems))
        if self.part.every:
            raise KeyboardInterrupt
        return follow(self, problems, lines, target)

    monkeypatch.setattr(Compiled, "follow", interrupted)
    found = path(Problem(X, Y), n=60)
    assert [result.status for result in found.results[:-1]] == [Status.CONVERGED] * sum(seen[:-1])
    assert found.results[-1].status is Status.INTERRUPTED
