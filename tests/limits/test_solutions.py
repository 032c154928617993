"""Problems with limits have the solutions that cvxpy finds, in few passes; what cannot be is refused in a sentence."""

import cvxpy as cp
import numpy as np
import pytest
from drawn import draw

from atomsieve import (
    GCG,
    L1,
    OWL,
    Away,
    Ball,
    Group,
    Linear,
    LogBarrier,
    Logistic,
    Multinomial,
    NonNegative,
    Pairwise,
    Poisson,
    Problem,
    Square,
    Squared,
    path,
    solve,
)


def optimum(problem, X, y, stated):
    """Return the optimal value by a conic solver."""
    n, d = X.shape
    weights = stated["sample_weight"]
    weights = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    x, b, s = cp.Variable(d), cp.Variable(), cp.Variable()
    u = X @ x + (b if stated["intercept"] else 0)
    losses = {
        Squared: lambda: cp.square(u - y) / 2,
        Logistic: lambda: cp.logistic(-cp.multiply(y, u)),
        Poisson: lambda: cp.exp(u) - cp.multiply(y, u) + np.where(y > 0, y * np.log(np.maximum(y, 1)), 0) - y,
    }[type(stated["loss"])]()
    lower, upper = stated["limits"]
    prices = np.ones(d) if problem.gauge.weights is None else problem.gauge.weights
    constraints = [prices @ cp.abs(x) <= s]
    constraints += [x[known] >= lower[known]] if (known := np.isfinite(lower)).any() else []
    constraints += [x[known] <= upper[known]] if (known := np.isfinite(upper)).any() else []
    penalty = problem.penalty
    charges = {
        Linear: lambda: penalty.strength * s,
        Square: lambda: penalty.strength / 2 * cp.square(s),
        Ball: lambda: 0,
        LogBarrier: lambda: (-cp.log(1 - s / penalty.radius) - s / penalty.radius) / penalty.sharpness,
    }
    constraints += [s <= penalty.radius] if isinstance(penalty, Ball) else []
    ridge = cp.sum(cp.multiply(np.broadcast_to(stated["ridge"], d), cp.square(x))) / 2
    program = cp.Problem(cp.Minimize(weights @ losses + charges[type(penalty)]() + ridge), constraints)
    tight = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11)
    program.solve(solver="CLARABEL", **tight)
    return program.value


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.thin(3)
@pytest.mark.parametrize("penalty", [Linear(0.05), Square(0.1), Ball(1.5), LogBarrier(2.0, 5.0)], ids=repr)
@pytest.mark.parametrize("loss", [Squared(), Logistic(), Poisson()], ids=repr)
@pytest.mark.parametrize(("seed", "ridge"), [*((k, 0.0) for k in range(10)), *((k, 0.2) for k in range(10, 16))])
def test_agrees_with_a_conic_solver(loss, penalty, seed, ridge):
    problem, X, y, stated = draw(np.random.default_rng(seed), loss, penalty, ridge)
    result = solve(problem, tol=1e-10)
    best = optimum(problem, X, y, stated)
    assert result.gap <= 1e-8
    assert result.objective == pytest.approx(best, abs=1e-7)
    assert result.dual <= best + 1e-7
    assert ((stated["limits"][0] <= result.x) & (result.x <= stated["limits"][1])).all()


def test_limits_that_hold_nothing_back_change_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 60)), rng.standard_normal(30)
    plain = solve(Problem(X, y, penalty=Linear(0.1)), tol=1e-12)
    wide = solve(Problem(X, y, penalty=Linear(0.1), limits=(-100, 100)), tol=1e-12)
    np.testing.assert_allclose(wide.x, plain.x, atol=1e-8)
    assert Problem(X, y, limits=(None, np.inf)).limits is None


def test_zero_as_lower_limit_is_the_gauge_of_non_negative_coefficients():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((30, 60)), rng.standard_normal(30)
    plain = solve(Problem(X, y, gauge=NonNegative(), penalty=Square(0.1)), tol=1e-12)
    limited = solve(Problem(X, y, gauge=L1(), penalty=Square(0.1), limits=(0, None)), tol=1e-12)
    np.testing.assert_allclose(limited.x, plain.x, atol=1e-8)


