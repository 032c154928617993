"""Gauges of a matrix by its singular values: all coefficients are one block of price 1.

Every bound is a proof that a matrix of balls has no negative eigenvalue: Gaussian elimination without exchange has
pivots that are positive, whatever the numbers in the balls are. It is done by halves.
"""

from typing import Any

import numpy as np
from flint import arb, arb_mat

from ..balls import root
from ..doubles import DOWN
from ..verdict import Refused
from .gauge import Gauge

NEAR = (2.0**-51, 2.0**-47, 2.0**-40, 2.0**-30, 2.0**-20)
"""Relative distances from an eigenvalue that was found in doubles at which upper bounds are tried."""

CUTS = (2.0**-45, 2.0**-52)
"""Parts of the largest singular value of the point below which others are left to the rest. Those near rounding are
known to few digits, which from above counts squared; from below they are of no use."""

SMALL = 16
"""Rows up to which elimination entry by entry is faster than by halves."""

STEPS = 3
"""Steps of Newton and Schulz to a matrix W of singular values 1: each squares what they are off, 1e-2 at most."""


class Nuclear(Gauge):
    """The sum of the singular values; the dual norm is the largest one.

    `norm(L R') <= (|L|^2 + |R|^2) / 2` in Frobenius norms, for any factors; the norm of what they leave of x is at most
    its Frobenius norm times the root of the smaller side. From below, `<x, W>` for any W over its largest singular
    value. Factors and W are those that attain the norm, up to rounding.
    """

    euclidean = False

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        if len(self.form) != 2:
            raise Refused(f"{self.kind} measures matrices, and x has the shape {self.form}")

    def in_orthant(self) -> Gauge:
        raise Refused(f"{self.kind} depends on signs, and no Orthant can be around it")

    def table(self, values: dict[int, arb]) -> arb_mat:
        """Return entries as a matrix with at least as many rows as columns."""
        rows, columns = self.form
        entries = [values.get(j, arb(0)) for j in range(rows * columns)]
        matrix = arb_mat(rows, columns, entries)
        return matrix if rows >= columns else matrix.transpose()

    def norm_of(self, part: dict[int, arb], block: int) -> arb:  # noqa: ARG002
        x = self.table(part)
        _, values, vectors = np.linalg.svd(in_doubles(x), full_matrices=False)
        ranks = [int(np.count_nonzero(values > cut * values[0])) for cut in CUTS]
        if not ranks[0]:
            raise Refused("the singular values of the point cannot be bounded")
        bounds = [self._norm_above(x, values[:rank], exactly(vectors[:rank].T)) for rank in sorted(set(ranks))]
        above = min(bounds, key=lambda bound: float(bound.mid()))
        basis, roots = exactly(vectors[: ranks[0]].T), np.sqrt(values[: ranks[0]])
        turned = x * basis * exactly(np.diag(1 / roots)) * exactly(np.diag(1 / roots)) * basis.transpose()
        for _ in range(STEPS):
            turned = (3 * turned - turned * (turned.transpose() * turned)) / 2
        length = root(highest_eigenvalue(turned.transpose() * turned))
        along = (x.transpose() * turned).trace()
        return arb((along / arb(length.upper())).lower()).union(arb(above.upper()))

    def _norm_above(self, x: arb_mat, values: np.ndarray, basis: arb_mat) -> arb:
        """Return an upper bound of the norm, by the part of x along a basis and by the rest."""
        roots = np.sqrt(values)
        left = x * basis * exactly(np.diag(1 / roots))
        right = basis * (basis.transpose() * basis).inv() * exactly(np.diag(roots))
        rest = x - left * right.transpose()
        return (squares(left) + squares(right)) / 2 + root(squares(rest) * min(self.form))

    def dual_norm(self, values: list[arb]) -> arb:
        z = self.table(dict(enumerate(values)))
        return root(highest_eigenvalue(z.transpose() * z))

    def score(self, block: int, z: Any) -> arb:
        return self.dual_norm([z[j] for j in self.entries(block)]) / self.prices[block]

    def at_most(self, z: list[arb], limit: arb, rank: int) -> bool:
        """Return whether at most so many singular values of z reach a positive limit.

        The form `G - limit^2 I` is negative on the span of as many vectors as have smaller values; any vectors do.
        """
        table = self.table(dict(enumerate(z)))
        _, vectors = eigen(table.transpose() * table)
        left = vectors[:, : vectors.shape[1] - rank]
        if not left.size:
            return True
        image = table * exactly(left)
        flat = exactly(left)
        square = arb(limit.lower()) * arb(limit.lower())
        return positive_definite(flat.transpose() * flat * square - image.transpose() * image)

    def away(self, z: list[arb], bases: Any, value: arb, moved: arb) -> arb:
        """Return the sine by which vectors of singular values not below `value` may be off two subspaces.

        Of `rest = z - left C right'` no singular value exceeds `beyond`, and no product with a vector of length 1 in
        the subspaces `leak`: then `value sine <= leak + beyond sine + moved`, for every matrix within `moved` of z.
        """
        table, (left, right) = self.table(dict(enumerate(z))), map(exact, bases)
        if self.form[0] < self.form[1]:
            left, right = right, left
        rest = table - left * (left.transpose() * table * right) * right.transpose()
        beyond = root(highest_eigenvalue(rest.transpose() * rest))
        return largest_part([leak(rest, right), leak(rest.transpose(), left)], beyond, value, moved)

    def dual_norms_below(self, sizes: np.ndarray) -> np.ndarray:
        return np.array([float(sizes.max(initial=0.0)) * DOWN])  # no entry exceeds the largest singular value


