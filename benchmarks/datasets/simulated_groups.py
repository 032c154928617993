"""Gaussian columns in groups of ten."""

from typing import Any

import numpy as np
from benchopt import BaseDataset

from benchmark_utils.simulate import correlated_columns, respond

SIZE = 10


class Dataset(BaseDataset):
    """Dense; 20 groups carry a signal of variance ten times that of the noise."""

    name = "simulated_groups"
    parameters = {"n, groups": [(2000, 500)]}  # noqa: RUF012 -- benchopt wants plain dicts
    test_config = {"n": 50, "groups": 30}  # noqa: RUF012

    def get_data(self) -> dict[str, Any]:
        """Return X, targets, classes and the size of the groups."""
        rng = np.random.default_rng(0)
        X = correlated_columns(rng, self.n, SIZE * self.groups)
        chosen = rng.permutation(self.groups)[:20]
        support = (SIZE * chosen[:, None] + np.arange(SIZE)).ravel()
        return {"X": X, **respond(rng, X, support), "group_size": SIZE}
