"""Pictures: what is drawn are the numbers, names do not overlap, colours come from the palette."""

import re
import subprocess
import sys
from itertools import pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine

from atomsieve import (
    CertificateDisplay,
    CertifiedLasso,
    CertifiedLassoCV,
    CertifiedLogisticRegression,
    CriticalFraction,
    CVDisplay,
    GaugeClassifier,
    GaugeRegressor,
    GaugeRegressorCV,
    Linear,
    Logistic,
    PathDisplay,
    PredictionDisplay,
    Problem,
    StabilityDisplay,
    StabilitySelector,
    path,
    solve,
)
from atomsieve.display import palette
from atomsieve.display.coefficients import Coefficients

mpl.use("Agg")

X, Y = load_diabetes(return_X_y=True, as_frame=True)
COLOURS = {palette.INK, palette.MUTED, palette.FAINT, palette.GRID, palette.PAPER, palette.DOUBT, *palette.SERIES}


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    with mpl.rc_context():
        yield
    plt.close("all")


@pytest.fixture(scope="module")
def model():
    return CertifiedLassoCV(alphas=25).fit(X, Y)


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    features = rng.standard_normal((60, 3000))
    return path(Problem(features, features[:, :8].sum(axis=1) + rng.standard_normal(60)), n=20)


def displays(model, ax=None):
    yield PathDisplay.from_estimator(model, ax=ax)
    yield PathDisplay.from_path(path(Problem(X, Y, intercept=True), n=8), ax=ax)
    yield CVDisplay.from_estimator(model, ax=ax)
    yield CertificateDisplay.from_estimator(model, ax=ax)
    yield CertificateDisplay.from_certificate(model.certificate_, ax=ax)
    yield PredictionDisplay.from_estimator(model, X, Y, ax=ax)
    selector = StabilitySelector(CertifiedLasso(CriticalFraction(0.2)), n_subsamples=4, n_slopes=4, random_state=0)
    yield StabilityDisplay.from_estimator(selector.fit(X, Y), ax=ax)


class TestAll:
    def test_draw_on_given_axes_or_on_new_ones(self, model):
        figure, ax = plt.subplots()
        before = plt.get_fignums()
        for display in displays(model, ax):
            assert display.ax_ is ax
            assert display.figure_ is figure
            assert plt.get_fignums() == before
            ax.clear()
        display = CVDisplay.from_estimator(model)
        first = display.figure_
        assert first is not figure
        assert display.plot() is display
        assert display.figure_ is not first

    def test_take_every_colour_from_the_palette(self, model, tmp_path):
        for display in displays(model):
            mpl.rcParams["svg.fonttype"] = "none"
            display.figure_.savefig(tmp_path / "picture.svg")
            used = set(re.findall(r"#[0-9a-f]{6}\b", (tmp_path / "picture.svg").read_text()))
            assert used <= COLOURS

    def test_every_colour_has_a_dark_one_of_its_own(self):
        assert set(palette.DARK) == COLOURS
        assert len(set(palette.DARK.values())) == len(COLOURS)

    def test_names_are_no_formulas(self):
        odd = X.rename(columns={"bmi": "$x^{", "s5": r"5$ \frac $", "bp": "a_very_long_name_of_a_feature_in_a_file"})
        lasso = CertifiedLasso(alpha=0.5).fit(odd, Y)
        for display in (CertificateDisplay.from_estimator(lasso), PathDisplay.from_estimator(lasso)):
            display.figure_.canvas.draw()

    def test_need_no_matplotlib_before_they_draw(self):
        code = "import sys, atomsieve; atomsieve.PathDisplay; assert 'matplotlib' not in sys.modules"
        subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603


def label_boxes(ax):
    """Return the boxes of the names to the right of the axes, from the lowest to the highest."""
    ax.figure.canvas.draw()
    renderer = ax.figure.canvas.get_renderer()
    names = [text for text in ax.texts if text.get_transform() == ax.transAxes and text.get_position()[0] > 1]
    return sorted((text.get_window_extent(renderer) for text in names), key=lambda box: box.y0)


