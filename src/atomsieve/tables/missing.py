"""Refuse numbers that are not there: all missing values of a file in one message, and numbers that are infinite."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from atomsieve.intake.columns import counted
from atomsieve.intake.whole import beyond
from atomsieve.tables.errors import TableError, exclusion, listed
from atomsieve.tables.table import Selection

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "?"})
"""What stands for a missing value in text, in lower case."""


def require_complete(path: str, missing: dict[str, int], rows: int, selection: Selection) -> None:
    """Refuse missing values, with counts for all columns that have some."""
    if selection.verbatim:
        return
    worst = sorted((item for item in missing.items() if item[1]), key=lambda item: -item[1])
    if worst:
        counts = listed(f"{name} ({count})" for name, count in worst)
        names = [name for name, _ in worst]
        raise TableError(
            f"{path} has missing values in these columns, of {rows} rows: {counts}. {remedy(names, selection)}"
        )


def remedy(names: Sequence[str], selection: Selection) -> str:
    """Say what to do about missing values: features may be left out of a fit; targets, offsets and weights may not."""
    features = [name for name in names if name not in selection.last]
    if selection.only is not None:  # a model is fitted already, and needs what it was fitted to
        return "Fill them in, or drop those rows."
    drop = "".join(f"Drop the rows without {name}. " for name in names if name in selection.last)
    if not features:
        return drop.strip()
    others = "the others" if drop else "them"
    return f"{drop}Fill {others} in, drop those rows, or leave the columns out: {exclusion(features)}."


def missing_in(matrix: Any, names: Sequence[str]) -> dict[str, int]:
    """Return how many numbers are NaN in each column."""
    return {} if _sums(matrix) else dict(zip(names, counted(np.isnan, matrix).tolist(), strict=True))


def require_finite(path: str, matrix: Any, names: Sequence[str]) -> None:
    """Refuse infinite numbers."""
    if _sums(matrix):
        return
    infinite = counted(np.isinf, matrix)
    if infinite.any():
        name = names[int(np.argmax(infinite))]
        raise TableError(f"{path} has infinite numbers in column {name!r}. Correct or drop those rows first.")


def require_whole(path: str, name: str, odd: int | None, selection: Selection) -> None:
    """Refuse a whole number in a column that no double holds, if there is one."""
    if odd is None:
        return
    way = "Subtract a constant, such as the least number"
    if selection.only is not None:  # a model is fitted already
        way = "Correct it"
    elif name not in selection.last:
        way += f", or leave the column out: {exclusion([name])}"
    raise TableError(f"Column {name!r} of {path} holds {beyond(odd)} {way}.")


def _sums(matrix: Any) -> bool:
    """Whether the numbers add up to a finite one: a quick way to see that all of them are finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(matrix.sum()))
