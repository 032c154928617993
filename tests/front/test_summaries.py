"""What is printed and shown in notebooks: true numbers, largest first, zeros as a count, names everywhere."""

import gc
import re
import sys
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_wine

from atomsieve import (
    L1,
    L2,
    Ball,
    Certificate,
    CertifiedLasso,
    CertifiedLassoCV,
    CertifiedLogisticRegressionCV,
    CertifiedSelector,
    CriticalFraction,
    GaugeClassifier,
    GaugeRegressor,
    Group,
    Linear,
    LInf,
    Logistic,
    Multinomial,
    Poisson,
    Problem,
    SparseGroup,
    StabilitySelector,
    path,
    solve,
)
from atomsieve.certificate import certify
from atomsieve.display.bars import WIDTH, Bar, text_bars
from atomsieve.display.canvas import apart
from atomsieve.display.numbers import above, around, column, interval, number
from atomsieve.display.sections import MOST

X, Y = load_diabetes(return_X_y=True, as_frame=True)
RANDOM = np.random.default_rng(0)
SIZES = np.concatenate([10.0 ** RANDOM.uniform(-14, 14, 300), [1.0, 0.1, 0.25, 9.99951, 1e-4, 1e7]])


def rows_of(text, first="feature"):
    """Return the lines of the table whose first title is given, one list of words each."""
    lines = text.splitlines()
    start = next(k for k, line in enumerate(lines) if re.match(f"  +{first}", line))
    body = lines[start + 2 :]
    end = next((k for k, line in enumerate(body) if not line.startswith("  ")), len(body))
    return [line.split() for line in body[:end]]


class TestNumbers:
    @pytest.mark.parametrize("digits", [2, 3, 4])
    def test_have_as_many_digits_as_asked_for(self, digits):
        for value in SIZES:
            assert float(number(value, digits)) == pytest.approx(value, rel=0.5001 * 10.0 ** (1 - digits))
            assert number(-value, digits) == "-" + number(value, digits)

    def test_bounds_stay_bounds(self):
        for value in SIZES:
            assert value <= float(above(value)) <= value * (2.0001 if value < 1e-3 else 1.1001)

    def test_are_written_as_people_do(self):
        assert not any("e" in number(value) for value in 10.0 ** RANDOM.uniform(-4, 6.9, 300))
        assert number(1e-5) == "1e-5"

    def test_decimal_points_stand_in_line(self):
        texts = column([*RANDOM.standard_normal(30), 1234.5, 0.0])
        assert len({len(text) for text in texts}) == 1
        assert len({text.index(".") for text in texts if "." in text}) == 1

    def test_a_distance_covers_the_whole_interval(self):
        for lower, value, upper in np.sort(RANDOM.standard_normal((200, 3)), axis=1):
            told = float(around(value, lower, upper).removeprefix("± "))
            assert value - told <= lower
            assert upper <= value + told

    def test_ends_that_differ_look_different(self):
        assert interval(1777.354043993, 1777.354044006) == "1777.354044, known to within 7e-9"
        assert interval(-np.inf, np.inf) == "unknown"


class TestPlaces:
    def test_are_apart_in_order_and_moved_as_little_as_possible(self):
        wanted = RANDOM.uniform(0, 1, 25)
        placed = apart(wanted, 0.03)
        order = np.argsort(wanted)
        assert np.diff(placed[order]).min() > 0.03 - 1e-12
        assert placed.mean() == pytest.approx(wanted.mean())

    def test_stay_where_they_are_apart(self):
        wanted = np.array([0.9, 0.1, 0.5])
        np.testing.assert_allclose(apart(wanted, 0.2), wanted)


class TestBars:
    def test_the_largest_is_widest_and_certainty_is_solid(self):
        texts = text_bars([Bar(2.0, 1.99, 2.01), Bar(1.0, -np.inf, np.inf), Bar(-1.5, -1.6, 0.4)])
        assert texts[0].count("█") == WIDTH
        assert "█" not in texts[1]
        assert "░" in texts[1]
        assert "█" not in texts[2]  # its interval holds 0
        assert len({text.index("│") for text in texts}) == 1

    def test_nothing_to_show(self):
        assert text_bars([]) == []
        assert text_bars([Bar(0.0, 0.0, 0.0)]) == [""]


