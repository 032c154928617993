"""`atomsieve report`: make report.html again from findings.json."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from atomsieve.cli import options
from atomsieve.cli.output import not_written
from atomsieve.cli.said import NotWrittenError, RefusedError, in_sentences, out
from atomsieve.intake.extras import install


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that fit wrote.", show_default=False)],
    quiet: options.Quiet = False,
) -> None:
    """Make report.html again from findings.json, in the folder that fit wrote."""
    with in_sentences():
        findings = folder / "findings.json"
        if not folder.is_dir():
            raise RefusedError(f"There is no folder {folder}: name the one that fit wrote.")
        if not findings.exists():
            raise RefusedError(f"{folder} has no findings.json: write it by atomsieve fit DATA --out {folder}.")
        try:
            room = import_module("atomsieve.report")
            room.write_report(room.Findings.load(findings), folder / "report.html")
        except ModuleNotFoundError as error:
            raise RefusedError(install("The report needs", error.name)) from None
        except ValueError as error:
            raise RefusedError(str(error)) from None
        except OSError as error:
            raise NotWrittenError(not_written(str(folder / "report.html"), error)) from None
        if not quiet:
            out().print(f"Written: {folder / 'report.html'}", markup=False)
