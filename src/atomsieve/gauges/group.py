"""The group norm: the sum of the l2 norms of x over disjoint groups."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges.base import Atom, BlockGauge
from atomsieve.gauges.grouped import Grouped
from atomsieve.gauges.l2 import euclidean
from atomsieve.typing import Array


@dataclass(frozen=True, eq=False, repr=False)
class Group(Grouped):
    """Group norm, `kappa(x) = sum_g weights_g norm2(x_g)`, with `sigma(z) = max_g norm2(z_g) / weights_g`.

    `groups` says which rows of x, that is features, belong together; they must not overlap:

    - a dict with the features of each group, by name or position: `{"age": ["age1", "age2"], "sex": ["sex"]}`. Names
      are found among the feature names of the problem. A feature in no group is refused: give it one of its own;
    - a list of lists of features, `[[0, 1], [2]]`;
    - one label per feature, in any order: `["age", "age", "sex"]`;
    - None: every row is a group; for a matrix x these are the row norms.

    `weights` are "sqrt" (the default: the square root of the number of features in the group, so that large groups are
    not favoured), "equal" (all 1), a dict by group, or one positive number per group: in the order of the dict or the
    list of lists; for labels, in sorted order (by first appearance, if they cannot be sorted), which is also how groups
    are numbered in certificates. Groups that overlap are `LatentGroup`.

    Yuan and Lin, Model selection and estimation in regression with grouped variables, JRSS B 68 (2006).

    >>> import numpy as np
    >>> Group([0, 0, 1], weights="equal").value(np.array([3.0, 4.0, -1.0]))
    6.0
    >>> Group({"size": [0, 1], "age": [2]}, weights={"size": 2.0, "age": 1.0}).value(np.array([3.0, 4.0, -1.0]))
    11.0
    """

    groups: Any = None
    weights: Any = "sqrt"

    def stated(self) -> dict[str, Any]:
        return {"groups": self._codes, "weights": self._factors}

    def _norms(self, x: Array) -> Array:
        # scale by the largest entry, so squares neither overflow nor underflow
        largest = float(np.abs(x).max())
        if largest in (0.0, np.inf):
            largest = 1.0
        squares = (x / largest) ** 2
        if squares.ndim == 2:
            squares = squares.sum(axis=1)
        sums = squares if self._codes is None else np.bincount(self._codes, weights=squares)
        return largest * np.sqrt(sums)

    def nonnegative(self, rows: int) -> BlockGauge:
        from atomsieve.gauges.sparse_group import SparseGroup  # noqa: PLC0415 -- which is made of this

        return SparseGroup(self.groups, 0.0, self.weights).nonnegative(rows)

    def scores(self, z: Array) -> Array:
        norms = self._norms(z)
        return norms if self._factors is None else norms / self._factors

    def sizes(self, x: Array) -> Array:
        norms = self._norms(x)
        return norms if self._factors is None else norms * self._factors

    def prices(self, shape: tuple[int, ...]) -> Array:
        return np.ones(int(self.labels(shape).max()) + 1) if self._factors is None else self._factors

    def atom(self, z: Array, block: int) -> Atom:
        columns = self._columns(block)
        values = z[columns]
        norm = euclidean(values)
        weight = 1.0 if self._factors is None else float(self._factors[block])
        return Atom(columns, values / (norm * weight) if norm > 0 else np.zeros_like(values), block)

    def spread(self, seminorm: Seminorm, outputs: int) -> Array:
        norms = seminorm.column_norms() if self._members is None else seminorm.spectral_norms(self._members)
        return norms if self._factors is None else norms / self._factors
