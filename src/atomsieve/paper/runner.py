"""Run experiments one after another: measure, draw, judge, and write the report."""

from collections.abc import Callable, Sequence
from pathlib import Path

from atomsieve.paper import load
from atomsieve.paper.cache import Cache
from atomsieve.paper.experiment import Progress
from atomsieve.paper.page import write_report
from atomsieve.paper.report import Chapter, Report

TITLE = "Safe screening for the generalized conditional gradient method, measured"

OPENING = """
What *Safe Screening for the Generalized Conditional Gradient Method* (Y. Sun and F. Bach, 2020) shows in its figures
and claims in its theorems, measured again with `atomsieve`.
""".strip()

NOTES = """
A claim **holds** or **fails** as it is printed; where it fails, what is said of it gives the right statement. It is
**open** where these settings cannot tell. Where a claim is in words, what counts as holding was settled while the
experiments were written, with results in view: read the measurement beside the verdict.

Chapters count figures by experiment: Figures 1 to 4 here are Figures 2 to 5 of the paper, whose Figure 1 is a drawing.
Where a claim stands is told in the numbers of the paper. Slips are counted as in the documentation, *Mathematics*.
Seeds are fixed, and every number is in the CSV files of the folder `cache`, with its settings.
""".strip()

QUICK = "**A quick run**: settings are smaller than the paper's, so that numbers differ from those of a full one.\n\n"


def reproduce(names: Sequence[str], out: Path, *, quick: bool, progress: Callable[[str], Progress]) -> Report:
    """Run experiments by name and write the report into a folder; `progress(name)` shows how far each one is."""
    cache = Cache(out / "cache")
    chapters = []
    for experiment in map(load, names):
        tables = experiment.run(experiment.settings(quick), cache, progress(experiment.name))
        experiment.draw(tables, out)
        chapters.append(Chapter(experiment.section(tables), experiment.verdicts(tables)))
        report = Report(TITLE, OPENING, QUICK * quick + NOTES, chapters)
        write_report(report, out)  # as far as it goes: a later experiment may fail
    return report
