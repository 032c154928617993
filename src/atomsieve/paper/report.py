"""One report of all experiments, as markdown and as a web page that is one file, pictures within."""

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from markdown_it import MarkdownIt

from atomsieve.intake.files import write_text
from atomsieve.paper.experiment import Finding, Section

VERDICT_WORDS = {True: "holds", False: "**fails**", None: "cannot be told at these settings"}


@dataclass(frozen=True)
class Report:
    """Title, opening words, sections, and every verdict in one table."""

    title: str
    opening: str
    sections: Sequence[Section]
    verdicts: Sequence[Finding]

    def markdown(self) -> str:
        """Return the report as markdown; pictures are files beside it."""
        parts = [f"# {self.title}", self.opening]
        parts += [f"## {section.title}\n\n{section.text.strip()}" for section in self.sections]
        if self.verdicts:
            parts.append(f"## Claims and verdicts\n\n{tally(self.verdicts)}\n\n{verdict_table(self.verdicts)}")
        return "\n\n".join(parts) + "\n"

    def write(self, folder: Path) -> list[Path]:
        """Write `report.md` and `report.html`; return their paths."""
        text = self.markdown()
        written = [folder / "report.md", folder / "report.html"]
        write_text(written[0], text)
        write_text(written[1], page(self.title, text, folder))
        return written


def figure(file: str, caption: str) -> str:
    """Return a picture with the caption under it."""
    return f"![{Path(file).stem}]({file})\n\n{caption}"


def table(frame: pd.DataFrame, caption: str = "") -> str:
    """Return a table in markdown, under its caption; columns are shown as they are, so format numbers first.

    >>> print(table(pd.DataFrame({"p": ["2", "∞"], "gap": ["1.79e-04", "1.45e-05"]})))
    | p | gap |
    |---|---|
    | 2 | 1.79e-04 |
    | ∞ | 1.45e-05 |
    """
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in frame.itertuples(index=False)]
    lines = [list(map(str, frame.columns)), *cells]
    rows = [f"| {' | '.join(line)} |" for line in lines]
    return (f"{caption}\n\n" if caption else "") + "\n".join([rows[0], "|" + "---|" * frame.shape[1], *rows[1:]])


def verdict_table(verdicts: Sequence[Finding]) -> str:
    """Return claims, where they stand, what was measured and the verdict."""
    rows = [(verdict.claim, verdict.where, verdict.measured, VERDICT_WORDS[verdict.holds]) for verdict in verdicts]
    return table(pd.DataFrame(rows, columns=["claim", "where", "what we measured", "verdict"]))


def tally(verdicts: Sequence[Finding]) -> str:
    """Return how many claims hold, in a sentence."""
    answers = [VERDICT_WORDS[verdict.holds] for verdict in verdicts]
    held, failed, untold = (answers.count(word) for word in VERDICT_WORDS.values())
    rest = f", {untold} cannot be told" if untold else ""
    return f"Of {len(verdicts)} claims, some tested on several data: {held} hold, {failed} fail{rest}."


def page(title: str, markdown: str, folder: Path) -> str:
    """Return markdown as a web page, with the pictures of a folder embedded."""

    def embed(match: re.Match[str]) -> str:
        data = base64.b64encode((folder / match[1]).read_bytes()).decode()
        return f'src="data:image/png;base64,{data}"'

    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    body = re.sub(r'src="([^":]+\.png)"', embed, body)
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{STYLE_SHEET}
</style>
<main>
{body}</main>
</html>
"""


STYLE_SHEET = """
body { background: #fff; color: #1d1d1f; font: 17px/1.55 Charter, "Bitstream Charter", Cambria, Georgia, serif; }
main { margin: 3rem auto 5rem; max-width: 46rem; padding: 0 1.2rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin-bottom: 1.5rem; }
h2 { font-size: 1.3rem; margin: 3rem 0 .8rem; }
h3 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
img { display: block; margin: 1.5rem auto .5rem; max-width: 100%; }
p:has(img) { margin-bottom: 0; }
p:has(img) + p { color: #444; font-size: .9rem; line-height: 1.45; margin: .3rem 1.5rem 1.8rem; }
table { border-bottom: 1px solid #999; border-collapse: collapse; border-top: 2px solid #333; font-size: .82rem;
  line-height: 1.4; margin: 1rem 0 2rem; width: 100%; }
th { border-bottom: 1px solid #999; font-weight: 600; }
td, th { padding: .3rem .55rem; text-align: left; vertical-align: top; }
tbody tr:nth-child(even) { background: #f7f7f5; }
code { font-size: .85em; }
strong { font-weight: 650; }
""".strip()
