"""Estimators in the company they keep: pipelines, searches, data frames, pickles, other dtypes."""

import gc
import pickle
import warnings
import weakref

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from samples import DATA, labels_of
from scipy.sparse import csc_array, csc_matrix, csr_array, csr_matrix
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from atomsieve import (
    GCG,
    L1,
    Ball,
    CertifiedLasso,
    CertifiedLassoCV,
    CertifiedLogisticRegression,
    CriticalFraction,
    FeatureCount,
    GaugeClassifier,
    GaugeRegressor,
    GaugeRegressorCV,
    Group,
    Huber,
    Image,
    Linear,
    LineSearch,
    LogBarrier,
    Logistic,
    Multinomial,
    Poisson,
    Problem,
    Scaled,
    Square,
    SquaredHinge,
    StabilitySelector,
    Status,
    solve,
)
from atomsieve.methods.corrective.inner import Compiled

FRAMES = (pd.DataFrame, pl.DataFrame)


def diabetes():
    return load_diabetes(return_X_y=True)


class TestParameters:
    def test_nested_parameters_make_new_pieces(self):
        shape = Square(1.0)
        model = GaugeRegressor(penalty=shape, gauge=Scaled(L1(), 2.0))
        model.set_params(penalty__strength=0.1, gauge__radius=3.0, gauge__gauge__weights=[1.0, 2.0])
        assert shape.strength == 1.0
        assert model.penalty == Square(0.1)
        assert model.gauge == Scaled(L1([1.0, 2.0]), 3.0)
        assert model.get_params()["penalty__strength"] == 0.1
        assert np.array_equal(model.get_params()["gauge__gauge__weights"], [1.0, 2.0])

    def test_none_stands_for_a_default_that_has_the_parameter(self):
        assert GaugeRegressor().set_params(penalty__strength=0.3).penalty == Linear(0.3)
        assert GaugeRegressor().set_params(penalty__fraction=0.3).penalty == CriticalFraction(0.3)
        assert GaugeRegressor().set_params(gauge__weights=[1.0]).gauge == L1([1.0])

    def test_a_piece_and_its_parameter_at_once(self):
        model = GaugeRegressor().set_params(penalty__strength=0.3, penalty=Square(1.0))
        assert model.penalty == Square(0.3)

    def test_unknown_parameters_are_refused(self):
        with pytest.raises(ValueError, match="no parameter 'power'"):
            GaugeRegressor(penalty=Square()).set_params(penalty__power=2)
        with pytest.raises(ValueError, match="Invalid parameter 'nothing'"):
            GaugeRegressor().set_params(nothing=1)

    def test_clones_share_no_state(self):
        model = GaugeRegressor(penalty=Square(1.0))
        copy = clone(model).set_params(penalty__strength=0.5)
        assert model.penalty == Square(1.0)
        assert copy.penalty == Square(0.5)

    def test_representation(self):
        assert repr(GaugeRegressor(penalty=Square(0.1))) == "GaugeRegressor(penalty=Square(strength=0.1))"
        assert "Square" in GaugeRegressor(penalty=Square(0.1))._repr_html_()

    @pytest.mark.parametrize(
        ("model", "message"),
        [
            (GaugeRegressor(penalty=Square), "must be an instance, not a class"),
            (GaugeRegressor(penalty=0.1), "penalty must be an atomsieve Penalty"),
            (GaugeRegressor(gauge="l1"), "gauge must be an atomsieve Gauge"),
            (GaugeRegressor(loss="squared"), "loss must be an atomsieve Loss"),
            (GaugeRegressor(gauge=Group(), unpenalized=[0]), "unpenalized features need gauge=L1"),
            (GaugeRegressor(method=GCG(), penalty=Linear(1.0)), "Linear"),
            (GaugeRegressor(loss=Multinomial()), "loss for classes"),
            (GaugeClassifier(loss=Huber(1.0)), "Unknown label type|loss for numbers"),
            (CertifiedLasso(alpha=-1.0), "alpha must be a positive number"),
            (CertifiedLasso(alpha="large"), "alpha must be a positive number"),
            (CertifiedLasso(tol=-1.0), "tol must be"),
            (CertifiedLasso(max_iter=-1), "max_iter must be"),
            (CertifiedLasso(unpenalized=["age"]), "no feature names"),
            (CertifiedLasso(unpenalized="age"), "must be a list of features"),
            (CertifiedLasso(unpenalized=[99]), "positions below 10"),
            (CertifiedLasso(penalty_factors=[1.0]), "one number per feature"),
            (CertifiedLasso(penalty_factors={0: -1.0}), "not negative"),
        ],
    )
    def test_bad_parameters_are_refused_in_a_sentence(self, model, message):
        with pytest.raises((TypeError, ValueError), match=message):
            model.fit(*diabetes())

    def test_other_penalties_of_logistic_regression_are_refused(self):
        X, y = load_iris(return_X_y=True)
        for model in CertifiedLogisticRegression(penalty="l2"), CertifiedLogisticRegression(l1_ratio=0.5):
            with pytest.raises(ValueError, match="Only the l1 penalty"):
                model.fit(X, y)


