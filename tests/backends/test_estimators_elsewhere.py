"""Estimators on data that are not on the host: the same models, proofs and choices as for NumPy arrays."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from kinds import ELSEWHERE, IN_CHUNKS, KINDS, SIGNS, WEIGHTS, D, X, Y, library

from atomsieve import (
    CertifiedElasticNet,
    CertifiedLasso,
    CertifiedLassoCV,
    CertifiedLogisticRegression,
    CertifiedLogisticRegressionCV,
    GaugeRegressor,
    Group,
    StabilitySelector,
)

WAYS = {name: KINDS[name] for name in ELSEWHERE} | IN_CHUNKS
LABELS = np.where(SIGNS > 0, "yes", "no")


@pytest.fixture(params=WAYS)
def put(request):
    way = WAYS[request.param]
    way(X)  # skips a library that is not installed
    return way


IN_DEPTH = pytest.mark.parametrize(
    "put", [pytest.param(name, marks=pytest.mark.deep) if name in IN_CHUNKS else name for name in WAYS], indirect=True
)
"""A fit of dask takes a second, and choices take many."""


def same(model, plain, rel=1e-9):
    assert model.coef_ == pytest.approx(plain.coef_, rel=rel, abs=1e-10)
    assert model.intercept_ == pytest.approx(plain.intercept_, rel=rel, abs=1e-10)
    assert isinstance(model.coef_, np.ndarray)


@pytest.mark.parametrize("standardize", [False, True])
def test_regression(put, standardize):
    options = {"alpha": 0.1, "standardize": standardize, "tol": 1e-12}
    plain = CertifiedLasso(**options).fit(X, Y, sample_weight=WEIGHTS)
    there = put(X)
    model = CertifiedLasso(**options).fit(there, put(Y), sample_weight=put(WEIGHTS))
    same(model, plain)
    assert model.n_features_in_ == D
    assert model.predict(there) == pytest.approx(plain.predict(X), rel=1e-9)
    assert model.score(there, put(Y)) == pytest.approx(plain.score(X, Y), rel=1e-9)
    model.certify(there, put(Y), put(WEIGHTS))
    plain.certify(X, Y, WEIGHTS)
    assert np.array_equal(model.zero_mask(), plain.zero_mask())
    assert model.support_report()["verdict"].tolist() == plain.support_report()["verdict"].tolist()
    assert "proven" in str(model.summary())


def test_classification(put):
    options = {"C": 0.1, "tol": 1e-12}
    plain = CertifiedLogisticRegression(**options).fit(X, LABELS)
    there = put(X)
    model = CertifiedLogisticRegression(**options).fit(there, LABELS)
    same(model, plain)
    assert model.predict(there).tolist() == plain.predict(X).tolist()
    assert model.predict_proba(there) == pytest.approx(plain.predict_proba(X), rel=1e-9)
    assert model.predict_log_proba(there) == pytest.approx(plain.predict_log_proba(X), rel=1e-9)
    assert model.score(there, LABELS) == plain.score(X, LABELS)
    assert (model.certificate_.zero == plain.certificate_.zero).all()
    numbered = CertifiedLogisticRegression(**options).fit(there, put(SIGNS))
    same(numbered, plain)


def test_groups(put):
    groups = Group(np.repeat(np.arange(D // 5), 5))
    plain = GaugeRegressor(gauge=groups, tol=1e-12).fit(X, Y)
    same(GaugeRegressor(gauge=groups, tol=1e-12).fit(put(X), Y), plain, rel=1e-7)


def test_elastic_net(put):
    plain = CertifiedElasticNet(alpha=0.1, l1_ratio=0.5, tol=1e-13).fit(X, Y)
    same(CertifiedElasticNet(alpha=0.1, l1_ratio=0.5, tol=1e-13).fit(put(X), put(Y)), plain, rel=1e-6)


@IN_DEPTH
@pytest.mark.parametrize("scoring", [None, "r2"])
def test_cross_validation(put, scoring):
    options = {"alphas": 8, "cv": 3, "tol": 1e-11, "scoring": scoring, "random_state": 0}
    plain = CertifiedLassoCV(**options).fit(X, Y)
    there = put(X)
    model = CertifiedLassoCV(**options).fit(there, put(Y))
    assert model.alpha_ == pytest.approx(plain.alpha_, rel=1e-12)
    assert model.alpha_1se_ == pytest.approx(plain.alpha_1se_, rel=1e-12)
    assert model.cv_scores_ == pytest.approx(plain.cv_scores_, rel=1e-7)
    same(model, plain, rel=1e-6)
    assert model.predict(there, alpha="1se") == pytest.approx(plain.predict(X, alpha="1se"), rel=1e-6)


@IN_DEPTH
def test_cross_validation_of_classes(put):
    options = {"Cs": 5, "cv": 3, "tol": 1e-11}
    plain = CertifiedLogisticRegressionCV(**options).fit(X, LABELS)
    model = CertifiedLogisticRegressionCV(**options).fit(put(X), LABELS)
    assert pytest.approx(plain.C_) == model.C_
    assert model.scores_ == pytest.approx(plain.scores_, rel=1e-7)


def test_data_are_found_again_or_asked_for(put):
    there = put(X)
    model = CertifiedLasso(0.1).fit(there, Y)
    assert model.certificate_.valid
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 -- our own
    assert again.predict(there) == pytest.approx(model.predict(there))


def test_frames_of_dask():
    frames, pandas = library("dask.dataframe"), library("pandas")
    names = [f"gene {j}" for j in range(D)]
    table = pandas.DataFrame(X, columns=names)
    lazy = frames.from_pandas(table, npartitions=3)
    targets = frames.from_pandas(pandas.Series(Y), npartitions=3)
    model, plain = (CertifiedLasso(0.1, tol=1e-12).fit(*given) for given in ((lazy, targets), (table, Y)))
    same(model, plain)
    assert model.feature_names_in_.tolist() == names
    assert model.predict(lazy) == pytest.approx(plain.predict(table), rel=1e-9)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frames.from_pandas(table.rename(columns={"gene 0": "other"}), npartitions=2))


DISPATCHED = """
import numpy as np
import torch
from kinds import SIGNS, X, Y, in_torch
from sklearn import config_context
from atomsieve import CertifiedLasso, CertifiedLogisticRegression

