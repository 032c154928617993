"""The method of an estimator, and the time that it may take."""

import warnings

import numpy as np
import pytest
from samples import DATA, labels_of
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning

from atomsieve import (
    GCG,
    Away,
    Ball,
    CertifiedLasso,
    CertifiedLassoCV,
    CertifiedLogisticRegression,
    CertifiedLogisticRegressionCV,
    Corrective,
    CriticalFraction,
    FeatureCount,
    GaugeClassifier,
    GaugeClassifierCV,
    GaugeRegressor,
    GaugeRegressorCV,
    LineSearch,
    Pairwise,
    Square,
    Status,
)
from atomsieve.estimators import folds, solver

CROSS_VALIDATED = [
    CertifiedLassoCV(alphas=4),
    CertifiedLogisticRegressionCV(Cs=4),
    GaugeRegressorCV(strengths=4),
    GaugeClassifierCV(strengths=4),
]
PLAIN = [CertifiedLasso(0.1), CertifiedLogisticRegression(C=0.1), GaugeRegressor(), GaugeClassifier()]


def data_for(model, name="wide"):
    X, y = DATA[name]()
    return X, labels_of(y) if is_classifier(model) else y


def methods_used(monkeypatch):
    """Return a list that fills with the methods of all runs."""
    used = []
    solve, walk = solver.solve, solver.walk

    def solved(problem, method=None, **limits):
        used.append(method)
        return solve(problem, method, **limits)

    def walked(problem, slopes, limits, *, method):
        used.append(method)
        return walk(problem, slopes, limits, method=method)

    monkeypatch.setattr(solver, "solve", solved)
    monkeypatch.setattr(solver, "walk", walked)
    return used


class TestMethod:
    @pytest.mark.parametrize("model", [*PLAIN, *CROSS_VALIDATED], ids=lambda model: type(model).__name__)
    def test_serves_every_run_and_the_proof(self, model, monkeypatch):
        used, method = methods_used(monkeypatch), Corrective()
        X, y = data_for(model)
        fitted = clone(model).set_params(method=method).fit(X, y)
        runs = len(used)
        assert runs == (1 if model in PLAIN else 5 + 1)
        assert fitted.certificate_.valid
        assert len(used) == runs + 1
        assert all(one is method for one in used)

    @pytest.mark.parametrize("model", CROSS_VALIDATED, ids=lambda model: type(model).__name__)
    def test_that_cannot_solve_the_problem_is_refused(self, model):
        with pytest.raises(ValueError, match="GCG cannot solve a problem with Linear"):
            clone(model).set_params(method=GCG()).fit(*data_for(model))
        with pytest.raises(TypeError, match="method must be an instance"):
            clone(model).set_params(method=GCG).fit(*data_for(model))

    @pytest.mark.parametrize("method", [Away(), Pairwise()])
    def test_other_methods_find_the_same(self, method):
        X, y = DATA["tall"]()
        settings = {"penalty": Ball(), "strengths": [0.5, 1.0, 2.0], "tol": 1e-4}
        ours = GaugeRegressorCV(method=method, **settings).fit(X, y)
        default = GaugeRegressorCV(**settings).fit(X, y)
        assert ours.strength_ == default.strength_
        np.testing.assert_allclose(ours.cv_mean_, default.cv_mean_, rtol=0.01)
        np.testing.assert_allclose(ours.predict(X), default.predict(X), atol=0.1)

    def test_helps_itself_to_the_default_on_the_way(self):
        X, y = DATA["tall"]()
        model = GaugeRegressorCV(penalty=Square(), strengths=3, ratio=0.1, method=GCG(LineSearch()), tol=1e-2)
        assert len(model.fit(X, y).strengths_) == 2


class TestTimeLimit:
    @pytest.mark.parametrize("model", [*PLAIN, *CROSS_VALIDATED], ids=lambda model: type(model).__name__)
    def test_enough_changes_nothing(self, model):
        X, y = data_for(model)
        plain, limited = clone(model).fit(X, y), clone(model).set_params(time_limit=600).fit(X, y)
        assert np.array_equal(plain.coef_, limited.coef_)
        assert limited.status_ is Status.CONVERGED

    @pytest.mark.parametrize(
        "model",
        [
            *PLAIN,
            *CROSS_VALIDATED,
            GaugeRegressor(penalty=FeatureCount(5)),
            GaugeRegressor(penalty=CriticalFraction(0.1, Square())),
            GaugeRegressorCV(penalty=Square(), strengths=4),
        ],
        ids=repr,
    )
    def test_none_at_all_keeps_what_there_is_and_says_so(self, model):
        X, y = data_for(model)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            limited = clone(model).set_params(time_limit=1e-6, tol=1e-9).fit(X, y)
        assert any("ime limit" in str(warning.message) for warning in caught)
        assert all(warning.filename == __file__ for warning in caught)
        assert np.isfinite(limited.coef_).all()
        limited.predict(X)

    def test_candidates_that_a_fold_does_not_get_to_are_left_out(self, monkeypatch):
        X, y = DATA["wide"]()
        full, run = CertifiedLassoCV(alphas=6).fit(X, y), folds.held_out

        def slow(trial, candidates, number, solver, watch):
            fold = run(trial, candidates, number, solver, watch)
            return folds.Fold(fold.scores[:3], fold.models) if number == 2 else fold

        monkeypatch.setattr(folds, "held_out", slow)
        with pytest.warns(ConvergenceWarning, match="after 3 of 6 candidates, sparsest first; raise time_limit"):
            model = CertifiedLassoCV(alphas=6).fit(X, y)
        assert np.array_equal(model.alphas_, full.alphas_[:3])
        assert np.array_equal(model.cv_scores_, full.cv_scores_[:3])
        assert len(model.penalties_) == 3
        assert model.alpha_ in model.alphas_

    @pytest.mark.parametrize("bad", [0, -1.0, "long", np.nan])
    def test_must_be_positive(self, bad):
        with pytest.raises(ValueError, match="time_limit must be a positive number of seconds"):
            CertifiedLasso(time_limit=bad).fit(*DATA["tall"]())
