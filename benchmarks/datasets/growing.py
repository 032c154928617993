"""Sparse data in four sizes, each with twice the columns of the one before and the same solution to find."""

from typing import Any

import numpy as np
from benchopt import BaseDataset

from benchmark_utils.simulate import respond, scattered_columns

LARGEST = 100_000


class Dataset(BaseDataset):
    """The first d of 100000 columns; the targets come from the first 50, so that all sizes share them."""

    name = "growing"
    parameters = {"d": [12_500, 25_000, 50_000, 100_000]}  # noqa: RUF012 -- benchopt wants plain dicts

    def get_data(self) -> dict[str, Any]:
        """Return X, targets and classes."""
        rng = np.random.default_rng(0)
        X = scattered_columns(rng, 20_000, LARGEST, 1e-3)
        return {"X": X[:, : self.d], **respond(rng, X, np.arange(50))}
