"""Spanning trees of a graph: Kruskal's algorithm, with an edge taken first or left out."""

import math
from typing import Any

import numpy as np
from flint import arb

from ..verdict import Refused
from .listed import Exact, Listed, Marks, union_of


class SpanningTrees(Listed):
    """An atom is 1 on the edges of a tree that holds all nodes together."""

    def __init__(self, piece: dict[str, Any], *given: Any) -> None:
        if any(len(edge) != 2 or edge[0] == edge[1] for edge in piece["edges"]):
            raise Refused("an edge must join two nodes")
        self.ends: list[tuple[int, int]] = [(edge[0], edge[1]) for edge in piece["edges"]]
        self.nodes = {node for ends in self.ends for node in ends}
        super().__init__(piece, *given)
        if len(self.ends) != len(self.labels):
            raise Refused(f"there are {len(self.ends)} edges for {len(self.labels)} coefficients")
        if len(self.grown(list(range(len(self.ends))))) < len(self.nodes) - 1:
            raise Refused("the graph is not connected")

    def grown(self, order: list[int]) -> list[int]:
        """Return the edges that join two parts when all are looked at in an order."""
        part = {node: node for node in self.nodes}

        def home(node: int) -> int:
            while part[node] != node:
                part[node] = node = part[part[node]]
            return node

        tree = []
        for j in order:
            one, other = home(self.ends[j][0]), home(self.ends[j][1])
            if one != other:
                part[one] = other
                tree.append(j)
        return tree

    def atom(self, places: list[int]) -> dict[int, arb]:
        fits = all(0 <= j < len(self.ends) for j in places) and len(places) == len(self.nodes) - 1
        if not fits or len(self.grown(places)) < len(places):
            raise Refused("an atom is no spanning tree")
        return dict.fromkeys(places, arb(1))

    def highest_score(self, z: list[float]) -> float:
        return self.heaviest(z, sorted(range(len(z)), key=lambda j: -z[j]))

    def heaviest(self, z: list[float], order: list[int]) -> float:
        """Return an upper bound of the weight of the tree that grows in an order; -inf if there is none."""
        tree = self.grown(order)
        if len(tree) < len(self.nodes) - 1:
            return -math.inf
        weights = [z[j] for j in tree]
        return math.nextafter(math.fsum(weights), math.inf) if all(map(math.isfinite, weights)) else math.inf

    def score_of(self, z: list[arb]) -> arb:
        ends = []
        for side in ("lower", "upper"):
            exact = [arb(getattr(v, side)()) for v in z]
            order = sorted(range(len(z)), key=[Exact(v) for v in exact].__getitem__, reverse=True)
            ends.append(sum((exact[j] for j in self.grown(order)), arb(0)))
        return union_of(*ends)

    def rules(self, low: np.ndarray, high: np.ndarray, slope: arb, steepest: arb) -> Marks:  # noqa: ARG002
        return Swaps(self, low, high, slope)


class Swaps(Marks):
    """The heaviest tree that is grown from an edge, and the heaviest one without it."""

    def __init__(self, graph: SpanningTrees, low: np.ndarray, high: np.ndarray, slope: arb) -> None:
        super().__init__(low, high, slope)
        self.graph = graph
        self._order = sorted(range(len(self.most)), key=lambda j: -self.most[j])

    def highest_with(self, j: int) -> float:
        return self.graph.heaviest(self.most, [j, *self._order])

    def highest_without(self, j: int) -> float:
        return self.graph.heaviest(self.most, [k for k in self._order if k != j])
