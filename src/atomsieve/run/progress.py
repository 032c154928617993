"""How a run shows where it stands: a line of a terminal that is written anew, or a table that grows."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, TextIO

from atomsieve.display.live import LiveLine, say, watched_by, watcher
from atomsieve.run.trace import Progress

__all__ = ["Printer", "ProgressLine", "say", "watched_by", "watcher"]

COLUMNS = (("iteration", 9), ("time", 9), ("objective", 16), ("gap", 10), ("alive", 9), ("nonzero", 9))
"""Names and widths of the columns of a table."""


@dataclass
class Printer:
    """A callback that prints a table: iteration, seconds, objective, gap, blocks alive and blocks that are not zero.

    At most one row is printed in `every` seconds; the first and the last row are always there.

    >>> import numpy as np
    >>> from atomsieve import Printer, Problem, solve
    >>> result = solve(Problem(np.eye(2), [3.0, 0.0]), callbacks=[Printer()])  # doctest: +ELLIPSIS
    iteration     time       objective       gap    alive  nonzero
            1   ... s            2.25  1.12e+00        2        0
            2   ... s             1.5  ...
    """

    every: float = 0.5
    stream: TextIO | None = None
    """Where to print; None is the standard output."""

    _shown_at: float | None = field(default=None, repr=False)
    _waiting: Progress | None = field(default=None, repr=False)
    _begun: bool = field(default=False, repr=False)

    def __call__(self, progress: Progress) -> None:
        """Take notice of an iteration; print it if it is time to."""
        if self._shown_at is None or progress.time >= self._shown_at + self.every:
            self._print(progress)
        else:
            self._waiting = progress

    def see(self, progress: Progress, target: float) -> None:  # noqa: ARG002 -- a table has no room for the target
        """Take notice of an iteration, as a callback does."""
        self(progress)

    def end(self) -> None:
        """Print the last row, if it is still to be printed: the run is over."""
        if self._waiting is not None:
            self._print(self._waiting)
        self._shown_at = None

    def say(self, text: str) -> None:
        """Print a line of text."""
        print(text, file=self.stream or sys.stdout, flush=True)

    def _print(self, progress: Progress) -> None:
        if not self._begun:
            self.say("".join(name.rjust(width) for name, width in COLUMNS))
            self._begun = True
        row = (
            str(progress.iteration),
            f"{progress.time:.2f} s",
            f"{progress.objective:.9g}",
            f"{progress.gap:.2e}",
            str(progress.alive),
            str(progress.nonzero),
        )
        self.say("".join(text.rjust(width) for text, (_, width) in zip(row, COLUMNS, strict=True)))
        self._shown_at, self._waiting = progress.time, None


@dataclass
class ProgressLine(LiveLine):
    """The live line of a run. At the end it tells callbacks with a method `end` that the run is over."""

    callbacks: Iterable[Any] = ()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        for callback in (*self.callbacks, watcher()):
            if hasattr(callback, "end"):
                callback.end()

    def show(self, progress: Progress, target: float) -> None:
        """Show where the run stands."""
        somebody = watcher()
        if somebody is not None:
            somebody.see(progress, target)
            return
        self._rewrite(
            progress.time,
            f"iteration {progress.iteration}  gap {progress.gap:.2e} (target {target:.2e})  alive {progress.alive}",
        )
