"""`atomsieve predict`: what a saved model says of other data."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from atomsieve.cli import options
from atomsieve.cli.output import csv_text, require_folder, write_file
from atomsieve.cli.said import RefusedError, err, in_sentences

if TYPE_CHECKING:
    from atomsieve.standalone.predict import SavedModel
    from atomsieve.tables import Reading


def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="The folder that fit wrote, or its model.json.", show_default=False)
    ],
    data: options.DataFile,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Columns of DATA to write before the predictions, with commas between them, such as id; or all.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="A CSV file for the predictions; standard output by default.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Predict the target for the rows of a data file, as CSV; for classes with the probability of each.

    Only the columns that the model uses are needed, and the offset or exposure if it was fitted with one.

    Example: atomsieve predict fitted new.csv --keep id --out predictions.csv
    """
    with in_sentences():
        if file is not None:
            require_folder(file)
        text, rows = predictions(model, str(data), tuple(keep or ()))
        if file is None:
            typer.echo(text, nl=False)
        else:
            write_file(file, text)
            if not quiet:
                err().print(f"{rows} predictions written to {file}", markup=False)


def predictions(place: Path, data: str, keep: Sequence[str] = ()) -> tuple[str, int]:
    """Return predictions as CSV, after columns of the data that are to be kept, and their number."""
    from atomsieve.standalone.predict import load_model  # noqa: PLC0415 -- NumPy
    from atomsieve.tables.opened import require_file  # noqa: PLC0415

    path = place / "model.json" if place.is_dir() else place
    require_file(str(path))
    try:
        model = load_model(path)
    except ValueError as error:
        raise RefusedError(f"{error} Name the folder that fit wrote first, then the data.") from None
    reading = _reading(model, path.parent / "data.json", data)
    columns = _predicted(model, reading, data)
    kept = _kept(data, keep, reading) if keep else {}
    both = sorted(kept.keys() & columns)
    if both:
        raise RefusedError(f"{data} has a column {both[0]!r} of its own (--keep): rename it, or keep other columns.")
    held = kept | columns
    return csv_text(held, zip(*held.values(), strict=True)), len(columns["prediction"])


def _reading(model: "SavedModel", record: Path, data: str) -> "Reading":
    """Return how to read what a model uses."""
    from atomsieve.tables import Reading, read_table  # noqa: PLC0415 -- NumPy

    names = tuple(model.names or ())
    if record.exists():
        return Reading.load(record).used(names)
    if model.names is None:
        return Reading(read_table(data).names)
    offset = model.offset or {"column": None, "logarithm": False}
    return Reading(names, **{"exposure" if offset["logarithm"] else "offset": offset["column"]})


def _predicted(model: "SavedModel", reading: "Reading", data: str) -> dict[str, list[Any]]:
    """Return the predictions and, for classes, their probabilities."""
    from atomsieve.tables import read_table  # noqa: PLC0415 -- NumPy

    samples = reading.take(read_table(data, reading.selection(), **reading.text_layout))
    given: Any = samples if model.names is not None else samples.X
    try:
        columns = {"prediction": model.predict(given, samples.offset).tolist()}
        if model.classes is not None and model.inverse_link != "sign":
            likely = model.predict_proba(given, samples.offset)
            columns |= {f"probability of {c}": likely[:, k].tolist() for k, c in enumerate(model.classes.tolist())}
    except ValueError as error:
        raise RefusedError(f"{data}: {error}") from None
    return columns


def _kept(data: str, keep: Sequence[str], reading: "Reading") -> dict[str, list[str]]:
    """Return columns of the data as they are written."""
    from atomsieve.tables import Selection, read_table  # noqa: PLC0415 -- NumPy

    only = None if tuple(keep) == ("all",) else frozenset(keep)
    table = read_table(data, Selection(only, verbatim=True), **reading.text_layout)
    return {name: table.texts(name) for name in table.columns}
