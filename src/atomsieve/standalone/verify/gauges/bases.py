"""Base polytopes of coverage functions: an order gives each element what it adds to those before it."""

import math
from typing import Any

import numpy as np
from flint import arb

from ..balls import double_above
from ..verdict import Refused
from .listed import Exact, Listed, union_of
from .rules import Rules


class BasePolytope(Listed):
    """`f(S)` is the weight of the items that S covers. The best order is that of z, and scores grow with all of z."""

    tops = True

    def __init__(self, piece: dict[str, Any], *given: Any) -> None:
        self.sets, self.items = covered(piece["function"])
        super().__init__(piece, *given)
        if len(self.sets) != len(self.labels):
            raise Refused(f"there are {len(self.sets)} sets for {len(self.labels)} coefficients")

    def within(self, mass: arb, j: int) -> arb:
        return super().within(mass, j) * sum((self.items[i] for i in self.sets[j]), arb(0))  # j as the first of all

    def atom(self, places: list[int]) -> dict[int, arb]:
        if sorted(places) != list(range(len(self.sets))):
            raise Refused("an atom is no order of all coefficients")
        seen: set[int] = set()
        gains = {}
        for j in places:
            gains[j] = sum((self.items[i] for i in self.sets[j] - seen), arb(0))
            seen |= self.sets[j]
        return gains

    def highest_score(self, z: list[float]) -> float:
        return double_above(self._extension([arb(v) for v in z])) if all(map(math.isfinite, z)) else math.inf

    def score_of(self, z: list[arb]) -> arb:
        return union_of(self._extension([arb(v.lower()) for v in z]), self._extension([arb(v.upper()) for v in z]))

    def _extension(self, z: list[arb]) -> arb:
        """Return the best score at exact numbers."""
        order = sorted(range(len(z)), key=[Exact(v) for v in z].__getitem__, reverse=True)
        return sum((z[j] * gain for j, gain in self.atom(order).items()), arb(0))

    def rules(self, low: np.ndarray, high: np.ndarray, slope: arb, steepest: arb) -> Rules:  # noqa: ARG002
        return Silent(low, high)


class Silent(Rules):
    """Nothing is known of single coefficients."""

    def in_no_set(self, j: int) -> bool:  # noqa: ARG002
        return False

    def in_every_set(self, j: int) -> bool:  # noqa: ARG002
        return False

    def never_apart(self, members: list[int]) -> bool:  # noqa: ARG002
        return False


def covered(function: dict[str, Any]) -> tuple[list[set[int]], list[arb]]:
    """Return the items that each element covers, and their weights."""
    sets = [set(given) for given in function["sets"]]
    if set().union(*sets) != set(range(len(function["weights"]))) or not all(sets):
        raise Refused("an element covers nothing, or items and weights do not fit")
    return sets, [arb(weight) for weight in function["weights"]]
