"""Loaders read a local folder; the real one is used where ATOMSIEVE_DATA names it."""

import gzip

import numpy as np
import pytest

from atomsieve.datasets import data_folder, load_mnist


def write_mnist(folder, name, labels):
    pixels = np.arange(len(labels) * 784, dtype=np.int64) % 256
    header = bytes(16)
    (folder / f"{name}-images-idx3-ubyte.gz").write_bytes(gzip.compress(header + pixels.astype(np.uint8).tobytes()))
    (folder / f"{name}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(bytes(8) + bytes(labels)))


@pytest.mark.parametrize(("name", "test"), [("train", False), ("t10k", True)])
def test_mnist_is_read_from_the_folder(tmp_path, monkeypatch, name, test):
    write_mnist(tmp_path, name, [4, 1, 9, 9])
    monkeypatch.setenv("ATOMSIEVE_DATA", str(tmp_path))
    X, y = load_mnist((4, 9), test=test)
    assert X.shape == (3, 784)
    assert y.tolist() == [-1, 1, 1]
    assert X[0, 1] == 1 / 255
    assert X.max() <= 1


def test_a_missing_folder_is_no_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ATOMSIEVE_DATA", str(tmp_path / "nowhere"))
    assert data_folder() is None
    monkeypatch.delenv("ATOMSIEVE_DATA")
    assert data_folder() is None


def test_mnist_four_against_nine_has_the_published_size():
    if data_folder() is None:
        pytest.skip("ATOMSIEVE_DATA names no folder with MNIST")
    X, y = load_mnist()
    assert X.shape == (11791, 784)
    assert (y == -1).sum() == 5842
