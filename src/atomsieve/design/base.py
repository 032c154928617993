"""A design is the matrix A behind its products. Data formats stop here: nobody else asks what A is made of."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from atomsieve.numerics.enclosures import Enclosure
from atomsieve.typing import Array, Index, Mask, Samples

Columns: TypeAlias = slice | Index
"""Which columns of A: a slice or an array of positions."""

ALL = slice(None)


def as_slice(index: Index) -> Columns:
    """Return sorted positions as a slice where they are contiguous, which designs read without a copy."""
    first, last = int(index[0]), int(index[-1])
    return slice(first, last + 1) if last - first == len(index) - 1 else index


@dataclass(frozen=True, eq=False)
class Recent:
    """Columns asked for lately, ready for use, up to a total number of entries.

    Conditional gradients ask for the same few columns again and again, and matrices stored by rows give a column only
    by a walk through all of them.
    """

    capacity: int
    _blocks: dict[tuple[int, int], Any] = field(default_factory=dict)
    _sizes: list[int] = field(default_factory=list)

    def get(self, index: slice, make: Callable[[], Any]) -> Any:
        """Return the block of these columns, made now if it is not at hand."""
        key = (index.start, index.stop)
        if key not in self._blocks:
            if sum(self._sizes) > self.capacity:
                self._blocks.clear()
                self._sizes.clear()
            self._blocks[key] = make()
            self._sizes.append(self._blocks[key].size)
        return self._blocks[key]


class Design(Protocol):
    """The n x d matrix A. x lives on the host, predictions live with the data."""

    @property
    def shape(self) -> tuple[int, int]:
        """Return (n, d)."""

    @property
    def density(self) -> float:
        """Return the part of the entries that products go through."""

    def matvec(self, x: Array, index: Columns = ALL) -> Samples:
        """Return `A[:, index] x` for a vector or matrix x with as many index."""

    def rmatvec(self, r: Samples) -> Array:
        """Return `A' r` for a vector or matrix r with n rows."""

    def columns(self, index: Columns) -> Samples:
        """Return `A[:, index]` as a dense n x m array."""

    def select(self, index: Columns) -> "Design":
        """Return the design of the chosen columns alone, compact, so that its products cost in proportion."""

    def gram(
        self, weights: Samples, index: Columns, others: Columns, unit: float, basis: Samples | None = None
    ) -> Array:
        """Return `A[:, index]' diag(weights) A[:, others] / unit^2` on the host, modulo the span of a basis.

        That is with every column less its projection on the basis, in the inner product of the weights. The unit keeps
        squares of huge and tiny entries in range.
        """

    def samples(self, chosen: Mask) -> "Design":
        """Return the design of the chosen samples alone."""

    def largest(self) -> float:
        """Return the largest absolute entry."""

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        """Return `sum_i w_i (A_ij / scale)^2` for each column j."""


@runtime_checkable
class BoundedDesign(Design, Protocol):
    """A design whose products can be had with error bounds."""

    def enclose(self, x: Enclosure, index: Columns = ALL) -> Enclosure:
        """Return `A[:, index] x` with a bound of all rounding."""

    def enclose_adjoint(self, r: Enclosure, norms: Array | None = None) -> Enclosure:
        """Return `A' r` with a bound of all rounding; `norms` bound the lengths of the columns, if they are known."""

    def enclose_columns(self, index: Columns) -> Enclosure:
        """Return `A[:, index]` with a bound of all rounding: none, where A is given as it is."""

    def rows_as_bytes(self) -> Iterator[bytes | memoryview]:
        """Yield the shape and then what is not zero, as bytes: the same for any way to store the entries.

        For each block of rows: how many there are in each row, their columns, their values.
        """

    def norm_bounds(self, weights: Array) -> Array:
        """Return upper bounds of `sqrt(sum_i w_i A_ij^2)` for each column j, from upper bounds of the w_i."""


def blocks_of_rows(shape: tuple[int, int]) -> Iterator[slice]:
    """Yield blocks of rows with about a million entries each."""
    width = max(1, (1 << 20) // shape[1])
    for start in range(0, shape[0], width):
        yield slice(start, start + width)


def as_bytes(counts: Any, columns: Any, values: Any) -> Iterator[memoryview]:
    """Yield whole numbers in eight bytes and doubles, little-endian, without a copy where they are that already."""
    yield np.ascontiguousarray(counts, dtype="<i8").data
    yield np.ascontiguousarray(columns, dtype="<i8").data
    yield np.ascontiguousarray(values, dtype="<f8").reshape(-1).data


def bounded(design: Any) -> BoundedDesign:
    """Return a design as one with error bounds, without its meter."""
    design = getattr(design, "design", design)
    assert isinstance(design, BoundedDesign)  # noqa: S101
    return design