class TestPath:
    def test_lines_are_the_coefficients(self):
        found = path(Problem(X, Y, intercept=True), n=12)
        display = PathDisplay.from_path(found)
        assert set(display.lines_) == set(X.columns[found.coefs.any(axis=0)])
        for name, line in display.lines_.items():
            values = found.coefs[:, X.columns.get_loc(name)]
            begin = len(values) - len(line.get_ydata())
            np.testing.assert_array_equal(line.get_ydata(), values[begin:])
            np.testing.assert_array_equal(line.get_xdata(), found.slopes[begin:])
            assert not values[:begin].any()
        assert display.ax_.get_xscale() == "log"
        left, right = display.ax_.get_xlim()
        assert left > right  # more features to the right

    @pytest.mark.parametrize("features", [10, 3000])
    def test_names_do_not_overlap(self, features, wide):
        found = path(Problem(X, Y, intercept=True), n=12) if features == 10 else wide
        display = PathDisplay.from_path(found)
        boxes = label_boxes(display.ax_)
        assert len(boxes) == len(display.lines_) >= 9
        assert all(low.y1 <= high.y0 + 0.5 for low, high in pairwise(boxes))
        edge = display.figure_.bbox
        assert all(box.x1 <= edge.x1 + 1 for box in boxes)

    def test_the_largest_of_many_have_names_and_the_others_are_there(self, wide):
        display = PathDisplay.from_path(wide)
        scales = np.std(wide.problem.data.design.columns(slice(None)), axis=0)
        largest = np.argsort(-np.abs(wide.coefs[-1]) * scales)[:10]
        assert set(display.lines_) == {f"x{j}" for j in largest}
        (rest,) = display.ax_.collections
        assert len(rest.get_paths()) == np.count_nonzero(wide.coefs.any(axis=0)) - 10
        assert len(PathDisplay.from_path(wide, labels=20).lines_) == 20

    def test_counts_stand_along_the_top(self, wide):
        display = PathDisplay.from_path(wide)
        (top,) = display.ax_.child_axes
        pairs = zip(top.get_xticks(), top.get_xticklabels(), strict=True)
        told = {float(place): label.get_text() for place, label in pairs}
        assert 4 <= len(told) <= 9
        for place, text in told.items():
            count = np.count_nonzero(wide.coefs[np.flatnonzero(wide.slopes == place)[0]])
            assert text == f"{count:,}"

    def test_the_x_axis_can_be_chosen(self, wide):
        norm = PathDisplay.from_path(wide, x="norm")
        np.testing.assert_allclose(norm.ax_.get_xlim()[1], np.abs(wide.coefs[-1]).sum())
        explained = PathDisplay.from_path(wide, x="deviance")
        np.testing.assert_allclose(explained.ax_.get_xlim()[1], wide.deviance_explained[-1])
        with pytest.raises(ValueError, match='x must be "strength", "norm" or "deviance"'):
            PathDisplay.from_path(wide, x="lambda")

    def test_per_standard_deviation(self):
        found = path(Problem(X * [1, 10, 100, 1, 1, 1, 1, 1, 1, 1], Y, intercept=True), n=6)
        display = PathDisplay.from_path(found, per="sd")
        scales = X.std(ddof=0).to_numpy() * [1, 10, 100, 1, 1, 1, 1, 1, 1, 1]
        np.testing.assert_allclose(display.coefs, found.coefs * scales)
        assert "standard deviation" in display.ax_.get_ylabel()
        with pytest.raises(ValueError, match='per must be "unit" or "sd"'):
            PathDisplay.from_path(found, per="iqr")

    def test_an_estimator_marks_its_own_strength(self):
        lasso = CertifiedLasso(alpha=0.4).fit(X, Y)
        display = PathDisplay.from_estimator(lasso)
        (place,) = display.marks.values()
        assert display.strengths[place] == pytest.approx(0.4)
        np.testing.assert_allclose(display.coefs[place], lasso.coef_, atol=0.1)
        assert "this model" in [text.get_text() for text in display.ax_.texts]
        weak = PathDisplay.from_estimator(CertifiedLasso(alpha=1e-5).fit(X, Y))
        assert weak.strengths[-1] < 1e-5
        strong = PathDisplay.from_estimator(CertifiedLasso(alpha=1e9).fit(X, Y))
        assert strong.strengths[0] < 10

    def test_deviance_of_an_estimator_is_that_of_its_path(self):
        kept = GaugeRegressor(penalty=Linear(0.4), keep_data=True).fit(X, Y)
        display = PathDisplay.from_estimator(kept, x="deviance")
        same = path(Problem(X, Y, intercept=True), display.strengths)
        np.testing.assert_allclose(display.deviance, same.deviance_explained, atol=1e-5)
        labels = np.where(Y > 150, 1.0, -1.0)
        logistic = GaugeClassifier(loss=Logistic()).fit(X, labels)
        display = PathDisplay.from_estimator(logistic, X, labels, x="deviance")
        same = path(Problem(X, labels, loss=Logistic(), intercept=True), display.strengths)
        np.testing.assert_allclose(display.deviance, same.deviance_explained, atol=1e-5)

    @pytest.mark.skipif(not hasattr(CertifiedLassoCV, "coef_path_"), reason="cross-validation keeps no path yet")
    def test_a_kept_path_is_drawn_with_both_strengths(self, model):
        display = PathDisplay.from_estimator(model)
        np.testing.assert_array_equal(display.coefs, model.coef_path_)
        assert display.marks == {"1se": model.index_1se_, "min": model.index_min_}
        assert display.label == "alpha"

    def test_classes(self):
        features, classes = load_wine(return_X_y=True, as_frame=True)
        few = features.iloc[:, :4]
        several = GaugeClassifier(loss=Logistic(), standardize=True).fit(few, classes)
        one = PathDisplay.from_estimator(several, target=1)
        whole = PathDisplay.from_estimator(several)
        place = one.marks["this model"]
        np.testing.assert_allclose(one.coefs[place], several.coef_[1], atol=1e-2)
        np.testing.assert_allclose(whole.coefs[place], np.linalg.norm(several.coef_, axis=0), atol=1e-2)
        assert "class 1" in one.ax_.get_ylabel()
        with pytest.raises(ValueError, match="target must be one of 0, 1, 2"):
            PathDisplay.from_estimator(several, target=7)

    def test_data_that_are_gone(self):
        lost = CertifiedLasso(alpha=0.5).fit(X.to_numpy().copy(), Y)
        with pytest.raises(ValueError, match="pass X and y"):
            PathDisplay.from_estimator(lost)
        assert PathDisplay.from_estimator(lost, X.to_numpy(), Y).ax_

    def test_one_strength(self):
        display = PathDisplay.from_path(path(Problem(X, Y), [1.0]))
        assert all(line.get_marker() == "o" for line in display.lines_.values())


