"""What a fit claims of every coefficient, as rows for tables and files."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

HEADER = ("feature", "coefficient", "lower", "upper", "verdict")


@dataclass(frozen=True, eq=False)
class Output:
    """The coefficients of one output or class, and what is proven of each."""

    label: str | None
    """The class, where there are several."""

    names: Sequence[str]
    coefficients: Any
    lower: Any
    upper: Any
    words: Any
    intercept: float
    scales: Any
    """The standard deviation of each feature that is used, 1 for the others."""

    @property
    def shown(self) -> list[int]:
        """The coefficients that are not proven zero; those that matter most, per standard deviation, first."""
        order = np.argsort(-np.abs(self.coefficients * self.scales), kind="stable")
        return [int(j) for j in order if self.words[j] != "zero"]

    def row(self, j: int) -> tuple[str, float, float, float, str]:
        """Return feature, coefficient, bounds and verdict."""
        value, lower, upper = (float(part[j]) for part in (self.coefficients, self.lower, self.upper))
        return self.names[j], value, lower, upper, str(self.words[j])

    def counts(self) -> dict[str, int]:
        """Return how many coefficients there are of each verdict."""
        found, times = np.unique(self.words, return_counts=True)
        return dict(zip(found.tolist(), times.tolist(), strict=True))


def counts_line(outputs: Sequence[Output]) -> str:
    """Say how many coefficients are proven zero, proven non-zero and undecided."""
    totals: dict[str, int] = {}
    for output in outputs:
        for word, count in output.counts().items():
            totals[word] = totals.get(word, 0) + count
    nonzero = totals.pop("non-zero", 0)
    parts = [
        f"{totals.pop('zero', 0)} proven zero",
        f"{nonzero} proven non-zero",
        f"{totals.pop('undecided', 0)} undecided",
    ]
    parts += [f"{count} {word}" for word, count in totals.items()]
    return f"Of {sum(len(output.names) for output in outputs)} coefficients: {', '.join(parts)}."


def outputs_of(model: Any, X: Any, names: Sequence[str]) -> list[Output]:
    """Return the outputs of a certified model: one, or one for each class."""
    proof = model._told_proof()
    parts = [(v.words(), v.lower, v.upper) for v in proof.verdicts]
    words, lower, upper = (np.concatenate([np.atleast_2d(part[k].T) for part in parts]) for k in range(3))
    coef, intercept = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    scales = deviations(X, np.flatnonzero(np.any(coef != 0, axis=0)))
    classes = [None] if len(coef) == 1 else [str(label) for label in model.classes_]
    return [
        Output(label, names, coef[k], lower[k], upper[k], words[k], float(intercept[k]), scales)
        for k, label in enumerate(classes)
    ]


def deviations(X: Any, used: Any) -> Any:
    """Return the standard deviation of the features that are used, 1 for the others."""
    scales = np.ones(X.shape[1])
    for j in used:
        column = X[:, [j]]
        scales[j] = np.std(column.toarray() if hasattr(column, "toarray") else column)
    return scales


def coefficients_csv(outputs: Sequence[Output]) -> str:
    """Return all coefficients as CSV, exactly."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    several = len(outputs) > 1
    writer.writerow(["class", *HEADER] if several else HEADER)
    for output in outputs:
        for j in range(len(output.names)):
            name, *numbers, word = output.row(j)
            writer.writerow([*([output.label] if several else []), name, *map(repr, numbers), word])
    return text.getvalue()


def as_json(outputs: Sequence[Output]) -> Iterator[dict[str, Any]]:
    """Yield the coefficients that are not proven zero as plain data; None where there is no bound."""
    for output in outputs:
        for j in output.shown:
            name, *numbers, word = output.row(j)
            held = dict(zip(HEADER[1:4], (v if np.isfinite(v) else None for v in numbers), strict=True))
            label = {} if output.label is None else {"class": output.label}
            yield {**label, "feature": name, **held, "verdict": word}
