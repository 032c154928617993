"""Combinatorial gauges with all of their atoms, found by naive enumeration."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from atomsieve import BasePolytope, Birkhoff, Coverage, LovaszNorm, PathsInDAG, Permutahedron, SpanningTrees


@dataclass(frozen=True)
class Case:
    """A gauge, and its atoms in the columns of a matrix."""

    gauge: Any
    atoms: Any

    @property
    def d(self):
        return len(self.atoms)

    @property
    def marked(self):
        return not isinstance(self.gauge, Permutahedron | BasePolytope | LovaszNorm)

    def order_holds(self, x, mass, facts, room):
        """Return whether tight sums are what they are said to be, and what is in front is as large as the rest."""
        held, inside = [], []
        for part in facts.tight:
            inside += part
            behind = np.delete(x, inside)
            held.append(abs(x[inside].sum() - mass * self.atoms[inside].sum(axis=0).max()) <= 3 * room)
            if isinstance(self.gauge, Permutahedron):
                held.append(x[inside].min() >= behind.max() - room)
        return np.array([*held, not facts.order])

    def sigma(self, z):
        return max(float((self.atoms.T @ z.ravel()).max()), 0.0)


def paths(seed):
    """A random graph of six nodes in a random order, with parallel edges and dead ends; names are letters."""
    rng = np.random.default_rng(seed)
    nodes = [str(name) for name in rng.permutation(list("abcdef"))]
    edges = [(nodes[i], nodes[i + 1]) for i in range(5)]
    edges += [(nodes[i], nodes[j]) for i in range(6) for j in range(i + 1, 6) if rng.random() < 0.4]
    edges += [(nodes[1], "dead end"), ("nowhere", nodes[2])]
    order = rng.permutation(len(edges))
    edges = [edges[k] for k in order]

    def ways(node):
        if node == nodes[-1]:
            yield []
        for k, (start, end) in enumerate(edges):
            if start == node:
                yield from ([k, *rest] for rest in ways(end))

    found = list(ways(nodes[0]))
    atoms = np.zeros((len(edges), len(found)))
    for column, way in enumerate(found):
        atoms[way, column] = 1.0
    return Case(PathsInDAG(edges, nodes[0], nodes[-1]), atoms)


def birkhoff(seed):
    size = 3 + seed % 2
    found = itertools.permutations(range(size))
    return Case(Birkhoff(size), np.array([np.eye(size)[list(way)].ravel() for way in found]).T)


def trees(seed):
    """All of four or five nodes, some edges twice."""
    rng = np.random.default_rng(seed)
    nodes = 4 + seed % 2
    edges = [(i, j) for i, j in itertools.combinations(range(nodes), 2) if j == i + 1 or rng.random() < 0.5]
    edges += [edges[k] for k in rng.integers(len(edges), size=1)]
    edges = [edges[k] for k in rng.permutation(len(edges))]

    def holds_together(chosen):
        reached = {0}
        for _ in chosen:
            reached |= {node for k in chosen for node in edges[k] if reached & set(edges[k])}
        return len(reached) == nodes

    found = [s for s in itertools.combinations(range(len(edges)), nodes - 1) if holds_together(s)]
    return Case(SpanningTrees(edges), np.array([np.isin(np.arange(len(edges)), s) for s in found], dtype=float).T)


def permutahedron(seed):
    """Weights of one sign, with zeros, and weights that add up to 0 or not."""
    rng = np.random.default_rng(seed)
    weights = [rng.random(4), np.array([2.0, 1.0, 0.0, 0.0]), rng.normal(size=4), np.arange(5) - 2.0][seed % 4]
    return Case(Permutahedron(weights), np.array(sorted(set(itertools.permutations(weights.tolist())))).T)


def covering(seed):
    rng = np.random.default_rng(seed)
    size, items = 3 + seed % 2, 5
    held = rng.random((size, items)) < 0.4
    held[np.arange(size), rng.integers(items, size=size)] = True
    held[rng.integers(size, size=items), np.arange(items)] = True
    return Coverage([np.flatnonzero(row) for row in held], rng.random(items) + 0.2 if seed % 2 else None), size


def bases(seed):
    f, size = covering(seed)
    corners = {}
    for order in itertools.permutations(range(size)):
        values = [f(order[:k]) for k in range(size + 1)]
        corner = np.diff(values)[np.argsort(order)]
        corners[tuple(corner.round(12))] = corner
    return Case(BasePolytope(f), np.array(list(corners.values())).T)


def lovasz(seed):
    f, size = covering(seed)
    atoms = []
    for signs in itertools.product((-1.0, 0.0, 1.0), repeat=size):
        chosen = np.flatnonzero(signs).tolist()
        if chosen:
            atoms.append(np.array(signs) / f(chosen))
    return Case(LovaszNorm(f), np.array(atoms).T)


CASES = {
    "paths": paths,
    "birkhoff": birkhoff,
    "trees": trees,
    "permutahedron": permutahedron,
    "bases": bases,
    "lovasz": lovasz,
}
