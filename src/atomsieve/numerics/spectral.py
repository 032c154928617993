"""Bounds of singular values and eigenvalues that hold in spite of rounding.

A Cholesky factorisation in doubles that runs to its end proves an upper bound of the largest eigenvalue: it says that
`t I - G` has no negative eigenvalue, up to what rounding can hide.
"""

import numpy as np
from scipy import linalg

from atomsieve.numerics.enclosures import LEAST, Enclosure, gamma, norm, quiet, root, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array

GROWTH = (2.0**-50, 2.0**-46, 2.0**-40, 2.0**-30, 2.0**-20)
"""Parts of an eigenvalue that was found by which the bounds that are tried lie above it."""

TINY = 2.0**-900
"""More than all that underflows where the largest number is about 1."""


def largest_eigenvalue(matrix: Array, off: float) -> float:
    """Return an upper bound of the largest eigenvalue of all symmetric matrices within `off` of one, in spectral norm.

    The lower triangle counts. The matrix `K = t I - M` is rounded on its diagonal by at most `EPS (t + max |M_ii|)`. If
    Cholesky's method ends, `R' R = K + D` for the computed R, with `|D_ij| <= g |r_i| |r_j|` for its columns and
    `g = gamma(m + 1)`, whatever the order of the sums (Higham, Accuracy and Stability, theorem 10.3); and
    `|r_i|^2 <= K_ii / (1 - g)`. So the spectral norm of D is at most `g / (1 - g)` times the trace of K. Twice the
    terms, and some more, stand for m + 1 below: libraries may multiply by reciprocals.

    >>> import numpy as np
    >>> bound = largest_eigenvalue(np.diag([1.0, 3.0]), 0.0)
    >>> 3.0 <= bound <= 3.0 + 1e-12
    True
    """
    count = len(matrix)
    diagonal = np.diagonal(matrix)
    widest = float(np.abs(diagonal).max(initial=0.0))
    if not np.isfinite(matrix).all():
        return np.inf
    found = float(np.linalg.eigvalsh(matrix)[-1]) if count else 0.0
    lost = float(gamma(2 * count + 16))
    for part in GROWTH:
        # the trace of t I - M is what a proof costs beside the part
        top = found + part * max(abs(found), widest)
        shifted = -matrix
        shifted.ravel()[:: count + 1] = top - diagonal
        _, failed = linalg.lapack.dpotrf(shifted, lower=True, overwrite_a=False, clean=False)
        if failed:
            continue
        trace = float(np.sum(np.maximum(shifted.ravel()[:: count + 1], 0.0)))
        hidden = 2 * lost * trace + 2 * EPS * (abs(top) + widest) + TINY
        raised = up(abs(top) * 2 * EPS + hidden + off)
        return float(np.nextafter(top + raised, np.inf))
    return float(up(norm(np.abs(matrix).ravel()) * 2 + off))  # both triangles, whatever the upper one holds


def spectral_norm(z: Enclosure) -> float:
    """Return an upper bound of the largest singular value of every enclosed matrix.

    It is that of the middle, by the Gram matrix of its smaller side, plus the Frobenius norm of the radii. The Gram
    matrix is rounded by at most `gamma(n) |Z|' |Z|`, whose spectral norm is at most `gamma(n)` times the square of the
    Frobenius norm.

    >>> import numpy as np
    >>> bound = spectral_norm(Enclosure.exact(np.diag([1.0, -3.0])))
    >>> 3.0 <= bound <= 3.0 + 1e-12
    True
    """
    middle = z.mid if z.mid.shape[0] >= z.mid.shape[1] else z.mid.T
    largest = float(np.abs(middle).max(initial=0.0))
    if not (np.isfinite(largest) and np.isfinite(z.rad).all()):
        return np.inf
    away = norm(z.rad.ravel())
    if largest == 0:
        return away
    scale = float(np.ldexp(1.0, min(-int(np.frexp(largest)[1]), 1000)))  # a power of two: nothing is rounded
    with quiet():
        scaled = middle * scale
        size = norm(np.abs(scaled).ravel())
        top = largest_eigenvalue(scaled.T @ scaled, float(up(gamma(len(scaled) + 2) * size * size + TINY)))
        return float(up(min(float(root(np.asarray(max(top, 0.0)))), size) / scale + away))


def nuclear_norm(x: Array) -> Enclosure:
    """Return the sum of the singular values with a bound of all rounding errors.

    With any U, s, V the sum of `s_i |u_i| |v_i|` bounds the nuclear norm of `U diag(s) V'`, and the root of the smaller
    side times the Frobenius norm that of the rest. From below, `<X, U V'>` over a bound of the spectral norm of `U V'`:
    `|U|^2 <= 1 + |U'U - I|`, in Frobenius norms.

    >>> import numpy as np
    >>> size = nuclear_norm(np.diag([1.0, -3.0]))
    >>> bool(size.low <= 4.0 <= size.high), bool(size.rad < 1e-13)
    (True, True)
    """
    if not x.any():
        return Enclosure.exact(np.float64(0.0))
    scale = float(np.ldexp(1.0, min(-int(np.frexp(np.abs(x).max())[1]), 1000)))
    scaled = x * scale
    lost = 0.0 if scale >= 1 else norm(np.full(x.size, LEAST))  # what underflows
    left, values, right = np.linalg.svd(scaled, full_matrices=False)
    count = int(np.count_nonzero(values > 4 * EPS * values[0]))
    left, values, right = left[:, :count], values[:count], right[:count]
    with quiet():
        lengths = np.array([norm(np.abs(column)) for column in left.T])
        widths = np.array([norm(np.abs(row)) for row in right])
        terms = (Enclosure.exact(values) * Enclosure.exact(lengths) * Enclosure.exact(widths)).sum()
        moduli = np.abs(left) * values @ np.abs(right)
        apart = np.abs(scaled - (left * values) @ right)
        rest = norm(up(apart + gamma(count + 8) * (moduli + np.abs(scaled))).ravel())
        high = up(terms.high + up(np.sqrt(min(x.shape)) * (rest + lost)))
        signs = Enclosure(left @ right, up(gamma(count + 4) * (np.abs(left) @ np.abs(right))))
        along = float((signs * Enclosure.exact(scaled)).sum().low)
        lengthened = up(root(stretch(left.T)) * root(stretch(right)))
        low = max(along / lengthened * (1 - 4 * EPS) - up(np.sqrt(min(x.shape)) * lost), 0.0)
    return Enclosure.between(np.float64(low), np.float64(high)) / scale


def stretch(rows: Array) -> Array:
    """Return an upper bound of the largest eigenvalue of the Gram matrix of rows that are nearly orthonormal."""
    gram = rows @ rows.T
    gram.ravel()[:: len(gram) + 1] -= 1.0
    moduli = np.abs(rows)
    lost = gamma(rows.shape[1] + 8) * (moduli @ moduli.T + 1.0)
    return np.asarray(up(1 + norm(up(np.abs(gram) + lost).ravel())))
