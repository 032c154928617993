"""What an experiment is: settings, tables measured in steps, pictures of them, a section of text, verdicts."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from atomsieve.paper.cache import Cache

Settings = dict[str, Any]
"""Everything that the numbers depend on, as JSON can hold it."""

Tables = dict[str, pd.DataFrame]

Progress = Callable[[int, int, str], None]
"""Called as `progress(done, total, text)` whenever a step begins or ends."""


@dataclass(frozen=True)
class Finding:
    """A claim, where it is made, what was measured, and whether it holds: None where these settings cannot tell."""

    claim: str
    where: str
    measured: str
    holds: bool | None


@dataclass(frozen=True)
class Section:
    """A section of the report: markdown, in which `figure` and `table` (of `report.py`) set pictures and numbers."""

    title: str
    text: str


class Experiment(Protocol):
    """One file of this package, as an object named `experiment`."""

    @property
    def name(self) -> str:
        """The word on the command line, and the first part of every file name."""

    @property
    def title(self) -> str:
        """The heading of its section."""

    def settings(self, quick: bool) -> Settings:
        """Return the settings of the paper, or smaller ones that take seconds."""

    def run(self, settings: Settings, cache: Cache, progress: Progress) -> Tables:
        """Measure, in steps that the cache keeps."""

    def draw(self, tables: Tables, folder: Path) -> list[str]:
        """Draw the tables as PNG and SVG in a folder; return the names of the files."""

    def section(self, tables: Tables) -> Section:
        """Say what was found, in words computed from the tables."""

    def verdicts(self, tables: Tables) -> list[Finding]:
        """Judge the claims that the tables can test."""


def rows_of(frame: pd.DataFrame) -> list[Any]:
    """Return the rows of a table, with the columns as attributes.

    >>> [row.a + row.b for row in rows_of(pd.DataFrame({"a": [1, 2], "b": [3, 4]}))]
    [4, 6]
    """
    return list(frame.itertuples(index=False))
