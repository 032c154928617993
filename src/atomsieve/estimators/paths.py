"""The path of an estimator for pictures: the one it has kept, or one that is followed now."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from atomsieve.estimators.solver import Solver, coefficients, intercepts
from atomsieve.estimators.strengths import critical_slope
from atomsieve.estimators.task import Task, TrainingData
from atomsieve.penalties import Linear
from atomsieve.run.path import explained, geometric_slopes
from atomsieve.typing import Array

COUNT = 100
"""The number of slopes where a path is followed for a picture."""


LAST = 1e-3
"""The last slope over the critical one, unless the model itself has a smaller one."""

BEYOND = 0.3
"""The last slope over that of the model, where the path has to go so far."""


@dataclass(frozen=True, eq=False)
class FollowedPath:
    """Models for strengths that fall off: sparsest first."""

    strengths: Array
    coefs: Array
    """One matrix per strength, with a row of coefficients per output."""

    constants: Array
    """One intercept per strength and output."""

    label: str
    """What the strengths are called."""

    marks: Mapping[str, int]
    """Positions of strengths that were chosen, by the name of the rule."""

    @classmethod
    def kept(cls, model: Any) -> "FollowedPath":
        """Return the path that a cross-validation followed on all samples."""
        strengths = model._choice.candidates.values
        count = len(strengths)
        coefs, constants = np.asarray(model.coef_path_), np.asarray(model.intercept_path_)
        marks = {"1se": int(model.index_1se_), "min": int(model.index_min_)}
        shape = (count, -1, coefs.shape[-1])
        return cls(
            strengths, coefs.reshape(shape), constants.reshape(count, -1), model._choice.candidates.grid.label, marks
        )

    @classmethod
    def followed(cls, model: Any, data: TrainingData) -> "FollowedPath":
        """Follow the path of slopes on given data, past the slope of the fit, which is marked."""
        problems = model._solved.problems(data)
        critical = critical_slope(problems)
        chosen = min(float(np.exp(np.mean(np.log(np.atleast_1d(model.equivalent_alpha_))))), critical)
        beyond = BEYOND * chosen / critical
        slopes = geometric_slopes(problems, critical, COUNT, beyond if beyond < LAST else None)
        slopes = np.sort(np.append(slopes, chosen))[::-1]
        solver = Solver.of(model, time_limit=model.time_limit).for_linear()
        walks = [solver.follow(problem, [Linear(float(slope)) for slope in slopes]) for problem in problems]
        rows = [(coefficients(row), intercepts(row)) for row in zip(*walks, strict=False)]  # fewer, where time is up
        coefs, constants = (np.stack(part) for part in zip(*rows, strict=True))
        here = int(np.flatnonzero(slopes == chosen)[0])
        marks = {"this model": here} if here < len(rows) else {}
        return cls(slopes[: len(rows)], coefs, constants, "slope of the penalty", marks)

    def deviance_explained(self, task: Task, data: TrainingData) -> Array:
        """Return which part of the deviance each model explains on given data."""
        predicted = task.linear(data, self.coefs.reshape(-1, self.coefs.shape[2]), self.constants)
        weights = task.weights(data)
        losses = [task.loss_sum(predicted[:, k], data.y, weights) for k in range(len(self.constants))]
        return explained(task.problems(data), np.array(losses) / task.total(data))
