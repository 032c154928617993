"""The report says what the sections say, counts verdicts first, leads to each claim, and needs no file beside it."""

import re

import numpy as np
import pandas as pd
import pytest

from atomsieve.paper.experiment import Finding, Section
from atomsieve.paper.numbers import plain, power, with_error
from atomsieve.paper.page import write_report
from atomsieve.paper.report import Chapter, Report, figure, plain_stars, table, tally

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)

LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")

FINDINGS = [
    Finding("It is so for z*ᵀx*.", "Theorem 1", "1 | 2", np.True_),
    Finding("It is not.", "Lemma 2", f"It falls like {power('t', -0.84)}, by 3 × 10⁻⁵.", False),
    Finding("Who knows.", "Remark", "<script>4</script>", None),
]


@pytest.fixture
def written(tmp_path):
    (tmp_path / "pixel.png").write_bytes(PIXEL)
    first = Section(
        "Figure 1 (2 in the paper): a gap", "Words & <signs>.\n\n" + figure("pixel.png", "**Figure 1.** A find.")
    )
    chapters = [
        Chapter(first, FINDINGS[:2]),
        Chapter(Section("Second", "More.\n\n" + table(pd.DataFrame({"n": [3]}))), FINDINGS[2:]),
    ]
    write_report(Report("A title", "To begin with.", "Read on.", chapters), tmp_path)
    return tmp_path


def test_markdown_has_verdicts_before_sections(written):
    text = (written / "report.md").read_text()
    start = (
        "# A title\n\nTo begin with.\n\n**Of 3 claims, some tested on several data: 1 hold, 1 fail, 1 is open at these"
    )
    assert text.startswith(start)
    assert "- [Figure 1 (2 in the paper): a gap](#figure-1-2-in-the-paper-a-gap): 1 holds, 1 fails" in text
    assert "| ✗ fails | It is not. | Lemma 2 | [Figure 1](#figure-1-2-in-the-paper-a-gap) |" in text
    assert "| ✓ holds | It is so for z\\*ᵀx\\*. | Theorem 1 | 1 \\| 2 |" in text
    assert "![pixel](pixel.png)\n\n**Figure 1.** A find." in text
    assert text.index("## Verdicts") < text.index("## How to read this") < text.index("## Figure 1 (2")


def test_the_page_is_one_file(written):
    page = (written / "report.html").read_text()
    assert re.findall(r'src="([^"]{0,30})', page) == ["data:image/png;base64,iVBORw0K"]
    assert not re.search(r'(href|src)="http|url\(|@import|<script', page)
    assert "Words &amp; &lt;signs&gt;." in page
    assert "<figcaption><strong>Figure 1.</strong> A find.</figcaption>" in page


def test_every_link_has_its_place(written):
    page = (written / "report.html").read_text()
    places = re.findall(r'id="([^"]+)"', page)
    links = re.findall(r'href="#([^"]+)"', page)
    assert len(places) == len(set(places))
    assert set(links) <= set(places)
    assert {"verdicts", "figure-1-2-in-the-paper-a-gap", "second", "claim-1", "claim-2", "claim-3"} <= set(links)


def test_verdicts_are_told_in_words_too(written):
    page = (written / "report.html").read_text()
    for word, sign, count in (("holds", "✓", 1), ("fails", "✗", 1), ("open", "?", 1)):
        assert page.count(f'<span class="badge {word}">{sign}&nbsp;{word}</span>') == 2 * count
        assert page.count(f'<tr class="{word}">') == count
    assert "It is so for z*ᵀx*." in page, "the stars of formulas are no emphasis"
    assert "t<sup>−0.84</sup>, by 3 × 10<sup>−5</sup>" in page
    assert "&lt;script&gt;4" in page


def test_the_dark_and_paper_are_provided_for(written):
    page = (written / "report.html").read_text()
    assert "@media screen and (prefers-color-scheme: dark)" in page
    assert "@media print" in page


def test_a_report_without_verdicts_has_no_table(tmp_path):
    report = Report("T", "O", "N", [Chapter(Section("S", "text"), [])])
    assert "erdict" not in report.markdown()
    write_report(report, tmp_path)
    assert 'id="verdicts"' not in (tmp_path / "report.html").read_text()


def test_tables_stand_under_their_caption():
    assert table(pd.DataFrame({"a": [1]}), "Words.") == "Words.\n\n| a |\n|---|\n| 1 |"


def test_tallies_count_what_is_there():
    assert tally(FINDINGS[:1]) == "Of 1 claims, some tested on several data: 1 hold, 0 fail."


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (7.7, 1.1e-15, "7.70 ± 0"),
        (0.0, 0.0, "0 ± 0"),
        (-11.46, 1.26, "−11.5 ± 1.3"),
        (3e-5, 4e-6, "(3.00 ± 0.40) × 10⁻⁵"),
        (0.001, 0.2, "0.00 ± 0.20"),
    ],
)
def test_numbers_with_errors_are_written_as_people_do(value, error, text):
    assert with_error(value, error) == text


@pytest.mark.parametrize("value", [1.234e-300, -9.99e-5, 0.000996, 0.5, 9.96, 99_999.0, 999_999.0, 3.7e12])
@pytest.mark.parametrize("digits", [1, 2, 4])
def test_plain_numbers_read_back(value, digits):
    text = plain(value, digits).replace(",", "").replace("−", "-")
    scientific = re.fullmatch(r"(?:(.+) × )?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", text)
    read = float(text) if scientific is None else float(f"{scientific[1] or 1}e{scientific[2].translate(LOWERED)}")
    assert read == pytest.approx(value, rel=0.51 * 10.0 ** (1 - digits))


def test_emphasis_is_kept():
    assert plain_stars("must read *smaller*, φ*(z) and x*") == "must read *smaller*, φ\\*(z) and x\\*"
