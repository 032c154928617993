"""Combinatorial gauges with all of their atoms, found by naive enumeration."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from atomsieve import PathsInDAG


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
        return bool(np.isin(self.atoms, (0.0, 1.0)).all())

    def order_holds(self, x, mass, facts, room):  # noqa: ARG002
        """Return whether the order of facts is that of x; sets have none."""
        return np.array([not facts.order])

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


CASES = {"paths": paths}
