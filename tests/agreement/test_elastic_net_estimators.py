"""CertifiedElasticNet and its form with cross-validation: scikit-learn's answers, rules and shapes."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, ElasticNetCV, Lasso, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from atomsieve import (
    CertifiedElasticNet,
    CertifiedElasticNetCV,
    CriticalFraction,
    FeatureCount,
    GaugeClassifier,
    GaugeRegressor,
    Group,
    Linear,
    load_model,
    save_model,
)

X, Y = load_diabetes(return_X_y=True)
SCALED = StandardScaler().fit_transform(X)
EXPECTED = ["ignore:y is sorted by row:UserWarning"]


@pytest.mark.thin(3)
@pytest.mark.filterwarnings(*EXPECTED)
@parametrize_with_checks(
    [
        CertifiedElasticNet(alpha=0.01),
        GaugeRegressor(ridge=0.1),
        GaugeClassifier(ridge=0.1),
        CertifiedElasticNetCV(alphas=4, cv=3),
    ]
)
def test_rules_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.deep
@pytest.mark.filterwarnings(*EXPECTED)
@parametrize_with_checks([CertifiedElasticNetCV(l1_ratio=[0.3, 0.9], alphas=4, cv=3)])
def test_rules_of_scikit_learn_for_several_ratios(estimator, check):
    check(estimator)


def theirs(alpha, l1_ratio, A=SCALED, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return ElasticNet(alpha=alpha, l1_ratio=l1_ratio, tol=1e-15, max_iter=200_000).fit(A, Y, **options)


@pytest.mark.parametrize("l1_ratio", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("alpha", [0.1, 5.0])
def test_the_same_model(alpha, l1_ratio):
    weights = np.arange(1.0, len(Y) + 1)
    for weight in (None, weights):
        peer = theirs(alpha, l1_ratio, sample_weight=weight)
        model = CertifiedElasticNet(alpha=alpha, l1_ratio=l1_ratio, tol=1e-12).fit(SCALED, Y, weight)
        assert model.coef_ == pytest.approx(peer.coef_, abs=1e-9 * np.abs(peer.coef_).max())
        assert model.intercept_ == pytest.approx(peer.intercept_)
        assert model.predict(SCALED) == pytest.approx(peer.predict(SCALED))
    assert model.equivalent_alpha_ == pytest.approx(alpha * l1_ratio)


def test_all_of_the_l1_norm_is_the_lasso():
    lasso = Lasso(alpha=1.0, tol=1e-12).fit(SCALED, Y)
    model = CertifiedElasticNet(alpha=1.0, l1_ratio=1.0, tol=1e-12).fit(SCALED, Y)
    assert model.coef_ == pytest.approx(lasso.coef_, abs=1e-7)
    assert "ridge" not in model.certificate_.statement


def test_twins_are_decided():
    """The Lasso cannot say how two equal features share their weight; here each has half."""
    A = np.hstack([SCALED, SCALED[:, [2]]])
    model = CertifiedElasticNet(alpha=1.0, l1_ratio=0.9).fit(A, Y)
    report = model.support_report()
    assert not (report.verdict == "undecided").any()
    assert report.verdict[[2, 10]].eq("non-zero").all()
    assert model.coef_[2] == pytest.approx(model.coef_[10], rel=1e-4)
    assert model.verify(A, Y).valid


def test_strengths_by_rules():
    critical = np.abs(SCALED.T @ (Y - Y.mean())).max() / len(Y)
    model = CertifiedElasticNet(alpha=CriticalFraction(0.3), l1_ratio=0.5, tol=1e-12).fit(SCALED, Y)
    assert model.coef_ == pytest.approx(theirs(0.3 * critical / 0.5, 0.5).coef_, abs=1e-7)
    for count in (2, 5):
        assert np.count_nonzero(CertifiedElasticNet(alpha=FeatureCount(count)).fit(SCALED, Y).coef_) == count


def test_standardised_features_and_factors():
    """Both parts of the penalty are those of features of unit scale, times the factor of each feature."""
    A = X * np.geomspace(1, 100, 10)
    model = CertifiedElasticNet(alpha=2.0, l1_ratio=0.7, standardize=True, tol=1e-12).fit(A, Y)
    assert model.coef_ * A.std(axis=0) == pytest.approx(theirs(2.0, 0.7).coef_, abs=1e-7)
    factors = np.array([0.0, 1, 2, 0.5, 1, 1, 1, 1, np.inf, 3])
    model = CertifiedElasticNet(alpha=2.0, l1_ratio=0.7, penalty_factors=factors, tol=1e-12).fit(SCALED, Y)

    def objective(coef):
        left = Y - SCALED @ coef - np.mean(Y - SCALED @ coef)
        charged = np.where(np.isinf(factors), 0.0, factors) @ (0.7 * np.abs(coef) + 0.15 * coef**2)
        return left @ left / (2 * len(Y)) + 2.0 * charged

    rng = np.random.default_rng(0)
    assert model.coef_[8] == 0
    for size in (1e-3, 1e-1):
        for _ in range(20):
            other = model.coef_ + size * rng.standard_normal(10) * (np.arange(10) != 8)
            assert objective(other) > objective(model.coef_)
    assert model.certificate_.primal == pytest.approx(objective(model.coef_), rel=1e-9)


def test_positive_coefficients():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        peer = ElasticNet(alpha=0.5, l1_ratio=0.4, positive=True, tol=1e-14, max_iter=100_000).fit(SCALED, Y)
    model = CertifiedElasticNet(alpha=0.5, l1_ratio=0.4, positive=True, tol=1e-12).fit(SCALED, Y)
    assert model.coef_ == pytest.approx(peer.coef_, abs=1e-7)


@pytest.mark.parametrize("l1_ratio", [0.5, [0.1, 0.5, 0.9]])
@pytest.mark.parametrize("alphas", [15, [0.01, 0.1, 1.0, 10.0]])
def test_cross_validation(l1_ratio, alphas):
    peer = ElasticNetCV(l1_ratio=l1_ratio, alphas=alphas, tol=1e-10, max_iter=100_000).fit(SCALED, Y)
    model = CertifiedElasticNetCV(l1_ratio=l1_ratio, alphas=alphas, tol=1e-10).fit(SCALED, Y)
    assert model.alpha_ == pytest.approx(peer.alpha_)
    assert model.l1_ratio_ == peer.l1_ratio_
    assert model.alphas_ == pytest.approx(peer.alphas_)
    assert model.mse_path_ == pytest.approx(peer.mse_path_)
    assert model.coef_ == pytest.approx(peer.coef_, abs=1e-4)
    sparser = CertifiedElasticNetCV(l1_ratio=l1_ratio, alphas=alphas, selection="1se").fit(SCALED, Y)
    assert sparser.alpha_ >= model.alpha_ or sparser.l1_ratio_ != model.l1_ratio_
    assert model.verify(SCALED, Y).valid
    assert clone(model).get_params() == model.get_params()


def test_mean_squared_errors_are_for_the_loss_alone():
    model = CertifiedElasticNetCV(l1_ratio=[0.5, 0.9], alphas=4, scoring="r2").fit(SCALED, Y)
    assert np.isnan(model.mse_path_).all()
    assert model.mse_path_.shape == (2, 4, 5)
    assert 0 < model.cv_mean_.max() < 1


def test_a_grid_search_over_both_parameters():
    grid = {"alpha": [0.1, 1.0], "l1_ratio": [0.2, 0.8]}
    one, two = (GridSearchCV(kind(), grid).fit(SCALED, Y) for kind in (CertifiedElasticNet, ElasticNet))
    assert one.best_params_ == two.best_params_


def test_files_and_frames(tmp_path):
    frame = pd.DataFrame(SCALED, columns=[f"f{j}" for j in range(10)])
    model = CertifiedElasticNet(alpha=1.0, unpenalized=["f3"]).fit(frame, Y)
    assert model.support_report().set_index("feature").verdict["f3"] == "unpenalised"
    save_model(model, tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").predict(SCALED) == pytest.approx(model.predict(frame))


def test_a_ridge_beside_any_gauge():
    model = GaugeRegressor(penalty=Linear(0.5), ridge=0.5, tol=1e-12).fit(SCALED, Y)
    assert model.coef_ == pytest.approx(theirs(1.0, 0.5).coef_, abs=1e-7)
    groups = GaugeRegressor(gauge=Group(np.arange(10) // 2), penalty=Linear(2.0), ridge=0.1).fit(SCALED, Y)
    assert groups.certificate_.statement["ridge"] == 0.1
    with pytest.raises(TypeError, match="standardize and ridge"):
        GaugeRegressor(gauge=Group(np.arange(10) // 2), ridge=0.1, standardize=True).fit(SCALED, Y)
    labels = (np.median(Y) < Y).astype(int)
    C = 1 / len(Y) / 0.1
    peer = LogisticRegression(C=C, l1_ratio=0.5, solver="saga", tol=1e-12, max_iter=100_000).fit(SCALED, labels)
    model = GaugeClassifier(penalty=Linear(0.05), ridge=0.05, tol=1e-12).fit(SCALED, labels)
    assert model.coef_ == pytest.approx(peer.coef_, abs=1e-7)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"l1_ratio": 0}, "take scikit-learn's Ridge"),
        ({"l1_ratio": 1.5}, "l1_ratio must be a number"),
        ({"l1_ratio": "0.5"}, "l1_ratio must be"),
        ({"l1_ratio": None}, "l1_ratio must be"),
        ({"l1_ratio": []}, "l1_ratio must be"),
        ({"l1_ratio": [0.5, 2.0]}, "l1_ratio must be a number"),
    ],
)
def test_refusals(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        CertifiedElasticNetCV(**options).fit(SCALED, Y)
    with pytest.raises(ValueError, match="l1_ratio must be"):
        CertifiedElasticNet(**options).fit(SCALED, Y)
    with pytest.raises(ValueError, match="ridge must be"):
        GaugeRegressor(ridge=-1).fit(SCALED, Y)
