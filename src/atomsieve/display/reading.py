"""What displays and summaries read from estimators, paths and data: each fact in one place."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from atomsieve.typing import Array, Index

BLOCK = 64
"""Number of columns that are looked at together."""

QUANTITIES = {"unit": "coefficient", "sd": "coefficient × standard deviation of the feature"}
"""What is drawn, by the word for `per`."""


def feature_names(names: Any, count: int) -> list[str]:
    """Return the names of the features; without any they are x0, x1 and so on."""
    return [f"x{j}" for j in range(count)] if names is None else [str(name) for name in names]


def row_of(coefs: Array, outputs: Sequence[Any], target: Any) -> Array:
    """Return the coefficients of one output along a path, (m, d); the length over all outputs where none is named."""
    if coefs.shape[1] == 1:
        return np.asarray(coefs[:, 0])
    if target is None:
        return np.asarray(np.sqrt((coefs**2).sum(axis=1)))
    return np.asarray(coefs[:, place_of(target, outputs)])


def place_of(target: Any, outputs: Sequence[Any]) -> int:
    """Return the position of an output or a class by its name; raise where there is none of that name."""
    known = list(outputs)
    if target not in known:
        raise ValueError(f"target must be one of {', '.join(map(str, known))}, got {target!r}.")
    return known.index(target)


def quantity_of(per: str) -> str:
    """Return what is drawn, coefficients per unit or per standard deviation of their feature; refuse other words."""
    if per not in QUANTITIES:
        raise ValueError(f'per must be "unit" or "sd", got {per!r}.')
    return QUANTITIES[per]


def column_scales(data: Any, used: Index) -> Array:
    """Return the weighted standard deviation of the columns of a problem that are used; 1 for others and constants."""
    scales = np.ones(data.design.shape[1])
    for begin in range(0, len(used), BLOCK):
        block = used[begin : begin + BLOCK]
        columns = data.design.columns(block)
        spread = np.sqrt(data.weights @ (columns - data.weights @ columns) ** 2)
        scales[block] = np.where(spread > 0, spread, 1.0)
    return scales


def shown_scores(estimator: Any) -> tuple[float, str]:
    """Return the sign and the name with which scores of a cross-validation are shown: without a scorer, as losses."""
    scoring = estimator._choice.scoring
    if scoring is None:
        meaning = estimator._solved.targets.mean_loss
        return -1.0, f"held-out loss ({meaning})" if meaning else "held-out loss"
    return 1.0, scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