class TestCrossValidation:
    def test_shows_losses_and_both_strengths(self, model):
        display = CVDisplay.from_estimator(model)
        np.testing.assert_array_equal(display.line_.get_ydata(), -model.cv_mean_)
        places = {line.get_xdata()[0] for line in display.ax_.lines if len(set(line.get_xdata())) == 1}
        assert places == {model.alphas_[model.index_min_], model.alphas_[model.index_1se_]}
        words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
        assert any(text.startswith("min (best mean): ") for text in words)
        assert any(text.startswith("1se (within one standard error): ") for text in words)
        names = [text.get_text() for text in display.ax_.texts]
        assert {"min", "1se"} <= set(names) or "1se = min" in names

    def test_shows_scores_as_they_are(self):
        scored = GaugeRegressorCV(strengths=6, scoring="r2").fit(X, Y)
        display = CVDisplay.from_estimator(scored)
        np.testing.assert_array_equal(display.line_.get_ydata(), scored.cv_mean_)
        assert display.ax_.get_ylabel() == "r2"

    def test_needs_a_cross_validation(self):
        with pytest.raises(TypeError, match="Take CertifiedLassoCV"):
            CVDisplay.from_estimator(CertifiedLasso().fit(X, Y))


class TestCertificate:
    def test_features_by_weight_and_zeros_as_a_count(self):
        lasso = CertifiedLasso(alpha=0.3).fit(X, Y)
        ax = CertificateDisplay.from_estimator(lasso).ax_
        order = np.argsort(-np.abs(lasso.coef_))[: np.count_nonzero(lasso.coef_)]
        assert [label.get_text() for label in ax.get_yticklabels()] == X.columns[order].tolist()
        zeros = (lasso.support_report().verdict == "zero").sum()
        assert f"{zeros} features proven zero" in ax.get_xlabel()

    def test_intervals_are_drawn_as_they_are(self):
        told = Coefficients(
            ["a", "b", "c"],
            np.array([2.0, -1.0, 0.5]),
            np.array([1.5, -np.inf, 0.5]),
            np.array([2.5, np.inf, 0.5]),
            np.array(["non-zero", "undecided", "unpenalised"]),
        )
        ax = CertificateDisplay(told).plot().ax_
        assert [1.5, 2.5] in [list(line.get_xdata()) for line in ax.lines]
        hollow = [line for line in ax.lines if line.get_marker() == "o" and line.get_markerfacecolor() == palette.PAPER]
        assert [line.get_xdata()[0] for line in hollow] == [-1.0]
        words = [text.get_text() for text in ax.texts]
        assert "± 0.5" in words
        assert "unknown" in words

    def test_only_so_many(self):
        rng = np.random.default_rng(0)
        features = rng.standard_normal((80, 300))
        result = solve(Problem(features, features[:, :50].sum(axis=1), penalty=Linear(0.2)))
        display = CertificateDisplay.from_certificate(result.certificate(), most=10)
        used = len(display.coefficients.shown)
        assert len(display.ax_.get_yticks()) == 10
        assert f"{used - 10} smaller not shown" in display.ax_.get_xlabel()
        assert result.certificate().plot(most=5).get_yticks().shape == (5,)

    def test_nothing_in_the_model(self):
        ax = CertificateDisplay.from_estimator(CertifiedLasso(alpha=1e9).fit(X, Y)).ax_
        assert "10 features proven zero" in ax.get_xlabel()

    def test_classes_and_units(self):
        features, classes = load_wine(return_X_y=True, as_frame=True)
        several = GaugeClassifier(loss=Logistic(), standardize=True).fit(features, classes)
        display = CertificateDisplay.from_estimator(several, target=2, per="sd")
        np.testing.assert_allclose(display.coefficients.values, several.coef_[2] * features.std(ddof=0))
        assert "class 2" in display.ax_.get_xlabel()
        with pytest.raises(ValueError, match="target must be one of 0, 1, 2"):
            CertificateDisplay.from_estimator(several, target="none")


