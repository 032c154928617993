"""The Birkhoff polytope: permutation matrices, and their mixtures, the doubly stochastic matrices."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from atomsieve.gauges.combinatorial.structure import Marked, is_rounding, marks
from atomsieve.intake.arguments import is_whole
from atomsieve.numerics.enclosures import gamma
from atomsieve.numerics.programs import best_assignment
from atomsieve.typing import Array, Index, Mask


@dataclass(frozen=True, eq=False, repr=False)
class Birkhoff(Marked):
    """Gauge over the permutation matrices of a size m, for an x of m times m entries: who is assigned to whom.

    `kappa(x)` is the common sum of all rows and columns of an `x >= 0`, and inf where these sums differ. `sigma(z)` is
    the value of the best assignment. Pass `shape=(m, m)` to `Problem` for an x that is a matrix; a vector holds it row
    by row. `Ball(1)` with this gauge means matrices with sums of at most 1; for doubly stochastic matrices, with sums
    of 1, use `Shifted(Birkhoff(m), by=...)`.

    Potentials `a_i + b_j >= z_ij` prove the value. What an assignment through (i, j) loses is the reduced cost
    `a_i + b_j - z_ij` and the shortest way, along reduced costs, by which the others make room. So certificates prove
    pairs that no solution uses, and pairs that it is certain of (`facts.saturated`).

    >>> import numpy as np
    >>> gauge = Birkhoff(2)
    >>> gauge.support(np.array([[1.0, 3.0], [2.0, 0.0]])), gauge.value(np.array([[0.5, 1.0], [1.0, 0.5]]))
    (5.0, 1.5)
    """

    m: Any

    def __post_init__(self) -> None:
        if not is_whole(self.m) or not int(self.m) > 0:
            raise ValueError(f"Birkhoff: m must be a whole number of at least 1, got {self.m!r}.")
        object.__setattr__(self, "m", int(self.m))

    def count(self) -> int:
        return int(self.m) ** 2

    def best(self, z: Array) -> tuple[Index, Array]:
        return marks(self._assigned(z.reshape(self.m, self.m)))

    def _assigned(self, z: Array) -> Index:
        """Return the places of the best assignment, row by row."""
        rows, columns = best_assignment(z)
        return np.asarray(rows * self.m + columns)

    def bound(self, z: Array, err: Array) -> float:
        with np.errstate(over="ignore"):
            high = np.nextafter(z + err, np.inf).reshape(self.m, self.m)
        if not np.isfinite(high).all():
            return math.inf
        return total_above(np.concatenate(self._potentials(high)))

    def _potentials(self, z: Array) -> tuple[Array, Array]:
        """Return a and b with `a_i + b_j >= z_ij`, rounding included, and nearly the least sum of all these."""
        assigned = self._assigned(z) % self.m
        # b_j >= b_k + z_ij - z_ik for the row i that is assigned to k: longest ways, and there are no cycles
        rise = np.empty_like(z)
        rise[assigned] = z - z[np.arange(self.m), assigned][:, None]
        b = rise.max(axis=0)
        for _ in range(self.m):
            further = np.maximum(b, (b[:, None] + rise).max(axis=0))
            if (further == b).all():
                break
            b = further
        return np.nextafter(z - b, np.inf).max(axis=1), b  # whatever b is, this a is large enough

    def _losses(self, z: Array) -> tuple[float, Array]:
        """Return an upper bound of sigma, and lower bounds of what assignments through each pair have less."""
        a, b = self._potentials(z)
        assigned = self._assigned(z) % self.m
        reduced = np.maximum(np.nextafter(np.nextafter(a[:, None] + b, -np.inf) - z, -np.inf), 0.0)
        ways = np.empty_like(z)  # from the column that a row gives up to the one that it takes
        ways[assigned] = reduced
        for k in range(self.m):
            ways = np.minimum(ways, ways[:, [k]] + ways[[k]])
        np.fill_diagonal(ways, 0.0)
        # sums of up to 2 m numbers that are not negative
        losses = (reduced + ways[:, assigned].T) * (1 - 2 * gamma(2 * self.m + 4))
        return total_above(np.concatenate([a, b])), losses

    def several(self, z: Array, count: int) -> list[tuple[Index, Array]]:
        """Return the best assignments through pairs that are in none of those before, the best first."""
        z = z.reshape(self.m, self.m)
        found, losses = [self._assigned(z)], self._losses(z)[1].ravel()
        new = np.ones(self.m**2, dtype=bool)
        new[found[0]] = False
        far = 4 * float(np.abs(z).max(initial=0.0)) * self.m + 1.0
        for place in np.argsort(losses, kind="stable"):
            if len(found) > count:
                break
            if new[place]:
                forced = z.copy()
                forced.ravel()[place] += far
                found.append(self._assigned(forced))
                new[found[-1]] = False
        return [marks(places) for places in found[1:]]

    def size(self, x: Array) -> float:
        matrix = x.reshape(self.m, self.m)
        sums = np.concatenate([matrix.sum(axis=0), matrix.sum(axis=1)])
        fits = (x >= 0).all() and is_rounding(sums - sums[0], x)
        return float(x.sum() / self.m) if fits else math.inf

    def in_some_and_in_all(self, high: Array, slope: float) -> tuple[Mask, Mask]:
        if not np.isfinite(high).all():
            return np.ones(high.shape, dtype=bool), np.zeros(high.shape, dtype=bool)
        best, losses = self._losses(high.reshape(self.m, self.m))
        some = ~(np.nextafter(best - losses, np.inf) < slope)
        alone = some & (some.sum(axis=1, keepdims=True) == 1)
        return some.ravel(), alone.ravel()


def total_above(values: Array) -> float:
    """Return an upper bound of a sum of numbers; the sum is rounded once."""
    return math.nextafter(math.fsum(values.tolist()), math.inf)
