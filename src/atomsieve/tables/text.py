"""Tables in text: NumPy's reader turns the columns of numbers into one matrix, to the last bit and without a copy."""

import re
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomsieve.intake.whole import WHOLE, is_rounded
from atomsieve.tables.dressed import as_plain
from atomsieve.tables.errors import TableError, exclusion
from atomsieve.tables.layout import Layout, cut, is_number, lay_out, require_width
from atomsieve.tables.missing import MISSING, missing_in, require_complete, require_finite, require_whole
from atomsieve.tables.opened import opened
from atomsieve.tables.table import Selection, Table

DIGITS = re.compile(r"[+-]?\d+")
"""A whole number that is written out; other numbers are decimal, and the nearest double is what they mean."""


def read_text(path: str, selection: Selection, separator: str | None = None, header: bool | None = None) -> Table:
    """Read a table of numbers and texts."""
    layout = lay_out(path, separator, header)
    selection = selection.among(path, layout.names)
    notes = []
    names = [name for name in layout.names if selection.takes(name)]
    if layout.index in names and selection.only is None and not selection.as_text(layout.index):
        names.remove(layout.index)
        notes.append("The first column has no name and counts the rows: it is left out.")
    texts = [name for name in names if name in layout.texts or selection.as_text(name)]
    last = [name for name in selection.last if name in names and name not in texts]
    numbers = [name for name in names if name not in texts and name not in last] + last
    if numbers != list(layout.names):
        _check_widths(path, layout)
    try:
        matrix = _numbers(path, layout, numbers) if numbers else np.zeros((_count(path, layout), 0))
    except ValueError as error:
        explain(path, layout, numbers, texts, selection)
        raise TableError(f"{path} cannot be read: {error}") from error
    beside = _texts(path, layout, texts) if texts else {}
    require_complete(path, missing_in(matrix, numbers) | _blank(beside), len(matrix), selection)
    require_finite(path, matrix, numbers)
    for name in _large(matrix, numbers):
        require_whole(path, name, _rounded(_texts(path, layout, [name])[name]), selection)
    written = {"header": layout.header, "separator": layout.separator}
    read = {*numbers, *texts}
    unread = tuple(name for name in layout.names if name not in read)
    return Table(path, matrix, tuple(numbers), beside, None, written, tuple(notes), unread)


def _places(layout: Layout, names: list[str]) -> list[int]:
    where = {name: j for j, name in enumerate(layout.names)}
    return [where[name] for name in names]


def _loaded(source: Any, layout: Layout, **options: Any) -> NDArray[Any]:
    array: NDArray[Any] = np.loadtxt(
        source,
        delimiter=layout.separator,
        skiprows=int(layout.header),
        comments=None,
        quotechar='"',
        ndmin=2,
        encoding="utf-8-sig",
        **options,
    )
    return array


def _numbers(path: str, layout: Layout, names: list[str]) -> NDArray[Any]:
    """Return columns of numbers as one matrix."""
    usecols = None if names == list(layout.names) else _places(layout, names)
    whole = str(Path(path).absolute())  # NumPy would fetch an address from the network
    try:
        if layout.decimal == ".":
            matrix = _loaded(whole, layout, usecols=usecols)
        else:
            with opened(path) as file:
                matrix = _loaded((line.replace(",", ".") for line in file), layout, usecols=usecols)
    except UnicodeDecodeError:
        with opened(path) as file:
            for _ in file:
                pass
        raise
    return matrix


def _texts(path: str, layout: Layout, names: list[str]) -> dict[str, NDArray[Any]]:
    """Return columns of text."""
    found = _loaded(str(Path(path).absolute()), layout, dtype=str, usecols=_places(layout, names))
    return {name: np.char.strip(column) for name, column in zip(names, found.T, strict=True)}


def _large(matrix: NDArray[Any], names: list[str]) -> list[str]:
    """Return the columns with numbers beyond those of which doubles hold all whole ones."""
    if not matrix.size:
        return []
    sizes = np.maximum(matrix.max(axis=0), -matrix.min(axis=0))
    return [names[j] for j in np.flatnonzero(sizes >= WHOLE).tolist()]


def _rounded(texts: NDArray[Any]) -> int | None:
    """Return the first text that writes out a whole number which no double holds."""
    return next((int(text) for text in texts.tolist() if DIGITS.fullmatch(text) and is_rounded(int(text))), None)


def _blank(columns: dict[str, NDArray[Any]]) -> dict[str, int]:
    """Return how many texts of each column stand for a missing value."""
    return {name: int(np.isin(np.char.lower(column), list(MISSING)).sum()) for name, column in columns.items()}


def _body(path: str, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows below the header with their numbers, counted from the first row of the file."""
    with opened(path) as file:
        for number, row in enumerate(cut(path, file, layout.separator), 1):
            if number > layout.header:
                yield number, row


def _count(path: str, layout: Layout) -> int:
    return sum(1 for _ in _body(path, layout))


def _check_widths(path: str, layout: Layout) -> None:
    """Refuse rows of another width: where columns are chosen NumPy does not look at the others."""
    expected = len(layout.names)
    with opened(path) as file:
        plain = all(
            '"' not in line and (line.count(layout.separator) == expected - 1 or not line.strip()) for line in file
        )
    if not plain:
        for number, row in _body(path, layout):
            require_width(path, number, len(row), expected, header=layout.header)


def explain(path: str, layout: Layout, numbers: list[str], texts: list[str], selection: Selection) -> None:
    """Say why columns are not all numbers: rows of another width, texts, missing values."""
    names = [*numbers, *texts]
    places = _places(layout, names)
    missing = dict.fromkeys(names, 0)
    strange: dict[str, tuple[int, str]] = {}
    rows = 0
    for number, row in _body(path, layout):
        rows += 1
        require_width(path, number, len(row), len(layout.names), header=layout.header)
        for name, place in zip(names, places, strict=True):
            field = row[place].strip()
            if field.lower() in MISSING:
                missing[name] += 1
            elif name not in strange and not is_number(field, layout.decimal):
                strange[name] = number, field
    for name in numbers:
        if name in strange:
            raise TableError(_mixed(path, name, *strange[name], selection))
    require_complete(path, missing, rows, selection)


def _mixed(path: str, name: str, number: int, field: str, selection: Selection) -> str:
    """Return what to say about a text in a column of numbers."""
    found = f"Column {name!r} of {path} holds numbers, but {field[:40]!r} in row {number}."
    if selection.only is not None or name in selection.last:
        return f"{found} {as_plain(field)}"
    return (
        f"{found} {as_plain(field)} Or leave the column out ({exclusion([name])}), or take its values as categories "
        f"(--categorical {quote(name)})."
    )
