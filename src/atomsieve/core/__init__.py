"""The compiled core: the problem on a working set (`restricted`), and one second-order model of it (`quadratic`).

It is plain C (see docs/method.md), built with the package; nothing is compiled when it runs. Two builds are in a wheel
for x86-64, and the machine decides which one is loaded. BLAS and LAPACK are those that SciPy brings along. The core
starts no thread, and other threads run while it works. Certificates use the coefficients that it returns, and the sums
of `exact.py`, whose errors are bounded.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cython_blas, cython_lapack

from atomsieve.core import _plain
from atomsieve.core.clock import remaining
from atomsieve.typing import Array, Index, Mask

__all__ = [
    "Blocks",
    "Iterate",
    "Outcome",
    "Packed",
    "Store",
    "Trail",
    "along",
    "best",
    "carries",
    "highest_outside",
    "kept",
    "measure",
    "quadratic",
    "restricted",
    "squares",
    "view",
]


def _chosen() -> Any:
    """Return the build for this machine."""
    if not _plain.wide_vectors():
        return _plain
    try:
        from atomsieve.core import _wide  # noqa: PLC0415 -- it would not run on other machines
    except ImportError:
        return _plain
    return _wide


_core = _chosen()
_core.take_blas(cython_blas.__pyx_capi__, cython_lapack.__pyx_capi__)

Store = _core.store
"""A new store, which keeps Gram matrices and factors from call to call."""


NO_PLACES = np.empty(0, dtype=np.int64)


class Packed(NamedTuple):
    """Some columns of a design: column j has the numbers `values[value_starts[j] :][: counts[j]]`.

    They are in the rows `rows[row_starts[j] :][: counts[j]]`, or in all rows of a dense design (`rows` is None).
    """

    values: Array
    rows: NDArray[np.int32] | None
    value_starts: NDArray[np.int64]
    row_starts: NDArray[np.int64] | None
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, dense: Array) -> "Packed":
        """Return the columns of a dense matrix; a copy is made unless they are contiguous."""
        n, m = dense.shape
        return cls(np.asfortranarray(dense).ravel(order="F"), None, n * np.arange(m), None, np.full(m, n))


class Blocks(NamedTuple):
    """Blocks of entries that follow one another: where they end, prices, units, stiffness, ridges; signs of entries.

    A block charges `price |x_b|_2 + each |x_b|_1`, with a positive price. If the latter is not 0, or if entries of a
    block of several have signs, they may be 0 one by one. Blocks of one entry each may have limits, lower and upper, in
    units.

    A unit is a power of two, in which the coefficients of a block are measured; prices are those of a unit. The
    stiffness is the largest curvature that a block can have where that of the losses is 1, in its unit. So is the
    ridge, the curvature that the penalty adds; a model that is given by its Hessian has it there.
    """

    ends: NDArray[np.int64]
    prices: Array
    each: Array
    units: Array
    stiffness: Array
    ridge: Array
    negative: NDArray[np.uint8]
    limits: tuple[Array, Array] | None = None


class Iterate(NamedTuple):
    """Where a call begins, and where it has ended: x, the coordinates in the basis, the image A x, and `z = -A' theta`.

    Image and z begin with NaN if they are not known.
    """

    x: Array
    coordinates: Array
    image: Array
    z: Array


class Outcome(NamedTuple):
    """How far a call came: the gap on the working set, the mass of x, and how fast it falls as the slope rises."""

    gap: float
    mass: float
    response: float


def restricted(
    store: Any,
    packed: Packed,
    ids: Index,
    blocks: Blocks,
    loss: tuple[int, float],
    samples: tuple[Any, ...],
    iterate: Iterate,
    line: tuple[float, float],
    target: float,
    caution: float,
    respond: bool,
) -> tuple[Outcome, float]:
    """Minimise over the coefficients of some columns, in place, to a gap; return the outcome and the next caution.

    `samples` are y, weights, offset and basis of the unpenalised columns (by columns). The penalty is
    `a s + b s^2 / 2` with the line (a, b), plus `ridge / 2` times the square of each block.
    """
    gap, mass, response, _, caution = _core.restricted(
        store,
        packed,
        ids,
        blocks,
        loss,
        samples,
        iterate,
        line,
        target,
        caution,
        remaining(),
        respond,
    )
    return Outcome(gap, mass, response), caution


@dataclass(frozen=True, eq=False)
class Trail:
    """What is found along lines of slopes: a row of coefficients, coordinates and image for each."""

    xs: Array
    coordinates: Array
    images: Array


def along(
    store: Any,
    packed: Packed,
    ids: Index,
    blocks: Blocks,
    loss: tuple[int, float],
    samples: tuple[Any, ...],
    iterate: Iterate,
    lines: Array,
    ridges: Array,
    target: float,
    caution: float,
) -> tuple[Trail, float]:
    """Do as `restricted` for several lines, each with its row of ridges, from where the one before has ended.

    Return what is found, for fewer lines if time is up, and the next caution. The iterate must not be used again.
    """
    count = len(lines)
    sizes = [len(part) for part in (iterate.x, iterate.coordinates, iterate.image)]
    trail = [np.empty((count, size)) for size in sizes]
    done, caution = _core.along(
        store,
        packed,
        ids,
        blocks,
        loss,
        samples,
        iterate,
        lines,
        ridges,
        target,
        caution,
        remaining(),
        tuple(trail),
    )
    return Trail(*(part[:done] for part in trail)), caution


def carries(entries: int, nonzeros: float) -> bool:
    """Return whether descent is cheaper by the Gram matrix of columns with so many non-zeros: then `along` goes by it.

    >>> carries(100, 20_000.0 * 100), carries(100, 200.0 * 100)
    (True, False)
    """
    return bool(_core.carries(entries, nonzeros))


class Growth(NamedTuple):
    """How far a model was minimised: the gap left, by how much the mass grew, how fast it falls as the slope rises."""

    gap: float
    mass: float
    response: float


def quadratic(
    hessian: Array,
    z: Array,
    x: Array,
    blocks: Blocks,
    line: tuple[float, float],
    value: float,
    target: float,
    respond: bool = False,
    enough: float = 0.0,
) -> Growth:
    """Minimise `-z . d + d' H d / 2 + phi(mass(x + d))`, x in place and in units.

    The target is a part of the gap that the model has at x; with a target of 1, x stays where it is. No smaller gap is
    sought than what is enough. The response is computed if that is asked for.
    """
    return Growth(*_core.quadratic(hessian, z, x, blocks, line, value, (target, enough), remaining(), respond))


def best(scores: Array, count: int, beside: Index = NO_PLACES) -> NDArray[np.int64]:
    """Return the places `beside`, which rise, and those of the `count` best other scores, in rising order.

    Of ties the first are chosen; scores of -inf and NaN never are.
    """
    chosen = np.empty(len(beside) + max(min(count, len(scores) - len(beside)), 0), dtype=np.int64)
    return chosen[: _core.best(scores, beside, count, chosen)]


def highest_outside(scores: Array, blocks: Index) -> float:
    """Return the highest score outside of some blocks, whose numbers rise; -inf if there is none."""
    return float(_core.outside(scores, blocks))


def kept(scores: Array, spread: Array, lengths: Array, radius: float, doubt: float, floor: float) -> Mask:
    """Return which blocks may have the best score at the optimum; a NaN rules nothing out.

    Each score moves by no more than `radius * spread + doubt * lengths`, and the best one does not end below the floor.
    """
    marks = np.empty(len(scores), dtype=bool)
    _core.kept(scores, spread, lengths, radius, doubt, floor, marks)
    return marks


def view(
    loss: tuple[int, float],
    samples: tuple[Any, ...],
    image: Array,
    coordinates: Array,
    u: Array,
    slopes: Array,
    theta: Array,
) -> tuple[float, float, float]:
    """Settle the unpenalised coefficients for an image, and write predictions, slopes and theta.

    Return the norm of the part of the slopes along the unpenalised columns, the size of the gradient there, and the sum
    of the absolute values of its terms.
    """
    stray, size, noise = _core.view(loss, samples, image, coordinates, u, slopes, theta)
    return stray, size, noise


def measure(
    loss: tuple[int, float], y: Array, weights: Array, u: Array, slopes: Array, scale: float
) -> tuple[float, float, float, float]:
    """Return the loss, its Fenchel-Young gap at scaled slopes, and the norms of predictions and slopes."""
    value, apart, size, steep = _core.measure(loss, y, weights, u, slopes, scale)
    return value, apart, size, steep


def sight(loss: tuple[int, float], y: Array, weights: Array, u: Array, slopes: Array, bends: Array) -> None:
    """Write the slopes of the losses at predictions, and the curvatures there times the weights."""
    _core.sight(loss, y, weights, u, slopes, bends)


def told(
    loss: tuple[int, float], samples: tuple[Array, Array, Array], image: Array, coordinates: Array,
    move: Array | None, taken: Array | None,
) -> tuple[Array, tuple[float, ...]]:  # fmt: skip
    """Return what a place of the search for the best unpenalised coefficients tells by sums over samples.

    Samples are targets, weights, and the basis row by row. The first answer holds the gradient, the coordinates of the
    image and the Hessian, one after the other.
    """
    sums = np.empty(len(coordinates) * (len(coordinates) + 2))
    return sums, _core.told(loss, *samples, image, coordinates, move, taken, sums)


def squares(values: Array, ends: NDArray[np.int64]) -> Array:
    """Return the sum of squares of the values up to each end, from the end before."""
    sums = np.empty(len(ends))
    _core.squares(values, ends, sums)
    return sums
