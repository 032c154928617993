"""What users pass, checked once and refused in sentences that name the argument and the remedy."""

from typing import Any

import numpy as np

from atomsieve.design import Design
from atomsieve.gauges import Gauge
from atomsieve.losses import Loss
from atomsieve.penalties import Penalty
from atomsieve.typing import Array, Index, Samples


def check_pieces(loss: Any, gauge: Any, penalty: Any) -> None:
    """Refuse pieces of the wrong kind (a class instead of an instance is the usual slip)."""
    for name, piece, kind in (("loss", loss, Loss), ("gauge", gauge, Gauge), ("penalty", penalty, Penalty)):
        if isinstance(piece, type) and issubclass(piece, kind):
            raise TypeError(f"{name} must be an instance, not a class: write {piece.__name__}(...).")
        if not isinstance(piece, kind):
            raise TypeError(f"{name} must be an atomsieve {kind.__name__}, got {type(piece).__name__}.")


def check_weights(sample_weight: Any, n: int) -> Array:
    """Return weights that sum to 1."""
    if sample_weight is None:
        return np.full(n, 1.0 / n)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},), got {weights.shape}.")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must hold finite numbers that are not negative.")
    largest = weights.max()
    if largest == 0:
        raise ValueError("sample_weight is zero for every sample; at least one must be positive.")
    scaled = weights / largest  # the sum of huge weights could overflow
    return np.asarray(scaled / scaled.sum())


def check_y(y: Any, weights: Array, loss: Loss, *, intercept: bool) -> tuple[Samples, tuple[int, ...]]:
    """Return the targets and the trailing shape of the predictions; refuse what the loss is not defined for.

    Samples of weight 0 are left out: their targets do not count, not even as a class of their own.
    """
    targets = np.asarray(y)
    if targets.dtype.kind not in "fiub":
        raise ValueError(f"y must hold real numbers, got dtype {targets.dtype}. Encode labels as numbers first.")
    if targets.shape != weights.shape:
        hint = " Pass y.ravel()." if targets.shape == (len(weights), 1) else ""
        raise ValueError(f"y must have shape ({len(weights)},), one target per row of X, got {targets.shape}.{hint}")
    if not np.isfinite(targets).all():
        raise ValueError("y contains NaN or infinite values. Remove those samples first.")
    counted = targets[weights > 0]
    loss.check_targets(counted)
    if intercept:
        loss.check_intercept(counted)
    outputs = loss.outputs(counted)
    if outputs is None:
        return targets.astype(np.float64), ()
    return targets.astype(np.int64), (outputs,)


def free_columns(design: Design, rows: Index, free: Any, *, intercept: bool) -> tuple[Samples | None, int]:
    """Return B = [1, free, unpenalised columns of A] and the number of columns of `free`; None where B is empty."""
    n = design.shape[0]
    parts = [np.ones((n, 1))] if intercept else []
    count = 0
    if free is not None:
        given = np.asarray(free, dtype=np.float64)
        given = given[:, None] if given.ndim == 1 else given
        if given.ndim != 2 or len(given) != n:
            raise ValueError(f"free must have shape ({n}, k), one row per row of X, got {given.shape}.")
        if not np.isfinite(given).all():
            raise ValueError("free contains NaN or infinite values.")
        count = given.shape[1]
        parts.append(given)
    if len(rows):
        parts.append(np.asarray(design.columns(rows)))
    return (np.hstack(parts) if parts and sum(part.shape[1] for part in parts) else None), count
