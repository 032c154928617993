"""Offsets: in fits, predictions, proofs and folds."""

import pickle

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.metrics import make_scorer, mean_poisson_deviance
from sklearn.model_selection import GridSearchCV
from three_outputs import COUNTS, EXPOSURE, FOLDS, LABELS, OFFSET, OFFSETS, WEIGHTS, K, N, X, Y

from atomsieve import (
    CertifiedLasso,
    CertifiedLassoCV,
    CertifiedLogisticRegression,
    GaugeClassifier,
    GaugeClassifierCV,
    GaugeRegressor,
    GaugeRegressorCV,
    Linear,
    Logistic,
    Multinomial,
    Poisson,
    Problem,
    SquaredHinge,
    solve,
)

TIGHT = {"tol": 1e-12}


class TestOffset:
    @pytest.mark.parametrize("kind", [np.asarray, csr_array])
    def test_a_squared_loss_takes_it_off_the_targets(self, kind):
        model = CertifiedLasso(alpha=0.1, **TIGHT).fit(kind(X), Y[:, 0], WEIGHTS, OFFSET)
        same = CertifiedLasso(alpha=0.1, **TIGHT).fit(kind(X), Y[:, 0] - OFFSET, WEIGHTS)
        assert model.coef_ == pytest.approx(same.coef_, abs=1e-8)
        assert model.predict(kind(X), OFFSET) == pytest.approx(same.predict(kind(X)) + OFFSET)
        assert model.predict(kind(X)) == pytest.approx(same.predict(kind(X)))
        assert model.score(X, Y[:, 0], offset=OFFSET) > model.score(X, Y[:, 0])

    def test_the_logarithm_of_an_exposure(self):
        """Counts with an exposure are rates that are weighted by it."""
        y = COUNTS[:, 0]
        model = GaugeRegressor(Poisson(), penalty=Linear(0.05), **TIGHT).fit(X, y, offset=OFFSET)
        slope = 0.05 * N / EXPOSURE.sum()  # a mean by exposure is another scale
        rates = GaugeRegressor(Poisson(), penalty=Linear(slope), **TIGHT).fit(X, y / EXPOSURE, EXPOSURE)
        assert model.coef_ == pytest.approx(rates.coef_, abs=1e-6)
        assert model.intercept_ == pytest.approx(rates.intercept_, abs=1e-6)
        assert model.predict(X, OFFSET) == pytest.approx(EXPOSURE * model.predict(X))

    def test_proofs_are_about_it(self):
        y = COUNTS[:, 0]
        model = GaugeRegressor(Poisson(), penalty=Linear(0.05)).fit(X, y, offset=OFFSET)
        assert model.certificate_.valid
        assert model.certificate_.statement["offset"]
        assert model.certify(X, y, offset=OFFSET).valid
        assert model.verify(X, y, offset=OFFSET).valid
        assert not model.verify(X, y).valid
        with pytest.raises(ValueError, match="sample_weight and offset"):
            model.certify(X, y)
        kept = clone(model).set_params(keep_data=True).fit(X.copy(), y, offset=OFFSET)
        assert pickle.loads(pickle.dumps(kept)).certificate_.valid  # noqa: S301 -- our own

    def test_an_offset_that_changes_later(self):
        offset = OFFSET.copy()
        model = CertifiedLasso(alpha=0.1).fit(X, Y[:, 0], offset=offset)
        offset[:] = 0.0
        assert model.certificate_.valid

    @pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()])
    def test_two_classes(self, loss):
        labels = np.where(LABELS == "a", "a", "b")
        model = GaugeClassifier(loss, penalty=Linear(0.05), tol=1e-11).fit(X, labels, offset=OFFSET)
        signs = np.where(labels == "b", 1.0, -1.0)
        truth = solve(Problem(X, signs, loss=loss, penalty=Linear(0.05), intercept=True, offset=OFFSET), tol=1e-11)
        assert model.coef_[0] == pytest.approx(truth.x, abs=1e-5)
        u = X @ truth.x + truth.intercept + OFFSET
        assert model.decision_function(X, OFFSET) == pytest.approx(u, abs=1e-4)
        assert np.array_equal(model.predict(X, OFFSET), np.where(u > 0, "b", "a"))
        assert model.score(X, labels, offset=OFFSET) == pytest.approx(np.mean((u > 0) == (signs > 0)))
        assert model.verify(X, labels, offset=OFFSET).valid
        if loss.probabilistic:
            assert model.predict_proba(X, OFFSET)[:, 1] == pytest.approx(loss.mean(u), abs=1e-4)
            assert np.exp(model.predict_log_proba(X, OFFSET)) == pytest.approx(model.predict_proba(X, OFFSET))

    @pytest.mark.parametrize("shared", [False, True])
    def test_one_class_against_the_rest(self, shared):
        offset = OFFSET if shared else OFFSETS
        model = GaugeClassifier(Logistic(), penalty=Linear(0.05), tol=1e-10).fit(X, LABELS, offset=offset)
        for k in range(K):
            column = OFFSET if shared else OFFSETS[:, k]
            single = GaugeClassifier(penalty=Linear(0.05), tol=1e-10).fit(X, "abc"[k] == LABELS, offset=column)
            assert model.coef_[k] == pytest.approx(single.coef_[0], abs=1e-5)
            scores = single.decision_function(X, column)
            assert model.decision_function(X, offset)[:, k] == pytest.approx(scores, abs=1e-4)
        assert all(answer.valid for answer in model.verify(X, LABELS, offset=offset))

    @pytest.mark.parametrize("labels", [LABELS, np.where(LABELS == "a", "a", "b")], ids=["three", "two"])
    def test_all_classes_at_once(self, labels):
        codes = np.unique(labels, return_inverse=True)[1]
        offset = OFFSETS[:, : codes.max() + 1]
        model = GaugeClassifier(Multinomial(), penalty=Linear(0.05), tol=1e-10).fit(X, labels, offset=offset)
        parts = {"loss": Multinomial(), "penalty": Linear(0.05), "offset": offset}
        truth = solve(Problem(X, codes, intercept=True, **parts), tol=1e-10)
        assert model.coef_ == pytest.approx(truth.x.T, abs=1e-4)
        u = X @ model.coef_.T + model.intercept_ + offset
        assert model.predict_proba(X, offset) == pytest.approx(Multinomial().mean(u))

    @pytest.mark.parametrize(
        ("model", "y", "offset", "message"),
        [
            (CertifiedLasso(), Y[:, 0], OFFSETS, r"offset must have shape \(60,\), .* got \(60, 3\)"),
            (CertifiedLasso(), Y[:, 0], OFFSET[:, None], r"offset must have shape \(60,\), .* got \(60, 1\)"),
            (CertifiedLasso(), Y, OFFSET, r"offset must have shape \(60, 3\), .* got \(60,\)"),
            (CertifiedLasso(), Y[:, 0], OFFSET[1:], "offset must have one row per row of X, 60 in all"),
            (CertifiedLasso(), Y[:, 0], np.full(N, np.nan), "offset contains NaN"),
            (CertifiedLasso(), Y[:, 0], 1.0, "offset must have one row"),
            (CertifiedLasso(), Y[:, 0], ["log"] * N, "offset must hold real numbers"),
            (GaugeClassifier(Multinomial()), LABELS, OFFSET, r"offset must have shape \(60, 3\)"),
            (GaugeClassifier(Logistic()), LABELS, OFFSETS[:, :2], r"offset must have shape \(60, 3\)"),
            (CertifiedLogisticRegression(), LABELS == "a", OFFSETS, r"offset must have shape \(60,\)"),
        ],
    )
    def test_what_is_refused(self, model, y, offset, message):
        with pytest.raises(ValueError, match=message):
            clone(model).fit(X, y, offset=offset)
        fitted = clone(model).fit(X, y)
        with pytest.raises(ValueError, match=message):
            fitted.predict(X, offset)


