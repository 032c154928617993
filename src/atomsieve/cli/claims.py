"""What a fit claims of every coefficient, as rows for files."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from atomsieve.cli.output import csv_text
from atomsieve.display.coefficients import NONZERO, UNDECIDED, ZERO, Coefficients
from atomsieve.display.numbers import count

HEADER = ("feature", "coefficient", "lower", "upper", "verdict")

Parts = Sequence[tuple[str | None, Coefficients]]
"""The coefficients of each output, with its class where there are several."""


def parts_of(model: Any) -> Parts:
    """Return the coefficients of a certified model: once, or once for each class."""
    told = model._coefficients()
    labels = [None] if len(told) == 1 else [str(label) for label in model.classes_]
    return list(zip(labels, told, strict=True))


def counts_of(parts: Parts) -> dict[str, int]:
    """Return how many coefficients have each verdict."""
    return dict(Counter(str(word) for _, part in parts for word in part.verdicts))


def counts_line(parts: Parts) -> str:
    """Say how many coefficients are proven zero, proven non-zero and undecided."""
    counts = counts_of(parts)
    total = sum(counts.values())
    told = [f"{counts.pop(ZERO, 0):,} proven zero", f"{counts.pop(NONZERO, 0):,} proven non-zero"]
    told += [f"{counts.pop(UNDECIDED, 0):,} undecided", *(f"{many:,} {word}" for word, many in counts.items())]
    return f"Of {count(total, 'coefficient')}: {', '.join(told)}."


def coefficients_csv(parts: Parts) -> str:
    """Return all coefficients as CSV, exactly: class by class, largest weight first, as the summary has them."""
    several = len(parts) > 1
    rows = (
        [*([label] if several else []), name, *map(repr, numbers), word]
        for label, part in parts
        for name, *numbers, word in rows_of(part, part.ranked)
    )
    return csv_text(["class", *HEADER] if several else HEADER, rows)


def as_json(parts: Parts) -> Iterator[dict[str, Any]]:
    """Yield the coefficients that are not proven zero as plain data, largest weight first; None for no bound."""
    for label, part in parts:
        for name, *numbers, word in rows_of(part, part.ranked[part.verdicts[part.ranked] != ZERO]):
            held = dict(zip(HEADER[1:4], (v if np.isfinite(v) else None for v in numbers), strict=True))
            yield {**({} if label is None else {"class": label}), "feature": name, **held, "verdict": word}


def rows_of(part: Coefficients, index: Any) -> Iterator[tuple[str, float, float, float, str]]:
    """Yield feature, coefficient, bounds and verdict."""
    for j in index:
        yield part.names[j], float(part.values[j]), float(part.lower[j]), float(part.upper[j]), str(part.verdicts[j])
