"""Targets, columns and free columns far from zero: nothing false, judged by the same problem near zero."""

from itertools import islice

import far
import numpy as np
import pytest

from atomsieve import CertifiedLasso, Huber, Linear, Poisson, Problem, Squared, Status, solve


@pytest.mark.thin(3)
@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("offset", far.OFFSETS)
def test_nothing_false_is_said_far_from_zero(offset, part):
    for case in islice(far.cases(offset, seed=0), part, None, 3):
        _, wrong = far.faults(case)
        assert not wrong, case.name


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(1, 3))
@pytest.mark.parametrize("offset", far.OFFSETS)
def test_nothing_false_is_said_far_from_zero_deep(offset, seed):
    for case in far.cases(offset, seed):
        _, wrong = far.faults(case)
        assert not wrong, case.name


@pytest.mark.parametrize("offset", [1e6, 3e8, 1e10, 1e14])
@pytest.mark.parametrize("loss", [Squared(), Huber(1.0)])
def test_targets_far_from_zero_are_solved_as_if_near(loss, offset):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    y = offset + X[:, 0] + 0.1 * rng.standard_normal(60)
    far_away = solve(Problem(X, y, loss=loss, penalty=Linear(0.1), intercept=True), tol=1e-9)
    near = solve(Problem(X, y - offset, loss=loss, penalty=Linear(0.1), intercept=True), tol=1e-9)
    assert far_away.converged
    np.testing.assert_allclose(far_away.x, near.x, atol=1e-7)
    assert far_away.objective == pytest.approx(near.objective, rel=1e-8)
    assert far_away.intercept == pytest.approx(near.intercept + offset, rel=1e-15)


def test_the_lasso_of_targets_far_from_zero():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    y = 3e8 + X[:, 0] + 0.1 * rng.standard_normal(60)
    np.testing.assert_allclose(CertifiedLasso(alpha=0.1).fit(X, y).coef_, [0.876, 0, 0, 0, 0], atol=1e-3)


@pytest.mark.parametrize("size", [1e4, 1e6, 1e8, 1e9])
def test_targets_that_a_free_column_explains_nearly_all_of(size):
    rng = np.random.default_rng(0)
    X, ramp = rng.standard_normal((60, 5)), np.arange(60.0) - 30
    y = size * ramp + X[:, 0] + 0.1 * rng.standard_normal(60)
    found = solve(Problem(X, y, penalty=Linear(0.1), free=ramp), tol=1e-9)
    near = solve(Problem(X, y - size * ramp, penalty=Linear(0.1), free=ramp), tol=1e-9)
    assert found.converged
    np.testing.assert_allclose(found.x, near.x, atol=1e-6)


@pytest.mark.parametrize("size", [1e10, 1e11, 1e12])
def test_a_free_column_that_is_nearly_constant_still_tells_its_digits(size):
    rng = np.random.default_rng(1)
    X, h = rng.standard_normal((50, 4)), rng.standard_normal(50)
    column = size + h
    y = 3 * (column - size) + X[:, 0]
    near = solve(Problem(X, y, penalty=Linear(0.05), intercept=True, free=column - size), tol=1e-9)
    found = solve(Problem(X, y, penalty=Linear(0.05), intercept=True, free=column), tol=1e-9)
    assert found.objective == pytest.approx(near.objective, rel=1e-6)
    np.testing.assert_allclose(found.x, near.x, atol=1e-6)


@pytest.mark.parametrize("count", [1e3, 1e9, 1e15])
def test_large_counts(count):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    y = np.round(count * np.exp(3 * X[:, 0] / np.sqrt(count)))
    strength = 0.3 * np.abs(X.T @ (y - y.mean())).max() / 60
    result = solve(Problem(X, y, loss=Poisson(), penalty=Linear(strength), intercept=True), tol=1e-6)
    # at counts of 1e15 a slope is known to ten digits, the gap to six
    assert result.status is (Status.CONVERGED if count < 1e15 else Status.STALLED)
    assert result.gap <= 1e-6 * result.problem.baseline
    assert np.flatnonzero(result.x).tolist() == [0]


def test_a_gap_below_zero_is_never_shown_as_none():
    """What cannot be negative and is shows how far off rounding is: no gap, and no tolerance, is finer than that."""

    class Crooked(Squared):
        def fenchel_young(self, u, t, y):
            return super().fenchel_young(u, t, y) - 0.01

    # where the gradient needs no scaling the Fenchel-Young terms are 0 by their definition, and nobody computes them
    seen = 0
    for seed in range(12):
        X = np.random.default_rng(seed).standard_normal((30, 4))
        result = solve(Problem(X, X[:, 0], loss=Crooked(), penalty=Linear(0.1)), tol=1e-6)
        seen += result.status in (Status.STALLED, Status.EXHAUSTED) and result.gap > 1e-3
        truth = solve(Problem(X, X[:, 0], penalty=Linear(0.1)), tol=1e-12)
        assert result.gap >= result.objective - truth.objective - 1e-12
        assert result.converged == (result.gap < 1e-3)
    assert seen
