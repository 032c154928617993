"""The matrix of a signal: a level, and jumps to both sides of it."""

from typing import Any

import numpy as np

from ..data import Data
from ..doubles import TINY, UP, gamma, known, sums_above
from ..reading import ROOM
from ..verdict import Refused
from .matrix import Matrix


class Steps(Matrix):
    """Column `root` is 1. Column j is 1 from j on to the right of the root, and -1 up to j to its left.

    Places that are `fixed` are left out of that: their columns, and their rows, are those of the identity.
    """

    def __init__(self, content: dict[str, Any], data: Data, outer: Matrix | None = None) -> None:
        self.outer, self.tasks = outer, data.tasks
        wanted = data.rows[1] if outer is None else outer.width
        self.height = self.width = content["steps"]
        self.root, fixed = content["root"], content["fixed"]
        if self.width != wanted:
            raise Refused(f"there are steps over {self.width} places, and what is around them has {wanted} columns")
        if len(set(fixed)) < len(fixed) or len(fixed) > ROOM or not all(0 <= j < self.width for j in fixed):
            raise Refused("the fixed places of steps repeat, or are none")
        if not 0 <= self.root < self.width or self.root in fixed:
            raise Refused("the root of steps is no place of its own")
        self.moving = np.ones(self.width, dtype=bool)
        self.moving[fixed] = False

    def features(self, index: Any) -> np.ndarray:
        places = np.arange(self.height)[:, None]
        chosen = np.asarray(index, dtype=int)[None, :]
        inside = self.moving[:, None] & self.moving[chosen]
        up = inside & ((chosen == self.root) | ((chosen > self.root) & (places >= chosen)))
        down = inside & (chosen < self.root) & (places <= chosen)
        return np.asarray(up * 1.0 - down * 1.0 + ~self.moving[chosen] * (places == chosen))

    def adjoint(self, values: np.ndarray, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return sums of what is at and beyond a place; of k numbers they are off by `gamma(k)` times their sizes."""
        moving = np.flatnonzero(self.moving)
        at = int(np.searchsorted(moving, self.root))
        with np.errstate(all="ignore"):
            weights = known((np.abs(values) * gamma(self.height + 8) + errors) * UP)
            found, rads = values.copy(), errors.copy()
            for out, part in ((found, values[moving]), (rads, weights[moving])):
                right, left = np.cumsum(part[at:][::-1], axis=0)[::-1], np.cumsum(part[:at], axis=0)
                whole = right[:1] + (left[-1:] if at else 0.0)
                out[moving] = np.concatenate([-left if out is found else left, whole, right[1:]])
        return found, np.where(self.moving[:, None], sums_above(rads, self.height), rads)

    def squares(self, X: Any, metric: np.ndarray) -> np.ndarray | None:
        """Return upper bounds of `sum_i m_i v_i^2` for the columns v of a sparse X times this matrix, none being fixed.

        The sum of a row beyond a place changes only where the row has an entry. So the entries are added up, all rows
        side by side; the sum of the squares at a place is the sum of what entries beyond it have changed.
        """
        if not self.moving.all():
            return None
        found = np.empty((self.width, metric.shape[1]))
        rows = X.tocsr()
        rows.sort_indices()
        for side in (-1, 1):
            change, size = self._changes(rows, metric, side)
            sums, sizes = (np.cumsum(part[::side], axis=0)[::side] for part in (change, size))
            # as many terms as entries and places, each rounded a few times
            bound = known(sums + gamma(4 * (rows.nnz + self.width) + 64) * sizes * UP)
            part = slice(self.root + 1, None) if side == -1 else slice(0, self.root)
            found[part] = bound[part]
        total = np.abs(np.asarray(rows.sum(axis=1)).reshape(-1, 1))
        total = total + gamma(self.width + 8) * np.asarray(abs(rows).sum(axis=1)).reshape(-1, 1) * UP
        found[self.root] = sums_above((total * total * UP * metric).sum(axis=0), len(total))
        # squares that are too small for a double meet the metric
        return known(found + len(total) * (2.0**-1070 * np.maximum(metric.max(axis=0), 1.0) * UP + TINY))

    def _changes(self, rows: Any, metric: np.ndarray, side: int) -> tuple[np.ndarray, np.ndarray]:
        """Return by how much every place changes the squares, and the sizes of the terms, on one side of the root."""
        change, size = np.zeros((2, self.width, metric.shape[1]))
        starts, counts = rows.indptr[:-1], np.diff(rows.indptr)
        total, moduli = np.zeros((2, rows.shape[0]))
        before = np.zeros((rows.shape[0], metric.shape[1]))
        for t in range(int(counts.max(initial=0))):
            here = np.flatnonzero(counts > t)
            entry = starts[here] + (t if side == 1 else counts[here] - 1 - t)
            beyond = (rows.indices[entry] - self.root) * side < 0
            here, entry = here[beyond], entry[beyond]
            total[here] += rows.data[entry]
            moduli[here] += np.abs(rows.data[entry])
            most = (np.abs(total[here]) + gamma(2 * t + 2) * moduli[here]) * UP
            now = known(most * most * UP)[:, None] * metric[here] * UP
            np.add.at(change, rows.indices[entry], now - before[here])
            np.add.at(size, rows.indices[entry], now + before[here])
            before[here] = now
        return change, size
