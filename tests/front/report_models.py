"""Fitted models of every kind that a report must show; each is fitted once."""

from functools import cache

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, load_wine

from atomsieve import (
    L2,
    CertifiedLasso,
    CertifiedLassoCV,
    CertifiedLogisticRegression,
    GaugeClassifier,
    GaugeClassifierCV,
    GaugeRegressor,
    GaugeRegressorCV,
    Group,
    Linear,
    Logistic,
    Poisson,
)
from atomsieve.report import Findings
from atomsieve.report.page import page

HOSTILE = "</script><b>$x_1"
TOLD = {"target": "y", "data": {"file": "data.csv", "rows": 442}, "settings": {"seed": 0}}


def diabetes():
    return load_diabetes(return_X_y=True, as_frame=True)


def single():
    X, y = diabetes()
    return CertifiedLasso(alpha=0.3, unpenalized=["sex"], keep_data=True).fit(X, y)


def chosen():
    X, y = diabetes()
    return CertifiedLassoCV(alphas=20, selection="1se", keep_data=True).fit(X, y)


def twins():
    X, y = diabetes()
    X = X.assign(**{"bmi copy": X.bmi, HOSTILE: X.bp})
    return CertifiedLasso(alpha=0.2, keep_data=True).fit(X, y)


def groups():
    X, y = diabetes()
    gauge = Group(["person", "person", "body", "body", *["serum"] * 6])
    return GaugeRegressorCV(gauge=gauge, strengths=15, selection="1se", keep_data=True).fit(X, y)


def classes():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = GaugeClassifierCV(loss=Logistic(), strengths=8, cv=3, standardize=True, keep_data=True)
    return model.fit(X, np.array(["first", "second", "third"])[y])


def joint():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return CertifiedLogisticRegression(C=0.05, standardize=True, keep_data=True).fit(X.assign(twin=X["alcohol"]), y)


class OwnGauge(L2):
    """A gauge whose author gives neither prices nor bounds."""

    def prices(self, *_):
        return None


def unproven():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return GaugeClassifier(gauge=OwnGauge(), penalty=Linear(0.1), standardize=True, keep_data=True).fit(X, y)


def outputs():
    X, y = diabetes()
    return GaugeRegressor(penalty=Linear(0.3), keep_data=True).fit(X, np.column_stack([y, 10 * np.sqrt(y)]))


def counts():
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(200, 6)), columns=[f"c{j}" for j in range(6)])
    y = generator.poisson(np.exp(0.6 * X.c0 - 0.5 * X.c3))
    return GaugeRegressorCV(loss=Poisson(), strengths=10, cv=3, keep_data=True).fit(X, y)


def null():
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(60, 12)), generator.normal(size=60)
    return CertifiedLasso(alpha=10.0, keep_data=True).fit(X, y)


MODELS = {make.__name__: make for make in (single, chosen, twins, groups, classes, joint, outputs, counts, null)}


@cache
def model_of(kind):
    return MODELS[kind]()


@cache
def findings_of(kind):
    return Findings.of(model_of(kind), **TOLD)


@cache
def page_of(kind):
    return page(findings_of(kind))
