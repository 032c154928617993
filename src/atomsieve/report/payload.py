"""What the table and the map of a report are made from, as compact as it gets: numbers only where they say something."""

from typing import Any

from atomsieve.display.numbers import around, number
from atomsieve.report.findings import Findings
from atomsieve.report.outputs import Entry

INFINITY = float("inf")


def payload(findings: Findings) -> dict[str, Any]:
    """Return plain data for the script of the page."""
    scales = dict(findings.scales or ())
    return {
        "names": names_of(findings),
        "outputs": [output.label for output in findings.outputs],
        "verdicts": [output.verdicts for output in findings.outputs],
        "rows": [
            [k, *row(entry, scales.get(entry.feature, 1.0), scaled=findings.scales is not None)]
            for k, output in enumerate(findings.outputs)
            for entry in output.entries
        ],
        "groups": groups_of(findings),
    }


def names_of(findings: Findings) -> list[str] | int:
    """Return the names of the features; their number where they are just counted."""
    count = len(findings.names)
    return count if findings.names == tuple(f"x{j}" for j in range(count)) else list(findings.names)


def row(entry: Entry, scale: float, *, scaled: bool) -> list[Any]:
    """Return a coefficient: in words for the table, then value and bounds on the common scale, by which bars are drawn.

    An unknown bound is null.
    """
    ends = (entry.lower, entry.upper)
    known = (-INFINITY if entry.lower is None else entry.lower, INFINITY if entry.upper is None else entry.upper)
    drawn = [None if end is None else rounded(end * scale) for end in ends]
    value = entry.coefficient * scale
    words = [number(entry.coefficient, 4), around(*known), number(value, 3) if scaled else ""]
    return [entry.feature, *words, rounded(value), *drawn]


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