class TestSummary:
    def test_features_by_weight_with_intervals_that_hold(self):
        model = CertifiedLasso(alpha=0.3, tol=1e-8).fit(X, Y)
        summary = model.summary()
        rows = rows_of(str(summary))
        weights = np.abs(model.coef_) * X.std(ddof=0).to_numpy()
        order = np.argsort(-weights)[: np.count_nonzero(model.coef_)]
        assert [row[0] for row in rows] == X.columns[order].tolist()
        report = model.support_report().set_index("feature")
        for name, coefficient, _, within, *_ in rows:
            told = report.loc[name]
            assert float(coefficient) == pytest.approx(told.coefficient, rel=1e-3)
            reach = max(told.upper - told.coefficient, told.coefficient - told.lower)
            assert reach <= float(within) <= 2 * reach
            assert "non-zero" in str(summary)
        zeros = (report.verdict == "zero").sum()
        assert f"{zeros} features proven zero." in str(summary)
        assert "442 samples × 10 features, squared loss" in str(summary)
        assert "alpha = 0.3." in str(summary)
        assert repr(summary) == str(summary)

    def test_the_frame_has_every_feature(self):
        model = CertifiedLasso(alpha=0.3).fit(X, Y)
        frame = model.summary().to_frame().set_index("feature").loc[X.columns]
        report = model.support_report().set_index("feature")
        pd.testing.assert_frame_equal(frame[report.columns.tolist()], report, check_dtype=False)
        np.testing.assert_allclose(frame.per_sd, model.coef_ * X.std(ddof=0))

    def test_weights_count_samples_as_the_fit_does(self):
        weights = np.where(np.arange(len(Y)) < 50, 3.0, 1.0)
        model = CertifiedLasso(alpha=0.3).fit(X, Y, weights)
        repeated = pd.concat([X, X[:50], X[:50]]).std(ddof=0)
        frame = model.summary().to_frame().set_index("feature").loc[X.columns]
        np.testing.assert_allclose(frame.per_sd, model.coef_ * repeated)

    def test_long_tables_are_cut_with_a_sentence(self):
        rng = np.random.default_rng(1)
        wide = rng.standard_normal((80, 200))
        model = CertifiedLasso(alpha=CriticalFraction(0.02)).fit(wide, wide[:, :40].sum(axis=1))
        used = np.count_nonzero(model.coef_)
        assert used > MOST
        text = str(model.summary())
        assert len(rows_of(text)) == MOST + 1  # and the sentence
        assert f"and {used - MOST} more: to_frame()" in text

    def test_what_is_undecided_is_named(self):
        twins = X.assign(again=X.bmi)
        text = str(CertifiedLasso(alpha=0.5).fit(twins, Y).summary())
        assert "2 features undecided: bmi, again." in text
        assert "unknown" in text
        assert re.search("e-1[0-9]", text) is None  # no rounding noise

    def test_an_empty_model(self):
        text = str(CertifiedLasso(alpha=1e9).fit(X, Y).summary())
        assert "0 features in the model" in text
        assert "10 features proven zero." in text

    @pytest.mark.parametrize("selection", ["min", "1se"])
    def test_min_stands_beside_1se(self, selection):
        model = CertifiedLassoCV(alphas=30, selection=selection).fit(X, Y)
        rows = {row[0]: row for row in rows_of(str(model.summary()), "alpha")}
        for name, k in (("min", model.index_min_), ("1se", model.index_1se_)):
            _, strength, loss, error, *_ = rows[name]
            assert float(strength) == pytest.approx(model.alphas_[k], rel=1e-3)
            assert float(loss) == pytest.approx(-model.cv_mean_[k], rel=1e-3)
            assert float(error) == pytest.approx(model.cv_standard_error_[k], rel=1e-2)
        assert rows[selection][-3:] == ["←", "this", "model"]
        assert {"min": "the best mean", "1se": "within one standard error"}[selection] in str(model.summary())

    def test_a_row_per_group(self):
        groups = ["age", "sex", "bmi", "bp"] + ["serum"] * 6
        model = GaugeRegressor(gauge=Group(groups), penalty=CriticalFraction(0.3)).fit(X, Y)
        text = str(model.summary())
        assert "serum (6 features)" in text
        assert re.search(r"^    s5 ", text, re.MULTILINE)  # a member, below its group
        assert re.search(r"^  bmi ", text, re.MULTILINE)  # a group of one
        assert set(model.summary().to_frame().group) == set(groups)

    def test_a_block_per_class(self):
        features, classes = load_wine(return_X_y=True, as_frame=True)
        model = GaugeClassifier(loss=Logistic(), standardize=True).fit(features, classes)
        text = str(model.summary())
        assert re.findall(r"^class \d", text, re.MULTILINE) == ["class 0", "class 1", "class 2"]
        assert text.count("proven zero.") == 3
        assert len(model.summary().to_frame()) == 3 * features.shape[1]

    @pytest.mark.parametrize("loss", [Logistic(), Multinomial()])
    def test_certificates_name_the_classes(self, loss, tmp_path):
        features, codes = load_wine(return_X_y=True, as_frame=True)
        names = np.array(["barolo", "grignolino", "barbera"])[codes]
        model = GaugeClassifier(loss=loss, gauge=L1(), standardize=True).fit(features, names)
        found = model.certificate_ if isinstance(model.certificate_, list) else [model.certificate_]
        titles = ["class barbera", "class barolo", "class grignolino"]
        for k, certificate in enumerate(found):
            certificate.save(tmp_path / f"{k}.json")
        again = [Certificate.load(tmp_path / f"{k}.json") for k in range(len(found))]
        for told in (found, again):
            text = "\n".join(map(str, told))
            assert re.findall(r"^(?:class|output) .*", text, re.MULTILINE) == titles
        checks = model.verify(features, names)
        assert all(checks if isinstance(checks, list) else [checks])

    def test_one_certificate_for_two_classes_names_none(self):
        model = GaugeClassifier(loss=Logistic(), standardize=True).fit(X, np.where(Y > 140, "high", "low"))
        assert "outputs" not in model.certificate_.names
        assert "class" not in str(model.certificate_)

    @pytest.mark.parametrize("targets", [Y, np.column_stack([Y, -Y])])
    def test_features_in_units_of_their_own_keep_their_names(self, targets):
        gauge = SparseGroup(["a"] * 4 + ["b"] * 6)
        model = GaugeRegressor(gauge=gauge, penalty=Linear(10.0), standardize=True).fit(X, targets)
        text = str(model.certificate_)
        assert "bmi" in text
        assert not re.search(r"\bx\d", text)
        assert set(model.certificate_.to_frame()["preimage"]) == set(X.columns)

    def test_what_was_chosen_and_by_what(self):
        assert "chosen by CriticalFraction(0.1)" in str(GaugeRegressor().fit(X, Y).summary())
        assert "penalty Ball(500)" in str(GaugeRegressor(penalty=Ball(500.0)).fit(X, Y).summary())
        counts = np.round(Y / 20)
        assert "poisson loss" in str(GaugeRegressor(loss=Poisson()).fit(X, counts).summary())
        model = CertifiedLogisticRegressionCV(Cs=4, scoring="accuracy").fit(X, Y > 150)
        assert "C = " in str(model.summary())
        assert "accuracy" in str(model.summary())

    def test_without_pandas(self, monkeypatch):
        model = CertifiedLasso(alpha=0.5).fit(X.to_numpy(), Y.to_numpy())
        model.certify(X.to_numpy(), Y.to_numpy())  # scikit-learn 1.8 checks data only if pandas is whole or away
        monkeypatch.setitem(sys.modules, "pandas", None)
        summary = model.summary()
        assert "x2" in str(summary)
        assert summary._repr_html_()
        with pytest.raises(ImportError, match="needs pandas"):
            summary.to_frame()

    def test_without_data(self):
        model = CertifiedLasso(alpha=0.5).fit(X.to_numpy().copy(), Y)
        gc.collect()
        text = str(model.summary())
        assert "The data of fit are gone" in text
        assert "proven within" not in text
        assert len(rows_of(text)) == np.count_nonzero(model.coef_)
        assert not {"lower", "upper", "verdict"} & set(model.summary().to_frame())

    def test_html_is_well_formed_and_names_are_escaped(self):
        named = X.rename(columns={"bmi": "<script>alert(1)</script> & co"})
        model = CertifiedLassoCV(alphas=20).fit(named, Y)
        html = model.summary()._repr_html_()
        assert "<script>" not in html
        assert "&lt;script&gt;" in html
        assert len(ET.fromstring(html).findall(".//svg")) == np.count_nonzero(model.coef_)  # noqa: S314

    def test_selectors(self):
        selector = CertifiedSelector(CertifiedLasso(alpha=0.5)).fit(X, Y)
        assert "CertifiedSelector: 4 of 10 features kept" in str(selector.summary())
        model = CertifiedLasso(CriticalFraction(0.2))
        stable = StabilitySelector(model, n_subsamples=6, n_slopes=5, random_state=0).fit(X, Y)
        text = str(stable.summary())
        assert f"StabilitySelector: {stable.get_support().sum()} of 10 features kept" in text
        assert "100% of halves" in text