class TestCrossValidation:
    def test_the_lasso(self):
        model = CertifiedLassoCV(alphas=[0.01, 0.1, 1.0], cv=FOLDS, tol=1e-10).fit(X, Y, WEIGHTS, OFFSETS)
        errors = np.zeros((3, 4))
        for fold, (train, test) in enumerate(FOLDS.split(X)):
            for row, alpha in enumerate(model.alphas_):
                part = CertifiedLasso(alpha, tol=1e-10).fit(X[train], Y[train], WEIGHTS[train], OFFSETS[train])
                square = (part.predict(X[test], OFFSETS[test]) - Y[test]) ** 2
                errors[row, fold] = np.average(square.mean(axis=1), weights=WEIGHTS[test])
        assert model.mse_path_ == pytest.approx(errors, rel=1e-4)

    @pytest.mark.parametrize("outputs", [False, True])
    def test_scorers_are_shown_predictions_with_the_offset(self, outputs):
        y, offset = (Y, OFFSETS) if outputs else (Y[:, 0], OFFSET)
        given = {"strengths": [0.05, 0.3], "cv": FOLDS, "scoring": "neg_mean_squared_error"}
        model = GaugeRegressorCV(**given).fit(X, y, offset=offset)
        same = GaugeRegressorCV(**given).fit(X, y - offset)
        assert model.cv_scores_ == pytest.approx(same.cv_scores_)

    def test_counts(self):
        scorer = make_scorer(mean_poisson_deviance, greater_is_better=False)
        y = COUNTS[:, 0]
        model = GaugeRegressorCV(Poisson(), strengths=[0.02, 0.2], cv=FOLDS, scoring=scorer).fit(X, y, offset=OFFSET)
        for fold, (train, test) in enumerate(FOLDS.split(X)):
            part = GaugeRegressor(Poisson(), penalty=Linear(0.02)).fit(X[train], y[train], offset=OFFSET[train])
            score = -mean_poisson_deviance(y[test], part.predict(X[test], OFFSET[test]))
            assert model.cv_scores_[1, fold] == pytest.approx(score, rel=1e-3)
        assert model.predict(X) == pytest.approx(np.exp(X @ model.coef_ + model.intercept_))

    @pytest.mark.parametrize("loss", [Logistic(), Multinomial()])
    @pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
    def test_classes(self, loss, scoring):
        model = GaugeClassifierCV(loss, strengths=[0.02, 0.1], cv=FOLDS, scoring=scoring)
        with_offset = clone(model).fit(X, LABELS, offset=OFFSETS).cv_scores_
        assert not np.allclose(with_offset, model.fit(X, LABELS).cv_scores_)
        if isinstance(loss, Multinomial) and scoring is None:
            scorer = clone(model).set_params(scoring="neg_log_loss")
            assert with_offset == pytest.approx(scorer.fit(X, LABELS, offset=OFFSETS).cv_scores_)

    def test_searches_route_it(self):
        with sklearn.config_context(enable_metadata_routing=True):
            model = CertifiedLasso().set_fit_request(offset=True).set_score_request(offset=True)
            search = GridSearchCV(model, {"alpha": [0.05, 0.3]}, cv=FOLDS).fit(X, Y[:, 0], offset=OFFSET)
        scores = []
        for train, test in FOLDS.split(X):
            part = CertifiedLasso(alpha=0.05).fit(X[train], Y[train, 0], offset=OFFSET[train])
            scores.append(part.score(X[test], Y[test, 0], offset=OFFSET[test]))
        assert search.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(scores))


