"""An orthonormal basis of the span of a few columns, right to the last digits where they are nearly dependent.

A column `1e11 + h` beside a constant still tells h, to five digits. Plain orthogonalisation loses them, because it
subtracts rounded multiples. Here a nearly dependent column is reduced in twice the precision, by multiples of the
other columns themselves, until no more of it is along them.
"""

import numpy as np
from scipy import linalg

from atomsieve.numerics.enclosures import Enclosure, dots
from atomsieve.typing import Array

NEARLY = 1e-4
"""Part of a column that is new, below which it is found in twice the precision."""

NOTHING = 2.0**-98
"""Part of a column that is new, below which the column is a combination of others as far as anybody can tell."""

REDUCTIONS = 20
"""Most steps of a reduction; each gains as many digits as the basis so far has right."""


def orthonormal(columns: Array, weights: Array) -> tuple[Array, Array]:
    """Return `basis` and `transform` with `basis = columns @ transform` and `basis' diag(weights) basis = I`.

    Columns that depend on others have zeros in the transform.
    """
    scale = _powers_of_two(np.abs(columns).max(axis=0, initial=0.0))
    scaled, root = columns * scale, np.sqrt(weights)[:, None]
    lengths = np.sqrt(np.sum((root * scaled) ** 2, axis=0))
    unit = _powers_of_two(lengths)
    scaled, scale = scaled * unit, scale * unit
    if len(lengths) == 1 and lengths[0] > 0:  # most often a constant alone
        length = lengths * unit
        return scaled / length, (scale / length)[:, None]
    _, triangle, order = linalg.qr(root * scaled, mode="economic", pivoting=True)
    sure = int(np.count_nonzero(np.abs(np.diag(triangle)) > NEARLY))
    transform = np.zeros((columns.shape[1], sure))
    transform[order[:sure]] = linalg.solve_triangular(triangle[:sure, :sure], np.eye(sure))
    basis, transform = _straightened(scaled @ transform, transform, root)
    for j in order[sure:]:
        if basis.shape[1] == len(columns):  # there are no other directions
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
    """Return powers of two near one over each size: scaling by them rounds nothing."""
    return np.asarray(2.0 ** np.clip(-np.round(np.log2(np.where(sizes > 0, sizes, 1.0))), -1000, 1000))


def _straightened(basis: Array, transform: Array, root: Array) -> tuple[Array, Array]:
    """Return a basis that is orthonormal up to rounding, from one that nearly is."""
    if not basis.shape[1]:
        return basis, transform
    _, triangle = linalg.qr(root * basis, mode="economic")
    straight = linalg.solve_triangular(triangle, np.eye(len(triangle)))
    return basis @ straight, transform @ straight


def _reduced(columns: Array, j: int, basis: Array, transform: Array, weights: Array) -> tuple[Array, Array]:
    """Return what is new in column j beside a basis, and its shares of all columns.

    The shares are two floats each, a sum and what its rounding left over.
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
