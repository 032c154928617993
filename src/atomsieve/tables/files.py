"""Read a data file of any format that is known, by its ending or, where that says nothing, by its first line."""

import re
from pathlib import Path

from atomsieve.tables.archives import read_npz, read_parquet, read_svmlight
from atomsieve.tables.errors import TableError, listed
from atomsieve.tables.opened import OPENERS, opened, require_file
from atomsieve.tables.table import Selection, Table
from atomsieve.tables.text import read_text

TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat", ".data")
SVMLIGHT = (".svm", ".libsvm", ".svmlight")
PARQUET = (".parquet", ".pq")
NPZ = (".npz",)
SPREADSHEETS = (".xls", ".xlsx", ".ods")

SVMLIGHT_LINE = re.compile(r"\s*[-+.\deE]+(\s+qid:\d+)?(\s+\d+:[-+.\deE]+)+\s*(#.*)?")


def read_table(
    path: str, selection: Selection | None = None, *, separator: str | None = None, header: bool | None = None
) -> Table:
    """Read a data file; separator and header are for text, and found if they are not given."""
    require_file(path)
    selection = Selection() if selection is None else selection
    if Path(path).stat().st_size == 0:
        raise TableError(f"{path} is empty.")
    ending = ending_of(path)
    if ending in NPZ:
        return read_npz(path, selection)
    if ending in PARQUET:
        return read_parquet(path, selection)
    if ending in SVMLIGHT or (ending not in TEXT and _looks_like_svmlight(path)):
        return read_svmlight(path, selection)
    if ending in SPREADSHEETS:
        raise TableError(f"{path} is a spreadsheet: save it as CSV first.")
    if ending not in TEXT and ending:
        known = listed([*TEXT[:2], *PARQUET[:1], *SVMLIGHT, *NPZ])
        raise TableError(f"{path} ends in {ending!r}, which is no format that is known here: {known}, also with .gz.")
    return read_text(path, selection, separator, header)


def ending_of(path: str) -> str:
    """Return the ending that names the format, without that of a compression.

    >>> ending_of("data/a.CSV.gz"), ending_of("a9a.bz2")
    ('.csv', '')
    """
    place = Path(path)
    return (Path(place.stem) if place.suffix.lower() in OPENERS else place).suffix.lower()


def _looks_like_svmlight(path: str) -> bool:
    try:
        with opened(path) as file:
            line = next((line for line in file if line.strip() and not line.startswith("#")), "")
    except TableError:
        return False
    return (
        SVMLIGHT_LINE.fullmatch(line.rstrip("\n")[:10_000].rsplit(" ", 1)[0] if len(line) > 10_000 else line.strip())
        is not None
    )
