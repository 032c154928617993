"""Leukemia, the 38 training samples of LIBSVM: dense, p >> n."""

from typing import Any

from benchopt import BaseDataset

from benchmark_utils.data import missing, nothing, read_svmlight, standardise

FILE = "leu.bz2"


class Dataset(BaseDataset):
    """38 x 7129, standardised."""

    name = "leu"

    def get_data(self) -> dict[str, Any]:
        """Return the data, or why they are not there."""
        if reason := missing(FILE):
            return nothing(reason)
        X, labels = read_svmlight(FILE)
        return {"X": standardise(X), "y": labels, "labels": labels}
