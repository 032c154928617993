"""Findings say what the certificates say, and survive their file to the last bit."""

import dataclasses
import json
from types import NoneType, UnionType
from typing import get_args, get_origin, get_type_hints

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_models import MODELS, TOLD, findings_of, model_of, unproven
from sklearn.datasets import load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from atomsieve import OSCAR, CertifiedLasso, GaugeRegressor, Linear, UnprovenWarning
from atomsieve.report import Findings
from atomsieve.report.outputs import LETTERS
from atomsieve.report.words import Tally, headline, paragraphs

SCALARS = {
    str: st.text(st.characters(codec="utf-8"), max_size=8),
    bool: st.booleans(),
    int: st.integers(-(2**70), 2**70),
    float: st.floats(allow_nan=False, allow_infinity=False),
}


def values(kind):
    """Return a strategy for the values of a type, by its annotations."""
    if dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind)
        return st.builds(kind, **{field.name: values(hints[field.name]) for field in dataclasses.fields(kind)})
    if isinstance(kind, UnionType):
        return st.none() | st.one_of([values(part) for part in get_args(kind) if part is not NoneType])
    if get_origin(kind) is tuple:
        first, *rest = get_args(kind)
        if rest == [Ellipsis]:
            return st.lists(values(first), max_size=2).map(tuple)
        return st.tuples(values(first), *map(values, rest))
    return SCALARS[kind]


@settings(deadline=None, max_examples=60)
@given(values(Findings))
def test_a_file_gives_back_what_was_written(tmp_path_factory, findings):
    path = tmp_path_factory.mktemp("findings") / "findings.json"
    findings.save(path)
    assert Findings.load(path) == findings


@pytest.mark.parametrize("kind", MODELS)
def test_files_of_real_findings(kind, tmp_path):
    findings_of(kind).save(tmp_path / "findings.json")
    assert Findings.load(tmp_path / "findings.json") == findings_of(kind)


@pytest.mark.parametrize("kind", MODELS)
def test_findings_are_those_of_the_certificates(kind):
    findings, model = findings_of(kind), model_of(kind)
    report = model.support_report()
    letters = "".join(output.verdicts for output in findings.outputs)
    assert letters == "".join(LETTERS[verdict] for verdict in report["verdict"])
    count = len(findings.names)
    told = {(k * count + e.feature): e for k, output in enumerate(findings.outputs) for e in output.entries}
    for place, row in enumerate(report.itertuples()):
        entry = told.get(place)
        if entry is None:
            assert row.coefficient == 0
            assert (row.lower, row.upper) in ((0.0, 0.0), (-np.inf, np.inf))
        else:
            assert entry.coefficient == row.coefficient
            assert (-np.inf if entry.lower is None else entry.lower) == row.lower
            assert (np.inf if entry.upper is None else entry.upper) == row.upper
    assert list(dict.fromkeys(report["feature"])) == list(findings.names)


@pytest.mark.parametrize("kind", MODELS)
def test_counts_of_a_certificate_are_those_of_its_masks(kind):
    certificates = model_of(kind).certificate_
    for proof, certificate in zip(findings_of(kind).proofs, np.atleast_1d(certificates), strict=True):
        masks = certificate.zero, certificate.nonzero, certificate.undecided
        assert (proof.zero, proof.nonzero, proof.undecided) == tuple(int(mask.sum()) for mask in masks)
        assert proof.digest == certificate.digest
        assert proof.lower == certificate.dual


def test_parts_that_a_model_lacks_are_none():
    single = findings_of("single")
    assert single.choice is None
    assert single.path is None
    assert single.groups is None


def test_a_cross_validation_is_told_with_both_choices():
    findings, model = findings_of("chosen"), model_of("chosen")
    assert findings.choice.strengths == tuple(model.alphas_)
    assert findings.choice.chosen == findings.choice.sparse == model.index_1se_
    assert findings.choice.least == model.index_min_
    assert findings.choice.mean == tuple(-model.cv_mean_)
    for line in findings.path.lines:
        assert line.values == tuple(model.coef_path_[:, line.feature])
    drawn = {line.feature for line in findings.path.lines}
    assert drawn == set(np.flatnonzero(np.any(model.coef_path_ != 0, axis=0)))


@pytest.mark.parametrize("kind", ["chosen", "groups", "classes", "counts"])
def test_supports_along_the_path_are_proven(kind):
    findings = findings_of(kind)
    places = [support.place for support in findings.path.supports] if findings.path.supports else []
    if kind == "classes":  # standardised features have weights of their own, which L1 takes without a preimage
        assert places
    coefs = model_of(kind).coef_path_
    for support in findings.path.supports:
        assert support.nonzero + support.zero + support.undecided == len(findings.names)
        used = np.count_nonzero(np.atleast_2d(coefs[support.place]).any(axis=0))
        assert support.nonzero <= used
        assert support.zero <= len(findings.names) - support.nonzero
    assert {findings.choice.least, findings.choice.sparse} <= set(places)
    chosen = next(s for s in findings.path.supports if s.place == findings.choice.chosen)
    tally = Tally.of(findings)
    assert (chosen.nonzero, chosen.zero) == (tally.nonzero, tally.zero)


