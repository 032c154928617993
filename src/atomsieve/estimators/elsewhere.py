"""X that is not in memory here: an array of another library or of dask, or a file, which stay where they are.

Estimators need little of it: products with a few columns, some of the rows, and the spread of each feature. Targets,
weights, offsets and predictions are as long as the samples and live on the host; with scikit-learn's array API dispatch
predictions go back to where X is.
"""

from typing import Any

import array_api_compat
import numpy as np
from sklearn import get_config
from sklearn.utils.validation import _check_feature_names, _check_n_features

from atomsieve.design import Parquet, as_design, file_of, is_stored
from atomsieve.intake.arguments import is_lazy_frame, unframed
from atomsieve.numerics.namespace import array_namespace, is_foreign, like, on_host, places_in
from atomsieve.typing import Array, Index


def is_elsewhere(X: Any) -> bool:
    """Return whether X is an array of another library, a data frame of dask, or a file that is read in pieces."""
    return is_foreign(X) or is_lazy_frame(X) or is_read(X)


def is_read(X: Any) -> bool:
    """Return whether X is a table in Parquet, or an array of Zarr or HDF5."""
    return isinstance(X, Parquet) or is_stored(X)


def at_hand(value: Any) -> Any:
    """Return what is as long as the samples on the host."""
    value = unframed(value)
    return on_host(value) if is_foreign(value) else value


def checked(model: Any, X: Any, *, reset: bool) -> Any:
    """Return X as an array of its library; its width and names are those of the last fit, or are remembered."""
    named = X._meta if is_lazy_frame(X) else X.nothing if isinstance(X, Parquet) else X
    _check_feature_names(model, named, reset=reset)
    X = unframed(X)
    shape = tuple(X.shape)
    if len(shape) != 2:
        raise ValueError(f"X must have two dimensions (samples x features), got shape {shape}.")
    _check_n_features(model, X, reset=reset)
    return X


def rows_of(X: Any, samples: Index) -> Any:
    """Return some of the rows; those of a file are read into memory, in one pass over it."""
    if is_read(X):
        return read_rows(X, samples)
    if isinstance(X, np.ndarray) and X.flags.f_contiguous and samples.dtype != bool:
        return X.T.take(samples, axis=1).T  # stored by columns, too, which solvers then use as they are
    if not is_foreign(X) or array_api_compat.is_dask_array(X):
        return X[samples]
    return array_namespace(X).take(X, places_in(samples, X), axis=0)


def read_rows(X: Any, samples: Index) -> Any:
    """Return some of the rows of a file as an array of NumPy."""
    file: Any = file_of(X)
    rows, back = np.unique(samples, return_inverse=True)
    found = np.empty((len(rows), X.shape[1]), file.dtype)
    for places, block in file.rows(1):
        start, end = np.searchsorted(rows, (places.start, places.stop))
        found[start:end] = block[rows[start:end] - places.start]
    return found[back]


def split(X: Any) -> Any:
    """Return what splitters see in the place of X: where it is a table in Parquet, as many rows without a column."""
    return np.empty((X.shape[0], 0)) if isinstance(X, Parquet) else X


def image(X: Any, coefs: Array) -> Array:
    """Return the products of X with columns of coefficients, on the host."""
    used = np.flatnonzero(coefs.any(axis=1))
    if not len(used):
        return np.zeros((X.shape[0], coefs.shape[1]))
    return np.asarray(on_host(as_design(X).matvec(np.ascontiguousarray(coefs[used]), used)))


def deviations(X: Any, weights: Array | None) -> Array:
    """Return the standard deviation of each feature, 1 where it is constant, by scikit-learn's rule for that."""
    design: Any = as_design(X)
    hosted, n, eps = getattr(design, "hosted", design), X.shape[0], float(np.finfo(np.float64).eps)
    weights = np.ones(n) if weights is None else weights
    total = float(weights.sum())
    means = hosted.rmatvec(weights) / total
    variances = hosted.squares_about(means, weights) / total
    constant = variances <= n * eps * variances + (n * means * eps) ** 2
    return np.where(constant, 1.0, np.sqrt(variances))


def in_library_of(X: Any, answers: Array) -> Any:
    """Return numbers of the host where X is, if scikit-learn's array API dispatch asks for that."""
    lazy = is_lazy_frame(X) or array_api_compat.is_dask_array(X)
    if not get_config()["array_api_dispatch"] or lazy or not is_foreign(X) or answers.dtype.kind not in "fiub":
        return answers
    return like(answers, X)
