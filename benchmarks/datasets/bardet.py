"""Bardet-Biedl: 20 genes, each expanded in 5 splines, that predict the expression of TRIM32."""

from typing import Any

import numpy as np
from benchopt import BaseDataset

from benchmark_utils.data import missing, nothing, read_csv, standardise

FILE = "bardet.csv.gz"


class Dataset(BaseDataset):
    """120 x 100 in 20 groups of 5, standardised; the classes are above and below the median."""

    name = "bardet"

    def get_data(self) -> dict[str, Any]:
        """Return the data, or why they are not there."""
        if reason := missing(FILE):
            return nothing(reason)
        X, y = read_csv(FILE)
        return {"X": standardise(X), "y": y, "labels": np.where(y > np.median(y), 1.0, -1.0), "group_size": 5}
