"""Tables and the summaries made of them, as text for terminals and as HTML for notebooks."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import inf
from typing import TYPE_CHECKING, Any

from atomsieve.display.palette import MUTED
from atomsieve.intake.names import pandas_for

if TYPE_CHECKING:
    import pandas as pd

GAP = "  "

DIGIT_WIDE = "\N{FIGURE SPACE}"

TABLE = "border-collapse:collapse;margin:0.4em 0;font-size:inherit"
CELL = "padding:0.15em 0.7em;border:none;white-space:pre;font-variant-numeric:tabular-nums"
RULE = f"border-bottom:1px solid {MUTED}"


@dataclass(frozen=True)
class Column:
    """A column of a table: its title, its cells as text, and as HTML where that is more than the text."""

    title: str
    cells: Sequence[str]
    right: bool = False
    """Whether the cells stand at the right side, as numbers do."""

    html: Sequence[str] | None = None
    """The cells as HTML; by default the text itself."""

    spare: bool = False
    """Whether a table that is too wide does without it."""

    @property
    def markup(self) -> Sequence[str]:
        """The cells as HTML; numbers stay in line by spaces as wide as digits."""
        if self.html is not None:
            return self.html
        return [re.sub("^ +| +$", lambda match: DIGIT_WIDE * len(match[0]), escape(cell)) for cell in self.cells]

    @property
    def lines(self) -> list[str]:
        """The title and the cells, padded to the same width."""
        width = max(map(len, (self.title, *self.cells)))
        return [cell.rjust(width) if self.right else cell.ljust(width) for cell in (self.title, *self.cells)]


@dataclass(frozen=True)
class Section:
    """A table with a title and with sentences below it, any of which may be missing."""

    columns: Sequence[Column] = ()
    title: str = ""
    notes: Sequence[str] = ()

    def text(self, width: float = inf) -> str:
        """Return the section as text, without its spare columns where it would be wider than asked for."""
        parts = [self.title] if self.title else []
        if self.columns and self.columns[0].cells:
            rows = rows_of(self.columns)
            if max(map(len, rows)) > width:
                rows = rows_of([column for column in self.columns if not column.spare])
            parts += [rows[0], GAP + "─" * (max(map(len, rows)) - len(GAP)), *rows[1:]]
        return "\n".join([*parts, *self.notes])

    def html(self) -> str:
        """Return the section as HTML."""
        title = f"<div style='font-weight:600;margin-top:0.7em'>{escape(self.title)}</div>" if self.title else ""
        table = self._table() if self.columns and self.columns[0].cells else ""
        return title + table + "".join(f"<div style='opacity:0.8'>{escape(note)}</div>" for note in self.notes)

    def _table(self) -> str:
        sides = [f"{CELL};text-align:{'right' if column.right else 'left'}" for column in self.columns]
        titles = [escape(column.title) for column in self.columns]
        head = "".join(f"<th style='{s};{RULE};font-weight:600'>{t}</th>" for s, t in zip(sides, titles, strict=True))
        rows = [f"<tr>{head}</tr>"]
        for cells in zip(*(column.markup for column in self.columns), strict=True):
            row = "".join(f"<td style='{s}'>{cell}</td>" for s, cell in zip(sides, cells, strict=True))
            rows.append(f"<tr style='background:none'>{row}</tr>")
        return f"<table style='{TABLE}'>{''.join(rows)}</table>"


def rows_of(columns: Sequence[Column]) -> list[str]:
    """Return the rows of a table as text, the titles first."""
    return [(GAP + GAP.join(row)).rstrip() for row in zip(*(column.lines for column in columns), strict=True)]


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """What `summary()` returns: print it, show it in a notebook, or take its table as a data frame."""

    heading: Sequence[str]
    """Sentences above the tables; the first is the title."""

    sections: Sequence[Section]
    table: Mapping[str, Any] = field(default_factory=dict)
    """All rows, also those that are not shown, by column."""

    def text(self, width: float = inf) -> str:
        """Return the summary as text; tables that would be wider than asked for do without their bars."""
        parts = ["\n".join(self.heading), *(section.text(width) for section in self.sections)]
        return "\n\n".join(part for part in parts if part)

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        title, *more = self.heading
        above = f"<div style='font-weight:600'>{escape(title)}</div>" + "".join(f"<div>{escape(m)}</div>" for m in more)
        inside = above + "".join(section.html() for section in self.sections)
        return f"<div style='font-size:0.95em;line-height:1.45;max-width:70em;overflow-x:auto'>{inside}</div>"

    def to_frame(self) -> "pd.DataFrame":
        """Return all rows as a pandas data frame."""
        frame: pd.DataFrame = pandas_for("to_frame()").DataFrame(dict(self.table))
        return frame
