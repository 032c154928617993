"""What happened in each iteration of a run."""

import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from atomsieve.intake.names import pandas_for

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Progress:
    """One iteration as callbacks see it: the point before step `iteration`."""

    iteration: int
    """Number of the next step; the first is 1."""

    time: float
    """Seconds since the run began."""

    point: Any
    """The `Point` itself: theta, z, scores, gap."""

    alive: int
    """Number of blocks not ruled out."""

    def __repr__(self) -> str:
        return f"Progress(iteration {self.iteration}, gap {self.gap:.2e}, {self.alive} blocks alive, {self.time:.2f} s)"

    @property
    def objective(self) -> float:
        """Objective value, an upper bound of the optimum."""
        return float(self.point.objective)

    @property
    def gap(self) -> float:
        """Duality gap, an upper bound of the objective's error."""
        return float(self.point.gap)

    @property
    def nonzero(self) -> int:
        """Number of blocks that carry weight."""
        parts = self.point.state.parts
        return (
            int(np.count_nonzero(self.point.problem.core.sizes(self.point.state.held)))
            if parts is None
            else len(parts.atoms)
        )


@dataclass(eq=False, repr=False)
class Trace:
    """Columns of equal length, one entry per iteration; `step` is the step taken from that point (NaN at the last)."""

    iteration: list[int] = field(default_factory=list)
    time: list[float] = field(default_factory=list)
    objective: list[float] = field(default_factory=list)
    gap: list[float] = field(default_factory=list)
    alive: list[int] = field(default_factory=list)
    nonzero: list[int] = field(default_factory=list)
    step: list[float] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.iteration)

    def record(self, progress: Progress) -> None:
        """Append one iteration; its step is filled in later, when it is taken."""
        row = [getattr(progress, column.name, math.nan) for column in fields(self)]
        for column, entry in zip(fields(self), row, strict=True):
            getattr(self, column.name).append(entry)

    def stepped(self, length: float) -> None:
        """Fill in the length of the step that was taken from the last point."""
        self.step[-1] = length

    def followed_by(self, later: "Trace") -> "Trace":
        """Return the iterations of both traces; the later one begins with the last point of this one, kept once."""
        columns = {c.name: getattr(self, c.name)[:-1] + getattr(later, c.name) for c in fields(self)}
        columns["iteration"] = list(range(1, len(columns["time"]) + 1))
        return Trace(**columns)

    def to_frame(self) -> "pd.DataFrame":
        """Return the trace as a pandas data frame."""
        rows = min(len(getattr(self, column.name)) for column in fields(self))
        columns = {column.name: getattr(self, column.name)[:rows] for column in fields(self)}
        frame: pd.DataFrame = pandas_for("trace.to_frame()").DataFrame(columns)
        return frame

    def __repr__(self) -> str:
        last = f", last gap {self.gap[-1]:.2e}" if self.gap else ""
        return f"Trace({len(self)} iterations{last})"
