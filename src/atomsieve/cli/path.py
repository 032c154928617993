"""`atomsieve path`: which features enter the model as the penalty falls."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from atomsieve.cli import options
from atomsieve.cli.choices import Wish
from atomsieve.cli.intake import Job, Source, job
from atomsieve.cli.output import csv_text, require_folder, write_file
from atomsieve.cli.said import RefusedError, err, in_sentences, out, print_json

SHOWN = 16
"""Strengths shown in the terminal; all are in the file."""


def path(  # noqa: PLR0913, PLR0917 -- the options of the command
    data: options.DataFile,
    target: options.Target = None,
    file: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FILE", help="A CSV file for all coefficients.", rich_help_panel=options.OUTPUT
        ),
    ] = Path("path.csv"),
    loss: options.LossWord = "auto",
    gauge: options.GaugeWord = "l1",
    groups: options.Groups = None,
    unpenalized: options.Unpenalized = None,
    lower: options.Lower = None,
    upper: options.Upper = None,
    standardize: options.Standardize = True,
    delta: options.Delta = 1.0,
    count: Annotated[
        int, typer.Option("--count", min=2, metavar="N", help="How many strengths.", rich_help_panel=options.STRENGTH)
    ] = 100,
    offset: options.Offset = None,
    exposure: options.Exposure = None,
    weights: options.Weights = None,
    exclude: options.Exclude = None,
    categorical: options.Categorical = None,
    separator: options.Separator = None,
    header: options.Header = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Seconds in all; the path ends with the strengths that it got to, largest first.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Follow the model from no features to many, as the linear penalty falls, and write all coefficients.

    Example: atomsieve path patients.csv --target outcome
    """
    with in_sentences():
        wish = Wish(
            loss,
            gauge,
            fraction=0.1,
            standardize=standardize,
            delta=delta,
            time_limit=time_limit,
            groups=None if groups is None else str(groups),
            unpenalized=tuple(unpenalized or ()),
            lower=tuple(lower or ()),
            upper=tuple(upper or ()),
        )
        columns = (tuple(exclude or ()), tuple(categorical or ()))
        source = Source(str(data), target, offset, exposure, weights, *columns, separator, header)
        require_folder(file)
        work = job(source, wish)
        walks = followed(work, count, time_limit, silent=json or quiet)
        write_file(file, path_csv(walks))
        notes = [*work.notes, *cut_short(walks, count)]
        if json:
            paths = [walk.content() for walk in walks]
            print_json({"command": "path", "file": str(file), "paths": paths, "notes": notes})
        elif not quiet:
            _tell(source, work, walks, notes)
            out().print(f"Written: {file}", markup=False)


@dataclass(frozen=True, eq=False)
class Walk:
    """The path of one problem."""

    label: str | None
    names: Sequence[str]
    slopes: Any
    coefs: Any
    intercepts: Any
    explained: Any
    """The part of the loss at x = 0 that is gone."""

    def content(self) -> dict[str, Any]:
        """Return strengths, counts and features as plain data."""
        rows = [
            {"strength": float(slope), "features": int((coef != 0).sum()), "explained": float(part)}
            for slope, coef, part in zip(self.slopes, self.coefs, self.explained, strict=True)
        ]
        return ({} if self.label is None else {"class": self.label}) | {"steps": rows}

    def entering(self, k: int) -> list[str]:
        """Return the features that are in the model for the first time at a strength."""
        before = (self.coefs[:k] != 0).any(axis=0)
        return [self.names[j] for j in range(len(self.names)) if self.coefs[k][j] != 0 and not before[j]]


