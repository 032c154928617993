"""What displays and summaries read from estimators, paths and data: each fact in one place."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from atomsieve.intake.names import listed
from atomsieve.typing import Array, Index

BLOCK = 64
"""Number of columns that are looked at together."""


class RuleWords(NamedTuple):
    """A rule that chooses a strength, in a word or two and in words."""

    short: str
    words: str


RULES = {
    "min": RuleWords("best mean", "the best mean score"),
    "1se": RuleWords("within one standard error", "the strongest penalty within one standard error of the best"),
}
"""How a cross-validation chooses the strength."""

QUANTITIES = {"unit": "coefficient", "sd": "coefficient × standard deviation of the feature"}
"""What is drawn, by the word for `per`."""


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
        raise ValueError(f"target must be one of {listed(map(str, known))}, got {target!r}.")
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
