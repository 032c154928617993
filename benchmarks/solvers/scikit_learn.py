"""scikit-learn: coordinate descent for the lasso, liblinear and saga for logistic regression."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, LogisticRegression, lasso_path

from benchmark_utils.ladder import LadderSolver


class Solver(LadderSolver):
    """`Lasso` and `lasso_path`, or `LogisticRegression`; saga begins each step of a path where the last one ended."""

    name = "scikit-learn"
    requirements = ["pip::scikit-learn"]  # noqa: RUF012 -- benchopt wants plain lists and dicts
    parameters = {"solver": ["cd", "liblinear", "saga"]}  # noqa: RUF012

    @property
    def handles(self) -> frozenset[str]:
        """Coordinate descent is for the lasso, the others for logistic regression."""
        return frozenset({"lasso"} if self.solver == "cd" else {"logistic"})

    path_handles = handles

    def prepare(self) -> None:
        """Store by rows for the logistic solvers, which ask for that."""
        if self.solver != "cd":
            self.X = self.X.tocsr() if sparse.issparse(self.X) else np.ascontiguousarray(self.X)

    def fit(self, tol: float) -> np.ndarray:
        """Return the coefficients."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return self.lasso(tol) if self.solver == "cd" else self.logistic(tol)

    def lasso(self, tol: float) -> np.ndarray:
        """Return the coefficients of the lasso; tol is relative to the squares of y."""
        if self.is_path:
            return lasso_path(self.X, self.y, alphas=self.lams, tol=tol, max_iter=1_000_000)[1].T
        return Lasso(self.lam, fit_intercept=False, tol=tol, max_iter=1_000_000).fit(self.X, self.y).coef_

    def logistic(self, tol: float) -> np.ndarray:
        """Return the coefficients of logistic regression; scikit-learn sums the losses and weighs them by C."""
        model = LogisticRegression(
            l1_ratio=1, solver=self.solver, tol=tol, max_iter=1_000_000, fit_intercept=False, random_state=0
        )
        model.set_params(warm_start=self.solver == "saga")
        coefs = []
        for lam in self.lams:
            model.set_params(C=1 / (lam * len(self.y))).fit(self.X, self.y)
            coefs.append(model.coef_.ravel().copy())
        return self.in_shape(coefs)
