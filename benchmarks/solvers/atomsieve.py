"""atomsieve with the linear penalty, and with the square penalty that has the same solution."""

import numpy as np

import atomsieve
from benchmark_utils.ladder import LadderSolver
from benchmark_utils.reference import norm_of_solution, pieces


class Solver(LadderSolver):
    """`Linear(lam)`, or `Square(lam / kappa(w*))` where w* solves the former; making the problem is timed."""

    name = "atomsieve"
    requirements = ["pip::atomsieve"]  # noqa: RUF012 -- benchopt wants plain lists and dicts
    parameters = {"penalty": ["Linear", "Square"]}  # noqa: RUF012
    handles = frozenset({"lasso", "logistic", "group_lasso", "group_logistic"})

    @property
    def path_handles(self) -> frozenset[str]:
        """Paths are those of the linear penalty; the square penalty would repeat them."""
        return self.handles if self.penalty == "Linear" else frozenset()

    def prepare(self) -> None:
        """Look up the strength of the square penalty."""
        if self.penalty == "Square":
            self.strength = self.lam / norm_of_solution(self.X, self.y, self.loss, self.group_size, self.lam)

    def fit(self, tol: float) -> np.ndarray:
        """Return the coefficients; tol is relative to the objective at w = 0."""
        loss, gauge = pieces(self.loss, self.X.shape[1], self.group_size)
        penalty = atomsieve.Square(self.strength) if self.penalty == "Square" else atomsieve.Linear(self.lams[-1])
        problem = atomsieve.Problem(self.X, self.y, loss=loss, gauge=gauge, penalty=penalty)
        if self.is_path:
            return atomsieve.path(problem, self.lams, tol=tol).coefs
        return atomsieve.solve(problem, tol=tol).x
