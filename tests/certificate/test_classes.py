"""Several classes: what certificates say is true, the independent checker confirms it, and lies are refused."""

import copy
import json
import tempfile

import fuzz
import numpy as np
import pytest
import several_classes
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine

from atomsieve import (
    L1,
    L2,
    Atoms,
    CertifiedLogisticRegression,
    Group,
    Linear,
    Logistic,
    Multinomial,
    Problem,
    Square,
    solve,
    verify,
)
from atomsieve.certificate import certify, classes
from atomsieve.certificate.file import seal
from atomsieve.certificate.proof import Proof
from atomsieve.losses.multinomial import MultinomialBounds

RNG = np.random.default_rng(3)
X = RNG.standard_normal((60, 5))
Y = np.argmax(X[:, :3] * [1.5, 1.0, -1.0] + RNG.gumbel(size=(60, 3)), axis=1)
WEAK = {"loss": Multinomial(), "penalty": Linear(0.01), "intercept": True}


def decided(problem):
    return solve(problem, until="decided").certificate()


class TestTruth:
    """Certificates at good and bad points, compared with solutions in 240 bits."""

    @pytest.mark.parametrize("first", range(0, 60, 20))
    def test_claims_are_true_and_confirmed(self, first):
        tally, bad = several_classes.run(first, 20)
        assert bad == []
        assert not tally["crash"]
        assert tally["compared"] >= 8

    @pytest.mark.deep
    def test_many(self):
        tally, bad = several_classes.run(100_000, 600)
        assert bad == []
        assert not tally["crash"]
        assert tally["compared"] > 240

    @pytest.mark.parametrize("cut", ["intervals", "gap", "spreads", "lower bounds of the curvature"])
    def test_smaller_bounds_would_be_noticed(self, cut, monkeypatch):
        """A thousandth of the true bounds: some certificates become false, and the checker refuses them."""
        bounds, gap, spread, shares = classes._bounds, Proof.gap_bound.fget, Proof.spread.func, MultinomialBounds.shares
        changes = {
            "intervals": (classes, "_bounds", lambda *parts: bounds(*parts) / 1000),
            "gap": (Proof, "gap_bound", property(lambda proof: gap(proof) * 1e-6)),
            "spreads": (Proof, "spread", property(lambda proof: tuple(part / 1000 for part in spread(proof)))),
            "lower bounds of the curvature": (
                MultinomialBounds,
                "shares",
                lambda *parts: np.minimum(1000 * shares(*parts), 1.0),
            ),
        }
        wrong = refused = 0
        for seed in [2, 9, 11, 20, 25, 26, 29, 31, 33, 43, 50]:
            with monkeypatch.context() as patch:
                patch.setattr(*changes[cut])
                case = several_classes.draw(seed)
            found = several_classes.truth(case.problem)
            wrong += bool(found and several_classes.faults(case, found))
            refused += not case.verdict().valid
        assert wrong
        assert refused >= wrong

    @given(seed=st.integers(0, 2**32), count=st.sampled_from([2, 3, 5]), group=st.booleans())
    @settings(max_examples=15, deadline=None)
    def test_points_on_the_way_agree(self, seed, count, group):
        """Certificates of two points speak of the same optimum: their intervals meet, and no verdicts differ."""
        rng = np.random.default_rng(seed)
        data = rng.standard_normal((30, 4))
        y = np.argmax(data @ rng.standard_normal((4, count)) + rng.gumbel(size=(30, count)), axis=1)
        y[:count] = np.arange(count)
        pieces = {"loss": Multinomial(), "gauge": Group() if group else L1(), "penalty": Linear(0.03)}
        problem = Problem(data, y, **pieces, intercept=True)
        best = decided(problem)
        for effort in ({"max_iter": 2}, {"tol": 1e-2}, {"tol": 1e-5}):
            rough = solve(problem, **effort).certificate()
            assert not (rough.zero & best.nonzero).any()
            assert not (rough.nonzero & best.zero).any()
            assert (rough.lower <= best.upper).all()
            assert (best.lower <= rough.upper).all()
            assert (rough.free_lower <= best.free_upper).all()
            assert (best.free_lower <= rough.free_upper).all()
            assert verify(rough, data, y).valid


