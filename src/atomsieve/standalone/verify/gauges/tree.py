"""The matrix of levels over a tree: every place has the level of its parent and a jump."""

from typing import Any

import numpy as np

from ..data import Data
from ..doubles import TINY, UP, gamma, known, sums_above
from ..verdict import Refused
from .matrix import Matrix


class Tree(Matrix):
    """Column j is 1 at place j and at all that hang on it, one on the other; a root hangs on itself."""

    def __init__(self, content: dict[str, Any], data: Data, outer: Matrix | None = None) -> None:
        self.outer, self.tasks = outer, data.tasks
        wanted = data.rows[1] if outer is None else outer.width
        self.parents: list[int] = content["tree"]
        self.height = self.width = len(self.parents)
        if self.width != wanted:
            raise Refused(f"there is a tree over {self.width} places, and what is around it has {wanted} columns")
        if not all(0 <= place < self.width for place in self.parents):
            raise Refused("places of a tree hang on what is no place")
        self.order = self._from_the_roots()
        self._sizes = [1] * self.width
        for j in reversed(self.order):
            if self.parents[j] != j:
                self._sizes[self.parents[j]] += self._sizes[j]
        self.first = self._numbered()
        self._roots = list(range(self.width))
        for j in self.order:
            self._roots[j] = self._roots[self.parents[j]]

    def root_of(self, place: int) -> int:
        """Return the root of the tree that a place is in."""
        return self._roots[place]

    def _from_the_roots(self) -> list[int]:
        """Return the places in an order in which none comes before its parent; there is none if they hang in a ring."""
        hanging: list[list[int]] = [[] for _ in self.parents]
        order: list[int] = []
        for j, parent in enumerate(self.parents):
            (order if parent == j else hanging[parent]).append(j)
        for j in order:  # which grows
            order.extend(hanging[j])
        if len(order) < self.width:
            raise Refused("places of a tree hang on each other in a ring")
        return order

    def _numbered(self) -> np.ndarray:
        """Return a number for every place, so that those of all that hang on it follow its own."""
        first, free, start = [0] * self.width, [0] * self.width, 0
        for j in self.order:
            parent = self.parents[j]
            first[j] = start if parent == j else free[parent]
            if parent == j:
                start += self._sizes[j]
            else:
                free[parent] += self._sizes[j]
            free[j] = first[j] + 1
        return np.array(first)

    def features(self, index: Any) -> np.ndarray:
        chosen = np.asarray(index, dtype=int)
        start, end = self.first[chosen], self.first[chosen] + np.array(self._sizes)[chosen]
        places = self.first[:, None]
        return np.asarray(((start <= places) & (places < end)) * 1.0)

    def adjoint(self, values: np.ndarray, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return sums of what hangs on a place; of k numbers they are off by `gamma(k)` times their sizes."""
        with np.errstate(all="ignore"):
            weights = known((np.abs(values) * gamma(self.height + 8) + errors) * UP)
        sums, rads = (np.stack([self._sums(v) for v in part.T], axis=1) for part in (values, weights))
        return sums, sums_above(rads, self.height)

    def _sums(self, values: np.ndarray) -> np.ndarray:
        """Return the sum of the numbers of each place and all that hang on it."""
        sums, parents = values.tolist(), self.parents
        for j in reversed(self.order):
            if parents[j] != j:
                sums[parents[j]] += sums[j]
        return np.array(sums)

    def squares(self, X: Any, metric: np.ndarray) -> np.ndarray | None:
        """Return upper bounds of `sum_i m_i v_i^2` for the columns v of a sparse X times this matrix.

        Only where no row has more than one entry, so that v holds single entries: None otherwise.
        """
        rows = X.tocsr()
        counts = np.diff(rows.indptr)
        if counts.max(initial=0) > 1:
            return None
        with np.errstate(all="ignore"):
            heavy = rows.data[:, None] ** 2 * UP * metric[counts > 0] * UP
            heavy = known(heavy + 2.0**-1070 * np.maximum(metric.max(axis=0), 1.0) * UP + TINY)
        there = np.zeros((self.width, metric.shape[1]))
        np.add.at(there, rows.indices, heavy)
        return sums_above(np.stack([self._sums(v) for v in there.T], axis=1), self.width + X.shape[0])
