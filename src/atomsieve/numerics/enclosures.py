"""Arrays with error bounds: every number lies within `rad` of `mid`, and every operation preserves this.

The model: IEEE double precision, round to nearest, sums in any order, fused multiply-add allowed. The error of a
rounded result is at most `EPS` times the result, or `LEAST` if it underflows. A radius is a sum of products of
non-negative numbers and takes only a few operations; a final factor `1 + 2^-48` covers the rounding of the radius.
Sums, products, quotients and bounds are computed by the compiled core (`core/enclosed.h`), in one pass each.

A radius of inf or NaN carries no information, and it stays inf or NaN: no comparison with it is ever certain.
An enclosure covers only the numbers for which a formula is defined: the square root of [-1, 4] is [0, 2].
"""

import math
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NoReturn

import numpy as np

from atomsieve.core import _core
from atomsieve.core.clock import look
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array

LEAST = 2.0**-1074
"""Absolute error of a product that underflows."""

FUNCTION = 8 * EPS
"""Assumed relative error of exp, log, log1p, expm1 and powers: 4 units in the last place."""

_UP = 1 + 2.0**-48
_NUMBERS = frozenset((float, int))

LARGEST_WHOLE = 2**53
"""All whole numbers up to this size are doubles."""


class quiet:  # noqa: N801 -- it is used like np.errstate
    """A context in which numbers may overflow without a warning; within another one it costs next to nothing."""

    _within: ContextVar[bool] = ContextVar("within", default=False)

    def __enter__(self) -> None:
        self._outer = None
        if not self._within.get():
            self._outer = np.errstate(all="ignore")
            self._outer.__enter__()
            self._token = self._within.set(True)

    def __exit__(self, *error: Any) -> None:
        if self._outer is not None:
            self._within.reset(self._token)
            self._outer.__exit__(*error)


class Uncertain(Exception):
    """No statement is possible; the message says why."""


class Undecided(Uncertain):
    """The numbers are not known well enough to compare them."""


def up(radius: Any) -> Any:
    """Return an upper bound of a radius that was computed in a few operations on non-negative numbers."""
    return radius * _UP + 4 * LEAST


def gamma(terms: Any) -> Any:
    """Return a bound of the error of a sum of products, relative to the sum of their absolute values."""
    if isinstance(terms, int):  # most often
        return up(terms * EPS / (1 - terms * EPS)) if terms < 2**50 else math.inf
    terms = np.asarray(terms, dtype=np.float64)
    with quiet():
        bound = np.where(terms < 2.0**50, terms * EPS / (1 - np.minimum(terms, 2.0**50) * EPS), np.inf)
    return up(bound)


class NoArray:
    """An object that NumPy must not convert to an array, because it would drop the error bounds."""

    __array_ufunc__ = None

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("a NumPy array holds no error bounds")

    def __array_function__(self, function: Any, *_: Any) -> NoReturn:
        raise TypeError(f"numpy.{function.__name__} knows no error bounds")

    def _in_place(self, _: Any) -> NoReturn:
        raise TypeError("numbers with error bounds are not changed in place: write x = x + y for x += y")

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ipow__ = __iand__ = __ior__ = _in_place


@dataclass(frozen=True, eq=False)
class Verdict(NoArray):
    """The answer to a comparison, entry by entry: certainly true, certainly false, or neither."""

    true: Any
    false: Any

    @classmethod
    def of(cls, condition: Any) -> "Verdict":
        """Return a mask as a verdict."""
        if isinstance(condition, Verdict):
            return condition
        mask = np.asarray(condition, dtype=bool)
        return cls(mask, ~mask)

    def __and__(self, other: Any) -> "Verdict":
        other = Verdict.of(other)
        return Verdict(self.true & other.true, self.false | other.false)

    def __or__(self, other: Any) -> "Verdict":
        return ~(~self & ~Verdict.of(other))

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> "Verdict":
        return Verdict(self.false, self.true)

    def __eq__(self, other: object) -> "Verdict":  # type: ignore[override]
        other = Verdict.of(other)
        return (self & other) | (~self & ~other)

    def __ne__(self, other: object) -> "Verdict":  # type: ignore[override]
        return ~(self == other)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        if type(self.true) is np.bool_ and (self.true or self.false):  # most often, and five times as fast
            return bool(self.true)
        if np.size(self.true) != 1:
            raise ValueError("a comparison of several numbers has several answers: use where")
        if not np.any(self.true | self.false):
            raise Undecided("two numbers are too close to tell which is larger")
        return bool(np.all(self.true))


def possibly(condition: Any) -> Any:
    """Return where a condition may hold: a mask itself, or where a verdict is not certainly false."""
    return ~condition.false if isinstance(condition, Verdict) else condition


