"""The kinds of arrays that data come in, each with the way there from NumPy; what is not installed is skipped."""

from importlib import import_module

import numpy as np
import pytest
from scipy import sparse

N, D = 90, 30
RNG = np.random.default_rng(7)
X = RNG.standard_normal((N, D)).round(3)
X[RNG.random((N, D)) < 0.3] = 0.0
SCORES = X[:, :5] @ [1.5, -1.0, 0.8, -0.6, 0.4] + 0.4 * RNG.standard_normal(N) + 0.3
Y = SCORES.round(3)
SIGNS = np.where(SCORES + RNG.standard_normal(N) > 0, 1.0, -1.0)
COUNTS = np.floor(np.exp(np.clip(SCORES / 2, -2, 2)) + RNG.random(N))
FREE = RNG.standard_normal((N, 2)).round(3)
OFFSET = RNG.standard_normal(N).round(3) / 4
WEIGHTS = np.concatenate([[0.0, 2.0], RNG.uniform(0.5, 1.5, N - 2).round(2)])


def library(name):
    """Return a module, or skip the test."""
    return pytest.importorskip(name, reason=f"{name} is not installed")


def in_torch(array):
    return library("torch").asarray(array)


def on_gpu(array):
    torch = library("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch sees no GPU")
    return torch.asarray(array, device="cuda")


def in_cupy(array):
    cupy = library("cupy")
    if not cupy.cuda.is_available():
        pytest.skip("CuPy sees no GPU")
    return cupy.asarray(array)


def on_another_device(array):
    """Return an array that NumPy cannot read: nothing of it can be copied to the host unnoticed."""
    strict = library("array_api_strict")
    return strict.asarray(array, device=strict.Device("device1"))


def in_jax(array):
    jax = library("jax")
    jax.config.update("jax_enable_x64", True)
    return import_module("jax.numpy").asarray(array)


def in_dask(array, rows=40):
    """Return an array in chunks of rows, of unequal heights."""
    chunks = (rows, 7, len(array) - rows - 7) if len(array) > rows + 7 else -1
    return library("dask.array").from_array(array, chunks=(chunks, *array.shape[1:]))


def in_sparse_chunks(array):
    """Return an array in chunks of rows that are sparse matrices."""
    return in_dask(array).map_blocks(sparse.csr_array) if array.ndim == 2 and array.shape[1] == D else in_dask(array)


def plain(array):
    return array


def stored_by_rows(array):
    return sparse.csr_array(array) if array.ndim == 2 and array.shape[1] == D else array


KINDS = {
    "numpy": plain,
    "sparse": stored_by_rows,
    "torch": in_torch,
    "gpu": on_gpu,
    "cupy": in_cupy,
    "another device": on_another_device,
    "jax": in_jax,
}
"""X, and all that comes with the samples, in each library."""

IN_CHUNKS = {"dense chunks": in_dask, "sparse chunks": in_sparse_chunks}

ELSEWHERE = ("torch", "gpu", "cupy", "another device", "jax")
