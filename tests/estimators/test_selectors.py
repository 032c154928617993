"""Features kept by proof, and by how often they are selected."""

import matplotlib as mpl
import numpy as np
import pytest
from samples import DATA, labels_of
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from atomsieve import (
    CertifiedLasso,
    CertifiedLogisticRegression,
    CertifiedSelector,
    CriticalFraction,
    GaugeClassifier,
    GaugeRegressor,
    Group,
    Logistic,
    StabilitySelector,
)
from atomsieve.estimators.selectors import selected
from atomsieve.estimators.solver import Solver
from atomsieve.estimators.task import TrainingData

mpl.use("Agg")


class TestCertifiedSelector:
    @pytest.mark.parametrize("name", DATA)
    def test_drops_what_is_proven_zero_and_nothing_else(self, name):
        X, y = DATA[name]()
        selector = CertifiedSelector(CertifiedLasso(CriticalFraction(0.2))).fit(X, y)
        assert np.array_equal(selector.get_support(), ~selector.certificate_.zero)
        assert np.array_equal(selector.get_support(), selector.estimator_.coef_ != 0)

    def test_what_is_undecided_stays(self):
        X, y = DATA["tall"]()
        X = np.column_stack([X, X[:, 0]])
        selector = CertifiedSelector(CertifiedLasso(alpha=0.1)).fit(X, y)
        assert selector.get_support()[0]
        assert selector.get_support()[-1]

    @pytest.mark.parametrize("loss", [None, Logistic()])
    def test_a_feature_counts_if_any_class_needs_it(self, loss):
        X, y = DATA["wine"]()
        model = GaugeClassifier(loss=loss, penalty=CriticalFraction(0.3), fit_intercept=loss is not None)
        selector = CertifiedSelector(model).fit(X, y)
        assert np.array_equal(selector.get_support(), selector.estimator_.coef_.any(axis=0))

    def test_groups(self):
        X, y = DATA["tall"]()
        model = GaugeRegressor(gauge=Group(np.arange(15) // 3), penalty=CriticalFraction(0.3))
        kept = CertifiedSelector(model).fit(X, y).get_support()
        assert (kept.reshape(5, 3).all(axis=1) | ~kept.reshape(5, 3).any(axis=1)).all()

    def test_in_a_search(self):
        X, y = DATA["wide"]()
        pipe = make_pipeline(CertifiedSelector(CertifiedLasso(CriticalFraction())), LinearRegression())
        grid = {"certifiedselector__estimator__alpha": [CriticalFraction(0.5), CriticalFraction(0.1)]}
        search = GridSearchCV(pipe, grid, cv=3).fit(X, y)
        assert search.best_params_["certifiedselector__estimator__alpha"] == CriticalFraction(0.1)

    def test_weights(self):
        X, y = DATA["tall"]()
        weights = np.random.default_rng(0).uniform(size=len(y))
        selector = CertifiedSelector(CertifiedLasso(alpha=0.1)).fit(X, y, sample_weight=weights)
        assert selector.estimator_.verify(X, y, weights).valid

    def test_strangers_are_refused(self):
        with pytest.raises(TypeError, match="must be one of atomsieve's"):
            CertifiedSelector(LogisticRegression()).fit(*DATA["tall"]())


class TestStabilitySelector:
    @pytest.mark.parametrize("n_subsamples", [16, pytest.param(40, marks=pytest.mark.deep)])
    def test_finds_the_truth_where_it_is_plain(self, n_subsamples):
        X, y = DATA["tall"]()
        selector = StabilitySelector(
            CertifiedLasso(CriticalFraction(0.1)), n_subsamples=n_subsamples, random_state=0
        ).fit(X, y)
        assert selector.get_support().tolist() == [True] * 4 + [False] * 11
        assert ((selector.probability_path_ >= 0) & (selector.probability_path_ <= 1)).all()
        assert np.array_equal(selector.probabilities_, selector.probability_path_.max(axis=0))
        data = TrainingData.of(selector.estimator_, X, y, None, None, reset=False)
        task, solver = selector.estimator_._solved, Solver.of(selector.estimator)
        found = [selected(task, data.part(half), selector.slopes_, solver) for half in selector._halves(y)]
        typical = np.mean([masks.any(axis=0).sum() for masks in found])
        assert selector.expected_false_ == pytest.approx(typical**2 / (0.8 * 15))
        assert np.allclose(selector.probability_path_, np.mean(found, axis=0))
        report = selector.support_report()
        assert report.kept.sum() == 4
        assert (report.verdict[:4] == "non-zero").all()
        assert selector.transform(X).shape == (200, 4)

    def test_classes_and_sparse_data(self):
        X, y = DATA["sparse rows"]()
        selector = StabilitySelector(
            CertifiedLogisticRegression(C=CriticalFraction(0.1)), n_subsamples=10, n_slopes=8, random_state=0
        ).fit(X, labels_of(y))
        labels = labels_of(y)
        sizes = [np.sum(labels[half] == "yes") for half in selector._halves(labels)]
        assert max(sizes) - min(sizes) <= 1
        assert selector.probabilities_[:5].mean() > selector.probabilities_[5:].mean() + 0.3

    def test_halves_in_pairs(self):
        X, y = DATA["tall"]()
        selector = StabilitySelector(CertifiedLasso(alpha=0.1), n_subsamples=4, n_slopes=2, random_state=0).fit(X, y)
        halves = selector._halves(y)
        assert len(halves) == 4
        assert np.array_equal(np.sort(np.concatenate(halves[:2])), np.arange(200))

    @pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.deep)])
    def test_the_same_seed_and_jobs_give_the_same(self, n_jobs):
        X, y = DATA["wide"]()
        selector = StabilitySelector(CertifiedLasso(alpha=0.1), n_subsamples=6, n_slopes=4, random_state=3)
        first = selector.fit(X, y).probabilities_
        assert np.array_equal(first, selector.fit(X, y).probabilities_)
        assert np.array_equal(first, selector.set_params(n_jobs=n_jobs).fit(X, y).probabilities_)

    def test_bad_parameters(self):
        X, y = DATA["tall"]()
        for bad in {"threshold": 0.0}, {"threshold": 1.5}, {"n_subsamples": 1}:
            with pytest.raises(ValueError, match="must"):
                StabilitySelector(CertifiedLasso(alpha=0.1), **bad).fit(X, y)

    def test_plot(self):
        import matplotlib.pyplot as plt  # noqa: PLC0415

        X, y = DATA["tall"]()
        selector = StabilitySelector(CertifiedLasso(alpha=0.1), n_subsamples=4, n_slopes=4, random_state=0).fit(X, y)
        ax = selector.plot()
        kept = selector.get_support().sum()
        assert sum(len(line.get_ydata()) == 4 for line in ax.lines) == kept
        assert f"{kept} of 15 features kept" in ax.get_title(loc="left")
        plt.close("all")
