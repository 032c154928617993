"""The path that a cross-validation keeps: both choices, the table, and models at every strength on it."""

import gc
import pickle
import weakref
from copy import deepcopy

import numpy as np
import pytest
from samples import DATA, labels_of
from scipy.sparse import random_array
from sklearn.base import is_classifier
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold

from atomsieve import (
    Ball,
    CertifiedLasso,
    CertifiedLassoCV,
    CertifiedLogisticRegression,
    CertifiedLogisticRegressionCV,
    GaugeClassifierCV,
    GaugeRegressorCV,
    Logistic,
    Square,
)

MODELS = [
    (CertifiedLassoCV(alphas=6, cv=3), "alpha"),
    (CertifiedLogisticRegressionCV(Cs=6, cv=3), "C"),
    (GaugeRegressorCV(strengths=6, cv=3, selection="1se"), "strength"),
    (GaugeRegressorCV(penalty=Ball(), strengths=6, cv=3), "strength"),
    (GaugeRegressorCV(penalty=Square(), strengths=6, cv=3), "strength"),
    (GaugeClassifierCV(strengths=6, cv=3), "strength"),
]
by_class = pytest.mark.parametrize(("model", "name"), MODELS, ids=lambda part: part if isinstance(part, str) else None)


def fitted(model, data="tall"):
    X, y = DATA[data]()
    return X, model.fit(X, labels_of(y) if is_classifier(model) else y)


class TestBothChoices:
    @by_class
    def test_one_fit_gives_both(self, model, name):
        _, model = fitted(model)
        values = getattr(model, f"{name}s_")
        assert getattr(model, f"{name}_min_") == values[model.index_min_]
        assert getattr(model, f"{name}_1se_") == values[model.index_1se_]
        chosen = "1se" if model.selection == "1se" else "min"
        assert getattr(model, f"{name}_") == getattr(model, f"{name}_{chosen}_")
        assert model.best_index_ == getattr(model, f"index_{chosen}_")
        assert model.index_1se_ <= model.index_min_

    def test_selection_decides_only_which_model_is_shown(self):
        X, y = DATA["wide"]()
        folds = KFold(5, shuffle=True, random_state=0)
        least, sparse = (CertifiedLassoCV(alphas=30, cv=folds, selection=rule).fit(X, y) for rule in ("min", "1se"))
        assert (least.alpha_min_, least.alpha_1se_) == (sparse.alpha_min_, sparse.alpha_1se_)
        assert least.alpha_ != sparse.alpha_
        assert np.array_equal(least.coef_path_, sparse.coef_path_)
        assert np.array_equal(sparse.coef_, least.coef_path_[least.index_1se_])
        assert np.array_equal(sparse.predict(X), least.predict(X, alpha=least.alpha_1se_))
        assert np.array_equal(sparse.predict(X), least.predict(X, alpha="1se"))
        assert np.array_equal(least.predict(X), sparse.predict(X, alpha="min"))
        with pytest.raises(ValueError, match=r'got .best.* "min" and "1se" stand for the two choices'):
            sparse.predict(X, alpha="best")

    @by_class
    def test_the_table(self, model, name):
        _, model = fitted(model)
        table = model.cv_results_
        splits = [f"split{k}_score" for k in range(3)]
        assert list(table) == [f"{name}s", "mean_score", "standard_error", "n_features", *splits]
        assert np.array_equal(table[f"{name}s"], getattr(model, f"{name}s_"))
        assert np.array_equal(np.stack([table[split] for split in splits], axis=1), model.cv_scores_)
        assert np.array_equal(table["mean_score"], model.cv_mean_)
        assert np.array_equal(table["standard_error"], model.cv_standard_error_)
        assert np.array_equal(table["n_features"], np.count_nonzero(model.coef_path_, axis=1))