def test_groups_have_their_names_and_members():
    findings, certificate = findings_of("groups"), model_of("groups").certificate_
    assert [group.name for group in findings.groups] == list(certificate.names["blocks"])
    assert sorted(j for group in findings.groups for j in group.features) == list(range(len(findings.names)))
    for group, zero in zip(findings.groups, certificate.zero, strict=True):
        assert (group.verdict == "zero") == bool(zero)


def test_twins_are_told_as_equations():
    relations = {(r.column, tuple((t.times, t.name) for t in r.terms)) for r in findings_of("twins").relations}
    assert ("bmi copy", ((1.0, "bmi"),)) in relations
    words = " ".join(paragraphs(findings_of("twins")))
    assert "4 coefficients undecided" in words
    assert "dependent" in words


def test_the_finding_in_words_counts_as_the_certificate_does():
    assert headline(findings_of("null")).startswith("No feature carries weight: all 12 are proven")
    findings = findings_of("chosen")
    tally = Tally.of(findings)
    assert headline(findings).startswith(f"{tally.nonzero} of 10 features are proven to carry the model of y")
    assert f"{tally.zero} are proven to be zero" in headline(findings)


@pytest.mark.parametrize("kind", ["chosen", "counts", "classes"])
def test_directions_are_proven_signs(kind):
    findings = findings_of(kind)
    report = model_of(kind).support_report()
    words = " ".join(paragraphs(findings))
    up = set(report.loc[(report["lower"] > 0) & (report["verdict"] == "non-zero"), "feature"])
    raised = words.partition("Larger values of ")[2].partition(" raise ")[0].replace(" and ", ", ")
    assert {name for name in raised.split(", ") if name in set(findings.names)} <= up


def test_where_nothing_is_proven_that_is_said():
    with pytest.warns(UnprovenWarning):
        findings = Findings.of(unproven(), **TOLD)
    assert headline(findings).endswith("nothing is proven of them.")
    assert "L1() and Group(groups) are gauges with proofs" in " ".join(paragraphs(findings))
    assert Tally.of(findings).nonzero == 0


def test_data_that_are_gone_leave_out_scales_but_not_proofs():
    X, y = load_diabetes(return_X_y=True)
    model = CertifiedLasso(alpha=0.3).fit(X.copy(), y)
    model.certify(X, y)
    findings = Findings.of(model, **TOLD)
    assert findings.scales is None
    assert findings.proofs[0].valid
    assert findings.names[3] == "x3"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": "atomsieve certificate"}, "does not say format"),
        ({"version": 99}, "has version 99"),
        ({"findings": {}}, "is damaged: findings must hold"),
        ({"findings": {"target": 3}}, "findings.target must be text, got 3"),
        ({"findings": {"names": ["a", 1]}}, r"findings.names\[1\] must be text, got 1"),
        ({"findings": {"names": "a"}}, "findings.names must be a list"),
    ],
)
def test_other_files_are_refused_in_a_sentence(tmp_path, changes, words):
    path = tmp_path / "findings.json"
    findings_of("null").save(path)
    content = json.loads(path.read_text())
    if changes.get("findings"):
        changes = {"findings": content["findings"] | changes["findings"]}
    path.write_text(json.dumps(content | changes))
    with pytest.raises(ValueError, match=words):
        Findings.load(path)


@pytest.mark.parametrize("text", ["", "{", "[1]", "nan", '{"format": 1}'])
def test_files_that_hold_no_findings_are_refused(tmp_path, text):
    (tmp_path / "other.json").write_text(text)
    with pytest.raises(ValueError, match="holds no findings"):
        Findings.load(tmp_path / "other.json")


def test_other_models_are_refused_in_a_sentence():
    with pytest.raises(TypeError, match="takes a fitted estimator of atomsieve, got Pipeline"):
        Findings.of(make_pipeline(StandardScaler(), CertifiedLasso()), **TOLD)
    with pytest.raises(NotFittedError):
        Findings.of(CertifiedLasso(), **TOLD)


def test_facts_about_single_coefficients_are_told():
    """A model of a gauge without groups of its own has a verdict for each feature, and its clusters in words."""
    X = np.random.default_rng(0).standard_normal((40, 6))
    X[:, 1] = X[:, 0] + 0.01 * X[:, 5]
    y = X @ [1.0, 1, -0.5, 0, 0, 0]
    model = GaugeRegressor(gauge=OSCAR(0.1, 0.1), penalty=Linear(0.2)).fit(X, y)
    assert model.support_report().verdict.tolist() == ["non-zero"] * 3 + ["zero"] * 3
    said = "2 features share one absolute value: x0, x1."
    assert said in str(model.summary())
    assert said in paragraphs(Findings.of(model, **TOLD))
