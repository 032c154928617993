"""Sums for proofs, from the compiled core, and a fingerprint of arrays.

The sums have bounds of their errors. Nothing of an earlier call is kept: they are about the entries as they are now.
"""

import os
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomsieve.core import Packed, _core
from atomsieve.numerics.enclosures import Enclosure, gamma, norm
from atomsieve.typing import Array

KEYS = np.frombuffer(os.urandom(2 * 1024 * 8), dtype=np.int64)
"""The random keys of fingerprints, drawn once for each process: two for each word of a block."""

BLOCK = 1024 * 8
"""Bytes of a block of a fingerprint."""


def dots(packed: Packed, v: Enclosure, centres: Array | None = None) -> Enclosure:
    """Return the inner product of each column with v, as if summed in twice the precision.

    The radius of v counts times the columns less their centres: that is right where sums with the middle of v are
    corrected for the centres afterwards.
    """
    m, terms = len(packed.counts), int(packed.counts.max(initial=0))
    found = np.empty((4, m))
    mid, rad = np.ascontiguousarray(v.mid), np.ascontiguousarray(v.rad)
    _core.exact_dots(packed, mid, rad, np.zeros(m) if centres is None else centres, found)
    total, small, size, spread = found
    return rounded(total, small, size, terms, spread * (1 + gamma(terms + 4)))


def image(packed: Packed, x: Array, n: int, level: tuple[float, float] = (0.0, 0.0)) -> Enclosure:
    """Return the sum of columns times numbers, less a level, as if summed in twice the precision.

    The level is a sum of two numbers, of which the second is much smaller.
    """
    sums = np.zeros((3, n))
    if level != (0.0, 0.0):
        sums[:] = np.array([-level[0], -level[1], abs(level[1])])[:, None]
    _core.exact_image(packed, np.ascontiguousarray(x), sums)
    total, small, size = sums
    return rounded(total, small, size, len(packed.counts) + 2, None)


def product(a: Array, b: Array) -> tuple[float, float, float]:
    """Return the product of two vectors in twice the precision: a sum of two numbers, and how far it may be off."""
    total, small, lost = _core.product(a, b)
    return total, small, lost


def rounded(total: Array, small: Array, size: Array, terms: int, spread: Array | None) -> Enclosure:
    """Return sums rounded once; what is lost is the rounding of the sum of all rounding errors."""
    out = np.empty((2, *total.shape))
    if not _core.rounded(total, small, size, spread, terms, out):
        parts = (np.broadcast_to(part, total.shape) for part in (total, small, size, 0.0 if spread is None else spread))
        fits = _core.rounded(*(np.ascontiguousarray(part, dtype=np.float64) for part in parts), terms, out)
        assert fits  # noqa: S101 -- all are of one shape
    return Enclosure(out[0], out[1])


def squared_lengths(packed: Packed, weights: Array, centres: Array, *, by_rows: bool) -> Array:
    """Return the sum of `w_i (A_ij - c_j)^2` for each column j, summed in any order; centres count for dense ones only.

    `packed` are all columns, or all rows.
    """
    sums = np.empty(len(centres))
    _core.lengths(packed, np.ascontiguousarray(weights), np.ascontiguousarray(centres), sums, by_rows)
    return sums


class Lines(NamedTuple):
    """A matrix as it is stored: entries, and for a sparse one their places, and where its lines start.

    The lines are columns, or rows. Those of a dense matrix follow one another at a distance of `step` entries.
    """

    values: Array
    places: NDArray[np.int32] | None
    starts: NDArray[np.int64] | None
    step: int


class Survey(NamedTuple):
    """What one pass over a matrix A shows."""

    product: Enclosure
    """`A' v`, where what v is off by counts by its length times that of the column."""

    lengths: Array
    """Upper bounds of the lengths of the columns."""

    fingerprint: bytes | None
    """The fingerprint of A, if it was asked for."""


def survey(
    lines: Lines, v: Enclosure, d: int, centres: Array | None = None, whole: Array | None = None, *, by_rows: bool
) -> Survey:
    """Return a survey of a matrix of d columns, each less its centre.

    A dense matrix without gaps may be passed as `whole`, for its fingerprint.
    """
    found, mid = np.empty((3, d)), np.ascontiguousarray(v.mid)
    keys = None if whole is None else KEYS
    sums = None if whole is None else np.empty(2 * -(-whole.nbytes // BLOCK), dtype=np.int64)
    _core.survey(lines, mid, centres, norm(np.abs(mid)), norm(v.rad), found, keys, sums, by_rows)
    seen = None if whole is None or sums is None else _told([(whole, sums)])
    return Survey(Enclosure(found[0], found[1]), found[2], seen)


def fingerprint(arrays: Iterable[Array]) -> bytes:
    """Return a fingerprint of arrays under the keys of this process: a change goes unseen with probability 2^-64.

    Each array is contiguous, by rows or by columns. The fingerprint tells nothing to other processes.
    """
    return _told((array, _sums(array)) for array in arrays)


def _sums(array: Array) -> NDArray[np.int64]:
    """Return the sums of the blocks of an array, and of the last word that is not full."""
    held = array.ravel(order="K").view(np.uint8)
    words, rest = divmod(len(held), 8)
    sums = np.empty(2 * (-(-words * 8 // BLOCK) + (rest > 0)), dtype=np.int64)
    _core.fingerprint(held, KEYS, sums)
    return sums


def _told(parts: Iterable[tuple[Array, NDArray[np.int64]]]) -> bytes:
    """Return the sums of arrays, with their shapes: two words for each block, a 512th of the data."""
    return b"".join(
        f"{array.shape} {array.strides} {array.dtype.str}".encode() + sums.tobytes() for array, sums in parts
    )