model = CertifiedLasso(0.1).fit(in_torch(X), in_torch(Y))
classifier = CertifiedLogisticRegression(C=0.1).fit(in_torch(X), np.where(SIGNS > 0, "yes", "no"))
assert isinstance(model.predict(in_torch(X)), np.ndarray)
with config_context(array_api_dispatch=True):
    predicted = model.predict(in_torch(X))
    assert isinstance(predicted, torch.Tensor)
    assert isinstance(classifier.predict_proba(in_torch(X)), torch.Tensor)
    assert isinstance(classifier.predict(in_torch(X)), np.ndarray)  # names of classes
    assert abs(model.score(in_torch(X), in_torch(Y)) - model.score(X, Y)) < 1e-12
assert np.allclose(predicted.numpy(), model.predict(X), rtol=1e-12)
"""


def test_predictions_return_to_the_library_of_x_where_scikit_learn_dispatches():
    library("torch")
    asked = os.environ | {"SCIPY_ARRAY_API": "1", "PYTHONPATH": os.pathsep.join(sys.path)}  # SciPy reads it once
    ended = subprocess.run([sys.executable, "-c", DISPATCHED], env=asked, capture_output=True, text=True, check=False)  # noqa: S603
    assert ended.returncode == 0, ended.stderr


def test_mistakes(put):
    model = CertifiedLasso(0.1).fit(put(X), Y)
    with pytest.raises(ValueError, match="expecting 30 features"):
        model.predict(put(X[:, :7].copy()))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        CertifiedLasso(0.1).fit(put(X), Y[:-1])
    with pytest.raises(ValueError, match="two dimensions"):
        CertifiedLasso(0.1).fit(put(Y), Y)
    spoilt = X.copy()
    spoilt[3, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.predict(put(spoilt))
    with pytest.raises(TypeError, match="would be copied into a NumPy array"):
        StabilitySelector(CertifiedLasso(0.1)).fit(put(X), Y)
