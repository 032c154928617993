"""Steps over a tree: a jump moves all places beyond its edge, seen from the root of the tree; they are never formed.

    x_root = c_root,    x_j = x_parent(j) + c_j.

So the column of a jump is 1 on a subtree, and that of a root on all of its tree. With a root that no subtree of half of
the places hangs on, no column is more than 2^0.5 times as long as it is modulo the constants.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from atomsieve.core.trees import enclosed_tree_sums, tree_sums
from atomsieve.design.base import ALL, Columns
from atomsieve.design.jumps import Jumps, Regions
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import Enclosure, gamma, quiet, up
from atomsieve.numerics.exact import rounded
from atomsieve.typing import Array, Index, Mask, Samples


@dataclass(frozen=True, eq=False)
class TreeSteps(Jumps):
    """Steps over one or several trees, by the parent of every place; that of a root is the root itself.

    >>> TreeSteps(np.array([1, 1, 1, 2])).columns(slice(None))
    array([[1., 1., 0., 0.],
           [0., 1., 0., 0.],
           [0., 1., 1., 0.],
           [0., 1., 1., 1.]])
    """

    parents: Index

    fixed = ()

    @property
    def count(self) -> int:  # type: ignore[override]
        return len(self.parents)

    @cached_property
    def roots(self) -> Index:
        return np.flatnonzero(self.parents == np.arange(self.count))

    @cached_property
    def order(self) -> Index:
        """The places, roots first, and none before its parent."""
        depth, above = (self.parents != np.arange(self.count)).astype(np.intp), self.parents
        while (self.parents[above] != above).any():
            depth, above = depth + depth[above], above[above]
        return np.argsort(depth, kind="stable")

    @cached_property
    def above(self) -> Index:
        """The parents in that order and by their places in it; -1 for roots."""
        ranks = np.empty(self.count, dtype=np.int64)
        ranks[self.order] = np.arange(self.count)
        above = ranks[self.parents[self.order]]
        above[above == np.arange(self.count)] = -1
        return above

    def _summed(self, values: Array, *, upward: bool) -> Array:
        """Return the sums of values over subtrees, or from the roots."""
        rows = np.ascontiguousarray(np.asarray(values, dtype=np.float64)[self.order])
        tree_sums(self.above, rows, upward=upward)
        out = np.empty_like(rows)
        out[self.order] = rows
        return out

    def matvec(self, x: Array, index: Columns = ALL) -> Samples:
        return self._summed(self._placed(x, index), upward=False)

    def rmatvec(self, r: Samples) -> Array:
        return self._summed(r, upward=True)

    def _enclosed(self, values: Enclosure, *, upward: bool) -> Enclosure:
        """Return the same in twice the precision; of each column of a matrix."""
        if values.ndim > 1:
            columns = [self._enclosed(values[:, k], upward=upward) for k in range(values.shape[1])]
            mids, rads = ([getattr(column, part) for column in columns] for part in ("mid", "rad"))
            return Enclosure(np.stack(mids, axis=1), np.stack(rads, axis=1))
        total, small, size, spread = enclosed_tree_sums(
            self.above, values.mid[self.order], values.rad[self.order], upward=upward
        )
        terms = self._summed(values.mid != 0, upward=upward)[self.order]
        with quiet():
            spread = np.where(spread > 0, up(spread * (1 + gamma(self.count + 4))), 0.0)
            found = rounded(total, small, size, self.count, spread)
        mid, rad = np.empty((2, self.count))
        mid[self.order], rad[self.order] = found.mid, np.where(terms <= 1, spread, found.rad)  # one alone is exact
        return Enclosure(mid, rad)

    def enclose(self, x: Enclosure, index: Columns = ALL) -> Enclosure:
        return self._enclosed(Enclosure(self._placed(x.mid, index), self._placed(x.rad, index)), upward=False)

    def enclose_adjoint(self, r: Enclosure, norms: Array | None = None) -> Enclosure:
        return self._enclosed(r, upward=True)

    def hung(self) -> tuple[Index, Array]:
        return np.where(self.parents == np.arange(self.count), -1, self.parents), np.ones(self.count)

    def regions(self, index: Columns) -> Regions:
        chosen = np.arange(self.count)[index]
        cuts = np.union1d(chosen, self.roots)
        above = self.parents.copy()
        above[cuts] = cuts
        while (above[above] != above).any():  # the nearest cut on the way to the root
            above = above[above]
        small = TreeSteps(np.searchsorted(cuts, above[self.parents[cuts]]))
        return Regions(np.searchsorted(cuts, above), small, np.searchsorted(cuts, chosen))

    def touched(self, chosen: Mask) -> Mask:
        return np.asarray(self.matvec(chosen.astype(np.float64)) > 0)

    def rows_as_bytes(self) -> Iterator[bytes | memoryview]:
        yield b"tree" + np.ascontiguousarray(self.parents, dtype="<i8").tobytes()

    def parts(self) -> Iterator[Array]:
        yield self.parents.astype(np.float64)

    def stated(self) -> dict[str, object]:
        return {"tree": self.parents.tolist()}


def spanning(edges: Index, count: int) -> TreeSteps:
    """Return steps over a tree of edges for each component of a graph, from a place in the middle of that tree.

    >>> spanning(np.array([[0, 1], [1, 2], [3, 4]]), 5).parents
    array([1, 1, 1, 4, 4])
    """
    parts, labels = connected_components(_graph(edges, count), directed=False)
    first = np.zeros(parts, dtype=np.intp)
    first[labels[::-1]] = np.arange(count)[::-1]
    steps = TreeSteps(hung(edges, first, count))
    below = steps.rmatvec(np.ones(count))
    middle = np.where(2 * below >= below[first][labels], below, np.inf)
    order = np.lexsort((middle, labels))  # the smallest subtree of at least half of the places
    return TreeSteps(hung(_links(steps), order[np.searchsorted(labels[order], np.arange(parts))], count))


def _links(steps: TreeSteps) -> Index:
    """Return the edges of a tree."""
    inner = np.flatnonzero(steps.parents != np.arange(steps.count))
    return np.stack([steps.parents[inner], inner], axis=1)


def _graph(edges: Index, count: int) -> csr_array:
    """Return the edges as a sparse matrix, in both directions."""
    both = np.concatenate([edges, edges[:, ::-1]])
    return csr_array((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(count, count))


def hung(edges: Index, roots: Index, count: int) -> Index:
    """Return the parent of every place where it is reached from the roots in the fewest steps."""
    within = np.concatenate([edges, np.stack([np.full(len(roots), count), roots], axis=1)])
    _, before = breadth_first_order(_graph(within, count + 1), count)
    parents = before[:count].astype(np.intp)
    parents[roots] = roots
    return parents
