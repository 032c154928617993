"""`atomsieve report`: make report.html again from findings.json."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from atomsieve.cli import options
from atomsieve.cli.said import NotWrittenError, RefusedError, ended, in_sentences, out


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that fit wrote.", show_default=False)],
    quiet: options.Quiet = False,
) -> None:
    """Make report.html again from findings.json, in the folder that fit wrote."""
    with in_sentences():
        findings = folder / "findings.json"
        if not folder.is_dir():
            raise RefusedError(f"There is no folder {folder}.")
        if not findings.exists():
            raise RefusedError(f"{folder} has no findings.json: write it by atomsieve fit DATA --out {folder}.")
        try:
            room = import_module("atomsieve.report")
            room.write_report(room.Findings.load(findings), folder / "report.html")
        except ModuleNotFoundError as error:
            raise RefusedError(f"The report needs {error.name}. In a clone: pip install '.[all]'.") from None
        except ValueError as error:
            raise RefusedError(str(error)) from None
        except OSError as error:
            raise NotWrittenError(f"{folder / 'report.html'} cannot be written: {ended(error)}") from None
        if not quiet:
            out().print(f"Written: {folder / 'report.html'}", markup=False)
