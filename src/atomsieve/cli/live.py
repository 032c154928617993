"""A live line while a fit runs: fold, gap, proven zeros, undecided, time left."""

import math
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from atomsieve.run.progress import watched_by
from atomsieve.run.trace import Progress

INTERVAL = 0.1
"""Seconds between two looks."""


class Watch:
    """Follows the runs of a fit: one path for each fold, and one for all samples."""

    def __init__(self, show: Any, rounds: int, time_limit: float | None) -> None:
        self.show = show
        self.rounds = rounds
        self.time_limit = time_limit
        self.started = perf_counter()
        self.seen = 0.0
        self.round = 0
        self.samples: Callable[[], Any] = lambda: None
        self.steepest = 0.0

    def see(self, progress: Progress, target: float) -> None:
        """Look at one iteration of a run."""
        problem = progress.point.problem
        slope = problem.penalty.slope(float(progress.point.state.mass))
        self._follow(problem.data, slope)
        now = perf_counter()
        if now - self.seen < INTERVAL:
            return
        self.seen = now
        blocks = len(problem.eligible)
        self.show(
            f"gap {progress.gap:.1e} (to reach {target:.1e})   {blocks - progress.alive} proven zero, "
            f"{progress.alive} undecided   {self._time(now - self.started, slope)}",
            self._done(slope),
        )

    def say(self, text: str) -> None:
        """Leave lines of text to others: there is one line to show."""

    def end(self) -> None:
        """Go on: a fit has many runs."""

    def _follow(self, samples: Any, slope: float) -> None:
        """Notice when a run is about other samples than the last one, which need not be there any more."""
        if self.samples() is not samples:
            self.samples = weakref.ref(samples)
            self.round += 1
            self.steepest = 0.0
        if math.isfinite(slope):
            self.steepest = max(self.steepest, slope)

    def _done(self, slope: float) -> float | None:
        """Return the part of the work that is done; None where it is not known."""
        if self.rounds < 2 or not 0 < slope < math.inf or self.steepest <= 0:
            return None
        along = min(1.0, math.log(self.steepest / slope) / math.log(1e3)) if slope < self.steepest else 0.0
        return min(1.0, (min(self.round, self.rounds) - 1 + along) / self.rounds)

    def _time(self, elapsed: float, slope: float) -> str:
        done = self._done(slope)
        left = None if not done else elapsed * (1 - done) / done
        if self.time_limit is not None:
            rest = max(0.0, self.time_limit - elapsed)
            left = rest if left is None else min(left, rest)
        return f"{elapsed:.0f} s" + ("" if left is None else f", about {left:.0f} s left")


@contextmanager
def live(console: Any, title: str, rounds: int, time_limit: float | None) -> Iterator[None]:
    """Show a line while a block runs, if a terminal is watching; runs print nothing of their own."""
    if not console.is_terminal:
        with watched_by(Watch(lambda text, done: None, rounds, time_limit)):  # noqa: ARG005 -- nobody is looking
            yield
        return
    from rich.progress import BarColumn, TextColumn  # noqa: PLC0415 -- slow to import
    from rich.progress import Progress as Bars  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(20), TextColumn("{task.fields[text]}"))
    with Bars(*columns, console=console, transient=True) as bars:
        task = bars.add_task(title, total=None, text="")

        def show(text: str, done: float | None) -> None:
            bars.update(task, text=text, completed=done or 0.0, total=None if done is None else 1.0)

        with watched_by(Watch(show, rounds, time_limit)):
            yield
