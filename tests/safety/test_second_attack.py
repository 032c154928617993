"""What an attack with a truth of 400 bits found beside the certificates: each case failed once."""

import numpy as np
import pytest

from atomsieve import (
    Huber,
    Linear,
    Multinomial,
    NonNegative,
    Poisson,
    Power,
    Problem,
    Square,
    Status,
    solve,
)


def test_scores_in_doubt_count_where_x_is_zero_too():
    """Columns of 1e14 + noise, just below the critical slope: x = 0 is not optimal, and rounding hides it."""
    for seed in range(50):
        rng = np.random.default_rng(seed)
        X, y = 1e14 + rng.standard_normal((20, 1)), rng.standard_normal(20)
        slope = 0.99 * Problem(X - 1e14, y, intercept=True).origin.sigma
        result = solve(Problem(X, y, penalty=Linear(slope), intercept=True))
        assert not (result.converged and not result.x.any())
        assert not result.zero.any()


def test_a_power_near_one_with_uneven_prices_has_no_negative_mass():
    X, y = np.array([[1.278, 0.696], [-0.077, -0.387]]), np.array([0.671, -1.110])
    problem = Problem(X, y, gauge=NonNegative([0.018, 985.556]), penalty=Power(0.436, 1.1))
    assert np.isfinite(solve(problem, tol=1e-12).objective)


def test_powers_do_not_underflow_before_they_matter():
    found = [
        solve(Problem(1e70 * np.eye(2), 1e-120 * np.array([3.0, 2.9]), penalty=penalty), tol=1e-9)
        for penalty in (Power(1e140, 2.0), Square(1e140))
    ]
    np.testing.assert_allclose(found[0].x, found[1].x, rtol=1e-9)
    assert not found[0].zero.any()


def test_free_columns_with_weights_thirty_decades_apart():
    problem = Problem(
        [[0.1], [0.8]],
        [44.0, 0.0],
        loss=Poisson(),
        penalty=Linear(1.0),
        intercept=True,
        free=[[0.77], [-0.25]],
        sample_weight=[1.0, 1e-30],
    )
    assert problem.baseline < 1e-25


def test_targets_that_differ_by_a_few_units_in_the_last_place():
    X = np.random.default_rng(0).standard_normal((12, 3))
    unit = np.spacing(1e13)
    y = 1e13 + unit * np.round(X @ np.array([1.0, -1, 0]))
    far, near = (solve(Problem(X, t, penalty=Linear(0.1 * unit), intercept=True), tol=1e-9) for t in (y, y - 1e13))
    assert far.converged
    np.testing.assert_allclose(far.x / unit, near.x / unit, atol=1e-6)


def test_free_columns_that_differ_by_next_to_nothing():
    rng = np.random.default_rng(0)
    column, X, y = np.append(rng.standard_normal(7), 0.0), rng.standard_normal((8, 2)), rng.standard_normal(8)
    last = np.zeros(8)
    last[-1] = 1.0
    twins, apart = (
        solve(Problem(X, y, free=np.column_stack([column, other]), penalty=Linear(0.1)), tol=1e-9)
        for other in (column + 1e-28 * last, last)
    )
    assert twins.objective == pytest.approx(apart.objective, rel=1e-9)


def test_the_value_of_a_class_that_leads_by_far():
    loss, u = Multinomial(), np.array([[0.0, -50.0, -60.0]])
    assert loss.value(u, np.array([0]))[0] == pytest.approx(np.exp(-50.0) + np.exp(-60.0), rel=1e-14)


@pytest.mark.parametrize("outlier", [1e3, 1e10, 1e15])
def test_an_outlier_costs_other_targets_no_digits(outlier):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 3))
    y = X @ np.array([1.0, -0.5, 0]) + 0.1 * rng.standard_normal(12)
    found = []
    for far in (outlier, 30.0):
        targets = np.append(far, y[1:])
        problem = Problem(X, targets, loss=Huber(1.0), penalty=Linear(0.02), intercept=True)
        found.append(solve(problem, tol=3e-8 / far))  # the loss of the outlier is most of what a gap is compared with
    assert found[0].status in (Status.CONVERGED, Status.STALLED)
    np.testing.assert_allclose(found[0].x, found[1].x, atol=1e-8)


def test_multinomial_with_next_to_no_penalty_and_uneven_weights_ends():
    rng = np.random.default_rng(0)
    X, free = rng.standard_normal((6, 4)), np.array([[-1.0], [-1], [-1], [0], [-2], [-1]])
    weights = [5.8e-02, 1.4e-01, 4.6e-08, 34.8, 511987.0, 6.0e-04]
    pieces = {"loss": Multinomial(), "penalty": Linear(2e-11), "sample_weight": weights, "intercept": True}
    result = solve(Problem(X, [0, 0, 0, 0, 0, 1], free=free, **pieces), time_limit=60)
    assert result.status is not Status.TIME_LIMIT
