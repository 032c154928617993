"""Checked data with the pieces of a fit, from which problems are stated; and what is kept of their solutions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from atomsieve.estimators.columns import rescaled, scales_of
from atomsieve.gauges import Gauge
from atomsieve.losses import Loss
from atomsieve.problem import Problem
from atomsieve.result import Result
from atomsieve.status import Status
from atomsieve.typing import Array, Index


@dataclass(frozen=True, eq=False)
class Study:
    """The data of a fit. Each of the targets makes a problem; there are several for one class against the rest."""

    X: Any
    targets: Sequence[Array]
    weights: Array | None
    loss: Loss
    gauge: Gauge
    intercept: bool
    standardize: bool

    @property
    def total(self) -> float:
        """The sum of the sample weights."""
        return float(len(self.targets[0]) if self.weights is None else self.weights.sum())

    def problems(self) -> list[Problem]:
        """State the problems; their penalty is not yet chosen."""
        gauge = rescaled(self.gauge, scales_of(self.X, self.weights)) if self.standardize else self.gauge
        return [
            Problem(self.X, y, loss=self.loss, gauge=gauge, sample_weight=self.weights, intercept=self.intercept)
            for y in self.targets
        ]

    def part(self, samples: Index) -> "Study":
        """Return the study of some of the samples."""
        weights = None if self.weights is None else self.weights[samples]
        return replace(self, X=self.X[samples], targets=[y[samples] for y in self.targets], weights=weights)


@dataclass(frozen=True, eq=False)
class Fit:
    """The solutions of all problems of a study, one row of coefficients per output, without the data."""

    coef: Array
    intercept: Array
    lifted: list[Array]
    n_iter: int
    gap: float
    status: Status
    alpha: float

    @classmethod
    def of(cls, results: Sequence[Result]) -> "Fit":
        """Return what is kept of the results; the worst of them speaks for all."""
        worst = max(results, key=lambda result: (not result.converged, result.gap))
        return cls(
            coef=np.concatenate([np.atleast_2d(result.x.T) for result in results]),
            intercept=np.concatenate([np.atleast_1d(result.intercept) for result in results]),
            lifted=[result.lifted for result in results],
            n_iter=max(1, *(result.n_iter for result in results), 1),
            gap=worst.gap,
            status=worst.status,
            alpha=max(equivalent_alpha(result) for result in results),
        )


def equivalent_alpha(result: Result) -> float:
    """Return the slope of the penalty at the solution: `Linear` of this strength has the same solution."""
    slope = result.problem.penalty.slope(result.point.state.mass)
    return slope if 0 < slope < math.inf else result.point.sigma
