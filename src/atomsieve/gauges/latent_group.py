"""Overlapping groups: x is a sum of parts, one for each group, and each part is zero outside of its group."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from atomsieve.gauges.calculus.image import Mapped
from atomsieve.gauges.group import Group
from atomsieve.gauges.grouping import (
    NAMED_WEIGHTS,
    Members,
    by_position,
    in_order,
    members_of,
    require_all,
    weights_by_name,
)
from atomsieve.intake.arguments import keep_copy
from atomsieve.intake.names import position
from atomsieve.piece import SHORT
from atomsieve.typing import Array, Index

WHO = "LatentGroup"


@dataclass(frozen=True, eq=False, repr=False)
class LatentGroup(Mapped):
    """Latent group norm, `kappa(x) = min { sum_g weights_g norm2(v_g) : sum_g v_g = x }`, each v_g zero outside g.

    Its support function is `sigma(z) = max_g norm2(z_g) / weights_g`. Groups may overlap, and the features that are
    used form a union of groups. A feature belongs to a model with any one of its groups; with `Group` norms of
    overlapping groups added up, it would leave with any one of them.

    `groups` is a dict with the features of each group, by name or position, or a list of lists. Every feature needs a
    group: one on its own is a group of one. `weights` are those of `Group`: "sqrt" (the default), "equal", a dict by
    group, or one positive number per group.

    Solvers work on all the v_g, that is, on copies of the columns, which are never made. Certificates say which groups
    are zero; a coefficient is zero if all of its groups are. Where two groups share features the data do not tell v_g
    apart, but they do tell x: `Certificate.feature_frame()` has its intervals. `parts` returns the v_g of a solution.
    The value at a given x is a convex program of its own, which solving does not need.

    Jacob, Obozinski and Vert, Group lasso with overlap and graph lasso, ICML 2009.

    >>> import numpy as np
    >>> chain = LatentGroup({"ab": [0, 1], "bc": [1, 2]}, weights="equal")
    >>> chain.support(np.array([3.0, 4.0, 0.0])), chain.scores(np.array([3.0, 4.0, 0.0]))
    (5.0, array([5., 4.]))
    >>> chain.lower(np.array([1.0, 2.0, 3.0, 4.0]))
    array([1., 5., 4.])
    >>> chain.parts(np.array([1.0, 2.0, 3.0, 4.0]))
    {'ab': array([1., 2.]), 'bc': array([3., 4.])}
    """

    groups: Any
    weights: Any = "sqrt"

    def __post_init__(self) -> None:
        members = members_of(self.groups, WHO)
        if members is None:
            raise ValueError(
                f"{WHO}: groups must be the features of each group: a dict {{'age': ['age1', 'age2'], ...}} or a list "
                "of lists, [[0, 1], [1, 2]]. For one label per feature use Group(labels)."
            )
        object.__setattr__(self, "groups", members)
        if not (isinstance(self.weights, str) and self.weights in NAMED_WEIGHTS):
            weights: Mapping[Hashable, float] = weights_by_name(self.weights, members, WHO)
            keep_copy(self, "weights", in_order(weights, list(members), WHO))

    def named(self, names: Sequence[str] | None, count: int) -> "LatentGroup":
        places = None if names is None else {name: j for j, name in enumerate(names)}
        members = {
            group: tuple(position(feature, count, places, f"{WHO}: groups") for feature in features)
            for group, features in self.groups.items()
        }
        used = {j for features in members.values() for j in features}
        require_all([j if names is None else names[j] for j in range(count) if j not in used], WHO)
        return LatentGroup(members, self.weights)

    def check(self, shape: tuple[int, ...]) -> None:
        used = set(self._places.tolist())
        require_all([j for j in range(shape[0]) if j not in used], WHO)
        super().check(shape)

    def names(self) -> tuple[str, ...]:
        return tuple(map(str, self.groups))

    def parts(self, lifted: Array) -> dict[Hashable, Array]:
        """Return the part v_g of each group: a number, or a row, for each of its features, in their order.

        `lifted` is that of a result: `gauge.parts(result.lifted)`. The parts of a feature add up to its coefficient.
        """
        rows = int(self._sizes.sum())
        whole = np.asarray(lifted).reshape(rows, -1)
        each = whole[:, 0] if whole.shape[1] == 1 else whole
        return dict(zip(self.groups, np.split(each, np.cumsum(self._sizes)[:-1]), strict=True))

    def _show(self, name: str) -> str:
        """Return the text for a parameter; many groups are told by their sizes."""
        if name != "groups" or self._sizes.sum() <= SHORT:
            return super()._show(name)
        low, high = self._sizes.min(), self._sizes.max()
        return f"<{len(self._sizes)} groups of {low if low == high else f'{low} to {high}'} features>"

    @cached_property
    def _sizes(self) -> Index:
        """The number of features of each group."""
        return np.array([len(features) for features in self.groups.values()], dtype=np.intp)

    @cached_property
    def _places(self) -> Index:
        """The feature of each entry of the preimage, group by group."""
        members: Members = self.groups
        if not by_position(members):
            raise TypeError(
                f"{WHO}: groups are given by the names of features, which only a problem knows: pass this gauge to "
                "Problem or an estimator, or give positions."
            )
        places = np.array([j for features in members.values() for j in features], dtype=np.intp)
        for group, features in members.items():
            if len(set(features)) < len(features) or min(features) < 0:
                raise ValueError(f"{WHO}: groups must give positions from 0 on, each once, for {group!r}.")
        return places

    @cached_property
    def gauge(self) -> Group:  # type: ignore[override]
        """The group norm of all parts, one below the other."""
        return Group(np.repeat(np.arange(len(self._sizes)), self._sizes), self.weights)

    @cached_property
    def matrix(self) -> Any:
        """The matrix that adds the parts."""
        count = len(self._places)
        shape = (int(self._places.max()) + 1, count)
        return csc_array((np.ones(count), self._places, np.arange(count + 1)), shape=shape)
