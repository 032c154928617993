"""Strengths chosen on held-out samples."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from samples import DATA, labels_of
from sklearn import config_context
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV, LogisticRegressionCV
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_val_score

from atomsieve import (
    Ball,
    CertifiedLasso,
    CertifiedLassoCV,
    CertifiedLogisticRegression,
    CertifiedLogisticRegressionCV,
    CriticalFraction,
    GaugeClassifier,
    GaugeClassifierCV,
    GaugeRegressorCV,
    Linear,
    LinearSquare,
    LogBarrier,
    Logistic,
    Problem,
    Square,
    SquaredHinge,
)
from atomsieve.estimators.choice import mean_and_error, pick

mpl.use("Agg")


class TestChoice:
    def test_one_standard_error_is_the_sparser_side(self):
        mean = np.array([-5.0, -2.1, -1.5, -1.0, -1.2])  # sparsest first
        error = np.array([0.1, 0.1, 0.1, 0.6, 0.1])
        assert pick(mean, error, "min") == 3
        assert pick(mean, error, "1se") == 2

    def test_ties_go_to_the_sparser(self):
        assert pick(np.array([-1.0, -1.0, -2.0]), np.zeros(3), "min") == 0

    def test_mean_and_error(self):
        mean, error = mean_and_error(np.array([[1.0, 4.0, 7.0]]))
        assert mean == pytest.approx([4.0])
        assert error == pytest.approx([np.sqrt(3.0)])
        assert mean_and_error(np.array([[1.0]]))[1] == 0

    @pytest.mark.thin(4)
    @pytest.mark.parametrize("seed", range(10))
    @pytest.mark.parametrize("weighted", [False, True])
    def test_as_scikit_learn_chooses_with_unequal_folds(self, weighted, seed):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((63, 8))
        y = X[:, 0] + 2 * rng.standard_normal(63)
        weights = rng.uniform(0.1, 3.0, 63) if weighted else None
        peer = LassoCV(tol=1e-10, max_iter=100_000).fit(X, y, sample_weight=weights)
        assert CertifiedLassoCV(tol=1e-9).fit(X, y, sample_weight=weights).alpha_ == pytest.approx(peer.alpha_)

    @pytest.mark.parametrize("name", ["diabetes", "wide", "tall", "sparse rows"])
    def test_direction_on_data(self, name):
        X, y = DATA[name]()
        settings = {"cv": KFold(5, shuffle=True, random_state=0), "alphas": 40}
        least = CertifiedLassoCV(selection="min", **settings).fit(X, y)
        sparse = CertifiedLassoCV(selection="1se", **settings).fit(X, y)
        assert sparse.alpha_ > least.alpha_
        assert np.count_nonzero(sparse.coef_) <= np.count_nonzero(least.coef_)
        k = least.best_index_
        bound = least.cv_mean_[k] - least.cv_standard_error_[k]
        assert (sparse.cv_mean_[: sparse.best_index_] < bound).all()
        assert sparse.cv_mean_[sparse.best_index_] >= bound

    @pytest.mark.parametrize("shape", [Ball(), LogBarrier(), Square()])
    def test_direction_for_shapes(self, shape):
        X, y = DATA["wide"]()
        least = GaugeRegressorCV(penalty=shape, strengths=20).fit(X, y)
        sparse = GaugeRegressorCV(penalty=shape, strengths=20, selection="1se").fit(X, y)
        weaker = sparse.strength_ < least.strength_ if hasattr(shape, "radius") else sparse.strength_ > least.strength_
        assert weaker or sparse.best_index_ == least.best_index_
        assert np.count_nonzero(sparse.coef_) <= np.count_nonzero(least.coef_)

    def test_other_rules_are_refused(self):
        with pytest.raises(ValueError, match="selection must be 'min' or '1se'"):
            GaugeRegressorCV(selection="best").fit(*DATA["tall"]())
        CertifiedLassoCV(selection="cyclic", alphas=3).fit(*DATA["tall"]())


class TestGrid:
    def test_from_the_critical_slope_with_intercept_and_weights(self):
        X, y = DATA["offset"]()
        weights = np.random.default_rng(0).uniform(size=len(y))
        model = CertifiedLassoCV(alphas=5).fit(X, y, sample_weight=weights)
        assert not CertifiedLasso(alpha=model.alphas_[0] * 1.0001).fit(X, y, sample_weight=weights).coef_.any()
        assert CertifiedLasso(alpha=model.alphas_[0] * 0.99).fit(X, y, sample_weight=weights).coef_.any()

    def test_given_values(self):
        X, y = DATA["tall"]()
        assert CertifiedLassoCV(alphas=[0.1, 0.3, 0.2]).fit(X, y).alphas_.tolist() == [0.3, 0.2, 0.1]
        assert GaugeRegressorCV(penalty=Ball(), strengths=[2.0, 1.0]).fit(X, y).strengths_.tolist() == [1.0, 2.0]
        assert CertifiedLogisticRegressionCV(Cs=[1.0, 0.1]).fit(X, labels_of(y)).Cs_.tolist() == [0.1, 1.0]
        assert len(CertifiedLassoCV(n_alphas=7).fit(X, y).alphas_) == 7
        assert CertifiedLassoCV(alphas=[0.1, 0.2], n_alphas=7).fit(X, y).alphas_.tolist() == [0.2, 0.1]
        for bad in [], [0.0], [-1.0], [np.nan], True:
            with pytest.raises(ValueError, match="alphas must be"):
                CertifiedLassoCV(alphas=bad).fit(X, y)

    @pytest.mark.parametrize(
        ("model", "message"),
        [
            (CertifiedLassoCV(alphas=0), "alphas must be a positive whole number"),
            (CertifiedLassoCV(eps=2.0), "eps must lie between 0 and 1"),
            (GaugeRegressorCV(strengths=2.5), "strengths must be a positive whole number"),
            (GaugeRegressorCV(ratio=0.0), "ratio must lie between 0 and 1"),
            (CertifiedLassoCV(cv=[]), "cv gives no fold"),
        ],
    )
    def test_errors_speak_of_the_parameters(self, model, message):
        with pytest.raises(ValueError, match=message):
            model.fit(*DATA["tall"]())

    def test_shapes_without_a_strength_everywhere(self):
        X, y = DATA["diabetes"]()
        assert len(GaugeRegressorCV(penalty=LinearSquare(1.0, 1e-3), strengths=10).fit(X, y).strengths_) < 10
        assert not GaugeRegressorCV(penalty=Square(), strengths=5).fit(X, np.ones(len(y))).coef_.any()

    def test_all_shapes_share_the_path(self):
        X, y = DATA["wide"]()
        plain = GaugeRegressorCV(strengths=10, tol=1e-9).fit(X, y)
        square = GaugeRegressorCV(penalty=Square(), strengths=10, tol=1e-9).fit(X, y)
        slopes = plain.strengths_[1:]  # at the first, x = 0
        assert len(square.strengths_) == 9
        for strength, slope in zip(square.strengths_, slopes, strict=True):
            coef = CertifiedLasso(alpha=slope, tol=1e-9).fit(X, y).coef_
            assert strength * np.abs(coef).sum() == pytest.approx(slope, rel=1e-3)

    def test_a_constant_target(self):
        X = np.random.default_rng(0).standard_normal((20, 3))
        assert not CertifiedLassoCV(alphas=5).fit(X, np.ones(20)).coef_.any()


class TestFolds:
    def test_scores_are_those_of_single_fits(self):
        X, y = DATA["wide"]()
        folds = KFold(3, shuffle=True, random_state=1)
        model = CertifiedLassoCV(alphas=5, cv=folds, tol=1e-9).fit(X, y)
        for k, alpha in enumerate(model.alphas_):
            single = cross_val_score(CertifiedLasso(alpha, tol=1e-9), X, y, cv=folds, scoring="neg_mean_squared_error")
            assert np.allclose(model.mse_path_[k], -single, rtol=1e-5)

    @pytest.mark.parametrize(
        "scoring", ["neg_mean_absolute_error", make_scorer(mean_absolute_error, greater_is_better=False)]
    )
    def test_any_scorer(self, scoring):
        X, y = DATA["wide"]()
        model = GaugeRegressorCV(strengths=5, scoring=scoring, cv=3, tol=1e-9).fit(X, y)
        single = cross_val_score(
            CertifiedLasso(model.strengths_[3], tol=1e-9), X, y, cv=3, scoring="neg_mean_absolute_error"
        )
        assert np.allclose(model.cv_scores_[3], single, rtol=1e-4)
        assert np.isnan(CertifiedLassoCV(alphas=3, scoring="r2").fit(X, y).mse_path_).all()

    def test_a_callable_scorer_and_weights(self):
        X, y = DATA["tall"]()
        model = GaugeRegressorCV(strengths=4, scoring=lambda m, X, y: -np.abs(m.predict(X) - y).max())
        assert model.fit(X, y, sample_weight=np.ones(len(y))).cv_scores_.shape == (4, 5)

    def test_groups(self):
        X, y = DATA["tall"]()
        groups = np.arange(len(y)) % 7
        model = CertifiedLassoCV(alphas=5, cv=GroupKFold(3)).fit(X, y, groups=groups)
        splits = list(GroupKFold(3).split(X, y, groups))
        assert np.array_equal(model.mse_path_, CertifiedLassoCV(alphas=5, cv=splits).fit(X, y).mse_path_)
        with pytest.raises(TypeError, match="it takes groups"):
            CertifiedLassoCV(cv=3).fit(X, y, teams=groups)
        with config_context(enable_metadata_routing=True):
            splitter = GroupKFold(3).set_split_request(groups=True)
            routed = CertifiedLassoCV(alphas=5, cv=splitter).fit(X, y, groups=groups)
        assert np.array_equal(model.mse_path_, routed.mse_path_)

    def test_routed_weights_reach_the_scorer(self):
        X, y = DATA["tall"]()
        weights = np.random.default_rng(0).uniform(size=len(y))
        with config_context(enable_metadata_routing=True):
            scorer = make_scorer(mean_absolute_error).set_score_request(sample_weight=True)
            model = CertifiedLassoCV(alphas=3, scoring=scorer).set_fit_request(sample_weight=True)
            routed = model.fit(X, y, sample_weight=weights).cv_scores_
            scorer = make_scorer(mean_absolute_error).set_score_request(sample_weight=False)
            model = CertifiedLassoCV(alphas=3, scoring=scorer).set_fit_request(sample_weight=True)
            plain = model.fit(X, y, sample_weight=weights).cv_scores_
            shuffled = pd.Series(weights, index=np.random.default_rng(1).permutation(len(y)))
            scorer = make_scorer(mean_absolute_error).set_score_request(sample_weight=True)
            model = CertifiedLassoCV(alphas=3, scoring=scorer).set_fit_request(sample_weight=True)
            assert np.array_equal(model.fit(X, y, sample_weight=shuffled).cv_scores_, routed)
        assert not np.allclose(routed, plain)
        unrouted = CertifiedLassoCV(alphas=3, scoring=make_scorer(mean_absolute_error)).fit(X, y, sample_weight=weights)
        assert np.array_equal(unrouted.cv_scores_, routed)
        for number, (train, test) in enumerate(KFold(5).split(X)):
            single = CertifiedLasso(model.alphas_[1]).fit(X[train], y[train], sample_weight=weights[train])
            error = mean_absolute_error(y[test], single.predict(X[test]), sample_weight=weights[test])
            assert error == pytest.approx(routed[1, number], rel=1e-3)

    def test_masks_as_folds_and_one_weight_for_all(self):
        X, y = DATA["tall"]()
        first = np.arange(len(y)) < 70
        masks = CertifiedLassoCV(alphas=4, cv=[(~first, first), (first, ~first)]).fit(X, y)
        places = [(np.flatnonzero(~first), np.flatnonzero(first)), (np.flatnonzero(first), np.flatnonzero(~first))]
        assert np.array_equal(masks.cv_scores_, CertifiedLassoCV(alphas=4, cv=places).fit(X, y).cv_scores_)
        assert CertifiedLassoCV(alphas=4, scoring="r2").fit(X, y, sample_weight=2.0).alpha_ > 0

    def test_each_class_against_the_rest_is_the_sum_of_its_parts(self):
        X, y = load_iris(return_X_y=True)
        settings = {"strengths": [0.1, 0.01], "cv": list(StratifiedKFold(3).split(X, y)), "tol": 1e-9}
        whole = GaugeClassifierCV(loss=Logistic(), **settings).fit(X, y)
        parts = [GaugeClassifierCV(**settings).fit(X, y == k).cv_scores_ for k in range(3)]
        assert np.allclose(whole.cv_scores_, np.sum(parts, axis=0), rtol=1e-4)
        grid = GaugeClassifierCV(loss=Logistic(), strengths=3).fit(X, y)
        tops = [GaugeClassifierCV(strengths=3).fit(X, y == k).strengths_[0] for k in range(3)]
        assert grid.strengths_[0] == pytest.approx(max(tops))
        square = GaugeClassifierCV(loss=Logistic(), penalty=Square(), strengths=4, tol=1e-12).fit(X, y)
        again = GaugeClassifier(loss=Logistic(), penalty=Square(square.strength_), tol=1e-12).fit(X, y)
        assert np.allclose(square.coef_, again.coef_)

    @pytest.mark.parametrize("cv", [None, 4])
    @pytest.mark.parametrize("kind", [GaugeRegressorCV, GaugeClassifierCV])
    def test_a_random_state_shuffles_them(self, cv, kind):
        X, y = DATA["tall"]()
        y = y > 0 if kind is GaugeClassifierCV else y
        splitter = StratifiedKFold if kind is GaugeClassifierCV else KFold
        shuffled = kind(strengths=4, cv=cv, random_state=3).fit(X, y).cv_scores_
        given = (
            kind(strengths=4, cv=splitter(cv or 5, shuffle=True, random_state=3), random_state=7).fit(X, y).cv_scores_
        )
        assert np.array_equal(shuffled, given)
        state = kind(strengths=4, cv=cv, random_state=np.random.RandomState(3)).fit(X, y).cv_scores_
        assert np.array_equal(shuffled, state)
        assert not np.allclose(shuffled, kind(strengths=4, cv=cv).fit(X, y).cv_scores_)

    def test_shuffled_folds_of_sorted_targets_raise_no_alarm(self):
        X, y = DATA["tall"]()
        order = np.argsort(y)
        model = CertifiedLassoCV(alphas=20, random_state=0).fit(X[order], y[order])  # warnings are errors
        assert model.alpha_min_ < model.alphas_[0]

    def test_a_fold_without_one_of_the_classes_is_named(self):
        X, y = DATA["tall"]()
        lacks = r"Fold 1 of 2 .* lack a class: StratifiedKFold\(5, shuffle=True"
        with pytest.warns(UserWarning, match="y is sorted by row"), pytest.raises(ValueError, match=lacks):
            CertifiedLogisticRegressionCV(cv=KFold(2)).fit(X, np.arange(len(y)) >= 100)

    def test_jobs_change_nothing(self):
        X, y = DATA["wide"]()
        one = CertifiedLassoCV(alphas=10, n_jobs=1).fit(X, y)
        two = CertifiedLassoCV(alphas=10, n_jobs=2).fit(X, y)
        again = CertifiedLassoCV(alphas=10).fit(X, y)
        assert np.array_equal(one.mse_path_, two.mse_path_)
        assert np.array_equal(one.coef_, two.coef_)
        assert np.array_equal(one.coef_, again.coef_)

    @pytest.mark.parametrize("sparse", ["sparse rows", "tall"])
    def test_weights_are_repetitions(self, sparse):
        X, y = DATA[sparse]()
        counts = np.random.default_rng(0).integers(0, 3, len(y))
        rows, fold = np.repeat(np.arange(len(y)), counts), np.arange(len(y)) % 3
        weighted = CertifiedLassoCV(
            alphas=8, cv=[(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
        )
        weighted.set_params(tol=1e-10, selection="1se").fit(X, y, sample_weight=counts)
        split = [(np.flatnonzero(fold[rows] != k), np.flatnonzero(fold[rows] == k)) for k in range(3)]
        repeated = CertifiedLassoCV(alphas=8, cv=split, tol=1e-10, selection="1se").fit(X[rows], y[rows])
        assert np.allclose(weighted.mse_path_, repeated.mse_path_, rtol=1e-5)
        assert weighted.alpha_ == pytest.approx(repeated.alpha_)
        assert np.allclose(weighted.coef_, repeated.coef_, atol=1e-5)

    def test_standardised_within_each_fold(self):
        X, y = DATA["scales"]()
        model = CertifiedLassoCV(alphas=5, standardize=True, tol=1e-9).fit(X, y)
        single = cross_val_score(
            CertifiedLasso(model.alphas_[3], standardize=True, tol=1e-9), X, y, cv=5, scoring="neg_mean_squared_error"
        )
        assert np.allclose(model.mse_path_[3], -single, rtol=1e-5)

    def test_warning_where_a_fold_missed_the_tolerance(self):
        with pytest.warns(ConvergenceWarning, match="fits in cross-validation missed the tolerance"):
            GaugeRegressorCV(strengths=5, max_iter=0, tol=1e-9).fit(*DATA["wide"]())


class TestClassifiers:
    @pytest.mark.thin(2)
    @pytest.mark.parametrize("loss", [None, Logistic(), SquaredHinge()])
    @pytest.mark.parametrize("penalty", [Linear(), Square()])
    def test_three_classes(self, loss, penalty):
        X, y = load_iris(return_X_y=True)
        model = GaugeClassifierCV(loss=loss, penalty=penalty, strengths=8, ratio=0.01, cv=3).fit(X, y)
        assert model.score(X, y) > 0.9
        assert model.coef_.shape == (3, 4)
        assert model.cv_scores_.shape[1] == 3
        scored = GaugeClassifierCV(loss=loss, penalty=penalty, strengths=4, ratio=0.01, cv=3, scoring="accuracy").fit(
            X, y
        )
        assert 0.9 < scored.cv_mean_.max() <= 1.0

    @pytest.mark.parametrize("name", ["breast cancer", "wine", "sparse rows"])
    def test_values_of_c_mean_the_same_in_every_fold(self, name):
        X, y = DATA[name]()
        labels, folds = labels_of(y), StratifiedKFold(3)
        model = CertifiedLogisticRegressionCV(Cs=[0.05, 0.5], cv=folds, tol=1e-9).fit(X, labels)
        for k, C in enumerate(model.Cs_):
            single = cross_val_score(
                CertifiedLogisticRegression(C=C, tol=1e-9), X, labels, cv=folds, scoring="neg_log_loss"
            )
            assert np.allclose(model.scores_[:, k], single, rtol=1e-4)

    @pytest.mark.deep
    def test_like_scikit_learn(self):
        X, y = DATA["breast cancer"]()
        Cs, folds = np.geomspace(0.01, 0.3, 4), StratifiedKFold(4)
        ours = CertifiedLogisticRegressionCV(Cs=Cs, cv=folds, tol=1e-9).fit(X, y)
        settings = {"l1_ratios": [1], "solver": "saga", "max_iter": 20000, "tol": 1e-6, "use_legacy_attributes": False}
        peer = LogisticRegressionCV(Cs=Cs, cv=folds, scoring="neg_log_loss", **settings).fit(X, y)
        assert pytest.approx(float(peer.C_)) == ours.C_
        assert np.allclose(ours.scores_, peer.scores_.reshape(ours.scores_.shape), rtol=1e-3)
        assert np.allclose(ours.coef_, peer.coef_, atol=0.01)

    def test_a_number_of_values_starts_at_the_critical_one(self):
        X, y = DATA["wine"]()
        model = CertifiedLogisticRegressionCV(Cs=6, cv=3).fit(X, y > 0)
        critical = Problem(X, np.where(y > 0, 1.0, -1.0), loss=Logistic(), intercept=True).origin.sigma
        assert model.Cs_[0] == pytest.approx(1 / (critical * len(y)))
        assert (np.diff(model.Cs_) > 0).all()
        with pytest.raises(ValueError, match="Cs must be a number of values"):
            CertifiedLogisticRegressionCV(Cs=[-1.0]).fit(X, y > 0)
        with pytest.raises(TypeError, match="The strength is C: write C="):
            CertifiedLogisticRegression(CriticalFraction(0.3)).fit(X, y > 0)
        with pytest.raises(ValueError, match="Only the l1 penalty"):
            CertifiedLogisticRegressionCV(l1_ratios=[0.5]).fit(X, y > 0)


@pytest.mark.parametrize(
    "model",
    [
        GaugeRegressorCV(strengths=10, penalty=Ball(), selection="1se"),
        CertifiedLassoCV(alphas=10, scoring="r2"),
        CertifiedLogisticRegressionCV(Cs=5),
        GaugeClassifierCV(strengths=5),
    ],
)
def test_plots(model):
    import matplotlib.pyplot as plt  # noqa: PLC0415

    X, y = DATA["tall"]()
    ax = model.fit(X, labels_of(y) if hasattr(model, "predict_proba") else y).plot()
    marked = {model.index_min_, model.index_1se_}
    assert len(ax.lines) == 5 + 1 + len(marked) + 2  # folds, mean, a line per strength, and two points
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    plt.close("all")
