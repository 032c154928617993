"""Pipelines of linear steps as small files: the coefficients of what goes in."""

import numpy as np
import pandas as pd
import pytest
from samples import DATA, labels_of
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_regression
from sklearn.linear_model import Lasso
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from atomsieve import (
    CertifiedLasso,
    CertifiedLassoCV,
    CertifiedLogisticRegression,
    CertifiedSelector,
    CriticalFraction,
    load_model,
    save_model,
)

LASSO = CertifiedLasso(CriticalFraction(0.05))
STEPS = {
    "standard": [StandardScaler()],
    "not centred": [StandardScaler(with_mean=False)],
    "not scaled": [StandardScaler(with_std=False)],
    "to an interval": [MinMaxScaler((-2, 3))],
    "by the largest": [MaxAbsScaler()],
    "robust": [RobustScaler()],
    "robust, half": [RobustScaler(with_centering=False, unit_variance=True)],
    "selected": [SelectKBest(f_regression, k=5)],
    "proven": [CertifiedSelector(CertifiedLasso(CriticalFraction(0.1)))],
    "several": [VarianceThreshold(), StandardScaler(), "passthrough", SelectKBest(f_regression, k=7), MinMaxScaler()],
    "nested": [make_pipeline(StandardScaler(), None, SelectKBest(f_regression, k=4)), MaxAbsScaler()],
}


def saved(model, tmp_path):
    save_model(model, tmp_path / "model.json")
    return load_model(tmp_path / "model.json")


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_predictions_are_those_of_the_pipeline(steps, tmp_path):
    X, y = DATA["offset"]()
    X = X * np.geomspace(0.1, 10, X.shape[1])
    pipe = make_pipeline(*steps, LASSO).fit(X, y)
    model = saved(pipe, tmp_path)
    assert np.allclose(model.predict(X), pipe.predict(X), rtol=1e-9)
    assert model.count == X.shape[1]
    assert len(model.index) == np.count_nonzero(pipe[-1].coef_)


def test_names_are_those_of_what_goes_in(tmp_path):
    X, y = DATA["tall"]()
    frame = pd.DataFrame(X, columns=[f"gene{j}" for j in range(X.shape[1])])
    pipe = make_pipeline(StandardScaler(), SelectKBest(f_regression, k=3), LASSO).fit(frame, y)
    model = saved(pipe, tmp_path)
    assert set(model.names) <= set(frame.columns)
    assert np.allclose(model.predict(frame[model.names[::-1]]), pipe.predict(frame))


def test_classes_sparse_data_and_choices(tmp_path):
    X, y = DATA["tall"]()
    labels = labels_of(y)
    pipe = make_pipeline(StandardScaler(with_mean=False), CertifiedLogisticRegression(C=0.1)).fit(csr_array(X), labels)
    model = saved(pipe, tmp_path)
    assert np.allclose(model.predict_proba(csr_array(X)), pipe.predict_proba(csr_array(X)))
    assert np.array_equal(model.predict(X), pipe.predict(csr_array(X)))
    chosen = make_pipeline(StandardScaler(), CertifiedLassoCV(alphas=5)).fit(X, y)
    assert np.allclose(saved(chosen, tmp_path).predict(X), chosen.predict(X))
    search = GridSearchCV(make_pipeline(StandardScaler(), CertifiedLasso()), {"certifiedlasso__alpha": [0.1, 0.5]})
    search.fit(X, y)
    assert np.allclose(saved(search, tmp_path).predict(X), search.predict(X))


@pytest.mark.parametrize(
    ("pipe", "message"),
    [
        (make_pipeline(PCA(), LASSO), r"the step PCA is more than .* save_model\(pipeline\[-1\], path\)"),
        (make_pipeline(MinMaxScaler(clip=True), LASSO), "the step MinMaxScaler with clip=True is more than"),
        (make_pipeline(StandardScaler(), Lasso()), "got Lasso at the end of a Pipeline"),
        (Lasso(), "or a pipeline that ends in one, got Lasso"),
    ],
)
def test_others_are_refused_in_a_sentence(pipe, message, tmp_path):
    X, y = DATA["tall"]()
    with pytest.raises(TypeError, match=message):
        save_model(pipe.fit(X, y), tmp_path / "model.json")
    assert not list(tmp_path.iterdir())
