"""`atomsieve predict`: what a saved model says of other data."""

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from atomsieve.cli import options
from atomsieve.cli.said import NotWrittenError, RefusedError, ended, err, in_sentences

if TYPE_CHECKING:
    from atomsieve.standalone.predict import SavedModel
    from atomsieve.tables import Samples


def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="model.json, or the folder that fit wrote.", show_default=False)
    ],
    data: options.DataFile,
    file: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="A CSV file for the predictions; standard output by default."),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Predict the target for the rows of a data file, as CSV; for classes with the probability of each.

    Only the columns that the model uses are read; others may be missing.

    Example: atomsieve predict fitted new.csv --out predictions.csv
    """
    with in_sentences():
        text, rows = predictions(model, data)
        if file is None:
            typer.echo(text, nl=False)
        else:
            _write(file, text)
            if not quiet:
                err().print(f"{rows} predictions written to {file}", markup=False)


def predictions(place: Path, data: Path) -> tuple[str, int]:
    """Return predictions as CSV, and their number."""
    from atomsieve.standalone.predict import load_model  # noqa: PLC0415 -- NumPy
    from atomsieve.tables.opened import require_file  # noqa: PLC0415

    path = place / "model.json" if place.is_dir() else place
    require_file(str(path))
    try:
        model = load_model(path)
    except ValueError as error:
        raise RefusedError(str(error)) from None
    samples = _samples(model, path.parent / "data.json", str(data))
    try:
        columns = _columns(model, samples)
    except ValueError as error:
        raise RefusedError(f"{data}: {error}") from None
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue(), len(samples)


def _samples(model: "SavedModel", record: Path, data: str) -> "Samples":
    """Read the columns that a model uses."""
    from atomsieve.tables import Reading, read_table  # noqa: PLC0415 -- NumPy

    names = tuple(model.names or ())
    if record.exists():
        reading = Reading.load(record).used(names)
    elif model.names is None:
        table = read_table(data)
        return Reading(table.names).take(table)
    else:
        reading = Reading(names)
    table = read_table(data, reading.selection(), **reading.text_layout)
    return reading.take(table)


def _columns(model: "SavedModel", samples: "Samples") -> dict[str, list[Any]]:
    """Return the predictions and, for classes, their probabilities."""
    given: Any = samples if model.names is not None else samples.X
    columns = {"prediction": model.predict(given, samples.offset).tolist()}
    if model.classes is not None and model.inverse_link != "sign":
        likely = model.predict_proba(given, samples.offset)
        columns |= {f"probability of {c}": likely[:, k].tolist() for k, c in enumerate(model.classes.tolist())}
    return columns


def _write(file: Path, text: str) -> None:
    from atomsieve.intake.files import write_text  # noqa: PLC0415

    try:
        write_text(file, text)
    except OSError as error:
        raise NotWrittenError(f"{file} (--out) cannot be written: {ended(error)}") from None
