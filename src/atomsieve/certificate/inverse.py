"""What the data determine of coefficients: the inverse of a Gram matrix, and columns that depend on each other."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy import linalg

from atomsieve.certificate.gram import LARGEST_INVERSE, ROWS_AT_ONCE, Gram, Inverse, Readable
from atomsieve.certificate.segments import SegmentInverse
from atomsieve.core.clock import look
from atomsieve.numerics.enclosures import Enclosure, dots, gamma, norm, up
from atomsieve.typing import Array, Index

DEPENDENT = 1e-9
"""A column whose pivot is smaller than this, relative to its norm, is tried as a combination of others."""

NEARLY = (1e-9, 1e-7, 1e-5)
"""Pivots below which columns count as nearly dependent: as few columns as leave an inverse that can be proven."""

EXACT = 2.0**40
"""Sums of whole numbers below this are exact, even after multiplication by a thousand."""

SHORT = 2.0**20
"""Factors of columns that are whole numbers over this are short."""

SOME = 256
"""Dependencies whose columns are formed at a time."""


class Dependency(NamedTuple):
    """A column that is a combination of others: exactly, with whole coefficients, or nearly."""

    column: int
    of: Index
    times: Array


@dataclass(frozen=True, eq=False)
class Determined:
    """What is known of the inverse of `C' diag(w) C`, for some of the columns; dependent ones are not determined.

    Let column k be nearly the combination `sum_l t_l C_l`, and let `rests[k]` bound the norm of what is missing. If the
    column is left out, `C (x - x*)` changes by that rest times `x_k - x*_k`, and `x_l + t_l x_k` stands for `x_l`.
    """

    count: int
    inverse: "Inverse | SegmentInverse | None"
    columns: Index
    dependencies: list[Dependency]
    rests: Array

    @property
    def involved(self) -> Index:
        """The columns that depend on each other."""
        return np.array([k for d in self.dependencies for k in (d.column, *d.of)], dtype=np.intp)

    @property
    def diagonal(self) -> Array:
        """Upper bounds of the diagonal of the inverse; inf where a coefficient is not determined."""
        bounds = self.sums
        bounds[self.involved] = np.inf
        return bounds

    @property
    def sums(self) -> Array:
        """The same for the sum of each coefficient and those that depend on it; inf for those."""
        bounds = np.full(self.count, np.inf)
        if self.inverse is not None:
            bounds[self.columns] = self.inverse.diagonal
        return bounds

    def of(self, v: Enclosure) -> float:
        """Return an upper bound of `v . inv(C' diag(w) C) v`, for a sum of coefficients that the data determine."""
        return np.inf if self.inverse is None else self.inverse.of(v[self.columns])

    def lengths(self, rows: Enclosure) -> Array:
        """Return upper bounds of the norms of rows in the inverse, for sums that the data determine."""
        if self.inverse is None:
            return np.full(len(rows), np.inf)
        return self.inverse.lengths(rows[:, self.columns])

    def combinations(self) -> list[tuple[Index, Array]]:
        """Return the sums that the data determine beside single coefficients: each with its columns and factors."""
        sums: dict[int, list[tuple[int, float]]] = {}
        for d in self.dependencies:
            for k, factor in zip(d.of.tolist(), d.times.tolist(), strict=True):
                sums.setdefault(k, [(k, 1.0)]).append((d.column, factor))
        parts = [zip(*sums[k], strict=True) for k in sorted(sums)]
        return [(np.array(index, dtype=np.intp), np.array(times)) for index, times in parts]


def determined(
    rows: Readable,
    first: int,
    ridge: Array | None,
    exact: Callable[[Index], Enclosure],
    constants: int,
    *,
    bounded: bool,
) -> Determined:
    """Return what is known of the inverse of `C' diag(w) C`, and how columns depend on each other.

    With a ridge on all but the first columns, which is added to the diagonal, no column depends on others. `exact`
    returns some columns as the problem states them, and the first of all are constants. Only columns whose coefficients
    are bounded can nearly depend on others.

    Some columns may be combinations of others (duplicates, a constant that is the sum of indicators), exactly or
    nearly. The other columns are still determined: the distance of such a column from the span of all others equals
    its distance from the span of an independent part of them. Multiples of other columns are seen in the Gram matrix.
    Other dependent columns are sought among those that it shows, and among all if that does not suffice.
    """
    every = np.arange(rows.shape[1])
    gram = Gram.of(rows, ridge)
    inverse = None if gram is None else gram.inverse()
    none = Determined(len(every), inverse, every, [], np.zeros(0))
    if gram is None or inverse is not None or ridge is not None:
        return none

    def answer(named: list[Dependency]) -> Determined | None:
        independent = np.setdiff1d(every, [dependency.column for dependency in named])
        proven = gram.select(independent).inverse()
        rests = np.zeros(0) if proven is None else _rests(exact, rows.weights, named)
        return None if proven is None else Determined(len(every), proven, independent, named, rests)

    multiples = _multiples(rows, gram, first, exact, constants) if bounded else []
    known = answer(multiples) if multiples else None
    if known is not None:
        return known
    apart = np.setdiff1d(every, [dependency.column for dependency in multiples])
    suspects = apart[gram.select(apart).suspects(first, NEARLY[-1])]
    for some in [suspects, apart] if 0 < len(suspects) < len(apart) else [apart]:
        chosen = rows.select(some)
        stated = exact(some)
        near = (nearly(chosen.columns, stated, first, constants, part) for part in NEARLY if bounded)
        for found in chain([dependencies(stated, first)], near):
            if not found or any(dependency.column < first for dependency in found):
                continue
            named = [Dependency(int(some[d.column]), some[d.of], d.times) for d in found]
            known = answer(named + [_through(multiple, named) for multiple in multiples])
            if known is not None:
                return known
    return none


def _multiples(
    rows: Readable, gram: Gram, first: int, exact: Callable[[Index], Enclosure], constants: int
) -> list[Dependency]:
    """Return which columns are multiples of others, nearly; no proof relies on it.

    Where samples have no weight columns are alike in the Gram matrix that are not alike.
    """
    found = []
    others, heads, times = gram.twins(first)
    for start in range(0, len(others), SOME):
        part = slice(start, start + SOME)
        index = np.unique(np.concatenate([np.arange(constants), others[part], heads[part]]))
        stated, columns = exact(index), rows.select(index).columns.mid
        norms = np.sqrt(np.sum(columns * columns, axis=0))
        places = np.searchsorted(index, others[part]), np.searchsorted(index, heads[part])
        for other, head, factor in zip(*places, times[part], strict=True):
            if not linalg.norm(columns[:, other] - factor * columns[:, head]) <= NEARLY[-1] * norms[other]:
                continue
            of = np.array([head] if head >= constants else [], dtype=np.intp)  # constants are found beside
            multiple = Dependency(int(other), of, np.full(len(of), factor))
            multiple = _as_stated(multiple, stated, norms, constants, DEPENDENT)
            found.append(Dependency(int(index[other]), index[multiple.of], multiple.times))
    return found


def _through(multiple: Dependency, named: list[Dependency]) -> Dependency:
    """Return a multiple of a column as a combination of what that column itself is a combination of."""
    of, times = multiple.of, multiple.times
    for column, parts, shares in named:
        for factor in times[of == column]:
            others = of != column
            whole = np.unique(np.append(of[others], parts))
            added = np.zeros(len(whole))
            added[np.searchsorted(whole, of[others])] += times[others]
            added[np.searchsorted(whole, parts)] += factor * shares
            of, times = whole, added
    return Dependency(multiple.column, of, times)


def _rests(exact: Callable[[Index], Enclosure], weights: Array, named: list[Dependency]) -> Array:
    """Return upper bounds of what columns are off the combinations of others, in the metric of the weights."""
    rests = np.zeros(len(named))
    for first in range(0, len(named), SOME):
        some = named[first : first + SOME]
        index = np.unique(np.concatenate([np.append(d.of, d.column) for d in some]))
        columns = exact(index)
        for k, (column, of, times) in enumerate(some):
            places = np.searchsorted(index, np.append(column, of))
            rests[first + k] = _rest(columns[:, places], weights, times)
    return rests


def _rest(columns: Enclosure, weights: Array, times: Array) -> float:
    """Return an upper bound of what the first column is off the combination of the others."""
    if is_sum(columns.mid[:, 0], columns.mid[:, 1:], times) and not columns.rad.any():
        return 0.0
    factors = np.append(1.0, -times)
    rest = dots(columns.mid.T, Enclosure.exact(factors)).size
    rest = up(rest + columns.rad @ np.abs(factors) * (1 + gamma(len(factors) + 2)))
    return norm(up(np.sqrt(weights * (1 + 2.0**-50)) * rest))


def nearly(
    columns: Enclosure, stated: Enclosure, first: int, constants: int, tolerance: float
) -> list[Dependency] | None:
    """Return which columns are nearly combinations of the others; no proof relies on it.

    The columns are modulo the constants, which are the first ones. What the combination of the columns as stated is off
    by a constant goes to that, unless it is as small as everything that is neglected.
    """
    norms = np.sqrt(np.sum(columns.mid * columns.mid, axis=0))
    if not (np.isfinite(norms).all() and (norms > 0).all()) or len(norms) > LARGEST_INVERSE:
        return None
    chosen, others, shares = _combined(columns.mid, norms, first, tolerance)
    found = []
    for k, other in enumerate(others):
        parts = np.flatnonzero(np.abs(shares[:, k]) * norms[chosen] > tolerance * norms[other])
        parts = parts[chosen[parts] >= constants]
        combination = Dependency(int(other), chosen[parts], shares[parts, k])
        found.append(_as_stated(combination, stated, norms, constants, tolerance))
    return found


def _as_stated(
    combination: Dependency, stated: Enclosure, norms: Array, constants: int, tolerance: float
) -> Dependency:
    """Return a combination modulo the constants as one of columns as they are stated, with short factors if they fit.

    The constants are the first columns, and the norms are those modulo the constants.
    """
    other, of, times = combination
    whole = np.round(times * SHORT) / SHORT
    times = np.where(np.abs(whole - times) <= tolerance * np.abs(times), whole, times)
    held = stated.mid[:, :constants]
    off = held.T @ (stated.mid[:, other] - stated.mid[:, of] @ times) / np.sum(held * held, axis=0)
    far = np.flatnonzero(np.abs(off) * norms[:constants] > tolerance * norms[other])
    return Dependency(other, np.append(far, of), np.append(off[far], times))


def _combined(columns: Array, norms: Array, first: int, tolerance: float) -> tuple[Index, Index, Array]:
    """Return columns that are independent, the others, and those as combinations of the former."""
    if not len(norms):
        nothing = np.zeros(0, dtype=np.intp)
        return nothing, nothing, np.zeros((0, 0))
    sizes = norms.copy()
    sizes[:first] /= 2.0**20  # pivoting chooses the longest columns first
    triangle, places = linalg.qr(_triangle(columns / sizes), mode="r", pivoting=True)
    order = np.asarray(places, dtype=np.intp)
    rank = int(np.count_nonzero(np.abs(np.diag(triangle)) > tolerance))
    chosen, others = order[:rank], order[rank:]
    # old versions of SciPy solve no empty systems
    shares = (
        linalg.solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:]) if rank else np.zeros((0, len(others)))
    )
    return chosen, others, shares * sizes[others] / sizes[chosen, None]


def dependencies(columns: Enclosure, first: int = 0) -> list[Dependency] | None:
    """Return which columns are combinations of the others, or None if that cannot be proven.

    The others are then numerically independent. The first `first` columns are known to be independent, and the
    combinations use them if possible.
    """
    mid = columns.mid
    norms = np.sqrt(np.sum(mid * mid, axis=0))
    if columns.rad.any() or not np.isfinite(norms).all() or mid.shape[1] > LARGEST_INVERSE:
        return None
    if not mid.any(axis=0).all():  # a column of zeros is an empty sum
        rest = np.flatnonzero(mid.any(axis=0))
        found = dependencies(columns[:, rest], int(np.count_nonzero(rest < first))) if len(rest) else []
        zeros = np.setdiff1d(np.arange(mid.shape[1]), rest)
        nothing = [Dependency(int(j), rest[:0], np.zeros(0)) for j in zeros]
        return (
            None if found is None else nothing + [Dependency(int(rest[j]), rest[of], times) for j, of, times in found]
        )
    if not (norms > 0).all():
        return None
    chosen, others, shares = _combined(mid, norms, first, DEPENDENT)
    whole = np.round(shares)
    found = []
    for k, other in enumerate(others):
        parts = np.flatnonzero(whole[:, k])
        if not is_sum(mid[:, other], mid[:, chosen[parts]], whole[parts, k]):
            return None
        found.append(Dependency(int(other), chosen[parts], whole[parts, k]))
    return found


def _triangle(columns: Array) -> Array:
    """Return R of `Q R = columns`, from blocks of rows: pivoting is much faster on R than on the columns."""
    n, k = columns.shape
    rows = max(k, ROWS_AT_ONCE // k)
    triangle = columns[:rows]
    for start in range(rows, n, rows):
        look()
        triangle = np.asarray(linalg.qr(np.vstack([triangle, columns[start : start + rows]]), mode="r")[0][:k])
    return triangle


def is_sum(column: Array, parts: Array, shares: Array) -> bool:
    """Return whether a column is a combination of others, in exact arithmetic."""
    if parts.shape[1] == 1 and abs(shares[0]) == 1:
        return bool(np.array_equal(column, shares[0] * parts[:, 0]))
    unit = 1.0 if _are_whole(shares) else SHORT
    exact = _are_whole(parts) and _are_whole(shares * unit) and np.abs(parts).sum() * unit < EXACT
    return bool(exact and np.abs(shares).sum() < 2.0**10 and np.array_equal(parts @ shares, column))


def _are_whole(numbers: Array) -> bool:
    return np.array_equal(numbers, np.round(numbers))
