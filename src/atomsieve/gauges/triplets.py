"""Matrices by their singular triplets."""

from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, svds

from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array

WHOLE = 400
"""Rows or columns, whichever are fewer, up to which all singular values are computed where a few are asked for."""

RESTARTS = 20
"""Restarts of Lanczos' method after which they are computed anyway; a restart takes about twenty products."""


class Triplets(NamedTuple):
    """Matrices `left diag(values) right'`; values are in falling order."""

    left: Array
    values: Array
    right: Array

    @classmethod
    def nothing(cls, form: tuple[int, int]) -> "Triplets":
        """Return the matrix 0 of a form."""
        return cls(np.zeros((form[0], 0)), np.zeros(0), np.zeros((form[1], 0)))

    @property
    def whole(self) -> Array:
        """The matrix."""
        return np.asarray((self.left * self.values) @ self.right.T)

    def times(self, factor: float) -> "Triplets":
        """Return the matrix times a positive number."""
        return Triplets(self.left, factor * self.values, self.right)

    def towards(self, other: "Triplets", part: float) -> "Triplets":
        """Return the matrix on the way to another one, without forming either."""
        left, first = np.linalg.qr(np.hstack([self.left, other.left]))
        right, second = np.linalg.qr(np.hstack([self.right, other.right]))
        weights = np.concatenate([(1 - part) * self.values, part * other.values])
        found = decomposed((first * weights) @ second.T)
        rank = int(np.count_nonzero(found.values > 4 * EPS * found.values.max(initial=0.0)))
        return Triplets(left @ found.left[:, :rank], found.values[:rank], right @ found.right[:, :rank])


def decomposed(matrix: Array, count: int | None = None) -> Triplets:
    """Return the singular triplets of a matrix, or so many of the largest."""
    rows, columns = matrix.shape
    if not np.isfinite(matrix).all():  # far away from the optimum, where losses overflow
        nothing = np.full(1, np.nan)
        return Triplets(np.zeros((rows, 1)), nothing, np.zeros((columns, 1)))
    if not matrix.any():
        count = min(rows, columns) if count is None else count
        return Triplets(np.eye(rows, count), np.zeros(count), np.eye(columns, count))
    if count is None or min(rows, columns) <= max(WHOLE, 3 * count):
        left, values, right = np.linalg.svd(matrix, full_matrices=False)
        return Triplets(left[:, :count], values[:count], right.T[:, :count])
    start = np.random.default_rng(0).normal(size=min(rows, columns))
    try:
        left, values, right = svds(matrix, k=count, v0=start, maxiter=RESTARTS)
    except ArpackNoConvergence:  # many values next to each other, as at an optimum
        if count == 1:
            return top_pair(matrix, np.inf)
        left, values, right = np.linalg.svd(matrix, full_matrices=False)
    order = np.argsort(-values)[:count]
    return Triplets(left[:, order], np.asarray(values[order], dtype=np.float64), right[order].T)


def top_pair(matrix: Array, whole: float = WHOLE) -> Triplets:
    """Return the largest singular value and its vectors, by the Gram matrix of a smaller side up to so many entries."""
    rows, columns = matrix.shape
    largest = float(np.abs(matrix).max(initial=0.0))
    if not 0 < largest < np.inf or min(rows, columns) > whole:
        return decomposed(matrix, 1)
    scaled = matrix / largest
    tall = scaled if rows >= columns else scaled.T
    vector = linalg.eigh(tall.T @ tall, subset_by_index=[tall.shape[1] - 1] * 2)[1]
    other = tall @ vector
    size = float(np.linalg.norm(other))
    other /= size
    left, right = (other, vector) if rows >= columns else (vector, other)
    return Triplets(left, np.array([largest * size]), right)


def singular_values(matrix: Array) -> Array:
    """Return all singular values of a matrix, in falling order; NaN where it is not finite."""
    if not np.isfinite(matrix).all():
        return np.full(1, np.nan)
    return np.asarray(np.linalg.svd(matrix, compute_uv=False))
