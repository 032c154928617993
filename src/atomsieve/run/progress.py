"""A progress line for runs that take longer than a second, if the output is a terminal; or a watcher in its place."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self, TextIO

from atomsieve.run.trace import Progress

PATIENCE = 1.0
INTERVAL = 0.2

Watcher = Callable[[Progress, float], None]
"""Is shown every iteration of every run, with the gap that the run is to reach."""

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Show all runs in this block to a watcher, in this thread; they print no line of their own."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def show_watcher(progress: Progress, target: float) -> bool:
    """Show an iteration to the watcher; return whether there is one."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(progress, target)
    return watcher is not None


@dataclass
class ProgressLine:
    """Rewrite one line of a terminal; print nothing elsewhere. As a context manager it clears the line at the end."""

    stream: TextIO = field(default_factory=lambda: sys.stderr)
    _shown_at: float = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown_at:
            self._write("")

    def show(self, progress: Progress, target: float) -> None:
        """Show where the run stands."""
        if show_watcher(progress, target):
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
