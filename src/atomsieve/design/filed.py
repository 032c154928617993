"""Designs in files: each pass over the file tells as much as it can, and columns that matter are read once.

What is asked of some columns alone (working sets, supports, candidates of a proof) is answered by columns that are
held as they are stored; a file by rows takes one pass for all that are new, a file by columns reads just these. So the
passes of a run are those that look at all columns: one for each look, and one in the beginning.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from atomsieve.design.base import ALL, Columns, blocks_of_rows, bounded, surveyed
from atomsieve.design.centred import CentredDesign
from atomsieve.design.chunked import CHUNK, ChunkedDesign, HeldRows, adjoint_of, largest_of, squares_of
from atomsieve.design.dense import MODERATE, DenseDesign
from atomsieve.design.files import File, spans
from atomsieve.design.shelf import FileRows, Shelf
from atomsieve.numerics import exact
from atomsieve.numerics.enclosures import Enclosure, quiet
from atomsieve.typing import Array, Index, Mask, Samples

T = TypeVar("T")


class FirstLook(NamedTuple):
    """What the first pass tells of each column."""

    squares: Array
    sums: Array
    finite: bool


@dataclass(frozen=True, eq=False)
class FiledDesign(ChunkedDesign):
    """A matrix in a file. Chunks are rows of it; where it is stored by columns, sums over all are made by columns."""

    shelf: Shelf = field(default_factory=Shelf)
    memory: dict[str, Any] = field(default_factory=dict)
    """What the first pass has told; the same design less its centres has it, too."""

    @property
    def rows(self) -> FileRows:
        """The rows of the file."""
        rows: FileRows = self.chunks  # type: ignore[assignment]
        return rows

    @property
    def file(self) -> File:
        """The file."""
        return self.rows.file

    @property
    def first_look(self) -> FirstLook:
        """Sums of squares and sums of the columns, and whether all entries are finite, in one pass."""
        if "first" not in self.memory:
            with quiet():
                looks = list(self._by_columns_of(_first_look) or [])
                if looks:
                    parts = [np.concatenate(part) for part in zip(*(look[:2] for look in looks), strict=True)]
                    found = FirstLook(parts[0], parts[1], all(look.finite for look in looks))
                else:
                    found = _added_looks(self.rows.each(_first_look))
            self.memory["first"] = found
        known: FirstLook = self.memory["first"]
        return known

    def is_finite(self) -> bool:
        return self.first_look.finite

    @property
    def centres(self) -> Array:
        """Numbers near the means of the columns."""
        means = self.first_look.sums / self.shape[0]
        return np.where(np.isfinite(means), means, 0.0)

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        if weights.min() == weights.max() and MODERATE[0] < scale < MODERATE[1]:
            return float(weights[0]) / scale / scale * self.first_look.squares
        parts = self._by_columns_of(partial(squares_of, weights=weights, scale=scale))
        return super().squared_norms(weights, scale) if parts is None else np.concatenate(list(parts))

    def _by_columns_of(self, task: Callable[[Any], T], *, centred: bool = False) -> Iterator[T] | None:
        """Yield what a task makes of some columns at a time; None where the file is stored by rows."""
        return self._strips(task, centred) if self.file.by_columns else None

    def _strips(self, task: Callable[[Any], T], centred: bool) -> Iterator[T]:
        n, d = self.shape
        for places, block in self.rows.strips(np.arange(d)):
            for some in spans(block.shape[1], max(1, CHUNK // n)):
                design: Any = DenseDesign.of(block[:, some], "X")
                if centred and self.taken is not None:
                    own = slice(places.start + some.start, places.start + some.stop)
                    design = CentredDesign(design, self.taken[own])
                yield task(design)

    def near(self, index: Columns) -> ChunkedDesign:
        """Return the design of some columns, which are held."""
        taken = None if self.taken is None else self.taken[index]
        return ChunkedDesign(self.shelf.get(self.rows, np.arange(self.shape[1])[index]), taken)

    def matvec(self, x: Array, index: Columns = ALL) -> Samples:
        places = np.arange(self.shape[1])[index]
        used = np.flatnonzero(x if x.ndim == 1 else x.any(axis=1))
        if not len(used):
            return np.zeros((self.shape[0], *x.shape[1:]))
        if self._is_all(places[used]):
            return super().matvec(x, index)
        return self.near(places[used]).matvec(x[used])

    def _is_all(self, places: Index) -> bool:
        """Return whether columns of a file by rows are so many that a pass over them is better than to hold them."""
        return 2 * len(places) > self.shape[1] and not self.file.by_columns

    def rmatvec(self, r: Samples) -> Array:
        if (r == r[:1]).all():  # an intercept asks for the means, which are known
            return np.asarray(np.multiply.outer(self.first_look.sums, r[0]))
        parts = self._by_columns_of(partial(adjoint_of, r=r))
        return super().rmatvec(r) if parts is None else np.concatenate(list(parts))

    def _by_columns(self, index: Columns) -> Array:
        held: Any = self.near(index).chunks
        found = np.empty((len(held.held), self.shape[0]))
        for row, column in zip(found, held.held, strict=True):
            row[:] = column
        return found

    def select(self, index: Columns) -> ChunkedDesign:
        return replace(self.near(index), taken=None)

    def samples(self, chosen: Mask) -> "FiledDesign":
        return FiledDesign(self.rows.samples(chosen))

    def sample(self, count: int) -> tuple[Index, Any]:
        """Return about so many rows, and their design, in memory."""
        rows = self.file.some(count)
        if self.rows.kept is not None:
            rows = rows[self.rows.kept[rows]]
        block = self.file.taken(rows)
        places = rows if self.rows.kept is None else (np.cumsum(self.rows.kept) - 1)[rows]
        narrow = block.dtype.itemsize < np.dtype(np.float64).itemsize
        return places, ChunkedDesign(HeldRows(block)) if narrow else DenseDesign.of(block, "X")

    def gram(
        self, weights: Samples, index: Columns, others: Columns, unit: float, basis: Samples | None = None
    ) -> Array:
        places = [np.arange(self.shape[1])[some] for some in (index, others)]
        both = np.union1d(*places)
        left, right = (np.searchsorted(both, some) for some in places)
        return self.near(both).gram(weights, left, left if index is others else right, unit, basis)

    def largest(self) -> float:
        parts = self._by_columns_of(largest_of)
        return super().largest() if parts is None else max(parts)

    def enclose(self, x: Enclosure, index: Columns = ALL) -> Enclosure:
        places = np.arange(self.shape[1])[index]
        return super().enclose(x, index) if self._is_all(places) else self.near(places).enclose(x)

    def enclose_columns(self, index: Columns) -> Enclosure:
        return self.near(index).enclose_columns(ALL)

    def sharp(self, x: Array, index: Index) -> Enclosure:
        return self.near(index).sharp(x, np.arange(len(index)))

    def sharp_adjoint(self, r: Enclosure, index: Index) -> Enclosure:
        return self.near(index).sharp_adjoint(r, np.arange(len(index)))

    def enclose_adjoint(self, r: Enclosure, norms: Array | None = None) -> Enclosure:
        parts = self._by_columns_of(partial(_enclose_adjoint, r=r), centred=True)
        return super().enclose_adjoint(r, norms) if parts is None else _joined(parts)

    def norm_bounds(self, weights: Array, index: Index | None = None) -> Array:
        if index is not None:
            return self.near(index).norm_bounds(weights)
        parts = self._by_columns_of(partial(_norm_bounds, weights=weights), centred=True)
        return super().norm_bounds(weights) if parts is None else np.concatenate(list(parts))

    def survey(self, r: Enclosure) -> exact.Survey:
        """Return `A' r`, upper bounds of the lengths of the columns, and the fingerprint, in one pass."""
        seen: list[bytes] = []

        def watch(rows: slice, columns: slice, block: NDArray[Any]) -> None:
            self.shelf.compare(rows, columns, block)
            stored = block.T if self.file.by_columns else block
            seen.append(exact.fingerprint([np.ascontiguousarray(stored)]))

        watching = replace(self, chunks=replace(self.rows, watch=watch))
        parts = watching._by_columns_of(partial(_survey, r=r), centred=True)
        if parts is None:
            product, lengths, _ = ChunkedDesign.survey(watching, r)
        else:
            found = list(parts)
            product, lengths = _joined(one.product for one in found), np.concatenate([one.lengths for one in found])
        return exact.Survey(product, lengths, b"".join(seen))

    def parts(self) -> Iterator[Array]:
        yield from replace(self.rows, watch=self.shelf.compare).stored()

    def squares_of(self, free: Enclosure, index: Index, weights: Array) -> tuple[Array, Array]:
        """Return `C' diag(w) C` for free columns and some of A, and for their radii the diagonal alone."""
        parts = self.near(index)._bounds(_products, free.mid, free.rad, weights)
        gram, blurs = next(parts)
        for more, others in parts:
            gram, blurs = gram + more, blurs + others
        return gram, blurs

    def rows_as_bytes(self) -> Iterator[bytes | memoryview]:
        yield f"{self.shape}".encode()
        first = next(blocks_of_rows(self.shape))
        for block in restacked((block for _, block in self.rows.pieces()), first.stop):
            lines = bounded(DenseDesign.of(block, "X")).rows_as_bytes()
            next(lines)  # the shape of the block
            yield from lines


def restacked(blocks: Iterator[NDArray[Any]], height: int) -> Iterator[NDArray[Any]]:
    """Yield the same rows in blocks of a height; the last one may be lower."""
    left: NDArray[Any] | None = None
    for block in blocks:
        whole = block if left is None else np.concatenate([left, block])
        done = len(whole) - len(whole) % height
        yield from (whole[rows] for rows in spans(done, height))
        left = whole[done:].copy()
    if left is not None and len(left):
        yield left


def _first_look(design: Any) -> FirstLook:
    n = design.shape[0]
    squares, sums = design.squared_norms(np.ones(n)), design.rmatvec(np.ones(n))
    finite = np.isfinite(squares.max()) or design.is_finite()  # a sum of squares may overflow
    return FirstLook(np.array(squares), np.array(sums), bool(finite))


def _added_looks(looks: Iterator[FirstLook]) -> FirstLook:
    squares, sums, finite = next(looks)
    for look in looks:
        squares += look.squares
        sums += look.sums
        finite = finite and look.finite
    return FirstLook(squares, sums, finite)


def _joined(parts: Iterable[Enclosure]) -> Enclosure:
    found = list(parts)
    return Enclosure(np.concatenate([part.mid for part in found]), np.concatenate([part.rad for part in found]))


def _norm_bounds(design: Any, weights: Array) -> Array:
    return np.asarray(design.norm_bounds(weights))


def _enclose_adjoint(design: Any, r: Enclosure) -> Enclosure:
    found: Enclosure = design.enclose_adjoint(r)
    return found


def _survey(design: Any, r: Enclosure) -> exact.Survey:
    return surveyed(design, r)


def _products(design: Any, mid: Array, rad: Array, weights: Array) -> tuple[Array, Array]:
    """Return what the rows of a chunk add to the products of columns beside free ones."""
    own, roots = design.enclose_columns(ALL), np.sqrt(weights)[:, None]
    half = np.concatenate([mid, own.mid], axis=1) * roots
    blur = np.concatenate([rad, np.broadcast_to(own.rad, own.mid.shape)], axis=1) * roots
    return half.T @ half, np.sum(blur * blur, axis=0)
