"""Several outputs and names: estimators say of them what scikit-learn and `Problem` say."""

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csc_array, csr_array
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import Lasso, MultiTaskLasso, MultiTaskLassoCV
from sklearn.utils import get_tags
from three_outputs import COUNTS, FOLDS, FRAME, LABELS, OFFSETS, WEIGHTS, D, K, N, X, Y

from atomsieve import (
    Away,
    Ball,
    Certificate,
    CertifiedLasso,
    CertifiedLassoCV,
    CertifiedSelector,
    FeatureCount,
    GaugeClassifier,
    GaugeRegressor,
    GaugeRegressorCV,
    Group,
    Huber,
    Image,
    Linear,
    Logistic,
    Multinomial,
    Poisson,
    Problem,
    Square,
    Squared,
    StabilitySelector,
    solve,
)
from atomsieve.estimators.task import scales_of

TIGHT = {"tol": 1e-12}


class TestOutputs:
    @pytest.mark.parametrize("kind", [np.asarray, csr_array, csc_array])
    @pytest.mark.parametrize("intercept", [True, False])
    def test_the_lasso_of_scikit_learn(self, kind, intercept):
        """The sum over outputs falls apart into a Lasso for each of them, alpha being the same."""
        model = CertifiedLasso(alpha=0.1, fit_intercept=intercept, **TIGHT).fit(kind(X), Y)
        peer = Lasso(alpha=0.1, fit_intercept=intercept, **TIGHT).fit(X, Y)
        assert model.coef_.shape == (K, D)
        assert model.intercept_.shape == (K,)
        assert model.coef_ == pytest.approx(peer.coef_, abs=1e-7)
        assert model.intercept_ == pytest.approx(np.broadcast_to(peer.intercept_, K), abs=1e-7)
        assert model.predict(kind(X)) == pytest.approx(peer.predict(X), abs=1e-6)
        assert model.score(X, Y) == pytest.approx(peer.score(X, Y), abs=1e-9)
        assert model.sparse_coef_.shape == (K, D)

    def test_the_lasso_of_each_output(self):
        model = CertifiedLasso(alpha=0.1, penalty_factors=np.arange(1.0, D + 1), positive=[1], unpenalized=[4], **TIGHT)
        both = clone(model).fit(X, Y, WEIGHTS)
        for k in range(K):
            single = clone(model).fit(X, Y[:, k], WEIGHTS)
            assert both.coef_[k] == pytest.approx(single.coef_, abs=1e-7)
            assert both.intercept_[k] == pytest.approx(single.intercept_, abs=1e-7)

    @pytest.mark.parametrize("kind", [np.asarray, csr_array])
    def test_the_multi_task_lasso_of_scikit_learn(self, kind):
        given = kind(X)
        model = GaugeRegressor(gauge=Group(), penalty=Linear(0.1), **TIGHT).fit(given, Y)
        peer = MultiTaskLasso(alpha=0.1, **TIGHT).fit(X, Y)
        assert model.coef_ == pytest.approx(peer.coef_, abs=1e-6)
        assert model.intercept_ == pytest.approx(peer.intercept_, abs=1e-6)
        assert np.array_equal(model.zero_mask(), ~peer.coef_.any(axis=0))
        assert model.verify(given, Y).valid

    @pytest.mark.parametrize("loss", [Squared(), Huber(0.5), Poisson()])
    @pytest.mark.parametrize("penalty", [Linear(0.05), Square(0.05), Ball(1.0)])
    def test_the_problem_itself(self, loss, penalty):
        y = COUNTS if isinstance(loss, Poisson) else Y
        model = GaugeRegressor(loss, Group(), penalty, tol=1e-11).fit(X, y, WEIGHTS, OFFSETS)
        parts = {"loss": loss, "gauge": Group(), "penalty": penalty, "offset": OFFSETS}
        truth = solve(Problem(X, y, sample_weight=WEIGHTS, intercept=True, **parts), tol=1e-11)
        assert model.coef_ == pytest.approx(truth.x.T, abs=1e-5)
        assert model.intercept_ == pytest.approx(truth.intercept, abs=1e-5)
        expected = loss.mean(X @ truth.x + truth.intercept + OFFSETS)
        assert model.predict(X, OFFSETS) == pytest.approx(expected, abs=1e-4)
        assert model.certificate_.valid
        assert model.verify(X, y, WEIGHTS, OFFSETS).valid

    def test_weights_are_repetitions(self):
        weighted = CertifiedLasso(alpha=0.1, **TIGHT).fit(X, Y, WEIGHTS)
        times = np.repeat(np.arange(N), WEIGHTS.astype(int))
        assert weighted.coef_ == pytest.approx(CertifiedLasso(alpha=0.1, **TIGHT).fit(X[times], Y[times]).coef_)

    @pytest.mark.parametrize("gauge", [None, Group()])
    def test_standardize(self, gauge):
        model = GaugeRegressor(gauge=gauge, penalty=Linear(0.1), standardize=True, **TIGHT).fit(X, Y)
        scales = scales_of(X, None)
        unit = X / scales
        same = GaugeRegressor(gauge=gauge, penalty=Linear(0.1), **TIGHT).fit(unit, Y)
        assert model.coef_ * scales == pytest.approx(same.coef_, abs=1e-7)
        assert np.array_equal(model.zero_mask(), same.zero_mask())
        assert model.verify(X, Y).valid

    @pytest.mark.parametrize(
        "gauge", [None, pytest.param(Group(), marks=pytest.mark.deep), Group([0, 0, 0, 1, 1, 2, 2, 3, 3])]
    )
    def test_proofs_go_on_from_coarse_fits(self, gauge):
        model = GaugeRegressor(gauge=gauge, penalty=Square(0.1), method=Away(), tol=0.03).fit(X, Y)
        assert not model.certificate_.undecided.any()
        assert model.verify(X, Y).valid

    def test_a_single_column_is_a_vector(self):
        with pytest.warns(DataConversionWarning, match="column-vector"):
            model = CertifiedLasso(alpha=0.1).fit(X, Y[:, :1])
        assert model.coef_.shape == (D,)
        assert model.predict(X).shape == (N,)

    def test_tags(self):
        regressor, classifier = (get_tags(model).target_tags for model in (CertifiedLasso(), GaugeClassifier()))
        assert regressor.multi_output
        assert regressor.single_output
        assert not classifier.multi_output

    def test_a_warm_start_and_a_pickle(self):
        model = CertifiedLasso(alpha=0.1, warm_start=True, keep_data=True).fit(X, Y)
        first = model.coef_
        assert model.fit(X, Y).coef_ == pytest.approx(first, abs=1e-5)
        copy = pickle.loads(pickle.dumps(model))  # noqa: S301 -- our own
        assert np.array_equal(copy.predict(X), model.predict(X))
        assert copy.certificate_.lower.shape == (D, K)

    @pytest.mark.parametrize("gauge", [None, Group(), Image(Group(), np.tril(np.ones((D, D))))])
    def test_a_number_of_features(self, gauge):
        model = GaugeRegressor(gauge=gauge, penalty=FeatureCount(3)).fit(X, Y)
        assert np.count_nonzero(model.coef_.any(axis=0)) <= 3

    def test_alphas_of_the_multi_task_lasso(self):
        model = GaugeRegressorCV(gauge=Group(), strengths=12, ratio=1e-3, cv=FOLDS, tol=1e-10).fit(X, Y)
        peer = MultiTaskLassoCV(alphas=12, eps=1e-3, cv=FOLDS, tol=1e-10, max_iter=100000).fit(X, Y)
        assert model.strengths_ == pytest.approx(peer.alphas_, rel=1e-6)
        assert model.strength_ == pytest.approx(peer.alpha_, rel=1e-6)
        assert model.coef_ == pytest.approx(peer.coef_, abs=1e-4)
        assert -2 / K * model.cv_scores_ == pytest.approx(peer.mse_path_, rel=1e-4)

    def test_one_sorted_output_is_told(self):
        y = np.column_stack([Y[:, 0], np.sort(Y[:, 1])])
        with pytest.warns(UserWarning, match="y is sorted by row"):
            CertifiedLassoCV(alphas=2, cv=3).fit(X, y)

    def test_selectors(self):
        kept = CertifiedSelector(CertifiedLasso(alpha=0.3)).fit(X, Y)
        assert kept.get_support().sum() == np.count_nonzero(kept.estimator_.coef_.any(axis=0))
        stable = StabilitySelector(CertifiedLasso(alpha=0.3), n_subsamples=4, n_slopes=4, random_state=0)
        report = stable.fit(X, Y, offset=OFFSETS).support_report()
        assert len(report) == D * K
        assert {"output", "probability", "kept"} <= set(report.columns)

    def test_what_is_refused(self):
        with pytest.raises(ValueError, match="dim 3"):
            CertifiedLasso().fit(X, Y[:, :, None])
        with pytest.raises(ValueError, match="y must be dense"):
            CertifiedLasso().fit(X, csr_array(Y))
        with pytest.raises(ValueError, match="1d array"):
            GaugeClassifier().fit(X, np.column_stack([LABELS, LABELS]))
        with pytest.raises(ValueError, match="not the data of the fit"):
            CertifiedLasso(alpha=0.1).fit(X, Y).certify(X, Y[:, 0])


