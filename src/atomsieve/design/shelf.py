"""The rows of a file, some at a time, and the columns of it that are held as they are stored."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from atomsieve.design.base import ALL, Columns
from atomsieve.design.chunked import CHUNK, LEAST_ROWS, added, adjoint_of
from atomsieve.design.dense import DenseDesign
from atomsieve.design.files import File, spans
from atomsieve.typing import Array, Index, Mask, Samples

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class FileRows:
    """The rows of a file, some at a time."""

    file: File
    kept: Mask | None = None
    """Which rows count; None for all."""
    watch: Callable[[NDArray[Any]], None] | None = None
    """What sees all that is read, as it is stored."""

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.file.shape
        return n if self.kept is None else int(np.count_nonzero(self.kept)), d

    def pieces(self, index: Columns = ALL) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield the rows that count, in the order of the file, with their places among them."""
        start = 0
        for places, block in self.file.rows(LEAST_ROWS, index):
            chosen = block if self.kept is None else block[self.kept[places]]
            if len(chosen):
                self._show(chosen)
                yield slice(start, start + len(chosen)), chosen
                start += len(chosen)

    def strips(self, index: Index) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield chosen columns with their places in the index."""
        for places, block in self.file.columns(index):
            chosen = block if self.kept is None else block[self.kept]
            self._show(chosen.T)
            yield places, chosen

    def _show(self, block: NDArray[Any]) -> None:
        if self.watch is not None:
            self.watch(np.ascontiguousarray(block))

    def each(self, task: Callable[..., T], samples: Sequence[Samples] = (), index: Columns = ALL) -> Iterator[T]:
        for rows, block in self.pieces(index):
            for some in spans(len(block), max(1, CHUNK // max(1, block.shape[1]))):
                own = slice(rows.start + some.start, rows.start + some.stop)
                yield task(DenseDesign.of(block[some], "X"), *(part[own] for part in samples))

    def adjoint(self, r: Samples) -> Array:
        return added(self.each(adjoint_of, (r,)))

    def read(self, rows: slice) -> Any:
        raise TypeError("Rows of a file are read in their order.")  # pragma: no cover

    def select(self, index: Columns) -> "HeldColumns":
        return held_columns(self, np.arange(self.shape[1])[index])

    def samples(self, chosen: Mask) -> "FileRows":
        kept = chosen
        if self.kept is not None:
            kept = self.kept.copy()
            kept[self.kept] = chosen
        return FileRows(self.file, kept)

    def stored(self) -> Iterator[Array]:
        if self.file.by_columns:
            yield from (np.ascontiguousarray(block.T) for _, block in self.strips(np.arange(self.shape[1])))
        else:
            yield from (np.ascontiguousarray(block) for _, block in self.pieces())


@dataclass(frozen=True, eq=False)
class HeldColumns:
    """Some columns as they are stored, each an array of its own."""

    held: list[NDArray[Any]]
    count: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.count, len(self.held)

    def _chosen(self, index: Columns) -> list[NDArray[Any]]:
        return [self.held[j] for j in np.arange(len(self.held))[index].tolist()]

    def each(self, task: Callable[..., T], samples: Sequence[Samples] = (), index: Columns = ALL) -> Iterator[T]:
        chosen = self._chosen(index)
        for rows in spans(self.count, max(LEAST_ROWS, CHUNK // max(1, len(chosen)))):
            yield task(self._design(chosen, rows), *(part[rows] for part in samples))

    def _design(self, chosen: list[NDArray[Any]], rows: slice) -> DenseDesign:
        block = np.empty((len(chosen), rows.stop - rows.start))
        for j, column in enumerate(chosen):
            block[j] = column[rows]
        return DenseDesign(block.T)

    def adjoint(self, r: Samples) -> Array:
        return added(self.each(adjoint_of, (r,)))

    def read(self, rows: slice) -> DenseDesign:
        return self._design(self.held, slice(*rows.indices(self.count)[:2]))

    def select(self, index: Columns) -> "HeldColumns":
        return HeldColumns(self._chosen(index), self.count)

    def samples(self, chosen: Mask) -> "HeldColumns":
        return HeldColumns([column[chosen] for column in self.held], int(np.count_nonzero(chosen)))

    def stored(self) -> Iterator[Array]:
        yield from self.held


def held_columns(rows: FileRows, index: Index) -> HeldColumns:
    """Read some columns of a file."""
    n, _ = rows.shape
    order = np.argsort(index, kind="stable")
    held: list[NDArray[Any]] = [np.empty(0)] * len(index)
    if len(index):
        for places, block in rows.strips(index[order]):
            whole = np.array(block.T, order="C")
            for k, j in enumerate(order[places].tolist()):
                held[j] = whole[k]
    return HeldColumns(held, n)


@dataclass
class Shelf:
    """The columns that were asked for in the last two passes that looked for some."""

    columns: dict[int, NDArray[Any]] = field(default_factory=dict)
    last: set[int] = field(default_factory=set)

    def get(self, rows: FileRows, index: Index) -> HeldColumns:
        """Return columns; those that are not here are read, together."""
        wanted = index.tolist()
        missing = np.array(sorted(set(wanted) - self.columns.keys()), dtype=np.intp)
        if len(missing):
            kept = self.last | set(wanted)
            self.columns = {j: column for j, column in self.columns.items() if j in kept}
            self.columns.update(zip(missing.tolist(), held_columns(rows, missing).held, strict=True))
            self.last = set(wanted)
        return HeldColumns([self.columns[j] for j in wanted], rows.shape[0])

    def held(self) -> tuple[Index, list[NDArray[Any]]]:
        """Return the columns that are here, in the order of their places."""
        places = sorted(self.columns)
        return np.array(places, dtype=np.intp), [self.columns[j] for j in places]
