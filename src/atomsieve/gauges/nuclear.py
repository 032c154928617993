"""The nuclear norm: matrices of rank one are the atoms."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from atomsieve.design import ALL
from atomsieve.gauges.base import Atom
from atomsieve.gauges.leading import Leading, beyond, leak
from atomsieve.gauges.matrix import MatrixGauge
from atomsieve.gauges.proximal import Face, Line, on_line
from atomsieve.gauges.triplets import Triplets, decomposed, singular_values, top_pair
from atomsieve.numerics.enclosures import Enclosure, norm, up
from atomsieve.numerics.rounding import EPS
from atomsieve.numerics.spectral import nuclear_norm, spectral_norm
from atomsieve.typing import Array


@dataclass(frozen=True, eq=False, repr=False)
class Nuclear(MatrixGauge):
    """Nuclear norm, the sum of the singular values of a matrix x: solutions have a low rank.

    `sigma(z)` is the largest singular value of z, and the atoms are `u v'` for unit vectors u and v. x is a matrix if y
    has several columns (multi-task regression with shared factors), or by `shape=(rows, columns)`.

    Fazel, Matrix rank minimization with applications, PhD thesis, Stanford (2002).

    >>> import numpy as np
    >>> x = np.array([[3.0, 0.0], [0.0, -1.0]])
    >>> Nuclear().value(x), Nuclear().support(x), Nuclear().prox(x, (2.0, 0.0)).round(9).tolist()
    (4.0, 3.0, [[1.0, 0.0], [0.0, 0.0]])
    """

    def scores(self, z: Array) -> Array:
        return top_pair(z).values[:1].copy()

    def highest(self, corner: Array) -> float:
        return float(singular_values(corner)[0])

    def sizes(self, x: Array) -> Array:
        return np.array([singular_values(x).sum()])

    def atom(self, z: Array, block: int) -> Atom:
        left, _, right = top_pair(z)
        return Atom(ALL, np.outer(left[:, 0], right[:, 0]), block)

    def leading(self, z: Array, count: int) -> Triplets:
        return decomposed(z, min(count, *z.shape))

    def shrunk(self, v: Array, line: Line) -> Triplets:
        left, values, right = decomposed(v)
        kept = on_line(lambda slope: np.maximum(values - slope, 0.0), lambda s: float(s.sum()), line, float(values[0]))
        rank = int(np.count_nonzero(kept))
        return Triplets(left[:, :rank], kept[:rank], right[:, :rank])

    def face(self, x: Array) -> Face:
        # x = U S V' with a free core S: the gradient is I in the singular bases, and moving S by K bends the gauge by
        # sum over i < j of (K_ij - K_ji)^2 / (s_i + s_j)
        left, values, right = decomposed(x)
        rank = int(np.count_nonzero(values > 4 * EPS * values[0]))
        directions = np.einsum("ai,bj->ijab", left[:, :rank], right[:, :rank]).reshape(rank * rank, -1)
        turns = np.zeros((rank * rank, rank * rank))
        for i in range(rank):
            for j in range(i):
                twist = np.zeros(rank * rank)
                twist[[i * rank + j, j * rank + i]] = 1.0, -1.0
                turns += np.outer(twist, twist) / (values[i] + values[j])
        return Face(csr_array(directions), np.diag(values[:rank]).ravel(), np.eye(rank).ravel(), turns)

    def enclose_sizes(self, x: Array) -> Enclosure:
        found = nuclear_norm(x)
        return Enclosure(np.array([found.mid]), np.array([found.rad]))

    def enclose_scores(self, z: Enclosure) -> Enclosure:
        left, _, right = top_pair(z.mid, np.inf)  # many values meet at an optimum, and other ways have to part them
        u, v = left[:, 0], right[:, 0]
        outer = np.outer(u, v)
        along = float((Enclosure(outer, up(2 * EPS * np.abs(outer))) * z).sum().low)
        least = max(along / (norm(np.abs(u)) * norm(np.abs(v)) * (1 + 8 * EPS)), 0.0) if along > 0 else 0.0
        return Enclosure.between(np.array([least]), np.array([spectral_norm(z)]))

    def leading_above(self, z: Enclosure, least: float) -> Leading | None:
        # s_{k+1}(z) is at most the spectral norm of z less any matrix of rank k
        left, values, right = decomposed(z.mid)
        for rank in range(int(np.count_nonzero(values >= least)), len(values)):
            found = Triplets(left[:, :rank], values[:rank], right[:, :rank])
            rest = beyond(z, found)
            largest = spectral_norm(rest)
            if largest < least:
                leaks = leak(rest, found.right), leak(Enclosure(rest.mid.T, rest.rad.T), found.left)
                return Leading(found.left, found.right, largest, max(leaks))
        return None
