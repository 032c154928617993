"""Adult a9a: sparse, binary, n >> p."""

from typing import Any

from benchopt import BaseDataset

from benchmark_utils.data import by_columns, missing, nothing, read_svmlight

FILE = "a9a.bz2"


class Dataset(BaseDataset):
    """32561 x 123."""

    name = "a9a"

    def get_data(self) -> dict[str, Any]:
        """Return the data, or why they are not there."""
        if reason := missing(FILE):
            return nothing(reason)
        X, labels = read_svmlight(FILE)
        return {"X": by_columns(X), "y": labels, "labels": labels}