class PSDTrace(Nuclear):
    """The trace of a symmetric x without negative eigenvalues; the score is the largest eigenvalue of z, or 0.

    z counts by its symmetric part. That x has no negative eigenvalue is proven by elimination.
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        if self.form[0] != self.form[1]:
            raise Refused(f"{self.kind} measures square matrices, and x has the shape {self.form}")

    def norm_of(self, part: dict[int, arb], block: int) -> arb:  # noqa: ARG002
        x = self.table(part)
        alike = all(a == b for a, b in zip(x.entries(), x.transpose().entries()))
        if not (alike and positive_definite(x)):
            raise Refused("the point is not proven to be symmetric without negative eigenvalues")
        return x.trace()

    def dual_norm(self, values: list[arb]) -> arb:
        return highest_eigenvalue(self._even(values))

    def at_most(self, z: list[arb], limit: arb, rank: int) -> bool:
        even = self._even(z)
        _, vectors = eigen(even)
        left = vectors[:, : vectors.shape[1] - rank]
        if not left.size:
            return True
        flat = exactly(left)
        return positive_definite(flat.transpose() * flat * arb(limit.lower()) - flat.transpose() * even * flat)

    def away(self, z: list[arb], bases: Any, value: arb, moved: arb) -> arb:
        sines = []
        for basis in map(exact, bases):
            even = self._even(z)
            rest = even - basis * (basis.transpose() * even * basis) * basis.transpose()
            sines.append(largest_part([leak(rest, basis)], highest_eigenvalue(rest), value, moved))
        return sines[0].max(sines[1])

    def _even(self, values: list[arb]) -> arb_mat:
        """Return the symmetric part of a matrix."""
        table = self.table(dict(enumerate(values)))
        return (table + table.transpose()) / 2

    def dual_norms_below(self, sizes: np.ndarray) -> np.ndarray:
        return np.zeros(len(self.priced)) if sizes.size else sizes


def exact(rows: list[list[float]]) -> arb_mat:
    """Return a matrix of doubles that a file states."""
    return arb_mat([[arb(v) for v in row] for row in rows])


def leak(rest: arb_mat, basis: arb_mat) -> arb:
    """Return a bound of the length of `rest v` for v of length 1 in the span of a basis, nearly orthonormal."""
    gram = basis.transpose() * basis
    off = root(squares(gram - exactly(np.eye(gram.nrows()))))
    if not off < 1:
        raise Refused("a basis of a subspace is not nearly orthonormal")
    return root(squares(rest * basis)) / root(1 - off)


def largest_part(leaks: list[arb], beyond: arb, value: arb, moved: arb) -> arb:
    """Return `(leak + moved) / (value - beyond)`."""
    if not value > beyond:
        raise Refused("the singular values of z beyond the subspaces are not proven to be below the slope")
    worst = leaks[0]
    for other in leaks[1:]:
        worst = worst.max(other)
    return (worst + moved) / (value - beyond)


def squares(matrix: arb_mat) -> arb:
    """Return the square of the Frobenius norm."""
    return sum((v * v for v in matrix.entries()), arb(0))


def exactly(matrix: np.ndarray) -> arb_mat:
    """Return a matrix of doubles."""
    return arb_mat(matrix.tolist())


def eigen(gram: arb_mat) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues in doubles, rising, and vectors; nothing is proven about them."""
    sizes, vectors = np.linalg.eigh(in_doubles(gram))
    return sizes, vectors