def test_equal_limits_are_an_offset():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((20, 5)), rng.standard_normal(20)
    held = np.array([0.3, -0.2, 0.0, 0.0, 0.0])
    lower, upper = np.where(held != 0, held, -np.inf), np.where(held != 0, held, np.inf)
    limited = solve(Problem(X, y, penalty=Linear(0.05), limits=(lower, upper)), tol=1e-12)
    rest = solve(Problem(X[:, 2:], y, penalty=Linear(0.05), offset=X @ held), tol=1e-12)
    np.testing.assert_allclose(limited.x, np.append(held[:2], rest.x), atol=1e-8)


def test_few_passes_on_wide_data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((100, 2000))
    y = X[:, :10].sum(axis=1) + rng.standard_normal(100)
    problem = Problem(X, y, penalty=Linear(0.3), limits=(-0.4, 0.4), intercept=True)
    result = solve(problem)
    assert result.converged
    assert result.passes <= 12
    assert (np.abs(result.x) == 0.4).sum() >= 3


def test_a_path_begins_at_the_point_nearest_to_zero():
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((20, 4)), rng.standard_normal(20)
    problem = Problem(X, y, limits=([0.1, -1, -1, -1], [1, 1, 1, -0.2]))
    found = path(problem, n=4)
    np.testing.assert_array_equal(found.coefs[0], [0.1, 0, 0, -0.2])
    assert problem.at_penalty(Linear(0.9 * problem.critical)).origin.gap > 0


def test_names_arrays_and_several_outputs():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((20, 3)), rng.standard_normal((20, 2))
    named = Problem(X, y[:, 0], names=["a", "b", "c"], limits={"b": (None, 0.5), "c": (0, 0)})
    np.testing.assert_array_equal(named.limits.upper, [np.inf, 0.5, 0])
    np.testing.assert_array_equal(named.limits.lower, [-np.inf, -np.inf, 0])
    both = Problem(X, y, limits=([-1, -2, -3], np.arange(6.0).reshape(3, 2)))
    np.testing.assert_array_equal(both.limits.lower, [-1, -1, -2, -2, -3, -3])
    np.testing.assert_array_equal(both.limits.upper, np.arange(6.0))


BAD = [
    ({"limits": 1.0}, "pair"),
    ({"limits": (1, 0)}, "lower <= upper"),
    ({"limits": ([0, 0], 1)}, "one for each of the 3 features"),
    ({"limits": (np.nan, 1)}, "without NaN"),
    ({"limits": (np.inf, None)}, "lower must hold numbers"),
    ({"limits": {"a": (0, 1)}}, "names"),
    ({"limits": ({"a": 0}, {"a": 1}), "names": ["a", "b", "c"]}, "limits by name are one dict, .* not a pair of dicts"),
    ({"limits": {"z": (0, 1)}, "names": ["a", "b", "c"]}, "no feature 'z'"),
    ({"limits": (None, -1), "gauge": NonNegative()}, "no negative coefficients"),
    ({"limits": (0, 1), "gauge": L1([0, 1, 1])}, "weight 0"),
    ({"limits": (0.5, 1), "gauge": L1([1, np.inf, 1])}, "contain 0"),
    ({"limits": (0, 1), "gauge": Group([0, 0, 1])}, "each coefficient for itself"),
    ({"limits": (0, 1), "gauge": OWL([3, 2, 1])}, "each coefficient for itself"),
    ({"limits": (0, 1), "ridge": 0.1, "loss": Multinomial()}, "one for each class"),
    ({"limits": (0.5, 1), "penalty": Ball(1.0)}, "no solution"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=lambda value: value if isinstance(value, str) else "")
def test_what_cannot_be_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        Problem(np.eye(3), np.arange(3) if "loss" in arguments else np.ones(3), **arguments)


@pytest.mark.parametrize("method", [GCG(), Away(), Pairwise()], ids=repr)
def test_methods_of_atoms_refuse_limits(method):
    with pytest.raises(ValueError, match="limits"):
        solve(Problem(np.eye(3), np.ones(3), limits=(0, 1)), method)


def test_extreme_data():
    for scale in (1e-100, 1.0, 1e100):
        X, y = np.array([[1.0, 2.0]]) * scale, np.array([3.0]) * scale
        result = solve(Problem(X, y, penalty=Linear(0.1 * scale * scale), limits=(-1, 1)), tol=1e-9)
        assert result.converged
        np.testing.assert_allclose(result.x, [0.9, 1.0], atol=1e-6)
    assert not solve(Problem(np.zeros((3, 2)), np.zeros(3), limits=(-1, 1))).x.any()
