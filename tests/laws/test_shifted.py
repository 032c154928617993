"""Points of a convex hull that does not contain 0: the optimum of a conic solver, and weights that add up to 1."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from atomsieve import Atoms, Ball, GaugeRegressor, Linear, Logistic, Problem, Shifted, Simplex, Squared, solve, verify

N, D = 40, 6
RNG = np.random.default_rng(8)
CASES = {
    "simplex": np.eye(D),
    "few": RNG.normal(size=(D, 4)) + 1.0,
    "many": RNG.normal(size=(D, 15)) + 1.0,
    "twins": np.hstack([np.eye(D), np.eye(D)[:, :2]]),
}


def draw(loss, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D))
    signal = X @ rng.uniform(-1, 1, D) + 0.3 * rng.standard_normal(N)
    return X, signal if isinstance(loss, Squared) else np.where(signal > 0, 1.0, -1.0)


def conic(matrix, loss, X, y):
    """Return the optimal value over the convex hull of the columns."""
    w = cp.Variable(matrix.shape[1], nonneg=True)
    u = X @ (matrix @ w)
    losses = cp.square(u - y) / 2 if isinstance(loss, Squared) else cp.logistic(-cp.multiply(y, u))
    program = cp.Problem(cp.Minimize(cp.sum(losses) / N), [cp.sum(w) == 1])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")  # as exact as it can be: the comparison tells
        program.solve(solver=cp.CLARABEL, **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11))
    return program.value, matrix @ w.value


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=repr)
@pytest.mark.parametrize("by", [0, -1, "middle"])
def test_agrees_with_a_conic_solver(case, loss, by, tmp_path):
    matrix = CASES[case]
    X, y = draw(loss, 1)
    gauge = Shifted(matrix, matrix.mean(axis=1) if by == "middle" else by)
    offset = gauge.offset(X)
    result = solve(Problem(X, y, loss=loss, gauge=gauge, penalty=Ball(1.0), offset=offset), tol=1e-12)
    value, x = conic(matrix, loss, X, y)
    assert result.gap <= 1e-8
    assert result.objective == pytest.approx(value, abs=1e-7)
    found = gauge.point(result.x)
    np.testing.assert_allclose(found, x, atol=1e-3)
    np.testing.assert_allclose(X @ found, X @ result.x + offset, atol=1e-12)
    if case == "simplex":
        assert found.sum() == pytest.approx(1.0)
        assert found.min() >= -1e-12
    certificate = result.certificate()
    assert certificate.valid
    table = certificate.feature_frame()
    assert (table.lower - 1e-3 <= x - gauge.point(np.zeros(D))).all()
    assert (x - gauge.point(np.zeros(D)) <= table.upper + 1e-3).all()
    certificate.save(tmp_path / "certificate.json")
    assert verify(tmp_path / "certificate.json", X, y, offset=offset).valid


def test_the_hull_and_not_the_hull_with_zero():
    """Where 0 is best, the simplex with 0 takes it, and the simplex itself does not."""
    X, y = np.eye(3), np.zeros(3)
    assert not solve(Problem(X, y, gauge=Simplex(), penalty=Ball(1.0))).x.any()
    gauge = Shifted(np.eye(3))
    result = solve(Problem(X, y, gauge=gauge, penalty=Ball(1.0), offset=gauge.offset(X)), tol=1e-12)
    np.testing.assert_allclose(gauge.point(result.x), np.full(3, 1 / 3), atol=1e-6)


def test_in_an_estimator():
    X, y = draw(Squared(), 3)
    gauge = Shifted(np.eye(D), by=1)
    model = GaugeRegressor(gauge=gauge, penalty=Ball(1.0), fit_intercept=False, tol=1e-12)
    model.fit(X, y, offset=gauge.offset(X))
    x = gauge.point(model.coef_)
    assert x.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(model.predict(X, offset=gauge.offset(X)), X @ x)


def test_forms_are_the_same_gauge():
    matrix = CASES["many"]
    z = RNG.normal(size=D)
    for given in (Atoms(matrix), sparse.csr_array(matrix), matrix.tolist()):
        gauge = Shifted(given, by=2)
        np.testing.assert_allclose(gauge.scores(z), Shifted(matrix, by=matrix[:, 2]).scores(z))
        assert gauge.support(z) == pytest.approx((z @ matrix).max() - z @ matrix[:, 2])


def test_the_value_is_that_of_what_is_left():
    gauge = Shifted(np.eye(3), by=0)
    assert gauge.value(np.array([-0.5, 0.25, 0.25])) == pytest.approx(0.5)
    assert gauge.value(np.array([0.5, 0.25, 0.25])) == np.inf


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"atoms": np.eye(3), "by": 3}, "one of the 3 atoms"),
        ({"atoms": np.eye(3), "by": [1.0, 2.0]}, "a vector of 3 finite numbers"),
        ({"atoms": np.eye(3), "by": [1.0, 2.0, np.nan]}, "a vector of 3 finite numbers"),
        ({"atoms": np.ones(3)}, "columns of a matrix"),
    ],
)
def test_what_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        Shifted(**given)


def test_what_is_refused_in_a_problem():
    with pytest.raises(ValueError, match="all atoms are equal"):
        Problem(np.eye(3), np.ones(3), gauge=Shifted(np.ones((3, 2))), penalty=Linear(1.0))
    with pytest.raises(ValueError, match="measures vectors"):
        Problem(np.eye(3), np.ones((3, 2)), gauge=Shifted(np.eye(3)), penalty=Linear(1.0))
