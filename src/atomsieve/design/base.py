"""A design is the matrix A, used only through its products. Only this folder knows data formats."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np

from atomsieve.core import Packed
from atomsieve.numerics.enclosures import Enclosure
from atomsieve.numerics.exact import Survey
from atomsieve.typing import Array, Index, Mask, Samples

Columns: TypeAlias = slice | Index
"""A selection of columns of A: a slice or an array of positions."""

ALL = slice(None)


def as_slice(index: Index) -> Columns:
    """Return sorted positions as a slice if they are contiguous; designs read a slice without a copy."""
    first, last = int(index[0]), int(index[-1])
    return slice(first, last + 1) if last - first == len(index) - 1 else index


@dataclass(frozen=True, eq=False)
class Recent:
    """A cache of columns that were used recently, up to a total number of entries.

    Conditional gradients use the same few columns again and again. In a matrix stored by rows, reading one column means
    going through all rows.
    """

    capacity: int
    _blocks: dict[tuple[int, int], Any] = field(default_factory=dict)
    _sizes: list[int] = field(default_factory=list)

    def get(self, index: slice, make: Callable[[], Any]) -> Any:
        """Return the block of these columns; make it if it is not in the cache."""
        key = (index.start, index.stop)
        if key not in self._blocks:
            if sum(self._sizes) > self.capacity:
                self._blocks.clear()
                self._sizes.clear()
            self._blocks[key] = make()
            self._sizes.append(self._blocks[key].size)
        return self._blocks[key]


class Design(Protocol):
    """The n x d matrix A. x is on the host, predictions are where the data are."""

    @property
    def shape(self) -> tuple[int, int]:
        """Return (n, d)."""

    @property
    def density(self) -> float:
        """Return the fraction of the entries that a product reads."""

    def matvec(self, x: Array, index: Columns = ALL) -> Samples:
        """Return `A[:, index] x` for a vector or matrix x with one row per chosen column."""

    def rmatvec(self, r: Samples) -> Array:
        """Return `A' r` for a vector or matrix r with n rows."""

    def products(self, vectors: Sequence[Samples]) -> Array:
        """Return `A' r` for several r, one row for each."""

    def columns(self, index: Columns) -> Samples:
        """Return `A[:, index]` as a dense n x m array."""

    def select(self, index: Columns) -> "Design":
        """Return a compact design of the chosen columns; the cost of its products is in proportion to their number."""

    def gram(
        self, weights: Samples, index: Columns, others: Columns, unit: float, basis: Samples | None = None
    ) -> Array:
        """Return `A[:, index]' diag(weights) A[:, others] / unit^2` on the host, modulo the span of a basis.

        That is, the projection on the basis, in the inner product of the weights, is subtracted from every column. The
        unit keeps squares of huge and tiny entries in range.
        """

    def packed(self, index: Index) -> Packed:
        """Return the chosen columns on the host for the compiled core, without a copy if they are stored by columns."""

    def samples(self, chosen: Mask) -> "Design":
        """Return the design of the chosen samples."""

    def largest(self) -> float:
        """Return the largest absolute entry."""

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        """Return `sum_i w_i (A_ij / scale)^2` for each column j."""


class Enclosed(Protocol):
    """A matrix whose products come with bounds of all rounding errors."""

    @property
    def shape(self) -> tuple[int, int]:
        """Return (n, d)."""

    def enclose(self, x: Enclosure, index: Columns = ALL) -> Enclosure:
        """Return `A[:, index] x`."""

    def enclose_adjoint(self, r: Enclosure, norms: Array | None = None) -> Enclosure:
        """Return `A' r`; `norms` are known bounds of the column norms, if any."""

    def enclose_columns(self, index: Columns) -> Enclosure:
        """Return `A[:, index]`; there is no error if A is stored entry by entry."""

    def sharp(self, x: Array, index: Index) -> Enclosure:
        """Return `A[:, index] x` for floats x, as if summed in twice the precision where entries are known exactly."""

    def sharp_adjoint(self, r: Enclosure, index: Index) -> Enclosure:
        """Return `A[:, index]' r`, as if summed in twice the precision where entries are known exactly."""

    def norm_bounds(self, weights: Array, index: Index | None = None) -> Array:
        """Return upper bounds of `sqrt(sum_i w_i A_ij^2)` for each column j, given upper bounds of the w_i.

        With an index, for these columns only.
        """


class BoundedDesign(Design, Enclosed, Protocol):
    """A design that can also compute its products with error bounds."""

    def rows_as_bytes(self) -> Iterator[bytes | memoryview]:
        """Yield the shape and then the non-zero entries as bytes; they do not depend on the storage format.

        For each block of rows: the number of non-zero entries in each row, their columns, their values.
        """

    def parts(self) -> Iterator[Array]:
        """Yield the arrays in which the entries are stored, for a fingerprint."""


def surveyed(design: Enclosed, r: Enclosure) -> Survey:
    """Return `A' r` and upper bounds of the lengths of all columns, in one pass where the entries are stored."""
    if r.ndim == 1 and hasattr(design, "survey"):
        found: Survey = design.survey(r)
        return found
    lengths = design.norm_bounds(np.ones(design.shape[0]))
    return Survey(design.enclose_adjoint(r, lengths), lengths, None)


def blocks_of_rows(shape: tuple[int, int]) -> Iterator[slice]:
    """Yield blocks of rows with about a million entries each."""
    width = max(1, (1 << 20) // shape[1])
    for start in range(0, shape[0], width):
        yield slice(start, start + width)


def as_bytes(counts: Any, columns: Any, values: Any) -> Iterator[memoryview]:
    """Yield eight-byte integers and doubles, little-endian; arrays of that type are not copied."""
    yield np.ascontiguousarray(counts, dtype="<i8").data
    yield np.ascontiguousarray(columns, dtype="<i8").data
    yield np.ascontiguousarray(values, dtype="<f8").reshape(-1).data


def bounded(design: Any) -> BoundedDesign:
    """Return a design without its meter; refuse one that has no products with error bounds."""
    design = getattr(design, "unmetered", design)
    if not hasattr(design, "rows_as_bytes"):  # isinstance of a protocol takes as long as a product of small data
        raise TypeError(f"{type(design).__name__} has no products with error bounds.")  # pragma: no cover
    bounds: BoundedDesign = design
    return bounds


def enclosed(design: Any) -> Enclosed:
    """Return a design as products with error bounds; refuse one that has none."""
    design = getattr(design, "unmetered", design)
    if not hasattr(design, "sharp_adjoint"):
        raise TypeError(f"{type(design).__name__} has no products with error bounds.")  # pragma: no cover
    products: Enclosed = design
    return products
