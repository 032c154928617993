"""Flows through graphs in the compiled core (flow.h): least cuts, denoising, and the least congestion.

Denoising splits regions at their mean levels: the nodes that a greatest flow leaves with something above the mean are
one side of a least cut, and so the ones with higher levels. A region from which nothing is left has one level.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from atomsieve.core import _core
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask

NOTHING = 64 * EPS
"""Part of all supplies of a region below which what is left of them is rounding."""


@dataclass(frozen=True, eq=False)
class Network:
    """Nodes and edges between them; a flow is positive from tail to head."""

    edges: Index
    count: int

    @cached_property
    def ends(self) -> tuple[Index, Index]:
        """Tails and heads."""
        tails, heads = np.ascontiguousarray(self.edges.T, dtype=np.int64)
        return tails, heads

    @cached_property
    def arcs(self) -> tuple[Index, Index]:
        """Where the arcs of each node start, and the arcs: two for each edge, one from its tail, one from its head."""
        nodes = np.ravel(self.edges)
        starts = np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=self.count))]).astype(np.int64)
        return starts, np.argsort(nodes, kind="stable").astype(np.int64)

    @cached_property
    def parts(self) -> Index:
        """The number of the connected component of each node."""
        return self.linked(np.ones(len(self.edges), dtype=bool))

    def linked(self, through: Mask) -> Index:
        """Return the number of the part of each node, where only some edges hold nodes together."""
        tails, heads = (end[through] for end in self.ends)
        graph = coo_array((np.ones(len(tails)), (tails, heads)), shape=(self.count, self.count))
        return np.asarray(connected_components(graph, directed=False)[1])

    def out(self, flow: Array) -> Array:
        """Return what leaves each node, less what enters it."""
        tails, heads = self.ends
        left = np.bincount(tails, flow, self.count) - np.bincount(heads, flow, self.count)
        return np.asarray(left, dtype=np.float64)

    def send(self, rooms: Array, flow: Array, excess: Array) -> Mask:
        """Send excess to where it is short, in place; return the nodes from which no way leads there any more."""
        apart = np.empty(self.count, dtype=np.uint8)
        _core.send_flow(*self.ends, *self.arcs, rooms, flow, excess, apart)
        return apart.astype(bool)

    def denoised(self, y: Array, weights: Array, prices: Array, ground: int | None = None) -> tuple[Array, Array]:
        """Return the x that minimises `sum_i w_i (x_i - y_i)^2 / 2 + sum_e price_e |x_i - x_j|`, and a flow of it.

        The flow leaves `w_i (y_i - x_i)` at each node, is at most the price of each edge, and equal to it at a jump.
        With a `ground`, x is 0 there.
        """
        regions, flow = self.parts.copy(), np.zeros(len(self.edges))
        tails, heads = self.ends
        open_ = np.ones(int(regions.max()) + 1, dtype=bool)
        levels = np.zeros(len(open_))
        while open_.any():
            count = len(open_)
            inner = (regions[tails] == regions[heads]) & open_[regions[tails]]
            supply = weights * y - self.out(np.where(regions[tails] != regions[heads], flow, 0.0))
            levels = np.bincount(regions, supply, count) / np.bincount(regions, weights, count)
            if ground is not None:
                levels[regions[ground]] = 0.0
            supply = np.where(open_[regions], supply - weights * levels[regions], 0.0)
            if ground is not None and open_[regions[ground]]:
                supply[ground] = 0.0
                supply[ground] = -supply[regions == regions[ground]].sum()
            rooms, own = np.where(inner, prices, 0.0), np.where(inner, flow, 0.0)
            excess = supply - self.out(own)
            above = self.send(rooms, own, excess)
            left = np.bincount(regions, np.where(above, np.maximum(excess, 0.0), 0.0), count)
            whole = np.bincount(regions, above, count) == np.bincount(regions, minlength=count)
            split = open_ & ~whole & (left > NOTHING * np.bincount(regions, np.abs(supply), count))
            above &= split[regions]
            parted = inner & (above[tails] != above[heads])
            flow = np.where(inner, own, flow)
            flow[parted] = np.where(above[tails[parted]], 1.0, -1.0) * prices[parted]
            numbers = np.cumsum(split) - 1 + count
            regions = np.where(above, numbers[regions], regions)
            open_ = np.concatenate([split, split[split]])
        supply = weights * y - self.out(np.where(regions[tails] != regions[heads], flow, 0.0))
        order = np.argsort(regions, kind="stable")
        starts = np.searchsorted(regions[order], np.arange(len(levels)))  # sums by halves lose fewer digits
        levels = np.add.reduceat(supply[order], starts) / np.add.reduceat(weights[order], starts)
        if ground is not None:
            levels[regions[ground]] = 0.0
        return levels[regions], flow

    def least_congestion(self, z: Array, weights: Array) -> tuple[float, Array, Mask]:
        """Return the largest `z(S) / cut(S)` over sets S of nodes, a flow that leaves z and shows it, and such a set.

        Entries of z add up to 0 where nodes hang together. The flow is `weights` times this, at most, up to rounding.
        """
        tails, heads = self.ends
        cuts = np.bincount(tails, weights, self.count) + np.bincount(heads, weights, self.count)
        ratios = np.divide(z, cuts, out=np.zeros(self.count), where=cuts > 0)
        best = np.zeros(self.count, dtype=bool)
        best[ratios.argmax()] = True
        least, flow = max(float(ratios.max(initial=0.0)), 0.0), np.zeros(len(weights))
        while least > 0:
            rooms = least * weights
            flow = np.clip(flow, -rooms, rooms)
            excess = z - self.out(flow)
            apart = self.send(rooms, flow, excess)
            left = float(np.maximum(excess, 0.0)[apart].sum())
            if not left > NOTHING * float(np.abs(z).sum()):
                break
            cut = float(weights[apart[tails] != apart[heads]].sum())
            more = float(z[apart].sum()) / cut if cut > 0 else least
            if not more > least:
                break
            least, best = more, apart
        return least, flow, best
