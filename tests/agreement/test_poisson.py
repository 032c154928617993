"""The Poisson loss against cvxpy, and what is special about a loss without a bound of its curvature."""

import cvxpy as cp
import numpy as np
import pytest

from atomsieve import GCG, L1, Ball, Group, Linear, LineSearch, Pairwise, Poisson, Problem, ShortStep, Square, solve

RNG = np.random.default_rng(0)
X = 0.4 * RNG.standard_normal((120, 15))
Y = RNG.poisson(np.exp(0.5 + X[:, 0] - X[:, 1])).astype(float)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("penalty", [Linear(0.05), Square(0.05), Ball(1.0)], ids=repr)
def test_same_optimum_as_cvxpy(penalty, intercept):
    x, b = cp.Variable(15), cp.Variable()
    u = X @ x + (b if intercept else 0)
    half_deviance = cp.exp(u) - cp.multiply(Y, u) + np.where(Y > 0, Y * np.log(np.maximum(Y, 1)), 0) - Y
    size, constraints, charge = cp.norm1(x), [], 0
    if isinstance(penalty, Ball):
        constraints = [size <= 1.0]
    else:
        charge = 0.05 * (size if isinstance(penalty, Linear) else cp.square(size) / 2)
    reference = cp.Problem(cp.Minimize(cp.sum(half_deviance) / 120 + charge), constraints)
    reference.solve()
    result = solve(Problem(X, Y, loss=Poisson(), penalty=penalty, intercept=intercept), tol=1e-12)
    assert result.converged
    assert result.objective <= reference.value + 1e-7
    assert result.objective >= reference.value - 1e-5
    certificate = result.certificate()
    assert not certificate.undecided.any()
    np.testing.assert_array_equal(certificate.zero, result.x == 0)


def test_screening_without_a_global_bound_is_safe():
    problem = Problem(X, Y, loss=Poisson(), penalty=Square(0.05), intercept=True)
    support = solve(problem, tol=1e-12).x != 0
    result = solve(problem, Pairwise(LineSearch()), tol=1e-9, callbacks=[])
    assert result.converged
    assert not (result.zero & support).any()
    assert result.zero.any()


def test_groups_and_large_counts():
    y = RNG.poisson(np.exp(6 + X[:, 0])).astype(float)
    for gauge in (L1(), Group(np.arange(15) // 3)):
        result = solve(Problem(X, y, loss=Poisson(), gauge=gauge, penalty=Linear(5.0), intercept=True), tol=1e-10)
        assert result.converged, result


def test_short_steps_are_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"ShortStep\(\) needs a bound of the curvature, and Poisson has none"):
        solve(Problem(X, Y, loss=Poisson(), penalty=Square(0.1)), GCG(ShortStep()))


def test_targets_that_make_no_sense():
    with pytest.raises(ValueError, match="must not be negative"):
        Problem(X, -Y, loss=Poisson())
    with pytest.raises(ValueError, match="best intercept is infinite"):
        Problem(X, 0 * Y, loss=Poisson(), intercept=True)
