"""Dorothea, drug discovery: sparse, binary, p >> n."""

from typing import Any

from benchopt import BaseDataset

from benchmark_utils.data import by_columns, missing, nothing, read_svmlight

FILE = "dorothea_train.bz2"


class Dataset(BaseDataset):
    """800 x 88119 (columns that are zero dropped)."""

    name = "dorothea"

    def get_data(self) -> dict[str, Any]:
        """Return the data, or why they are not there."""
        if reason := missing(FILE):
            return nothing(reason)
        X, labels = read_svmlight(FILE)
        return {"X": by_columns(X), "y": labels, "labels": labels}
