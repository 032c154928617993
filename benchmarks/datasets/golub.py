"""Leukemia, all 72 samples on the raw scale of the instrument: dense, p >> n."""

from typing import Any

from benchopt import BaseDataset

from benchmark_utils.data import missing, nothing, read_svmlight, standardise

FILE = "golub_leukemia.bz2"


class Dataset(BaseDataset):
    """72 x 7129, standardised."""

    name = "golub"

    def get_data(self) -> dict[str, Any]:
        """Return the data, or why they are not there."""
        if reason := missing(FILE):
            return nothing(reason)
        X, labels = read_svmlight(FILE)
        return {"X": standardise(X), "y": labels, "labels": labels}
