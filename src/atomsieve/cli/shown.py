"""Tables for the terminal."""

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from atomsieve.cli.claims import Output

ROWS = 20
"""Coefficients shown of each output; all are in coefficients.csv."""

COLOURS = {"non-zero": "green", "in a non-zero group": "green", "undecided": "yellow", "unpenalised": "dim"}


def plain_table(title: str | None = None) -> Table:
    """Return a table in the style of this command."""
    return Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)


def coefficient_table(output: Output) -> Table:
    """Return the largest coefficients with their proven intervals."""
    table = plain_table(None if output.label is None else f"class {output.label}")
    for column in ("feature", "per deviation", "coefficient", "proven interval", "verdict"):
        right = column in ("per deviation", "coefficient")
        table.add_column(column, justify="right" if right else "left", overflow="fold")
    for j in output.shown[:ROWS]:
        name, value, lower, upper, word = output.row(j)
        table.add_row(
            Text(name),
            number(value * output.scales[j]),
            number(value),
            Text(interval(lower, upper)),
            Text(word, COLOURS.get(word, "")),
        )
    rest = len(output.shown) - ROWS
    if rest > 0:
        table.add_row(f"and {rest} more", "", "", "", "")
    table.add_row("(intercept)", "", number(output.intercept), "", "", style="dim")
    return table


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


def number(value: float) -> str:
    """Return a number as people write it.

    >>> number(0.123456), number(-1234567.0), number(0.0)
    ('0.1235', '-1.235e+06', '0')
    """
    return f"{value:.4g}"


def interval(lower: float, upper: float) -> str:
    """Return an interval, rounded outwards, with as many digits as tell its ends apart.

    >>> interval(0.125, 0.1875), interval(2.00163, 2.00227), interval(-np.inf, np.inf)
    ('0.125 to 0.188', '2.0016 to 2.0023', 'not known')
    """
    if not (np.isfinite(lower) and np.isfinite(upper)):
        return "not known"
    for digits in range(3, 18):
        low, high = rounded(lower, digits, ROUND_FLOOR), rounded(upper, digits, ROUND_CEILING)
        if f"{lower:.{digits}g}" != f"{upper:.{digits}g}":
            break
    return f"{float(low):.{digits}g} to {float(high):.{digits}g}"


def rounded(value: float, digits: int, direction: str) -> Decimal:
    """Return a number with so many digits, rounded up or down."""
    return Context(prec=digits, rounding=direction).create_decimal(Decimal(value))
