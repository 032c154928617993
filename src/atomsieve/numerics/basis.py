"""An orthonormal basis of the span of a few columns, accurate to the last digits even if they are nearly dependent.

The column `1e11 + h` still determines h to five digits when a constant column is removed from it. Plain
orthogonalisation loses these digits, because it subtracts rounded multiples. Here a nearly dependent column is reduced
in twice the precision: multiples of the other columns themselves are subtracted until the rest is orthogonal to them.
"""

import numpy as np
from scipy import linalg

from atomsieve.numerics.enclosures import Enclosure, dots
from atomsieve.typing import Array

NEARLY = 1e-4
"""Relative size of the new part of a column below which it is computed in twice the precision."""

NOTHING = 2.0**-98
"""Relative size of the new part of a column below which the column counts as a combination of the others."""

REDUCTIONS = 20
"""Largest number of steps of a reduction; each step gains as many digits as the current basis has correct."""


def orthonormal(columns: Array, weights: Array) -> tuple[Array, Array]:
    """Return `basis` and `transform` with `basis = columns @ transform` and `basis' diag(weights) basis = I`.

    Columns that depend on others have zeros in the transform.
    """
    scale = _powers_of_two(np.abs(columns).max(axis=0, initial=0.0))
    scaled, root = columns * scale, np.sqrt(weights)[:, None]
    lengths = np.sqrt(np.sum((root * scaled) ** 2, axis=0))
    unit = _powers_of_two(lengths)
    scaled, scale = scaled * unit, scale * unit
    if len(lengths) == 1 and lengths[0] > 0:  # the most common case: only a constant
        length = lengths * unit
        return scaled / length, (scale / length)[:, None]
    _, triangle, order = linalg.qr(root * scaled, mode="economic", pivoting=True)
    sure = int(np.count_nonzero(np.abs(np.diag(triangle)) > NEARLY))
    transform = np.zeros((columns.shape[1], sure))
    if sure:  # SciPy before 1.14 refuses an empty system
        transform[order[:sure]] = linalg.solve_triangular(triangle[:sure, :sure], np.eye(sure))
    basis, transform = _straightened(scaled @ transform, transform, root)
    for j in order[sure:]:
        if basis.shape[1] == len(columns):  # the basis spans the whole space already
            break
        rest, shares = _reduced(scaled, int(j), basis, transform, weights)
        length = float(np.sqrt(np.sum(weights * rest * rest)))
        along = float(np.sqrt(np.sum((basis.T @ (weights * rest)) ** 2)))
        if length > NOTHING and along < length / 2:  # else rounding is all that is left
            basis, transform = np.column_stack([basis, rest / length]), np.column_stack([transform, shares / length])
            basis, transform = _straightened(basis, transform, root)
    return basis, transform * scale[:, None]


def combination(columns: Array, shares: Array) -> Array:
    """Return `columns @ shares`, summed as if in twice the precision."""
    return np.asarray(dots(columns.T, Enclosure.exact(shares)).mid)


def _powers_of_two(sizes: Array) -> Array:
    """Return powers of two near `1 / size`; scaling by a power of two causes no rounding."""
    return np.asarray(2.0 ** np.clip(-np.round(np.log2(np.where(sizes > 0, sizes, 1.0))), -1000, 1000))


def _straightened(basis: Array, transform: Array, root: Array) -> tuple[Array, Array]:
    """Return a basis that is orthonormal up to rounding, from a nearly orthonormal one."""
    if not basis.shape[1]:
        return basis, transform
    _, triangle = linalg.qr(root * basis, mode="economic")
    straight = linalg.solve_triangular(triangle, np.eye(len(triangle)))
    return basis @ straight, transform @ straight


def _reduced(columns: Array, j: int, basis: Array, transform: Array, weights: Array) -> tuple[Array, Array]:
    """Return the part of column j that is orthogonal to a basis, and its coefficients in all columns.

    Each coefficient is kept as two floats: a sum, and the rounding error of that sum.
    """
    shares, small = np.zeros(columns.shape[1]), np.zeros(columns.shape[1])
    shares[j] = 1.0
    rest, length = columns[:, j], np.inf
    for _ in range(REDUCTIONS):
        now = float(np.sqrt(np.sum(weights * rest * rest)))
        if now <= NOTHING or not now < length / 2:
            break
        length = now
        change = -transform @ (basis.T @ (weights * rest))
        total = shares + change
        moved = total - shares
        small = small + ((shares - (total - moved)) + (change - moved))
        shares = total
        rest = combination(np.hstack([columns, columns]), np.concatenate([shares, small]))
    return rest, shares + small
