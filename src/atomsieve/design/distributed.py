"""Designs in the hands of dask: row chunks of a dask array, dense or sparse, persisted where the workers are.

A product with A' is one task for each chunk and a tree of sums, so that d numbers come to the client; so is a Gram
matrix. Predictions, theta, columns and all else that is as long as the samples stays in chunks, on the workers.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any, NoReturn, TypeVar

import numpy as np
from scipy.sparse import issparse, vstack

from atomsieve.design.base import ALL, Columns, blocks_of_rows, bounded
from atomsieve.design.chunked import (
    LEAST_ROWS,
    ChunkedDesign,
    adjoint_of,
    gram_across,
    image_of,
    is_finite,
    largest_of,
    squares_of,
)
from atomsieve.design.dense import DenseDesign
from atomsieve.design.sparse import SparseDesign
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.digest import Sha256
from atomsieve.numerics.namespace import held
from atomsieve.numerics.rounding import EPS
from atomsieve.numerics.samplewise import Made, Then, evaluate
from atomsieve.numerics.tasks import AT_ONCE, Trip, in_parts, received, rows_of
from atomsieve.typing import Array, Index, Mask, Samples

T = TypeVar("T")

TOGETHER = 16
"""Chunks whose results may wait on the client at one time, where they are not added up."""


LEAST_KEPT = 1e-2
"""Part of the square of a column that must be left when its part in the span of a basis is taken away in one step."""

ROWS_HELD = 1 << 14
"""Entries of the rows of which a Gram matrix is made at a time: 128 kB, beyond which workers of dask ask the system for
new memory each time (29 ms and not 89 for 50 columns of 125,000 samples)."""


@dataclass(frozen=True, eq=False)
class DaskDesign:
    """A as a dask array with all columns in each chunk."""

    matrix: Any

    @classmethod
    def of(cls, X: Any, name: str) -> "DaskDesign":
        """Persist X by rows; refuse numbers that are not real."""
        if X.dtype.kind not in "fiub":
            raise ValueError(f"{name} must hold real numbers, got dtype {X.dtype}.")
        if np.isnan(X.shape[0]):
            X = X.compute_chunk_sizes()
        return cls(held(by_rows(X)))

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])

    @cached_property
    def density(self) -> float:
        """The fraction of entries that are stored."""
        n, d = self.shape
        return float(self._total(_stored)) / (n * d)

    @cached_property
    def hosted(self) -> ChunkedDesign:
        """The same matrix for proofs, whose parts are made where the chunks are."""
        return ChunkedDesign(WorkerRows(self.matrix))

    def _total(self, task: Callable[..., Any], *samples: Samples, combine: Any = sum, index: Columns = ALL) -> Any:
        """Return what a task makes of the chunks, combined in a tree on the workers."""
        return reduced(self.matrix, partial(_run, task=task, index=index), samples, combine)

    def sweep(
        self, formula: Callable[..., Made], *samples: Samples, index: Columns = ALL, then: Then | None = None
    ) -> Made:
        """Return what a formula makes of samples and of the rows of A beside them, which it gets as a design."""
        matrix, places = self._narrowed(index)
        return evaluate(partial(_run, task=formula, index=places), matrix, *samples, then=then)

    def narrow(self, index: Index) -> tuple[Any, Columns]:
        """Return chunks that hold some columns, and the places of these there; they are kept for who asks next."""
        if 2 * len(index) <= self.shape[1] and self._narrowed(index)[0] is self.matrix:
            chunks = (self.matrix.chunks[0], (len(index),))
            matrix = self.matrix.map_blocks(_taken, index=index, dtype=self.matrix.dtype, chunks=chunks)
            self._kept[:] = [(index, held(matrix))]
        return self._narrowed(index)

    def _narrowed(self, index: Columns) -> tuple[Any, Columns]:
        """Return the same without keeping any columns that are not kept yet."""
        if isinstance(index, slice):
            return self.matrix, index
        for columns, matrix in self._kept:
            order = np.argsort(columns)
            places = order[np.minimum(np.searchsorted(columns, index, sorter=order), len(columns) - 1)]
            if np.array_equal(columns[places], index):
                return matrix, ALL if np.array_equal(places, np.arange(len(columns))) else places
        return self.matrix, index

    @cached_property
    def _kept(self) -> list[tuple[Index, Any]]:
        """The columns of which a Gram matrix was made last, beside X on the workers."""
        return []

    def matvec(self, x: Array, index: Columns = ALL) -> Samples:
        return self._mapped(partial(_run, task=partial(image_of, x=x), index=index), x.shape[1:])

    def _mapped(self, task: Callable[..., Any], width: tuple[int, ...]) -> Samples:
        """Return an array with the rows that a task makes of each chunk."""
        trip = Trip()
        kept = trip.fetch([], trip.each(task, trip.chunks(self.matrix)))[1]
        return in_parts(kept, np.asarray, self.matrix.chunks[0], width)

    def rmatvec(self, r: Samples) -> Array:
        return np.asarray(self._total(adjoint_of, r))

    def products(self, vectors: Sequence[Samples]) -> Array:
        return np.stack([self.rmatvec(r) for r in vectors])

    def columns(self, index: Columns) -> Samples:
        return self._mapped(partial(_run, task=_entries, index=index), (len(np.arange(self.shape[1])[index]),))

    def select(self, index: Columns) -> "DaskDesign":
        count = len(np.arange(self.shape[1])[index])
        chunks = (self.matrix.chunks[0], (count,))
        return DaskDesign(held(self.matrix.map_blocks(_picked, index=index, dtype=self.matrix.dtype, chunks=chunks)))

    def gram(
        self, weights: Samples, index: Columns, others: Columns, unit: float, basis: Samples | None = None
    ) -> Array:
        every = np.arange(self.shape[1])
        left, right = every[index], every[others]
        both = left if index is others else np.concatenate([left, right])
        whole = Asked(self, weights, both, unit, basis).gram
        return np.array(whole if index is others else whole[: len(left), len(left) :], order="C")

    @cached_property
    def _taken(self) -> dict[int, Array]:
        """Coordinates of columns that are far in the span of a basis, by the number of its columns."""
        return {}

    def _gram_across(self, weights: Samples, both: Index, unit: float, basis: Samples) -> tuple[Array, Array]:
        """Return the Gram matrix of columns modulo a basis, and their coordinates in it."""
        transform = np.eye(basis.shape[1])
        for _ in range(2):  # orthonormal to rounding after the second time
            inner = reduced(basis, partial(_plain, task=partial(_basis_gram, transform=transform)), (weights,), sum)
            transform = transform @ inverse_root(np.asarray(inner))
        along = np.zeros((transform.shape[1], len(both)))
        for _ in range(2):  # a second time, for columns that lie nearly in the span of the basis
            task = partial(_along_basis, along=along, transform=transform, unit=unit)
            along = along + self._total(task, weights, basis, index=both)
        task = partial(_across_basis, along=along, transform=transform, unit=unit)
        return np.asarray(self._total(task, weights, basis, index=both)), transform @ along

    def packed(self, index: Index) -> NoReturn:
        raise TypeError("The columns of this design stay where they are.")  # pragma: no cover

    def samples(self, chosen: Mask) -> "DaskDesign":
        kept = self.matrix[np.flatnonzero(chosen)]
        rows = tuple(count for count in kept.chunks[0] if count)
        return DaskDesign(held(kept.rechunk({0: rows})))

    def largest(self) -> float:
        return float(self._total(largest_of, combine=max))

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        for before, at, found in self._squares:
            if before is weights and at == scale:
                return found
        found = np.asarray(self._total(partial(squares_of, scale=scale), weights))
        self._squares[:] = [(weights, scale, found)]
        return found

    @cached_property
    def _squares(self) -> list[tuple[Samples, float, Array]]:
        """The weights and the scale of the last lengths, and their squares: norms with and without B ask for them."""
        return []

    def is_finite(self) -> bool:
        """Return whether every entry is finite."""
        return bool(self._total(is_finite, combine=all))


@dataclass(eq=False)
class Asked:
    """A Gram matrix of columns, modulo a basis if there is one: asked for in a trip of its own, or in another one."""

    design: DaskDesign
    weights: Samples
    both: Index
    unit: float
    basis: Samples | None
    found: Any = None
    """What the trip brought: the Gram matrix of the basis and of the columns less multiples of it."""

    @cached_property
    def _near(self) -> Array | None:
        """What is taken from the columns at once: their coordinates along the basis, as far as they are known."""
        taken = None if self.basis is None else self.design._taken.get(self.basis.shape[1])
        return None if taken is None else taken[:, self.both] / self.unit

    def start(self, trip: Trip) -> Any:
        """Add the tasks to a trip, and return the node of what they make."""
        samples = (self.weights,) if self.basis is None else (self.weights, self.basis)
        matrix, places = self.design.narrow(self.both)
        task = partial(_gram, index=places, unit=self.unit, taken=self._near)
        return trip.joined(trip.each(task, *map(trip.chunks, (matrix, *samples))), sum)

    def answers(self, design: Any, index: Index, unit: float) -> bool:
        """Return whether this has brought what is asked for now."""
        same = design is self.design and unit == self.unit and np.array_equal(index, self.both)
        return self.found is not None and same

    @property
    def gram(self) -> Array:
        """The Gram matrix; it takes a trip if none has brought it, or more where too many digits cancel."""
        if self.found is None:
            trip = Trip()
            self.found = trip.fetch([self.start(trip)])[0][0]
        gram = np.asarray(self.found)
        if self.basis is None:
            return gram
        k = self.basis.shape[1]
        values, vectors = np.linalg.eigh(gram[:k, :k])
        if values[0] > LEAST_KEPT * values[-1]:
            along = (vectors.T @ gram[:k, k:]) / np.sqrt(values)[:, None]
            whole = gram[k:, k:] - along.T @ along
            if (whole.diagonal() >= LEAST_KEPT * gram.diagonal()[k:]).all():
                return np.asarray(whole)
        return self._across(self.basis)

    def _across(self, basis: Samples) -> Array:
        """Return it in several trips; what is found on the way is taken away first the next time: any multiple may."""
        design, k = self.design, basis.shape[1]
        whole, along = design._gram_across(self.weights, self.both, self.unit, basis)
        before = design._taken.get(k)
        taken = np.zeros((k, design.shape[1])) if before is None else before.copy()
        taken[:, self.both] = self.unit * along
        design._taken[k] = taken
        return whole


@dataclass(frozen=True, eq=False)
class WorkerRows:
    """The rows of a persisted dask array, for proofs: bounds are made on the workers."""

    matrix: Any

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])

    @property
    def sparse(self) -> bool:
        """Whether chunks are sparse."""
        return issparse(self.matrix._meta)

    def each(self, task: Callable[..., T], samples: Sequence[Samples] = (), index: Columns = ALL) -> Iterator[T]:
        ends = np.cumsum(self.matrix.chunks[0])
        places = [slice(int(end - count), int(end)) for end, count in zip(ends, self.matrix.chunks[0], strict=True)]
        parts = [tuple(part[rows] for part in samples) for rows in places]
        run = partial(_run, task=task, index=index)
        for start in range(0, len(parts), TOGETHER):
            trip, some = Trip(), slice(start, start + TOGETHER)
            given = [[trip.shared(array) for array in column] for column in zip(*parts[some], strict=True)]
            yield from trip.fetch(trip.each(run, trip.chunks(self.matrix)[some], *given))[0]

    def adjoint(self, r: Array) -> Array:
        total = np.zeros((self.shape[1], *r.shape[1:]))
        for part in self.each(adjoint_of, (r,)):
            total += part
        return total

    def read(self, rows: slice) -> Any:
        return design_of(self.matrix[rows].compute())

    def _within(self, rows: slice) -> Iterator[tuple[int, int, int]]:
        """Yield the chunks that have some of the rows, and the places within each where these begin and end."""
        ends = np.cumsum(self.matrix.chunks[0]).tolist()
        for k in range(bisect_right(ends, rows.start), len(ends)):
            start = ends[k] - self.matrix.chunks[0][k]
            if start >= rows.stop:
                return
            yield k, max(rows.start - start, 0), min(rows.stop, ends[k]) - start

    def select(self, index: Columns) -> "WorkerRows":
        return WorkerRows(DaskDesign(self.matrix).select(index).matrix)

    def samples(self, chosen: Mask) -> "WorkerRows":
        return WorkerRows(DaskDesign(self.matrix).samples(chosen).matrix)

    def stored(self) -> Iterator[Array]:
        """Yield a digest of each chunk, made where it is: that tells whether it has changed."""
        yield from self.each(_digest)

    def digest_after(self, digest: Sha256) -> Sha256:
        """Return a digest after the rows, which are hashed in their order where they lie.

        Its state goes from worker to worker; of rows that are hashed together the fewer ones go to the more.
        """
        trip = Trip()
        chunks, state = trip.chunks(self.matrix), trip.shared(digest)
        for rows in blocks_of_rows(self.shape):
            parts = [(chunks[k], start, stop) for k, start, stop in self._within(rows)]
            pieces = [trip.task(_rows, *part) for part in parts] if len(parts) > 1 else parts[0]
            state = trip.task(_digest_after, state, *pieces)
        found: Sha256 = trip.fetch([state])[0][0]
        return found


def by_rows(X: Any) -> Any:
    """Return a dask array with all columns in each chunk, and no chunk without rows."""
    rows = tuple(count for count in X.chunks[0] if count)
    return X.rechunk({0: rows, 1: -1}) if rows != X.chunks[0] or len(X.chunks[1]) > 1 else X


def reduced(matrix: Any, task: Callable[..., Any], samples: Sequence[Samples], combine: Callable[..., Any]) -> Any:
    """Return what a task makes of the chunks of a matrix and of their part of the samples, combined in a tree."""
    trip = Trip()
    made = trip.each(task, *map(trip.chunks, (matrix, *samples)))
    return trip.fetch([trip.joined(made, combine)])[0][0]


def design_of(block: Any) -> Any:
    """Return the design of a chunk."""
    return SparseDesign.of(block, "X") if issparse(block) else DenseDesign.of(received(np.asarray(block)), "X")


def inverse_root(gram: Array) -> Array:
    """Return T with `T' G T = I` on the range of a Gram matrix G."""
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    there = values > 16 * len(values) * EPS * max(float(values[-1]), 0.0)
    return np.asarray(vectors[:, there] / np.sqrt(values[there]))


def _run(block: Any, *parts: Samples, task: Callable[..., T], index: Columns) -> T:
    """Return what a task makes of some columns of a chunk."""
    task = received(task)
    return task(design_of(_picked(block, index)), *map(received, parts))


def _plain(block: Any, *parts: Samples, task: Callable[..., T]) -> T:
    return task(*map(received, (block, *parts)))


def _picked(block: Any, index: Columns) -> Any:
    if isinstance(index, slice) and index == ALL:
        return block
    chunk: Any = block
    return chunk.tocsc()[:, index] if issparse(block) else block[:, index]


def _entries(design: Any) -> Array:
    return np.ascontiguousarray(design.columns(ALL))


def _stored(design: Any) -> float:
    return float(design.density * design.shape[0] * design.shape[1])


def _digest(design: Any) -> Array:
    whole = sha256()
    for part in design.parts():
        whole.update(np.ascontiguousarray(part).data)
    return np.frombuffer(whole.digest(), dtype=np.float64)


def _rows(block: Any, start: int, stop: int) -> Any:
    return block[start:stop]


def _digest_after(digest: Sha256, *pieces: Any) -> Sha256:
    """Return a digest after some rows: those of one chunk between two places, or pieces of several chunks."""
    if len(pieces) == 3 and isinstance(pieces[1], int):
        pieces = (_rows(*pieces),)
    block = pieces[0] if len(pieces) == 1 else _stacked(pieces)
    lines = bounded(design_of(block)).rows_as_bytes()
    next(lines)  # the shape of the block
    return digest.after(lines)


def _stacked(pieces: Sequence[Any]) -> Any:
    return vstack(pieces, format="csr") if issparse(pieces[0]) else np.concatenate(pieces)


def _gram(block: Any, weights: Array, *basis: Array, index: Columns, unit: float, taken: Array | None) -> Array:
    """Return the Gram matrix of a basis and of columns less multiples of it, some rows at a time: in cache."""
    samples = tuple(map(rows_of, (weights, *basis)))
    width = block[:1, index].shape[1] + sum(part.shape[1] for part in basis)
    height, total = max(LEAST_ROWS, ROWS_HELD // (width + 1)), np.zeros((width, width))
    for start in range(0, block.shape[0], AT_ONCE):
        weighted, *own = (part[start : start + AT_ONCE] for part in samples)
        roots = np.sqrt(weighted)[:, None]
        for first in range(0, len(roots), height):
            some = slice(first, first + height)
            rows = _doubles(block[start + first : min(start + first + height, start + AT_ONCE)], index) / unit
            before = [part[some] for part in own]
            if before and taken is not None:
                rows -= before[0] @ taken
            rows = np.hstack([*before, rows]) if before else rows
            rows *= roots[some]
            total += rows.T @ rows
    return total


def _taken(block: Any, index: Index) -> Any:
    """Return columns of a chunk, row by row if it is dense."""
    return _picked(block, index).tocsr() if issparse(block) else np.take(block, index, axis=1)


def _doubles(rows: Any, index: Columns) -> Array:
    """Return columns of some rows, in doubles."""
    chunk: Any = rows
    if issparse(rows):
        return np.ascontiguousarray(chunk.tocsc()[:, index].toarray(), dtype=np.float64)
    chosen = np.asarray(rows) if isinstance(index, slice) else np.take(np.asarray(rows), index, axis=1)
    return chosen.astype(np.float64, copy=False)


def _basis_gram(basis: Array, weights: Array, transform: Array) -> Array:
    rooted = np.sqrt(weights)[:, None] * (basis @ transform)
    return np.asarray(rooted.T @ rooted)


def _along_basis(design: Any, weights: Array, basis: Array, *, along: Array, transform: Array, unit: float) -> Array:
    root = np.sqrt(weights)[:, None]
    rooted = root * (basis @ transform)
    return np.asarray(rooted.T @ (root / unit * design.columns(ALL) - rooted @ along))


def _across_basis(design: Any, weights: Array, basis: Array, *, along: Array, transform: Array, unit: float) -> Array:
    root = np.sqrt(weights)[:, None]
    return gram_across(root / unit * design.columns(ALL), root * (basis @ transform), along)
