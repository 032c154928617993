"""Simulated designs and responses."""

from typing import Any

import numpy as np
from scipy import sparse

from benchmark_utils.data import by_columns, standardise


def correlated_columns(rng: np.random.Generator, n: int, d: int, rho: float = 0.5) -> np.ndarray:
    """Return standardised Gaussian columns, an autoregression from left to right with coefficient rho."""
    X = np.asfortranarray(rng.standard_normal((d, n)).T)
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return standardise(X)


def scattered_columns(rng: np.random.Generator, n: int, d: int, density: float) -> sparse.csc_matrix:
    """Return sparse columns with Gaussian entries at random places; columns without any are dropped."""
    return by_columns(sparse.random(n, d, density, format="csc", random_state=rng, data_rvs=rng.standard_normal))


def respond(rng: np.random.Generator, X: Any, support: np.ndarray) -> dict[str, np.ndarray]:
    """Return targets with signs of equal size on the support and noise of a tenth of their variance, and classes."""
    w = np.zeros(X.shape[1])
    w[support] = rng.choice([-1.0, 1.0], len(support))
    signal = X @ w
    y = signal + np.sqrt(0.1) * np.std(signal) * rng.standard_normal(X.shape[0])
    return {"y": y, "labels": np.where(y > 0, 1.0, -1.0)}
