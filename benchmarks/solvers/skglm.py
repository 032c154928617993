"""skglm: coordinate descent with Anderson acceleration, prox Newton, and their group versions."""

from typing import Any

import numpy as np
from skglm import GeneralizedLinearEstimator, GroupLasso, Lasso, SparseLogisticRegression
from skglm.datafits import Logistic, LogisticGroup, Quadratic, QuadraticGroup
from skglm.penalties import L1, WeightedGroupL2
from skglm.solvers import AndersonCD, GroupBCD, GroupProxNewton, ProxNewton
from skglm.utils.data import grp_converter

from benchmark_utils.ladder import LadderSolver

METHOD = {"lasso": AndersonCD, "logistic": ProxNewton, "group_lasso": GroupBCD, "group_logistic": GroupProxNewton}
EPOCHS = {"lasso": {"max_epochs": 50_000}, "group_lasso": {"max_epochs": 50_000}}


class Solver(LadderSolver):
    """Its estimators; along a path the solvers that they call, each begun where the last one ended."""

    name = "skglm"
    requirements = ["pip::skglm"]  # noqa: RUF012 -- benchopt wants plain lists and dicts
    handles = frozenset(METHOD)
    path_handles = frozenset({"lasso", "logistic"})

    def pieces(self, lam: float) -> tuple[Any, Any]:
        """Return skglm's datafit and penalty."""
        if self.group_size == 1:
            return {"lasso": Quadratic, "logistic": Logistic}[self.task](), L1(lam)
        indices, ends = grp_converter(self.group_size, self.X.shape[1])
        datafit = {"group_lasso": QuadraticGroup, "group_logistic": LogisticGroup}[self.task](ends, indices)
        return datafit, WeightedGroupL2(lam, self.group_weights, ends, indices)

    def fit(self, tol: float) -> np.ndarray:
        """Return the coefficients; tol is the largest violation of the optimality conditions."""
        return self.path(tol) if self.is_path else self.estimator(tol).fit(self.X, self.y).coef_.ravel()

    def estimator(self, tol: float) -> Any:
        """Return the estimator of one strength."""
        settings = {"max_iter": 1000, "tol": tol, "fit_intercept": False}
        if self.task == "lasso":
            return Lasso(self.lam, max_epochs=50_000, **settings)
        if self.task == "logistic":
            return SparseLogisticRegression(self.lam, **settings)
        if self.task == "group_lasso":
            return GroupLasso(self.group_size, self.lam, weights=self.group_weights, max_epochs=50_000, **settings)
        datafit, penalty = self.pieces(self.lam)
        return GeneralizedLinearEstimator(datafit, penalty, GroupProxNewton(**settings))

    def path(self, tol: float) -> np.ndarray:
        """Return the coefficients along a path."""
        method = METHOD[self.task](max_iter=1000, tol=tol, fit_intercept=False, **EPOCHS.get(self.task, {}))
        w, u, coefs = np.zeros(self.X.shape[1]), np.zeros(len(self.y)), []
        for lam in self.lams:
            w = method.solve(self.X, self.y, *self.pieces(lam), w_init=w, Xw_init=u)[0]
            coefs.append(w.copy())  # the next step changes w in place
            if self.is_path:
                u = self.X @ w
                method.p0 = max(10, np.count_nonzero(w))
        return self.in_shape(coefs)
