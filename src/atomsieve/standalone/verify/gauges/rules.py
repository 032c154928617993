"""What follows for single coefficients of a solution from bounds of abs(z*), by the sets of them that atoms hold."""

from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate, pairwise

import numpy as np
from flint import arb


class Rules:
    """Sets T of coefficients: the atoms of a solution hold only those whose score can be the best one.

    `least` and `most` bound abs(z*) in doubles; `slope` is a lower bound of the best score.
    """

    def __init__(self, least: np.ndarray, most: np.ndarray) -> None:
        self.least, self.most = least.tolist(), most.tolist()

    def in_no_set(self, j: int) -> bool:
        """Return whether no such set holds coefficient j, so that it is zero."""
        raise NotImplementedError

    def in_every_set(self, j: int) -> bool:
        """Return whether every such set holds coefficient j, so that it is not zero unless all are."""
        raise NotImplementedError

    def never_apart(self, members: list[int]) -> bool:
        """Return whether every such set holds all of these coefficients or none, with the same size for all."""
        raise NotImplementedError

    def sign(self, j: int) -> int:  # noqa: ARG002
        """Return the sign that all atoms of a solution have at coefficient j, where that does not follow from z*."""
        return 0

    def saturated(self, j: int) -> bool:  # noqa: ARG002
        """Return whether coefficient j is as large as the gauge in every solution."""
        return False


class Largest(Rules):
    """Atoms on the k largest of abs(z*); `flat` if all entries of an atom have the absolute value 1."""

    def __init__(self, least: np.ndarray, most: np.ndarray, k: int, *, flat: bool) -> None:
        super().__init__(least, most)
        self.k, self.flat = k, flat
        self._least, self._most = sorted(self.least), sorted(self.most)

    def in_no_set(self, j: int) -> bool:
        beyond = sum(1 for v in self._least[-self.k :] if v > self.most[j])
        return beyond >= self.k

    def in_every_set(self, j: int) -> bool:
        rivals = len(self._most) - bisect_left(self._most, self.least[j])  # the coefficient itself is one of them
        return self.least[j] > 0 and rivals <= self.k

    def never_apart(self, members: list[int]) -> bool:
        return all(self.saturated(j) for j in members)

    def saturated(self, j: int) -> bool:
        return self.flat and self.in_every_set(j)


class Sums(Rules):
    """Atoms on any set T: its score is the sum of abs(z*) over T, divided by the sum of the first weights.

    With the coefficients in falling order of their upper bounds, let S_q be the sum of the first q of these, N_q what
    the sum over q coefficients must reach, and E_q = S_q - N_q. The largest sum over q of them that hold i, at place a,
    is S_q if a <= q, and else `S_{q-1} + Z_i`; without j, at place b, it is S_q if b > q, and else `S_{q+1} - Z_j`.
    """

    def __init__(self, least: np.ndarray, most: np.ndarray, needed: list[arb]) -> None:
        super().__init__(least, most)
        order = np.argsort(-most, kind="stable").tolist()
        self.place = {j: a for a, j in enumerate(order, 1)}
        sums = [arb(0), *accumulate(arb(self.most[j]) for j in order)]
        d = self.d = len(order)
        self.over = [sums[q] - needed[q - 1] for q in range(1, d + 1)]
        shorter = [sums[q - 1] - needed[q - 1] for q in range(1, d + 1)]
        longer = [sums[q + 1] - needed[q - 1] for q in range(1, d)]
        low = arb("-inf")
        self._shorter, self._first = _running(shorter, low), _running(self.over, low)
        self._last, self._longer = _running(self.over[::-1], low)[::-1], _running(longer[::-1], low)[::-1]

    def in_no_set(self, j: int) -> bool:
        a = self.place[j]
        return bool(self._shorter[a] + arb(self.most[j]) < 0 and self._last[a] < 0)

    def in_every_set(self, j: int) -> bool:
        b = self.place[j]
        return bool(self._first[b - 1] < 0 and self._without(j, b) and self.least[j] > 0)

    def never_apart(self, members: list[int]) -> bool:
        chain = sorted(members, key=lambda j: self.place[j])
        return all(self._together(i, j) for i, j in pairwise(chain))

    def _without(self, j: int, q: int) -> bool:
        """Return whether no set of q or more coefficients, but not all, reaches what it needs without j."""
        return q >= self.d or bool(self._longer[q - 1] - arb(self.most[j]) < 0)

    def _together(self, i: int, j: int) -> bool:
        """Return whether no set can hold i and not j, the smaller one; then none can hold j and not i."""
        a, b = self.place[i], self.place[j]
        before = a == 1 or self._shorter[a - 1] + arb(self.most[i]) < 0
        between = all(self.over[q - 1] < 0 for q in range(a, b))
        return bool(before and between and self._without(j, b))


def _running(values: Iterable[arb], start: arb) -> list[arb]:
    """Return upper bounds of the largest of the first 0, 1, 2, ... values."""
    return list(accumulate(values, lambda top, v: arb(top.max(v).upper()), initial=start))