class TestPath:
    @by_class
    def test_has_the_model_of_every_candidate(self, model, name):
        X, model = fitted(model)
        values = getattr(model, f"{name}s_")
        assert model.coef_path_.shape == (len(values), X.shape[1])
        assert model.intercept_path_.shape == (len(values),)
        assert np.array_equal(model.coef_path_[model.best_index_], np.ravel(model.coef_))
        assert model.intercept_path_[model.best_index_] == np.ravel(model.intercept_)
        for k, value in enumerate(values):
            linear = X @ model.coef_path_[k] + model.intercept_path_[k]
            answers = model.decision_function if is_classifier(model) else model.predict
            assert np.allclose(answers(X, **{name: value}), linear, rtol=1e-12)

    def test_is_the_path_of_single_fits(self):
        X, y = DATA["wide"]()
        model = CertifiedLassoCV(alphas=5, cv=3, tol=1e-12).fit(X, y)
        for k, alpha in enumerate(model.alphas_):
            single = CertifiedLasso(alpha, tol=1e-12).fit(X, y)
            assert np.allclose(model.coef_path_[k], single.coef_, atol=1e-5)
            assert model.intercept_path_[k] == pytest.approx(single.intercept_, abs=1e-5)

    @pytest.mark.parametrize("loss", [None, Logistic()])
    def test_of_several_classes(self, loss):
        X, y = load_iris(return_X_y=True)
        model = GaugeClassifierCV(loss=loss, strengths=4, ratio=0.1, cv=3).fit(X, y)
        assert model.coef_path_.shape == (4, 3, 4)
        assert model.intercept_path_.shape == (4, 3)
        assert np.array_equal(model.coef_path_[model.best_index_], model.coef_)
        assert np.array_equal(model.predict_proba(X, strength=model.strength_), model.predict_proba(X))
        other = model.strengths_[1]
        assert np.allclose(np.exp(model.predict_log_proba(X, strength=other)), model.predict_proba(X, strength=other))
        assert np.array_equal(model.predict(X, strength=other), model.predict_proba(X, strength=other).argmax(axis=1))

    def test_between_candidates_it_is_linear_in_the_strength(self):
        X, y = DATA["tall"]()
        model = CertifiedLassoCV(alphas=[0.4, 0.2], cv=3).fit(X, y)
        ends = [model.predict(X, alpha=alpha) for alpha in (0.4, 0.2)]
        assert np.allclose(model.predict(X, alpha=0.25), 0.25 * ends[0] + 0.75 * ends[1])
        between = CertifiedLassoCV(alphas=[0.2 + 1e-9, 0.2], cv=3, tol=1e-12).fit(X, y)  # no feature comes or goes
        single = CertifiedLasso(0.2 + 5e-10, tol=1e-12).fit(X, y)
        assert np.allclose(between.predict(X, alpha=0.2 + 5e-10), single.predict(X), atol=1e-5)

    def test_between_values_of_c_it_is_linear_in_the_slope(self):
        X, y = DATA["tall"]()
        model = CertifiedLogisticRegressionCV(Cs=[0.1, 0.2], cv=3).fit(X, labels_of(y))
        ends = [model.decision_function(X, C=C) for C in (0.1, 0.2)]
        share = (1 / 0.15 - 1 / 0.2) / (1 / 0.1 - 1 / 0.2)
        assert np.allclose(model.decision_function(X, C=0.15), share * ends[0] + (1 - share) * ends[1])
        near = CertifiedLogisticRegressionCV(Cs=[0.149, 0.151], cv=3, tol=1e-12).fit(X, labels_of(y))
        single = CertifiedLogisticRegression(C=0.15, tol=1e-12).fit(X, labels_of(y))
        assert np.allclose(near.decision_function(X, C=0.15), single.decision_function(X), atol=1e-3)

    @by_class
    def test_beyond_its_ends_there_is_nothing(self, model, name):
        X, model = fitted(model)
        values = getattr(model, f"{name}s_")
        for bad in (2 * values.max(), values.min() / 2, np.nan, "best", None):
            with pytest.raises(ValueError, match=f"{name} must be a number between .* the ends of the path, got"):
                model.predict(X, **{name: bad})
        with pytest.raises(TypeError, match=f"The strength is called {name}: got lam"):
            model.predict(X, lam=0.1)

    def test_with_an_offset(self):
        X, y = DATA["tall"]()
        offset = np.linspace(0, 1, len(y))
        model = CertifiedLassoCV(alphas=5).fit(X, y, offset=offset)
        alpha = model.alphas_[2]
        assert np.allclose(model.predict(X, offset, alpha=alpha), model.predict(X, alpha=alpha) + offset)

    def test_asking_changes_nothing(self):
        X, model = fitted(CertifiedLassoCV(alphas=5))
        before = model.coef_.copy()
        model.predict(X, alpha=model.alphas_[0])
        assert np.array_equal(model.coef_, before)
        again = deepcopy(model)
        assert np.array_equal(again.predict(X, alpha=model.alphas_[1]), model.predict(X, alpha=model.alphas_[1]))

    def test_is_kept_sparse(self):
        X = random_array((30, 20_000), density=0.01, random_state=np.random.default_rng(0), format="csc")
        y = np.asarray(X[:, :3].sum(axis=1)).ravel()
        model = CertifiedLassoCV(alphas=50, cv=3).fit(X, y + np.random.default_rng(1).standard_normal(30))
        assert model.coef_path_.nbytes == 50 * 20_000 * 8
        assert len(pickle.dumps(model)) < 4 * 20_000 * 8

    @pytest.mark.parametrize("limit", [None, 600])
    def test_keeps_no_data_alive(self, limit):
        X, y = DATA["tall"]()
        held = weakref.ref(X)
        model = CertifiedLassoCV(alphas=5, time_limit=limit).fit(X, y)
        del X
        gc.collect()
        assert held() is None
        assert model.coef_path_.shape == (5, 15)
