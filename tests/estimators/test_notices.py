"""Nothing is silent: proofs that prove nothing, the empty model at the head of a path, folds of sorted targets."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.model_selection import KFold, TimeSeriesSplit

from atomsieve import (
    L1,
    L2,
    CertifiedLasso,
    CertifiedLassoCV,
    CertifiedLogisticRegression,
    CertifiedLogisticRegressionCV,
    CertifiedSelector,
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
    SparseGroup,
    Squared,
    StabilitySelector,
    UnprovenWarning,
    path,
    solve,
)
from atomsieve.estimators.notices import check_order

WINE, KINDS = load_wine(return_X_y=True)
X, Y = load_diabetes(return_X_y=True)


def heard(action):
    """Return the warnings of an action as sentences."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return [str(warning.message) for warning in caught]


def unprovable():
    return GaugeClassifier(gauge=OwnGauge(), penalty=Linear(0.1), standardize=True)


class OwnGauge(L2):
    """A gauge whose author gives neither prices nor bounds."""

    def prices(self, *_):
        return None


class OwnLoss(Squared):
    """A loss that drops error bounds."""

    def value(self, u, y):
        return np.square(u - y) / 2


class TestNothingProven:
    def test_a_fit_says_nothing(self):
        assert heard(lambda: unprovable().fit(WINE, KINDS)) == []

    @pytest.mark.parametrize("ask", ["certificate_", "support_report", "zero_mask", "certify"])
    def test_it_is_said_once_when_a_proof_is_asked_for(self, ask):
        model = unprovable().fit(WINE, KINDS)
        ways = {
            "certificate_": lambda: model.certificate_,
            "certify": lambda: model.certify(WINE, KINDS),
            "support_report": model.support_report,
            "zero_mask": model.zero_mask,
        }
        said = heard(ways[ask])
        assert len(said) == 1
        assert said[0].startswith("Nothing is proven of this model: ")
        assert "OwnGauge has no prices, and no bounds of its own" in said[0]
        assert "L1() and Group(groups) are gauges with proofs" in said[0]
        assert heard(lambda: (model.certificate_, model.support_report(), model.zero_mask())) == []
        assert heard(lambda: pickle.loads(pickle.dumps(model)).certificate_) == []  # noqa: S301

    def test_it_is_said_to_the_caller(self):
        with pytest.warns(UnprovenWarning) as caught:
            unprovable().fit(WINE, KINDS).support_report()
        assert caught[0].filename == __file__

    @pytest.mark.parametrize(
        ("model", "words"),
        [
            (
                GaugeRegressor(gauge=OwnGauge(), penalty=Linear(0.1)),
                r"L1\(\) and Group\(groups\) are gauges with proofs",
            ),
            (GaugeRegressor(loss=OwnLoss(), penalty=Linear(0.1)), "OwnLoss.value does not run with error bounds"),
        ],
    )
    def test_other_pieces(self, model, words):
        fitted = model.fit(X, Y)
        with pytest.warns(UnprovenWarning, match=words):
            assert not fitted.certificate_.valid

    def test_no_time_is_spent_on_a_proof_that_cannot_be(self, monkeypatch):
        model = unprovable().fit(WINE, KINDS)
        monkeypatch.setattr("atomsieve.estimators.solver.solve", None)
        with pytest.warns(UnprovenWarning):
            assert not model.certify(WINE, KINDS).valid

    @pytest.mark.parametrize(
        "model",
        [
            GaugeClassifier(loss=Logistic(), penalty=Linear(0.1), standardize=True),
            CertifiedLogisticRegression(C=0.05, standardize=True),
            GaugeClassifier(gauge=Group(), penalty=Linear(0.1), standardize=True),
        ],
    )
    def test_the_ways_out_prove_something(self, model):
        model.fit(WINE, KINDS)
        assert heard(lambda: model.certificate_) == []
        assert model.zero_mask().any()


