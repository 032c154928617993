"""The edges of a graph over features; over a tree total variation is an l1 norm of the jumps over its edges."""

from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from atomsieve.design import TreeSteps, spanning
from atomsieve.gauges.grounded import Grounded
from atomsieve.intake.arguments import as_floats, as_numbers, shown
from atomsieve.typing import Array, Index


def as_edges(value: Any, name: str) -> Index:
    """Return pairs of places as whole numbers; refuse loops, edges that are there twice, and what is no place."""
    given = as_numbers(value, f"{name}: edges")
    if given.ndim != 2 or given.shape[1] != 2 or not len(given):
        raise ValueError(
            f"{name}: edges must be pairs of features that are numbered from 0, one pair in each row, got shape "
            f"{given.shape}."
        )
    with np.errstate(invalid="ignore"):
        edges = given.astype(np.intp)
    odd = ~((edges == given) & (edges >= 0)).all(axis=1)
    if odd.any():
        raise ValueError(f"{name}: edges must hold whole numbers from 0 on, got {shown(given[odd][0].tolist())}.")
    loops = edges[:, 0] == edges[:, 1]
    if loops.any():
        raise ValueError(f"{name}: edges must join two different features, got {shown(edges[loops][0].tolist())}.")
    ordered = np.sort(edges, axis=1)
    first = np.unique(ordered, axis=0, return_index=True)[1]
    if len(first) < len(edges):
        again = np.delete(edges, first, axis=0)[0]
        raise ValueError(f"{name}: edges must be there once each; {again.tolist()} repeats. Add up their weights.")
    return edges


def as_edge_weights(value: Any, name: str, count: int) -> Array:
    """Return one weight for each edge; inf forbids a jump there, and 0 makes it free."""
    weights = as_floats(value, f"{name}: weights")
    if weights.shape != (count,):
        raise ValueError(
            f"{name}: weights must have one number for each edge, {count} in all, got shape {weights.shape}."
        )
    if not (weights >= 0).all() or not ((weights > 0) & (weights < np.inf)).any():
        raise ValueError(
            f"{name}: weights must not be negative, and some positive and finite (0 takes an edge away, inf forbids a "
            "jump there)."
        )
    return weights


def is_forest(edges: Index, rows: int) -> bool:
    """Return whether a graph has no cycle."""
    graph = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(rows, rows))
    return bool(len(edges) + connected_components(graph, directed=False)[0] == rows)


def over_tree(edges: Index, weights: Array, rows: int) -> tuple[TreeSteps, Array]:
    """Return the steps over a tree, or over several, and the price of every coefficient: 0 for the levels of roots."""
    steps = spanning(edges, rows)
    prices = np.zeros(rows)
    upper = steps.parents[edges[:, 0]] == edges[:, 1]
    prices[np.where(upper, edges[:, 0], edges[:, 1])] = weights
    return steps, prices


def above_roots(edges: Index, rows: int) -> TreeSteps:
    """Return the steps from the root of each component of a graph straight to all of its places."""
    parents = spanning(edges, rows).parents
    while (parents[parents] != parents).any():
        parents = parents[parents]
    return TreeSteps(parents)


def grounded(edges: Index, weights: Array, steps: TreeSteps) -> Grounded:
    """Return the jumps over all edges as a gauge of levels above those of roots."""
    nodes = np.arange(steps.count)
    nodes[steps.roots] = steps.count
    return Grounded(nodes[edges], weights, steps.roots, steps.count)
