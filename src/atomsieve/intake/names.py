"""Names in tables: each entry of x has a row with the name of its feature and the number of its output."""

import math
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from atomsieve.intake.extras import install

SHOWN = 8
"""Names listed in a message."""


def feature_names(names: Any, count: int) -> list[str]:
    """Return the names of the features; without any they are x0, x1 and so on."""
    return [f"x{j}" for j in range(count)] if names is None else [str(name) for name in names]


def listed(names: Iterable[str], most: int = SHOWN) -> str:
    """Return names for a message, the first few if there are many.

    >>> listed(f"x{j}" for j in range(10))
    'x0, x1, x2, x3, x4, x5, x6, x7 and 2 more'
    """
    names = list(names)
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def closest(name: str, known: Iterable[str]) -> str:
    """Return a hint at the closest spelling, or at what there is.

    >>> closest("targt", ["age", "target"])
    "Did you mean 'target'?"
    >>> closest("zzz", ["age", "bmi"])
    'There are: age, bmi.'
    """
    names = list(known)
    lowered = {other.lower(): other for other in names}
    found = get_close_matches(name.lower(), lowered, n=1)
    return f"Did you mean {lowered[found[0]]!r}?" if found else f"There are: {listed(names)}."


def entries(names: Sequence[str] | None, shape: tuple[int, ...]) -> dict[str, list[Any]]:
    """Return the columns of a table that identify the entries of x.

    `feature` is the name of the row of x; without names these are x0, x1 and so on. For a matrix x, `output` is the
    number of the column of x. It is left out if each entry has its own name.

    >>> entries(["age", "sex"], (2,))
    {'feature': ['age', 'sex']}
    >>> entries(None, (1, 2))
    {'feature': ['x0', 'x0'], 'output': [0, 1]}
    """
    if names is not None and len(names) == math.prod(shape):
        return {"feature": list(names)}
    known = feature_names(names if names is not None and len(names) == shape[0] else None, shape[0])
    per = math.prod(shape[1:])
    table: dict[str, list[Any]] = {"feature": [name for name in known for _ in range(per)]}
    if len(shape) > 1:
        table["output"] = np.tile(np.arange(per), shape[0]).tolist()
    return table


def numbered_copies(copies: Iterable[int]) -> list[int]:
    """Return for each copy of a feature how many copies of it come before.

    >>> numbered_copies([0, 1, 0, 2, 1])
    [0, 0, 1, 0, 1]
    """
    seen: dict[int, int] = {}
    numbers = []
    for j in map(int, copies):
        numbers.append(seen.get(j, 0))
        seen[j] = numbers[-1] + 1
    return numbers


def position(feature: Any, count: int, places: Mapping[str, int] | None, argument: str) -> int:
    """Return the position of a feature that is given by its name or position.

    >>> position("sex", 2, {"age": 0, "sex": 1}, "unpenalized")
    1
    """
    if isinstance(feature, str):
        if places is None:
            raise ValueError(f"{argument} names {feature!r}, but X has no feature names; give positions.")
        if feature not in places:
            hint = closest(feature, places)
            raise ValueError(f"{argument} names {feature!r}, but X has no feature of that name. {hint}")
        return places[feature]
    if isinstance(feature, (int, np.integer)) and not isinstance(feature, bool) and -count <= feature < count:
        return int(feature) % count
    raise ValueError(f"{argument} must hold feature names or positions below {count}, got {feature!r}.")


def pandas_for(what: str) -> Any:
    """Return the optional package pandas, or raise an error that says what needs it."""
    try:
        import pandas  # noqa: PLC0415 -- optional
    except ImportError as error:  # pragma: no cover
        raise ImportError(install(f"{what} needs", "pandas")) from error
    return pandas
