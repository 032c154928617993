"""Where the best strength is the first or the last that was tried, users are told once, with the remedy."""

import re
import warnings

import numpy as np
import pytest
from sklearn.model_selection import KFold

from atomsieve import (
    Ball,
    CertifiedElasticNetCV,
    CertifiedLassoCV,
    CertifiedLogisticRegressionCV,
    GaugeRegressorCV,
    GridEndWarning,
)
from atomsieve.report import Findings
from atomsieve.report.words import paragraphs

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 6))
DENSE = X @ np.arange(1.0, 7.0)
NOISY = X[:, 0] + 3 * RNG.standard_normal(120)
NOISE = RNG.standard_normal(120)
FOLDS = KFold(4, shuffle=True, random_state=0)


def notes(model, y):
    """Return what is said of the end of the grid while a model is fitted."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.set_params(cv=FOLDS).fit(X, y)
    return [str(warning.message) for warning in caught if warning.category is GridEndWarning]


@pytest.mark.parametrize(
    ("model", "y", "words"),
    [
        (CertifiedLassoCV(alphas=10), DENSE, "weakest penalty .*: try a smaller eps"),
        (GaugeRegressorCV(strengths=10), DENSE, "weakest penalty .*: try a smaller ratio"),
        (CertifiedLassoCV(alphas=[1.0, 0.1]), DENSE, "weakest penalty .*: try smaller alphas"),
        (GaugeRegressorCV(penalty=Ball(), strengths=[1.0, 2.0]), DENSE, "weakest penalty .*: try larger strengths"),
        (CertifiedLogisticRegressionCV(Cs=[1e-2, 1e-1]), DENSE > 0, "weakest penalty .*: try larger Cs"),
        (CertifiedLassoCV(alphas=[0.01, 0.001]), NOISY, "strongest penalty .*: try larger alphas"),
        (CertifiedElasticNetCV(l1_ratio=[0.5, 0.9], alphas=5), DENSE, "weakest penalty .*: try a smaller eps"),
    ],
)
def test_it_is_said_once_with_the_parameter_to_change(model, y, words):
    (note,) = notes(model, y)
    assert re.search(words, note)
    assert str(model.summary()).count(note) == 1
    told = " ".join(paragraphs(Findings.of(model, target="y", data={}, settings={})))
    assert told.count(note) == 1


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (CertifiedLassoCV(alphas=20), NOISY),  # the best is within
        (CertifiedLassoCV(alphas=20), NOISE),  # the first is best, and has no features
        (CertifiedLassoCV(alphas=[0.1]), DENSE),  # there is nothing to choose from
    ],
)
def test_otherwise_nothing_is_said(model, y):
    assert notes(model, y) == []
    assert "may lie beyond" not in str(model.summary())


def test_no_ratio_but_the_chosen_one_is_spoken_of():
    alone, both = (CertifiedElasticNetCV(l1_ratio=ratio, alphas=20, eps=0.2) for ratio in (0.01, [0.01, 0.9]))
    assert notes(alone, NOISY)
    assert notes(both, NOISY) == []
    assert both.l1_ratio_ == 0.9
