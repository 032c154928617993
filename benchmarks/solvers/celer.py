"""celer: working sets with dual extrapolation."""

import numpy as np
from celer import celer_path

from benchmark_utils.ladder import LadderSolver

PROBLEM = {"lasso": "lasso", "logistic": "logreg", "group_lasso": "grouplasso"}


class Solver(LadderSolver):
    """`celer_path`, which its estimators call, so that their checks cost nothing; Newton steps for logistic."""

    name = "celer"
    requirements = ["pip::celer"]  # noqa: RUF012 -- benchopt wants plain lists and dicts
    handles = frozenset(PROBLEM)
    path_handles = handles

    def fit(self, tol: float) -> np.ndarray:
        """Return the coefficients; celer sums the logistic losses where others average."""
        grouped = {"groups": self.group_size, "weights": self.group_weights} if self.group_size > 1 else {}
        _, coefs, _ = celer_path(
            self.X,
            self.y,
            PROBLEM[self.task],
            alphas=self.lams * (len(self.y) if self.task == "logistic" else 1),
            max_iter=1000,
            tol=tol,
            prune=1,
            use_PN=self.task == "logistic",
            **grouped,
        )
        return self.in_shape(coefs.T)
