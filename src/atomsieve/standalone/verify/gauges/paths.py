"""Paths from a source to a target in a directed graph without cycles: longest ways, from both ends."""

import math
from typing import Any

import numpy as np
from flint import arb

from ..verdict import Refused
from .listed import Listed, Marks


class PathsInDAG(Listed):
    """An atom is 1 on the edges of a path. Edge j leads from node `edges[j][0]` to node `edges[j][1]`."""

    def __init__(self, piece: dict[str, Any], *given: Any) -> None:
        edges = piece["edges"]
        if any(len(edge) != 2 for edge in edges):
            raise Refused("an edge must have two ends")
        self.ends: list[tuple[int, int]] = [(edge[0], edge[1]) for edge in edges]
        if any(start >= end for start, end in self.ends):
            raise Refused("every edge must lead to a node of a higher number, so that there are no cycles")
        self.source, self.target = piece["source"], piece["target"]
        if self.source == self.target:
            raise Refused("source and target must be two nodes")
        super().__init__(piece, *given)
        if len(self.ends) != len(self.labels):
            raise Refused(f"there are {len(self.ends)} edges for {len(self.labels)} coefficients")
        # edges by their ends: in this order, all that leads to a node is known before what leaves it
        self.onward = sorted(range(len(edges)), key=lambda j: self.ends[j])
        self.backward = sorted(range(len(edges)), key=lambda j: (self.ends[j][1], self.ends[j][0]), reverse=True)

    def atom(self, places: list[int]) -> dict[int, arb]:
        if not all(0 <= j < len(self.ends) for j in places) or len(set(places)) < len(places):
            raise Refused("a path names an edge twice, or one that is not there")
        following = {self.ends[j][0]: self.ends[j][1] for j in places}
        node, steps = self.source, 0
        while node in following:
            node, steps = following[node], steps + 1
        if node != self.target or steps != len(places):
            raise Refused("an atom is no path from the source to the target")
        return dict.fromkeys(places, arb(1))

    def highest_score(self, z: list[float]) -> float:
        return self.longest(z).get(self.target, -math.inf)

    def longest(self, z: list[float], *, back: bool = False, without: int = -1) -> dict[int, float]:
        """Return upper bounds of the longest ways from the source, or to the target, perhaps without an edge."""
        ways = {self.target if back else self.source: 0.0}
        for j in self.backward if back else self.onward:
            start, end = reversed(self.ends[j]) if back else self.ends[j]
            if start in ways and j != without:
                ways[end] = max(ways.get(end, -math.inf), sum_above(ways[start], z[j]))
        return ways

    def score_of(self, z: list[arb]) -> arb:
        ways = {self.source: arb(0)}
        for j in self.onward:
            start, end = self.ends[j]
            if start in ways:
                way = ways[start] + z[j]
                ways[end] = ways[end].max(way) if end in ways else way
        if self.target not in ways:
            raise Refused("there is no path from the source to the target")
        return ways[self.target]

    def rules(self, low: np.ndarray, high: np.ndarray, slope: arb, steepest: arb) -> Marks:  # noqa: ARG002
        return Ways(self, low, high, slope)


class Ways(Marks):
    """The longest path through an edge, from the ways on both sides of it, and the longest one without it."""

    def __init__(self, graph: PathsInDAG, low: np.ndarray, high: np.ndarray, slope: arb) -> None:
        super().__init__(low, high, slope)
        self.graph = graph
        self.ahead, self.back = graph.longest(self.most), graph.longest(self.most, back=True)

    def highest_with(self, j: int) -> float:
        start, end = self.graph.ends[j]
        if start not in self.ahead or end not in self.back:
            return -math.inf
        return sum_above(sum_above(self.ahead[start], self.most[j]), self.back[end])

    def highest_without(self, j: int) -> float:
        return self.graph.longest(self.most, without=j).get(self.graph.target, -math.inf)


def sum_above(a: float, b: float) -> float:
    """Return an upper bound of a sum; inf where it is not known."""
    total = math.nextafter(a + b, math.inf)
    return math.inf if math.isnan(total) else total
