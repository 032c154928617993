"""Solvers as a ladder of tolerances: `fit(tol)` at ever smaller values of a solver's own tolerance."""

from typing import Any

import numpy as np
from benchopt import BaseSolver
from benchopt.stopping_criterion import StoppingCriterion

RUNGS = tuple(10 ** (-k / 2) for k in range(29))
"""Half decades from 1 to 1e-14."""

FAR_ENOUGH = 1e-10
"""The relative gap at which a ladder ends, and the harder one of the two that count."""


class TargetReached(StoppingCriterion):
    """Stop a benchopt run when the relative gap is small enough."""

    def __init__(self, strategy: str | None = "tolerance", key_to_monitor: str = "value", **kwargs: Any) -> None:
        super().__init__(strategy=strategy, key_to_monitor=key_to_monitor, **kwargs)

    def check_convergence(self, objective_list: list[dict[str, Any]]) -> tuple[bool, float]:
        """Return whether the last gap is small enough, and how far along the way it is."""
        gap = objective_list[-1]["objective_value"]
        return gap <= FAR_ENOUGH or objective_list[-1]["stop_val"] <= RUNGS[-1], 0.0


class LadderSolver(BaseSolver):
    """Base of every solver: says what it can do, keeps the problem, and turns `fit(tol)` into benchopt's `run`.

    A subclass gives `handles` (a set of tasks) and `fit(tol)`, which returns the coefficients: a vector, or for a path
    one row per strength.
    """

    sampling_strategy = "tolerance"
    handles: frozenset[str] = frozenset()
    path_handles: frozenset[str] = frozenset()

    def skip(self, *, task: str, lam: Any, **_: Any) -> tuple[bool, str | None]:
        """Skip what the package cannot do."""
        handles, what = (self.handles, task) if np.ndim(lam) == 0 else (self.path_handles, f"path for {task}")
        return (False, None) if task in handles else (True, f"{self} has no {what}")

    def set_objective(self, *, X: Any, y: np.ndarray, lam: Any, task: str, loss: str, group_size: int) -> None:
        """Keep the problem; `prepare` converts it, untimed, to what the package wants."""
        self.X, self.y, self.task, self.loss, self.group_size = X, y, task, loss, group_size
        self.lam, self.lams, self.is_path = lam, np.atleast_1d(lam), np.ndim(lam) == 1
        self.prepare()

    def prepare(self) -> None:
        """Convert the data, where the package would do so at every fit."""

    def fit(self, tol: float) -> np.ndarray:
        """Return the coefficients at one value of the package's tolerance."""
        raise NotImplementedError

    @property
    def group_weights(self) -> np.ndarray:
        """Return sqrt(size) for every group."""
        return np.full(self.X.shape[1] // self.group_size, np.sqrt(self.group_size))

    def in_shape(self, coefs: Any) -> np.ndarray:
        """Return rows of coefficients as a path, or the only row."""
        coefs = np.asarray(coefs)
        return coefs if self.is_path else coefs[-1]

    def warm_up(self) -> None:
        """Fit once, untimed: compilation and first touches."""
        self.run_once(1e-3)

    def get_next(self, stop_val: float) -> float:
        """Return the next rung."""
        return next((rung for rung in RUNGS if rung < 0.99 * stop_val), RUNGS[-1])

    def run(self, stop_val: float) -> None:
        """Fit at one rung; benchopt begins at infinity."""
        self.w = self.fit(min(stop_val, 1.0))

    def get_result(self) -> dict[str, Any]:
        """Return the coefficients."""
        return {"w": self.w}