class TestPrediction:
    def test_sets_predictions_against_observations(self, model):
        display = PredictionDisplay.from_estimator(model, X, Y)
        points = display.ax_.collections[0].get_offsets()
        np.testing.assert_allclose(points, np.column_stack([model.predict(X), Y]))
        assert f"R² {model.score(X, Y):.3f}" in display.ax_.texts[0].get_text()

    def test_residuals_and_their_trend(self, model):
        ax = PredictionDisplay.from_estimator(model, X, Y, kind="residual").ax_
        np.testing.assert_allclose(ax.collections[0].get_offsets()[:, 1], Y - model.predict(X))
        assert ax.get_legend().get_texts()[0].get_text() == "mean of 30 neighbours"

    def test_a_crowd_is_counted(self):
        rng = np.random.default_rng(0)
        predicted = rng.standard_normal(5000)
        ax = PredictionDisplay.from_predictions(predicted + 1, predicted).ax_
        assert ax.collections[0].get_array().sum() == 5000

    def test_refuses_in_sentences(self, model):
        with pytest.raises(TypeError, match="RocCurveDisplay"):
            PredictionDisplay.from_estimator(CertifiedLogisticRegression().fit(X, Y > 150), X, Y > 150)
        with pytest.raises(ValueError, match="one output"):
            PredictionDisplay.from_predictions(np.ones((3, 2)), np.ones((3, 2)))
        with pytest.raises(ValueError, match="kind must be"):
            PredictionDisplay.from_estimator(model, X, Y, kind="qq")


def test_methods_draw_by_displays(model):
    assert model.plot().get_ylabel() == CVDisplay.from_estimator(model).ax_.get_ylabel()
    assert model.plot_path(x="norm").get_xlabel() == "sum of |coefficient|"
    found = path(Problem(X, Y), n=5)
    assert found.plot(x="norm").get_xlabel() == "sum of |coefficient|"
    assert found.results[-1].plot(most=3).get_yticks().shape == (3,)
