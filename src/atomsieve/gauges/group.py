"""The group norm: the sum of the l2 norms of x over disjoint groups."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomsieve.design import Columns, as_slice
from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges.base import Atom, BlockGauge
from atomsieve.gauges.l2 import euclidean
from atomsieve.intake.arguments import as_floats, keep_copy
from atomsieve.piece import SHORT
from atomsieve.typing import Array, Index


@dataclass(frozen=True, eq=False, repr=False)
class Group(BlockGauge):
    """Group norm, `kappa(x) = sum_g weights_g norm2(x_g)`, with `sigma(z) = max_g norm2(z_g) / weights_g`.

    `groups` has one label per row of x, in any order. Blocks are numbered by sorted label; labels that cannot be sorted
    are numbered by first appearance. None makes every row a group: for a matrix x these are the row norms. `weights`
    has one positive number per group (None: all 1). Overlapping groups are an `Image` of this gauge.

    Yuan and Lin, Model selection and estimation in regression with grouped variables, JRSS B 68 (2006).

    >>> import numpy as np
    >>> Group([0, 0, 1]).value(np.array([3.0, 4.0, -1.0]))
    6.0
    """

    groups: Any = None
    weights: Any = None

    def __post_init__(self) -> None:
        if self.groups is not None:
            keep_copy(self, "groups", _labels(self.groups))
        if self.weights is None:
            return
        weights = as_floats(self.weights, "Group: weights")
        if not ((weights > 0) & np.isfinite(weights)).all():
            raise ValueError(
                "Group: weights must be positive finite numbers. Leave features out of X to exclude them "
                "and pass them as `free` to leave them unpenalised."
            )
        keep_copy(self, "weights", weights)

    def _show(self, name: str) -> str:
        """Return the text for a parameter; many labels are told by their groups."""
        if name != "groups" or not isinstance(self.groups, np.ndarray) or len(self.groups) <= SHORT:
            return super()._show(name)
        sizes = np.bincount(numbered(self.groups))
        each = f"{sizes.min()}" if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
        return f"<{len(sizes)} groups of {each} features>"

    def check(self, shape: tuple[int, ...]) -> None:
        if self.groups is not None and self.groups.shape != shape[:1]:
            raise ValueError(
                f"Group: groups must give one label per feature, {shape[0]} in all, got shape {self.groups.shape}."
            )
        count = shape[0] if self._codes is None else int(self._codes.max()) + 1
        if self.weights is not None and self.weights.shape != (count,):
            raise ValueError(
                f"Group: weights must give one number per group, {count} in all, got shape {self.weights.shape}."
            )

    def flat(self, shape: tuple[int, ...]) -> "Group":
        return self if len(shape) == 1 else Group(self.labels(shape).ravel(), self.weights)

    def names(self) -> tuple[str, ...] | None:
        if self.groups is None or self._codes is None:
            return None
        first = np.unique(self._codes, return_index=True)[1]
        return tuple(str(label) for label in self.groups[first].tolist())

    @cached_property
    def _codes(self) -> Index | None:
        """The number of the group of each row; None if every row is a group."""
        return None if self.groups is None else numbered(self.groups)

    @cached_property
    def _members(self) -> list[Columns] | None:
        """The columns of each group, as a slice if they are contiguous; None if every row is a group."""
        if self._codes is None:
            return None
        order = np.argsort(self._codes, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(self._codes))[:-1])
        return [as_slice(part) for part in parts]

    def _columns(self, block: int) -> Columns:
        return slice(block, block + 1) if self._members is None else self._members[block]

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

    def labels(self, shape: tuple[int, ...]) -> Index:
        codes = np.arange(shape[0], dtype=np.intp) if self._codes is None else self._codes
        return np.broadcast_to(codes if len(shape) == 1 else codes[:, None], shape)

    def scores(self, z: Array) -> Array:
        norms = self._norms(z)
        return norms if self.weights is None else norms / self.weights

    def sizes(self, x: Array) -> Array:
        norms = self._norms(x)
        return norms if self.weights is None else norms * self.weights

    def prices(self, shape: tuple[int, ...]) -> Array:
        return np.ones(int(self.labels(shape).max()) + 1) if self.weights is None else self.weights

    def atom(self, z: Array, block: int) -> Atom:
        columns = self._columns(block)
        values = z[columns]
        norm = euclidean(values)
        weight = 1.0 if self.weights is None else float(self.weights[block])
        return Atom(columns, values / (norm * weight) if norm > 0 else np.zeros_like(values), block)

    def spread(self, seminorm: Seminorm, outputs: int) -> Array:
        norms = seminorm.column_norms() if self._members is None else seminorm.spectral_norms(self._members)
        return norms if self.weights is None else norms / self.weights

    def restrict(self, columns: Index) -> "Group":
        codes = np.arange(columns.max() + 1) if self._codes is None else self._codes
        weights = None if self.weights is None else self.weights[np.unique(codes[columns])]
        return Group(None if self._codes is None else codes[columns], weights)


def _labels(groups: Any) -> NDArray[Any]:
    """Return one label per feature; refuse lists of columns and missing labels."""
    try:
        labels = np.asarray(groups)
    except ValueError:
        labels = np.empty((0, 0))
    if labels.ndim != 1:
        raise ValueError(
            "Group: groups must give one label per feature, in one list: for columns [[0, 1], [2]] write [0, 0, 1]."
        )
    if labels.dtype.kind in "biuSU":
        return labels
    if any(_missing(label) for label in labels.tolist()):
        raise ValueError("Group: groups has missing labels (NaN, NA or None). Give every feature a group.")
    if not all(isinstance(label, Hashable) for label in labels.tolist()):
        raise ValueError("Group: groups must give numbers, strings or the like as labels, not lists or dicts.")
    return labels


def _missing(label: Any) -> bool:
    """Return whether a label is missing: None, NaN, or NA and NaT of pandas."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, (float, np.floating)) and bool(np.isnan(label))


def numbered(labels: NDArray[Any]) -> Index:
    """Return the number of each label, in sorted order, or by first appearance if labels cannot be sorted."""
    try:
        return np.unique(labels, return_inverse=True)[1]
    except TypeError:
        numbers: dict[Any, int] = {}
        return np.array([numbers.setdefault(label, len(numbers)) for label in labels.tolist()], dtype=np.intp)
