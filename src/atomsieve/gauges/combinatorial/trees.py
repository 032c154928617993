"""Spanning trees of a graph."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from atomsieve.gauges.combinatorial.birkhoff import total_above
from atomsieve.gauges.combinatorial.structure import Marked, marks
from atomsieve.numerics.programs import linear_program
from atomsieve.typing import Array, Index, Mask


@dataclass(frozen=True, eq=False, repr=False)
class SpanningTrees(Marked):
    """Gauge over the spanning trees of a graph, one coefficient per edge: which edges hold all nodes together.

    `edges` is a list of pairs of nodes, which may be numbers or names; parallel edges are allowed. An atom is 1 on the
    edges of a tree, and `sigma(z)` is the weight of the heaviest one, by Kruskal's algorithm. `kappa(x)` is the sum of
    x over the number of nodes less 1, if x is that multiple of a mixture of trees, and inf otherwise: `value` decides
    that by one linear program for each node.

    The heaviest tree with an edge swaps it for the lightest on its circuit, and the heaviest one without an edge swaps
    it for the heaviest across its cut. So certificates prove edges that are in no tree of a solution, and edges that
    are in all of them (`facts.saturated`).

    >>> import numpy as np
    >>> gauge = SpanningTrees([(0, 1), (1, 2), (0, 2)])
    >>> gauge.support(np.array([3.0, 1.0, 2.0])), gauge.value(np.array([1.0, 1.0, 2.0]))
    (5.0, 2.0)
    """

    edges: Any

    def __post_init__(self) -> None:
        try:
            edges = tuple((one, other) for one, other in self.edges)
            loops = [edge for edge in edges if hash(edge) is not None and edge[0] == edge[1]]
        except (TypeError, ValueError) as error:
            raise ValueError("SpanningTrees: edges must be a list of pairs of nodes.") from error
        if loops or not edges:
            raise ValueError(f"SpanningTrees: every edge must join two nodes, and there must be one: got {loops}.")
        object.__setattr__(self, "edges", edges)
        if len(self._heaviest(np.zeros(len(edges)))) < self.nodes - 1:
            raise ValueError("SpanningTrees: the graph must be connected; use Product for its parts.")

    @cached_property
    def ends(self) -> Index:
        """The numbers of the nodes of each edge."""
        numbers: dict[Any, int] = {}
        pairs = [[numbers.setdefault(node, len(numbers)) for node in edge] for edge in self.edges]
        return np.array(pairs, dtype=np.intp)

    @cached_property
    def nodes(self) -> int:
        """The number of nodes."""
        return int(self.ends.max()) + 1

    def count(self) -> int:
        return len(self.edges)

    def _show(self, name: str) -> str:
        return f"<{len(self.edges)} edges>"

    def stated(self) -> dict[str, Any]:
        """Return the graph with numbers in place of nodes."""
        return {"edges": self.ends}

    def _heaviest(self, z: Array) -> list[int]:
        """Return the edges of the heaviest tree, the heaviest first."""
        roots, ends, tree = list(range(self.nodes)), self.ends.tolist(), []
        for edge in np.argsort(-z, kind="stable").tolist():
            one, other = (_root(roots, node) for node in ends[edge])
            if one != other:
                roots[one] = other
                tree.append(edge)
                if len(tree) == self.nodes - 1:
                    break
        return tree

    def best(self, z: Array) -> tuple[Index, Array]:
        return marks(self._heaviest(z.ravel()))

    def bound(self, z: Array, err: Array) -> float:
        with np.errstate(over="ignore"):
            high = np.nextafter(z + err, np.inf).ravel()
        return total_above(high[self._heaviest(high)])

    def _lightest(self, tree: list[int]) -> Index:
        """Return the lightest edge of a tree between any two nodes: the last one that joins them."""
        lightest, parts = np.full((self.nodes, self.nodes), -1), [np.array([node]) for node in range(self.nodes)]
        home = list(range(self.nodes))
        for edge in tree:
            one, other = (home[node] for node in self.ends[edge])
            lightest[np.ix_(parts[one], parts[other])] = lightest[np.ix_(parts[other], parts[one])] = edge
            parts[one] = np.append(parts[one], parts[other])
            for node in parts[other]:
                home[node] = one
        return lightest

    def several(self, z: Array, count: int) -> list[tuple[Index, Array]]:
        """Return the heaviest tree with one edge swapped, for the edges that lose least."""
        z, tree = z.ravel(), self._heaviest(z.ravel())
        out = self._lightest(tree)[self.ends[:, 0], self.ends[:, 1]]
        lost = z[out] - z
        lost[tree] = np.inf
        chosen = np.argsort(lost, kind="stable")[:count]
        swaps = [(int(edge), int(out[edge])) for edge in chosen if np.isfinite(lost[edge])]
        return [marks([edge if old == gone else old for old in tree]) for edge, gone in swaps]

    def size(self, x: Array) -> float:
        total = float(x.sum()) / (self.nodes - 1)
        if (x < 0).any() or not total > 0:
            return math.inf
        # every edge shares its part among its ends: a unit for each node but the root, and nothing for that one
        count, (one, other) = len(x), self.ends.T
        shares = csr_array((np.ones(count), (one, np.arange(count))), (self.nodes, count))
        shares = shares - csr_array((np.ones(count), (other, np.arange(count))), (self.nodes, count))
        given = np.bincount(other, x / total, self.nodes)
        for root in range(self.nodes):
            due = np.ones(self.nodes)
            due[root] = 0.0
            limits = np.stack([np.zeros(count), x / total], axis=1)
            if linear_program(np.zeros(count), A_eq=shares, b_eq=due - given, bounds=limits).status != 0:
                return math.inf
        return total

    def in_some_and_in_all(self, high: Array, slope: float) -> tuple[Mask, Mask]:
        if not np.isfinite(high).all():
            return np.ones(high.shape, dtype=bool), np.zeros(high.shape, dtype=bool)
        tree = self._heaviest(high)
        best, inside = total_above(high[tree]), np.zeros(len(high), dtype=bool)
        inside[tree] = True
        out = self._lightest(tree)[self.ends[:, 0], self.ends[:, 1]]
        swapped = np.nextafter(np.nextafter(best - high[out], np.inf) + high, np.inf)
        some = ~(np.where(inside, best, swapped) < slope)
        every = np.zeros(len(high), dtype=bool)
        for edge, across in zip(tree, self._cuts(tree), strict=True):
            across[edge] = False
            other = float(np.max(high, where=across, initial=-np.inf))
            every[edge] = math.nextafter(math.nextafter(best - high[edge], math.inf) + other, math.inf) < slope
        return some, every

    def _cuts(self, tree: list[int]) -> list[Mask]:
        """Return which edges lead across the cut that each edge of a tree leaves without it."""
        near: list[list[tuple[int, int]]] = [[] for _ in range(self.nodes)]
        for place, edge in enumerate(tree):
            one, other = self.ends[edge].tolist()
            near[one].append((other, place))
            near[other].append((one, place))
        order, above = [0], {0: (-1, -1)}
        for node in order:
            for other, place in near[node]:
                if other not in above:
                    above[other] = node, place
                    order.append(other)
        below = np.eye(self.nodes, dtype=bool)
        cuts: list[Mask] = [np.zeros(0, dtype=bool)] * len(tree)
        for node in reversed(order[1:]):
            parent, place = above[node]
            cuts[place] = below[node][self.ends[:, 0]] != below[node][self.ends[:, 1]]
            below[parent] |= below[node]
        return cuts


def _root(roots: list[int], node: int) -> int:
    """Return the node that stands for the part of a node, and shorten the way there."""
    while roots[node] != node:
        roots[node] = roots[roots[node]]
        node = roots[node]
    return node