@dataclass(frozen=True, eq=False, init=False)
class Enclosure(NoArray):
    """Numbers within `rad` of `mid`, entry by entry; a float or an array of floats counts as exact."""

    mid: Any
    rad: Any

    def __init__(self, mid: Any, rad: Any) -> None:
        held = self.__dict__  # a certificate makes hundreds of enclosures
        # Python floats raise errors where NumPy floats overflow
        held["mid"] = np.float64(mid) if type(mid) in _NUMBERS else mid
        held["rad"] = np.float64(rad) if type(rad) in _NUMBERS else rad

    @classmethod
    def exact(cls, mid: Any) -> "Enclosure":
        """Return floats as enclosures of radius 0."""
        if type(mid) is float:
            return cls(mid, 0.0)
        mid = np.asarray(mid, dtype=np.float64)
        return cls(mid, np.zeros(mid.shape))

    @classmethod
    def of(cls, numbers: Any) -> "Enclosure":
        """Return an enclosure itself, and floats as exact; refuse everything else."""
        if isinstance(numbers, Enclosure):
            return numbers
        if type(numbers) is float or (type(numbers) is int and abs(numbers) <= LARGEST_WHOLE):
            return cls(np.float64(numbers), np.float64(0.0))
        array = np.asarray(numbers)
        if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
            raise TypeError(f"{type(numbers).__name__} is no number with error bounds")
        if array.dtype.kind in "iu" and np.any(array > LARGEST_WHOLE) | np.any(array < -LARGEST_WHOLE):
            raise TypeError(f"whole numbers beyond {LARGEST_WHOLE} are no doubles")
        return cls.exact(array)

    @classmethod
    def between(cls, low: Any, high: Any) -> "Enclosure":
        """Return the enclosure of [low, high]; the radius is inf where one end is not finite."""
        ends = np.broadcast_arrays(np.asarray(low, dtype=np.float64), high)
        out = np.empty((2, *ends[0].shape))
        if not _core.hulls(*ends, out):
            _core.hulls(*(np.ascontiguousarray(end, dtype=np.float64) for end in ends), out)
        return cls(out[0], out[1])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        shape: tuple[int, ...] = self.mid.shape
        return shape

    @property
    def ndim(self) -> int:
        """The number of axes of the array."""
        axes: int = self.mid.ndim
        return axes

    def __len__(self) -> int:
        return len(self.mid)

    def __bool__(self) -> NoReturn:
        raise TypeError("a number with error bounds is neither true nor false: compare it, and use where")

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return import_module("atomsieve.numerics.balls")

    @property
    def low(self) -> Array:
        """A lower bound of every number; an exact number is its own bound."""
        return self._end(0)

    @property
    def high(self) -> Array:
        """An upper bound of every number."""
        return self._end(1)

    @property
    def size(self) -> Array:
        """An upper bound of every absolute value."""
        return self._end(2)

    def sizes(self) -> tuple[Array, Array]:
        """Return a lower and an upper bound of every absolute value, flattened."""
        out = np.empty((2, self.mid.size))
        if not _core.sizes(self.mid, self.rad, out):
            parts = (np.broadcast_to(part, self.shape) for part in (self.mid, self.rad))
            _core.sizes(*(np.ascontiguousarray(part, dtype=np.float64) for part in parts), out)
        return out[0], out[1]

    def _end(self, which: int) -> Array:
        """Return bounds: lower ones, upper ones, or those of absolute values."""
        mid, rad = self.mid, self.rad
        shape = mid.shape
        if not shape:
            return np.asarray(_core.ends(which, mid, rad, None))
        out = np.empty(shape)
        if not _core.ends(which, mid, rad, out):
            mid, rad = (np.ascontiguousarray(np.broadcast_to(part, shape), dtype=np.float64) for part in (mid, rad))
            _core.ends(which, mid, rad, out)
        return out

    def __add__(self, other: Any) -> "Enclosure":
        return combine(0, self, other)

    def __sub__(self, other: Any) -> "Enclosure":
        return combine(1, self, other)

    def __mul__(self, other: Any) -> "Enclosure":
        """Return products; those with exactly 1 or -1 are exact, or every label would blur its margin."""
        return combine(2, self, other)

    def __truediv__(self, other: Any) -> "Enclosure":
        return combine(3, self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> "Enclosure":
        return combine(1, Enclosure.of(other), self)

    def __rtruediv__(self, other: Any) -> "Enclosure":
        return combine(3, Enclosure.of(other), self)

    def __pow__(self, exponent: Any) -> "Enclosure":
        power: Enclosure = self.__array_namespace__().pow(self, exponent)
        return power

    def __neg__(self) -> "Enclosure":
        return Enclosure(-self.mid, self.rad)

    def __abs__(self) -> "Enclosure":
        return Enclosure(np.abs(self.mid), self.rad)

    def __le__(self, other: Any) -> Verdict:
        other = Enclosure.of(other)
        return Verdict(self.high <= other.low, self.low > other.high)

    def __lt__(self, other: Any) -> Verdict:
        other = Enclosure.of(other)
        return Verdict(self.high < other.low, self.low >= other.high)

    def __ge__(self, other: Any) -> Verdict:
        return ~self.__lt__(other)

    def __gt__(self, other: Any) -> Verdict:
        return ~self.__le__(other)

    def __eq__(self, other: object) -> Verdict:  # type: ignore[override]
        number = Enclosure.of(other)
        same = (self.low == number.high) & (self.high == number.low)
        return Verdict(same, (self.high < number.low) | (self.low > number.high))

    def __ne__(self, other: object) -> Verdict:  # type: ignore[override]
        return ~self.__eq__(other)

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, index: Any) -> "Enclosure":
        return Enclosure(self.mid[index], self.rad[index])

    def widened(self, rad: Any) -> "Enclosure":
        """Return the same enclosures with larger radii."""
        with quiet():
            return Enclosure(self.mid, up(self.rad + rad))

    def sum(self) -> "Enclosure":
        """Return the sum of all entries, as if rounded once."""
        found = _core.total(self.mid, self.rad)
        if found is None:
            mid = np.ascontiguousarray(self.mid, dtype=np.float64)
            found = _core.total(mid, np.ascontiguousarray(np.broadcast_to(self.rad, mid.shape), dtype=np.float64))
        return Enclosure(*found)


