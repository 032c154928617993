"""A deadline for all loops within a run, at any depth: they look at the clock, and the run ends when time is up.

A loop that may take long calls `look()` regularly. The call costs a tenth of a microsecond. It raises `TimeUp` after
the deadline, and it lets Ctrl-C through.
"""

import time
from contextvars import ContextVar

_deadline: ContextVar[float] = ContextVar("deadline", default=float("inf"))


class TimeUp(Exception):
    """The deadline has passed."""


class deadline:  # noqa: N801 -- it is used like a function
    """End all loops inside at a time on the clock of `time.perf_counter`; an earlier deadline remains in force.

    >>> with deadline(time.perf_counter() - 1):
    ...     look()
    Traceback (most recent call last):
    atomsieve.core.clock.TimeUp
    """

    def __init__(self, at: float) -> None:
        self._at = at

    def __enter__(self) -> None:
        self._token = _deadline.set(min(self._at, _deadline.get()))

    def __exit__(self, *error: object) -> None:
        _deadline.reset(self._token)


def late() -> bool:
    """Return whether the deadline has passed."""
    return time.perf_counter() > _deadline.get()


def look() -> None:
    """Raise TimeUp after the deadline."""
    if late():
        raise TimeUp


def remaining() -> float:
    """Return the number of seconds to the deadline; at most a year, for clocks that cannot count to infinity."""
    return min(_deadline.get() - time.perf_counter(), 3e7)
