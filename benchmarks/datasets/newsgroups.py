"""20 Newsgroups, the first ten groups against the other ten: large and sparse."""

from typing import Any

import numpy as np
from benchopt import BaseDataset

from benchmark_utils.data import by_columns, missing, nothing, read_svmlight, unit_rows

FILE = "20newsgroups_counts_train.bz2"


class Dataset(BaseDataset):
    """11314 x 130107, word counts with rows scaled to length 1."""

    name = "newsgroups"

    def get_data(self) -> dict[str, Any]:
        """Return the data, or why they are not there."""
        if reason := missing(FILE):
            return nothing(reason)
        X, group = read_svmlight(FILE)
        labels = np.where(group < 10, -1.0, 1.0)
        return {"X": by_columns(unit_rows(X)), "y": labels, "labels": labels}
