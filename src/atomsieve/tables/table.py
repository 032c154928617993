"""The columns of a file: numbers side by side in one matrix, everything else column by column."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomsieve.tables.errors import TableError, closest


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
    """Columns that are no features (target, offset, weights): they come last in the matrix, so that features are a
    view of it."""

    verbatim: bool = False
    """Whether all is read as text, as it is written, missing or not."""

    def among(self, path: str, names: Collection[str]) -> "Selection":
        """Return the selection with lists of names taken apart; refuse what is not there: it is a misspelling.

        Features that a model asks for by `only` are not refused here: what is missing is said of all of them.
        """
        only = frozenset(named(self.only, names)) if self.verbatim and self.only is not None else self.only
        skip = frozenset(named(self.skip, names))
        text = self.text if self.only is not None else frozenset(named(self.text, names))
        asked = {"--exclude": skip, "--categorical": () if self.only is not None else text}
        for option, chosen in (asked | ({"--keep": only or ()} if self.verbatim else {})).items():
            for name in sorted(chosen):
                if name not in names:
                    raise TableError(f"{path} has no column {name!r} ({option}). {closest(name, names)}")
        return replace(self, only=only, skip=skip, text=text)

    def as_text(self, name: str) -> bool:
        """Whether a column is read as text, whatever it holds."""
        return self.verbatim or name in self.text

    def takes(self, name: str) -> bool:
        """Whether a column is read."""
        return name not in self.skip and (self.only is None or name in self.only)


def named(given: Iterable[str], known: Collection[str]) -> Iterator[str]:
    """Yield names that were given one by one or several at once, with commas between them.

    >>> list(named(["age", "bmi,sex", "size, cm"], ["age", "bmi", "sex", "size, cm"]))
    ['age', 'bmi', 'sex', 'size, cm']
    """
    for text in given:
        yield from [text] if text in known else (part.strip() for part in text.split(","))


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

    def row(self, place: int) -> int:
        """Return the number of a row in the file, where the header counts."""
        return place + 1 + bool(self.layout.get("header"))

    def is_text(self, name: str) -> bool:
        """Whether a column holds text."""
        return name in self.beside and self.beside[name].dtype.kind == "U"

    def texts(self, name: str) -> list[str]:
        """Return one column as text."""
        return list(map(str, self.column(name).tolist()))

    def column(self, name: str) -> NDArray[Any]:
        """Return one column."""
        if name in self.beside:
            return self.beside[name]
        column = self.matrix[:, self.names.index(name)]
        return np.asarray(column.toarray() if hasattr(column, "toarray") else column).ravel()
