"""celer: working sets with dual extrapolation."""

import numpy as np
from celer import GroupLasso, Lasso, LogisticRegression, celer_path

from benchmark_utils.ladder import LadderSolver

PROBLEM = {"lasso": "lasso", "logistic": "logreg", "group_lasso": "grouplasso"}


class Solver(LadderSolver):
    """`Lasso`, `LogisticRegression` (Newton steps) and `GroupLasso`; `celer_path` for paths."""

    name = "celer"
    requirements = ["pip::celer"]  # noqa: RUF012 -- benchopt wants plain lists and dicts
    handles = frozenset(PROBLEM)
    path_handles = handles

    def fit(self, tol: float) -> np.ndarray:
        """Return the coefficients."""
        return self.path(tol) if self.is_path else self.estimator(tol).fit(self.X, self.y).coef_.ravel()

    def estimator(self, tol: float) -> Lasso | LogisticRegression | GroupLasso:
        """Return the estimator of one strength; celer sums the logistic losses where others average."""
        settings = {"fit_intercept": False, "tol": tol, "max_iter": 1000}
        if self.task == "logistic":
            return LogisticRegression(C=1 / (self.lam * len(self.y)), **settings)
        if self.task == "group_lasso":
            return GroupLasso(groups=self.group_size, alpha=self.lam, weights=self.group_weights, **settings)
        return Lasso(alpha=self.lam, **settings)

    def path(self, tol: float) -> np.ndarray:
        """Return the coefficients along a path."""
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
