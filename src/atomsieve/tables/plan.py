"""Decide how the columns of a table become features and a target."""

import re
from dataclasses import dataclass
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomsieve.display.numbers import count
from atomsieve.tables.archives import dates
from atomsieve.tables.dressed import as_plain, undressed
from atomsieve.tables.errors import TableError, exclusion, listed
from atomsieve.tables.reading import Category, Reading
from atomsieve.tables.table import Selection, Table, named

DATE = re.compile(r"\d{4}[-/]\d{1,2}[-/]\d{1,2}([ T].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}")

FEW = 2
"""A column of texts is refused if it has more levels than one for this many rows: it names samples, not kinds."""

TOLD = 3
"""Columns that are refused with a sentence each; a message with more of them would not be read."""

MANY = 10
"""A target of more different whole numbers than these is hardly a class."""

NAMED_ID = re.compile(r"(.*[\W_])?(?i:id|key|index)|.*[a-z]I[Dd]")
"""Names of columns that name the rows."""

FIT_CLASSES = "Leave --loss out, or take --loss logistic."
FEWER = "Name another --target, or gather them in fewer classes first."


@dataclass(frozen=True)
class Roles:
    """What a user says of the columns."""

    target: str | None
    """None leaves it to the format."""

    offset: str | None = None
    weights: str | None = None
    exclude: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    exposure: str | None = None
    """A column whose logarithm is the offset."""

    @property
    def apart(self) -> tuple[str, ...]:
        """Columns that are no features."""
        return tuple(name for name in (self.target, self.offset, self.exposure, self.weights) if name is not None)

    def selection(self) -> Selection:
        """Return how to read the file."""
        return Selection(skip=frozenset(self.exclude), text=frozenset(self.categorical), last=self.apart)


def plan(table: Table, roles: Roles, *, classes: bool | None, reference: bool) -> tuple[Reading, list[str]]:
    """Return how to read a table, and what there is to say about it.

    `classes` is whether the target is a label; None lets the target decide: texts and two values are. With `reference`
    the first level of every category is what the others are compared with; otherwise this holds for two levels only.
    """
    target = roles.target or table.target
    if target is None:
        raise TableError(
            f"Which column is to be explained? Name it by --target: {table.path} has {listed(table.columns)}."
        )
    taken: dict[str, str] = {}
    for name, option in (
        (target, "--target"),
        (roles.offset, "--offset"),
        (roles.exposure, "--exposure"),
        (roles.weights, "--weights"),
    ):
        if name is None:
            continue
        table.require(name, option)
        if name in taken:
            raise TableError(f"Column {name!r} cannot be both {taken[name]} and {option}: name another one.")
        taken[name] = option
    apart = set(roles.apart) | ({table.target} if table.target is not None else set())
    texts = [name for name in table.beside if table.is_text(name) and name not in apart]
    numbers = tuple(name for name in table.names if name not in apart)
    if not numbers and not texts:
        raise TableError(
            f"{table.path} has no column but {listed(roles.apart)}: there is nothing to fit the target to."
        )
    forced = set(named(roles.categorical, table.columns))
    categories = _categories(table, texts, forced, reference=reference)
    reading = Reading(
        numbers,
        tuple(c for c in categories if c.levels),
        target,
        _labels(table, target, classes),
        roles.offset,
        roles.weights,
        table.layout,
        roles.exposure,
    )
    return reading, [*table.notes, *_notes(table, reading, categories), *_target_notes(table, reading, classes)]


def _categories(table: Table, names: list[str], forced: set[str], *, reference: bool) -> list[Category]:
    """Return columns of texts as categories; refuse all that are none at once."""
    found, refused = [], {}
    for name in names:
        try:
            found.append(_category(table, name, reference=reference, forced=name in forced))
        except TableError as error:
            refused[name] = str(error)
    if refused:
        together = f" All of them at once: {exclusion(refused)}." if len(refused) > 1 else ""
        raise TableError(" ".join(list(refused.values())[:TOLD]) + together)
    return found


def _category(table: Table, name: str, *, reference: bool, forced: bool) -> Category:
    """Return a column of texts as a category; refuse dates, and names of single samples."""
    texts = table.column(name)
    levels = np.unique(texts).tolist()
    if DATE.fullmatch(levels[0]) and DATE.fullmatch(levels[-1]) and not forced:
        raise TableError(dates(table.path, name))
    if FEW * len(levels) > table.rows and len(levels) > 2 and not forced:
        first = texts.tolist()[0]
        way = "It seems to name the rows: leave" if undressed(first) is None else f"{as_plain(first)} Or leave"
        raise TableError(
            f"Column {name!r} of {table.path} has {len(levels)} different texts in {table.rows} rows, {first!r} in row "
            f"{table.row(0)}. {way} it out ({exclusion([name])}), or insist on a feature for each text (--categorical "
            f"{quote(name)})."
        )
    if len(levels) == 1:
        return Category(name, (), levels[0])
    return (
        Category(name, tuple(levels[1:]), levels[0]) if reference or len(levels) == 2 else Category(name, tuple(levels))
    )


