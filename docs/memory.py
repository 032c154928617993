"""Measure what fits and proofs allocate beside X, for the table of docs/guide/large.md: `python docs/memory.py`."""

import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from atomsieve import CertifiedLasso, CriticalFraction

SAMPLES, FEATURES, SPARSE_FEATURES = 8000, 2000, 5000


def peaks(X: Any, y: np.ndarray) -> tuple[float, float]:
    """Return the most megabytes that were allocated at one time, by the fit and by the proof."""
    tracemalloc.start()
    model = CertifiedLasso(CriticalFraction(0.1)).fit(X, y)
    fit = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    assert model.certificate_.valid  # noqa: S101
    proof = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return fit / 1e6, proof / 1e6


def kinds(dense: np.ndarray, folder: Path) -> Iterator[tuple[str, Any, int]]:
    """Return the same numbers in many kinds, with a name and the bytes of each."""
    yield "float64, columns contiguous", np.asfortranarray(dense), dense.nbytes
    yield "float64, rows contiguous", dense, dense.nbytes
    yield "data frame of float64", pd.DataFrame(dense), dense.nbytes
    np.save(folder / "X.npy", dense)
    yield "memory map, rows contiguous", np.load(folder / "X.npy", mmap_mode="r"), dense.nbytes
    np.save(folder / "F.npy", np.asfortranarray(dense))
    yield "memory map, columns contiguous", np.load(folder / "F.npy", mmap_mode="r"), dense.nbytes
    for kind in (np.float32, np.int8, bool):
        other = (dense > 0).astype(kind)
        yield np.dtype(kind).name, other, other.nbytes


def main() -> None:
    rng = np.random.default_rng(0)
    dense = rng.standard_normal((SAMPLES, FEATURES))
    sparse = scipy.sparse.random(SAMPLES, SPARSE_FEATURES, 0.01, format="csr", random_state=0)
    size = sparse.data.nbytes + sparse.indices.nbytes + sparse.indptr.nbytes
    with tempfile.TemporaryDirectory() as folder:
        rows = [(*row, dense) for row in kinds(dense, Path(folder))]
        rows += [(kind, sparse.asformat(kind), size, sparse) for kind in ("csc", "csr", "coo")]
        for name, X, nbytes, of in rows:
            y = of[:, :5] @ np.ones(5) + 0.1 * rng.standard_normal(SAMPLES)
            fit, proof = peaks(X, y)
            print(f"{name:32s} {nbytes / 1e6:6.0f} MB   fit {fit:6.0f} MB   proof {proof:6.0f} MB")


if __name__ == "__main__":
    main()
