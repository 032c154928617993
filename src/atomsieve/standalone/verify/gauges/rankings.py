"""Permutations of weights: what ranks first has the largest weight."""

import math
from typing import Any

import numpy as np
from flint import arb

from ..balls import double_above, double_below
from ..doubles import DOWN
from ..verdict import Refused
from .listed import Exact, Listed, union_of
from .rules import Rules


class Permutahedron(Listed):
    """An atom gives the weights, the largest first, to the coefficients in some order."""

    tops = True
    signs_of_z = False

    def _weights(self, stated: Any, blocks: int, rows: int, per: int) -> np.ndarray:  # noqa: ARG002
        self.falling = sorted(map(float, stated), reverse=True)
        if len(self.falling) != rows * per or not any(self.falling):
            raise Refused(f"there are {len(self.falling)} weights for {rows * per} coefficients, or all are 0")
        self.nonnegative = self.falling[-1] >= 0
        self.signed = np.full(rows * per, not self.nonnegative)
        self.largest_entry = max(map(abs, self.falling))
        return np.ones(1)

    def within(self, mass: arb, j: int) -> arb:
        return super().within(mass, j) * arb(self.largest_entry)

    def atom(self, places: list[int]) -> dict[int, arb]:
        if sorted(places) != list(range(len(self.falling))):
            raise Refused("an atom is no order of all coefficients")
        return {j: arb(weight) for j, weight in zip(places, self.falling)}

    def highest_score(self, z: list[float]) -> float:
        return _sum_above(z, self.falling)

    def scores(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.nonnegative:
            return super().scores(low, high)
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            return np.zeros(1), np.full(1, np.inf)
        # scores do not grow with z where weights are negative: both ends count
        score = self.dual_norm([union_of(arb(a), arb(b)) for a, b in zip(low.tolist(), high.tolist())])
        least, most = max(double_below(score), 0.0), double_above(score)
        return np.array([least]) / self.prices.high * DOWN, self.over_prices(np.array([most]))

    def spreads_above(self, lengths: np.ndarray) -> np.ndarray:
        return np.array([_sum_above(lengths.tolist(), sorted(map(abs, self.falling), reverse=True))])

    def score_of(self, z: list[arb]) -> arb:
        # the k-th largest of balls lies between the k-th largest of their lower and of their upper ends
        lows = sorted((arb(v.lower()) for v in z), key=Exact, reverse=True)
        highs = sorted((arb(v.upper()) for v in z), key=Exact, reverse=True)
        return sum((arb(w) * union_of(low, high) for w, low, high in zip(self.falling, lows, highs)), arb(0))

    def rules(self, low: np.ndarray, high: np.ndarray, slope: arb, steepest: arb) -> Rules:  # noqa: ARG002
        return Ranks(self.falling, low, high)


class Ranks(Rules):
    """The places that a coefficient can have: behind what is certainly above it, before what is certainly below it."""

    def __init__(self, falling: list[float], low: np.ndarray, high: np.ndarray) -> None:
        super().__init__(low, high)
        self.falling = falling

    def weights(self, j: int) -> list[float]:
        """Return the weights that coefficient j can have."""
        above = sum(1 for v in self.least if v > self.most[j])
        below = sum(1 for v in self.most if v < self.least[j])
        return self.falling[above : len(self.falling) - below]

    def in_no_set(self, j: int) -> bool:
        return not any(self.weights(j))

    def in_every_set(self, j: int) -> bool:
        found = self.weights(j)
        return min(found) > 0 or max(found) < 0

    def never_apart(self, members: list[int]) -> bool:  # noqa: ARG002
        return False

    def sign(self, j: int) -> int:
        """Return the sign of a coefficient, 0 if it is not known."""
        found = self.weights(j)
        return 1 if min(found) >= 0 else -1 if max(found) <= 0 else 0


def _sum_above(values: list[float], falling: list[float]) -> float:
    """Return an upper bound of the sum of products of sorted numbers."""
    if not all(map(math.isfinite, values)):
        return math.inf
    terms = [math.nextafter(v * w, math.inf) for v, w in zip(sorted(values, reverse=True), falling)]
    return math.nextafter(math.fsum(terms), math.inf)