class TestTwoClassesAreLogistic:
    """Two classes are the logistic loss of the difference: coefficients of the second class, doubled."""

    y = np.minimum(Y, 1)

    @pytest.mark.parametrize(
        ("gauge", "penalty", "ridge", "same"),
        [(L1(), Linear(0.05), 0.25, (Linear(0.05), 0.125)), (Group(), Square(0.5), 0.0, (Square(0.25), 0.0))],
        ids=["L1 with a ridge", "rows"],
    )
    @pytest.mark.parametrize("intercept", [False, True])
    def test_same_claims(self, gauge, penalty, ridge, same, intercept):
        both = Problem(X, self.y, loss=Multinomial(), gauge=gauge, penalty=penalty, ridge=ridge, intercept=intercept)
        alone = Problem(X, 2.0 * self.y - 1, loss=Logistic(), penalty=same[0], ridge=same[1], intercept=intercept)
        two, one = decided(both), decided(alone)
        zero = two.zero.reshape(5, -1).all(axis=1)
        np.testing.assert_array_equal(zero, one.zero)
        assert one.nonzero.any()
        assert not two.undecided.any()
        assert (2 * two.lower[:, 1] <= one.upper).all()
        assert (one.lower <= 2 * two.upper[:, 1]).all()
        assert (two.lower[:, 0] <= -two.lower[:, 1]).all()
        assert (2 * two.free_lower[:, 1:].ravel() <= one.free_upper).all()
        assert (one.free_lower <= 2 * two.free_upper[:, 1:].ravel()).all()
        assert two.dual <= one.primal
        assert one.dual <= two.primal
        assert verify(two, X, self.y).valid


class TestWhatLossesDoNotSee:
    """A number added to all classes of a feature changes no loss."""

    def test_free_coefficients_are_those_with_the_sum_0(self):
        certificate = decided(Problem(X, Y, **WEAK, free=X[:, :1] ** 2))
        assert (certificate.free_lower.sum(axis=1) <= 0).all()
        assert (certificate.free_upper.sum(axis=1) >= 0).all()
        assert (certificate.free_upper - certificate.free_lower < 1e-2).all()

    def test_a_point_that_is_off_the_centre(self):
        """The same number added to a row: only the penalty sees it, and the intervals grow by it."""
        problem = Problem(X, Y, **WEAK | {"penalty": Linear(1e-5), "gauge": Group()})
        best = decided(problem)
        shift = np.zeros((5, 3))
        shift[1] = 0.01
        certificate = certify(problem, best.x + shift, problem.span.origin)
        assert ((certificate.lower <= best.upper) & (best.lower <= certificate.upper)).all()
        content = certificate.content()
        narrow = content["claims"]["intervals"]
        narrow["lower"][3], narrow["upper"][3] = narrow["lower"][3] + 0.009, narrow["upper"][3] - 0.009
        assert narrow["lower"][3] > best.upper[1, 0]
        content["seal"] = seal(content)
        assert "coefficient 3 is too narrow" in verify(fuzz.Told(content), X, Y).reason

    def test_features_in_all_classes_stay_open(self):
        """Prices that differ by class leave a feature in all three; nothing is said of it, and the file says why."""
        prices = np.ones((5, 3))
        prices[2] = [1.0, 2.0, 1.0]
        problem = Problem(X, Y, **WEAK, gauge=L1(prices), names=list("abcde"))
        certificate = decided(problem)
        assert "Feature 'c' may have weight in all classes" in certificate.reason
        assert not np.isfinite(certificate.lower[2]).any()
        assert np.isfinite(np.delete(certificate.lower, 2, axis=0)).all()
        assert certificate.dependencies == []
        assert verify(certificate, X, Y).valid
        content = certificate.content()
        intervals = content["claims"]["intervals"]
        place = intervals["index"].index(6)
        intervals["lower"][place], intervals["upper"][place] = -1e3, 1e3
        content["seal"] = seal(content)
        assert "coefficient 6 is too narrow" in verify(fuzz.Told(content), X, Y).reason

    def test_a_ridge_decides_them(self):
        prices = np.ones((5, 3))
        prices[2] = [1.0, 2.0, 1.0]
        problem = Problem(X, Y, **WEAK, gauge=L1(prices), ridge=0.01)
        certificate = decided(problem)
        assert np.isfinite(certificate.lower).all()
        assert not certificate.undecided.any()
        assert verify(certificate, X, Y).valid


