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
from atomsieve.run.result import Result
from atomsieve.run.status import Status
from atomsieve.typing import Array, Index


@dataclass(frozen=True, eq=False)
class Pieces:
    """What is minimised, but for the penalty."""

    loss: Loss
    gauge: Gauge
    intercept: bool
    standardize: bool


@dataclass(frozen=True, eq=False)
class Targets:
    """Targets as numbers, for one problem or for several (one class against the rest), and what came with them."""

    vectors: Sequence[Array]
    classes: Array | None = None
    factors: Array | None = None
    """Weights of the samples by their class."""


@dataclass(frozen=True, eq=False)
class Study:
    """The data of a fit: each vector of targets makes a problem."""

    X: Any
    targets: Targets
    weights: Array | None
    pieces: Pieces

    @property
    def total(self) -> float:
        """The sum of the sample weights."""
        return float(len(self.targets.vectors[0]) if self.weights is None else self.weights.sum())

    def problems(self) -> list[Problem]:
        """State the problems; their penalty is not yet chosen."""
        pieces = self.pieces
        gauge = rescaled(pieces.gauge, scales_of(self.X, self.weights)) if pieces.standardize else pieces.gauge
        return [
            Problem(self.X, y, loss=pieces.loss, gauge=gauge, sample_weight=self.weights, intercept=pieces.intercept)
            for y in self.targets.vectors
        ]

    def part(self, samples: Index) -> "Study":
        """Return the study of some of the samples."""
        targets = replace(self.targets, vectors=[y[samples] for y in self.targets.vectors])
        weights = None if self.weights is None else self.weights[samples]
        return replace(self, X=self.X[samples], targets=targets, weights=weights)


@dataclass(frozen=True, eq=False)
class Solution:
    """The solutions of all problems of a study, one row of coefficients per output, without the data."""

    coef: Array
    intercept: Array
    lifted: list[Array]
    objectives: list[float]
    n_iter: int
    gap: float
    status: Status
    alphas: list[float]

    @classmethod
    def of(cls, results: Sequence[Result]) -> "Solution":
        """Return what is kept of the results; the worst of them speaks for all."""
        worst = max(results, key=lambda result: (not result.converged, result.gap))
        return cls(
            coef=coefficients(results),
            intercept=intercepts(results),
            lifted=[result.lifted for result in results],
            objectives=[result.objective for result in results],
            n_iter=max(1, *(result.n_iter for result in results)),
            gap=worst.gap,
            status=worst.status,
            alphas=[equivalent_alpha(result) for result in results],
        )


def coefficients(results: Sequence[Result]) -> Array:
    """Return one row of coefficients per output."""
    return np.concatenate([np.atleast_2d(result.x.T) for result in results])


def intercepts(results: Sequence[Result]) -> Array:
    """Return one intercept per output."""
    return np.concatenate([np.atleast_1d(result.intercept) for result in results])


def equivalent_alpha(result: Result) -> float:
    """Return the slope of the penalty at the solution: `Linear` of this strength has the same solution."""
    slope = result.problem.penalty.slope(result.point.state.mass)
    return slope if 0 < slope < math.inf else result.point.sigma
