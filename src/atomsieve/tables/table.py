"""The columns of a file: numbers side by side in one matrix, everything else column by column."""

from collections.abc import Collection
from dataclasses import dataclass, field
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomsieve.tables.errors import TableError, closest

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "?"})
"""What stands for a missing value, in lower case."""


@dataclass(frozen=True)
class Selection:
    """Which columns are read, and how."""

    only: frozenset[str] | None = None
    """Columns to read; None for all."""

    skip: frozenset[str] = frozenset()
    """Columns to leave out."""

    text: frozenset[str] = frozenset()
    """Columns to read as text, whatever they hold."""

    last: tuple[str, ...] = ()
    """Columns that come last in the matrix, so that those before them are a view of it."""

    def check(self, path: str, names: Collection[str]) -> None:
        """Refuse to leave out, or to read as text, a column that is not there: it is a misspelling."""
        for chosen, option in ((self.skip, "--exclude"), (self.text if self.only is None else (), "--categorical")):
            for name in sorted(chosen):
                if name not in names:
                    raise TableError(f"{path} has no column {name!r} ({option}). {closest(name, names)}")

    def takes(self, name: str) -> bool:
        """Whether a column is read."""
        return name not in self.skip and (self.only is None or name in self.only)


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a file."""

    path: str
    matrix: Any
    """Numbers, one column each: an array, or a sparse matrix."""

    names: tuple[str, ...]
    """The names of the columns of the matrix."""

    beside: dict[str, NDArray[Any]]
    """Columns that are not in the matrix: texts, and targets that a format keeps apart."""

    target: str | None = None
    """The column that the format itself calls the target."""

    layout: dict[str, Any] = field(default_factory=dict)
    """How the text is laid out (header, separator, decimal): enough to read the same columns again."""

    notes: tuple[str, ...] = ()
    """What was decided on the way, in sentences."""

    unread: tuple[str, ...] = ()
    """Columns that the file has beside these."""

    @property
    def rows(self) -> int:
        """Number of samples."""
        return int(self.matrix.shape[0])

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns."""
        return (*self.names, *self.beside)

    def require(self, name: str, role: str) -> None:
        """Refuse a column that is not there, with the closest spelling."""
        if name in self.unread:
            raise TableError(f"Column {name!r} of {self.path} is left out, so it cannot be the {role}.")
        if name not in self.columns:
            raise TableError(f"{self.path} has no column {name!r} ({role}). {closest(name, self.columns)}")

    def is_text(self, name: str) -> bool:
        """Whether a column holds text."""
        return name in self.beside and self.beside[name].dtype.kind == "U"

    def column(self, name: str) -> NDArray[Any]:
        """Return one column."""
        if name in self.beside:
            return self.beside[name]
        column = self.matrix[:, self.names.index(name)]
        return np.asarray(column.toarray() if hasattr(column, "toarray") else column).ravel()


def require_complete(path: str, missing: dict[str, int], rows: int) -> None:
    """Refuse missing values, with counts per column."""
    missing = {name: count for name, count in missing.items() if count}
    if not missing:
        return
    worst = sorted(missing.items(), key=lambda item: -item[1])
    counts = ", ".join(f"{name} ({count})" for name, count in worst[:8])
    more = f" and {len(worst) - 8} more columns" if len(worst) > 8 else ""
    raise TableError(
        f"{path} has missing values in {len(worst)} of its columns, of {rows} rows: {counts}{more}. Fill them in or "
        f"remove those rows first, or leave columns out: --exclude {quote(worst[0][0])}."
    )


def require_finite(path: str, matrix: NDArray[Any], names: Collection[str]) -> None:
    """Refuse NaN (missing) and infinite numbers in a dense matrix."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(matrix.sum()):
            return
    blank = np.zeros(matrix.shape[1], dtype=np.intp)
    endless = np.zeros(matrix.shape[1], dtype=np.intp)
    step = max(1, (1 << 22) // max(1, matrix.shape[1]))
    for start in range(0, len(matrix), step):
        part = matrix[start : start + step]
        blank += np.isnan(part).sum(axis=0)
        endless += np.isinf(part).sum(axis=0)
    require_complete(path, dict(zip(names, blank.tolist(), strict=True)), len(matrix))
    if endless.any():
        name = list(names)[int(np.argmax(endless))]
        raise TableError(f"{path} has infinite numbers in column {name!r}. Correct or remove those rows first.")