class TestClassesTogether:
    GROUPS = SparseGroup([0] * 6 + [1] * 7)

    @pytest.mark.parametrize("standardize", [True, False])
    def test_what_stays_open_is_said_once_with_the_way_out(self, standardize):
        given = {"gauge": self.GROUPS, "penalty": Linear(0.05), "standardize": standardize}
        scaled = WINE if standardize else (WINE - np.mean(WINE, axis=0)) / np.std(WINE, axis=0)
        model = GaugeClassifier(loss=Multinomial(), **given).fit(scaled, KINDS)
        said = heard(lambda: (model.certificate_, model.support_report(), model.zero_mask()))
        assert len(said) == 1
        assert said[0].startswith("No coefficient is decided. Features ")
        assert said[0].endswith("Each class against the rest, with loss=Logistic(), has no such freedom.")
        apart = GaugeClassifier(loss=Logistic(), **given).fit(scaled, KINDS)
        assert heard(lambda: apart.certificate_) == []
        assert not any(certificate.undecided.any() for certificate in apart.certificate_)

    def test_gauges_that_decide_need_no_word(self):
        model = GaugeClassifier(loss=Multinomial(), gauge=Group([0] * 6 + [1] * 7), standardize=True)
        assert heard(lambda: model.fit(WINE, KINDS).certificate_) == []


class TestSelectors:
    def test_what_is_kept_for_want_of_a_proof_is_said(self):
        selector = CertifiedSelector(unprovable())
        said = heard(lambda: selector.fit(WINE, KINDS))
        assert len(said) == 1
        assert said[0].startswith("CertifiedSelector keeps all 13 features: nothing is proven of this model: ")
        assert "L1() and Group(groups)" in said[0]
        assert heard(lambda: (selector.certificate_, selector.estimator_.support_report())) == []

    def test_nothing_decided_is_said_too(self):
        twins = np.c_[X[:, 2], X[:, 2]]
        with pytest.warns(
            UnprovenWarning, match=r"keeps all 2 features: nothing is decided\. Columns 0, 1 are linearly"
        ):
            CertifiedSelector(CertifiedLasso(alpha=0.1)).fit(twins, Y)

    @pytest.mark.parametrize(
        "model", [CertifiedLasso(alpha=0.5), CertifiedLasso(unpenalized=True), CertifiedLasso(1e-4)]
    )
    def test_a_proof_is_no_reason_for_a_word(self, model):
        assert heard(lambda: CertifiedSelector(model).fit(X, Y)) == []

    def test_stability_speaks_of_verdicts_when_they_are_asked_for(self):
        selector = StabilitySelector(unprovable(), n_subsamples=2, n_slopes=3)
        assert heard(lambda: selector.fit(WINE, KINDS)) == []
        assert len(heard(selector.support_report)) == 1
        assert heard(selector.support_report) == []


