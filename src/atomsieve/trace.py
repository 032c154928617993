"""What happened, iteration by iteration."""

import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Progress:
    """One iteration, as callbacks see it: the point from which step `iteration` is about to be taken."""

    iteration: int
    time: float
    point: Any
    alive: int

    @property
    def objective(self) -> float:
        """Upper bound of the optimum."""
        return float(self.point.objective)

    @property
    def gap(self) -> float:
        """Upper bound of the objective's error."""
        return float(self.point.gap)

    @property
    def nonzero(self) -> int:
        """Number of blocks with weight."""
        return int(np.count_nonzero(self.point.problem.core.sizes(self.point.state.x)))


@dataclass(eq=False)
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
        """Append one iteration; its step is filled in once it is taken."""
        for column in fields(self):
            if column.name != "step":
                getattr(self, column.name).append(getattr(progress, column.name))
        self.step.append(math.nan)

    def to_frame(self) -> "pd.DataFrame":
        """Return the trace as a pandas data frame."""
        try:
            import pandas as pd  # noqa: PLC0415 -- optional
        except ImportError as error:  # pragma: no cover
            raise ImportError(
                "trace.to_frame() needs pandas: pip install 'atomsieve[frame]'. The columns are plain lists too: "
                "trace.gap, trace.objective, ..."
            ) from error
        return pd.DataFrame({column.name: getattr(self, column.name) for column in fields(self)})
