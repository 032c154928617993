"""The report as a web page that is one file: contents at the side, verdicts in colour and in words, pictures within."""

import base64
import re
import struct
from collections.abc import Sequence
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt

from atomsieve.intake.files import write_text
from atomsieve.paper.experiment import Finding
from atomsieve.paper.pictures import DOTS_PER_INCH
from atomsieve.paper.report import VERDICTS, Chapter, Report, counts, plain_stars, tally, verdict_of
from atomsieve.paper.style_sheet import STYLE_SHEET

MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")

LEVEL = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "−0123456789")

PIXELS_PER_INCH = 110
"""How large pictures are shown where there is room."""


def write_report(report: Report, folder: Path) -> list[Path]:
    """Write `report.md` and `report.html`; return their paths."""
    written = [folder / "report.md", folder / "report.html"]
    write_text(written[0], report.markdown())
    write_text(written[1], page(report, folder))
    return written


def page(report: Report, folder: Path) -> str:
    """Return a report as a web page, with the pictures of a folder embedded."""
    numbers = iter(range(1, len(report.verdicts) + 1))
    numbered = [(chapter, [(next(numbers), finding) for finding in chapter.verdicts]) for chapter in report.chapters]
    body = "\n".join(chapter_body(chapter, claims, folder) for chapter, claims in numbered)
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(report.title)}</title>
<style>
{STYLE_SHEET}
</style>
{contents(report)}
<main>
<header>
<h1>{escape(report.title)}</h1>
{MARKDOWN.render(report.opening)}</header>
{verdict_index(numbered) if report.verdicts else ""}
<section id="how-to-read-this">
<h2>How to read this</h2>
{MARKDOWN.render(report.notes)}</section>
{body}
</main>
</html>
"""


def contents(report: Report) -> str:
    """Return the list of chapters, each with its verdicts counted."""
    links = ['<li><a href="#verdicts"><b>Verdicts</b></a></li>'] if report.verdicts else []
    links.append('<li><a href="#how-to-read-this"><b>How to read this</b></a></li>')
    for chapter in report.chapters:
        rest = chapter.title.removeprefix(chapter.short)
        title = f'<b>{escape(chapter.short)}</b><span class="rest">{escape(rest)}</span>'
        links.append(f'<li><a href="#{chapter.anchor}">{title}</a>{small_counts(chapter.verdicts)}</li>')
    listed = "\n".join(links)
    return f'<nav aria-label="Contents">\n<ul>\n{listed}\n</ul>\n</nav>'


def small_counts(verdicts: Sequence[Finding]) -> str:
    """Return the counts of one chapter as signs with numbers."""
    found = counts(verdicts)
    parts = [
        f'<span class="{verdict.word}" title="{found[verdict.word]} {verdict.plural}">'
        f"{verdict.sign}&hairsp;{found[verdict.word]}</span>"
        for verdict in VERDICTS.values()
        if found[verdict.word]
    ]
    return f'<span class="tally">{" ".join(parts)}</span>' if parts else ""


def verdict_index(numbered: Sequence[tuple[Chapter, list[tuple[int, Finding]]]]) -> str:
    """Return the counts, which filter the table under them, and every claim in a line."""
    verdicts = [finding for _, claims in numbered for _, finding in claims]
    rows = "\n".join(
        f'<tr class="{verdict_of(finding).word}"><td>{badge(finding)}</td>'
        f'<td><a href="#claim-{number}">{inline(finding.claim)}</a></td><td>{inline(finding.where)}</td>'
        f'<td><a href="#{chapter.anchor}">{escape(chapter.short)}</a></td></tr>'
        for chapter, claims in numbered
        for number, finding in claims
    )
    return f"""<section id="verdicts">
<h2>Verdicts</h2>
<p>{escape(tally(verdicts))}
<span class="hint">Choose a count to see only these claims; a claim leads to what was measured.</span></p>
{cards(verdicts)}
<div class="scroll"><table class="verdicts">
<thead><tr><th>verdict</th><th>claim</th><th>in the paper</th><th>chapter</th></tr></thead>
<tbody>
{rows}
</tbody></table></div>
</section>"""


def cards(verdicts: Sequence[Finding]) -> str:
    """Return one choice for each verdict and one for all, as large counts."""
    found = counts(verdicts)
    choices = [("all", "all claims", len(verdicts))]
    choices += [
        (verdict.word, f"{verdict.sign} {verdict.plural}", found[verdict.word]) for verdict in VERDICTS.values()
    ]
    shown = [
        f'<label class="card {word}"><input type="radio" name="show" id="show-{word}"{" checked" * (word == "all")}>'
        f"<b>{count}</b> {words}</label>"
        for word, words, count in choices
    ]
    return f'<div class="cards" role="radiogroup" aria-label="Claims to show">{"".join(shown)}</div>'


def badge(finding: Finding) -> str:
    """Return a verdict as a sign and a word."""
    verdict = verdict_of(finding)
    return f'<span class="badge {verdict.word}">{verdict.sign}&nbsp;{verdict.word}</span>'


def chapter_body(chapter: Chapter, claims: Sequence[tuple[int, Finding]], folder: Path) -> str:
    """Return a chapter: its text, and its claims with what was measured."""
    text = dressed(MARKDOWN.render(chapter.section.text), folder)
    listed = "\n".join(
        f'<li id="claim-{number}">{badge(finding)} <b>{inline(finding.claim)}</b> '
        f'<span class="where">{inline(finding.where)}</span><p>{inline(finding.measured)}</p></li>'
        for number, finding in claims
    )
    ending = f'<h3>Claims</h3>\n<ul class="claims">\n{listed}\n</ul>\n' if claims else ""
    return f'<section id="{chapter.anchor}">\n<h2>{escape(chapter.title)}</h2>\n{text}{ending}</section>'


def inline(text: str) -> str:
    """Return a line of markdown as HTML."""
    return raised(MARKDOWN.renderInline(plain_stars(text)))


def raised(html: str) -> str:
    """Return text with raised exponents, which sections write as `<sup>`, their only tag, or as powers of ten.

    >>> raised("t&lt;sup&gt;−0.8&lt;/sup&gt; and 3 × 10⁻⁵")
    't<sup>−0.8</sup> and 3 × 10<sup>−5</sup>'
    """
    html = html.replace("&lt;sup&gt;", "<sup>").replace("&lt;/sup&gt;", "</sup>")
    return re.sub(r"(?<=10)[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda digits: f"<sup>{digits[0].translate(LEVEL)}</sup>", html)


def dressed(html: str, folder: Path) -> str:
    """Return the text of a section with pictures and their captions in it, and tables that scroll by themselves."""
    html = re.sub(
        r"<p>(<img[^>]*>)</p>\s*<p>(.*?)</p>",
        r'<figure><div class="scroll">\1</div><figcaption>\2</figcaption></figure>',
        html,
    )
    html = re.sub(r'<img src="([^":]+\.png)"', lambda match: picture_tag(folder / match[1]), html)
    html = re.sub(r"<td>([−+±∞\d][^a-zA-Z<]*)</td>", r'<td class="number">\1</td>', html)
    return raised(html.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>"))


def picture_tag(file: Path) -> str:
    """Return the beginning of an image with the picture in it, at the size it was drawn for."""
    data = file.read_bytes()
    width, height = (side * PIXELS_PER_INCH // DOTS_PER_INCH for side in struct.unpack(">II", data[16:24]))
    return f'<img width="{width}" height="{height}" src="data:image/png;base64,{base64.b64encode(data).decode()}"'