class TestReports:
    @pytest.mark.parametrize("standardize", [False, True])
    @pytest.mark.parametrize("gauge", [None, Group(), Group([0, 0, 0, 1, 1, 2, 2, 3, 3])])
    def test_a_row_for_each_output_and_feature(self, gauge, standardize):
        model = GaugeRegressor(gauge=gauge, penalty=Linear(0.2), standardize=standardize, tol=1e-10).fit(FRAME, Y)
        report = model.support_report()
        groups = [] if gauge is None or gauge.groups is None else ["group"]
        assert list(report.columns) == ["output", "feature", *groups, "coefficient", "lower", "upper", "verdict"]
        assert report["output"].tolist() == np.repeat(np.arange(K), D).tolist()
        assert report["feature"].tolist() == list(FRAME.columns) * K
        coef = report["coefficient"].to_numpy()
        assert np.array_equal(coef, model.coef_.ravel())
        assert (report["lower"] - 1e-6 <= coef).all()
        assert (coef <= report["upper"] + 1e-6).all()
        assert (coef[report["verdict"] == "zero"] == 0).all()
        assert (report["verdict"] == "zero").any()
        zero = (report["verdict"] == "zero").to_numpy().reshape(K, D).all(axis=0)
        assert np.array_equal(model.zero_mask(), zero)

    def test_unpenalised_features(self):
        report = CertifiedLasso(alpha=0.2, unpenalized=["f4"]).fit(FRAME, Y).support_report()
        assert report.loc[report["verdict"] == "unpenalised", "feature"].tolist() == ["f4"] * K

    def test_an_image_of_a_gauge(self):
        """Jumps of neighbouring coefficients are penalised: a coefficient is zero where all jumps before it are."""
        gauge = Image(Group(), np.tril(np.ones((D, D))))
        model = GaugeRegressor(gauge=gauge, penalty=Linear(0.3), tol=1e-10).fit(FRAME, Y)
        report = model.support_report()
        coef = report["coefficient"].to_numpy()
        assert (report["lower"] - 1e-6 <= coef).all()
        assert (coef <= report["upper"] + 1e-6).all()
        assert model.verify(FRAME, Y).valid

    @pytest.mark.parametrize("loss", [Logistic(), Multinomial()])
    @pytest.mark.filterwarnings("ignore::atomsieve.UnprovenWarning")
    def test_classes_are_called_classes(self, loss):
        report = GaugeClassifier(loss, penalty=Linear(0.05)).fit(FRAME, LABELS).support_report()
        assert report.columns[0] == "class"
        assert report["class"].tolist() == np.repeat(["a", "b", "c"], D).tolist()


