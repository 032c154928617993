"""Paths through a graph without cycles: x is a flow from a source to a target."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from atomsieve.gauges.combinatorial.layers import Layers
from atomsieve.gauges.combinatorial.structure import Marked, is_rounding, marks
from atomsieve.typing import Array, Index, Mask


@dataclass(frozen=True, eq=False, repr=False)
class PathsInDAG(Marked):
    """Gauge over the paths from a source to a target in a directed graph without cycles, one coefficient per edge.

    `edges` is a list of pairs (from, to) of nodes, which may be numbers or names. An atom is 1 on the edges of one path
    and 0 elsewhere, so x is a flow: `kappa(x)` is what leaves the source, for an `x >= 0` that is kept at all other
    nodes, and inf for others. `sigma(z)` is the length of the longest path, by dynamic programming from the source;
    lengths from both ends tell the longest path through each edge. Edges on no path have the coefficient 0.

    Certificates prove edges that no solution uses, and edges that carry all of it (`facts.saturated`).

    >>> import numpy as np
    >>> gauge = PathsInDAG([("a", "b"), ("b", "d"), ("a", "c"), ("c", "d")], "a", "d")
    >>> gauge.support(np.array([1.0, 2.0, 3.0, 0.5])), gauge.value(np.array([2.0, 2.0, 1.0, 1.0]))
    (3.5, 3.0)
    """

    edges: Any
    source: Any
    target: Any

    def __post_init__(self) -> None:
        try:
            edges = tuple((start, end) for start, end in self.edges)
            for node in (node for edge in edges for node in edge):
                hash(node)
        except (TypeError, ValueError) as error:
            raise ValueError("PathsInDAG: edges must be a list of pairs (from, to) of nodes.") from error
        object.__setattr__(self, "edges", edges)
        nodes = {node for edge in edges for node in edge}
        for name in ("source", "target"):
            if getattr(self, name) not in nodes:
                raise ValueError(f"PathsInDAG: {name} must be a node of one of the edges, got {getattr(self, name)!r}.")
        if self.source == self.target:
            raise ValueError("PathsInDAG: source and target must be two nodes.")
        if not len(self.layers.edges):
            raise ValueError("PathsInDAG: there is no path from the source to the target.")

    @cached_property
    def layers(self) -> Layers:
        """The graph in topological order."""
        return Layers.of(self.edges, self.source, self.target)

    def count(self) -> int:
        return len(self.edges)

    def _show(self, name: str) -> str:
        return f"<{len(self.edges)} edges>" if name == "edges" else repr(getattr(self, name))

    def stated(self) -> dict[str, Any]:
        """Return the graph with numbers in place of nodes."""
        graph = self.layers
        return {"edges": np.stack([graph.tails, graph.heads], axis=1), "source": graph.source, "target": graph.target}

    def best(self, z: Array) -> tuple[Index, Array]:
        z = z.ravel()
        return marks(self.layers.way_to(self.layers.target, self.layers.forward(z), z))

    def bound(self, z: Array, err: Array) -> float:
        return float(self.layers.forward(_above(z, err), rounded=True)[self.layers.target])

    def several(self, z: Array, count: int) -> list[tuple[Index, Array]]:
        """Return the longest paths through edges that are on none of those before, the longest first."""
        z, graph = z.ravel(), self.layers
        ahead, back = graph.forward(z), graph.backward(z)
        through = ahead[graph.tails] + z + back[graph.heads]
        new = np.isfinite(through)
        found: list[tuple[Index, Array]] = []
        for edge in np.argsort(-through, kind="stable"):
            if len(found) > count or not np.isfinite(through[edge]):
                break
            if new[edge]:
                way = graph.through(int(edge), ahead, back, z)
                new[way] = False
                found.append(marks(way))
        return found[1:]  # the first one is the best

    def size(self, x: Array) -> float:
        graph = self.layers
        kept = np.bincount(graph.heads, x, graph.nodes) - np.bincount(graph.tails, x, graph.nodes)
        inner = np.delete(kept, [graph.source, graph.target])
        beside = np.delete(x, graph.edges)
        flows = (x >= 0).all() and not beside.any() and is_rounding(inner, x)
        return float(-kept[graph.source]) if flows else np.inf

    def in_some_and_in_all(self, high: Array, slope: float) -> tuple[Mask, Mask]:
        graph, some = self.layers, np.zeros(len(high), dtype=bool)
        ahead, back = graph.forward(high, rounded=True), graph.backward(high, rounded=True)
        start, end = ahead[graph.tails[graph.edges]], back[graph.heads[graph.edges]]
        with np.errstate(invalid="ignore"):
            middle = np.nextafter(start + high[graph.edges], np.inf)
            some[graph.edges] = ~(np.nextafter(middle + end, np.inf) < slope)
        # every path crosses each level once: an edge that is alone there is on all of them
        return some, graph.alone(some)


def _above(z: Array, err: Array) -> Array:
    """Return upper bounds of z + err."""
    with np.errstate(over="ignore"):
        return np.nextafter(z.ravel() + err.ravel(), np.inf)
