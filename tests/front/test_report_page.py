"""The page is one file, safe whatever the names are, and has the sections that the model has."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_models import HOSTILE, MODELS, findings_of, page_of

from atomsieve.estimators.quality import SEEN, UNSEEN
from atomsieve.report import write_report
from atomsieve.report.page import page
from atomsieve.report.payload import payload


class Elements(HTMLParser):
    """The elements of a page, its identifiers, and the texts of its scripts."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.names, self.identifiers, self.addresses, self.scripts, self.heading = [], [], [], [], ""
        self.titles, self._within = [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.names.append(tag)
        self.identifiers += [attributes["id"]] if "id" in attributes else []
        self.addresses += [attributes[key] for key in ("href", "src") if key in attributes]
        self._within = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):  # noqa: ARG002 -- as the parser calls it
        self._within = None

    def handle_data(self, data):
        if self._within == "script":
            self.scripts[-1] += data
        if self._within == "h1":
            self.heading += data
        if self._within == "title":
            self.titles.append(data)


@pytest.mark.parametrize("kind", MODELS)
def test_a_page_is_one_file_with_identifiers_that_differ(kind):
    found = Elements(page_of(kind))
    assert len(set(found.identifiers)) == len(found.identifiers)
    assert not {"link", "img", "iframe", "object"} & set(found.names)
    assert all(address.startswith("#") and address[1:] in found.identifiers for address in found.addresses)
    assert len(found.scripts) == 2
    assert not re.search(r"https?://(?!www\.w3\.org)", page_of(kind))


@pytest.mark.parametrize("kind", MODELS)
def test_sections_are_those_that_the_model_has(kind):
    findings = findings_of(kind)
    found = set(Elements(page_of(kind)).identifiers)
    assert {"finding", "coefficients", "map", "background", "verify"} <= found
    assert ("path" in found) == (findings.path is not None)
    assert ("choice" in found) == (findings.choice is not None)
    assert ("groups" in found) == (findings.groups is not None)
    assert ("dependent" in found) == bool(findings.relations)
    assert ("quality" in found) == bool(findings.quality)


@pytest.mark.parametrize(("kind", "measure"), [("chosen", "R²"), ("classes", "log-loss"), ("counts", "deviance")])
def test_training_data_and_cross_validation_are_told_apart(kind, measure):
    section = page_of(kind).partition('id="quality"')[2].partition("</section>")[0]
    assert measure in section
    assert SEEN in section
    assert UNSEEN in section
    assert "unknown" not in section
    alone = page_of("single").partition('id="quality"')[2].partition("</section>")[0]
    assert SEEN in alone
    assert "cross-validation" not in alone.lower()


def test_a_mean_loss_is_called_what_it_is():
    section = page_of("groups").partition('id="choice"')[2].partition("</section>")[0]
    assert "held-out loss (half the mean squared error)" in section


def test_the_same_findings_make_the_same_page():
    assert page(findings_of("chosen")) == page_of("chosen")


def test_hostile_names_are_words():
    findings = findings_of("twins")
    text = page(replace(findings, target=HOSTILE))
    assert "<b>$x_1" not in text
    found = Elements(text)
    assert HOSTILE in found.heading
    assert json.loads(found.scripts[0])["names"] == list(findings.names)


WORDS = st.text(st.sampled_from("<>&\"'/$\\{}%#;\n_^aé中") | st.characters(codec="utf-8"), min_size=1, max_size=12)


@settings(deadline=None, max_examples=40)
@given(st.lists(WORDS, min_size=12, max_size=12, unique=True), WORDS)
def test_whatever_names_are_the_page_has_the_same_elements(names, target):
    findings = findings_of("twins")
    found = Elements(page(replace(findings, names=tuple(names), target=target)))
    assert found.names == Elements(page_of("twins")).names
    assert json.loads(found.scripts[0])["names"] == list(names)


def test_pictures_take_any_name():
    findings = findings_of("chosen")
    names = (HOSTILE, "$", "$a$", r"$\bad{$", "基因", "two\nlines", "#1f2328", 'id="x" url(#x)', "1.23456789", "&amp;")
    found = Elements(page(replace(findings, names=names)))
    assert found.names.count("script") == 2
    drawn = {title for title in found.titles if title in names}
    assert drawn == {names[line.feature] for line in findings.path.lines}


def test_pictures_follow_the_colours_of_the_page():
    text = page_of("chosen")
    drawn = "".join(re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL))
    assert "var(--c1f2328)" in drawn
    left = set(re.findall(r"#[0-9a-f]{6}\b", drawn))
    assert left <= {"#000000", "#ffffff"}


def test_numbers_travel_only_where_they_say_something():
    for kind in MODELS:
        findings = findings_of(kind)
        plain = payload(findings)
        assert len(plain["rows"]) == sum(len(output.entries) for output in findings.outputs)
        letters = ["".join(k * int(n) for n, k in re.findall(r"(\d+)(\w)", runs)) for runs in plain["verdicts"]]
        assert letters == [output.verdicts for output in findings.outputs]
    assert payload(findings_of("null"))["names"] == 12


def test_a_report_is_written_as_it_is_and_is_small(tmp_path):
    write_report(findings_of("twins"), tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page_of("twins")
    assert max(len(page_of(kind).encode()) for kind in MODELS) < 1e6
