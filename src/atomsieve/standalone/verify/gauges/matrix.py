"""The matrix of an Image or Atoms gauge."""

from typing import Any

import numpy as np

from ..data import Data, in_outputs
from ..doubles import UP, column_sums, gamma, known, sums_above
from ..reading import ROOM
from ..verdict import Refused


class Matrix:
    """The matrix of an Image or Atoms gauge: its non-zero entries, sorted by columns.

    `outer` is the matrix of the Image that this one is in; it is multiplied from the left.
    """

    def __init__(self, content: Any, data: Data, outer: "Matrix | None" = None) -> None:
        self.outer = outer
        rows, columns, values, (height, width) = _places(content)
        left, wanted = ("X", data.rows[1]) if outer is None else ("the matrix around it", outer.width)
        if height != wanted:
            raise Refused(f"the matrix of the gauge has {height} rows, and {left} has {wanted} columns")
        if not 0 < width <= ROOM + len(values) + data.rows[0] * data.rows[1]:
            raise Refused(f"the matrix of the gauge cannot have {width} columns")
        if rows and not (max(rows) < height and max(columns) < width):
            raise Refused("the matrix has places outside its shape")
        self.height = height
        self.width: int = width
        self.tasks = data.tasks
        order = np.argsort(np.array(columns, dtype=int), kind="stable")
        self._rows, self._values = np.array(rows, dtype=int)[order], np.array(values, dtype=np.float64)[order]
        self._starts = np.searchsorted(np.array(columns, dtype=int)[order], np.arange(width + 1))

    def columns(self, index: Any) -> np.ndarray:
        """Return columns as a dense array, in the rows of their output."""
        dense = self.features([j // self.tasks for j in index])
        return dense if self.tasks == 1 else in_outputs(dense, np.array(index, dtype=int), self.tasks)

    def features(self, index: Any) -> np.ndarray:
        """Return columns as a dense array."""
        dense = np.zeros((self.height, len(index)))
        for k, j in enumerate(index):
            part = slice(self._starts[j], self._starts[j + 1])
            dense[self._rows[part], k] = self._values[part]
        return dense

    def adjoint(self, values: np.ndarray, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the products of all columns with numbers, by features and outputs, and bounds of the errors.

        A sum of k products is off by at most `gamma(k)` times the sum of their absolute values, beside what the errors
        of the numbers add.
        """
        with np.errstate(all="ignore"):
            weights = known((np.abs(values) * gamma(self.height + 8) + errors) * UP)
            sums = [column_sums(self._values * v[self._rows], self._starts) for v in values.T]
            rads = [column_sums(np.abs(self._values) * v[self._rows], self._starts) for v in weights.T]
        return np.stack(sums, axis=1), sums_above(np.stack(rads, axis=1), self.height)


def _places(content: Any) -> tuple[list[int], list[int], list[float], tuple[int, int]]:
    """Return rows, columns and values of the non-zero entries of a matrix, and its shape."""
    if isinstance(content, dict):
        rows, columns, values, shape = (content[name] for name in ("row", "column", "value", "shape"))
        if len(shape) != 2 or not len(set(zip(rows, columns))) == len(rows) == len(columns) == len(values):
            raise Refused("the matrix has places that repeat, values without a place, or no shape")
        return rows, columns, values, (shape[0], shape[1])
    width = len(content[0]) if content else 0
    if any(len(row) != width for row in content):
        raise Refused("the rows of the matrix have different lengths")
    filled = [(i, j, v) for i, row in enumerate(content) for j, v in enumerate(row) if v != 0]
    rows, columns, values = ([place[k] for place in filled] for k in range(3))
    return rows, columns, values, (len(content), width)
