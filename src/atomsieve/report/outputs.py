"""What is found of every coefficient: one row of verdicts per output, numbers where there is more to say than zero."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from atomsieve.display.coefficients import DECIDED, IN_GROUP, UNDECIDED, UNPENALISED, ZERO
from atomsieve.estimators.proof import ModelProof
from atomsieve.estimators.task import Task, TrainingData, scales_of
from atomsieve.typing import Array, Index

LETTERS = dict.fromkeys(DECIDED, "n") | {IN_GROUP: "g", UNDECIDED: "u", UNPENALISED: "f", ZERO: "z"}
"""One letter for each verdict; the order is that of interest."""


@dataclass(frozen=True)
class Entry:
    """One coefficient, with the interval that is proven for the optimal one; None where no bound is known."""

    feature: int
    coefficient: float
    lower: float | None
    upper: float | None


@dataclass(frozen=True)
class Output:
    """The coefficients of one output or class."""

    label: str | None
    """What the output or the class is called; None where there is one."""

    intercept: Entry | None
    """The intercept, counted as feature -1; None where the model has none."""

    verdicts: str
    """A letter for each feature."""

    entries: tuple[Entry, ...]
    """All coefficients but those that are 0 and of which nothing is known, or that they are 0."""


def outputs_of(model: Any, proof: ModelProof) -> tuple[Output, ...]:
    """Return what is found of the coefficients of a fitted estimator."""
    coef, intercept = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    lower = _rows(verdicts.lower for verdicts in proof.verdicts)
    upper = _rows(verdicts.upper for verdicts in proof.verdicts)
    words = _rows(verdicts.words() for verdicts in proof.verdicts)
    around = _intercept_bounds(proof, len(coef)) if model._solved.intercept else None
    return tuple(
        Output(
            label=label,
            intercept=None if around is None else _entry(-1, intercept[k], *around[:, k]),
            verdicts="".join(map(LETTERS.__getitem__, words[k])),
            entries=tuple(_entry(j, coef[k, j], lower[k, j], upper[k, j]) for j in told(coef[k], lower[k], upper[k])),
        )
        for k, label in enumerate(labels_of(model))
    )


def labels_of(model: Any) -> Sequence[str | None]:
    """Return what the rows of coefficients are called; None for a single one."""
    rows = len(np.atleast_2d(model.coef_))
    return [None] if rows == 1 else [str(label) for label in model._solved.targets.outputs]


def told(coef: Array, lower: Array, upper: Array) -> Index:
    """Return the coefficients with more to say than that they are 0 and proven so, or 0 and not bounded at all."""
    silent = (lower == 0) & (upper == 0) | np.isinf(lower) & np.isinf(upper)
    return np.flatnonzero((coef != 0) | ~silent)


def scales_for(task: Task, data: TrainingData, features: Index) -> tuple[tuple[int, float], ...]:
    """Return the standard deviations of some features, each with the number of its feature."""
    scales = scales_of(data.X[:, features], task.weights(data)) if len(features) else np.zeros(0)
    return tuple((int(j), float(scale)) for j, scale in zip(features, scales, strict=True))


def finite(value: Any) -> float | None:
    """Return a number, None where it is infinite or none at all."""
    return float(value) if np.isfinite(value) else None


def _rows(parts: Any) -> Any:
    """Return one row per output from what each problem says of x, which is (d,) or (d, K)."""
    return np.concatenate([np.atleast_2d(part.T) for part in parts])


def _intercept_bounds(proof: ModelProof, rows: int) -> Array:
    """Return lower and upper bounds of the intercepts, the first of the free coefficients."""
    per = rows // len(proof.certificates)
    ends = [(c.free_lower.ravel()[:per], c.free_upper.ravel()[:per]) for c in proof.certificates]
    return np.concatenate([np.stack(pair) for pair in ends], axis=1)


def _entry(feature: Any, coefficient: Any, lower: Any, upper: Any) -> Entry:
    return Entry(int(feature), float(coefficient), finite(lower), finite(upper))
