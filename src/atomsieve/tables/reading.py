"""How the columns of a file become features, targets, offsets and weights: a record that reads other files alike.

Whoever checks a certificate needs the very numbers that were fitted. The record is written beside the model; it says
which columns are numbers, which are categories with which levels, and what the target is.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomsieve.tables.errors import TableError, closest, listed
from atomsieve.tables.layout import SEPARATORS
from atomsieve.tables.table import Selection, Table

FORMAT, VERSION = "atomsieve reading", 1


@dataclass(frozen=True)
class Category:
    """A column of texts: a feature for each level, 1 where the column holds it and 0 elsewhere."""

    column: str
    levels: tuple[str, ...]
    """Levels with a feature."""

    reference: str | None = None
    """The level without a feature, which the others are compared with; None if all have one."""

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(f"{self.column}={level}" for level in self.levels)

    def indicators(self, path: str, texts: NDArray[Any]) -> NDArray[Any]:
        """Return the features of a column; refuse levels that are not known."""
        known = self.levels if self.reference is None else (self.reference, *self.levels)
        strange = sorted(set(np.unique(texts).tolist()) - set(known))
        if strange:
            raise TableError(
                f"Column {self.column!r} of {path} holds {listed(map(repr, strange))}, which the model has not seen: "
                f"it knows {listed(map(repr, known))}. Correct or remove those rows."
            )
        return np.stack([texts == level for level in self.levels], axis=1).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Samples:
    """What a model is fitted to, or predicts from; by its names it can stand in for a data frame."""

    X: Any
    columns: tuple[str, ...]
    """Names of the features."""

    y: NDArray[Any] | None = None
    """Targets: numbers, or labels of classes."""

    offset: NDArray[Any] | None = None
    weights: NDArray[Any] | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.columns)}

    def __getitem__(self, name: str) -> NDArray[Any]:
        column = self.X[:, [self._places[name]]]
        return np.asarray(column.toarray() if hasattr(column, "toarray") else column).ravel()


@dataclass(frozen=True)
class Reading:
    """Which columns of a file are features, and which is the target."""

    numbers: tuple[str, ...]
    """Columns that are features as they are."""

    categories: tuple[Category, ...] = ()
    target: str | None = None
    labels: tuple[str | float | int, ...] | None = None
    """The classes of the target, in order; None where it is a number."""

    offset: str | None = None
    weights: str | None = None
    layout: dict[str, Any] = field(default_factory=dict)
    """Header and separator of the text."""

    exposure: str | None = None
    """A column whose logarithm is the offset."""

    @property
    def text_layout(self) -> dict[str, Any]:
        """What has to be known to read other text in the same way; usual separators are found there anew."""
        separator = self.layout.get("separator")
        return {"header": self.layout.get("header"), "separator": None if separator in SEPARATORS else separator}

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features: numbers first, then the levels of each category."""
        return (*self.numbers, *(name for category in self.categories for name in category.features))

    @property
    def offset_record(self) -> dict[str, Any] | None:
        """Where predictions find their offset: a column, and whether its logarithm is meant. None without one."""
        column = self.offset if self.exposure is None else self.exposure
        return None if column is None else {"column": column, "logarithm": self.exposure is not None}

    def used(self, features: Sequence[str]) -> "Reading":
        """Return what is needed for some of the features."""
        wanted = set(features)
        numbers = tuple(name for name in self.numbers if name in wanted)
        categories = tuple(c for c in self.categories if wanted.intersection(c.features))
        return Reading(numbers, categories, None, None, self.offset, None, self.layout, self.exposure)

    def selection(self) -> Selection:
        """Return the columns that must be read."""
        apart = [name for name in (self.target, self.offset, self.exposure, self.weights) if name is not None]
        categories = [category.column for category in self.categories]
        text = [*categories, self.target] if self._text_labels and self.target is not None else categories
        return Selection(frozenset([*self.numbers, *categories, *apart]), text=frozenset(text), last=tuple(apart))

    @property
    def _text_labels(self) -> bool:
        return self.labels is not None and isinstance(self.labels[0], str)

    def take(self, table: Table) -> Samples:
        """Return the samples of a table; refuse one that lacks a column."""
        self._require(table)
        return Samples(
            self._features(table),
            self.features,
            None if self.target is None else self._targets(table),
            self._offsets(table),
            None if self.weights is None else _numbers(table, self.weights, "weights"),
        )

    def _require(self, table: Table) -> None:
        """Refuse a table that lacks a column, or has text where numbers are wanted."""
        columns = [*self.numbers, *(category.column for category in self.categories)]
        there = set(table.columns)
        missing = [name for name in columns if name not in there]
        if missing:
            known = [*table.columns, *table.unread]
            hint = closest(missing[0], known) if len(missing) == 1 else f"It has {listed(known)}."
            raise TableError(f"{table.path} lacks {listed(missing)}, which the model was fitted to. {hint}")
        for name in self.numbers:
            if table.is_text(name):
                text = str(table.column(name)[0])
                raise TableError(f"Column {name!r} of {table.path} holds text ({text!r}), the model needs numbers.")

    def _features(self, table: Table) -> Any:
        """Return the matrix of the features: a view of the table's where it holds them side by side."""
        numbers = table.matrix
        if table.names[: len(self.numbers)] == self.numbers:
            numbers = numbers if len(self.numbers) == numbers.shape[1] else numbers[:, : len(self.numbers)]
        else:
            where = {name: j for j, name in enumerate(table.names)}
            numbers = numbers[:, [where[name] for name in self.numbers]]
        if not self.categories:
            return numbers
        parts = [category.indicators(table.path, table.column(category.column)) for category in self.categories]
        if isinstance(numbers, np.ndarray):
            return np.hstack([numbers, *parts])
        from scipy.sparse import csr_array, hstack  # noqa: PLC0415 -- slow to import

        return hstack([numbers, *map(csr_array, parts)], format="csr")

    def _offsets(self, table: Table) -> NDArray[Any] | None:
        """Return the offsets: a column, or the logarithm of one of exposures."""
        if self.exposure is None:
            return None if self.offset is None else _numbers(table, self.offset, "offset")
        exposures = _numbers(table, self.exposure, "exposure")
        if exposures.min() <= 0:
            place = int(np.argmin(exposures > 0))
            raise TableError(
                f"The exposure {self.exposure!r} of {table.path} is {exposures[place]:g} in row {table.row(place)}. "
                "Exposures (time, people or area at risk) must be positive: correct or drop those rows."
            )
        logarithms: NDArray[Any] = np.log(exposures)
        return logarithms

    def _targets(self, table: Table) -> NDArray[Any]:
        """Return the targets: numbers, or labels of known classes."""
        assert self.target is not None  # noqa: S101 -- for the type checker
        table.require(self.target, "the target")
        column = table.column(self.target)
        if self.labels is None:
            return _numbers(table, self.target, "target")
        known = np.array(self.labels)
        strange = sorted(set(np.unique(column).tolist()) - set(known.tolist()))
        if strange:
            raise TableError(
                f"The target {self.target!r} of {table.path} holds {listed(map(repr, strange))}; the classes are "
                f"{listed(map(repr, self.labels))}."
            )
        labels: NDArray[Any] = known[np.searchsorted(known, column.astype(known.dtype))]
        return labels

    def content(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return {"format": FORMAT, "version": VERSION, **asdict(self)}

    @classmethod
    def load(cls, path: Path) -> "Reading":
        """Read a record; raise TableError where the file holds none."""
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if content.pop("format") != FORMAT or content.pop("version") != VERSION:
                raise ValueError("another format or version")  # noqa: TRY301
            categories = [Category(c["column"], tuple(c["levels"]), c["reference"]) for c in content.pop("categories")]
            labels = content.pop("labels")
            numbers = tuple(content.pop("numbers"))
            return cls(numbers, tuple(categories), labels=None if labels is None else tuple(labels), **content)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise TableError(f"{path} does not say how the data were read: {type(error).__name__} ({error}).") from None


def _numbers(table: Table, name: str, role: str) -> NDArray[Any]:
    """Return a column that must hold numbers."""
    table.require(name, role)
    if table.is_text(name):
        raise TableError(
            f"Column {name!r} of {table.path} ({role}) holds text, {str(table.column(name)[0])!r}, not numbers."
        )
    return np.ascontiguousarray(table.column(name))
