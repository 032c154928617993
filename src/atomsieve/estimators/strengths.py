"""Strengths that are not numbers: a fraction of the critical slope, or as many features as are asked for."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from atomsieve.intake.arguments import is_whole, require_piece, require_positive, shown
from atomsieve.penalties import Linear, Penalty
from atomsieve.piece import Piece
from atomsieve.problem import Problem
from atomsieve.run.result import Result
from atomsieve.run.status import Status

STEP = 0.8
"""Ratio of the slopes that are tried on the way down to a number of features."""

LEAST_SLOPE = 1e-4
"""Part of the critical slope at which a search for more features ends."""

HALVINGS = 30
"""How often the step that went too far is halved."""

SolveOne = Callable[[Problem, Any], Result]


class StrengthRule(Piece):
    """A rule that chooses the strength of a penalty from the data."""

    shape: Penalty

    @abstractmethod
    def solve(self, problems: Sequence[Problem], solver: SolveOne, starts: Sequence[Any]) -> list[Result]:
        """Return the solutions for `Linear` at the slope that is meant, one for each problem."""


@dataclass(frozen=True, eq=False, repr=False)
class CriticalFraction(StrengthRule):
    """The slope as a fraction of the critical one, from which on x = 0 is the solution: a strength without units.

    `shape` is the penalty whose strength is chosen so that it has the same solution.

    >>> from atomsieve import CriticalFraction, GaugeRegressor
    >>> model = GaugeRegressor(penalty=CriticalFraction(0.5)).fit([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [2.0, 0.0, 2.0])
    >>> model.penalty_.strength.__round__(6), model.coef_.round(6)
    (0.222222, array([1., 0.]))
    """

    fraction: float = 0.1
    shape: Penalty = Linear()  # noqa: RUF009 -- frozen

    def __post_init__(self) -> None:
        require_positive(self, fraction=self.fraction)
        require_piece("CriticalFraction: shape", self.shape, Penalty)

    def solve(self, problems: Sequence[Problem], solver: SolveOne, starts: Sequence[Any]) -> list[Result]:
        penalty = Linear(self.fraction * critical_slope(problems))
        return [solver(problem.at_penalty(penalty), start) for problem, start in zip(problems, starts, strict=True)]


@dataclass(frozen=True, eq=False, repr=False)
class FeatureCount(StrengthRule):
    """A slope at which the model has as many features as asked for, or the next number below that was met.

    Features that are unpenalised do not count. The path is followed down from the critical slope, to a ten-thousandth
    of it at most, until a model has more features; the step that went too far is then halved until the number is met.

    >>> from atomsieve import CertifiedLasso, FeatureCount
    >>> model = CertifiedLasso(alpha=FeatureCount(1)).fit([[1.0, 0.2], [0.0, 1.0], [1.1, 1.0]], [2.0, 0.4, 2.1])
    >>> (model.coef_ != 0).sum()
    np.int64(1)
    """

    count: int = 10
    shape: Penalty = Linear()  # noqa: RUF009 -- frozen

    def __post_init__(self) -> None:
        if not (is_whole(self.count) and self.count >= 1):
            raise ValueError(
                f"FeatureCount: count must be a positive whole number of features, got {shown(self.count)}."
            )
        require_piece("FeatureCount: shape", self.shape, Penalty)

    def solve(self, problems: Sequence[Problem], solver: SolveOne, starts: Sequence[Any]) -> list[Result]:  # noqa: ARG002
        critical = slope = critical_slope(problems)
        factor, halvings = STEP, 0
        best = [solver(problem.at_penalty(Linear(slope)), None) for problem in problems]
        while halvings < HALVINGS and slope > LEAST_SLOPE * critical:
            lower = slope * factor
            tried = [solver(p.at_penalty(Linear(lower)), start) for p, start in zip(problems, best, strict=True)]
            if any(result.status is Status.TIME_LIMIT for result in tried):
                return [replace(result, status=Status.TIME_LIMIT) for result in best]
            if feature_count(tried) <= self.count:
                best, slope = tried, lower
            else:
                factor, halvings = factor**0.5, halvings + 1
            if halvings and feature_count(best) == self.count:
                break
        return best


def critical_slope(problems: Sequence[Problem]) -> float:
    """Return the slope from which on x = 0 solves all problems; 1 where it does so whatever the slope."""
    return max(problem.critical for problem in problems) or 1.0


def straight(penalty: Penalty) -> bool:
    """Return whether a penalty is a place on the path of slopes itself, so that no other one need be found for it."""
    return isinstance(penalty, Linear)


def feature_count(results: Sequence[Result]) -> int:
    """Return how many features carry penalised weight in any of the results."""
    used = [np.any(r.problem.lower(r.lifted).reshape(len(r.x), -1) != 0, axis=1) for r in results]
    return int(np.count_nonzero(np.any(used, axis=0)))


def through(shape: Penalty, result: Result) -> Penalty:
    """Return the shape with the strength for which the solution for `Linear` solves it as well."""
    size, slope = result.point.state.mass, result.problem.penalty.slope(0.0)
    if size == 0:
        raise ValueError(
            f"At this slope x = 0, which {type(shape).__name__} has for no strength. Choose a smaller fraction, or "
            "shape=Linear()."
        )
    return shape.through(size, slope)
