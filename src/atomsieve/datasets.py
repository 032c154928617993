"""Real data for experiments and benchmarks, from the folder ATOMSIEVE_DATA if it is set, otherwise from OpenML."""

import gzip
import os
from pathlib import Path

import numpy as np
from sklearn.datasets import fetch_openml

from atomsieve.typing import Array


def data_folder() -> Path | None:
    """Return the folder that the variable ATOMSIEVE_DATA names; None if it is unset or the folder does not exist."""
    folder = Path(os.environ.get("ATOMSIEVE_DATA", ""))
    return folder if os.environ.get("ATOMSIEVE_DATA") and folder.is_dir() else None


def load_mnist(digits: tuple[int, int] = (4, 9), *, test: bool = False) -> tuple[Array, Array]:
    """Return the images of two MNIST digits and their labels: -1 for the first digit, 1 for the second.

    Pixels are scaled to [0, 1]. For 4 against 9 the training images are 11791 x 784, the test images 1991 x 784.
    """
    images, labels = _read_mnist(test=test)
    chosen = np.isin(labels, digits)
    return images[chosen] / 255.0, np.where(labels[chosen] == digits[1], 1.0, -1.0)


def _read_mnist(*, test: bool) -> tuple[np.ndarray, np.ndarray]:
    folder = data_folder()
    if folder is None:
        images, labels = fetch_openml("mnist_784", version=1, return_X_y=True, as_frame=False)
        part = slice(60000, None) if test else slice(60000)
        return images[part], labels[part].astype(int)
    name = "t10k" if test else "train"
    pixels = gzip.decompress((folder / f"{name}-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((folder / f"{name}-labels-idx1-ubyte.gz").read_bytes())
    return (
        np.frombuffer(pixels, dtype=np.uint8, offset=16).reshape(-1, 784),
        np.frombuffer(labels, dtype=np.uint8, offset=8),
    )
