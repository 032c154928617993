"""Files of numbers, read some rows or some columns at a time: while one piece is in use, a thread reads the next.

A memory map would do without all this, but its pages count as memory of the process, and a fault for every few of them
takes twice as long as a read where the disk is fast. So a large map is read like a file, into two buffers in turn.
"""

import mmap
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from atomsieve.design.base import ALL, Columns, as_slice
from atomsieve.typing import Index

T = TypeVar("T")

PIECE = 1 << 22
"""Bytes that are read at a time: four megabytes, which are still in the cache when they are used."""

MAPPED = 1 << 30
"""Bytes of a memory map up to which it is used as the array that it is: BLAS reads it where it lies."""

TALL = 1 << 28
"""Bytes of rows that are read at a time where columns are contiguous: short runs of each would take a read each."""


@dataclass
class Traffic:
    """What was read of a file so far."""

    bytes: int = 0


class Piece(NamedTuple):
    """Some rows, or some columns, and their entries as they are stored; they are valid until the next piece."""

    places: slice
    entries: NDArray[Any]


class File(Protocol):
    """A matrix in a file."""

    @property
    def shape(self) -> tuple[int, int]:
        """Return (n, d)."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the type of the numbers as they are stored."""

    @property
    def by_columns(self) -> bool:
        """Return whether columns follow one another, so that passes go by columns."""

    @property
    def traffic(self) -> Traffic:
        """Return what was read so far."""

    def rows(self, height: int, index: Columns = ALL) -> Iterator[Piece]:
        """Yield all rows, some at a time, of the chosen columns; `height` is the least number of entries."""

    def columns(self, index: Index) -> Iterator[Piece]:
        """Yield the chosen columns, some at a time; places are those in the index."""

    def some(self, count: int) -> Index:
        """Return about so many rows from all over the file that are read without reading all others."""

    def taken(self, rows: Index) -> NDArray[Any]:
        """Return some rows."""


def ahead(reads: Iterable[Callable[[int], T]]) -> Iterator[T]:
    """Yield what reads return; each is told which of two buffers is free, and runs while the one before is in use."""
    with ThreadPoolExecutor(max_workers=1) as reader:
        under_way = None
        for k, read in enumerate(reads):
            following = reader.submit(read, k % 2)
            if under_way is not None:
                yield under_way.result()
            under_way = following
        if under_way is not None:
            yield under_way.result()


def spans(count: int, width: int) -> Iterator[slice]:
    """Yield the places from 0 on, some at a time."""
    width = max(1, width)
    return (slice(start, min(start + width, count)) for start in range(0, count, width))


