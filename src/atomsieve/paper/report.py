"""One report of all experiments, as markdown: verdicts first, then a chapter for each."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from atomsieve.paper.experiment import Finding, Section


@dataclass(frozen=True)
class Verdict:
    """A word for a verdict, its plural in counts, and a sign for those who do not see colours."""

    word: str
    plural: str
    sign: str


VERDICTS = {
    True: Verdict("holds", "hold", "✓"),
    False: Verdict("fails", "fail", "✗"),
    None: Verdict("open", "open", "?"),
}


def verdict_of(finding: Finding) -> Verdict:
    """Return the word for a finding, which may hold a truth value of NumPy."""
    return VERDICTS[None if finding.holds is None else bool(finding.holds)]


@dataclass(frozen=True)
class Chapter:
    """What one experiment says: a section of text, and what it says of the paper."""

    section: Section
    verdicts: Sequence[Finding]

    @property
    def title(self) -> str:
        """The heading."""
        return self.section.title

    @property
    def short(self) -> str:
        """The first words of the heading.

        >>> Chapter(Section("Figure 1 (2 in the paper): the gap", ""), []).short
        'Figure 1'
        """
        return re.split(r"[:(]", self.title)[0].strip()

    @property
    def anchor(self) -> str:
        """The heading as the end of an address, as readers of markdown make it.

        >>> Chapter(Section("Figure 1: the gap (varying p)", ""), []).anchor
        'figure-1-the-gap-varying-p'
        """
        return re.sub(r"[^\w\- ]", "", self.title.lower()).replace(" ", "-")


@dataclass(frozen=True)
class Report:
    """Title, a sentence on what this is, notes on how to read it, and a chapter for each experiment."""

    title: str
    opening: str
    notes: str
    chapters: Sequence[Chapter]

    @property
    def verdicts(self) -> list[Finding]:
        """All verdicts, in the order of the report."""
        return [finding for chapter in self.chapters for finding in chapter.verdicts]

    def markdown(self) -> str:
        """Return the report as markdown; pictures are files beside it."""
        parts = [f"# {self.title}", self.opening]
        if self.verdicts:
            parts.append(f"**{tally(self.verdicts)}**")
        parts.append(self._contents())
        if self.verdicts:
            parts.append(f"## Verdicts\n\n{index(self.chapters)}")
        parts.append(f"## How to read this\n\n{self.notes}")
        parts += [chapter_text(chapter) for chapter in self.chapters]
        return "\n\n".join(parts) + "\n"

    def _contents(self) -> str:
        links = ["- [Verdicts](#verdicts)"] if self.verdicts else []
        links.append("- [How to read this](#how-to-read-this)")
        links += [f"- [{chapter.title}](#{chapter.anchor}){_counted(chapter)}" for chapter in self.chapters]
        return "## Contents\n\n" + "\n".join(links)


def _counted(chapter: Chapter) -> str:
    found = [
        f"{count} {verdict.word if count == 1 else verdict.plural}"
        for verdict in VERDICTS.values()
        if (count := counts(chapter.verdicts)[verdict.word])
    ]
    return f": {', '.join(found)}" if found else ""


def chapter_text(chapter: Chapter) -> str:
    """Return a chapter as markdown: the section, and under it its claims."""
    text = f"## {chapter.title}\n\n{chapter.section.text.strip()}"
    return f"{text}\n\n### Claims\n\n{verdict_table(chapter.verdicts)}" if chapter.verdicts else text


def figure(file: str, caption: str) -> str:
    """Return a picture with the caption under it."""
    return f"![{Path(file).stem}]({file})\n\n{caption}"


def table(frame: pd.DataFrame, caption: str = "") -> str:
    """Return a table in markdown, under its caption; columns are shown as they are, so format numbers first.

    >>> print(table(pd.DataFrame({"p": ["2", "∞"], "gap": ["1.8 × 10⁻⁴", "1.5 × 10⁻⁵"]})))
    | p | gap |
    |---|---|
    | 2 | 1.8 × 10⁻⁴ |
    | ∞ | 1.5 × 10⁻⁵ |
    """
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in frame.itertuples(index=False)]
    lines = [list(map(str, frame.columns)), *cells]
    rows = [f"| {' | '.join(line)} |" for line in lines]
    return (f"{caption}\n\n" if caption else "") + "\n".join([rows[0], "|" + "---|" * frame.shape[1], *rows[1:]])


def plain_stars(text: str) -> str:
    r"""Return text in which the stars of formulas are no marks of emphasis; `*words*` still are.

    >>> print(plain_stars("z*ᵀx* must read *smaller*"))
    z\*ᵀx\* must read *smaller*
    """
    return re.sub(r"(?<!\w)(\*[A-Za-z ]+\*)(?!\w)|\*", lambda star: star[1] or r"\*", text)


def index(chapters: Sequence[Chapter]) -> str:
    """Return every claim in a line: the verdict, where the paper makes it, and a link to the chapter."""
    rows = [
        (_marked(finding), plain_stars(finding.claim), finding.where, f"[{chapter.short}](#{chapter.anchor})")
        for chapter in chapters
        for finding in chapter.verdicts
    ]
    return table(pd.DataFrame(rows, columns=["verdict", "claim", "in the paper", "chapter"]))


def verdict_table(verdicts: Sequence[Finding]) -> str:
    """Return claims, where they stand, what was measured and the verdict."""
    rows = [
        (_marked(finding), plain_stars(finding.claim), finding.where, plain_stars(finding.measured))
        for finding in verdicts
    ]
    return table(pd.DataFrame(rows, columns=["verdict", "claim", "in the paper", "what we measured"]))


def _marked(finding: Finding) -> str:
    verdict = verdict_of(finding)
    return f"{verdict.sign} {verdict.word}"


def counts(verdicts: Sequence[Finding]) -> dict[str, int]:
    """Return how many claims hold, fail and are open."""
    found = [verdict_of(finding) for finding in verdicts]
    return {verdict.word: found.count(verdict) for verdict in VERDICTS.values()}


def tally(verdicts: Sequence[Finding]) -> str:
    """Return how many claims hold, in a sentence."""
    found = counts(verdicts)
    rest = f", {found['open']} {'is' if found['open'] == 1 else 'are'} open at these settings" if found["open"] else ""
    return (
        f"Of {len(verdicts)} claims, some tested on several data: {found['holds']} hold, {found['fails']} fail{rest}."
    )
