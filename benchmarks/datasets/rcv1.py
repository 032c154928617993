"""A thousand documents of RCV1: sparse tf-idf, p > n."""

from typing import Any

from benchopt import BaseDataset

from benchmark_utils.data import by_columns, missing, nothing, read_svmlight

FILE = "rcv1_small1000.bz2"


class Dataset(BaseDataset):
    """1000 x 9738 (columns that are zero dropped)."""

    name = "rcv1"

    def get_data(self) -> dict[str, Any]:
        """Return the data, or why they are not there."""
        if reason := missing(FILE):
            return nothing(reason)
        X, labels = read_svmlight(FILE)
        return {"X": by_columns(X), "y": labels, "labels": labels}