def spread_out(n: int, count: int, run: int) -> Index:
    """Return about `count` of n places, in runs of neighbours, one run at a random place of each stretch."""
    runs = max(1, min(count // run, n // run))
    ends = np.linspace(0, n, runs + 1).astype(np.intp)
    room = np.maximum(np.diff(ends) - run, 0) + 1
    starts = ends[:-1] + np.random.default_rng(runs).integers(0, room)
    return np.unique(np.minimum(starts[:, None] + np.arange(run), n - 1))


@dataclass(frozen=True, eq=False)
class MappedFile:
    """The file of a memory map without gaps, by rows or by columns."""

    path: str
    offset: int
    dtype: np.dtype[Any]
    shape: tuple[int, int]
    by_columns: bool
    traffic: Traffic = field(default_factory=Traffic)

    @classmethod
    def of(cls, X: NDArray[Any]) -> "MappedFile | None":
        """Return the file behind a large memory map; None for any other array."""
        held = mapping(X) if X.nbytes > MAPPED and hasattr(os, "preadv") else None
        if held is None or not (X.flags.c_contiguous or X.flags.f_contiguous):
            return None
        start = held.offset - held.offset % mmap.ALLOCATIONGRANULARITY
        pages = np.frombuffer(held._mmap, dtype=np.uint8)
        offset = start + X.__array_interface__["data"][0] - pages.__array_interface__["data"][0]
        return cls(str(held.filename), offset, X.dtype, (X.shape[0], X.shape[1]), not X.flags.c_contiguous)

    @property
    def _line(self) -> int:
        """The number of entries of a row, or of a column."""
        return self.shape[0 if self.by_columns else 1]

    def _lines(self, runs: Iterable[slice], width: int) -> Iterator[NDArray[Any]]:
        """Yield stored lines, at most `width` at a time: those of a file by rows are rows."""
        each = self._line * self.dtype.itemsize
        buffers = [bytearray(width * each) for _ in range(2)]
        with open(self.path, "rb", buffering=0) as file:
            number = file.fileno()

            def reader(run: slice) -> Callable[[int], NDArray[Any]]:
                def read(turn: int) -> NDArray[Any]:
                    size = (run.stop - run.start) * each
                    self._fill(number, memoryview(buffers[turn])[:size], run.start * each)
                    return np.frombuffer(buffers[turn], self.dtype, size // self.dtype.itemsize).reshape(-1, self._line)

                return read

            yield from ahead(reader(run) for run in runs)

    def _fill(self, number: int, space: memoryview, start: int) -> None:
        """Fill a buffer from a place of the matrix on."""
        done = 0
        while done < len(space):
            count = os.preadv(number, [space[done:]], self.offset + start + done)
            if not count:
                raise OSError(f"{self.path} is shorter than the array in it: was it cut off since it was opened?")
            done += count
        self.traffic.bytes += done

    def _width(self, least: int) -> int:
        """Return how many lines a piece has, with so many entries at least."""
        return max(1, max(PIECE // self.dtype.itemsize, least) // self._line)

    def rows(self, height: int, index: Columns = ALL) -> Iterator[Piece]:
        n, _ = self.shape
        if self.by_columns:
            yield from self._across()
            return
        runs = list(spans(n, self._width(height)))
        lines = self._lines(runs, runs[0].stop)
        yield from (Piece(run, block[:, index]) for run, block in zip(runs, lines, strict=True))

    def _across(self) -> Iterator[Piece]:
        """Yield rows of a file by columns, as many as memory allows: each takes a run of every column."""
        n, d = self.shape
        runs = list(spans(n, TALL // (d * self.dtype.itemsize)))
        yield from (Piece(run, self._block(run)) for run in runs)

    def _block(self, run: slice) -> NDArray[Any]:
        """Return some rows of a file by columns."""
        n, d = self.shape
        block, each = np.empty((d, run.stop - run.start), self.dtype), self.dtype.itemsize
        with open(self.path, "rb", buffering=0) as file:
            for j in range(d):
                self._fill(file.fileno(), memoryview(block[j]).cast("B"), (j * n + run.start) * each)
        return block.T

    def columns(self, index: Index) -> Iterator[Piece]:
        if not self.by_columns:
            yield from _picked(self, index)
            return
        width = self._width(1)
        cuts = np.flatnonzero(np.diff(index) != 1) + 1
        runs = [
            slice(int(part[0]) + some.start, int(part[0]) + some.stop)
            for part in np.split(index, cuts)
            for some in spans(len(part), width)
        ]
        start = 0
        for block in self._lines(runs, width):
            yield Piece(slice(start, start + len(block)), block.T)
            start += len(block)

    def some(self, count: int) -> Index:
        """Return single rows; where columns are contiguous, a few runs of rows."""
        return spread_out(self.shape[0], count, -(-count // RUNS) if self.by_columns else 1)

    def taken(self, rows: Index) -> NDArray[Any]:
        parts = np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1)
        runs = [slice(int(part[0]), int(part[-1]) + 1) for part in parts]
        if self.by_columns:
            return np.concatenate([self._block(run) for run in runs])
        found, start = np.empty((len(rows), self.shape[1]), self.dtype), 0
        for block in self._lines(runs, max(run.stop - run.start for run in runs)):
            found[start : start + len(block)] = block
            start += len(block)
        return found


RUNS = 16
"""Runs of rows in a sample of a file by columns, where every run takes a read of each column."""


def mapping(X: Any) -> Any:
    """Return the memory map that an array is a part of, if what is written to it is in its file; None otherwise."""
    held = None
    while isinstance(X, np.ndarray):
        if isinstance(X, np.memmap) and isinstance(getattr(X, "_mmap", None), mmap.mmap):
            held = X
        X = X.base
    return held if isinstance(X, mmap.mmap) and held is not None and held.filename and held.mode != "c" else None


def _picked(file: File, index: Index) -> Iterator[Piece]:
    """Yield all chosen columns of a file by rows as one piece, in one pass over it."""
    found = np.empty((len(index), file.shape[0]), file.dtype)
    for places, block in file.rows(1, as_slice(index)):
        found[:, places] = block.T
    yield Piece(slice(0, len(index)), found.T)


@dataclass(frozen=True, eq=False)
class StoredFile:
    """An array of Zarr or HDF5: pieces are whole chunks, rows of them or columns, whichever are smaller."""

    array: Any
    traffic: Traffic = field(default_factory=Traffic)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.array.shape[0]), int(self.array.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        held: np.dtype[Any] = np.dtype(self.array.dtype)
        return held

    @property
    def _chunk(self) -> tuple[int, int]:
        """The shape of a chunk; rows that follow one another are chunks of one row."""
        n, d = self.shape
        height, width = getattr(self.array, "chunks", None) or (1, d)
        return min(int(height), n), min(int(width), d)

    @property
    def by_columns(self) -> bool:
        (n, d), (height, width) = self.shape, self._chunk
        return n * width < height * d

    def _read(self, where: tuple[slice, Any]) -> NDArray[Any]:
        block = np.asarray(self.array[where])
        self.traffic.bytes += block.nbytes
        return block

    def _whole(self, side: int, least: int) -> list[slice]:
        """Return runs of rows or columns that consist of whole chunks, with so many entries at least."""
        count, line, each = self.shape[side], self.shape[1 - side], self._chunk[side]
        asked = max(PIECE // self.dtype.itemsize, least)
        return list(spans(count, max(1, asked // (line * each)) * each))

    def rows(self, height: int, index: Columns = ALL) -> Iterator[Piece]:
        runs = self._whole(0, height)
        if self.by_columns:  # whole chunks would be the whole array
            runs = list(spans(self.shape[0], TALL // (self.shape[1] * self.dtype.itemsize)))

        def reader(run: slice) -> Callable[[int], NDArray[Any]]:
            return lambda _: self._read((run, ALL))

        blocks = ahead(reader(run) for run in runs)
        yield from (Piece(run, block[:, index]) for run, block in zip(runs, blocks, strict=True))

    def columns(self, index: Index) -> Iterator[Piece]:
        if not self.by_columns:
            yield from _picked(self, index)
            return
        runs, start = self._whole(1, 1), 0
        asked = [index[(index >= run.start) & (index < run.stop)] for run in runs]
        both = [(run, some) for run, some in zip(runs, asked, strict=True) if len(some)]

        def reader(run: slice) -> Callable[[int], NDArray[Any]]:
            return lambda _: self._read((ALL, run))

        for (run, some), block in zip(both, ahead(reader(run) for run, _ in both), strict=True):
            yield Piece(slice(start, start + len(some)), block[:, as_slice(some - run.start)])
            start += len(some)

    def some(self, count: int) -> Index:
        """Return the rows of some chunks, or the first ones where a chunk has more."""
        n, height = self.shape[0], self._chunk[0]
        chunks = spread_out(-(-n // height), -(-count // height), 1)
        rows = (chunks[:, None] * height + np.arange(min(height, count))).ravel()
        return rows[rows < n]

    def taken(self, rows: Index) -> NDArray[Any]:
        parts = np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1)
        return np.concatenate([self._read((slice(int(part[0]), int(part[-1]) + 1), ALL)) for part in parts])