def followed(work: Job, count: int, time_limit: float | None, *, silent: bool) -> list[Walk]:
    """Follow the path of each problem of an estimator."""
    import numpy as np  # noqa: PLC0415 -- slow to import

    from atomsieve.cli.live import live  # noqa: PLC0415
    from atomsieve.estimators.task import TrainingData  # noqa: PLC0415
    from atomsieve.run.path import path as follow  # noqa: PLC0415

    console, samples, model = err(), work.samples, work.model
    console.quiet = silent
    try:
        data = TrainingData.of(model, samples.X, samples.y, samples.weights, samples.offset, reset=True)
        task = model._task(data)
        problems = task.problems(data)
        with live(console, "Following the path", len(problems), time_limit):
            share = None if time_limit is None else time_limit / len(problems)
            found = [follow(problem, n=count, time_limit=share) for problem in problems]
    except (TypeError, ValueError) as error:
        raise RefusedError(f"These data cannot be fitted: {error}") from error
    walks = []
    for k, one in enumerate(found):
        start = one.problem.baseline
        losses = np.array(
            [result.objective - result.problem.penalty.value(result.point.state.mass) for result in one.results]
        )
        coefs = one.coefs.reshape(len(one.slopes), len(samples.columns), -1)
        for output in range(coefs.shape[2]):
            label = _label(work, len(found), coefs.shape[2], k + output)
            constants = one.intercepts.reshape(len(one.slopes), -1)[:, output]
            walks.append(Walk(label, samples.columns, one.slopes, coefs[:, :, output], constants, 1 - losses / start))
    return walks


def _label(work: Job, problems: int, outputs: int, which: int) -> str | None:
    return None if problems * outputs == 1 or work.reading.labels is None else str(work.reading.labels[which])


def cut_short(walks: Sequence[Walk], count: int) -> list[str]:
    """Say that time was up before the end of a path."""
    least = min(len(walk.slopes) for walk in walks)
    if least == count:
        return []
    return [
        f"The time limit ended the path after {least} of {count} strengths, the last of which may not be solved well."
    ]


def path_csv(walks: Sequence[Walk]) -> str:
    """Return strengths, counts, intercepts and the coefficients of all features that are ever in the model."""
    import numpy as np  # noqa: PLC0415 -- slow to import

    used = np.flatnonzero(np.any([(walk.coefs != 0).any(axis=0) for walk in walks], axis=0)).tolist()
    several = len(walks) > 1
    names = [walks[0].names[j] for j in used]
    rows = (
        [*([walk.label] if several else []), *step.values(), *map(repr, [constant, *coef[used].tolist()])]
        for walk in walks
        for step, constant, coef in zip(walk.content()["steps"], walk.intercepts.tolist(), walk.coefs, strict=True)
    )
    return csv_text([*(["class"] if several else []), "strength", "features", "explained", "intercept", *names], rows)


def _tell(source: Source, work: Job, walks: Sequence[Walk], notes: Sequence[str]) -> None:
    import numpy as np  # noqa: PLC0415 -- slow to import

    from atomsieve.display.numbers import column  # noqa: PLC0415
    from atomsieve.display.numbers import count as tally  # noqa: PLC0415
    from atomsieve.display.table import Column, Section  # noqa: PLC0415
    from atomsieve.tables.errors import listed  # noqa: PLC0415

    console = out()
    rows, features = work.shape
    what = f"{tally(rows, 'row')}, {tally(features, 'feature')}"
    console.print(f"{source.path}: {what}; target {work.reading.target}.", markup=False)
    for note in notes:
        console.print(f"Note: {note}", style="yellow", markup=False)
    for walk in walks:
        steps = walk.content()["steps"]
        chosen = np.unique(np.linspace(0, len(steps) - 1, SHOWN).astype(int)).tolist()
        spans = [range(last + 1, k + 1) for last, k in zip([-1, *chosen], chosen, strict=False)]
        joining = [[name for k in span for name in walk.entering(k)] for span in spans]
        columns = [
            Column("strength", column(steps[k]["strength"] for k in chosen), right=True),
            Column("features", [str(steps[k]["features"]) for k in chosen], right=True),
            Column("explained", [f"{steps[k]['explained']:.1%}" for k in chosen], right=True),
            Column("in the model from here on", [listed(names) for names in joining]),
        ]
        table = Section(columns, "" if walk.label is None else f"class {walk.label}")
        console.print(f"\n{table.text()}\n", markup=False, highlight=False, soft_wrap=True)
