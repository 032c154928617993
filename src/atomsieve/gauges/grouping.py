"""How groups of features may be given, and what they are made into: one label per feature, one weight per group."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomsieve.intake.arguments import as_floats, is_whole, shown
from atomsieve.intake.names import position
from atomsieve.typing import Array, Index

Members = dict[Hashable, tuple[Any, ...]]
"""The features of each group, by name or position."""

NAMED_WEIGHTS = ("sqrt", "equal")
"""Weights that are given by a word."""

SHOWN = 5
"""Features that are named in a message."""


def members_of(groups: Any, who: str = "Group") -> Members | None:
    """Return the features of each group, from a mapping or a list of lists; None if groups are given otherwise."""
    if isinstance(groups, Mapping):
        given = dict(groups)
    elif isinstance(groups, (list, tuple)) and groups and all(map(_is_list, groups)):
        given = dict(enumerate(groups))
    else:
        return None
    for name, features in given.items():
        if not _is_list(features) or not len(features):
            raise ValueError(
                f"{who}: groups must give a list of features for {name!r}, by name or position, got {shown(features)}."
            )
    if not given:
        raise ValueError(f"{who}: groups is empty. Put every feature in a group.")
    return {name: tuple(features) for name, features in given.items()}


def _is_list(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes, Mapping)) and getattr(value, "ndim", 1) == 1


def by_position(members: Members) -> bool:
    """Return whether no feature is given by name."""
    return not any(isinstance(feature, str) for features in members.values() for feature in features)


def labelled(members: Members, names: Sequence[str] | None, count: int, who: str = "Group") -> NDArray[Any]:
    """Return the label of each of `count` features; refuse features that are unknown, left out or given twice."""
    labels: list[Any] = [None for _ in range(count)]
    places = None if names is None else {name: j for j, name in enumerate(names)}
    for group, features in members.items():
        for feature in features:
            j = position(feature, count, places, f"{who}: groups")
            if labels[j] is not None:
                raise ValueError(
                    f"{who}: groups have {feature!r} twice. Groups must not overlap (LatentGroup has overlapping "
                    "groups); to give one label per feature, write one list of labels, [0, 0, 1]."
                )
            labels[j] = group
    require_all([j if names is None else names[j] for j in range(count) if labels[j] is None], who)
    if all(isinstance(label, str) for label in members) or all(isinstance(label, int) for label in members):
        return np.array(labels)
    array = np.empty(count, dtype=object)
    array[:] = labels
    return array


def count_of(members: Members, who: str = "Group") -> int:
    """Return how many features there are, by their positions; refuse positions beyond as many as are given."""
    given = {int(feature) for features in members.values() for feature in features if is_whole(feature)}
    count = sum(map(len, members.values()))
    if max(given, default=0) >= count:
        require_all([j for j in range(count) if j not in given], who)
    return count


def require_all(without: Sequence[Any], who: str = "Group") -> None:
    """Refuse groups that leave out some features."""
    if without:
        more = f" and {len(without) - SHOWN} more" if len(without) > SHOWN else ""
        raise ValueError(
            f"{who}: groups leave out {', '.join(map(repr, without[:SHOWN]))}{more}. Put every feature in a group; one "
            f"on its own is a group of one, such as {{{str(without[0])!r}: [{without[0]!r}]}}."
        )


def labels_of(groups: Any, who: str = "Group") -> NDArray[Any]:
    """Return one label per feature; refuse tables and missing labels."""
    try:
        labels = np.asarray(groups)
    except ValueError:
        labels = np.empty((0, 0))
    if labels.ndim != 1:
        raise ValueError(
            f"{who}: groups must give one label per feature in one list, [0, 0, 1], or the features of each group: a "
            "dict {'age': ['age1', 'age2'], ...} or a list of lists, [[0, 1], [2]]."
        )
    if labels.dtype.kind in "biuSU":
        return labels
    if any(_missing(label) for label in labels.tolist()):
        raise ValueError(f"{who}: groups has missing labels (NaN, NA or None). Give every feature a group.")
    if not all(isinstance(label, Hashable) for label in labels.tolist()):
        raise ValueError(f"{who}: groups must give numbers, strings or the like as labels, not lists or dicts.")
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


def group_names(labels: NDArray[Any]) -> list[Any]:
    """Return the label of each group, in the order in which groups are numbered."""
    first = np.unique(numbered(labels), return_index=True)[1]
    found: list[Any] = labels[first].tolist()
    return found


def checked_weights(weights: Any, who: str = "Group") -> Array:
    """Return weights as an array; refuse those that are not positive and finite."""
    if isinstance(weights, str):
        raise ValueError(f'{who}: weights must be "sqrt", "equal", numbers or a mapping, got {weights!r}.')  # noqa: TRY004
    if weights is None:
        raise ValueError(f'{who}: weights=None is no choice: "sqrt" is the default, "equal" weighs all groups alike.')
    found = as_floats(weights, f"{who}: weights")
    if not ((found > 0) & np.isfinite(found)).all():
        raise ValueError(
            f"{who}: weights must be positive finite numbers. Leave features out of X to exclude them "
            "and pass them as `free` to leave them unpenalised."
        )
    return found


def weights_by_name(weights: Any, members: Members, who: str = "Group") -> dict[Hashable, float]:
    """Return the weight of each group by its name; a list of weights is in the order of the groups."""
    if isinstance(weights, Mapping):
        return dict(zip(weights, checked_weights(list(weights.values()), who).tolist(), strict=True))
    found = checked_weights(weights, who)
    if found.shape != (len(members),):
        raise ValueError(
            f"{who}: weights must give one number per group, {len(members)} in all, got shape {found.shape}."
        )
    return dict(zip(members, found.tolist(), strict=True))


def in_order(weights: Mapping[Hashable, float], groups: Sequence[Any], who: str = "Group") -> Array:
    """Return weights by name in the order of the groups; refuse names that are missing or unknown."""
    missing = [name for name in groups if name not in weights]
    unknown = [name for name in weights if name not in set(groups)]
    if missing or unknown:
        what = f"no weight for {missing[0]!r}" if missing else f"a weight for {unknown[0]!r}, which is no group"
        raise ValueError(
            f"{who}: weights have {what}. Give one for each group: {', '.join(map(repr, groups[:SHOWN]))}"
            f"{', ...' if len(groups) > SHOWN else ''}."
        )
    return checked_weights([weights[name] for name in groups], who)
