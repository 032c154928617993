"""The Lovasz norm of a coverage function: the best set by flows from items to elements, in exact whole numbers."""

import math
from collections import deque
from typing import Any

import numpy as np
from flint import arb

from ..balls import double_above
from ..verdict import Refused
from .assignments import whole
from .bases import covered
from .listed import Listed
from .rules import Rules

BITS = 160
"""How finely numbers are cut to whole ones; they are rounded so that what follows is proven."""


class LovaszNorm(Listed):
    """`sum_i weight_i max of abs(x_j) over the j that cover i`. An atom is a set S with signs, divided by f(S).

    Items with the capacities `t weight_i` can send `a_j` to every element j at once if and only if no set has
    `a(S) > t f(S)`. The best t is found from below, by the sets that are short (Dinkelbach), and one more flow proves
    that it is enough.
    """

    nonnegative = False

    def __init__(self, piece: dict[str, Any], *given: Any) -> None:
        self.sets, self.items = covered(piece["function"])
        super().__init__(piece, *given)
        if len(self.sets) != len(self.labels):
            raise Refused(f"there are {len(self.sets)} sets for {len(self.labels)} coefficients")

    def within(self, mass: arb, j: int) -> arb:
        return super().within(mass, j) / sum((self.items[i] for i in self.sets[j]), arb(0))

    def value(self, chosen: set[int]) -> arb:
        """Return f(S)."""
        return sum((self.items[i] for i in set().union(*(self.sets[j] for j in chosen))), arb(0))

    def atom(self, places: list[int]) -> dict[int, arb]:
        chosen = {abs(j) - 1 for j in places}
        if not places or 0 in places or len(chosen) < len(places) or max(chosen) >= len(self.sets):
            raise Refused("an atom is no set of coefficients with signs")
        size = self.value(chosen)
        return {abs(j) - 1: arb(1 if j > 0 else -1) / size for j in places}

    def sizes(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        least = np.maximum(np.maximum(low, -high), 0.0)
        most = np.maximum(np.abs(low), np.abs(high))
        return least, np.where(np.isnan(most), np.inf, most)

    def highest_score(self, z: list[float]) -> float:
        return double_above(self._largest([arb(v) for v in z])[1]) if all(map(math.isfinite, z)) else math.inf

    def score_of(self, z: list[arb]) -> arb:
        sizes = [abs(v) for v in z]  # scores grow with these
        low = self._largest([arb(v.lower()).max(arb(0)) for v in sizes])[0]
        return low.union(self._largest([arb(v.upper()) for v in sizes])[1])

    def _largest(self, sizes: list[arb]) -> tuple[arb, arb]:
        """Return bounds of the largest `a(S) / f(S)` for numbers that are not negative."""
        if not all(v.is_finite() for v in sizes):
            raise Refused("a number that matters is not finite")
        chosen = set(range(len(sizes)))
        low = arb(0)
        for _ in range(len(sizes) + 2):
            size = self.value(chosen)
            low = low.max(arb((sum((arb(sizes[j].lower()) for j in chosen), arb(0)) / size).lower()))
            best = arb((sum((arb(sizes[j].upper()) for j in chosen), arb(0)) / size).upper())
            raised = best * (1 + arb(2) ** -100)
            short = self.short(raised, sizes)
            if not short:
                return low, arb(raised.upper())
            chosen = short
        return low, sum((abs(v) for v in sizes), arb(0)) / min(self.items, key=float)

    def short(self, t: arb, sizes: list[arb]) -> set[int]:
        """Return a set that cannot receive its sizes from t times the weights; nothing if there is none."""
        gives, needs, _ = self._cut(t, sizes)
        return flow(self.sets, gives, needs)[1]

    def lacking(self, t: arb, sizes: list[arb], paid: set[int]) -> arb:
        """Return an upper bound of what all elements lack, where items that are paid give nothing."""
        gives, needs, unit = self._cut(t, sizes)
        missing, _ = flow(self.sets, [0 if i in paid else give for i, give in enumerate(gives)], needs)
        return arb(sum(missing)) / unit

    def _cut(self, t: arb, sizes: list[arb]) -> tuple[list[int], list[int], arb]:
        """Return t times the weights in whole units, rounded down, the sizes, rounded up, and the unit."""
        largest = max([1e-300, *(float(v.upper()) for v in sizes), *(float((t * w).upper()) for w in self.items)])
        unit = arb(2) ** (BITS - math.frexp(largest)[1])
        # `v != 0` is false for a ball around 0, which needs as much as it may hold
        gives = [max(whole(arb((t * w * unit).lower())), 0) for w in self.items]
        return gives, [whole(arb((v * unit).upper())) + 1 if not v == 0 else 0 for v in sizes], unit

    def rules(self, low: np.ndarray, high: np.ndarray, slope: arb, steepest: arb) -> Rules:  # noqa: ARG002
        return Coverings(self, low, high, slope)


class Coverings(Rules):
    """Sets that can reach the slope have `a(S) >= slope f(S)` for upper bounds a of abs(z*)."""

    def __init__(self, gauge: LovaszNorm, least: np.ndarray, most: np.ndarray, slope: arb) -> None:
        super().__init__(least, most)
        self.gauge, self.slope, self.bounded = gauge, slope, bool(np.isfinite(most).all()) and bool(slope > 0)

    def in_no_set(self, j: int) -> bool:
        if not self.bounded:
            return False
        # beside j, what its items cost is paid; the rest of it is what all others may be short of
        gauge, sizes = self.gauge, [arb(v) for v in self.most]
        room = self.slope * gauge.value({j}) - sizes[j]
        if not room > 0:
            return False
        others = [arb(0) if k == j else v for k, v in enumerate(sizes)]
        return bool(gauge.lacking(self.slope, others, gauge.sets[j]) < room)

    def in_every_set(self, j: int) -> bool:
        if not self.bounded:
            return False
        # every other element receives more than its size, so that no set of them reaches the slope
        more = arb(max(self.most)) * arb(2) ** -100 + arb(2) ** -1000
        return not self.gauge.short(self.slope, [arb(0) if k == j else arb(v) + more for k, v in enumerate(self.most)])

    def never_apart(self, members: list[int]) -> bool:  # noqa: ARG002
        return False


Node = tuple[bool, int]
"""An element, or an item (True)."""


def flow(sets: list[set[int]], gives: list[int], needs: list[int]) -> tuple[list[int], set[int]]:
    """Return what elements lack where items give as much as they can, and the set of elements that lacks the most."""
    sent: list[dict[int, int]] = [{} for _ in gives]
    left, missing = gives[:], needs[:]
    for j in range(len(needs)):
        while missing[j]:
            way, _ = _way(sets, sent, left, j)
            if not way:
                break
            # an element receives from the item before it, and what it had from the item behind it is free for others
            pairs = [(way[k][1], way[k + 1][1]) for k in range(0, len(way), 2)]
            freed = [(way[k + 1][1], way[k][1]) for k in range(1, len(way) - 1, 2)]
            amount = min([left[way[0][1]], missing[j], *(sent[item][element] for item, element in freed)])
            left[way[0][1]] -= amount
            missing[j] -= amount
            for item, element in pairs:
                sent[item][element] = sent[item].get(element, 0) + amount
            for item, element in freed:
                sent[item][element] -= amount
    short = [_way(sets, sent, left, j)[1] for j, lack in enumerate(missing) if lack]
    return missing, set().union(*short)


def _way(sets: list[set[int]], sent: list[dict[int, int]], left: list[int], origin: int) -> tuple[list[Node], set[int]]:
    """Return a way from an item that has something left to an element, if there is one, and the elements reached."""
    start = (False, origin)
    before: dict[Node, Node] = {}
    ready, seen = deque([start]), {start}
    while ready:
        here = ready.popleft()
        is_item, k = here
        if is_item and left[k]:
            way = [here]
            while way[-1] != start:
                way.append(before[way[-1]])
            return way, set()
        near = [(False, j) for j, amount in sent[k].items() if amount] if is_item else [(True, i) for i in sets[k]]
        for other in near:
            if other not in seen:
                seen.add(other)
                before[other] = here
                ready.append(other)
    return [], {k for is_item, k in seen if not is_item}
