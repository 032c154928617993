"""Designs in chunks of rows: each chunk is a design of its own, made when it is read and dropped afterwards.

Products with A are put one below the other, products with A' are added up, and so are Gram matrices, squares of
columns and all bounds of rounding. So X may be of numbers that are narrower than doubles, in a file, or elsewhere: what
is there at one time is one chunk, in doubles. The widening is exact.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, Protocol, TypeVar

import numpy as np

from atomsieve.core import Packed
from atomsieve.design.base import ALL, Columns, blocks_of_rows, bounded
from atomsieve.design.centred import CentredDesign
from atomsieve.design.dense import DenseDesign
from atomsieve.numerics import exact
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import Enclosure, quiet, up
from atomsieve.numerics.namespace import array_namespace, is_foreign, on_host, places_in
from atomsieve.typing import Array, Index, Mask, Samples

T = TypeVar("T")

CHUNK = 1 << 18
"""Number of entries that are widened to doubles at a time: two megabytes, which stay in the cache."""

LEAST_ROWS = 64
"""Rows of a chunk, at least: a matrix stored by columns is read in runs of as many entries."""


class Chunks(Protocol):
    """The rows of a matrix, some at a time."""

    @property
    def shape(self) -> tuple[int, int]:
        """Return (n, d)."""

    def each(self, task: Callable[..., T], samples: Sequence[Samples], index: Columns) -> Iterator[T]:
        """Yield `task(design, *parts)` for each chunk: its design of the chosen columns, and its part of samples."""

    def adjoint(self, r: Samples) -> Array:
        """Return `A' r`."""

    def read(self, rows: slice) -> Any:
        """Return the design of these rows."""

    def select(self, index: Columns) -> "Chunks":
        """Return the chosen columns."""

    def samples(self, chosen: Mask) -> "Chunks":
        """Return the chosen rows."""

    def stored(self) -> Iterator[Array]:
        """Yield the rows as they are stored, for a fingerprint."""


@dataclass(frozen=True, eq=False)
class HeldRows:
    """The rows of an array in this process: of NumPy, in a memory map, of another library, on a device, or in Zarr."""

    matrix: Any
    kept: Index | None = None
    """The rows that count; None for all."""

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.matrix.shape
        return int(n) if self.kept is None else len(self.kept), int(d)

    def each(self, task: Callable[..., T], samples: Sequence[Samples] = (), index: Columns = ALL) -> Iterator[T]:
        n, d = self.shape
        width = len(np.arange(d)[index]) if isinstance(self.matrix, np.ndarray) else d
        height = max(LEAST_ROWS, CHUNK // max(1, width))
        for start in range(0, n, height):
            rows = slice(start, min(start + height, n))
            yield task(self._doubles(rows, index), *(part[rows] for part in samples))

    def adjoint(self, r: Array) -> Array:
        """Return `A' r`; a matrix stored by columns is read in the order of its columns."""
        n, d = self.shape
        if not (isinstance(self.matrix, np.ndarray) and self.kept is None and self.matrix.flags.f_contiguous):
            return added(self.each(adjoint_of, (r,)))
        width = max(1, CHUNK // n)
        parts = (self.matrix[:, start : start + width] for start in range(0, d, width))
        return np.concatenate([adjoint_of(DenseDesign.of(part, "X"), r) for part in parts])

    def read(self, rows: slice) -> DenseDesign:
        return self._doubles(rows, ALL)

    def _doubles(self, rows: slice, index: Columns) -> DenseDesign:
        """Return some rows in doubles, in the order in which they are stored: transposing them takes longer."""
        return DenseDesign.of(self._rows(rows, index), "X")

    def _rows(self, rows: slice, index: Columns = ALL) -> Any:
        """Return some rows on the host, as they are stored."""
        if self.kept is not None:
            kept = self.kept[rows]
            if isinstance(self.matrix, np.ndarray):
                return self.matrix[kept][:, index]
            first = int(kept[0])
            return on_host(self.matrix[first : int(kept[-1]) + 1, :])[kept - first][:, index]
        if is_foreign(self.matrix) and not isinstance(index, slice):  # chosen there, so that fewer numbers move
            block = self.matrix[rows, :]
            return on_host(array_namespace(block).take(block, places_in(index, block), axis=1))
        if isinstance(index, slice) and index == ALL:
            return on_host(self.matrix[rows, :])
        return on_host(self.matrix[rows, :])[:, index]

    def select(self, index: Columns) -> "HeldRows":
        if isinstance(self.matrix, np.ndarray):
            matrix = self.matrix if self.kept is None else self.matrix[self.kept]
            return HeldRows(np.asarray(matrix[:, index]))
        n, d = self.shape
        height = max(LEAST_ROWS, CHUNK // d)
        parts = [self._rows(slice(start, min(start + height, n)), index) for start in range(0, n, height)]
        return HeldRows(np.concatenate(parts))

    def samples(self, chosen: Mask) -> "HeldRows":
        places = np.flatnonzero(chosen)
        return HeldRows(self.matrix, places if self.kept is None else self.kept[places])

    def stored(self) -> Iterator[Array]:
        for rows in blocks_of_rows(self.shape):
            yield np.ascontiguousarray(self._rows(slice(rows.start, min(rows.stop, self.shape[0]))))


@dataclass(frozen=True, eq=False)
class ChunkedDesign:
    """The rows of all chunks, one below the other, each column less a number where proofs ask for that."""

    chunks: Chunks
    taken: Array | None = None
    """What is taken from each column, for products with error bounds; None for nothing."""

    @property
    def shape(self) -> tuple[int, int]:
        return self.chunks.shape

    @property
    def density(self) -> float:
        return 1.0

    @property
    def sparse(self) -> bool:
        """Whether chunks are sparse: then nothing is taken from columns."""
        return bool(getattr(self.chunks, "sparse", False))

    def _each(self, task: Callable[..., T], *samples: Samples, index: Columns = ALL) -> Iterator[T]:
        """Yield what a task makes of each chunk."""
        return self.chunks.each(task, samples, index)

    def matvec(self, x: Array, index: Columns = ALL) -> Samples:
        if not len(x):
            return np.zeros((self.shape[0], *x.shape[1:]))
        return np.concatenate(list(self._each(partial(image_of, x=x), index=index)))

    def rmatvec(self, r: Samples) -> Array:
        return self.chunks.adjoint(r)

    def products(self, vectors: Sequence[Samples]) -> Array:
        return np.ascontiguousarray(self.rmatvec(np.stack(vectors, axis=1)).T)

    def columns(self, index: Columns) -> Samples:
        return self._by_columns(index).T

    def _by_columns(self, index: Columns) -> Array:
        """Return the transpose of columns, whose rows are contiguous."""
        n, d = self.shape
        found, start = np.empty((len(np.arange(d)[index]), n)), 0
        for block in self._each(_entries, index=index):
            found[:, start : start + len(block)] = block.T
            start += len(block)
        return found

    def select(self, index: Columns) -> "ChunkedDesign":
        return ChunkedDesign(self.chunks.select(index))

    def gram(
        self, weights: Samples, index: Columns, others: Columns, unit: float, basis: Samples | None = None
    ) -> Array:
        same = index is others
        places = [np.arange(self.shape[1])[some] for some in ((index,) if same else (index, others))]
        both = np.concatenate(places)
        if weights.min() < 0 or basis is None:
            whole = added(self._each(partial(gram_of, unit=unit), weights, index=both))
        else:
            root = np.sqrt(weights)[:, None] / unit
            rooted = np.linalg.qr(unit * root * basis)[0]
            along = np.zeros((rooted.shape[1], len(both)))
            for _ in range(2):  # a second time, for columns that lie nearly in the span of the basis
                along = along + added(self._each(partial(_along, along=along), root, rooted, index=both))
            whole = added(self._each(partial(_across_gram, along=along), root, rooted, index=both))
        return whole if same else whole[: len(places[0]), len(places[0]) :]

    def packed(self, index: Index) -> Packed:
        return Packed.of(self._by_columns(index).T)

    def samples(self, chosen: Mask) -> "ChunkedDesign":
        return ChunkedDesign(self.chunks.samples(chosen))

    def largest(self) -> float:
        return max(self._each(largest_of))

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        return added(self._each(partial(squares_of, scale=scale), weights))

    def squares_about(self, centres: Array, weights: Array) -> Array:
        """Return the weighted sum of squares of each column less a number."""
        return added(self._each(partial(_squares_about, centres=centres), weights))

    def is_finite(self) -> bool:
        """Return whether every entry is finite."""
        return all(self._each(is_finite))

    @cached_property
    def centres(self) -> Array:
        """Numbers near the means of the columns; any numbers would do, so that they are kept."""
        with quiet():
            means = self.rmatvec(np.full(self.shape[0], 1.0 / self.shape[0]))
        return np.where(np.isfinite(means), means, 0.0)

    def centred(self) -> "ChunkedDesign":
        """Return the design with each column less a float near its mean, for products with error bounds."""
        return replace(self, taken=self.centres)

    def _bounds(self, task: Callable[..., T], *samples: Samples, index: Columns = ALL) -> Iterator[T]:
        """Yield what a task makes of each chunk, each column less what is taken from it."""
        taken = None if self.taken is None else self.taken[index]
        return self.chunks.each(partial(_bounded, task=task, taken=taken), samples, index)

    def enclose(self, x: Enclosure, index: Columns = ALL) -> Enclosure:
        return below(self._bounds(partial(_enclose, x=x), index=index))

    def enclose_adjoint(self, r: Enclosure, norms: Array | None = None) -> Enclosure:
        return summed(self._bounds(_enclose_adjoint, r.mid, r.rad))

    def enclose_columns(self, index: Columns) -> Enclosure:
        columns = Enclosure.exact(self.columns(index))
        return columns if self.taken is None else below(self._bounds(_enclose_columns, index=index))

    def sharp(self, x: Array, index: Index) -> Enclosure:
        return below(self._bounds(partial(_sharp, x=x), index=index))

    def sharp_adjoint(self, r: Enclosure, index: Index) -> Enclosure:
        return summed(self._bounds(_sharp_adjoint, r.mid, r.rad, index=index))

    def norm_bounds(self, weights: Array, index: Index | None = None) -> Array:
        return reduce(_hypot, self._bounds(_norm_bounds, weights, index=ALL if index is None else index))

    def survey(self, r: Enclosure) -> exact.Survey:
        """Return `A' r` and upper bounds of the lengths of the columns, in one pass."""
        lengths = np.zeros(self.shape[1])

        def products() -> Iterator[Enclosure]:
            nonlocal lengths
            for product, own in self._bounds(_survey, r.mid, r.rad):
                lengths = _hypot(lengths, own)
                yield product

        product = summed(products())
        return exact.Survey(product, lengths, None)

    def parts(self) -> Iterator[Array]:
        return self.chunks.stored()

    def rows_as_bytes(self) -> Iterator[bytes | memoryview]:
        yield f"{self.shape}".encode()
        for rows in blocks_of_rows(self.shape):
            lines = bounded(self.chunks.read(slice(rows.start, min(rows.stop, self.shape[0])))).rows_as_bytes()
            next(lines)  # the shape of the block
            yield from lines


def added(parts: Iterator[Array]) -> Array:
    """Return the sum of arrays."""
    total = np.array(next(parts))
    for part in parts:
        total += part
    return total


def below(parts: Iterator[Enclosure]) -> Enclosure:
    """Return rows one below the other."""
    found = list(parts)
    return Enclosure(np.concatenate([part.mid for part in found]), np.concatenate([part.rad for part in found]))


def summed(parts: Iterator[Enclosure]) -> Enclosure:
    """Return the sum of enclosures, whose middles are added up as if in twice the precision."""
    first = next(parts)
    total, spread = first.mid, first.rad
    small, size, count = np.zeros_like(total), np.zeros_like(total), 1
    with quiet():
        for part in parts:
            high = total + part.mid
            shared = high - total
            lost = (total - (high - shared)) + (part.mid - shared)  # exact (Knuth's two-sum)
            total, small, size = high, small + lost, size + np.abs(lost)
            spread = up(spread + part.rad)
            count += 1
        return first if count == 1 else exact.rounded(total, small, size, count, spread)


def _hypot(first: Array, second: Array) -> Array:
    """Return upper bounds of lengths, from those of two parts."""
    return np.asarray(up(np.hypot(first, second) * (1 + 2.0**-50)))


def _bounded(design: Any, *parts: Samples, task: Callable[..., T], taken: Array | None) -> T:
    """Return what a task makes of a chunk, each column less a number."""
    return task(design if taken is None else CentredDesign(design, taken), *parts)


def image_of(design: Any, x: Array) -> Array:
    """Return `A x` for the rows of a chunk."""
    return np.asarray(design.matvec(x))


def adjoint_of(design: Any, r: Array) -> Array:
    """Return what the rows of a chunk add to `A' r`."""
    return np.asarray(design.rmatvec(r))


def _entries(design: Any) -> Array:
    return np.asarray(design.columns(ALL))


def gram_of(design: Any, weights: Array, unit: float) -> Array:
    """Return what the rows of a chunk add to a Gram matrix."""
    return np.asarray(design.gram(weights, ALL, ALL, unit))


def _along(design: Any, root: Array, rooted: Array, along: Array) -> Array:
    return np.asarray(rooted.T @ (root * design.columns(ALL) - rooted @ along))


def _across_gram(design: Any, root: Array, rooted: Array, along: Array) -> Array:
    return gram_across(root * design.columns(ALL), rooted, along)


def gram_across(columns: Array, basis: Array, along: Array) -> Array:
    """Return the Gram matrix of columns less their part along a basis."""
    across = columns - basis @ along
    return np.asarray(across.T @ across)


def largest_of(design: Any) -> float:
    """Return the largest absolute entry of a chunk."""
    return float(design.largest())


def squares_of(design: Any, weights: Array, scale: float) -> Array:
    """Return what the rows of a chunk add to the squares of the columns."""
    return np.asarray(design.squared_norms(weights, scale))


def is_finite(design: Any) -> bool:
    """Return whether all entries of a chunk are finite."""
    return bool(design.is_finite())


def _squares_about(design: Any, weights: Array, centres: Array) -> Array:
    if isinstance(design, DenseDesign):
        off = design.columns(ALL) - centres
        return np.asarray(weights @ (off * off))
    stored, d = design.matrix.tocoo(), len(centres)
    weighed, off = weights[stored.row], stored.data - centres[stored.col]
    there = np.bincount(stored.col, weighed * off * off, d)
    zeros = float(weights.sum()) - np.bincount(stored.col, weighed, d)
    return np.asarray(there + zeros * centres * centres)


def _enclose(design: Any, x: Enclosure) -> Enclosure:
    found: Enclosure = design.enclose(x)
    return found


def _enclose_columns(design: Any) -> Enclosure:
    found: Enclosure = design.enclose_columns(ALL)
    return found


def _enclose_adjoint(design: Any, mid: Array, rad: Array) -> Enclosure:
    found: Enclosure = design.enclose_adjoint(Enclosure(mid, rad))
    return found


def _sharp(design: Any, x: Array) -> Enclosure:
    found: Enclosure = design.sharp(x, np.arange(design.shape[1]))
    return found


def _sharp_adjoint(design: Any, mid: Array, rad: Array) -> Enclosure:
    found: Enclosure = design.sharp_adjoint(Enclosure(mid, rad), np.arange(design.shape[1]))
    return found


def _norm_bounds(design: Any, weights: Array) -> Array:
    return np.asarray(design.norm_bounds(weights))


def _survey(design: Any, mid: Array, rad: Array) -> tuple[Enclosure, Array]:
    if mid.ndim == 1:
        dense = isinstance(design, DenseDesign | CentredDesign)
        found = design.survey(Enclosure(mid, rad), **({"told": False} if dense else {}))
        return found.product, found.lengths
    lengths = design.norm_bounds(np.ones(len(mid)))
    return design.enclose_adjoint(Enclosure(mid, rad), lengths), lengths
