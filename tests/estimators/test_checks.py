"""Every estimator keeps scikit-learn's rules, without exception."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from atomsieve import (
    L1,
    CertifiedLasso,
    CertifiedLassoCV,
    CertifiedLogisticRegression,
    CertifiedLogisticRegressionCV,
    CertifiedSelector,
    ChangePoints,
    CriticalFraction,
    FeatureCount,
    GaugeClassifier,
    GaugeClassifierCV,
    GaugeRegressor,
    GaugeRegressorCV,
    Group,
    Huber,
    Logistic,
    Multinomial,
    NonNegative,
    Poisson,
    Square,
    SquaredHinge,
    StabilitySelector,
)

EXPECTED = [
    "ignore:y is sorted by row:UserWarning",  # iris is sorted by species, and regressors are fitted to its codes
    "ignore::atomsieve.UnprovenWarning",  # selectors are fitted to three classes
]

QUICK = [
    GaugeRegressor(),
    GaugeClassifier(),
    CertifiedLasso(alpha=0.01),
    CertifiedLogisticRegression(),
    CertifiedSelector(CertifiedLasso(alpha=0.01)),
    ChangePoints(),
    StabilitySelector(CertifiedLasso(alpha=0.01), n_subsamples=4, n_slopes=4, threshold=0.5),
]

MANY_FITS = [
    GaugeRegressorCV(strengths=6, cv=3),
    GaugeClassifierCV(strengths=3, cv=2),
    CertifiedLassoCV(alphas=6, cv=3),
    CertifiedLogisticRegressionCV(Cs=3, cv=2),
]

DEEP = [
    GaugeRegressor(loss=Huber(1.0), penalty=Square(0.01)),
    GaugeRegressor(gauge=Group(), standardize=True),
    GaugeRegressor(penalty=FeatureCount(3), tol=1e-13),  # some checks compare predictions to 1e-7
    GaugeRegressor(loss=Poisson(), penalty=CriticalFraction(0.01)),
    GaugeClassifier(loss=Multinomial(), gauge=Group()),
    GaugeClassifier(loss=Logistic(), penalty=Square(0.01), tol=1e-11),
    GaugeClassifier(loss=SquaredHinge(), standardize=True, tol=1e-13),
    CertifiedLasso(alpha=CriticalFraction(0.05), standardize=True),
    CertifiedLogisticRegression(class_weight="balanced"),
    GaugeRegressorCV(),
    GaugeRegressorCV(penalty=Square(), strengths=6, cv=3),
    GaugeClassifierCV(),
    GaugeClassifierCV(loss=Logistic(), penalty=Square(), strengths=6, cv=3, tol=1e-7),
    CertifiedLassoCV(),
    CertifiedLogisticRegressionCV(),
    CertifiedSelector(CertifiedLogisticRegression()),
    StabilitySelector(CertifiedLogisticRegression(), n_subsamples=4, n_slopes=4, threshold=0.5),
]


@pytest.mark.filterwarnings(*EXPECTED)
@parametrize_with_checks(QUICK)
def test_rules_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.thin(3)
@pytest.mark.filterwarnings(*EXPECTED)
@parametrize_with_checks(MANY_FITS)
def test_rules_of_scikit_learn_with_many_fits(estimator, check):
    check(estimator)


@pytest.mark.deep
@pytest.mark.filterwarnings(*EXPECTED)
@parametrize_with_checks(DEEP)
def test_rules_of_scikit_learn_in_depth(estimator, check):
    check(estimator)


def test_the_checks_are_there():
    names = {check.func.__name__ for _, check in estimator_checks_generator(QUICK[0])}
    assert "check_sample_weight_equivalence_on_sparse_data" in names
    assert "check_sample_weight_equivalence_on_dense_data" in names


@pytest.mark.parametrize("gauge", [L1(), NonNegative(), Group(np.arange(3))])
def test_pieces_are_clonable_parameters(gauge):
    from sklearn.base import clone  # noqa: PLC0415

    model = clone(GaugeRegressor(gauge=gauge))
    assert model.gauge is gauge
