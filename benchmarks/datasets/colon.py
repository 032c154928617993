"""Colon cancer: dense, p >> n."""

from typing import Any

from benchopt import BaseDataset

from benchmark_utils.data import missing, nothing, read_svmlight, standardise

FILE = "colon-cancer.bz2"


class Dataset(BaseDataset):
    """62 x 2000, standardised."""

    name = "colon"

    def get_data(self) -> dict[str, Any]:
        """Return the data, or why they are not there."""
        if reason := missing(FILE):
            return nothing(reason)
        X, labels = read_svmlight(FILE)
        return {"X": standardise(X), "y": labels, "labels": labels}
