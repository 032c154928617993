"""How many threads linear algebra uses: one, but for products large enough to share.

Threads of BLAS wait for each other in busy loops. Where other work keeps a core busy, a small product on two threads
takes as long as a slice of the scheduler, a hundred times longer than on one (docs/design.md has the figures).
"""

from contextlib import ContextDecorator, nullcontext
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

SHARED = 4e6
"""Multiplications from which a product is shared among all threads: about two milliseconds of one."""


@cache
def _libraries() -> list[Any]:
    """Return the handles of all BLAS libraries in this process; finding them takes milliseconds, so it is done once."""
    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]


class _Threads:
    """The number of threads that each library had before the first of several nested or concurrent limits."""

    def __init__(self) -> None:
        self._lock, self._depth = Lock(), 0
        self._before: list[tuple[Any, int]] = []

    def limit(self) -> None:
        """Use one thread from now on."""
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                counts = [(library, library.get_num_threads()) for library in _libraries()]
                self._before = [(library, count) for library, count in counts if count > 1]
                self._set(limited=True)

    def release(self) -> None:
        """Use as many as before, once nobody asks for one alone."""
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._set(limited=False)

    def share(self, *, on: bool) -> None:
        """Use as many as before for a while, or one again."""
        with self._lock:
            if self._depth:
                self._set(limited=not on)

    @property
    def idle(self) -> bool:
        """Whether threads lie idle that a large product could use."""
        return bool(self._depth and self._before)

    def _set(self, *, limited: bool) -> None:
        for library, count in self._before:
            library.set_num_threads(1 if limited else count)


_threads = _Threads()


class one_thread(ContextDecorator):  # noqa: N801 -- used like a function
    """Linear algebra on one thread inside, but for what `shared` lets out.

    >>> with one_thread():
    ...     counts = [library.get_num_threads() for library in _libraries()]
    >>> set(counts) <= {1}
    True
    """

    def __enter__(self) -> None:
        _threads.limit()

    def __exit__(self, *error: object) -> None:
        _threads.release()


class _Shared:
    def __enter__(self) -> None:
        _threads.share(on=True)

    def __exit__(self, *error: object) -> None:
        _threads.share(on=False)


def shared(work: float) -> Any:
    """Return a context in which a product of so many multiplications runs on all threads, if it is large."""
    return _Shared() if work >= SHARED and _threads.idle else nullcontext()
