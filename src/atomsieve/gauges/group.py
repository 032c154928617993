"""The group norm: the sum of the l2 norms of x over disjoint groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomsieve.design import Columns, as_slice
from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges.base import Atom, BlockGauge
from atomsieve.gauges.grouping import (
    NAMED_WEIGHTS,
    by_position,
    checked_weights,
    count_of,
    group_names,
    in_order,
    labelled,
    labels_of,
    members_of,
    numbered,
    weights_by_name,
)
from atomsieve.gauges.l2 import euclidean
from atomsieve.intake.arguments import keep_copy
from atomsieve.numerics.cached import cached_property
from atomsieve.piece import SHORT
from atomsieve.typing import Array, Index


@dataclass(frozen=True, eq=False, repr=False)
class Group(BlockGauge):
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

    def __post_init__(self) -> None:
        members = members_of(self.groups)
        weights = self.weights
        if members is not None and not (isinstance(weights, str) and weights in NAMED_WEIGHTS):
            weights = weights_by_name(weights, members)
        if members is not None and by_position(members):
            self._hold(labelled(members, None, count_of(members)), weights)
        elif members is not None:  # a problem knows the names
            object.__setattr__(self, "groups", members)
            object.__setattr__(self, "weights", weights)
        else:
            self._hold(None if self.groups is None else labels_of(self.groups), weights)

    def _hold(self, labels: NDArray[Any] | None, weights: Any) -> None:
        """Store labels, and weights as a word or as one number per group."""
        if labels is not None:
            keep_copy(self, "groups", labels)
        if isinstance(weights, Mapping):
            if labels is None:
                raise ValueError("Group: weights by name need groups with names.")
            weights = in_order(weights, group_names(labels))
        if isinstance(weights, str) and weights in NAMED_WEIGHTS:
            object.__setattr__(self, "weights", weights)
        else:
            keep_copy(self, "weights", checked_weights(weights))

    def named(self, names: Sequence[str] | None, count: int) -> "Group":
        if not isinstance(self.groups, dict):
            return self
        return Group(labelled(self.groups, names, count), self.weights)

    def _show(self, name: str) -> str:
        """Return the text for a parameter; many labels are told by their groups."""
        if name != "groups" or not isinstance(self.groups, np.ndarray) or len(self.groups) <= SHORT:
            return super()._show(name)
        sizes = np.bincount(numbered(self.groups))
        each = f"{sizes.min()}" if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
        return f"<{len(sizes)} groups of {each} features>"

    def check(self, shape: tuple[int, ...]) -> None:
        if self.groups is not None and self._labels.shape != shape[:1]:
            raise ValueError(
                f"Group: groups must give one label per feature, {shape[0]} in all, got shape {self._labels.shape}."
            )
        count = shape[0] if self._codes is None else int(self._codes.max()) + 1
        if not isinstance(self.weights, str) and self.weights.shape != (count,):
            raise ValueError(
                f"Group: weights must give one number per group, {count} in all, got shape {self.weights.shape}."
            )

    def flat(self, shape: tuple[int, ...]) -> "Group":
        return self if len(shape) == 1 else Group(self.labels(shape).ravel(), self._explicit())

    def names(self) -> tuple[str, ...] | None:
        return None if self.groups is None else tuple(map(str, group_names(self._labels)))

    def stated(self) -> dict[str, Any]:
        return {"groups": self._codes, "weights": self._factors}

    @property
    def _labels(self) -> NDArray[Any]:
        """The label of each row."""
        if isinstance(self.groups, dict):
            raise TypeError(
                "Group: groups are given by the names of features, which only a problem knows: pass this gauge to "
                "Problem or an estimator, or give positions."
            )
        labels: NDArray[Any] = self.groups
        return labels

    @cached_property
    def _codes(self) -> Index | None:
        """The number of the group of each row; None if every row is a group."""
        return None if self.groups is None else numbered(self._labels)

    @cached_property
    def _factors(self) -> Array | None:
        """The weight of each group; None if all are 1."""
        if not isinstance(self.weights, str):
            factors: Array = self.weights
            return factors
        if self.weights == "equal" or self._codes is None:
            return None
        sizes = np.bincount(self._codes)
        return None if sizes.max() == 1 else np.sqrt(sizes)

    def _explicit(self, blocks: Index | None = None) -> Any:
        """Return the weights of some groups (by default all) as they are, whatever is left of the groups."""
        if self._factors is None:
            return "equal"
        return self._factors if blocks is None else self._factors[blocks]

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

    def restrict(self, columns: Index) -> "Group":
        codes = np.arange(columns.max() + 1) if self._codes is None else self._codes
        weights = self._explicit(np.unique(codes[columns]))
        return Group(None if self._codes is None else codes[columns], weights)
