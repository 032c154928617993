"""The data of a problem, checked once and refused in sentences that name the argument and the remedy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomsieve.intake.arguments import as_floats, as_numbers
from atomsieve.losses import Loss
from atomsieve.typing import Array, Samples


def check_weights(sample_weight: Any, n: int) -> Array:
    """Return weights that sum to 1."""
    if sample_weight is None:
        return np.full(n, 1.0 / n)
    weights = as_floats(sample_weight, "sample_weight")
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},), got {weights.shape}.")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must hold finite numbers that are not negative.")
    largest = weights.max()
    if largest == 0:
        raise ValueError("sample_weight is zero for every sample; at least one must be positive.")
    scaled = weights / largest  # the sum of huge weights could overflow
    return np.asarray(scaled / scaled.sum())


def check_y(y: Any, n: int) -> NDArray[Any]:
    """Return the targets as an array of n numbers."""
    targets = as_numbers(y, "y")
    targets = as_floats(targets, "y") if targets.dtype.itemsize > 8 else targets
    if targets.shape != (n,):
        hint = " Pass np.ravel(y)." if targets.shape == (n, 1) else ""
        raise ValueError(f"y must have shape ({n},), one target per row of X, got {targets.shape}.{hint}")
    if not np.isfinite(targets).all():
        raise ValueError("y contains NaN or infinite values. Remove those samples first.")
    return targets


def check_targets(y: NDArray[Any], loss: Loss, *, intercept: bool) -> tuple[Samples, tuple[int, ...]]:
    """Return a copy of the targets and the trailing shape of the predictions; refuse what the loss does not take."""
    loss.check_targets(y)
    if intercept:
        loss.check_intercept(y)
    outputs = loss.outputs(y)
    return (y.astype(np.float64), ()) if outputs is None else (y.astype(np.int64), (outputs,))


def check_free(free: Any, n: int) -> Array:
    """Return a copy of the free columns as an n x k array, k = 0 where there are none."""
    if free is None:
        return np.zeros((n, 0))
    given = np.array(as_floats(free, "free"))
    given = given[:, None] if given.ndim == 1 else given
    if given.ndim != 2 or len(given) != n:
        raise ValueError(f"free must have shape ({n}, k), one row per row of X, got {given.shape}.")
    if not np.isfinite(given).all():
        raise ValueError("free contains NaN or infinite values.")
    return given
