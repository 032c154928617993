"""The same optimum as scikit-learn, on its own data: Lasso and l1 logistic regression through the common path."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.preprocessing import StandardScaler

from atomsieve import L1, Away, Linear, Logistic, Multinomial, Pairwise, Problem, Square, Squared, solve


@pytest.mark.parametrize("alpha", [pytest.param(0.1, marks=pytest.mark.deep), 1.0, 10.0])
@pytest.mark.parametrize("method", [Away(), Pairwise()], ids=repr)
def test_square_penalty_finds_the_lasso_solution(alpha, method):
    """If x solves the Lasso with alpha, it solves Square(alpha / norm1(x))."""
    X, y = load_diabetes(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    lasso = Lasso(alpha=alpha, tol=1e-14, max_iter=100_000).fit(X, y)
    strength = alpha / np.abs(lasso.coef_).sum()
    problem = Problem(X, y, penalty=Square(strength), intercept=True)
    result = solve(problem, method, tol=1e-13)
    theirs = problem.at(problem.state(lasso.coef_)).objective
    assert result.objective == pytest.approx(theirs, rel=1e-11)
    assert result.x == pytest.approx(lasso.coef_, abs=1e-3)
    assert result.intercept == pytest.approx(lasso.intercept_)
    assert (result.alive | (lasso.coef_ == 0)).all()


@pytest.mark.parametrize("alpha", [0.1, 1.0, 10.0])
def test_linear_penalty_certifies_the_lasso_solution(alpha):
    """At scikit-learn's solution the gap of the Lasso problem itself is as small as scikit-learn says."""
    X, y = load_diabetes(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    lasso = Lasso(alpha=alpha, tol=1e-14, max_iter=100_000).fit(X, y)
    problem = Problem(X, y, penalty=Linear(alpha), intercept=True)
    point = problem.at(problem.state(lasso.coef_))
    assert 0 <= point.gap <= 1e-9 * problem.baseline
    assert point.objective == pytest.approx(
        alpha * np.abs(lasso.coef_).sum() + np.mean((y - lasso.predict(X)) ** 2) / 2
    )


def test_square_penalty_finds_the_l1_logistic_solution():
    X, labels = load_breast_cancer(return_X_y=True)
    X, y = StandardScaler().fit_transform(X), 2.0 * labels - 1
    C = 0.05
    model = LogisticRegression(l1_ratio=1, C=C, solver="saga", tol=1e-10, max_iter=200_000).fit(X, y)
    x = model.coef_[0]
    strength = 1 / (C * len(y)) / np.abs(x).sum()
    result = solve(Problem(X, y, loss=Logistic(), penalty=Square(strength), intercept=True), Pairwise(), tol=1e-10)
    assert result.x == pytest.approx(x, abs=1e-4)
    assert result.intercept == pytest.approx(model.intercept_[0], abs=1e-4)


def test_multinomial_agrees_with_saga():
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = LogisticRegression(l1_ratio=1, C=0.2, solver="saga", tol=1e-12, max_iter=200_000).fit(X, y)
    x = model.coef_.T
    strength = 1 / (0.2 * len(y)) / np.abs(x).sum()
    problem = Problem(X, y, loss=Multinomial(), penalty=Square(strength), intercept=True)
    result = solve(problem, Pairwise(), tol=1e-10)
    theirs = problem.at(problem.state(x)).objective
    assert result.objective <= theirs + 1e-9
    assert result.objective == pytest.approx(theirs, rel=1e-7)
    assert (np.abs(x).ravel()[~result.alive] < 1e-6).all()


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize("method", [Pairwise(), Away()], ids=repr)
def test_sparse_and_dense_designs_give_the_same_run(kind, method):
    rng = np.random.default_rng(0)
    X = np.where(rng.uniform(size=(80, 40)) < 0.2, rng.standard_normal((80, 40)), 0.0)
    y = X[:, :5].sum(axis=1) + 0.1 * rng.standard_normal(80)
    runs = [
        solve(Problem(design, y, loss=Squared(), gauge=L1(), penalty=Square(0.5), intercept=True), method, tol=1e-12)
        for design in (X, kind(X))
    ]
    assert runs[1].x == pytest.approx(runs[0].x, abs=1e-9)
    assert (runs[0].alive == runs[1].alive).all()
    assert runs[0].n_iter == pytest.approx(runs[1].n_iter, abs=2)