def combine(what: int, a: Enclosure, b: Any) -> Enclosure:
    """Return sums, differences, products, quotients or the larger ones of two enclosures, counted from 0 to 4."""
    b = b if type(b) is Enclosure else Enclosure.of(b)
    shape, other = a.mid.shape, b.mid.shape
    if not shape and not other:
        return Enclosure(*_core.combine(what, a.mid, a.rad, b.mid, b.rad, None))
    out = np.empty((2, *(shape if shape == other or not other else np.broadcast_shapes(shape, other))))
    if (shape == other or not shape or not other) and _core.combine(what, a.mid, a.rad, b.mid, b.rad, out):
        return Enclosure(out[0], out[1])
    parts = (np.broadcast_to(part, out.shape[1:]) for part in (a.mid, a.rad, b.mid, b.rad))
    _core.combine(what, *(np.ascontiguousarray(part, dtype=np.float64) for part in parts), out)
    return Enclosure(out[0], out[1])


def norm(sizes: Array) -> float:
    """Return an upper bound of the l2 norm, given upper bounds of the absolute values."""
    largest = float(np.max(sizes, initial=0.0))
    if not 0 < largest < np.inf:
        return largest
    scale = 2.0 ** min(max(-math.frexp(largest)[1], -1000), 1000)
    with quiet():
        squares = float(np.sum((sizes * scale) ** 2))
    return float(up(math.sqrt(squares * (1 + float(gamma(len(sizes) + 2))) + len(sizes) * LEAST) / scale))


def norms_of(columns: Array) -> Any:
    """Return an upper bound of the l2 norm of a vector, or of each column of a matrix."""
    return norm(np.abs(columns)) if columns.ndim == 1 else np.array([norm(np.abs(column)) for column in columns.T])


def root(squares: Array) -> Array:
    """Return upper bounds of square roots, given upper bounds of the squares."""
    with quiet():
        return np.asarray(up(np.sqrt(squares)))


CHUNK = 1 << 18
"""Largest number of entries of a temporary matrix in `dots`."""


def dots(columns: Array, v: Enclosure) -> Enclosure:
    """Return the inner product of each column with v, as if summed in twice the precision.

    The sums form a tree. The rounding error of each product and of each sum is itself a float, and it is computed too.
    The errors are summed separately. Only the rounding of this second sum remains (Ogita, Rump and Oishi, 2005).
    """
    n, d = columns.shape
    mid, rad = np.empty(d), np.empty(d)
    width = max(1, CHUNK // max(n, 1))
    with quiet():
        for start in range(0, d, width):
            look()
            block = columns[:, start : start + width]
            total, small, errors = _tree(*_two_product(block, v.mid[:, None]))
            mid[start : start + width] = total + small
            spread = np.abs(block).T @ v.rad * (1 + gamma(n + 2))
            lost = gamma(4 * n + 64) * errors * (1 + gamma(4 * n + 64)) + 32 * n * LEAST
            rad[start : start + width] = up(spread + lost + EPS * np.abs(total + small))
    return Enclosure(mid, rad)


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return products and their rounding errors, by Veltkamp's splitting; NaN where the splitting overflows."""
    product = a * b
    (high, low), (top, rest) = _split(a), _split(b)
    return product, low * rest - (((product - high * top) - low * top) - high * rest)


def _split(a: Array) -> tuple[Array, Array]:
    """Split a number into a sum of two numbers, each with half of its digits."""
    scaled = 134217729.0 * a  # 2^27 + 1
    high = scaled - (scaled - a)
    return high, a - high


def _tree(terms: Array, errors: Array) -> tuple[Array, Array, Array]:
    """Return the sums of the columns, the sums of all rounding errors, and the sums of their absolute values."""
    small, size = errors.sum(axis=0), np.abs(errors).sum(axis=0)
    while len(terms) > 1:
        half = len(terms) // 2
        a, b = terms[:half], terms[half : 2 * half]
        sums = a + b
        part = sums - a
        error = (a - (sums - part)) + (b - part)
        small = small + error.sum(axis=0)
        size = size + np.abs(error).sum(axis=0)
        terms = np.concatenate([sums, terms[2 * half :]]) if len(terms) % 2 else sums
    return (terms[0] if len(terms) else np.zeros(terms.shape[1])), small, size
