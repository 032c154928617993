"""Coefficients as a section of a summary: largest first, with interval bars; zeros as a count."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from atomsieve.display.bars import Bar, svg_bars, text_bars
from atomsieve.display.canvas import shortened
from atomsieve.display.coefficients import BY_WEIGHT, DECIDED, IN_GROUP, NONZERO, ZERO, Coefficients
from atomsieve.display.numbers import around, column, count
from atomsieve.display.table import Column, Section
from atomsieve.intake.names import listed
from atomsieve.typing import Index

MOST = 30
"""Number of rows that are shown."""


@dataclass(frozen=True)
class Row:
    """One line of the table: a feature, or a group with the length of its coefficients."""

    label: str
    value: float
    weight: float
    within: str
    bar: Bar
    verdict: str


def coefficient_section(told: Coefficients, *, noun: str = "feature", ruled: str = "proven zero") -> Section:
    """Return the table of the coefficients of one output.

    `noun` is what the rows are called; `ruled` is what zeros are: proven zero by a certificate, or ruled out by a run.
    """
    proven = ruled == "proven zero"
    rows = list(_rows(told))
    shown = rows[:MOST]
    columns = [
        Column("group" if told.groups is not None else noun, [row.label for row in shown]),
        Column("coefficient", column(row.value for row in shown), right=True),
    ]
    if proven:
        columns.append(Column("proven within", [row.within for row in shown]))
    if told.scales is not None:
        columns.append(Column("per sd", column((row.weight for row in shown), 3), right=True))
    bars = [row.bar if proven else Bar(row.weight, row.weight, row.weight) for row in shown]
    columns.append(Column("", text_bars(bars), html=svg_bars(bars), spare=True))
    if proven:
        columns.append(Column("verdict", [row.verdict for row in shown]))
    title = "" if told.output is None else told.output
    return Section(columns, title, list(_notes(told, len(rows) - len(shown), noun, ruled)))


def _rows(told: Coefficients) -> Iterator[Row]:
    """Yield the rows: features by weight; with groups, each group by its length and its features below it."""
    if told.groups is None:
        yield from (_feature(told, int(j), told.names[j]) for j in told.shown)
        return
    groups = np.asarray(told.groups)
    members = {name: told.shown[groups[told.shown] == name] for name in dict.fromkeys(groups[told.shown].tolist())}
    for name in sorted(members, key=lambda name: -float(np.sum(told.weights[members[name]] ** 2))):
        index = members[name]
        if len(index) == 1 and np.count_nonzero(groups == name) == 1:
            yield _feature(told, int(index[0]), name)
            continue
        yield _group(told, index, name)
        yield from (_feature(told, int(j), "  " + told.names[j]) for j in index)


def _feature(told: Coefficients, j: int, label: str) -> Row:
    scale = 1.0 if told.scales is None else float(told.scales[j])
    value, lower, upper = (float(part[j]) for part in (told.values, told.lower, told.upper))
    with np.errstate(invalid="ignore"):
        bar = Bar(scale * value, *(scale * end if np.isfinite(end) else end for end in (lower, upper)))
    return Row(shortened(label, 32), value, scale * value, around(value, lower, upper), bar, str(told.verdicts[j]))


def _group(told: Coefficients, index: Index, name: str) -> Row:
    """Return the row of a group: the length of its coefficients, with bounds from those of its entries."""
    scales = np.ones(len(index)) if told.scales is None else told.scales[index]
    length, weight = (float(np.linalg.norm(told.values[index] * by)) for by in (1.0, scales))
    lower, upper = told.lower[index], told.upper[index]
    nearest = np.where((lower > 0) | (upper < 0), np.minimum(np.abs(lower), np.abs(upper)), 0.0)
    furthest = np.maximum(np.abs(lower), np.abs(upper))
    within = around(length, float(np.linalg.norm(nearest)), float(np.linalg.norm(furthest)))
    bar = Bar(weight, float(np.linalg.norm(nearest * scales)), float(np.linalg.norm(furthest * scales)))
    decided = np.isin(told.verdicts[index], (*DECIDED, IN_GROUP)).any()
    label = f"{shortened(name, 22)} ({count(len(index), 'feature')})"
    return Row(label, length, weight, within, bar, NONZERO if decided else str(told.verdicts[index][0]))


def _notes(told: Coefficients, hidden: int, noun: str, ruled: str) -> Iterator[str]:
    """Yield sentences about what has no row."""
    if hidden:
        yield f"  and {hidden:,} more: to_frame()"
    zeros, undecided = told.number(ZERO), told.undecided
    if zeros:
        yield f"{count(zeros, noun)} {ruled}."
    if undecided:
        yield f"{count(len(undecided), noun)} undecided: {listed(undecided)}."


def order_note(parts: Sequence[Coefficients]) -> str:
    """Return by what the rows are sorted."""
    if parts[0].scales is None:
        return "Largest |coefficient| first, in the units of the features."
    return f"Largest weight first: {BY_WEIGHT} (per sd)."


def coefficient_table(parts: Sequence[Coefficients], *, proven: bool) -> dict[str, Any]:
    """Return all coefficients by column, also zeros: largest weight first within each output.

    Bounds and verdicts are those of a proof, and are left out where there is none.
    """
    pairs = [(part, part.ranked) for part in parts]
    table: dict[str, Any] = {}
    if len(parts) > 1:
        table["output"] = [part.output for part, order in pairs for _ in order]
    table["feature"] = [part.names[j] for part, order in pairs for j in order]
    if parts[0].groups is not None:
        table["group"] = [part.groups[j] for part, order in pairs for j in order if part.groups is not None]
    told = {"lower": "lower", "upper": "upper", "verdict": "verdicts"} if proven else {}
    for title, name in {"coefficient": "values", **told}.items():
        table[title] = np.concatenate([np.asarray(getattr(part, name))[order] for part, order in pairs])
    if parts[0].scales is not None:
        weights = [(part.values * part.scales)[order] for part, order in pairs if part.scales is not None]
        table["per_sd"] = np.concatenate(weights)
    return table
