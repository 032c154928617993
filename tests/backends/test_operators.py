"""Operators: what products alone can do is done, and what they cannot prove is refused."""

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from atomsieve import (
    GCG,
    OSCAR,
    Away,
    Group,
    Linear,
    LineSearch,
    LInf,
    Logistic,
    Multinomial,
    Pairwise,
    Problem,
    Square,
    TotalVariation,
    path,
    solve,
)
from atomsieve.design import ALL, OperatorDesign, operator
from atomsieve.design.dense import DenseDesign

N, D = 120, 60
RNG = np.random.default_rng(2)
X = RNG.standard_normal((N, D))
Y = X[:, :4].sum(axis=1) + RNG.standard_normal(N)
SIGNS = np.sign(Y)


def only_products(matrix=X):
    """Return an operator that has nothing but two methods."""
    return LinearOperator(matrix.shape, matvec=lambda x: matrix @ x, rmatvec=lambda r: matrix.T @ r, dtype=np.float64)


PROBLEMS = {
    "squared": {"y": Y, "penalty": Linear(0.2), "intercept": True},
    "square": {"y": Y, "penalty": Square(0.5), "sample_weight": np.arange(N) % 3.0},
    "logistic": {"y": SIGNS, "loss": Logistic(), "penalty": Linear(0.03), "intercept": True},
    "groups": {"y": Y, "gauge": Group(np.repeat(np.arange(20), 3)), "penalty": Linear(0.2), "intercept": True},
    "largest": {"y": Y, "gauge": LInf(), "penalty": Square(0.5)},
    "sorted": {"y": Y, "gauge": OSCAR(1.0, 0.01), "penalty": Linear(0.2)},
    "classes": {"y": np.digitize(Y, [-1.0, 1.0]), "loss": Multinomial(), "penalty": Linear(0.05)},
    "outputs": {"y": np.stack([Y, X[:, 7]], axis=1), "penalty": Linear(0.2)},
    "ridge": {"y": Y, "penalty": Linear(0.2), "ridge": 0.1},
    "steps": {"y": Y, "gauge": TotalVariation(), "penalty": Linear(0.2)},
}


@pytest.mark.parametrize("pieces", PROBLEMS.values(), ids=PROBLEMS)
def test_the_answer_is_that_of_the_matrix(pieces):
    found, expected = (solve(Problem(held, **pieces), tol=1e-13) for held in (only_products(), X))
    assert found.converged
    assert np.abs(found.x - expected.x).max() <= 1e-8 * max(1.0, np.abs(expected.x).max())
    certificate = found.certificate()
    assert not certificate.valid
    assert "X is a linear operator, and how its products round is not known" in certificate.reason
    assert not (certificate.zero.any())
    assert not (certificate.nonzero.any())


@pytest.mark.parametrize("method", [GCG(LineSearch()), Away(), Pairwise()])
def test_other_methods(method):
    found, expected = (solve(Problem(held, Y), method, tol=1e-3, max_iter=5000) for held in (only_products(), X))
    assert found.converged
    assert found.objective == pytest.approx(expected.objective, rel=1e-2)


def test_paths_and_certificates_on_the_way():
    found, expected = (path(Problem(held, Y), n=5, tol=1e-12) for held in (only_products(), X))
    assert np.abs(found.coefs - expected.coefs).max() <= 1e-8
    result = solve(Problem(only_products(), Y, penalty=Linear(0.2)), until="decided")
    assert "linear operator" in str(result.certificate().reason)


@pytest.mark.parametrize("shape", [(N, D), (D, N)])
@pytest.mark.parametrize("kept", [False, True])
def test_products(monkeypatch, shape, kept):
    monkeypatch.setattr(operator, "TOGETHER", 7 * N)
    matrix = X.reshape(shape)
    design, whole = OperatorDesign.of(only_products(matrix), "X"), DenseDesign(matrix)
    if kept:
        chosen = np.arange(shape[0]) % 4 > 0
        design, whole = design.samples(chosen), whole.samples(chosen)
    n, d = whole.shape
    weights, index = RNG.uniform(0.5, 1.5, n), np.array([3, 4, 30])
    assert design.shape == whole.shape
    assert np.allclose(design.rmatvec(weights), whole.rmatvec(weights))
    assert np.allclose(design.products([weights, weights]), whole.products([weights, weights]))
    assert np.allclose(design.matvec(np.arange(3.0), index), whole.matvec(np.arange(3.0), index))
    assert np.allclose(design.columns(ALL), whole.matrix)
    assert np.allclose(design.select(index).columns(ALL), whole.columns(index))
    assert np.allclose(design.gram(weights, index, np.array([1]), 2.0), whole.gram(weights, index, np.array([1]), 2.0))
    assert design.largest() == pytest.approx(whole.largest())
    for scale in (1.0, 3.0):
        assert np.allclose(design.squared_norms(weights, scale), whole.squared_norms(weights, scale))
    assert design.matvec(np.zeros(d)).shape == (n,)


def test_refusals():
    with pytest.raises(ValueError, match="X must hold real numbers, got dtype complex128"):
        Problem(aslinearoperator(1j * np.eye(3)), np.ones(3))
    with pytest.raises(TypeError, match="give it a method rmatvec"):
        Problem(LinearOperator((3, 3), matvec=lambda x: x, dtype=float), np.ones(3))
    with pytest.raises(ValueError, match="X contains NaN or infinite values"):
        solve(Problem(only_products(np.full((3, 3), np.nan)), np.ones(3)))
    with pytest.raises(ValueError, match="X is empty"):
        Problem(only_products(np.zeros((0, 3))), np.ones(0))
