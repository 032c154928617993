"""The report in headless Chromium: no complaints, controls that work, readable in the dark, printed and on a phone."""

import pytest
from browser import Browser
from report_models import HOSTILE, MODELS, findings_of, page_of

from atomsieve.report.findings import Findings
from atomsieve.report.outputs import Entry, Output
from atomsieve.report.page import page

WIDE = 100_000


@pytest.fixture(scope="module")
def browser():
    found = Browser()
    yield found
    found.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")

    def made(kind):
        path = folder / f"{kind}.html"
        if not path.exists():
            path.write_text(page(wide_findings()) if kind == "wide" else page_of(kind), encoding="utf-8")
        return path

    return made


def wide_findings():
    """Return findings of many features, of which every thousandth has a weight."""
    small = findings_of("single")
    letters = ["z"] * WIDE
    entries = []
    for j in range(0, WIDE, 1000):
        letters[j] = "n"
        entries.append(Entry(j, 1.0 + j, 0.9 + j, 1.1 + j))
    output = Output(None, None, "".join(letters), tuple(entries))
    names = tuple(f"word number {j}" for j in range(WIDE))
    fields = {name: getattr(small, name) for name in small.__dataclass_fields__}
    return Findings(**fields | {"names": names, "outputs": (output,), "scales": None, "relations": (), "sums": ()})


def texts(browser, selector):
    return browser.run(f"[...document.querySelectorAll({selector!r})].map(node => node.textContent)")


def press(browser, selector):
    browser.run(f"document.querySelector({selector!r}).click()")


def search(browser, words):
    browser.run(
        "(words => { const box = document.getElementById('search'); box.value = words; "
        f"box.dispatchEvent(new Event('input')); }})({words!r})"
    )


KINDS = ["groups", "classes", "wide"]
MORE_KINDS = [pytest.param(kind, marks=pytest.mark.deep) for kind in MODELS if kind not in KINDS]


@pytest.mark.parametrize("kind", [*KINDS, *MORE_KINDS])
def test_nothing_to_complain_about_at_any_width(browser, pages, kind, tmp_path):
    for width, dark in ((1280, False), (1280, True), (400, False)):
        browser.open(pages(kind), width=width, dark=dark)
        assert browser.complaints() == []
        assert browser.requests() == [pages(kind).as_uri()]
        assert browser.run("document.documentElement.scrollWidth") <= width
        browser.screenshot(tmp_path / f"{width}-{dark}.png")
    browser.pdf(tmp_path / "printed.pdf")
    assert browser.complaints() == []
    assert (tmp_path / "printed.pdf").read_bytes().startswith(b"%PDF")


def test_the_table_shows_what_carries_weight_and_the_rest_when_asked(browser, pages):
    findings = findings_of("chosen")
    browser.open(pages("chosen"))
    verdicts = findings.outputs[0].verdicts
    assert set(texts(browser, "#table .name")) == {n for n, v in zip(findings.names, verdicts, strict=True) if v == "n"}
    press(browser, "#filters button[data-letter=z]")
    assert sorted(texts(browser, "#table .name")) == sorted(findings.names)
    press(browser, "#filters button[data-letter=n]")
    assert set(texts(browser, "#table .chip")) == {"zero"}
    assert browser.complaints() == []


def test_search_finds_by_part_of_a_name(browser, pages):
    browser.open(pages("wide"))
    search(browser, "NUMBER 4200")
    assert texts(browser, "#table .name") == ["word number 42000"]
    press(browser, "#filters button[data-letter=z]")
    assert len(texts(browser, "#table .name")) == 11
    search(browser, "no such thing")
    assert texts(browser, "#table .name") == []
    assert texts(browser, "#shown") == ["0 of 0 features shown."]


