"""The same answers as scikit-learn, and as its paths, to 1e-8 in the objective."""

import numpy as np
import pytest
from samples import DATA, labels_of
from sklearn.linear_model import Lasso, LassoCV, LogisticRegression, lasso_path
from sklearn.model_selection import KFold

from atomsieve import CertifiedLasso, CertifiedLassoCV, CertifiedLogisticRegression, GaugeRegressorCV, Problem, path


def lasso_objective(X, y, alpha, coef, intercept, weights=None):
    residual = y - X @ coef - intercept
    return np.average(residual**2, weights=weights) / 2 + alpha * np.abs(coef).sum()


def logistic_objective(X, signs, C, coef, intercept):
    return C * np.logaddexp(0.0, -signs * (X @ coef + intercept)).sum() + np.abs(coef).sum()


def critical_alpha(X, y):
    return Problem(X, y, intercept=True).origin.sigma


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fraction", [0.5, 0.05])
@pytest.mark.parametrize("name", DATA)
def test_lasso(name, fraction, weighted):
    X, y = DATA[name]()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else None
    alpha = fraction * critical_alpha(X, y)
    ours = CertifiedLasso(alpha=alpha, tol=1e-11).fit(X, y, sample_weight=weights)
    peer = Lasso(alpha=alpha, tol=1e-11, max_iter=200_000).fit(X, y, sample_weight=weights)
    values = [lasso_objective(X, y, alpha, m.coef_, m.intercept_, weights) for m in (ours, peer)]
    assert abs(values[0] - values[1]) <= 1e-8 * values[1]
    assert values[0] <= values[1] * (1 + 1e-10)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("name", ["diabetes", "wide", "sparse rows"])
def test_lasso_without_intercept_and_positive(name, positive):
    X, y = DATA[name]()
    alpha = 0.1 * Problem(X, y).origin.sigma
    settings = {"alpha": alpha, "fit_intercept": False, "positive": positive}
    ours = CertifiedLasso(tol=1e-11, **settings).fit(X, y)
    peer = Lasso(tol=1e-11, max_iter=200_000, **settings).fit(X, y)
    values = [lasso_objective(X, y, alpha, m.coef_, m.intercept_) for m in (ours, peer)]
    assert abs(values[0] - values[1]) <= 1e-8 * values[1]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the peer's
@pytest.mark.parametrize("fraction", [0.5, 0.1])
@pytest.mark.parametrize("name", sorted(set(DATA) - {"offset"}))  # where liblinear without an intercept gets nowhere
def test_logistic(name, fraction):
    """liblinear with no intercept and ours share an objective exactly; liblinear penalises an intercept."""
    X, y = DATA[name]()
    labels = labels_of(y)
    signs = np.where(labels == "yes", 1.0, -1.0)
    C = 2 / (fraction * np.abs(X.T @ signs).max())
    ours = CertifiedLogisticRegression(C=C, fit_intercept=False, tol=1e-11).fit(X, labels)
    peer = LogisticRegression(
        C=C, l1_ratio=1, solver="liblinear", fit_intercept=False, tol=1e-9, max_iter=2000, random_state=0
    ).fit(X, labels)
    values = [logistic_objective(X, signs, C, m.coef_[0], 0.0) for m in (ours, peer)]
    assert abs(values[0] - values[1]) <= 1e-8 * values[1]


@pytest.mark.parametrize("name", [pytest.param("breast cancer", marks=pytest.mark.deep), "wine", "tall", "sparse rows"])
def test_logistic_with_intercept(name):
    X, y = DATA[name]()
    labels = labels_of(y)
    signs = np.where(labels == "yes", 1.0, -1.0)
    ours = CertifiedLogisticRegression(C=0.5, tol=1e-11).fit(X, labels)
    peer = LogisticRegression(C=0.5, l1_ratio=1, solver="saga", tol=1e-10, max_iter=50_000).fit(X, labels)
    values = [logistic_objective(X, signs, 0.5, m.coef_[0], m.intercept_[0]) for m in (ours, peer)]
    assert abs(values[0] - values[1]) <= 1e-8 * values[1]
    assert np.allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("name", ["wine", "iris"])
def test_multinomial(name):
    X, y = DATA[name]()
    ours = CertifiedLogisticRegression(C=0.2, tol=1e-11).fit(X, y)
    peer = LogisticRegression(C=0.2, l1_ratio=1, solver="saga", tol=1e-9, max_iter=100_000).fit(X, y)

    def objective(model):
        return -0.2 * model.predict_log_proba(X)[np.arange(len(y)), y.astype(int)].sum() + np.abs(model.coef_).sum()

    assert abs(objective(ours) - objective(peer)) <= 1e-6 * objective(peer)
    assert objective(ours) <= objective(peer) * (1 + 1e-10)


@pytest.mark.parametrize("name", DATA)
def test_paths(name):
    """At every slope the objective is that of the textbook coordinate descent of glmnet and scikit-learn."""
    X, y = DATA[name]()
    centred = X.toarray() if hasattr(X, "toarray") else X
    centred = centred - centred.mean(axis=0)
    target = y - y.mean()
    found = path(Problem(X, y, intercept=True), n=15, ratio=0.02, tol=1e-10)
    _, coefs, _ = lasso_path(centred, target, alphas=found.slopes, tol=1e-12, max_iter=200_000)
    for slope, ours, intercept, theirs in zip(found.slopes, found.coefs, found.intercepts, coefs.T, strict=True):
        values = (
            lasso_objective(X, y, slope, ours, intercept),
            lasso_objective(centred, target, slope, theirs, 0.0),
        )
        assert abs(values[0] - values[1]) <= 1e-8 * values[1]


@pytest.mark.thin(2)
@pytest.mark.parametrize("name", ["diabetes", "wine", "tall", "wide", "sparse columns"])
def test_lasso_cv(name):
    X, y = DATA[name]()
    folds = KFold(4, shuffle=True, random_state=0)
    ours = CertifiedLassoCV(alphas=20, cv=folds, eps=0.01, tol=1e-9).fit(X, y)
    peer = LassoCV(alphas=20, cv=folds, eps=0.01, tol=1e-9, max_iter=100_000).fit(X, y)
    assert np.allclose(ours.alphas_, peer.alphas_, rtol=1e-9)
    assert np.allclose(ours.mse_path_, peer.mse_path_, rtol=1e-4)
    assert ours.alpha_ == pytest.approx(peer.alpha_, rel=1e-9)
    assert np.allclose(ours.coef_, peer.coef_, atol=1e-3 * np.abs(peer.coef_).max())
    general = GaugeRegressorCV(strengths=20, cv=folds, ratio=0.01, tol=1e-9).fit(X, y)
    assert general.strength_ == pytest.approx(ours.alpha_, rel=1e-12)
    assert np.array_equal(general.coef_, ours.coef_)
