"""Where work stands, while it goes on: a line of a terminal that is written anew, or what a watcher is told."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol, Self, TextIO

PATIENCE = 1.0
INTERVAL = 0.2


class Watcher(Protocol):
    """Somebody who is shown all runs in a block of code, in place of the line that a run shows by itself."""

    def see(self, progress: Any, target: float) -> None:
        """Take notice of an iteration, and of the gap that the run is to reach."""

    def say(self, text: str) -> None:
        """Take notice of a line of text."""

    def end(self) -> None:
        """Take notice that a run is over."""


_WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


def watcher() -> Watcher | None:
    """Return who watches the runs in this block and thread, if anybody does."""
    return _WATCHER.get()


@contextmanager
def watched_by(somebody: Watcher | None) -> Iterator[None]:
    """Show all runs in this block to a watcher, in this thread; None changes nothing."""
    token = _WATCHER.set(somebody if somebody is not None else _WATCHER.get())
    try:
        yield
    finally:
        _WATCHER.reset(token)


def say(text: str) -> None:
    """Tell the watcher, if there is one."""
    somebody = watcher()
    if somebody is not None:
        somebody.say(text)


@dataclass
class LiveLine:
    """Rewrite one line of a terminal, or tell the watcher; print nothing elsewhere. It is cleared at the end."""

    stream: TextIO = field(default_factory=lambda: sys.stderr)
    _shown_at: float = 0.0
    _begun: float = field(default_factory=time.perf_counter)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown_at:
            self._write("")

    def tell(self, text: str) -> None:
        """Say in words where the work stands."""
        if watcher() is not None:
            say(text)
        else:
            self._rewrite(time.perf_counter() - self._begun, text)

    def _rewrite(self, seconds: float, text: str) -> None:
        """Write the line anew if it is time to."""
        if seconds > max(PATIENCE, self._shown_at + INTERVAL) and self.stream.isatty():
            self._shown_at = seconds
            self._write(f"{text}  {seconds:.0f} s")

    def _write(self, text: str) -> None:
        self.stream.write(f"\r\x1b[K{text}")
        self.stream.flush()
