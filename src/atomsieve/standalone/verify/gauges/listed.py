"""Gauges whose atoms are too many to list: the point of a certificate names those that it is made of.

`x = sum of weights times atoms`, and the mass is the sum of the weights. A kind of gauge says which atoms there are,
bounds the best score, and derives what holds for all atoms that can reach it.
"""

from typing import Any

import numpy as np
from flint import arb

from ..balls import double_below
from ..verdict import Refused
from .gauge import Gauge
from .rules import Rules


class Listed(Gauge):
    """One block of price 1. Scores are at least 0, for 0 counts as a point of P."""

    euclidean = False
    has_facts = True
    listed = True
    ranked = False
    """Whether x has the order of z, so that an order may be claimed."""
    nonnegative = True
    """Whether no atom has a negative entry."""

    def atom(self, places: list[int]) -> dict[int, arb]:
        """Return the entries of an atom of P that is named by whole numbers; refuse what is none."""
        raise NotImplementedError

    def highest_score(self, z: list[float]) -> float:
        """Return an upper bound of `max of p . z` over the atoms, for doubles."""
        raise NotImplementedError

    def score_of(self, z: list[arb]) -> arb:
        """Return `max of p . z` over the atoms."""
        raise NotImplementedError

    def rules(self, low: np.ndarray, high: np.ndarray, slope: arb, steepest: arb) -> Rules:  # noqa: ARG002
        return Rules(low, high)

    def _signs(self, piece: dict[str, Any], rows: int, per: int) -> np.ndarray:  # noqa: ARG002
        return np.full(rows * per, not self.nonnegative)

    def in_orthant(self) -> Gauge:
        raise Refused(f"{self.kind} has no Orthant around it")

    def norm(self, values: list[arb], block: int = 0) -> arb:  # noqa: ARG002
        raise Refused(f"the point must name the atoms of {self.kind} that it is made of")

    def dual_norm(self, values: list[arb]) -> arb:
        return self.score_of(values).max(arb(0))

    def pulls(self, block: int, z: Any) -> list[arb]:
        return [z[j] for j in self.entries(block)]

    def sizes(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return low, high

    def dual_norms_above(self, sizes: np.ndarray) -> np.ndarray:
        return np.array([max(self.highest_score(sizes.tolist()), 0.0)])

    def dual_norms_below(self, sizes: np.ndarray) -> np.ndarray:
        if not np.isfinite(sizes).all():
            return np.zeros(1)
        return np.array([max(double_below(self.dual_norm([arb(v) for v in sizes.tolist()])), 0.0)])


class Marks(Rules):
    """Atoms of zeros and ones: what is in none of those that reach the slope is 0, and what is in all is the mass."""

    def __init__(self, low: np.ndarray, high: np.ndarray, slope: arb) -> None:
        super().__init__(low, high)
        self.needed = double_below(slope)

    def highest_with(self, j: int) -> float:
        """Return an upper bound of the score of all atoms that hold coefficient j."""
        raise NotImplementedError

    def highest_without(self, j: int) -> float:
        """Return an upper bound of the score of all atoms that do not hold it."""
        raise NotImplementedError

    def in_no_set(self, j: int) -> bool:
        return self.highest_with(j) < self.needed

    def in_every_set(self, j: int) -> bool:
        return self.highest_without(j) < self.needed

    def never_apart(self, members: list[int]) -> bool:
        return all(self.saturated(j) for j in members)

    def saturated(self, j: int) -> bool:
        return self.in_every_set(j)


class Exact:
    """Compare exact balls."""

    def __init__(self, value: arb) -> None:
        self.value = value

    def __lt__(self, other: "Exact") -> bool:
        return bool(self.value < other.value)


def union_of(lower: arb, upper: arb) -> arb:
    """Return a ball with all numbers between two."""
    both: arb = lower.union(upper)
    return both


def combined(atoms: list[dict[str, Any]], gauge: Any) -> tuple[dict[int, arb], arb]:
    """Return the point that is made of atoms, and its mass."""
    x: dict[int, arb] = {}
    mass = arb(0)
    for given in atoms:
        weight = arb(given["weight"])
        mass += weight
        for j, value in gauge.atom(given["places"]).items():
            if not value == 0:
                x[j] = x.get(j, arb(0)) + weight * value / gauge.prices[0]
    return {j: x[j] for j in sorted(x)}, mass