class TestCompany:
    def test_grid_search_over_pieces(self):
        X, y = diabetes()
        grid = {"penalty": [Linear(), Square()], "penalty__strength": [0.001, 0.1]}
        search = GridSearchCV(GaugeRegressor(), grid, cv=3).fit(X, y)
        assert search.best_params_["penalty__strength"] in (0.001, 0.1)
        assert search.best_estimator_.penalty.strength == search.best_params_["penalty__strength"]

    def test_pipeline_with_nested_search(self):
        X, y = diabetes()
        pipe = make_pipeline(StandardScaler(), GaugeRegressor())
        search = GridSearchCV(pipe, {"gaugeregressor__penalty__fraction": [0.5, 0.01]}, cv=3).fit(X, y)
        assert search.best_params_["gaugeregressor__penalty__fraction"] == 0.01

    def test_transformed_target(self):
        X, y = diabetes()
        model = TransformedTargetRegressor(GaugeRegressor(), func=np.log, inverse_func=np.exp)
        search = GridSearchCV(model, {"regressor__penalty__fraction": [0.5, 0.01]}, cv=3).fit(X, y)
        assert search.score(X, y) > 0.3

    def test_column_transformer(self):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({"size": rng.standard_normal(100), "kind": rng.choice(["a", "b", "c"], 100)})
        target = frame["size"] + (frame["kind"] == "b")
        encode = ColumnTransformer([("kinds", OneHotEncoder(), ["kind"])], remainder="passthrough")
        pipe = make_pipeline(encode, CertifiedLasso(alpha=0.01)).fit(frame, target)
        assert pipe.score(frame, target) > 0.9

    def test_pickle_joblib_and_no_data_in_them(self, tmp_path):
        X, y = diabetes()
        model = CertifiedLasso(alpha=0.5).fit(X, y)
        assert len(pickle.dumps(model)) < 5000
        for copy in pickle.loads(pickle.dumps(model)), joblib.load(joblib.dump(model, tmp_path / "model")[0]):  # noqa: S301
            assert np.array_equal(copy.predict(X), model.predict(X))
            with pytest.raises(AttributeError, match="The data of fit are gone"):
                copy.certificate_  # noqa: B018
            assert copy.certify(X, y).zero.sum() == 6

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_names_of_features(self, frame):
        X, y = load_diabetes(return_X_y=True, as_frame=True)
        data = frame({name: X[name].to_numpy() for name in X.columns})
        model = CertifiedLasso(alpha=0.5, unpenalized=["sex"], penalty_factors={"bmi": 2.0}).fit(data, y)
        assert model.feature_names_in_.tolist() == list(X.columns)
        report = model.support_report()
        assert report.loc[report.feature == "sex", "verdict"].item() == "unpenalised"
        assert set(report.columns) == {"feature", "coefficient", "lower", "upper", "verdict"}
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(X[X.columns[::-1]])
        with pytest.raises(ValueError, match="no feature of that name"):
            CertifiedLasso(unpenalized=["height"]).fit(data, y)

    @pytest.mark.parametrize("model", [CertifiedLasso(alpha=0.5), CertifiedLassoCV(alphas=3), GaugeRegressor()])
    @pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, csr_array, csc_matrix, *FRAMES])
    def test_what_is_missing_is_counted_by_column(self, form, model):
        X, y = (part[:60] for part in load_diabetes(return_X_y=True))
        names = [f"gene {j}" for j in range(10)]
        spoilt = X.copy()
        spoilt[:17, 2], spoilt[5:9, 3], spoilt[3, 3] = np.nan, np.nan, -np.inf

        def of(values):
            return form(dict(zip(names, values.T, strict=True))) if form in FRAMES else form(values)

        called = "gene {}" if form in FRAMES else "column {}"
        counts = f"{called.format(2)} \\(17 NaN\\), {called.format(3)} \\(4 NaN, 1 infinite\\)"
        with pytest.raises(ValueError, match=rf"^X contains .* of 60 rows: {counts}\. Impute or remove them") as caught:
            clone(model).fit(of(spoilt), y)
        assert caught.value.__suppress_context__
        fitted = clone(model).fit(of(X), y)
        with pytest.raises(ValueError, match=counts):
            fitted.predict(of(spoilt))

    def test_missing_entries_of_nullable_columns(self):
        X, y = load_diabetes(return_X_y=True, as_frame=True)
        nullable = X.assign(s1=X.s1.astype("Float64"), s2=X.s2.where(X.index > 2).astype("Float64"))
        with pytest.raises(ValueError, match=r"of 442 rows: s2 \(3 NaN\)\."):
            CertifiedLasso().fit(nullable, y)

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_columns_of_text_are_named(self, frame):
        data = frame({"age": [1.0, 2.0, 3.0], "ward": ["a", "b", "a"], "smoker": ["no", "yes", "no"]})
        with pytest.raises(ValueError, match=r"^X has text in these columns: ward, smoker\. Turn them into numbers"):
            CertifiedLasso().fit(data, [1.0, 2.0, 3.0])

    @pytest.mark.parametrize("model", [CertifiedLasso(), CertifiedLassoCV(cv=2), GaugeRegressor(loss=Poisson())])
    @pytest.mark.parametrize("form", [list, np.array, pd.Series])
    def test_classes_as_targets_of_numbers(self, model, form):
        with pytest.raises(
            ValueError, match=r"^y holds text, such as 'ill', and .* For classes take CertifiedLogistic"
        ):
            clone(model).fit(np.eye(4), form(["ill", "well", "ill", "well"]))

    def test_paths_of_files(self):
        with pytest.raises(TypeError, match=r"X is the path 'data.csv', .* read it first"):
            CertifiedLasso().fit("data.csv", [1.0, 2.0])

    def test_other_mistakes_are_told_as_ever(self):
        model = CertifiedLasso().fit(np.eye(3), [1.0, 2.0, 3.0])
        with pytest.raises(ValueError, match="X has 2 features, but CertifiedLasso is expecting 3 features"):
            model.predict(np.eye(2))
        with pytest.raises(ValueError, match="Input y contains NaN"):
            CertifiedLasso().fit(np.eye(3), [1.0, np.nan, 3.0])

    def test_set_output_after_a_selector(self):
        from atomsieve import CertifiedSelector  # noqa: PLC0415

        X, y = load_diabetes(return_X_y=True, as_frame=True)
        selector = CertifiedSelector(CertifiedLasso(alpha=0.5)).set_output(transform="pandas")
        assert list(selector.fit_transform(X, y).columns) == ["bmi", "bp", "s3", "s5"]
        assert list(selector.set_output(transform="polars").transform(X).columns) == ["bmi", "bp", "s3", "s5"]

    def test_metadata_routing(self):
        X, y = diabetes()
        weights = np.random.default_rng(0).uniform(size=len(y))
        with config_context(enable_metadata_routing=True):
            model = CertifiedLasso(alpha=0.5).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
            search = GridSearchCV(model, {"alpha": [0.1, 1.0]}, cv=3).fit(X, y, sample_weight=weights)
        best = search.best_estimator_
        direct = clone(best).fit(X, y, sample_weight=weights)
        assert np.array_equal(best.coef_, direct.coef_)


