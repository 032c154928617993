"""Sparse Gaussian entries at random places."""

from typing import Any

import numpy as np
from benchopt import BaseDataset
from scipy import sparse

from benchmark_utils.data import by_columns
from benchmark_utils.simulate import respond


class Dataset(BaseDataset):
    """CSC; 50 columns carry a signal of variance ten times that of the noise."""

    name = "simulated_sparse"
    parameters = {"n, d": [(20000, 50000)], "density": [1e-3]}  # noqa: RUF012 -- benchopt wants plain dicts
    test_config = {"n": 200, "d": 100, "density": 0.1}  # noqa: RUF012

    def get_data(self) -> dict[str, Any]:
        """Return X, targets and classes."""
        rng = np.random.default_rng(0)
        X = sparse.random(self.n, self.d, self.density, format="csc", random_state=rng, data_rvs=rng.standard_normal)
        X = by_columns(X)
        return {"X": X, **respond(rng, X, rng.permutation(X.shape[1])[:50])}
