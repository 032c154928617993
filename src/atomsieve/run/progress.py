"""How a run shows where it stands: a line of a terminal that is written anew, or a table that grows."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, TextIO

from atomsieve.run.trace import Progress

PATIENCE = 1.0
INTERVAL = 0.2

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


_PRINTER: ContextVar[Printer | None] = ContextVar("printer", default=None)


@contextmanager
def printing(printer: Printer | None) -> Iterator[None]:
    """Let a printer show all runs within, in this thread; None changes nothing."""
    token = _PRINTER.set(printer if printer is not None else _PRINTER.get())
    try:
        yield
    finally:
        _PRINTER.reset(token)


def say(text: str) -> None:
    """Print a line where a printer is at work."""
    printer = _PRINTER.get()
    if printer is not None:
        printer.say(text)


@dataclass
class ProgressLine:
    """Rewrite one line of a terminal, or tell the printer that is at work; print nothing elsewhere.

    As a context manager it clears the line at the end, and tells callbacks with a method `end` that the run is over.
    """

    stream: TextIO = field(default_factory=lambda: sys.stderr)
    callbacks: Iterable[Any] = ()
    _shown_at: float = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown_at:
            self._write("")
        for callback in (*self.callbacks, _PRINTER.get()):
            if hasattr(callback, "end"):
                callback.end()

    def show(self, progress: Progress, target: float) -> None:
        """Show where the run stands."""
        printer = _PRINTER.get()
        if printer is not None:
            printer(progress)
            return
        late = progress.time > max(PATIENCE, self._shown_at + INTERVAL)
        if late and self.stream.isatty():
            self._shown_at = progress.time
            self._write(
                f"iteration {progress.iteration}  gap {progress.gap:.2e} (target {target:.2e})  "
                f"alive {progress.alive}  {progress.time:.0f} s"
            )

    def _write(self, text: str) -> None:
        self.stream.write(f"\r\x1b[K{text}")
        self.stream.flush()
