"""Gaussian columns, each correlated 0.5 with the one before."""

from typing import Any

import numpy as np
from benchopt import BaseDataset

from benchmark_utils.simulate import correlated_columns, respond


class Dataset(BaseDataset):
    """Dense; 100 columns carry a signal of variance ten times that of the noise."""

    name = "simulated"
    parameters = {"n, d": [(2000, 10000), (20000, 1000)]}  # noqa: RUF012 -- benchopt wants plain dicts
    test_config = {"n": 50, "d": 100}  # noqa: RUF012

    def get_data(self) -> dict[str, Any]:
        """Return X, targets and classes."""
        rng = np.random.default_rng(0)
        X = correlated_columns(rng, self.n, self.d)
        return {"X": X, **respond(rng, X, rng.permutation(self.d)[:100])}
