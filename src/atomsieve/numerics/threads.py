"""The number of threads for linear algebra: one, except for products that are large enough to share.

BLAS threads wait for each other in busy loops. If other work keeps a core busy, a small product on two threads takes
as long as a time slice of the scheduler. That is a hundred times longer than on one thread (see docs/design.md).
"""

from contextlib import ContextDecorator, nullcontext
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

SHARED = 4e6
"""Number of multiplications from which a product uses all threads: about two milliseconds on one thread."""


@cache
def _libraries() -> list[Any]:
    """Return the handles of all BLAS libraries in this process; the search takes milliseconds and is done once."""
    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]


class _Threads:
    """Limit the number of threads; limits may be nested or concurrent.

    The first limit records the number of threads of each library, and the last release restores it.
    """

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
        """Restore the number of threads when the last limit ends."""
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._set(limited=False)

    def share(self, *, on: bool) -> None:
        """Use all threads for a large product, or return to one thread."""
        with self._lock:
            if self._depth:
                self._set(limited=not on)

    @property
    def idle(self) -> bool:
        """Whether a limit is in force and leaves threads unused."""
        return bool(self._depth and self._before)

    def _set(self, *, limited: bool) -> None:
        for library, count in self._before:
            library.set_num_threads(1 if limited else count)


_threads = _Threads()


class one_thread(ContextDecorator):  # noqa: N801 -- it is used like a function
    """Run linear algebra on one thread inside, except for products under `shared`.

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


_SHARED, _ALONE = _Shared(), nullcontext()


def shared(work: float) -> Any:
    """Return a context for a product of `work` multiplications; a large product runs on all threads in it."""
    return _SHARED if work >= SHARED and _threads.idle else _ALONE
