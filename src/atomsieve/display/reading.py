"""What displays and summaries read from estimators, paths and data: each fact in one place."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from atomsieve.typing import Array

BLOCK = 64
"""Number of columns that are looked at together."""


def feature_names(names: Any, count: int) -> list[str]:
    """Return the names of the features; without any they are x0, x1 and so on."""
    return [f"x{j}" for j in range(count)] if names is None else [str(name) for name in names]


def output_of(coefs: Array, outputs: Sequence[Any], output: Any) -> Array:
    """Return the coefficients of one output along a path, (m, d); the length over all outputs where none is named."""
    if coefs.shape[1] == 1:
        return np.asarray(coefs[:, 0])
    if output is None:
        return np.asarray(np.sqrt((coefs**2).sum(axis=1)))
    return np.asarray(coefs[:, place_of(output, outputs)])


def place_of(output: Any, outputs: Sequence[Any]) -> int:
    """Return the position of an output or a class by its name; raise where there is none of that name."""
    known = list(outputs)
    if output not in known:
        raise ValueError(f"output must be one of {', '.join(map(str, known))}, got {output!r}.")
    return known.index(output)


def column_scales(data: Any) -> Array:
    """Return the weighted standard deviation of each column of the data of a problem."""
    count = data.design.shape[1]
    scales = np.zeros(count)
    for begin in range(0, count, BLOCK):
        block = slice(begin, min(begin + BLOCK, count))
        columns = data.design.columns(block)
        scales[block] = np.sqrt(data.weights @ (columns - data.weights @ columns) ** 2)
    return scales


def shown_scores(estimator: Any) -> tuple[float, str]:
    """Return the sign and the name with which scores of a cross-validation are shown: without a scorer, as losses."""
    scoring = estimator._choice.scoring
    if scoring is None:
        return -1.0, estimator._score_label
    return 1.0, scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
