"""How a text file is laid out: separator, header, decimal sign, and what its columns hold, from its first lines."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from atomsieve.tables.errors import TableError, listed
from atomsieve.tables.missing import MISSING
from atomsieve.tables.opened import opened

SAMPLE_LINES, SAMPLE_CHARACTERS = 200, 1 << 22
"""How much of a file is looked at."""

SEPARATORS = (",", ";", "\t", "|")
NAMES_OF_SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "space": " "}
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Layout:
    """Separator, header and columns of a text file."""

    separator: str
    header: bool
    decimal: str
    names: tuple[str, ...]
    texts: frozenset[str]
    """Columns in which no number was seen."""

    index: str | None
    """A nameless first column that counts the rows."""


def lay_out(path: str, separator: str | None = None, header: bool | None = None) -> Layout:
    """Find the layout of a text file; what is given is not asked about."""
    rows, separator = _first_rows(path, separator)
    decimal = "," if separator != "," and _decimal_comma(rows) else "."
    header = not all(is_number(field, decimal) for field in rows[0]) if header is None else header
    body = rows[1:] if header else rows
    if not body:
        raise TableError(f"{path} has a header and no rows: there is nothing to fit.")
    width = len(rows[0])
    for number, row in enumerate(body, 2 if header else 1):
        require_width(path, number, len(row), width, header=header)
    names, index = _names(path, rows[0] if header else [""] * width, body)
    columns = list(zip(*body, strict=True))
    texts = frozenset(name for name, column in zip(names, columns, strict=True) if _is_text(column, decimal))
    return Layout(separator, header, decimal, names, texts, index)


def is_number(field: str, decimal: str = ".") -> bool:
    """Whether a field reads as a number."""
    try:
        float(field if decimal == "." else field.replace(",", "."))
    except ValueError:
        return False
    return "_" not in field  # Python reads 1_000, files do not mean it


def require_width(path: str, number: int, width: int, expected: int, *, header: bool) -> None:
    """Refuse a row that has more or fewer fields than the first."""
    if width != expected:
        first = "the header" if header else "the first row"
        raise TableError(
            f"Row {number} of {path} has {width} fields, {first} has {expected}. Put quotes around text that contains "
            "the separator, or name the separator by --separator."
        )


def cut(path: str, lines: Iterable[str], separator: str) -> Iterator[list[str]]:
    """Yield the fields of each row that is not empty."""
    try:
        yield from filter(None, csv.reader(lines, delimiter=separator))
    except csv.Error as error:
        raise TableError(f"{path} cannot be cut into columns: {error}. Is a quotation mark not closed?") from None


def _first_rows(path: str, separator: str | None) -> tuple[list[list[str]], str]:
    """Return the first rows, cut at the separator."""
    lines, size = [], 0
    with opened(path) as file:
        for line in file:
            if line.strip():
                lines.append(line)
                size += len(line)
            if len(lines) >= SAMPLE_LINES or (size > SAMPLE_CHARACTERS and len(lines) > 2):
                break
    if not lines:
        raise TableError(f"{path} is empty.")
    if "\0" in lines[0]:
        raise TableError(f"{path} is no text. It may be a spreadsheet: save it as CSV first.")
    chosen = _sniffed(path, lines) if separator is None else NAMES_OF_SEPARATORS.get(separator, separator)
    if len(chosen) != 1:
        raise TableError(
            f"--separator must be one character or one of {listed(NAMES_OF_SEPARATORS)}, got {separator!r}."
        )
    return [[field.strip() for field in row] for row in cut(path, lines, chosen)], chosen


def _sniffed(path: str, lines: Sequence[str]) -> str:
    """Return the separator that cuts most of the lines into the same number of fields, more than one."""
    best = (0.0, 0, ",")
    for separator in SEPARATORS if not path.endswith((".tsv", ".tsv.gz")) else ("\t",):
        try:
            widths = Counter(map(len, cut(path, islice(lines, 50), separator)))
        except TableError:  # a line of many fields is one very long field by another separator
            continue
        width, times = widths.most_common(1)[0]
        if width > 1:
            best = max(best, (times / widths.total(), width, separator), key=lambda found: found[:2])
    return best[2]


def _decimal_comma(rows: Sequence[Sequence[str]]) -> bool:
    fields = [field for row in rows[1:] for field in row]
    return any(DECIMAL_COMMA.fullmatch(f) for f in fields) and not any("." in f and is_number(f) for f in fields)


def _is_text(column: Sequence[str], decimal: str) -> bool:
    held = [field for field in column if field.lower() not in MISSING]
    return bool(held) and not any(is_number(field, decimal) for field in held)


def _names(path: str, header: Sequence[str], body: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], str | None]:
    """Return names of all columns, column1 and so on where there are none, and the name of a column of row numbers."""
    names = tuple(field or f"column{j}" for j, field in enumerate(header, 1))
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise TableError(f"{path} has several columns of the same name: {listed(twice)}. Rename them in the header.")
    if any(header) and not header[0] and _counts([row[0] for row in body]):
        return names, names[0]
    return names, None


def _counts(column: Sequence[str]) -> bool:
    """Whether a column is 0, 1, 2... or 1, 2, 3..."""
    return column[0] in ("0", "1") and column == [str(k) for k in range(int(column[0]), int(column[0]) + len(column))]
