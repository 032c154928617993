"""scikit-learn estimators, with what none has: `certificate_`."""

from atomsieve.estimators.change_points import ChangePoints
from atomsieve.estimators.classification import CertifiedLogisticRegression, GaugeClassifier
from atomsieve.estimators.classification_cv import CertifiedLogisticRegressionCV, GaugeClassifierCV
from atomsieve.estimators.elastic_net import CertifiedElasticNet
from atomsieve.estimators.elastic_net_cv import CertifiedElasticNetCV
from atomsieve.estimators.export import save_model
from atomsieve.estimators.imputer import LowRankImputer
from atomsieve.estimators.notices import GridEndWarning, UnprovenWarning
from atomsieve.estimators.regression import CertifiedLasso, GaugeRegressor
from atomsieve.estimators.regression_cv import CertifiedLassoCV, GaugeRegressorCV
from atomsieve.estimators.selectors import CertifiedSelector, StabilitySelector
from atomsieve.estimators.strengths import CriticalFraction, FeatureCount, StrengthRule

__all__ = [
    "CertifiedElasticNet",
    "CertifiedElasticNetCV",
    "CertifiedLasso",
    "CertifiedLassoCV",
    "CertifiedLogisticRegression",
    "CertifiedLogisticRegressionCV",
    "CertifiedSelector",
    "ChangePoints",
    "CriticalFraction",
    "FeatureCount",
    "GaugeClassifier",
    "GaugeClassifierCV",
    "GaugeRegressor",
    "GaugeRegressorCV",
    "GridEndWarning",
    "LowRankImputer",
    "StabilitySelector",
    "StrengthRule",
    "UnprovenWarning",
    "save_model",
]
