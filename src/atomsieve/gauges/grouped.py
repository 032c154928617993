"""What gauges of disjoint groups share: how groups and weights are given, and which columns belong together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from atomsieve.design import Columns, as_slice
from atomsieve.gauges.base import BlockGauge
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
from atomsieve.intake.arguments import keep_copy
from atomsieve.numerics.cached import cached_property
from atomsieve.piece import SHORT
from atomsieve.typing import Array, Index


class Grouped(BlockGauge):
    """A gauge whose blocks are groups of rows of x, each with a weight."""

    groups: Any
    weights: Any

    def __post_init__(self) -> None:
        members = members_of(self.groups, self._who)
        weights = self.weights
        if members is not None and not (isinstance(weights, str) and weights in NAMED_WEIGHTS):
            weights = weights_by_name(weights, members, self._who)
        if members is not None and by_position(members):
            self._hold(labelled(members, None, count_of(members, self._who), self._who), weights)
        elif members is not None:  # a problem knows the names
            object.__setattr__(self, "groups", members)
            object.__setattr__(self, "weights", weights)
        else:
            self._hold(None if self.groups is None else labels_of(self.groups, self._who), weights)

    @property
    def _who(self) -> str:
        """The name of the gauge in messages."""
        return type(self).__name__

    def _with(self, groups: Any, weights: Any) -> Self:
        """Return the same gauge with other groups."""
        return replace(self, groups=groups, weights=weights)  # type: ignore[type-var]

    def _hold(self, labels: NDArray[Any] | None, weights: Any) -> None:
        """Store labels, and weights as a word or as one number per group."""
        if labels is not None:
            keep_copy(self, "groups", labels)
        if isinstance(weights, Mapping):
            if labels is None:
                raise ValueError(f"{self._who}: weights by name need groups with names.")
            weights = in_order(weights, group_names(labels), self._who)
        if isinstance(weights, str) and weights in NAMED_WEIGHTS:
            object.__setattr__(self, "weights", weights)
        else:
            keep_copy(self, "weights", checked_weights(weights, self._who))

    def named(self, names: Sequence[str] | None, count: int) -> Self:
        if not isinstance(self.groups, dict):
            return self
        return self._with(labelled(self.groups, names, count, self._who), self.weights)

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
                f"{self._who}: groups must give one label per feature, {shape[0]} in all, got shape "
                f"{self._labels.shape}."
            )
        count = shape[0] if self._codes is None else int(self._codes.max()) + 1
        if not isinstance(self.weights, str) and self.weights.shape != (count,):
            raise ValueError(
                f"{self._who}: weights must give one number per group, {count} in all, got shape {self.weights.shape}."
            )

    def flat(self, shape: tuple[int, ...]) -> Self:
        return self if len(shape) == 1 else self._with(self.labels(shape).ravel(), self._explicit())

    def names(self) -> tuple[str, ...] | None:
        return None if self.groups is None else tuple(map(str, group_names(self._labels)))

    @property
    def _labels(self) -> NDArray[Any]:
        """The label of each row."""
        if isinstance(self.groups, dict):
            raise TypeError(
                f"{self._who}: groups are given by the names of features, which only a problem knows: pass this gauge "
                "to Problem or an estimator, or give positions."
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

    def labels(self, shape: tuple[int, ...]) -> Index:
        codes = np.arange(shape[0], dtype=np.intp) if self._codes is None else self._codes
        return np.broadcast_to(codes if len(shape) == 1 else codes[:, None], shape)

    def restrict(self, columns: Index) -> Self:
        codes = np.arange(columns.max() + 1) if self._codes is None else self._codes
        weights = self._explicit(np.unique(codes[columns]))
        return self._with(None if self._codes is None else codes[columns], weights)
