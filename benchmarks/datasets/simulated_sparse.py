"""Sparse Gaussian entries at random places."""

from typing import Any

import numpy as np
from benchopt import BaseDataset

from benchmark_utils.simulate import respond, scattered_columns


class Dataset(BaseDataset):
    """CSC; 50 columns carry a signal of variance ten times that of the noise."""

    name = "simulated_sparse"
    parameters = {"n, d": [(20000, 50000)], "density": [1e-3]}  # noqa: RUF012 -- benchopt wants plain dicts
    test_config = {"n": 200, "d": 100, "density": 0.1}  # noqa: RUF012

    def get_data(self) -> dict[str, Any]:
        """Return X, targets and classes."""
        rng = np.random.default_rng(0)
        X = scattered_columns(rng, self.n, self.d, self.density)
        return {"X": X, **respond(rng, X, rng.permutation(X.shape[1])[:50])}
