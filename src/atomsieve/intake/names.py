"""Names of features in tables: one row for each entry of x, called by its feature and its output."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def entries(names: Sequence[str] | None, shape: tuple[int, ...]) -> dict[str, list[Any]]:
    """Return the columns that say which entry of x a row is about.

    `feature` has the name of each row of x, x0, x1 and so on where there are no names; a matrix x has a column `output`
    with the number of the column of x, unless each of its entries has a name.

    >>> entries(["age", "sex"], (2,))
    {'feature': ['age', 'sex']}
    >>> entries(None, (1, 2))
    {'feature': ['x0', 'x0'], 'output': [0, 1]}
    """
    if names is not None and len(names) == math.prod(shape):
        return {"feature": list(names)}
    known = names if names is not None and len(names) == shape[0] else [f"x{j}" for j in range(shape[0])]
    per = math.prod(shape[1:])
    table: dict[str, list[Any]] = {"feature": [name for name in known for _ in range(per)]}
    if len(shape) > 1:
        table["output"] = np.tile(np.arange(per), shape[0]).tolist()
    return table


def pandas_for(what: str) -> Any:
    """Return pandas, which is optional, or say what needs it."""
    try:
        import pandas  # noqa: PLC0415 -- optional
    except ImportError as error:  # pragma: no cover
        raise ImportError(f"{what} needs pandas: pip install 'atomsieve[frame]'.") from error
    return pandas
