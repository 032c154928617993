"""A deadline for all loops within a run, at any depth: they look at the clock, and the run ends when time is up.

A loop that may take long calls `look()` regularly. The call costs a tenth of a microsecond. It raises `TimeUp` after
the deadline, and it lets Ctrl-C through.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_deadline: ContextVar[float] = ContextVar("deadline", default=float("inf"))


class TimeUp(Exception):
    """The deadline has passed."""


@contextmanager
def deadline(at: float) -> Iterator[None]:
    """End all loops inside at a time on the clock of `time.perf_counter`; an earlier deadline remains in force.

    >>> with deadline(time.perf_counter() - 1):
    ...     look()
    Traceback (most recent call last):
    atomsieve.numerics.clock.TimeUp
    """
    token = _deadline.set(min(at, _deadline.get()))
    try:
        yield
    finally:
        _deadline.reset(token)


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
