"""What the table and the map of a report are made from, compact: numbers only where there is something to say."""

from itertools import groupby
from typing import Any

from atomsieve.display.numbers import around, column, number
from atomsieve.intake.names import feature_names
from atomsieve.report.findings import Findings
from atomsieve.report.outputs import Entry

INFINITY = float("inf")

FIGURE_SPACE = "\u2007"
"""A space as wide as a digit."""


def payload(findings: Findings) -> dict[str, Any]:
    """Return plain data for the script of the page."""
    return {
        "names": names_of(findings),
        "outputs": [output.label for output in findings.outputs],
        "verdicts": [in_runs(output.verdicts) for output in findings.outputs],
        "scaled": findings.scales is not None,
        "rows": rows_of(findings),
        "groups": groups_of(findings),
    }


def names_of(findings: Findings) -> list[str] | int:
    """Return the names of the features; their number where they are just counted."""
    count = len(findings.names)
    return count if list(findings.names) == feature_names(None, count) else list(findings.names)


def in_runs(letters: str) -> str:
    """Return letters by the lengths of their runs: most features have the verdict of their neighbours.

    >>> in_runs("zzznzz")
    '3z1n2z'
    """
    return "".join(f"{len(list(run))}{letter}" for letter, run in groupby(letters))


def rows_of(findings: Findings) -> list[list[Any]]:
    """Return the coefficients that have numbers: output, feature, words for the table, and what bars are drawn from.

    That are the value and its bounds on the common scale, null where a bound is unknown.
    """
    entries = [(k, entry) for k, output in enumerate(findings.outputs) for entry in output.entries]
    known = dict(findings.scales or ())
    scales = [known.get(entry.feature, 1.0) for _, entry in entries]
    values = [entry.coefficient * scale for (_, entry), scale in zip(entries, scales, strict=True)]
    return [
        [k, entry.feature, *words(entry), figure, rounded(value), *ends(entry, scale)]
        for (k, entry), scale, value, figure in zip(entries, scales, values, figures(values), strict=True)
    ]


def words(entry: Entry) -> tuple[str, str, str]:
    """Return a coefficient in four digits, how far from it the optimal one can be, and both to the last digit."""
    bounds = "no interval" if entry.lower is None or entry.upper is None else f"in [{entry.lower!r}, {entry.upper!r}]"
    return number(entry.coefficient, 4), within(entry), f"{entry.coefficient!r}, optimum {bounds}"


def figures(values: list[float]) -> list[str]:
    """Return numbers whose decimal points stand in line where all figures, and the spaces for them, are as wide."""
    return [figure.replace(" ", FIGURE_SPACE) for figure in column(values, 3)]


def within(entry: Entry) -> str:
    """Return how far from the coefficient the optimal one can be, in words."""
    lower = -INFINITY if entry.lower is None else entry.lower
    return around(entry.coefficient, lower, INFINITY if entry.upper is None else entry.upper)


def ends(entry: Entry, scale: float) -> list[float | None]:
    """Return the ends of the interval on a scale; None where one is unknown."""
    return [None if end is None else rounded(end * scale) for end in (entry.lower, entry.upper)]


def rounded(value: float) -> float:
    """Return a number to six digits, which is enough to draw it."""
    return float(f"{value:.6g}")


def groups_of(findings: Findings) -> dict[str, Any] | None:
    """Return the names of the groups and the group of each feature; None without groups."""
    if findings.groups is None:
        return None
    first = [group for group in findings.groups if group.label == findings.groups[0].label]
    of = [-1] * len(findings.names)
    for g, group in enumerate(first):
        for feature in group.features:
            of[feature] = g
    return {"names": [group.name for group in first], "of": of}
