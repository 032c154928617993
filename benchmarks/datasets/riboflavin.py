"""Riboflavin production and gene expression: dense regression, p >> n."""

from typing import Any

from benchopt import BaseDataset

from benchmark_utils.data import missing, nothing, read_csv, standardise

FILE = "riboflavin.csv.gz"


class Dataset(BaseDataset):
    """71 x 4088, standardised."""

    name = "riboflavin"

    def get_data(self) -> dict[str, Any]:
        """Return the data, or why they are not there."""
        if reason := missing(FILE):
            return nothing(reason)
        X, y = read_csv(FILE)
        return {"X": standardise(X), "y": y}