def test_columns_sort_both_ways(browser, pages):
    findings = findings_of("chosen")
    browser.open(pages("chosen"))
    coefficients = {findings.names[e.feature]: e.coefficient for e in findings.outputs[0].entries}
    press(browser, "#table th[data-key=value] button")
    assert texts(browser, "#table .name") == sorted(coefficients, key=lambda name: -coefficients[name])
    press(browser, "#table th[data-key=value] button")
    assert texts(browser, "#table .name") == sorted(coefficients, key=lambda name: coefficients[name])
    press(browser, "#table th[data-key=name] button")
    assert texts(browser, "#table .name") == sorted(coefficients)
    assert texts(browser, "#table th[aria-sort=ascending]") == ["feature"]


def test_long_tables_come_in_parts(browser, pages):
    browser.open(pages("wide"))
    assert len(texts(browser, "#table .name")) == 50
    press(browser, "#more")
    assert len(texts(browser, "#table .name")) == 100
    assert browser.run("document.getElementById('more').hidden")


def test_pointing_at_the_map_names_the_feature_and_a_click_finds_it(browser, pages):
    browser.open(pages("chosen"))
    browser.run("document.querySelector('canvas').scrollIntoView({behavior: 'instant', block: 'center'})")
    x, y, size = browser.run(
        "(box => [box.left, box.top, strips[0].size])(document.querySelector('canvas').getBoundingClientRect())"
    )
    names = findings_of("chosen").names
    browser.move(x + 2.5 * size, y + 0.5 * size)
    assert texts(browser, "#tip b") == [names[2]]
    assert not browser.run("document.getElementById('tip').hidden")
    browser.click(x + 2.5 * size, y + 0.5 * size)
    assert texts(browser, "#table .name") == [names[2]]
    search(browser, "")
    assert len(texts(browser, "#table .name")) > 1


def test_the_map_has_a_cell_for_every_feature_in_the_colour_of_its_verdict(browser, pages):
    findings = findings_of("twins")
    browser.open(pages("twins"))
    colours = browser.run(
        "Array.from({length: count}, (_, j) => [...strips[0].canvas.getContext('2d').getImageData("
        "(j % strips[0].across + 0.4) * strips[0].size, (Math.floor(j / strips[0].across) + 0.4) * strips[0].size, 1, 1"
        ").data].join())"
    )
    signs = {e.feature: e.coefficient < 0 for e in findings.outputs[0].entries}
    kinds = [(v, v == "n" and signs[j]) for j, v in enumerate(findings.outputs[0].verdicts)]
    assert len(set(zip(kinds, colours, strict=True))) == len(set(kinds)) == len(set(colours))


def test_hostile_names_are_shown_as_they_are(browser, pages):
    browser.open(pages("twins"))
    assert HOSTILE in texts(browser, "#table .name")
    assert browser.run("document.querySelectorAll('#table b').length") == 0
    assert browser.complaints() == []


def test_colours_follow_the_reader(browser, pages):
    def lightness(dark):
        browser.open(pages("chosen"), dark=dark)
        ground = "getComputedStyle(document.body).backgroundColor"
        ink = "getComputedStyle(document.querySelector('.chart.wide text')).fill"
        return [sum(map(int, browser.run(f"{colour}.match(/\\d+/g).slice(0, 3)"))) for colour in (ground, ink)]

    ground, ink = lightness(dark=False)
    assert ground - ink > 350
    ground, ink = lightness(dark=True)
    assert ink - ground > 350


def test_a_phone_gets_pictures_of_its_own(browser, pages):
    shown = "[...document.querySelectorAll('.chart')].filter(c => c.offsetParent !== null).map(c => c.className)"
    browser.open(pages("chosen"), width=400)
    assert set(browser.run(shown)) == {"chart narrow"}
    browser.open(pages("chosen"))
    assert set(browser.run(shown)) == {"chart wide"}


def test_lines_of_the_path_tell_their_names(browser, pages):
    browser.open(pages("chosen"))
    named = set(texts(browser, ".chart.wide .line title"))
    findings = findings_of("chosen")
    assert named == {findings.names[line.feature] for line in findings.path.lines}


def test_many_features_make_a_file_of_moderate_size(pages):
    assert pages("wide").stat().st_size < 6e6


@pytest.mark.deep
def test_many_features_open_quickly(browser, pages):
    browser.open(pages("single"))
    assert min(browser.open(pages("wide")) for _ in range(3)) < 2.0
