"""Tables for the terminal."""

from rich import box
from rich.table import Table


def plain_table(title: str | None = None) -> Table:
    """Return a table in the style of this command."""
    return Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)


def number(value: float) -> str:
    """Return a number as people write it.

    >>> number(0.123456), number(-1234567.0), number(0.0)
    ('0.1235', '-1.235e+06', '0')
    """
    return f"{value:.4g}"
