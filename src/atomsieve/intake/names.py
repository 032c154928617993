"""Names in tables: each entry of x has a row with the name of its feature and the number of its output."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


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
    known = names if names is not None and len(names) == shape[0] else [f"x{j}" for j in range(shape[0])]
    per = math.prod(shape[1:])
    table: dict[str, list[Any]] = {"feature": [name for name in known for _ in range(per)]}
    if len(shape) > 1:
        table["output"] = np.tile(np.arange(per), shape[0]).tolist()
    return table


def pandas_for(what: str) -> Any:
    """Return the optional package pandas, or raise an error that says what needs it."""
    try:
        import pandas  # noqa: PLC0415 -- optional
    except ImportError as error:  # pragma: no cover
        raise ImportError(f"{what} needs pandas. In a clone: pip install '.[all]'.") from error
    return pandas
