"""How a solution over a graph is stated for a proof: by a tree within its regions, and a flow through other edges."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from atomsieve.design import TreeSteps
from atomsieve.design.tree import hung
from atomsieve.gauges.calculus.image import Image
from atomsieve.gauges.graph_jumps import GraphJumps
from atomsieve.gauges.grounded import Grounded
from atomsieve.numerics.flows import Network
from atomsieve.typing import Array, Index, Mask

FLOWS = 4
"""Greatest flows of which the mean is taken: an edge that one of them fills another may leave with room."""


def stated_with_flow(
    core: Grounded, above: Index, c: Array, z: Array, scale: float, *, upward: bool
) -> tuple[Image, Array]:
    """Return total variation over a graph by a tree that fits a solution c, with a flow of z, and the jumps of c.

    `above` is the root that every place hangs on, -1 for roots; the gauge is told whether A has no negative entries.
    """
    network = core.unearthed(above)
    tails, heads = network.ends
    roots = np.flatnonzero(above < 0)
    supplies = z.copy()
    np.subtract.at(supplies, above[above >= 0], z[above >= 0])
    least, flow, best = mean_flow(network, supplies, core.weights)
    filled = np.abs(flow) / (least * core.weights) if least > 0 else np.zeros(len(flow))
    cost = 1 + np.minimum(filled, 1.0) + 2 * (c[tails] != c[heads])
    places = tails.astype(np.int32), heads.astype(np.int32)  # SciPy 1.13 knows no others here
    chosen = minimum_spanning_tree(csr_array((cost, places), shape=(network.count, network.count))).tocoo()
    parents = hung(np.stack([chosen.row, chosen.col], axis=1), roots, network.count)
    steps = TreeSteps(parents)
    in_tree = (parents[tails] == heads) | (parents[heads] == tails)
    weights = np.zeros(network.count)
    weights[np.where(parents[tails] == heads, tails, heads)[in_tree]] = core.weights[in_tree]
    jumps = steps.jumps(c)
    chords = np.stack([tails, heads], axis=1)[~in_tree]
    toward = steps.jumps(best.astype(np.float64))
    gauge: Any = GraphJumps(steps, weights, chords, core.weights[~in_tree], scale * flow[~in_tree], toward, upward)
    return Image(gauge, steps), jumps


def mean_flow(network: Network, supplies: Array, weights: Array) -> tuple[float, Array, Mask]:
    """Return the least congestion of flows that leave the supplies, the mean of some, and the set that scores best."""
    least, flow, best = network.least_congestion(supplies, weights)
    rng, flows = np.random.default_rng(0), [flow]
    for _ in range(FLOWS - 1):
        order, turned = rng.permutation(len(weights)), rng.random(len(weights)) < 0.5
        edges = np.where(turned[:, None], network.edges[:, ::-1], network.edges)[order]
        other, found = Network(edges, network.count), np.zeros(len(weights))
        other.send(least * weights[order], found, supplies.copy())
        back = np.empty(len(weights))
        back[order] = found
        flows.append(np.where(turned, -back, back))
    return least, np.mean(flows, axis=0), best
