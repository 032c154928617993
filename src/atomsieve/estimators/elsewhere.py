"""X that is not on the host: an array of another library or of dask, which stays where it is.

Estimators need little of it: products with a few columns, some of the rows, and the spread of each feature. Targets,
weights, offsets and predictions are as long as the samples and live on the host; with scikit-learn's array API dispatch
predictions go back to where X is.
"""

from typing import Any

import array_api_compat
import numpy as np
from sklearn import get_config
from sklearn.utils.validation import _check_feature_names, _check_n_features

from atomsieve.design import as_design
from atomsieve.intake.arguments import is_lazy_frame, unframed
from atomsieve.numerics.namespace import array_namespace, is_foreign, like, on_host, places_in
from atomsieve.typing import Array, Index


def is_elsewhere(X: Any) -> bool:
    """Return whether X is an array of another library, or a data frame of dask."""
    return is_foreign(X) or is_lazy_frame(X)


def at_hand(value: Any) -> Any:
    """Return what is as long as the samples on the host."""
    value = unframed(value)
    return on_host(value) if is_foreign(value) else value


def checked(model: Any, X: Any, *, reset: bool) -> Any:
    """Return X as an array of its library; its width and names are those of the last fit, or are remembered."""
    _check_feature_names(model, X._meta if is_lazy_frame(X) else X, reset=reset)
    X = unframed(X)
    shape = tuple(X.shape)
    if len(shape) != 2:
        raise ValueError(f"X must have two dimensions (samples x features), got shape {shape}.")
    _check_n_features(model, X, reset=reset)
    return X


def rows_of(X: Any, samples: Index) -> Any:
    """Return some of the rows."""
    if not is_foreign(X) or array_api_compat.is_dask_array(X):
        return X[samples]
    return array_namespace(X).take(X, places_in(samples, X), axis=0)


def image(X: Any, coefs: Array) -> Array:
    """Return the products of X with columns of coefficients, on the host."""
    used = np.flatnonzero(coefs.any(axis=1))
    if not len(used):
        return np.zeros((X.shape[0], coefs.shape[1]))
    return np.asarray(on_host(as_design(X).matvec(np.ascontiguousarray(coefs[used]), used)))


def deviations(X: Any, weights: Array | None) -> Array:
    """Return the standard deviation of each feature, 1 where it is constant, by scikit-learn's rule for that."""
    design: Any = as_design(X)
    hosted, n, eps = design.hosted, X.shape[0], float(np.finfo(np.float64).eps)
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
