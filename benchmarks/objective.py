"""The problems: lasso and l1 logistic regression, plain and with groups, at one strength or along a path.

    lasso           mean of (x_i . w - y_i)^2 / 2      + lam norm1(w)
    logistic        mean of log(1 + exp(-y_i x_i . w)) + lam norm1(w)
    group_*         the same with lam sum_g sqrt(size) norm2(w_g), groups of equal size

without intercept. `reg` is lam as a fraction of the strength at which w = 0, or "path": 100 strengths down to 1 percent
of it (0.1 percent where there are more samples than features).
"""

from typing import Any

import numpy as np
from benchopt import BaseObjective

from benchmark_utils.ladder import TargetReached
from benchmark_utils.measure import Measure

LOSS = {"lasso": "squared", "logistic": "logistic", "group_lasso": "squared", "group_logistic": "logistic"}


class Objective(BaseObjective):
    """Judges coefficients by their relative duality gap, for a path by the largest one."""

    name = "Sparse models"
    min_benchopt_version = "1.9"
    requirements = ["pip::numpy", "pip::scipy"]  # noqa: RUF012 -- benchopt wants plain lists and dicts
    parameters = {"task": list(LOSS), "reg": [0.1, 0.02, "path"]}  # noqa: RUF012
    sampling_strategy = "tolerance"
    stopping_criterion = TargetReached()
    test_config = {"task": "lasso", "reg": 0.1}  # noqa: RUF012
    test_dataset_name = "simulated"

    def skip(
        self, X: Any, labels: Any = None, group_size: int = 1, reason: str | None = None, **_: Any
    ) -> tuple[bool, str | None]:
        """Skip absent data, logistic loss without classes and groups where there are none."""
        if X is None:
            return True, reason
        if LOSS[self.task] == "logistic" and labels is None:
            return True, "the set has no classes"
        if self.task.startswith("group") != (group_size > 1):
            return True, "the set has groups" if group_size > 1 else "the set has no groups"
        if self.task.startswith("group") and self.reg == "path":
            return True, "paths are compared without groups"
        return False, None

    def set_data(self, X: Any, y: Any, labels: Any = None, group_size: int = 1, reason: str | None = None) -> None:  # noqa: ARG002
        """Take classes for the logistic loss, targets with mean 0 and variance 1 for the squared one."""
        loss = LOSS[self.task]
        target = labels if loss == "logistic" else (y - np.mean(y)) / np.std(y)
        self.measure = Measure(X, np.asarray(target, dtype=float), loss, group_size)
        n, d = X.shape
        largest = self.measure.lam_max
        last = 1e-3 if n > d else 1e-2
        self.lam = largest * np.geomspace(1, last, 100) if self.reg == "path" else largest * self.reg

    def get_objective(self) -> dict[str, Any]:
        """Return what a solver needs to know."""
        measure = self.measure
        return {
            "X": measure.X,
            "y": measure.y,
            "lam": self.lam,
            "task": self.task,
            "loss": measure.loss,
            "group_size": measure.group_size,
        }

    def evaluate_result(self, w: np.ndarray) -> dict[str, float]:
        """Return the (largest) relative gap, the objective and the number of non-zeros of the last vector."""
        rows, lams = np.atleast_2d(w), np.atleast_1d(self.lam)
        gaps = [self.measure.relative_gap(row, lam) for row, lam in zip(rows, lams, strict=True)]
        return {
            "value": float(np.max(gaps)),
            "primal": self.measure.objective(rows[-1], lams[-1]),
            "nonzero": int(np.count_nonzero(rows[-1])),
        }

    def get_one_result(self) -> dict[str, Any]:
        """Return w = 0, for benchopt's own tests."""
        shape = (self.measure.X.shape[1],)
        return {"w": np.zeros((len(self.lam), *shape) if np.ndim(self.lam) else shape)}
