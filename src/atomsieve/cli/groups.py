"""Groups of columns from a file: CSV lines `column,group`, or JSON, by column or by group."""

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from atomsieve.cli.said import RefusedError
from atomsieve.tables import Reading, closest
from atomsieve.tables.opened import require_file

FORMS = 'lines of column,group, or JSON: {"column": "group"} or {"group": ["column", ...]}'


def read_groups(path: Path, reading: Reading) -> dict[str, str]:
    """Return the group of each column that is named; refuse columns that are not there."""
    require_file(str(path), " (--groups)")
    try:
        text = path.read_text(encoding="utf-8-sig")
        found = _from_json(json.loads(text)) if text.lstrip().startswith("{") else _from_lines(text)
    except ValueError as error:
        raise RefusedError(f"{path} (--groups) holds no groups: {error}. It must hold {FORMS}.") from None
    columns = dict.fromkeys([*reading.features, *(category.column for category in reading.categories)])
    unknown = [name for name in found if name not in columns]
    if unknown[:1] == list(found)[:1] and next(iter(found.values())).lower() in ("group", "groups"):
        del found[unknown.pop(0)]  # a header
    if unknown:
        raise RefusedError(
            f"{path} (--groups) names {unknown[0]!r}, which is no feature. {closest(unknown[0], columns)}"
        )
    return found


def _from_lines(text: str) -> dict[str, str]:
    rows = [[field.strip() for field in row] for row in csv.reader(text.splitlines()) if row]
    wrong = next((row for row in rows if len(row) != 2), None)
    if wrong is not None or not rows:
        raise ValueError("the file is empty" if wrong is None else f"a line has {len(wrong)} fields")
    return _by_column(rows)


def _from_json(content: dict[str, Any]) -> dict[str, str]:
    return _by_column(
        pair
        for key, value in content.items()
        for pair in ([(str(name), key) for name in value] if isinstance(value, list) else [(key, str(value))])
    )


def _by_column(pairs: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return the group of each column; refuse columns that are in two."""
    found: dict[str, str] = {}
    for column, group in pairs:
        if found.setdefault(column, group) != group:
            raise ValueError(f"{column!r} is in two groups")
    return found