class TestDependentColumns:
    """Columns that are exact combinations of others are taken out class by class; the rest is known as before."""

    @pytest.mark.parametrize("gauge", [L1(), Group()], ids=["L1", "rows"])
    @pytest.mark.parametrize("sign", [1.0, -1.0])
    def test_twins(self, gauge, sign):
        data = np.c_[X, sign * X[:, 0]]
        alone, both = decided(Problem(X, Y, **WEAK, gauge=gauge)), decided(Problem(data, Y, **WEAK, gauge=gauge))
        assert both.dual <= alone.primal
        assert alone.dual <= both.primal
        assert np.isfinite(both.lower[1:5]).all()
        assert (both.lower[1:5] <= alone.upper[1:]).all()
        assert (alone.lower[1:] <= both.upper[1:5]).all()
        assert (both.free_lower <= alone.free_upper).all()
        assert (alone.free_lower <= both.free_upper).all()
        shared = ~alone.zero.reshape(5, -1)[0]
        assert shared.any()
        labels = np.arange(both.zero.size).reshape(6, -1)
        for row in (labels[0], labels[5]):
            assert both.undecided[row[shared]].all()
            assert both.zero[row[~shared]].all()
        assert "linearly dependent" in both.reason
        assert verify(both, data, Y).valid

    def test_free_columns(self):
        """A column that is there twice has no coefficient of its own; others have."""
        more = np.c_[X[:, :1], X[:, :1], X[:, 1:2]]
        certificate = decided(Problem(X[:, 2:], Y, **WEAK, free=more))
        assert not np.isfinite(certificate.free_lower[1:3]).any()
        assert np.isfinite(certificate.free_lower[[0, 3]]).all()
        assert verify(certificate, X[:, 2:], Y, free=more).valid

    def test_indicators_that_add_up_to_the_constant(self):
        codes = RNG.integers(0, 3, 60)
        data = np.c_[(codes[:, None] == np.arange(3)).astype(float), X]
        certificate = decided(Problem(data, Y, **WEAK | {"penalty": Linear(1e-4)}))
        assert certificate.valid
        assert verify(certificate, data, Y).valid

    @pytest.mark.parametrize("k", range(3))
    def test_sums_of_free_columns_are_checked_in_every_class(self, k):
        """The last class, too, whose column no proof needs: it is minus the sum of the others."""
        certificate = decided(Problem(X, Y, **WEAK, free=np.ones((60, 1))))
        content = certificate.content()
        content["claims"]["dependencies"][k]["times"] = [-1.0]
        content["seal"] = seal(content)
        assert "is not the sum of others" in verify(fuzz.Told(content), X, Y, free=np.ones((60, 1))).reason

    @pytest.mark.parametrize("k", range(3))
    def test_free_columns_are_left_out_in_all_classes(self, k):
        content = decided(Problem(X, Y, **WEAK, free=np.ones((60, 1)))).content()
        content["claims"]["dependencies"].pop(k)
        content["seal"] = seal(content)
        assert "left out in some classes" in verify(fuzz.Told(content), X, Y, free=np.ones((60, 1))).reason

    def test_dependencies_that_are_none_are_refused(self):
        certificate = decided(Problem(X, Y, **WEAK))
        content = certificate.content()
        column, other = content["claims"]["nonzero"][:2]
        content["claims"]["dependencies"] = [{"column": column, "of": [other], "times": [1.0]}]
        content["seal"] = seal(content)
        assert "is not the sum of others" in verify(fuzz.Told(content), X, Y).reason