class TestData:
    @pytest.mark.parametrize("kind", [csr_array, csc_array, csr_matrix, csc_matrix])
    def test_sparse_is_dense(self, kind):
        X, y = DATA["sparse rows"]()
        dense = CertifiedLasso(alpha=0.001, tol=1e-12).fit(X.toarray(), y)
        sparse = CertifiedLasso(alpha=0.001, tol=1e-12).fit(kind(X), y)
        assert np.allclose(dense.coef_, sparse.coef_, atol=1e-9)
        assert np.allclose(dense.predict(X.toarray()), sparse.predict(kind(X)), atol=1e-9)
        assert np.array_equal(dense.certify(X.toarray(), y).zero, sparse.certify(kind(X), y).zero)

    def test_wide_indices(self):
        X, y = DATA["sparse rows"]()
        wide = csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
        assert np.array_equal(CertifiedLasso(0.001).fit(wide, y).coef_, CertifiedLasso(0.001).fit(X, y).coef_)

    @pytest.mark.parametrize("model", [CertifiedLasso(alpha=0.5), CertifiedLogisticRegression(C=0.1)], ids=repr)
    def test_sparse_coefficients(self, model):
        X, y = load_iris(return_X_y=True)
        model = clone(model)
        assert not hasattr(model, "sparse_coef_")
        model.fit(X, y)
        stored = model.sparse_coef_
        np.testing.assert_array_equal(stored.toarray(), np.atleast_2d(model.coef_))
        assert stored.nnz == np.count_nonzero(model.coef_)

    def test_single_precision_is_widened(self):
        X, y = diabetes()
        single = CertifiedLasso(alpha=0.5).fit(X.astype(np.float32), y.astype(np.float32))
        double = CertifiedLasso(alpha=0.5).fit(X.astype(np.float32).astype(np.float64), y)
        assert single.coef_.dtype == np.float64
        assert np.array_equal(single.coef_, double.coef_)

    @pytest.mark.parametrize("sparse", [False, True])
    @pytest.mark.parametrize(
        "model",
        [
            GaugeRegressor(tol=1e-11),
            GaugeRegressor(standardize=True, tol=1e-11),
            CertifiedLasso(alpha=0.01, tol=1e-11),
            CertifiedLogisticRegression(C=0.7, tol=1e-11),
            CertifiedLogisticRegression(C=0.7, class_weight="balanced", tol=1e-11),
            GaugeClassifier(loss=Multinomial(), tol=1e-11),
        ],
    )
    def test_weights_are_repetitions(self, model, sparse):
        X, y = DATA["tall"]()
        target = labels_of(y) if hasattr(model, "predict_proba") else y
        X = csr_array(np.where(np.abs(X) > 0.5, X, 0.0)) if sparse else X
        counts = np.random.default_rng(0).integers(0, 4, len(y))
        rows = np.repeat(np.arange(len(y)), counts)
        weighted = clone(model).fit(X, target, sample_weight=counts)
        repeated = clone(model).fit(X[rows], target[rows])
        if not isinstance(model.get_params().get("loss"), Multinomial):  # which has many solutions for two classes
            assert np.allclose(weighted.coef_, repeated.coef_, atol=1e-6)
            assert np.allclose(weighted.intercept_, repeated.intercept_, atol=1e-6)
        answer = "predict_proba" if hasattr(model, "predict_proba") else "predict"
        assert np.allclose(getattr(weighted, answer)(X), getattr(repeated, answer)(X), atol=1e-6)

    @pytest.mark.parametrize("y", [np.ones(20), np.zeros(20)])
    def test_constant_target(self, y):
        X = np.random.default_rng(0).standard_normal((20, 5))
        for model in (GaugeRegressor(), CertifiedLasso(0.1), GaugeRegressor(penalty=FeatureCount(2))):
            assert np.allclose(model.fit(X, y).predict(X), y)
            assert model.n_iter_ >= 1

    def test_constant_and_duplicated_columns(self):
        X, y = DATA["tall"]()
        X = np.column_stack([X, X[:, 0], np.ones(len(X)), np.zeros(len(X))])
        model = CertifiedLasso(alpha=0.01, standardize=True, keep_data=True).fit(X, y)
        report = model.support_report()
        assert report.verdict[0] == report.verdict[15] == "undecided"
        assert report.verdict[16] == report.verdict[17] == "zero"
        assert "x0" in report.feature[0]

    def test_one_class_is_shown_as_it_is(self):
        with pytest.raises(ValueError, match="got one class: 'ill'"):
            CertifiedLogisticRegression().fit(np.eye(3), np.array(["ill"] * 3))

    def test_one_class_is_refused(self):
        with pytest.raises(ValueError, match="at least two classes"):
            GaugeClassifier().fit(np.eye(3), ["a", "a", "a"])

    def test_poisson_counts(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((300, 10))
        y = rng.poisson(np.exp(0.5 * X[:, 0] + 1.0))
        model = GaugeRegressor(loss=Poisson(), penalty=Linear(0.05)).fit(X, y)
        assert np.allclose(model.predict(X), np.exp(X @ model.coef_ + model.intercept_))
        assert model.score(X, y) > 0.3
        with pytest.raises(ValueError, match="Poisson"):
            GaugeRegressor(loss=Poisson()).fit(X, y - 10.0)


class TestModels:
    def test_any_piece(self):
        X, y = diabetes()
        for penalty in Square(0.01), Ball(500.0), LogBarrier(1000.0), Linear(1.0):
            for loss in None, Huber(10.0):
                model = GaugeRegressor(loss=loss, gauge=Group(np.arange(10) // 2), penalty=penalty, tol=1e-8).fit(X, y)
                assert model.status_ is Status.CONVERGED
                direct = solve(
                    Problem(
                        X,
                        y,
                        intercept=True,
                        gauge=Group(np.arange(10) // 2),
                        penalty=penalty,
                        **{"loss": loss} if loss else {},
                    ),
                    tol=1e-8,
                )
                assert np.allclose(model.coef_, direct.x)

    @pytest.mark.parametrize("loss", [None, Logistic(), SquaredHinge(), Multinomial()])
    def test_three_classes(self, loss):
        X, y = load_iris(return_X_y=True)
        names = np.array(["setosa", "versicolor", "virginica"])[y]
        model = GaugeClassifier(loss=loss, penalty=CriticalFraction(0.02)).fit(X, names)
        assert model.coef_.shape == (3, 4)
        assert model.score(X, names) > 0.85
        if isinstance(loss, SquaredHinge):
            assert not hasattr(model, "predict_proba")
        else:
            assert np.allclose(model.predict_proba(X).sum(axis=1), 1.0)
        together = loss is None or isinstance(loss, Multinomial)
        assert isinstance(model.certificate_, list) == (not together)
        report = model.support_report()
        assert len(report) == 12
        assert set(report["verdict"]) == {"zero", "non-zero"}

    def test_one_against_the_rest_is_that(self):
        X, y = load_iris(return_X_y=True)
        model = GaugeClassifier(loss=Logistic(), penalty=Linear(0.02), tol=1e-10).fit(X, y)
        single = GaugeClassifier(penalty=Linear(0.02), tol=1e-10).fit(X, y == 1)
        assert np.allclose(model.coef_[1], single.coef_[0], atol=1e-7)

    def test_rows_of_the_matrix_as_groups(self):
        X, y = load_iris(return_X_y=True)
        model = GaugeClassifier(gauge=Group(), penalty=CriticalFraction(0.3)).fit(X, y)
        used = (model.coef_ != 0).any(axis=0)
        assert 0 < used.sum() < 4
        assert (model.coef_[:, used] != 0).all()

    def test_two_classes_as_multinomial(self):
        X, y = DATA["wine"]()
        binary = GaugeClassifier(penalty=Linear(0.05), tol=1e-11).fit(X, y > 0)
        both = GaugeClassifier(loss=Multinomial(), penalty=Linear(0.05), tol=1e-11).fit(X, y > 0)
        assert np.allclose(both.decision_function(X), binary.decision_function(X), atol=1e-4)
        assert np.array_equal(both.predict(X), binary.predict(X))

    def test_class_weights(self):
        X, y = DATA["breast cancer"]()
        plain = CertifiedLogisticRegression(C=0.01).fit(X, y)
        heavy = CertifiedLogisticRegression(C=0.01, class_weight={0.0: 10.0, 1.0: 1.0}).fit(X, y)
        assert heavy.predict(X).sum() < plain.predict(X).sum()

    def test_warm_start(self):
        X, y = DATA["wide"]()
        model = CertifiedLasso(alpha=0.1, warm_start=True, tol=1e-9).fit(X, y)
        first = model.n_iter_
        with pytest.warns(ConvergenceWarning):
            CertifiedLasso(alpha=0.1, max_iter=0, tol=1e-9).fit(X, y)
        assert model.set_params(max_iter=0).fit(X, y).status_ is Status.CONVERGED
        model.set_params(max_iter=None)
        assert model.fit(X, y).n_iter_ <= first
        model.set_params(alpha=0.09).fit(X, y)
        assert np.allclose(model.coef_, CertifiedLasso(alpha=0.09, tol=1e-9).fit(X, y).coef_, atol=1e-4)
        model.fit(X[:, :50], y)  # another number of features: a cold start

    def test_verbose(self, capsys):
        CertifiedLasso(verbose=True).fit(*diabetes())
        assert "CONVERGED" in capsys.readouterr().out


class TestConvergence:
    @pytest.mark.parametrize("name", ["diabetes", "wide", "sparse rows", "scales"])
    @pytest.mark.parametrize("max_iter", [0, 1, 2, None])
    @pytest.mark.parametrize("tol", [1e-2, 1e-8])
    def test_warning_exactly_where_the_gap_missed_the_tolerance(self, name, max_iter, tol):
        X, y = DATA[name]()
        model = GaugeRegressor(max_iter=max_iter, tol=tol)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, y)
        goal = tol * Problem(X, y, intercept=True).baseline
        missed = any(issubclass(w.category, ConvergenceWarning) for w in caught)
        assert missed == (model.dual_gap_ > goal)
        assert missed == (model.status_ is not Status.CONVERGED)

    def test_the_warning_points_at_the_fit_and_says_what_to_do(self):
        with pytest.warns(ConvergenceWarning, match="raise max_iter or tol") as caught:
            GaugeRegressor(max_iter=0, tol=1e-10).fit(*DATA["wide"]())
        assert caught[0].filename == __file__


class TestCertificates:
    def test_made_when_asked_for_and_kept(self):
        X, y = diabetes()
        model = CertifiedLasso(alpha=0.5).fit(X, y)
        assert model.certificate_ is model.certificate_
        assert model.certificate_.zero.sum() == 6
        assert model.verify(X, y).valid

    def test_it_speaks_of_the_last_fit(self):
        X, y = diabetes()
        model = CertifiedLasso(alpha=0.5).fit(X, y)
        before = model.certificate_
        assert model.set_params(alpha=1.5).fit(X, y).certificate_.zero.sum() > before.zero.sum()

    def test_data_are_not_kept_alive(self):
        X, y = diabetes()
        ref = weakref.ref(X)
        model = CertifiedLasso(alpha=0.5).fit(X, y)
        model.certificate_  # noqa: B018
        del X
        gc.collect()
        assert ref() is None
        assert model.certificate_.zero.sum() == 6  # made before

    def test_gone_data_are_named(self):
        X, y = diabetes()
        model = CertifiedLasso(alpha=0.5).fit(X.copy(), y)
        gc.collect()
        with pytest.raises(AttributeError, match="keep_data=True"):
            model.certificate_  # noqa: B018
        assert not hasattr(model, "certificate_")
        assert model.certify(X, y).zero.sum() == 6
        assert model.certificate_.zero.sum() == 6

    def test_data_are_kept_where_asked(self):
        X, y = diabetes()
        pipe = make_pipeline(StandardScaler(), CertifiedLasso(alpha=5.0, keep_data=True)).fit(X, y)
        gc.collect()
        assert pipe[-1].certificate_.valid

    def test_not_before_fit(self):
        with pytest.raises(NotFittedError):
            CertifiedLasso().certificate_  # noqa: B018

    @pytest.mark.parametrize("model", [CertifiedLogisticRegression(C=0.1), GaugeClassifier(loss=Logistic())])
    def test_labels_of_any_kind_and_weights(self, model):
        X, y = DATA["wine"]()
        labels = np.array(["red", "white", "rose"])[y.astype(int)]
        if model.get_params().get("loss") is None:
            labels = np.where(labels == "red", "red", "other")
        weights = np.random.default_rng(0).uniform(0.5, 1.5, len(y))
        fitted = clone(model).fit(X, labels, sample_weight=weights)
        answers = fitted.verify(X, labels, sample_weight=weights)
        assert all(answer.valid for answer in (answers if isinstance(answers, list) else [answers]))

    def test_other_labels_are_refused(self):
        X, y = DATA["wine"]()
        model = CertifiedLogisticRegression(C=0.1).fit(X, y)
        with pytest.raises(ValueError, match="not seen in fit"):
            model.certify(X, y + 1)

    @pytest.mark.parametrize("name", DATA)
    def test_report_holds_the_truth(self, name):
        X, y = DATA[name]()
        model = GaugeRegressor(tol=1e-4).fit(X, y)
        exact = GaugeRegressor(tol=1e-11).fit(X, y)
        report = model.support_report()
        slack = 1e-5 * np.abs(exact.coef_).max()
        assert (report.lower <= exact.coef_ + slack).all()
        assert (exact.coef_ - slack <= report.upper).all()
        assert (exact.coef_[report.verdict == "zero"] == 0).all()
        assert (exact.coef_[report.verdict == "non-zero"] != 0).all()
        assert (report.verdict != "undecided").all()

    def test_groups_on_a_common_scale(self):
        X, y = DATA["scales"]()
        groups = Group(np.arange(15) // 3)
        model = GaugeRegressor(gauge=groups, standardize=True, penalty=CriticalFraction(0.3)).fit(X, y)
        scaled = GaugeRegressor(gauge=groups, penalty=CriticalFraction(0.3), tol=1e-12).fit(
            StandardScaler().fit_transform(X), y
        )
        report = model.support_report()
        truth = scaled.coef_ / X.std(axis=0)
        assert ((report.lower <= truth + 1e-6 * np.abs(truth)) & (truth - 1e-6 * np.abs(truth) <= report.upper)).all()
        assert ((truth == 0) == (report.verdict == "zero")).all()


class TestOfDataThatChange:
    """A certificate never speaks of another problem than the one that was fitted."""

    def test_other_data_are_refused(self):
        X, y = diabetes()
        weights = np.random.default_rng(0).uniform(0.1, 3.0, len(y))
        model = CertifiedLasso(alpha=0.5).fit(X, y, sample_weight=weights)
        for data in (X, y), (X[:100], y[:100], weights[:100]), (2 * X, y, weights), (X, -y, weights):
            with pytest.raises(ValueError, match="These are not the data of the fit"):
                model.certify(*data)
        X *= 3
        with pytest.raises(ValueError, match="These are not the data of the fit"):
            model.certificate_  # noqa: B018

    def test_parameters_that_are_set_later_count_at_the_next_fit(self):
        X, y = diabetes()
        model = CertifiedLasso(alpha=0.5).fit(X, y)
        expected, proven = model.predict(X), clone(model).fit(X, y).certificate_
        model.set_params(fit_intercept=False, standardize=True, penalty_factors={0: 50.0}, positive=True)
        assert np.array_equal(model.predict(X), expected)
        assert np.array_equal(model.certificate_.zero, proven.zero)
        assert model.certificate_.primal == proven.primal
        other = GaugeRegressor(penalty=Linear(0.5)).fit(X, y).set_params(loss=Poisson())
        assert np.allclose(other.predict(X), expected, atol=1e-2)

    def test_a_failed_fit_leaves_the_last_model_whole(self):
        X, y = DATA["wine"]()
        model = CertifiedLogisticRegression(C=0.1).fit(X, y > 0)
        before = model.predict_proba(X)
        with pytest.raises(ValueError, match="C must be a positive number"):
            model.set_params(C=-1.0).fit(X, y)
        assert np.array_equal(model.predict_proba(X), before)

    def test_a_warning_that_is_an_error_leaves_nothing_half_done(self):
        X, y = DATA["wide"]()
        model = CertifiedLasso(alpha=0.1).fit(X, y)
        with pytest.raises(ConvergenceWarning):
            model.set_params(max_iter=0).fit(2 * X, y)
        assert model.set_params(max_iter=None).certify(2 * X, y).valid

    def test_warm_starts_never_stand_in_the_way(self):
        X, y = diabetes()
        model = CertifiedLasso(alpha=0.1, warm_start=True).fit(X, y)
        assert (model.coef_ < 0).any()
        assert (model.set_params(positive=True).fit(X, y).coef_ >= 0).all()

    def test_display_runs_no_proof(self):
        X, y = load_diabetes(return_X_y=True, as_frame=True)
        model = CertifiedLasso(alpha=0.5).fit(X, y)
        X["predicted"] = model.predict(X)
        assert "coef_" in model._repr_html_() or sklearn.__version__.startswith("1.8")  # which shows no attributes
        assert model._proof is None

    def test_kept_data_survive_a_pickle(self):
        X, y = diabetes()
        model = pickle.loads(pickle.dumps(CertifiedLasso(alpha=0.5, keep_data=True).fit(X, y)))  # noqa: S301
        assert model.certificate_.zero.sum() == 6
        late = CertifiedLasso(alpha=0.5).fit(X, y).set_params(keep_data=True)
        assert not hasattr(pickle.loads(pickle.dumps(late)), "certificate_")  # noqa: S301
        assert pickle.loads(pickle.dumps(late)).verify(X, y).valid  # noqa: S301

    def test_targets_that_live_nowhere_else(self):
        X, y = load_diabetes(return_X_y=True, as_frame=True)
        model = CertifiedLasso(alpha=0.5).fit(X, y.to_frame()["target"] * 1.0)
        gc.collect()
        assert model.certificate_.valid

    def test_nothing_to_explain(self):
        X, _ = diabetes()
        y = np.ones(len(X))
        for penalty in Square(0.1), Ball(1.0), Linear(0.1):
            assert GaugeRegressor(penalty=penalty).fit(X, y).certify(X, y) is not None

    def test_class_weights_and_verification(self):
        X, y = DATA["wine"]()
        weights = np.random.default_rng(0).uniform(0.5, 1.5, len(y))
        model = CertifiedLogisticRegression(C=0.1, class_weight="balanced").fit(X, y > 0, sample_weight=weights)
        assert model.verify(X, y > 0, sample_weight=weights).valid

    def test_features_of_an_image(self):
        """Verdicts about coefficients where blocks are not coefficients: a dictionary of sums of neighbours."""
        X, y = DATA["tall"]()
        gauge = Image(L1(), np.eye(15) + np.eye(15, k=-1))
        model = GaugeRegressor(gauge=gauge, penalty=CriticalFraction(0.3)).fit(X, y)
        exact = GaugeRegressor(gauge=gauge, penalty=CriticalFraction(0.3), tol=1e-12).fit(X, y).coef_
        report = model.support_report()
        assert (report.lower <= exact + 1e-9).all()
        assert (exact - 1e-9 <= report.upper).all()
        assert ((report.verdict == "zero") == (exact == 0)).all()
        assert (report.verdict == "zero").any()

    def test_large_groups_on_a_common_scale_stay_small(self):
        rng = np.random.default_rng(0)
        X = csr_array(np.where(rng.uniform(size=(50, 600)) < 0.05, 1.0, 0.0) * rng.standard_normal((50, 600)))
        model = GaugeRegressor(gauge=Group(np.arange(600) // 5), standardize=True).fit(X, X[:, :3].sum(axis=1))
        assert model.certify(X, X[:, :3].sum(axis=1)).valid
        assert len(pickle.dumps(model)) < 200_000
        assert model.verify(X, X[:, :3].sum(axis=1)).valid


class TestInterruption:
    def test_one_fit_keeps_its_best_and_passes_it_on(self, monkeypatch):
        X, y = DATA["wide"]()
        interrupt_at(monkeypatch, 1)
        model = CertifiedLasso(alpha=0.01, tol=1e-12)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        assert model.status_ is Status.INTERRUPTED
        assert np.isfinite(model.predict(X)).all()

    @pytest.mark.parametrize(
        "model",
        [
            CertifiedLassoCV(alphas=10),
            GaugeRegressorCV(penalty=Square(), strengths=10),
            GaugeRegressor(penalty=FeatureCount(30, Square())),
            CertifiedLasso(FeatureCount(30)),
            StabilitySelector(CertifiedLasso(10.0), n_subsamples=4, n_slopes=5),
            GridSearchCV(CertifiedLasso(), {"alpha": [0.1, 0.2]}),
        ],
    )
    def test_many_fits_end(self, model, monkeypatch):
        X, y = DATA["wide"]()
        interrupt_at(monkeypatch, 3)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)


def interrupt_at(monkeypatch, count):
    """Press Ctrl-C in the middle of a certain call of the core."""
    calls = []

    def interrupting(entry):
        def interrupted(self, *arguments, **options):
            calls.append(self)
            if len(calls) == count:
                raise KeyboardInterrupt
            return entry(self, *arguments, **options)

        return interrupted

    monkeypatch.setattr(Compiled, "solve", interrupting(Compiled.solve))
    monkeypatch.setattr(Compiled, "follow", interrupting(Compiled.follow))


class TestStandardize:
    @pytest.mark.parametrize("name", ["scales", "offset", "sparse rows"])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_the_same_as_scaling_first(self, name, weighted):
        X, y = DATA[name]()
        weights = np.random.default_rng(0).uniform(0.2, 2.0, len(y)) if weighted else None
        model = CertifiedLasso(alpha=0.01, standardize=True, tol=1e-11).fit(X, y, sample_weight=weights)
        scaler = StandardScaler(with_mean=False).fit(X, sample_weight=weights)
        plain = CertifiedLasso(alpha=0.01, tol=1e-11).fit(scaler.transform(X), y, sample_weight=weights)
        assert np.allclose(model.coef_ * scaler.scale_, plain.coef_, atol=1e-7)
        assert np.allclose(model.predict(X), plain.predict(scaler.transform(X)), atol=1e-6)

    def test_it_is_a_matter_of_prices(self):
        X, y = DATA["sparse rows"]()
        model = CertifiedLasso(alpha=0.01, standardize=True).fit(X, y)
        assert model.verify(X, y).valid  # of X as it is

    def test_no_unit_matters(self):
        X, y = DATA["tall"]()
        units = np.geomspace(1e-6, 1e6, X.shape[1])
        for gauge in L1(), Group(np.arange(15) // 5):
            model = GaugeRegressor(gauge=gauge, standardize=True, tol=1e-10)
            before, after = model.fit(X, y).predict(X), model.fit(X * units, y).predict(X * units)
            assert np.allclose(before, after, atol=1e-4)


class TestStrengths:
    def test_fractions(self):
        X, y = DATA["wide"]()
        critical = Problem(X, y, intercept=True).origin.sigma
        assert not CertifiedLasso(CriticalFraction(1.001)).fit(X, y).coef_.any()
        assert CertifiedLasso(CriticalFraction(0.99)).fit(X, y).coef_.any()
        assert CertifiedLasso(CriticalFraction(0.3)).fit(X, y).penalty_ == Linear(0.3 * critical)

    @pytest.mark.parametrize("shape", [Square(), Ball(), LogBarrier(1.0, 3.0)])
    @pytest.mark.parametrize("rule", [CriticalFraction(0.2), FeatureCount(6)])
    def test_shapes_share_the_solution(self, shape, rule):
        X, y = DATA["wide"]()
        plain = GaugeRegressor(penalty=rule, tol=1e-11).fit(X, y)
        other = GaugeRegressor(penalty=rule.with_params(shape=shape), tol=1e-11).fit(X, y)
        assert type(other.penalty_) is type(shape)
        assert np.allclose(plain.coef_, other.coef_, atol=1e-5)
        assert other.equivalent_alpha_ == pytest.approx(plain.equivalent_alpha_, rel=1e-4)

    @pytest.mark.parametrize("count", [1, 2, 5, 9])
    @pytest.mark.parametrize("name", ["diabetes", "wide", "digits", "sparse rows"])
    def test_feature_counts(self, name, count):
        X, y = DATA[name]()
        assert np.count_nonzero(CertifiedLasso(FeatureCount(count)).fit(X, y).coef_) == count

    @pytest.mark.parametrize("seeds", [range(8), pytest.param(range(8, 40), marks=pytest.mark.deep)])
    def test_counts_are_never_exceeded(self, seeds):
        for seed in seeds:
            rng = np.random.default_rng(seed)
            X = rng.standard_normal((30, 20))
            y = X[:, 0] + rng.standard_normal(30)
            for count in 3, 7, 12:
                assert np.count_nonzero(CertifiedLasso(FeatureCount(count)).fit(X, y).coef_) <= count

    def test_a_method_that_cannot_solve_linear_gets_help(self):
        X, y = diabetes()
        model = GaugeRegressor(method=GCG(LineSearch()), penalty=CriticalFraction(0.3, Square()), tol=1e-2).fit(X, y)
        assert type(model.penalty_) is Square

    def test_a_count_in_classes_and_beside_unpenalised_features(self):
        X, y = DATA["wine"]()
        model = GaugeClassifier(penalty=FeatureCount(3)).fit(X, y)
        assert np.count_nonzero(model.coef_.any(axis=0)) == 3
        model = CertifiedLogisticRegression(C=FeatureCount(3), unpenalized=[0]).fit(X, y > 0)
        assert np.count_nonzero(model.coef_) == 4

    def test_more_features_than_there_are(self):
        X, y = diabetes()
        assert np.count_nonzero(CertifiedLasso(FeatureCount(50)).fit(X, y).coef_) == 10

    def test_bad_rules(self):
        for rule in (lambda: CriticalFraction(0.0), lambda: FeatureCount(0), lambda: FeatureCount(2.5)):
            with pytest.raises(ValueError, match="must be a positive"):
                rule()
        with pytest.raises(ValueError, match="x = 0"):
            GaugeRegressor(penalty=CriticalFraction(1.0, Square())).fit(*diabetes())


class TestPriorKnowledge:
    def test_factors(self):
        X, y = diabetes()
        factors = np.array([0.0, np.inf, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 1.0])
        model = CertifiedLasso(alpha=0.5, penalty_factors=factors, tol=1e-10).fit(X, y)
        assert model.coef_[0] != 0
        assert model.coef_[1] == 0
        direct = solve(Problem(X, y, gauge=L1(factors), penalty=Linear(0.5), intercept=True), tol=1e-10)
        assert np.allclose(model.coef_, direct.x)

    @pytest.mark.parametrize("positive", [[2, 3], np.isin(np.arange(10), [2, 3])])
    def test_positive_features(self, positive):
        X, y = diabetes()
        X = -X
        assert (CertifiedLasso(alpha=0.1).fit(X, y).coef_[[2, 3]] < 0).all()
        model = CertifiedLasso(alpha=0.1, positive=positive).fit(X, y)
        assert (model.coef_[[2, 3]] >= 0).all()
        assert (model.coef_ < 0).any()
        assert model.verify(X, y).valid

    def test_names_in_a_series(self):
        X, y = load_diabetes(return_X_y=True, as_frame=True)
        factors = {name: 50.0 if name == "bmi" else 1.0 for name in X.columns}
        backwards = pd.Series(factors)[::-1]
        by_dict = CertifiedLasso(alpha=0.1, penalty_factors=factors).fit(X, y)
        by_series = CertifiedLasso(alpha=0.1, penalty_factors=backwards).fit(X, y)
        assert np.array_equal(by_dict.coef_, by_series.coef_)
        chosen = pd.Series({name: name in ("s1", "s3") for name in X.columns[::-1]})
        assert (CertifiedLasso(alpha=0.01, positive=chosen).fit(X, y).coef_[[4, 6]] >= 0).all()
        assert (CertifiedLasso(alpha=0.01, positive=["s1", 6]).fit(X, y).coef_[[4, 6]] >= 0).all()
        with pytest.raises(TypeError, match="list of features"):
            CertifiedLasso(positive=1).fit(X, y)

    def test_matrices_of_weights(self):
        X, y = DATA["wine"]()
        weights = np.random.default_rng(0).uniform(0.5, 2.0, (X.shape[1], 3))
        scales = np.geomspace(0.1, 10.0, X.shape[1])
        settings = {"gauge": L1(weights), "penalty": Linear(0.02), "unpenalized": [0], "tol": 1e-9}
        plain = GaugeClassifier(**settings).fit(X, y)
        scaled = GaugeClassifier(standardize=True, **settings).fit(X * scales, y)
        assert np.allclose(plain.predict_proba(X), scaled.predict_proba(X * scales), atol=1e-4)
        assert (plain.coef_[:, 0] != 0).sum() >= 2

    def test_a_score_of_its_own(self):
        X, y = diabetes()
        assert cross_val_score(CertifiedLasso(alpha=0.05), X, y, cv=3).mean() > 0.3
