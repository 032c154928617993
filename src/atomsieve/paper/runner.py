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
and claims in its theorems, measured again with `atomsieve`. Each caption states what was found in this run; the table
at the end sets every claim beside its measurement. Seeds are fixed, and every number is in the CSV files of the folder
`cache`, with its settings. Figures are counted by experiment: 1 to 4 here are Figures 2 to 5 of the paper, whose
Figure 1 is a drawing; the table counts as this report does. Where a claim is in words, what counts as holding was
settled while the experiments were written, with results in view: read the measurement beside the verdict.
""".strip()

QUICK = "\n\n**A quick run**: settings are smaller than the paper's, so that numbers differ from those of a full one."


def reproduce(names: Sequence[str], out: Path, *, quick: bool, progress: Callable[[str], Progress]) -> Report:
    """Run experiments by name and write the report into a folder; `progress(name)` shows how far each one is."""
    cache = Cache(out / "cache")
    chapters = []
    for experiment in map(load, names):
        tables = experiment.run(experiment.settings(quick), cache, progress(experiment.name))
        experiment.draw(tables, out)
        chapters.append(Chapter(experiment.section(tables), experiment.verdicts(tables)))
        report = Report(TITLE, OPENING + QUICK * quick, chapters)
        write_report(report, out)  # as far as it goes: a later experiment may fail
    return report