def problems():
    rng = np.random.default_rng(0)
    A, noise = rng.standard_normal((60, 20)), rng.standard_normal(60)
    counts, labels = rng.poisson(2, 60).astype(float), np.sign(noise)
    for offset in (0.0, 1e3, 1e6):
        for loss, y in ((Squared(), noise), (Logistic(), labels), (Huber(1.0), noise), (Poisson(), counts)):
            yield Problem(A + offset, y, loss=loss, intercept=True)
    yield Problem(A, noise)
    yield Problem(A, noise + 1e6, intercept=True)
    yield Problem(A, noise, gauge=Group(np.arange(20) // 4), sample_weight=10 ** rng.uniform(-3, 3, 60), intercept=True)
    yield Problem(A, noise, gauge=L1(10 ** rng.uniform(-3, 3, 20)))
    yield Problem(A + 1e6, noise, gauge=Image(L1(), rng.standard_normal((20, 30))), intercept=True)
    yield Problem(A, noise, free=rng.standard_normal((60, 1)) + 30.0, intercept=True)
    yield Problem(rng.standard_normal((20_000, 4)), rng.standard_normal(20_000), intercept=True)


class TestEmptyModel:
    """The first model of a path is empty, and is proven to be."""

    @pytest.mark.parametrize("problem", list(problems()), ids=str)
    def test_at_the_head_of_a_path(self, problem):
        found = path(problem, n=2, ratio=0.5)
        assert not found.coefs[0].any()
        assert found.results[0].certificate().zero.all(), found.results[0].certificate()
        assert problem.origin.sigma < found.slopes[0] < problem.origin.sigma * (1 + 1e-5)
        assert found.slopes[1] == pytest.approx(problem.origin.sigma / 2, rel=1e-15)

    @pytest.mark.parametrize("selection", ["min", "1se"])
    def test_chosen_on_noise(self, selection):
        rng = np.random.default_rng(3)
        A, y = rng.standard_normal((60, 30)), rng.standard_normal(60)
        for model in (
            CertifiedLassoCV(alphas=5, eps=0.5, selection=selection, scoring=lambda *_: 0.0),
            GaugeRegressorCV(strengths=5, ratio=0.5, selection=selection, scoring=lambda *_: 0.0),
            CertifiedLogisticRegressionCV(Cs=5, eps=0.5, selection=selection, scoring=lambda *_: 0.0),
        ):
            model.fit(A, y if not isinstance(model, CertifiedLogisticRegressionCV) else y > 0)
            assert not model.coef_.any()
            assert str(model.certificate_).startswith(
                "30 of 30 coefficients proven zero, 0 proven non-zero, 0 undecided"
            )

    def test_scores_that_are_nothing_but_rounding(self):
        rng = np.random.default_rng(0)
        problem = Problem(rng.standard_normal((10, 3)), np.full(10, 1e6 / 3), intercept=True)
        if problem.origin.sigma > 0:
            assert path(problem, n=2).slopes[0] <= 1.001 * problem.origin.sigma


SORTED = {
    "rising": np.arange(40.0),
    "falling": -np.arange(40.0),
    "two parts": np.r_[np.arange(20.0, 40.0), np.arange(20.0)],
    "zeros and ones": np.repeat([0.0, 1.0], 20),
    "codes": load_iris().target[::3].astype(float),
    "ties": np.floor(np.arange(40.0) / 3),
}

ORDINARY = {
    "random": np.random.default_rng(0).standard_normal(40),
    "random labels": np.random.default_rng(0).integers(0, 2, 40).astype(float),
    "few samples": np.arange(8.0),
    "one that differs, last": np.r_[np.zeros(39), 1.0],
    "constant": np.ones(40),
    "waves": np.sin(np.arange(40) / 5),
    "growth of six subjects": np.tile(np.arange(8.0), 6),
    "nearly sorted": np.arange(40.0) + np.random.default_rng(0).normal(0, 10, 40),
}


def fit_folds(y, model=None, cv=None):
    A = np.random.default_rng(1).standard_normal((len(y), 2))
    model = CertifiedLassoCV(alphas=1) if model is None else model
    return heard(lambda: model.set_params(cv=cv).fit(A, y))


class TestOrder:
    @pytest.mark.parametrize("cv", [None, 4, KFold(4)])
    @pytest.mark.parametrize("y", SORTED.values(), ids=SORTED)
    def test_sorted_targets(self, y, cv):
        said = fit_folds(y, cv=cv)
        assert len(said) == 1
        splits = 5 if cv is None else 4
        assert said[0].startswith("y is sorted by row, and the folds are made of consecutive rows")
        assert f"cv=KFold({splits}, shuffle=True, random_state=0)" in said[0]

    @pytest.mark.parametrize("y", ORDINARY.values(), ids=ORDINARY)
    def test_ordinary_targets(self, y):
        assert fit_folds(y) == []

    def test_the_way_out_and_other_folds(self):
        for cv in (KFold(4, shuffle=True, random_state=0), TimeSeriesSplit(3), [(np.arange(30), np.arange(30, 40))]):
            assert fit_folds(SORTED["rising"], cv=cv) == []

    def test_classes(self):
        y = np.repeat(["no", "yes"], 20)
        model = CertifiedLogisticRegressionCV(Cs=2, eps=0.5)
        assert fit_folds(y, model) == []  # folds of classes are stratified
        assert len(fit_folds(y, model, KFold(4))) == 1

    def test_no_alarm_in_random_order(self):
        rng = np.random.default_rng(0)
        for n in (5, 6, 8, 10, 12, 20):
            for distinct in (2, 3, n):
                for _ in range(50):
                    assert fit_order(rng.integers(0, distinct, n)) == []


def fit_order(y):
    return heard(lambda: check_order(y, KFold(3)))


def test_the_first_slope_is_solved_at_once():
    problem = Problem(X, Y, intercept=True)
    first = path(problem, n=1).slopes[0]
    assert solve(problem.at_penalty(Linear(float(first)))).n_iter == 0