class TestNames:
    @pytest.mark.parametrize("standardize", [False, True])
    @pytest.mark.parametrize("y", [Y, Y[:, 0]], ids=["outputs", "vector"])
    def test_certificates_carry_them(self, y, standardize, tmp_path):
        model = GaugeRegressor(gauge=Group(), penalty=Linear(0.1), standardize=standardize).fit(FRAME, y)
        assert model.certificate_.names["features"] == tuple(FRAME.columns)
        table = model.support_report() if standardize else model.certificate_.to_frame()  # a scaled group is an image
        assert set(table["feature"]) == set(FRAME.columns)
        model.certificate_.save(tmp_path / "certificate.json")
        assert Certificate.load(tmp_path / "certificate.json").names["features"] == tuple(FRAME.columns)
        assert CertifiedLasso(alpha=0.1).fit(X, y).certificate_.names["features"] is None

    def test_messages_use_them(self):
        twins = FRAME.assign(twin=FRAME["f0"])
        reason = CertifiedLasso(alpha=0.1).fit(twins, Y[:, 0]).certificate_.reason
        assert "'f0', 'twin'" in reason


class TestNamesOfTargets:
    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_they_are_everywhere(self, frame):
        names = [f"blood {k}" for k in range(K)]
        model = CertifiedLasso(alpha=0.1).fit(X, frame(dict(zip(names, Y.T, strict=True))))
        titles = [f"output {name}" for name in names]
        for text in (model.summary(), model.certificate_):
            assert re.findall("^output .*", str(text), re.MULTILINE) == titles
        assert model.support_report().output.unique().tolist() == names
        assert model.certificate_.names["outputs"] == tuple(titles)
        plain = CertifiedLasso(alpha=0.1).fit(X, Y)
        assert (model.coef_ == plain.coef_).all()
        assert plain.support_report().output.unique().tolist() == list(range(K))
        assert model.verify(X, Y).valid
        pickle.loads(pickle.dumps(model)).certify(X, Y)  # noqa: S301

    def test_a_path_is_drawn_by_name(self):
        model = CertifiedLassoCV(alphas=3, cv=2).fit(X, pd.DataFrame(Y, columns=list("abcdef"[:K])))
        assert "output b" in model.plot_path(target="b").get_ylabel()
        with pytest.raises(ValueError, match="target must be one of a, b, "):
            model.plot_path(target="z")

    @pytest.mark.parametrize("columns", [range(K), ["a", *range(1, K)]])
    def test_columns_without_names_of_their_own_have_numbers(self, columns):
        model = CertifiedLasso(alpha=0.1).fit(X, pd.DataFrame(Y, columns=columns))
        assert model.support_report().output.unique().tolist() == list(range(K))

    def test_one_target_needs_none(self):
        model = CertifiedLasso(alpha=0.1).fit(X, pd.Series(Y[:, 0], name="blood"))
        assert "output" not in model.support_report()
        assert "outputs" not in model.certificate_.names
