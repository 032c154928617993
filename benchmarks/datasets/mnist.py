"""MNIST, 4 against 9: dense with many zeros, n >> p."""

from typing import Any

from benchopt import BaseDataset

from atomsieve.datasets import load_mnist
from benchmark_utils.data import by_columns, missing, nothing


class Dataset(BaseDataset):
    """11791 x 784 less the pixels that are always blank; pixels in [0, 1], not centred."""

    name = "mnist"

    def get_data(self) -> dict[str, Any]:
        """Return the data, or why they are not there."""
        if reason := missing("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"):
            return nothing(reason)
        X, labels = load_mnist()
        return {"X": by_columns(X), "y": labels, "labels": labels}
