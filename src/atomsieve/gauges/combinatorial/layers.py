"""A directed graph without cycles in levels: every edge leads to a higher level, so sums go level by level."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from atomsieve.typing import Array, Index, Mask


@dataclass(frozen=True, eq=False)
class Layers:
    """Nodes are numbered so that every edge leads to a higher number; the level is the most edges that lead to it."""

    tails: Index
    heads: Index
    source: int
    target: int
    levels: Index
    """Of all nodes."""

    edges: Index
    """Those that are on a path from the source to the target."""

    @classmethod
    def of(cls, pairs: Sequence[tuple[Any, Any]], source: Any, target: Any) -> "Layers":
        """Return the levels of a graph; refuse one with cycles."""
        numbers: dict[Any, int] = {}
        ends = np.array([[numbers.setdefault(node, len(numbers)) for node in pair] for pair in pairs], dtype=np.intp)
        levels = _levels(ends, len(numbers))
        order = np.argsort(levels, kind="stable")
        ranks = np.empty(len(order), dtype=np.intp)
        ranks[order] = np.arange(len(order))
        tails, heads = ranks[ends].T
        first, last = int(ranks[numbers[source]]), int(ranks[numbers[target]])
        after, before = _reached(tails, heads, first, len(order)), _reached(heads, tails, last, len(order))
        return cls(tails, heads, first, last, levels[order], np.flatnonzero(after[tails] & before[heads]))

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.levels)

    @cached_property
    def _entering(self) -> "Stages":
        return Stages.of(self.edges, self.heads[self.edges], self.levels, 1)

    @cached_property
    def _leaving(self) -> "Stages":
        return Stages.of(self.edges, self.tails[self.edges], self.levels, -1)

    def forward(self, z: Array, *, rounded: bool = False) -> Array:
        """Return the length of the longest path from the source to each node; an upper bound if it is rounded up."""
        return self._entering.longest(z, self.tails, self.source, self.nodes, rounded=rounded)

    def backward(self, z: Array, *, rounded: bool = False) -> Array:
        """Return the length of the longest path from each node to the target; an upper bound if it is rounded up."""
        return self._leaving.longest(z, self.heads, self.target, self.nodes, rounded=rounded)

    def way_to(self, node: int, ahead: Array, z: Array) -> list[int]:
        """Return the edges of the longest path from the source to a node."""
        return self._entering.walk(node, self.source, self.tails, ahead, z)

    def through(self, edge: int, ahead: Array, back: Array, z: Array) -> list[int]:
        """Return the edges of the longest path through an edge."""
        rest = self._leaving.walk(int(self.heads[edge]), self.target, self.heads, back, z)
        return [*self.way_to(int(self.tails[edge]), ahead, z), edge, *rest]

    def alone(self, some: Mask) -> Mask:
        """Return which of some edges cross a level that no other of them crosses."""
        low, high, count = self.levels[self.tails], self.levels[self.heads], int(self.levels.max()) + 1
        crossing = np.cumsum(np.bincount(low[some], minlength=count) - np.bincount(high[some], minlength=count))
        # an edge that is alone on one of its levels is alone on all of them, for whatever crosses one is on a path
        return np.asarray(some & (crossing[low] == 1))


@dataclass(frozen=True, eq=False)
class Stages:
    """Edges sorted by the nodes at one of their ends, and these by levels."""

    edges: Index
    nodes: Index
    """The nodes, level by level."""
    starts: Index
    """The place of the first edge of each node, and the number of edges."""
    ends: Index
    """The place of the first node of each level, and the number of nodes."""
    places: dict[int, int]

    @classmethod
    def of(cls, edges: Index, owners: Index, levels: Index, direction: int) -> "Stages":
        """Return edges by the nodes that own them, with rising levels, or with falling ones."""
        order = np.lexsort((owners, direction * levels[owners]))
        edges, owners = edges[order], owners[order]
        starts = np.append(np.flatnonzero(np.append(True, owners[1:] != owners[:-1])), len(edges))
        nodes = owners[starts[:-1]]
        height = levels[nodes]
        ends = np.append(np.flatnonzero(np.append(True, height[1:] != height[:-1])), len(nodes))
        return cls(edges, nodes, starts, ends, {int(node): k for k, node in enumerate(nodes)})

    @cached_property
    def _levels(self) -> list[tuple[slice, Index, Index]]:
        """The edges of each level, the first of each node among them, and the nodes."""
        found = []
        for first, last in zip(self.ends[:-1].tolist(), self.ends[1:].tolist(), strict=True):
            start = int(self.starts[first])
            found.append(
                (slice(start, int(self.starts[last])), self.starts[first:last] - start, self.nodes[first:last])
            )
        return found

    def longest(self, z: Array, others: Index, origin: int, count: int, *, rounded: bool) -> Array:
        """Return the longest way between the origin and each node of so many; -inf where there is none."""
        lengths = np.full(count, -np.inf)
        lengths[origin] = 0.0
        pulls, before = z[self.edges], others[self.edges]
        with np.errstate(invalid="ignore", over="ignore"):
            for edges, firsts, nodes in self._levels:
                reached = lengths[before[edges]] + pulls[edges]
                if rounded:
                    reached = np.nextafter(reached, np.inf)
                lengths[nodes] = np.maximum.reduceat(reached, firsts)
        return lengths

    def walk(self, node: int, origin: int, others: Index, lengths: Array, z: Array) -> list[int]:
        """Return the edges of the longest way between the origin and a node, from the node on."""
        way = []
        while node != origin:
            k = self.places[node]
            edges = self.edges[self.starts[k] : self.starts[k + 1]]
            edge = int(edges[np.argmax(lengths[others[edges]] + z[edges])])
            way.append(edge)
            node = int(others[edge])
        return way


def _levels(ends: Index, count: int) -> Index:
    """Return the most edges on a way that leads to each node."""
    following: list[list[int]] = [[] for _ in range(count)]
    waiting = np.bincount(ends[:, 1], minlength=count).tolist()
    for start, end in ends.tolist():
        following[start].append(end)
    levels, ready, done = [0] * count, deque(k for k in range(count) if not waiting[k]), 0
    while ready:
        node = ready.popleft()
        done += 1
        for end in following[node]:
            levels[end] = max(levels[end], levels[node] + 1)
            waiting[end] -= 1
            if not waiting[end]:
                ready.append(end)
    if done < count:
        raise ValueError("PathsInDAG: the graph has a cycle, in which paths have no end: leave out one of its edges.")
    return np.array(levels, dtype=np.intp)


def _reached(tails: Index, heads: Index, origin: int, count: int) -> Mask:
    """Return which nodes can be reached from one of them."""
    following: list[list[int]] = [[] for _ in range(count)]
    for start, end in zip(tails.tolist(), heads.tolist(), strict=True):
        following[start].append(end)
    found, ready = np.zeros(count, dtype=bool), [origin]
    while ready:
        node = ready.pop()
        if not found[node]:
            found[node] = True
            ready += following[node]
    return found
