"""Data for the estimators: small, built in or generated."""

import numpy as np
from scipy.sparse import csc_array, csr_array, random_array
from sklearn import datasets
from sklearn.preprocessing import scale


def _standardised(load):
    X, y = load(return_X_y=True)
    return scale(X), y.astype(float)


def _rng():
    return np.random.default_rng(0)


def _tall():
    X = _rng().standard_normal((200, 15))
    return X, X[:, :4].sum(axis=1) + 0.5 * _rng().standard_normal(200)


def _wide():
    rng = _rng()
    X = rng.standard_normal((40, 120)) + rng.standard_normal((40, 1))
    return X, X[:, :5] @ np.arange(1.0, 6.0) + rng.standard_normal(40)


def _sparse(kind):
    rng = _rng()
    X = kind(random_array((150, 60), density=0.1, random_state=rng).toarray())
    return X, X @ np.where(np.arange(60) < 5, 2.0, 0.0) + 0.1 * rng.standard_normal(150)


def _offset():
    X, y = _tall()
    return X + 100.0, y - 500.0


def _scales():
    X, y = _tall()
    return X * np.geomspace(1e-3, 1e3, X.shape[1]), y


DATA = {
    "diabetes": lambda: datasets.load_diabetes(return_X_y=True),
    "breast cancer": lambda: (
        scale(datasets.load_breast_cancer().data),
        datasets.load_breast_cancer().target.astype(float),
    ),
    "wine": lambda: _standardised(datasets.load_wine),
    "iris": lambda: (datasets.load_iris().data, datasets.load_iris().target.astype(float)),
    "digits": lambda: (datasets.load_digits().data[:300] / 16, datasets.load_digits().target[:300].astype(float)),
    "tall": _tall,
    "wide": _wide,
    "sparse rows": lambda: _sparse(csr_array),
    "sparse columns": lambda: _sparse(csc_array),
    "offset": _offset,
    "scales": _scales,
}


def labels_of(y):
    """Return two classes that are about equally large."""
    return np.where(y > y.mean(), "yes", "no")