def _labels(table: Table, target: str, classes: bool | None) -> tuple[Any, ...] | None:
    """Return the classes of the target, None where it is a number."""
    column = table.column(target)
    text = table.is_text(target)
    if (column == column[0]).all():
        raise TableError(
            f"The target {target!r} of {table.path} is {column.tolist()[0]!r} in all {table.rows} rows: there is "
            "nothing to explain. Is it the right column?"
        )
    if classes is False and text:
        raise TableError(
            f"{_texts_in(table, target)}, and this loss needs numbers. {_way_out(table, target, FIT_CLASSES)}"
        )
    values = np.unique(column)
    if classes is False or (classes is None and not text and len(values) > 2):
        return None
    if FEW * len(values) > table.rows:
        many = f"{len(values)} classes in {table.rows} rows are too many to tell apart"
        if text:
            raise TableError(f"{_texts_in(table, target)}: {many}. {_way_out(table, target, FEWER)}")
        raise TableError(f"The target {target!r} of {table.path} holds numbers: {many}. Leave --loss out.")
    whole = not text and bool((values == np.round(values)).all())
    return tuple((values.astype(np.int64) if whole else values).tolist())


def naming_columns(table: Table) -> list[str]:
    """Return the columns that seem to name the rows; that most columns are no whole numbers shows in their ends."""
    matrix = table.matrix
    if not isinstance(matrix, np.ndarray):
        return []
    ends = matrix[[0, -1]]
    whole = np.flatnonzero((ends == np.round(ends)).all(axis=0) & (ends[0] != ends[1]))
    return [table.names[j] for j in whole.tolist() if _names_rows(matrix[:, j], table.names[j])]


def _names_rows(column: NDArray[Any], name: str) -> bool:
    """Whether a column holds different whole numbers that rise, or leave none out, or whose name says so."""
    rises = bool((np.diff(column) > 0).all())
    if not (rises or np.ptp(column) == len(column) - 1 or NAMED_ID.fullmatch(name)):
        return False
    return bool((column == np.round(column)).all()) and len(np.unique(column)) == len(column)


def _texts_in(table: Table, target: str) -> str:
    """Return what a target of texts holds, as the beginning of a sentence."""
    first = table.column(target).tolist()[0]
    return f"The target {target!r} of {table.path} holds text, {first!r} in row {table.row(0)}"


def _way_out(table: Table, target: str, otherwise: str) -> str:
    """Say how to write the numbers that texts seem to mean; something else where they mean none."""
    first = table.column(target).tolist()[0]
    return otherwise if undressed(first) is None else as_plain(first)


def constant_columns(X: Any, names: tuple[str, ...]) -> list[str]:
    """Return the columns that hold one value only."""
    low, high = X.min(axis=0), X.max(axis=0)
    low, high = (np.asarray(end.toarray() if hasattr(end, "toarray") else end).ravel() for end in (low, high))
    return [name for name, same in zip(names, low == high, strict=True) if same]


def _target_notes(table: Table, reading: Reading, classes: bool | None) -> list[str]:
    """Say what else a target of few whole numbers, or of texts that hold numbers, may be, where nobody said."""
    if classes is not None or reading.target is None:
        return []
    if reading.labels is not None:
        first = str(reading.labels[0])
        if not table.is_text(reading.target) or any(undressed(str(label)) is None for label in reading.labels):
            return []
        return [
            f"The target holds text, such as {first!r}: it is taken for classes. If it means numbers: {as_plain(first)}"
        ]
    values = np.unique(table.column(reading.target))
    if len(values) > min(MANY, table.rows // FEW) or not (values == np.round(values)).all():
        return []
    counts = " or, if they are counts, --loss poisson" if values[0] >= 0 else ""
    return [f"The target has {len(values)} values, all whole: if they are classes, take --loss logistic{counts}."]


def _notes(table: Table, reading: Reading, categories: list[Category]) -> list[str]:
    notes = []
    constant = set(constant_columns(table.matrix, table.names)) & set(reading.numbers) if table.names else set()
    alone = [category.column for category in categories if not category.levels]
    names = [name for name in reading.numbers if name in constant] + alone
    if names:
        notes.append(f"{count(len(names), 'column')} with one value in all rows cannot matter: {listed(names)}.")
    features = set(reading.numbers)
    names = [name for name in naming_columns(table) if name in features]
    if names:
        notes.append(
            f"{count(len(names), 'column')} with a different whole number in every row, as if to name it: "
            f"{listed(names)}. If so, leave out what names rows: {exclusion(names)}."
        )
    if reading.categories:
        told = [
            f"{c.column} ({count(len(c.levels) + (c.reference is not None), 'level')}"
            + (f", compared with {c.reference})" if c.reference is not None else ")")
            for c in reading.categories
        ]
        notes.append(f"Columns of text become one feature per level: {listed(told)}.")
    return notes
