"""Parquet: files of tables, read one row group at a time, and of each only the columns that are asked for."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomsieve.design.base import ALL, Columns
from atomsieve.design.files import Piece, Traffic, ahead, spread_out
from atomsieve.intake.extras import install
from atomsieve.intake.names import closest
from atomsieve.intake.whole import require_held
from atomsieve.numerics.cached import cached_property
from atomsieve.typing import Array, Index

NUMBERS = ("bool", "int", "uint", "halffloat", "float", "double")
"""How the names of the types of numbers begin in Parquet's schema."""


@dataclass(frozen=True, eq=False, repr=False)
class Parquet:
    """The columns of one or several Parquet files as X, for data that are larger than memory.

    It takes the place of X in a problem, `Problem(Parquet("data.parquet", leave_out=["y"]), y)`, and in estimators; the
    names of the columns are those of the features. One row group is in memory at a time. What is asked of some columns
    reads just these. `column(name)` is one column as an array, for y.

    Parameters
    ----------
    source : path or list of paths
        The files; their rows follow one another, and all have the same columns. A folder stands for all its Parquet
        files, in the order of their names.
    leave_out : list of names
        Columns that are no features.
    """

    source: Any
    leave_out: Sequence[str] = ()

    def __post_init__(self) -> None:
        known = self._files[0].schema_arrow.names
        if isinstance(self.leave_out, str):
            raise TypeError(f"leave_out must be a list of names of columns, got {self.leave_out!r}.")
        for name in self.leave_out:
            self._require(name, "leave_out names")
        for file in self._files:
            odd = sorted(set(known) ^ set(file.schema_arrow.names))
            if odd:
                raise ValueError(
                    f"The Parquet files have different columns: pass those that have the same ones. {odd[0]!r} is not "
                    "in all of them."
                )
        for name, file in product(self.columns, self._files):
            kind = str(file.schema_arrow.field(name).type)
            if not kind.startswith(NUMBERS):
                raise ValueError(
                    f"Column {name!r} is of the type {kind}, and features are numbers: encode it, or name it in "
                    "leave_out."
                )

    def _require(self, name: str, who: str) -> None:
        """Refuse a name that is no column, in plain words."""
        known = self._files[0].schema_arrow.names
        if name not in known:
            hint = closest(name, known) if isinstance(name, str) else ""
            raise ValueError(f"{who} {name!r}, which is no column. {hint}")

    def __repr__(self) -> str:
        return f"Parquet({self.shape[0]:,} x {self.shape[1]:,}, {len(self.groups)} row groups)"

    @cached_property
    def _files(self) -> list[Any]:
        try:
            import pyarrow.parquet as pq  # noqa: PLC0415 -- only here is it needed
        except ImportError as error:
            raise ImportError(install("Parquet needs", error.name)) from None
        given = [self.source] if isinstance(self.source, (str, Path)) else list(self.source)
        places = [Path(place) for place in given]
        if len(places) == 1 and places[0].is_dir():
            places = sorted(places[0].glob("*.parquet"))
        if not places:
            raise ValueError(f"source names no Parquet file: {self.source!r}.")
        return [_opened(pq, place) for place in places]

    @cached_property
    def columns(self) -> list[str]:
        """The names of the features."""
        return [name for name in self._files[0].schema_arrow.names if name not in self.leave_out]

    @cached_property
    def groups(self) -> list[tuple[Any, int, slice]]:
        """Every row group: its file, its number there, and its rows."""
        found, start = [], 0
        for file in self._files:
            for number in range(file.num_row_groups):
                rows = file.metadata.row_group(number).num_rows
                found.append((file, number, slice(start, start + rows)))
                start += rows
        return [group for group in found if group[2].start < group[2].stop]

    @cached_property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of features."""
        return self.groups[-1][2].stop if self.groups else 0, len(self.columns)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """A type that holds the numbers of all features, in all files."""
        schemas = [file.schema_arrow for file in self._files]
        kinds = {schema.field(name).type for schema in schemas for name in self.columns}
        held: np.dtype[Any] = np.result_type(*(np.dtype(kind.to_pandas_dtype()) for kind in kinds))
        return held

    @property
    def nothing(self) -> Any:
        """A table of the features without a row, for those who ask for names."""
        return self._files[0].schema_arrow.empty_table().select(self.columns)

    def column(self, name: str) -> Array:
        """Return one column as an array."""
        self._require(name, "column() is asked for")
        parts = [file.read_row_group(number, columns=[name]).column(0).to_numpy() for file, number, _ in self.groups]
        return np.concatenate(parts)


def _opened(pq: Any, place: Path) -> Any:
    """Open a Parquet file; what is none is refused by its name."""
    try:
        return pq.ParquetFile(place)
    except ValueError as error:  # pyarrow's own are ValueErrors
        raise ValueError(f"{place} is no Parquet file: {error}") from None


@dataclass(frozen=True, eq=False)
class RowGroups:
    """The row groups of Parquet files as the rows of a matrix."""

    table: Parquet
    traffic: Traffic = field(default_factory=Traffic)

    by_columns = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.table.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.table.dtype

    def _read(self, group: tuple[Any, int, slice], names: list[str]) -> NDArray[Any]:
        """Return columns of a row group; what is missing is not a number, which is refused where X is checked."""
        file, number, rows = group
        table = file.read_row_group(number, columns=names)
        block = np.empty((len(names), rows.stop - rows.start), self.dtype)
        for line, name in zip(block, names, strict=True):
            column = table.column(name)
            if column.null_count and self.dtype.kind != "f":
                raise ValueError(f"Column {name!r} has missing values. Impute or remove them first.")
            numbers = column.to_numpy()
            require_held(numbers, f"Column {name!r}")
            line[:] = numbers
        self.traffic.bytes += block.nbytes
        return block.T

    def rows(self, height: int, index: Columns = ALL) -> Iterator[Piece]:
        """Yield the row groups, with the chosen columns."""
        names = [self.table.columns[j] for j in np.arange(self.shape[1])[index].tolist()]

        def reader(group: tuple[Any, int, slice]) -> Callable[[int], NDArray[Any]]:
            return lambda _: self._read(group, names)

        blocks = ahead(reader(group) for group in self.table.groups)
        yield from (Piece(group[2], block) for group, block in zip(self.table.groups, blocks, strict=True))

    def columns(self, index: Index) -> Iterator[Piece]:
        """Yield the chosen columns, all at once."""
        found = np.empty((len(index), self.shape[0]), self.dtype)
        for places, block in self.rows(1, index):
            found[:, places] = block.T
        yield Piece(slice(0, len(index)), found.T)

    def some(self, count: int) -> Index:
        """Return rows of some row groups."""
        n, groups = self.shape[0], len(self.table.groups)
        chosen = spread_out(groups, -(-count * groups // n), 1)
        rows = np.concatenate([np.arange(n)[self.table.groups[k][2]] for k in chosen])
        return rows[spread_out(len(rows), count, 1)]

    def taken(self, rows: Index) -> NDArray[Any]:
        """Return some rows, from their row groups."""
        parts = []
        for group in self.table.groups:
            own = rows[(rows >= group[2].start) & (rows < group[2].stop)] - group[2].start
            if len(own):
                parts.append(self._read(group, self.table.columns)[own])
        return np.concatenate(parts)