class TestUnpenalisedFeatures:
    def test_they_are_no_verdicts_of_others(self):
        """Feature 2 has no price: entries 6, 7, 8 of x are free, and not entry 2, which is undecided here."""
        prices = np.ones(5)
        prices[2] = 0.0
        problem = Problem(X, Y, loss=Multinomial(), gauge=L1(prices), penalty=Linear(0.01))
        certificate = solve(problem, max_iter=0).certificate()
        assert certificate.statement["unpenalised"] == [6, 7, 8]
        assert certificate.undecided[2]
        assert not certificate.undecided[6:9].any()
        assert content_zero(certificate.content()) <= set(np.flatnonzero(certificate.zero).tolist())
        assert verify(certificate, X, Y).valid

    def test_their_intervals_survive_a_file(self, tmp_path):
        prices = np.array([1.0, 0.0, 1.0, 1.0, 0.0])
        certificate = decided(Problem(X, Y, **WEAK, gauge=L1(prices)))
        certificate.save(tmp_path / "c.json")
        loaded = type(certificate).load(tmp_path / "c.json")
        for name in ("lower", "upper", "zero", "nonzero", "undecided", "free_lower", "free_upper"):
            np.testing.assert_array_equal(getattr(loaded, name), getattr(certificate, name))
        np.testing.assert_array_equal(certificate.lower[[1, 4]], certificate.free_lower[1:])
        assert "of 9 coefficients" in repr(certificate)
        assert verify(tmp_path / "c.json", X, Y).valid

    @pytest.mark.parametrize("far", [0.0, 1e4])
    @pytest.mark.parametrize("intercept", [True, False])
    def test_results_are_those_with_the_sum_0_that_certificates_speak_of(self, far, intercept):
        """Losses do not see a number that is added to all classes, and any other sum would be outside the intervals."""
        prices, free = np.array([1.0, 0.0, 1.0, 1.0, 0.0]), RNG.standard_normal((60, 1))
        pieces = {"loss": Multinomial(), "gauge": L1(prices), "penalty": Linear(0.02), "intercept": intercept}
        shifts = far * np.array([1.0, 1.0, 0.0, 1.0, 0.0]) * intercept
        result = solve(Problem(X + shifts, Y, free=free, **pieces), tol=1e-12)
        certificate, own = result.certificate(), [1, 4]
        constant = np.atleast_2d(result.intercept)[: int(intercept)]
        parts = np.vstack([constant, result.free, result.x[own]])
        np.testing.assert_allclose(parts.sum(axis=1), 0.0, atol=1e-14 * np.abs(parts).max())
        assert (np.abs(result.x[own]) > 0.1).any()
        assert np.isfinite(certificate.free_lower).all()
        assert ((certificate.free_lower <= parts) & (parts <= certificate.free_upper)).all()
        assert (certificate.lower[own] <= result.x[own]).all()
        assert (result.x[own] <= certificate.upper[own]).all()
        u, expected = (X + shifts) @ result.x + free @ result.free + result.intercept, result.point.u
        apart = (u - u.mean(axis=1, keepdims=True)) - (expected - expected.mean(axis=1, keepdims=True))
        np.testing.assert_allclose(apart, 0.0, atol=1e-12 * max(far, 1.0))

    def test_models_have_the_sum_0_too(self):
        model = CertifiedLogisticRegression(C=0.5, penalty_factors=[1.0, 0.0, 1.0, 1.0, 0.0]).fit(X, Y)
        np.testing.assert_allclose(model.coef_[:, [1, 4]].sum(axis=0), 0.0, atol=1e-14)
        np.testing.assert_allclose(model.intercept_.sum(), 0.0, atol=1e-14)


def content_zero(content):
    told = {*content["claims"]["nonzero"], *content["claims"]["undecided"], *content["problem"]["unpenalised"]}
    return set(range(content["problem"]["blocks"])) - told


