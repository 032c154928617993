"""Intervals of predictions: those of the optimum lie within, for one problem and for families."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from atomsieve import L1, Image, Linear, Logistic, Multinomial, Problem, Squared, solve
from atomsieve.certificate.inverse import is_sum


def drawn(seed, loss):
    rng = np.random.default_rng(seed)
    n, d = 40, 20
    far = float(rng.choice([0.0, 1e3]))
    X = rng.standard_normal((n, d)) + far
    y = X[:, :3] @ [1.0, 2.0, -1.0] - 2 * far + 0.1 * rng.standard_normal(n)
    y = y if loss.quadratic else np.where(y > 0, 1.0, -1.0)
    free = rng.standard_normal((n, 1)) if seed % 3 == 0 else None
    offset = rng.standard_normal(n) if seed % 4 == 1 else None
    new = rng.standard_normal((7, d)) + far
    told = {
        "free": None if free is None else rng.standard_normal((7, 1)),
        "offset": None if offset is None else rng.standard_normal(7),
    }
    pieces = {"loss": loss, "penalty": Linear(0.1), "intercept": True, "free": free, "offset": offset}
    return rng, X, y, pieces, new, told


def predicted(result, new, told):
    u = new @ result.x + result.intercept
    u = u if told["free"] is None else u + told["free"] @ result.free
    return u if told["offset"] is None else u + told["offset"]


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("seed", range(12))
def test_the_optimum_predicts_within(seed, loss):
    rng, X, y, pieces, new, told = drawn(seed, loss)
    coarse = solve(Problem(X, y, **pieces), tol=1e-7).certificate().predict(new, **told)
    fine = solve(Problem(X, y, **pieces), tol=1e-14)
    u = predicted(fine, new, told)
    assert (coarse.lower <= u + 1e-9).all()
    assert (u - 1e-9 <= coarse.upper).all()
    assert (coarse.upper - coarse.lower).max() < 0.1
    family = fine.certificate(x_error=1e-5)
    if family.valid:
        wide = family.predict(new, **told)
        member = solve(Problem(X + 1e-5 * rng.choice([-1, 1], X.shape), y, **pieces), tol=1e-14)
        u = predicted(member, new, told)
        assert (wide.lower <= u + 1e-9).all()
        assert (u - 1e-9 <= wide.upper).all()


def test_strengths():
    _, X, y, pieces, new, told = drawn(2, Squared())
    found = solve(Problem(X, y, **pieces), tol=1e-14).certificate(strengths=(0.099, 0.101)).predict(new, **told)
    for strength in (0.099, 0.1007):
        u = predicted(solve(Problem(X, y, **pieces | {"penalty": Linear(strength)}), tol=1e-14), new, told)
        assert (found.lower <= u + 1e-9).all()
        assert (u - 1e-9 <= found.upper).all()


def test_sparse_rows_and_images():
    rng = np.random.default_rng(0)
    X, Q = rng.standard_normal((30, 6)), rng.standard_normal((6, 10))
    y, new = X @ rng.standard_normal(6), rng.standard_normal((4, 6))
    result = solve(Problem(X, y, gauge=Image(L1(), Q), penalty=Linear(0.3)), tol=1e-13)
    dense, sparse = (result.certificate().predict(rows) for rows in (new, csr_array(new)))
    for found in (dense, sparse):
        assert (found.lower <= new @ result.x).all()
        assert (new @ result.x <= found.upper).all()


def test_rows_off_the_span_of_dependent_columns_are_not_determined():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3))
    y = 2 * X[:, 0] + 0.1 * rng.standard_normal(20)
    twins = np.column_stack([X, X[:, 0]])
    certificate = solve(Problem(twins, y, penalty=Linear(0.1)), tol=1e-12).certificate()
    found = certificate.predict([[1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.5]])
    assert np.isfinite(found.upper).tolist() == [True, False]
    assert np.isfinite(found.lower).tolist() == [True, False]


@pytest.mark.parametrize("of", [np.asarray, csr_array])
def test_where_nothing_is_proven(of):
    silent = solve(Problem(np.eye(3), [3.0, 2.0, 1.0], penalty=Linear(0.1)), tol=1e-12).certificate(x_error=10.0)
    assert not silent.valid
    found = silent.predict(of(np.eye(3)[:2]))
    assert found.lower.tolist() == [-np.inf] * 2
    assert found.upper.tolist() == [np.inf] * 2


def test_a_sum_that_is_rounded_is_none():
    assert is_sum(np.array([1.5]), np.array([[3.0, 0.0]]), np.array([0.5, 0.25]))
    assert 3.0 * 0.1 == 0.1 + 0.2  # and neither is three tenths of the float 0.1
    assert not is_sum(np.array([0.1 + 0.2]), np.array([[3.0]]), np.array([0.1]))


def test_what_is_refused():
    certificate = solve(Problem(np.eye(3), [3.0, 2.0, 1.0], penalty=Linear(0.1)), tol=1e-10).certificate()
    with pytest.raises(ValueError, match="X must have 3 columns, as in the problem; it has 2"):
        certificate.predict(np.eye(2))
    with pytest.raises(ValueError, match="free must have 0 columns, as in the problem; it has 1"):
        certificate.predict(np.eye(3), free=np.ones(3))
    several = solve(Problem(np.eye(6), np.arange(6) % 3, loss=Multinomial(), penalty=Linear(0.01)), tol=1e-8)
    with pytest.raises(ValueError, match="for one output"):
        several.certificate().predict(np.eye(6))
