"""`atomsieve fit`: a certified sparse model from a data file."""

from math import inf
from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from atomsieve.cli import options
from atomsieve.cli.choices import FOLDS, Wish
from atomsieve.cli.intake import Job, Source, job
from atomsieve.cli.said import NOT_PROVEN, RefusedError, err, in_options, in_sentences, out, print_json

if TYPE_CHECKING:
    from atomsieve.cli.result import Fitted


def fit(  # noqa: PLR0913, PLR0917 -- the options of the command
    data: options.DataFile,
    target: options.Target = None,
    exclude: options.Exclude = None,
    categorical: options.Categorical = None,
    offset: options.Offset = None,
    exposure: options.Exposure = None,
    weights: options.Weights = None,
    separator: options.Separator = None,
    header: options.Header = None,
    loss: options.LossWord = "auto",
    gauge: options.GaugeWord = "l1",
    penalty: options.PenaltyWord = "linear",
    groups: options.Groups = None,
    unpenalized: options.Unpenalized = None,
    lower: options.Lower = None,
    upper: options.Upper = None,
    ridge: options.Ridge = 0.0,
    standardize: options.Standardize = True,
    delta: options.Delta = 1.0,
    exponent: options.Exponent = 1.5,
    strength: options.Strength = None,
    fraction: options.Fraction = None,
    features: options.Features = None,
    cv: options.Folds = None,
    select: options.Select = None,
    seed: options.Seed = 0,
    folder: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Where the files go; it is made if need be.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = Path("fitted"),
    time_limit: options.TimeLimit = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Fit a sparse model to a data file, and prove which features are in it and which are not.

    By default the loss suits the target, features are standardised, and the strength is chosen by cross-validation.

    DIR gets model.json, certificate.json, coefficients.csv, report.html and findings.json (what the report shows), and
    data.json (how the columns were read); all of them or none.

    Example: atomsieve fit patients.csv --target outcome --exclude id
    """
    with in_sentences():
        wish = Wish(
            loss=loss,
            gauge=gauge,
            penalty=penalty,
            strength=strength,
            fraction=fraction,
            features=features,
            folds=cv,
            select=select,
            standardize=standardize,
            seed=seed,
            time_limit=time_limit,
            exponent=exponent,
            delta=delta,
            ridge=ridge,
            groups=None if groups is None else str(groups),
            unpenalized=tuple(unpenalized or ()),
            lower=tuple(lower or ()),
            upper=tuple(upper or ()),
        )
        columns = (tuple(exclude or ()), tuple(categorical or ()))
        source = Source(str(data), target, offset, exposure, weights, *columns, separator, header)
        proven = run_fit(source, wish, folder, json=json, quiet=quiet)
    if not proven:
        raise typer.Exit(NOT_PROVEN)


def run_fit(source: Source, wish: Wish, folder: Path, *, json: bool = False, quiet: bool = False) -> bool:
    """Fit, write and tell; return whether anything is proven."""
    from atomsieve.cli.folder import together  # noqa: PLC0415 -- what help does not need
    from atomsieve.cli.result import STALE, Fitted, verify_command, write_all  # noqa: PLC0415
    from atomsieve.core.clock import deadline  # noqa: PLC0415

    talks = not (json or quiet)
    with together(folder, STALE) as staging:
        work = job(source, wish)
        if talks:
            _announce(source, wish, work)
        ends = inf if wish.time_limit is None else perf_counter() + wish.time_limit
        fitted = Fitted.of(work, wish, certified(work, wish, ends, silent=not talks))
        with deadline(ends):  # for the proofs along the path, in the report
            files, missing = write_all(fitted, source, folder, staging)
    if json:
        print_json(fitted.content(source, files, missing, verify_command(folder, source)))
    elif talks:
        _tell(fitted, files, missing, verify_command(folder, source))
    return fitted.proven


def certified(work: Job, wish: Wish, ends: float, *, silent: bool) -> list[str]:
    """Fit the model and prove what can be proven until time is up; return what there is to say about it."""
    import warnings  # noqa: PLC0415

    import numpy as np  # noqa: PLC0415

    from atomsieve.cli.live import live  # noqa: PLC0415
    from atomsieve.cli.result import NAMELESS  # noqa: PLC0415
    from atomsieve.estimators.notices import FORGOTTEN, UnprovenWarning  # noqa: PLC0415
    from atomsieve.estimators.solver import INSTANT  # noqa: PLC0415

    console, samples = err(), work.samples
    console.quiet = silent
    alone = work.reading.labels is None or len(work.reading.labels) == 2  # several classes are solved in turns
    rounds = (wish.folds or FOLDS) + 1 if wish.validates and alone else 1
    given = (samples.X, samples.y, samples.weights, samples.offset)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", message=NAMELESS)
        warnings.filterwarnings("ignore", message=FORGOTTEN)  # said before, in options
        try:
            with live(console, "Fitting", rounds, wish.time_limit):
                work.model.fit(*given)
            work.model.feature_names_in_ = np.array(samples.columns, dtype=object)
            left = None if wish.time_limit is None else max(ends - perf_counter(), INSTANT)
            with live(console, "Proving", 1, left):
                work.model.certify(*given, time_limit=left)
        except (TypeError, ValueError) as error:
            raise RefusedError(in_options(f"These data cannot be fitted: {error}")) from error
    told = [w for w in caught if issubclass(w.category, UserWarning) and not issubclass(w.category, UnprovenWarning)]
    return [in_options(str(warning.message)) for warning in told]


def _announce(source: Source, wish: Wish, work: Job) -> None:
    from atomsieve.display.numbers import count  # noqa: PLC0415 -- NumPy

    rows, features = work.shape
    reading = work.reading
    what = "" if reading.labels is None else f", classes {', '.join(map(str, reading.labels[:6]))}"
    more = "" if reading.labels is None or len(reading.labels) <= 6 else f" and {len(reading.labels) - 6} more"
    console = out()
    console.print(
        f"{source.path}: {count(rows, 'row')}, {count(features, 'feature')}; target {reading.target}{what}{more}.",
        markup=False,
    )
    console.print(f"Fit: {wish.words(reading.labels)}", markup=False)
    for note in work.notes:
        console.print(f"Note: {note}", style="yellow", markup=False)


def _tell(fitted: "Fitted", files: list[Path], missing: list[str], command: str) -> None:
    from atomsieve.cli.claims import counts_line  # noqa: PLC0415 -- NumPy

    console = out()
    console.print()
    summary = fitted.summary(console.width)
    console.print(summary, markup=False, highlight=False, soft_wrap=True)
    console.print()
    console.print(counts_line(fitted.parts), style="bold", markup=False)
    for sentence in fitted.sentences:
        console.print(sentence, markup=False)
    for note in (*(note for note in fitted.notes if note not in summary), *missing):
        console.print(f"Note: {note}", style="yellow", markup=False)
    console.print(f"Written: {', '.join(quote(str(file)) for file in files)}", markup=False)
    if fitted.proven:
        console.print(f"Check it: {command}", markup=False)
