"""A progress line for runs that take longer than a second, if the output is a terminal."""

import sys
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self, TextIO

from atomsieve.run.trace import Progress

PATIENCE = 1.0
INTERVAL = 0.2


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
