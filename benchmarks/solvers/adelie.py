"""adelie: block coordinate descent on group elastic nets."""

import adelie
import numpy as np
from scipy import sparse

from benchmark_utils.ladder import LadderSolver


class Solver(LadderSolver):
    """`grpnet`, told not to stop the path early."""

    name = "adelie"
    requirements = ["pip::adelie"]  # noqa: RUF012 -- benchopt wants plain lists and dicts
    handles = frozenset({"lasso", "logistic", "group_lasso", "group_logistic"})
    path_handles = handles

    def prepare(self) -> None:
        """Wrap the data, which copies nothing."""
        wrap = adelie.matrix.sparse if sparse.issparse(self.X) else adelie.matrix.dense
        self.matrix = wrap(self.X, method="naive")
        self.glm = adelie.glm.gaussian(self.y) if self.loss == "squared" else adelie.glm.binomial((self.y + 1) / 2)

    def fit(self, tol: float) -> np.ndarray:
        """Return the coefficients; tol serves the inner and the outer loop."""
        state = adelie.grpnet(
            self.matrix,
            self.glm,
            groups=np.arange(0, self.X.shape[1], self.group_size),
            lmda_path=self.lams,
            intercept=False,
            early_exit=False,
            tol=tol,
            irls_tol=tol,
            max_iters=10_000_000,
            progress_bar=False,
        )
        return self.in_shape(state.betas.toarray())