class TestExposure:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    years = rng.uniform(0.5, 12.0, 200)
    counts = rng.poisson(years * np.exp(0.5 * X[:, 0]))

    @pytest.mark.parametrize("model", [GaugeRegressor(Poisson()), GaugeRegressorCV(Poisson(), strengths=5, cv=3)])
    def test_is_the_exponential_of_an_offset(self, model):
        told = clone(model).fit(self.X, self.counts, exposure=self.years)
        same = clone(model).fit(self.X, self.counts, offset=np.log(self.years))
        assert np.array_equal(told.coef_, same.coef_)
        assert told.intercept_ == same.intercept_
        assert np.array_equal(told.predict(self.X, exposure=self.years), same.predict(self.X, np.log(self.years)))
        np.testing.assert_allclose(told.predict(self.X, exposure=self.years), self.years * told.predict(self.X))

    def test_refuses_in_sentences(self):
        model = GaugeRegressor(Poisson())
        with pytest.raises(ValueError, match="exposure or offset, not both"):
            model.fit(self.X, self.counts, offset=self.years, exposure=self.years)
        for bad in (0.0, -1.0, np.nan, np.inf):
            with pytest.raises(ValueError, match="exposure must be positive finite numbers"):
                model.fit(self.X, self.counts, exposure=np.r_[bad, self.years[1:]])
        with pytest.raises(TypeError, match=r"take loss=Poisson\(\)"):
            GaugeRegressor().fit(self.X, self.counts, exposure=self.years)

    @pytest.mark.parametrize("model", [GaugeRegressor(Poisson()), GaugeRegressorCV(Poisson(), strengths=5, cv=3)])
    def test_a_forgotten_logarithm_is_hinted_at(self, model):
        with pytest.warns(UserWarning, match=r"pass exposure=\.\.\., or offset=np\.log"):
            model.fit(self.X, self.counts, offset=self.years)

    def test_an_honest_offset_that_hardly_matters_is_left_alone(self):
        rng = np.random.default_rng(0)
        for _ in range(20):
            time = rng.uniform(1.5, 10.0, 100)
            GaugeRegressor(Poisson()).fit(self.X[:100], rng.poisson(0.5 * time), offset=np.log(time))

    @pytest.mark.parametrize("scale", [1.0, 100.0])
    def test_logarithms_and_other_losses_are_left_alone(self, scale):
        GaugeRegressor(Poisson()).fit(self.X, self.counts, offset=np.log(scale * self.years))  # warnings are errors
        GaugeRegressor(Poisson()).fit(self.X, self.counts, offset=np.full(200, 3.0))
        GaugeRegressor().fit(self.X, self.counts, offset=self.years)

    def test_weights_and_several_outputs_count(self):
        both = np.column_stack([self.counts, self.counts])
        years = np.column_stack([self.years, self.years])
        with pytest.warns(UserWarning, match="better by its logarithm"):
            GaugeRegressor(Poisson()).fit(self.X, both, np.ones(200), offset=years)