@pytest.fixture(scope="module")
def result():
    return solve(Problem(X, Y, penalty=Linear(0.5), intercept=True), tol=1e-10)


class TestPrinted:
    def test_certificate(self, result, tmp_path):
        certificate = result.certificate()
        assert [row[0] for row in rows_of(str(certificate))] == ["bmi", "s5", "bp", "s3"]
        assert "6 features proven zero." in str(certificate)
        assert "\n" not in repr(certificate)
        assert repr(certificate).startswith("Certificate(6 of 10 coefficients proven zero, 4 proven non-zero")
        certificate.save(tmp_path / "certificate.json")
        assert str(Certificate.load(tmp_path / "certificate.json")) == str(certificate)
        assert len(ET.fromstring(certificate._repr_html_()).findall(".//svg")) == 4  # noqa: S314

    def test_a_certificate_of_nothing(self):
        proof = certify(Problem(X, Y, penalty=Linear(0.5)), np.full(10, np.nan), np.zeros(0))
        assert str(proof) == "Nothing is proven: the coefficients are not finite in double precision."
        assert str(proof) in proof._repr_html_()

    @pytest.mark.parametrize(
        ("strength", "says"), [(0.5, "10 coefficients proven not all zero"), (50.0, "10 coefficients proven zero")]
    )
    def test_a_gauge_that_cannot_be_taken_apart(self, strength, says):
        proof = solve(Problem(X, Y, gauge=L2(), penalty=Linear(strength), intercept=True)).certificate()
        assert repr(proof).startswith(f"Certificate({says}; optimal value ")
        assert ("age" in str(proof)) == (strength < 1)

    def test_facts_about_single_coefficients(self):
        proof = solve(Problem(X, Y, gauge=LInf(), penalty=Linear(0.5), intercept=True), until="decided").certificate()
        assert repr(proof).startswith("Certificate(0 of 10 coefficients proven zero, 10 proven non-zero, 0 undecided; ")
        assert " saturated, of the largest absolute value of all: " in str(proof)
        assert "In the order of their absolute values: " in str(proof)

    def test_result(self, result):
        text = str(result)
        assert [row[0] for row in rows_of(text)] == ["bmi", "s5", "bp", "s3"]
        assert "4 of 10 features in the model, 6 ruled out" in repr(result)
        assert str(result.status) in text
        assert "proven" not in text  # a run proves nothing by itself
        assert len(ET.fromstring(result._repr_html_()).findall(".//svg")) == 4  # noqa: S314

    def test_outputs_and_groups(self):
        both = solve(Problem(X, np.column_stack([Y, -Y]), gauge=Group(), penalty=Linear(20.0)))
        assert re.findall(r"^output \d", str(both), re.MULTILINE) == ["output 0", "output 1"]
        assert re.findall(r"^output \d", str(both.certificate()), re.MULTILINE) == ["output 0", "output 1"]
        groups = Group(["age", "sex", "bmi", "bp"] + ["serum"] * 6)
        one = solve(Problem(X, Y, gauge=groups, penalty=Linear(0.5), intercept=True))
        for text in (str(one), str(one.certificate())):
            assert "serum (6 features)" in text

    def test_path(self):
        found = path(Problem(X, Y, intercept=True), n=40)
        rows = rows_of(str(found), "slope")
        assert len(rows) == 15 + 1
        assert "and 25 more: to_frame()" in str(found)
        assert rows[0][1:3] == ["0", "0.0%"]
        frame = found.to_frame()
        np.testing.assert_array_equal(frame.slope, found.slopes)
        np.testing.assert_array_equal(frame.features, np.count_nonzero(found.coefs, axis=1))
        residuals = Y.to_numpy()[:, None] - X.to_numpy() @ found.coefs.T - found.intercepts
        np.testing.assert_allclose(frame.deviance, 1 - residuals.var(axis=0) / Y.var(ddof=0), atol=1e-9)
        assert ET.fromstring(found._repr_html_()) is not None  # noqa: S314
        assert "\n" not in repr(found)

    @pytest.mark.parametrize("loss", [Logistic(), Poisson()])
    def test_deviance_explained_grows_from_nothing(self, loss):
        targets = np.where(Y > 150, 1.0, -1.0) if isinstance(loss, Logistic) else np.round(Y / 20)
        explained = path(Problem(X, targets, loss=loss, intercept=True), n=15).deviance_explained
        assert explained[0] == pytest.approx(0.0, abs=1e-6)
        assert (np.diff(explained) > -1e-9).all()
        assert 0.1 < explained[-1] < 1

    def test_problem_and_group_in_plain_words(self):
        gauge = Group(["a"] * 4 + ["b"] * 6)
        assert repr(gauge).startswith("Group(groups=<2 groups of 4 to 6 features>, weights=")
        text = repr(Problem(X, np.column_stack([Y, Y]), gauge=gauge))
        assert text.startswith("Problem(442 samples, 10 features, 2 outputs, loss=Squared(), ")
        assert "lifted" not in text
