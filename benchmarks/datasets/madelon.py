"""Madelon, artificial: dense, n > p, hardly any signal that is linear."""

from typing import Any

from benchopt import BaseDataset

from benchmark_utils.data import missing, nothing, read_svmlight, standardise

FILE = "madelon.bz2"


class Dataset(BaseDataset):
    """2000 x 500, standardised."""

    name = "madelon"

    def get_data(self) -> dict[str, Any]:
        """Return the data, or why they are not there."""
        if reason := missing(FILE):
            return nothing(reason)
        X, labels = read_svmlight(FILE)
        return {"X": standardise(X), "y": labels, "labels": labels}
