"""Upper bounds of the diagonal of an inverse, proven although the inverse was computed in floating point.

With R close to the inverse of G and `alpha = norm(I - R G) < 1` proven, `inv(G) - R = inv(I - E) E R` with `E = I - R G`,
so that `abs(inv(G) - R)_jj <= alpha / (1 - alpha) * max over i of abs(R_ij)`.
"""

import numpy as np

from atomsieve.balls import LEAST, Ball, gamma, up
from atomsieve.typing import Array

MOST = 4000
"""Columns beyond which no inverse is attempted."""


def inverse_diagonal(columns: Ball, weights: Array) -> Array | None:
    """Return upper bounds of the diagonal of `inv(C' diag(w) C)` for weights that are floats; None where none is proven.

    The columns are known up to a radius.
    """
    n, k = columns.mid.shape
    if not 0 < k <= min(n, MOST):
        return None
    with np.errstate(all="ignore"):
        sizes = columns.size
        squares = up((sizes * sizes).T @ weights * (1 + gamma(n + 4)))
        lengths = np.sqrt(squares)
        if not (np.isfinite(lengths).all() and (lengths > 1e-140).all()):
            return None
        scale = 2.0 ** -np.round(np.log2(lengths))
        scaled = columns.mid * scale
        gram = scaled.T @ (weights[:, None] * scaled)
        if not np.isfinite(gram).all():
            return None
        # columns of length at most 2^0.5 and a little: every entry of the Gram matrix is off by at most this
        largest = up(lengths * scale).max()
        error = up(largest * largest * gamma(n + 6) + 4 * n * LEAST)
        if columns.rad.any():
            blur = np.sqrt(up((columns.rad**2).T @ weights * (1 + gamma(n + 4)))) * scale
            error = up(error + 2 * largest * blur.max() + blur.max() ** 2)
        try:
            inverse = np.linalg.inv(gram)
        except np.linalg.LinAlgError:
            return None
        inverse = (inverse + inverse.T) / 2
        rows = np.abs(inverse).sum(axis=1) * (1 + gamma(k + 2))
        residual = np.abs(np.eye(k) - inverse @ gram).sum(axis=1) * (1 + gamma(k + 4))
        alpha = up((residual + k * rows * (gamma(k + 2) * np.abs(gram).max() + error)).max() + k * k * LEAST)
        if not alpha < 0.5:
            return None
        diagonal = inverse.diagonal() + up(alpha / (1 - alpha) * (1 + 2.0**-50) * np.abs(inverse).max(axis=0))
        return np.asarray(up(np.maximum(diagonal, 0.0) * (1 + 2.0**-50)) * scale * scale)