class TestForgeries:
    certificate = decided(Problem(X, Y, **WEAK))
    grouped = decided(Problem(X, Y, **WEAK, gauge=Group()))

    def refusal(self, change, certificate=None):
        content = copy.deepcopy((certificate or self.certificate).content())
        change(content["claims"], content)
        content["seal"] = seal(content)
        verdict = verify(fuzz.Told(content), X, Y)
        assert not verdict.valid
        return verdict.reason

    def test_a_bound_that_is_moved(self):
        def narrow(claims, _):
            low, high = (claims["intervals"][side] for side in ("lower", "upper"))
            low[0] = (low[0] + high[0]) / 2

        assert "too narrow" in self.refusal(narrow)
        assert "too narrow" in self.refusal(narrow, self.grouped)

    @pytest.mark.parametrize("k", [0, 2])
    def test_a_bound_of_the_intercept(self, k):
        def narrow(claims, _):
            claims["free"]["upper"][k] = (claims["free"]["upper"][k] + claims["free"]["lower"][k]) / 2

        assert f"free coefficient {k} is too narrow" in self.refusal(narrow)

    def test_a_zero_that_is_none(self):
        def drop(claims, content):
            gone = claims["nonzero"].pop(0)
            for part in (claims["intervals"], content["point"]["x"]):
                place = part["index"].index(gone)
                for values in part.values():
                    values.pop(place)
            claims.update(gap=None, value={"lower": None, "upper": None})

        assert "not proven zero" in self.refusal(drop)

    def test_a_coefficient_that_is_zero(self):
        def add(claims, _):
            gone = int(np.flatnonzero(self.certificate.zero)[0])
            claims["nonzero"] = sorted([*claims["nonzero"], gone])
            index = sorted([*claims["intervals"]["index"], gone])
            claims["intervals"] = {"index": index, "lower": [None] * len(index), "upper": [None] * len(index)}
            claims["free"] = {side: [None] * 3 for side in ("lower", "upper")}

        assert "not proven non-zero" in self.refusal(add)

    @pytest.mark.parametrize("side", ["lower", "upper"])
    def test_the_value(self, side):
        def move(claims, _):
            claims["value"][side] = claims["value"]["upper" if side == "lower" else "lower"]

        assert self.refusal(move)

    def test_other_classes(self):
        def more(_, content):
            content["problem"]["loss"]["classes"] = 4

        assert self.refusal(more)

    def test_labels_that_are_none(self):
        for y in (Y + 0.5, Y - 1, np.where(Y == 2, 10**9, Y), np.c_[Y, Y]):
            assert not verify(self.certificate, X, y).valid

    def test_a_silent_one(self):
        problem = Problem(X * 1e200, Y, loss=Multinomial(), penalty=Linear(1e-300))
        certificate = certify(problem, np.full((5, 3), 1e200), np.zeros(0))
        assert not certificate.valid
        assert verify(certificate, X * 1e200, Y).reason == "it claims nothing."

    def test_files_by_the_hundred(self, monkeypatch):
        made = fuzz.classes()
        monkeypatch.setattr(fuzz, "bases", lambda: made)
        with tempfile.TemporaryDirectory() as folder:
            tally, faults = fuzz.run(1, 400, folder)
        assert faults == []
        assert tally["accepted"] > 20


class TestGaugesAndData:
    @pytest.mark.parametrize("gauge", [Atoms(np.eye(5)[:, ::-1]), L2(), Group([0, 0, 1, 1, 2])], ids=repr)
    def test_mapped_and_grouped(self, gauge):
        weights, offset = RNG.integers(0, 3, 60).astype(float), RNG.standard_normal((60, 3))
        certificate = decided(Problem(X, Y, **WEAK, gauge=gauge, sample_weight=weights, offset=offset))
        assert certificate.nonzero.any()
        assert verify(certificate, X, Y, sample_weight=weights, offset=offset).valid
        assert not verify(certificate, X, Y, sample_weight=weights).valid
        assert not verify(certificate, X, Y, sample_weight=weights, offset=offset[:, :2]).valid

    def test_separable(self):
        """Without noise the coefficients grow until the penalty holds them."""
        y = np.argmax(X[:, :3], axis=1)
        certificate = decided(Problem(X, y, **WEAK | {"penalty": Linear(1e-4)}))
        assert certificate.valid
        assert certificate.nonzero.any()
        assert verify(certificate, X, y).valid

    def test_classes_without_samples(self):
        certificate = decided(Problem(X, Y, loss=Multinomial(5), penalty=Linear(0.02)))
        assert certificate.lower.shape == (5, 5)
        assert not certificate.undecided.any()
        assert verify(certificate, X, Y).valid

    @pytest.mark.parametrize("load", [load_iris, load_wine])
    def test_an_estimator_with_three_classes_and_an_intercept(self, load):
        data, y = load(return_X_y=True)
        data = (data - data.mean(axis=0)) / data.std(axis=0)
        model = CertifiedLogisticRegression().fit(data, y)
        certificate = model.certificate_
        assert not certificate.undecided.any()
        assert verify(certificate, data, y).valid
        report = model.support_report()
        assert set(report["verdict"]) == {"zero", "non-zero"}
        assert len(report) == 3 * data.shape[1]
        assert json.loads(json.dumps(certificate.content()))["problem"]["loss"]["type"] == "Multinomial"
