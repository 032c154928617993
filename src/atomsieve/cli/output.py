"""What commands write: tables as CSV, and files that a user names."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from shlex import quote
from typing import Any

from atomsieve.cli.said import NotWrittenError


def csv_text(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def require_folder(file: Path) -> None:
    """Refuse a file in a folder that is not there, before the work begins."""
    if not file.parent.exists():
        raise NotWrittenError(
            f"{file} (--out) cannot be written: there is no folder {file.parent}. Make it first: mkdir -p "
            f"{quote(str(file.parent))}."
        )


def write_file(file: Path, text: str) -> None:
    """Write a file, all of it or nothing."""
    from atomsieve.intake.files import write_text  # noqa: PLC0415 -- what help does not need

    try:
        write_text(file, text)
    except OSError as error:
        raise NotWrittenError(not_written(f"{file} (--out)", error)) from None


def not_written(what: str, error: OSError) -> str:
    """Say why something could not be written."""
    return f"{what} cannot be written: {(error.strerror or str(error)).rstrip('.')}."
