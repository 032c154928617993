"""Sets that are given by their oracles: those of gauges that exist, and of some that do not."""

import math

import numpy as np


def l1(z):
    j = int(np.abs(z).argmax())
    return [j], [np.sign(z.ravel()[j])]


def l1_bound(z, err):
    return float(np.nextafter(np.abs(z) + err, np.inf).max())


def k_sparse(z):
    """The sign vectors of three entries."""
    places = np.argsort(-np.abs(z), kind="stable")[:3]
    return places, np.where(z[places] < 0, -1.0, 1.0)


def simplex(z):
    return np.eye(len(z))[z.argmax()]


def nuclear(z):
    u, _, v = np.linalg.svd(z)
    return np.outer(u[:, 0], v[0])


class Permutations:
    """The permutations of a vector w: `sigma(z)` is the sum of products of sorted numbers."""

    def __init__(self, w):
        self.w = np.sort(np.asarray(w, dtype=float))

    def lmo(self, z):
        atom = np.empty(len(z))
        atom[np.argsort(z, kind="stable")] = self.w
        return atom

    def bound(self, z, err):
        terms = [np.sort(z) * self.w, np.sort(err) * np.sort(np.abs(self.w))]
        return math.nextafter(math.fsum(np.nextafter(np.concatenate(terms), np.inf)), math.inf)


class Ladder:
    """Paths from left to right over stages of edges that are joined by two nodes each: edge 4 s + 2 from + to."""

    def __init__(self, stages):
        self.stages = stages

    def lmo(self, z):
        best, ways = np.zeros(2), []
        for s in range(self.stages):
            scores = best[:, None] + z[4 * s : 4 * s + 4].reshape(2, 2)
            ways.append(scores.argmax(axis=0))
            best = scores.max(axis=0)
        node, edges = int(best.argmax()), []
        for s in reversed(range(self.stages)):
            before = int(ways[s][node])
            edges.append(4 * s + 2 * before + node)
            node = before
        return edges[::-1], np.ones(self.stages)

    def bound(self, z, err):
        above = np.nextafter(z + err, np.inf)
        best = np.zeros(2)
        for s in range(self.stages):
            best = np.nextafter(best[:, None] + above[4 * s : 4 * s + 4].reshape(2, 2), np.inf).max(axis=0)
        return float(best.max())

    def all_paths(self):
        paths = np.array(np.meshgrid(*[[0, 1]] * (self.stages + 1))).reshape(self.stages + 1, -1).T
        matrix = np.zeros((4 * self.stages, len(paths)))
        for j, nodes in enumerate(paths):
            for s in range(self.stages):
                matrix[4 * s + 2 * nodes[s] + nodes[s + 1], j] = 1.0
        return matrix
