"""Every table, picture and file ranks features by one rule: |coefficient| × standard deviation of the feature."""

import csv
import gc
import io

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine

from atomsieve import CertificateDisplay, CertifiedLasso, GaugeClassifier, GaugeRegressor, Group, Logistic, PathDisplay
from atomsieve.cli.claims import as_json, coefficients_csv, parts_of
from atomsieve.report import Findings
from atomsieve.report.page import page
from atomsieve.report.payload import payload
from atomsieve.report.sections import group_weights
from atomsieve.report.words import proven_signs

mpl.use("Agg")

X, Y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
TOLD = {"target": "y", "data": {}, "settings": {}}


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model():
    return CertifiedLasso(alpha=0.9, standardize=True).fit(X, Y)


@pytest.fixture(scope="module")
def expected(model):
    """Features of the model, largest weight first; by coefficient alone the order is another one."""
    weights = np.abs(model.coef_) * X.std(ddof=0).to_numpy()
    order = [name for name, weight in sorted(zip(X.columns, weights, strict=True), key=lambda pair: -pair[1]) if weight]
    assert order != [X.columns[j] for j in np.argsort(-np.abs(model.coef_)) if model.coef_[j]]
    return order


def test_the_summary(model, expected):
    assert model.summary().to_frame().feature.tolist()[: len(expected)] == expected


@pytest.mark.parametrize("per", ["unit", "sd"])
def test_the_picture_of_a_certificate(model, expected, per):
    display = CertificateDisplay.from_estimator(model, per=per)
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == expected
    assert ("sorted by weight" in display.ax_.get_xlabel()) == (per == "unit")
    with pytest.raises(ValueError, match='per must be "unit" or "sd"'):
        CertificateDisplay.from_estimator(model, per="iqr")


@pytest.mark.parametrize("per", ["unit", "sd"])
def test_the_names_in_the_picture_of_a_path(per):
    rng = np.random.default_rng(0)
    units = 10.0 ** rng.uniform(-3, 3, 40)
    features = rng.standard_normal((100, 40)) * units
    lasso = CertifiedLasso(alpha=0.01, standardize=True).fit(features, (features / units)[:, :20] @ np.arange(1, 21))
    display = PathDisplay.from_estimator(lasso, per=per)
    weights = np.abs(display.coefs[display.marks["this model"]]) * (features.std(axis=0) if per == "unit" else 1.0)
    assert list(display.lines_) == [f"x{j}" for j in np.argsort(-weights)[:10]]


def test_the_report(model, expected):
    findings = Findings.of(model, **TOLD)
    rows = sorted(payload(findings)["rows"], key=lambda row: -abs(row[6]))
    assert [findings.names[row[1]] for row in rows] == expected
    up, down = proven_signs(findings, findings.outputs[0])
    assert up == [name for name in expected if name in up]
    assert down == [name for name in expected if name in down]


def test_groups_in_the_report():
    groups = ["person", "person", "body", "body", *["serum"] * 6]
    model = GaugeRegressor(gauge=Group(groups), standardize=True).fit(X, Y)
    findings = Findings.of(model, **TOLD)
    squares = (model.coef_ * X.std(ddof=0).to_numpy()) ** 2
    weights = {group: float(np.sqrt(squares[np.array(groups) == group].sum())) for group in set(groups)}
    told = {g.name: w for g, w in zip(findings.groups, group_weights(findings, findings.groups), strict=True)}
    assert told == pytest.approx(weights)
    text = page(findings)
    places = [text.index(f"<span>{name}</span>") for name in sorted(weights, key=weights.get, reverse=True)]
    assert places == sorted(places)


def test_files_of_the_command_line(model, expected):
    rows = list(csv.DictReader(io.StringIO(coefficients_csv(parts_of(model)))))
    assert [row["feature"] for row in rows][: len(expected)] == expected
    assert {row["feature"] for row in rows} == set(X.columns)
    assert [row["feature"] for row in as_json(parts_of(model))] == expected


def test_without_data_coefficients_alone_decide():
    lost = CertifiedLasso(alpha=0.9, standardize=True).fit(X.to_numpy().copy(), Y)
    gc.collect()
    order = np.argsort(-np.abs(lost.coef_), kind="stable")
    assert lost.summary().to_frame().feature.tolist() == [f"x{j}" for j in order]
    with pytest.raises(ValueError, match="keep_data=True"):
        CertificateDisplay.from_estimator(lost, per="sd")


def test_the_picture_says_which_class_it_shows():
    features, classes = load_wine(return_X_y=True, as_frame=True)
    labels = np.array(["first", "second", "third"])[classes]
    several = GaugeClassifier(loss=Logistic(), standardize=True).fit(features, labels)
    first = CertificateDisplay.from_estimator(several)
    assert "class first (the first of 3; target= chooses another)" in first.ax_.get_xlabel()
    second = CertificateDisplay.from_estimator(several, target="second")
    assert "class second" in second.ax_.get_xlabel()
    assert "target=" not in second.ax_.get_xlabel()
    np.testing.assert_array_equal(second.coefficients.values, several.coef_[1])
