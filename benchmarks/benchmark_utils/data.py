"""Reading and preparing data: one convention for every set.

Dense columns are centred and scaled to variance 1 and stored by columns (float64, Fortran order). Sparse columns are
left as they are (CSC, float64). Columns that are constant (dense) or zero (sparse) are dropped: some solvers divide by
norms.
"""

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from atomsieve.datasets import data_folder
from benchmark_utils.cache import memory


def missing(*names: str) -> str | None:
    """Return why a data set cannot be had, None where all its files are there."""
    folder = data_folder()
    if folder is None:
        return "ATOMSIEVE_DATA names no folder"
    absent = [name for name in names if not (folder / name).is_file()]
    return f"{', '.join(absent)} is not in the folder that ATOMSIEVE_DATA names" if absent else None


def nothing(reason: str) -> dict[str, Any]:
    """Return what `get_data` of a set that is not there gives; the objective skips it with the reason."""
    return {"X": None, "y": None, "reason": reason}


def standardise(X: Any) -> np.ndarray:
    """Return the columns that vary, with mean 0 and variance 1, in Fortran order."""
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float)
    X = X - X.mean(axis=0)
    deviation = X.std(axis=0)
    varies = deviation > 1e-12 * np.abs(X).max()
    return np.asfortranarray(X[:, varies] / deviation[varies])


def by_columns(X: Any) -> Any:
    """Return the columns that are not zero, unscaled: CSC or Fortran order."""
    if not sparse.issparse(X):
        return np.asfortranarray(X[:, np.any(X != 0, axis=0)], dtype=float)
    X = sparse.csc_matrix(X, dtype=float)
    X.eliminate_zeros()
    X = X[:, np.diff(X.indptr) > 0]
    X.sort_indices()
    return X


def unit_rows(X: Any) -> Any:
    """Return a sparse matrix with rows of length 1."""
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sparse.diags(1 / np.where(lengths > 0, lengths, 1)) @ X


@memory.cache
def _parse_svmlight(path: Path) -> tuple[Any, np.ndarray]:
    return load_svmlight_file(str(path))


@memory.cache
def _parse_csv(path: Path) -> tuple[np.ndarray, list[str]]:
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    header = np.loadtxt(path, delimiter=",", max_rows=1, dtype=str)
    return table, [str(name).strip('"') for name in header]


def read_svmlight(name: str) -> tuple[Any, np.ndarray]:
    """Return X (CSR) and y of a LIBSVM text in the data folder."""
    folder = data_folder()
    assert folder is not None, "ask missing() first"  # noqa: S101
    return _parse_svmlight(folder / name)


def read_csv(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return X and the column y of a comma-separated table with a header."""
    folder = data_folder()
    assert folder is not None, "ask missing() first"  # noqa: S101
    table, header = _parse_csv(folder / name)
    target = header.index("y")
    return np.delete(table, target, axis=1), table[:, target]