def in_doubles(matrix: arb_mat) -> np.ndarray:
    """Return the middles of balls, rounded."""
    middle = np.array([[float(v.mid()) for v in row] for row in matrix.tolist()])
    if not np.isfinite(middle).all():
        raise Refused("a matrix that matters is not finite")
    return middle


def highest_eigenvalue(gram: arb_mat) -> arb:
    """Return a ball around the largest eigenvalue of a symmetric matrix, or 0 if that is larger.

    It is 0 itself where the matrix is proven to be negative definite.
    """
    sizes, vectors = eigen(gram)
    if sizes[-1] < 0 and positive_definite(-gram):
        return arb(0)
    best = exactly(vectors[:, -1:])
    lower = (best.transpose() * gram * best)[0, 0] / (best.transpose() * best)[0, 0]
    lower = arb(lower.lower()).max(arb(0))
    identity = exactly(np.eye(len(sizes)))
    widest = float(np.abs(sizes).max())
    if not widest > 0:
        return lower.union(root(squares(gram)))
    for near in NEAR:
        tried = arb(float(sizes[-1])).max(arb(0)) + arb(near) * arb(widest)
        if positive_definite(identity * tried - gram):
            return lower.union(tried)
    return lower.union(root(squares(gram)))


def positive_definite(matrix: arb_mat) -> bool:
    """Return whether every symmetric matrix within balls is proven to be positive definite; the lower half counts.

    It is, if its first half is, and what is left of the second half when the first one is eliminated (Schur).
    """
    count = matrix.nrows()
    if count <= SMALL:
        return _by_elimination(matrix)
    half = count // 2
    first, second = range(half), range(half, count)
    corner = arb_mat([[matrix[max(i, j), min(i, j)] for j in first] for i in first])
    if not positive_definite(corner):
        return False
    across = arb_mat([[matrix[i, j] for j in first] for i in second])
    try:
        eliminated = across * corner.solve(across.transpose())
    except ZeroDivisionError:  # it may have no inverse, as far as balls tell
        return False
    return positive_definite(arb_mat([[matrix[i, j] for j in second] for i in second]) - eliminated)


def _by_elimination(matrix: arb_mat) -> bool:
    """Return the same by Gaussian elimination, whose pivots are positive."""
    rows = [[matrix[i, j] for j in range(i + 1)] for i in range(matrix.nrows())]
    for k, row in enumerate(rows):
        pivot = row[k]
        if not pivot > 0:
            return False
        below = [later[k] for later in rows[k + 1 :]]
        for i, later in enumerate(rows[k + 1 :]):
            factor = below[i] / pivot
            for j in range(i + 1):
                later[k + 1 + j] -= factor * below[j]
    return True
