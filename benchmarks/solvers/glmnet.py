"""glmnet, the R package (Fortran and C++ inside), in an R that lives within this process."""

import logging

import numpy as np
import rpy2.robjects as ro
from rpy2.robjects import numpy2ri
from rpy2.robjects.packages import importr
from scipy import sparse

from benchmark_utils.ladder import LadderSolver

logging.getLogger("rpy2").setLevel(logging.ERROR)  # R greets on the console
importr("glmnet")
ro.r("glmnet::glmnet.control(fdev = 0, devmax = 1)")  # every strength asked for, however well it fits
FIT = ro.r(
    """function(X, y, family, lambda, thresh) suppressWarnings(glmnet::glmnet(X, y, family = family, lambda = lambda,
       thresh = thresh, intercept = FALSE, standardize = FALSE, maxit = 1e9))"""
)
COEFS = ro.r("function(fit) as.matrix(fit$beta)")
SPARSE = ro.r("""function(i, p, x, dims) Matrix::sparseMatrix(i = i, p = p, x = x, dims = dims, index1 = FALSE)""")


class Solver(LadderSolver):
    """`glmnet`; a single strength is reached over ten, as its manual asks (a warm start is faster than none)."""

    name = "glmnet"
    requirements = ["pip::rpy2"]  # noqa: RUF012 -- benchopt wants plain lists and dicts
    handles = frozenset({"lasso", "logistic"})
    path_handles = handles

    def prepare(self) -> None:
        """Hand the data to R."""
        X, integers, floats = self.X, ro.IntVector, ro.FloatVector
        self.r_y = floats(self.y)
        if sparse.issparse(X):
            self.r_X = SPARSE(integers(X.indices), integers(X.indptr), floats(X.data), integers(X.shape))
        else:
            self.r_X = numpy2ri.numpy2rpy(X)

    def strengths(self) -> np.ndarray:
        """Return the path, or ten strengths on the way to the only one."""
        return self.lams if self.is_path else self.lam * np.geomspace(10, 1, 10)

    def fit(self, tol: float) -> np.ndarray:
        """Return the coefficients; tol is relative to the null deviance."""
        family = "gaussian" if self.loss == "squared" else "binomial"
        self.fitted = FIT(self.r_X, self.r_y, family, ro.FloatVector(self.strengths()), tol)
        return self.fitted

    def get_result(self) -> dict[str, np.ndarray]:
        """Return the coefficients, copied from R outside the clock."""
        return {"w": self.in_shape(np.array(COEFS(self.fitted)).T)}
