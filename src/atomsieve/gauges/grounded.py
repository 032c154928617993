"""Jumps over all edges of a graph, for the levels above that of a root: what total variation over graphs is lifted to.

With `x_root = c_root` and `x_j = x_root + c_j` every edge from j to a root charges for `|c_j|`, and every other one for
`|c_i - c_j|`. So all roots are one node of level 0, the ground, and their own coefficients are free.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges.base import Atom
from atomsieve.gauges.proximal import Face, Line, ProximalGauge, on_line
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import Enclosure, Uncertain
from atomsieve.numerics.flows import Network
from atomsieve.typing import Array, Index, Mask


@dataclass(frozen=True, eq=False, repr=False)
class Grounded(ProximalGauge):
    """`kappa(c) = sum_e weights_e |c_i - c_j|` with `c_j = 0` for the ground, node `count`; roots are no nodes.

    `sigma(z) = max_S z(S) / cut(S)`, the least congestion of a flow from z to the ground. The first block is all that
    has a price, the second one the roots.
    """

    edges: Any
    weights: Any
    roots: Any
    count: int

    dense = True
    together = True
    decides = True  # as what certificates state in its place does

    @cached_property
    def network(self) -> Network:
        """The nodes, of which the last one is the ground."""
        return Network(self.edges, self.count + 1)

    def unearthed(self, above: Index) -> Network:
        """Return the graph itself, with the roots in the place of the ground, given what every place hangs on."""
        ends, others = self.edges, self.edges[:, ::-1]
        return Network(np.where(ends == self.count, above[np.minimum(others, self.count - 1)], ends), self.count)

    def _supplies(self, z: Array) -> Array:
        """Return z with what the ground takes; roots are apart."""
        supplies = np.append(z, 0.0)
        supplies[self.roots] = 0.0
        supplies[-1] = -supplies.sum()
        return supplies

    def _levels(self, x: Array) -> Array:
        return np.append(x, 0.0)

    def _jumps(self, x: Array) -> Array:
        levels, (tails, heads) = self._levels(x), self.network.ends
        return np.asarray(levels[tails] - levels[heads])

    def check(self, shape: tuple[int, ...]) -> None:
        pass

    def labels(self, shape: tuple[int, ...]) -> Index:
        labels = np.zeros(shape, dtype=np.intp)
        labels[self.roots] = 1
        return labels

    def eligible(self, shape: tuple[int, ...]) -> Mask:
        return np.array([True, False])

    def unpenalised(self) -> Index:
        return np.asarray(self.roots)

    def value(self, x: Array) -> float:
        return float(np.abs(self._jumps(x)) @ self.weights)

    def sizes(self, x: Array) -> Array:
        return np.array([self.value(x), 0.0])

    def scores(self, z: Array) -> Array:
        return np.array([self.network.least_congestion(self._supplies(z), self.weights)[0], 0.0])

    def atom(self, z: Array, block: int) -> Atom:
        if block:  # no atom moves a root
            return Atom(slice(0, self.count), np.zeros(self.count), block)
        best = self.network.least_congestion(self._supplies(z), self.weights)[2]
        tails, heads = self.network.ends
        size = 1 / float(self.weights[best[tails] != best[heads]].sum())
        # beyond the ground the others are one step down
        values = np.where(best[:-1], size, 0.0) if not best[-1] else np.where(best[:-1], 0.0, -size)
        values[self.roots] = 0.0
        return Atom(slice(0, self.count), values, block)

    def enclose_sizes(self, x: Array) -> Enclosure:
        raise Uncertain(
            "of total variation over a graph with cycles nothing is proven inside another gauge, or beside a ridge"
        )

    def spread(self, seminorm: Seminorm, outputs: int) -> Array:
        return self.scores(seminorm.column_norms())

    def restrict(self, columns: Index) -> "Grounded":
        numbers = np.full(self.count + 1, len(columns))
        numbers[columns] = np.arange(len(columns))
        edges = numbers[self.edges]
        inner = edges[:, 0] != edges[:, 1]
        roots = numbers[self.roots]
        return Grounded(edges[inner], self.weights[inner], roots[roots < len(columns)], len(columns))

    def prox(self, v: Array, line: Line) -> Array:
        targets = np.append(v, 0.0)
        targets[self.roots] = 0.0

        def shrunk(slope: float) -> Array:
            ones = np.ones(len(targets))
            return self.network.denoised(targets, ones, slope * self.weights, self.count)[0][:-1]

        return on_line(shrunk, self.value, line, float(self.scores(v)[0]) if line[1] else 0.0)

    def face(self, x: Array) -> Face:
        jumps, (tails, heads) = self._jumps(x), self.network.ends
        labels = self.network.linked(jumps == 0)
        labels = np.where(self._levels(x) == 0, -1, labels)  # nothing else is at the level of the ground but by chance
        used, labels = np.unique(labels, return_inverse=True)
        labels -= 1 if used[0] == -1 else 0
        pulls = self.weights * np.sign(jumps)
        inside = [(end, sign) for end, sign in ((tails, 1.0), (heads, -1.0))]
        gradient = sum(np.bincount(labels[end] + 1, sign * pulls, int(labels.max()) + 2)[1:] for end, sign in inside)
        sizes = np.zeros(int(labels.max()) + 1)
        sizes[labels[labels >= 0]] = self._levels(x)[labels >= 0]
        return Face.of_signs(np.ones(self.count), labels[:-1], sizes, np.asarray(gradient))
