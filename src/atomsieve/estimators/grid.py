"""Strengths to choose from, as the numbers that users know: strengths and radii, alphas, values of C."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from atomsieve.estimators.solver import Solver, uninterrupted
from atomsieve.estimators.strengths import critical_slope, straight
from atomsieve.intake.arguments import as_floats, is_number
from atomsieve.penalties import Penalty
from atomsieve.problem import Problem
from atomsieve.run.path import geometric_slopes, path
from atomsieve.run.result import Result
from atomsieve.typing import Array


@dataclass(frozen=True, eq=False)
class Grid:
    """Values of the main parameter of a penalty."""

    shape: Penalty
    """The penalty, whose strength is to be chosen."""

    given: Any
    """How many values, or the values themselves."""

    ratio: float | None
    """Last slope over the critical one, where their number is given."""

    name: str = "strength"
    ratio_name: str = "ratio"

    def candidates(self, problems: Sequence[Problem], total: float, solver: Solver) -> "Candidates":
        """Return the values to be compared, sparsest model first, for problems of samples of a total weight."""
        if not is_number(self.given):
            values = self._given_values()
            return Candidates(self, values if self.rises else values[::-1])
        names = (f"{self.name}s", self.ratio_name)
        slopes = geometric_slopes(problems, critical_slope(problems), self.given, self.ratio, names)
        if straight(self.shape):
            found = [self.shape.at(float(slope)) for slope in slopes]
        else:
            found = on_path(self.shape, problems, slopes, solver) or [self.shape]
        return Candidates(self, np.array([self.value(penalty, total) for penalty in found]))

    @property
    def rises(self) -> bool:
        """Whether larger values make larger models."""
        return self.shape.main == "radius"

    def penalty(self, value: float, total: float) -> Penalty:  # noqa: ARG002 -- the same for all
        """Return the penalty that a value means for samples of a total weight."""
        return self.shape.at(value)

    def value(self, penalty: Penalty, total: float) -> float:  # noqa: ARG002
        """Return the value that a penalty has."""
        return main_parameter(penalty)

    def place(self, value: float) -> float:
        """Return the number in which models between two values are interpolated: the value itself."""
        return value

    def beyond(self, *, sparser: bool) -> str:
        """Return how to let the values reach further, towards sparser or towards larger models."""
        if is_number(self.given):  # such values begin where all coefficients are zero
            return f"try a smaller {self.ratio_name}"
        return f"try {'smaller' if sparser == self.rises else 'larger'} {self.name}s"

    @property
    def label(self) -> str:
        """What the values are called in a picture."""
        return f"{self.shape.main} of {type(self.shape).__name__}" if self.name == "strength" else self.name

    def _given_values(self) -> Array:
        """Return given values, smallest first."""
        name = f"{self.name}s"
        values = np.sort(np.atleast_1d(as_floats([] if isinstance(self.given, bool) else self.given, name)).ravel())
        if not (len(values) and values[0] > 0 and np.isfinite(values).all()):
            raise ValueError(f"{name} must be a number of values, or positive finite numbers to choose from.")
        return values


@dataclass(frozen=True, eq=False)
class InverseGrid(Grid):
    """Values of C, which mean the slope `1 / (C W)` for samples of the total weight W."""

    name: str = "C"
    ratio_name: str = "eps"

    @property
    def rises(self) -> bool:
        return True

    def penalty(self, value: float, total: float) -> Penalty:
        return self.shape.at(1.0 / (value * total))

    def value(self, penalty: Penalty, total: float) -> float:
        return 1.0 / (penalty.slope(0.0) * total)

    def place(self, value: float) -> float:
        """Return `1 / C`, which is proportional to the slope."""
        return 1.0 / value


@dataclass(frozen=True, eq=False)
class Candidates:
    """Values to be compared, sparsest model first."""

    grid: Grid
    values: Array

    def penalties(self, total: float) -> list[Penalty]:
        """Return what they mean for samples of a total weight."""
        return [self.grid.penalty(float(value), total) for value in self.values]

    @property
    def places(self) -> Array:
        """The values, in the numbers in which models between them are interpolated."""
        return np.array([self.grid.place(float(value)) for value in self.values])

    def first(self, count: int) -> "Candidates":
        """Return so many of them, sparsest first."""
        return replace(self, values=self.values[:count])


def on_path(shape: Penalty, problems: Sequence[Problem], slopes: Array, solver: Solver) -> list[Penalty]:
    """Return the shape at strengths whose solutions lie on the path of slopes."""
    paths = [path(problem, slopes, tol=solver.tol, time_limit=solver.share(3)).results for problem in problems]
    rows = zip(*paths, strict=False)  # of unequal length where time is up
    found = [common(shape, [uninterrupted(result) for result in row]) for row in rows]
    return [penalty for penalty in found if penalty is not None]


def common(shape: Penalty, row: Sequence[Result]) -> Penalty | None:
    """Return the shape with a strength near those at which it has the given solutions; None where none has them.

    For one class against the rest it is their geometric mean: the strength is what all classes share.
    """
    try:
        found = [shape.through(r.point.state.mass, r.problem.penalty.slope(0.0)) for r in row if r.point.state.mass > 0]
    except ValueError:  # LinearSquare charges more than the slope by its square alone
        return None
    parameters = [main_parameter(penalty) for penalty in found]
    return shape.at(float(np.exp(np.mean(np.log(parameters))))) if parameters else None


def main_parameter(penalty: Penalty) -> float:
    """Return the value of the parameter that `Penalty.at` sets."""
    return float(getattr(penalty, penalty.main))
