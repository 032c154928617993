"""Permutation matrices: the best assignment by the Hungarian method, in exact whole numbers where balls are needed."""

import math
from typing import Any

import numpy as np
from flint import arb

from ..verdict import Refused
from .listed import Listed, Marks, union_of
from .paths import sum_above

BITS = 160
"""How finely numbers are cut to whole ones before potentials are found; any potentials prove a bound."""


class Birkhoff(Listed):
    """An atom is 1 at one place of each row and each column. Potentials `a_i + b_j >= z_ij` bound the best score."""

    def __init__(self, piece: dict[str, Any], *given: Any) -> None:
        self.m: int = piece["m"]
        super().__init__(piece, *given)
        if self.m < 1 or self.m**2 != len(self.labels):
            raise Refused(f"a Birkhoff polytope of size {self.m} does not fit {len(self.labels)} coefficients")

    def atom(self, places: list[int]) -> dict[int, arb]:
        every = set(range(self.m))
        fits = len(places) == self.m and all(0 <= place < self.m**2 for place in places)
        if not fits or {p // self.m for p in places} != every or {p % self.m for p in places} != every:
            raise Refused("an atom is no permutation")
        return dict.fromkeys(places, arb(1))

    def highest_score(self, z: list[float]) -> float:
        rows = [z[i * self.m : (i + 1) * self.m] for i in range(self.m)]
        return highest_of(rows)

    def score_of(self, z: list[arb]) -> arb:
        largest = max((float(abs(v).upper()) for v in z), default=0.0)
        if not 0 < largest < math.inf:
            return sum((abs(v) for v in z), arb(0)) * arb(0, 1)
        unit = arb(2) ** (BITS - math.frexp(largest)[1])
        cut = [[whole(z[i * self.m + j] * unit) for j in range(self.m)] for i in range(self.m)]
        columns, potentials = assigned(cut)
        b = [arb(v) / unit for v in potentials]
        upper = sum(b, arb(0))
        for i in range(self.m):
            most = z[i * self.m] - b[0]
            for j in range(1, self.m):
                most = most.max(z[i * self.m + j] - b[j])
            upper += most
        lower = sum((z[i * self.m + j] for i, j in enumerate(columns)), arb(0))
        return union_of(lower, upper)

    def rules(self, low: np.ndarray, high: np.ndarray, slope: arb, steepest: arb) -> Marks:  # noqa: ARG002
        return Assignments(self.m, low, high, slope)


class Assignments(Marks):
    """The best assignment with a pair is that of all other rows and columns; without it, with another of its row."""

    def __init__(self, m: int, low: np.ndarray, high: np.ndarray, slope: arb) -> None:
        super().__init__(low, high, slope)
        self.m = m
        self._with: dict[int, float] = {}

    def highest_with(self, j: int) -> float:
        if j not in self._with:
            row, column = divmod(j, self.m)
            rows = [self.most[i * self.m : (i + 1) * self.m] for i in range(self.m) if i != row]
            rest = highest_of([[v for k, v in enumerate(values) if k != column] for values in rows])
            self._with[j] = sum_above(rest, self.most[j])
        return self._with[j]

    def highest_without(self, j: int) -> float:
        row = j // self.m
        others = (place for place in range(row * self.m, (row + 1) * self.m) if place != j)
        return max(map(self.highest_with, others), default=-math.inf)


def highest_of(rows: list[list[float]]) -> float:
    """Return an upper bound of the best assignment: potentials of columns, and what rows then need."""
    if not rows:
        return 0.0
    if not all(math.isfinite(v) for values in rows for v in values):
        return math.inf
    _, b = assigned(rows)
    a = [max(math.nextafter(v - p, math.inf) for v, p in zip(values, b)) for values in rows]
    return math.nextafter(math.fsum([*a, *b]), math.inf)


def assigned(rows: list[list[Any]]) -> tuple[list[int], list[Any]]:
    """Return the column of each row in the best assignment, and potentials of the columns: the Hungarian method."""
    m = len(rows)
    u: list[Any] = [0] * (m + 1)
    v: list[Any] = [0] * (m + 1)
    owner = [0] * (m + 1)  # the row of each column; rows and columns are counted from 1
    for row in range(1, m + 1):
        owner[0] = row
        column, before = _free_column(rows, u, v, owner)
        while column:  # all on the way move on by one column
            owner[column] = owner[before[column]]
            column = before[column]
    columns = [0] * m
    for j in range(1, m + 1):
        columns[owner[j] - 1] = j - 1
    return columns, [-value for value in v[1:]]


def _free_column(rows: list[list[Any]], u: list[Any], v: list[Any], owner: list[int]) -> tuple[int, list[int]]:
    """Return the nearest column without a row, and the columns before each on the way there; raise potentials."""
    m, column = len(rows), 0
    least: dict[int, Any] = {}
    before, used = [0] * (m + 1), [0]
    left = set(range(1, m + 1))
    while owner[column]:
        here = owner[column]
        for j in left:
            reduced = -rows[here - 1][j - 1] - u[here] - v[j]
            if j not in least or reduced < least[j]:
                least[j], before[j] = reduced, column
        following = min(left, key=least.__getitem__)
        step = least[following]
        for j in used:
            u[owner[j]] += step
            v[j] -= step
        for j in left:
            least[j] -= step
        column = following
        left.remove(column)
        used.append(column)
    return column, before


def whole(v: arb) -> int:
    """Return a whole number near the centre of a ball."""
    found: Any = arb(v.mid()).floor().unique_fmpz()
    return int(found)
