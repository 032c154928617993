"""Inverses of Gram matrices: in doubles with bounds of their errors, and in balls."""

from collections.abc import Callable
from functools import cached_property

import numpy as np
from flint import arb, arb_mat

from .balls import bounds_of
from .doubles import TINY, UNIT, UP, gamma, known, sums_above
from .verdict import Refused

ROWS = 1 << 9
"""Rows that are added up at a time: the error of a sum grows with the number of its terms."""

FINE = 2.0**20
"""An inverse is known well enough if the radii of its diagonal are smaller than this part of it."""


class Columns:
    """Columns in both precisions, each of them made when it is asked for.

    `units` are powers of two by which they were multiplied, so that their largest entries are about 1.
    """

    def __init__(
        self, count: int, balls: Callable[[], list[arb_mat]], doubles: Callable[[], tuple[np.ndarray, np.ndarray]]
    ) -> None:
        self._count, self._balls, self._doubles = count, balls, doubles
        self.units = [arb(1)] * count

    @classmethod
    def in_units(
        cls, count: int, balls: Callable[[], list[arb_mat]], doubles: Callable[[], tuple[np.ndarray, np.ndarray]]
    ) -> "Columns":
        """Return columns times their units."""
        middles, errors = doubles()
        exponents = _exponents(np.abs(middles).max(axis=0, initial=0.0))
        units = [arb(2) ** int(e) for e in exponents]
        scale = np.ldexp(1.0, exponents)
        with np.errstate(all="ignore"):
            scaled = middles * scale
            lost = (middles != 0) & (np.abs(scaled) < 2.0**-1000)
            if errors.any() or lost.any():
                errors = known(errors * scale + (lost | (errors > 0)) * TINY)
        found = cls(count, lambda: [column * unit for column, unit in zip(balls(), units)], lambda: (scaled, errors))
        found.units = units
        return found

    @classmethod
    def of_balls(cls, columns: list[arb_mat]) -> "Columns":
        """Return columns that are known as balls."""
        return cls(len(columns), lambda: columns, lambda: _rounded(columns))

    def __len__(self) -> int:
        return self._count

    def balls(self) -> list[arb_mat]:
        """Return every column as a matrix of one column."""
        return self._balls()

    @cached_property
    def matrix(self) -> arb_mat:
        """All columns in balls, side by side."""
        return side_by_side(self._balls())

    @cached_property
    def doubles(self) -> tuple[np.ndarray, np.ndarray]:
        """All columns in doubles, and bounds of the errors of their entries."""
        return self._doubles()


def side_by_side(columns: list[arb_mat]) -> arb_mat:
    """Return columns as one matrix."""
    return arb_mat([list(row) for row in zip(*(column.entries() for column in columns))])


def _rounded(columns: list[arb_mat]) -> tuple[np.ndarray, np.ndarray]:
    ends = [bounds_of(column.entries()) for column in columns]
    low, high = (np.array([end[k] for end in ends]).T for k in range(2))
    with np.errstate(all="ignore"):
        middles = low / 2 + high / 2
        return middles, known((high - low) * UP + 4 * UNIT * np.abs(middles) + TINY)


def inverse_in_balls(columns: list[arb_mat], weights: np.ndarray, ridge: list[arb]) -> arb_mat:
    """Return the inverse of `C' diag(w) C + diag(ridge)` in balls."""
    C = side_by_side(columns)
    w = arb_mat(len(weights), 1, weights.tolist()).entries()
    weighted = arb_mat([[w[i] * C[i, k] for k in range(len(columns))] for i in range(len(w))])
    try:
        gram = C.transpose() * weighted
        for k, v in enumerate(ridge):
            gram[k, k] += v
        inverse = gram.inv()
        if all(arb(inverse[k, k].rad()) * FINE < abs(inverse[k, k]) for k in range(len(columns))):
            return inverse
        # balls may grow with every column that has next to no curvature, unless there is a preconditioner
        unit = arb_mat([[int(i == k) for k in range(len(columns))] for i in range(len(columns))])
        return gram.solve(unit, algorithm="precond")
    except ZeroDivisionError as error:
        raise Refused("columns that the certificate takes for independent are not, or as good as not") from error


class Inverse:
    """Bounds of the inverse of `C' diag(w) C + diag(ridge)`, for doubles w; `mid` plus or minus `rad`.

    With a matrix R near the inverse and `E = I - R G`, row sums of abs(E) at most e < 1: `inv(G) = inv(I - E) R`, so a
    column of `inv(G) - R = inv(I - E) E R` is at most abs(E) abs(R), plus `e / (1 - e)` times its largest entry. The
    error of G is at most `gamma(n) abs(C)' diag(w) abs(C)`, of which an entry is at most the product of the lengths of
    two columns. If the columns themselves are known up to errors, it is at most the product of lengths and errors.
    """

    def __init__(self, columns: np.ndarray, errors: np.ndarray, weights: np.ndarray, ridge: np.ndarray) -> None:
        """Take columns, bounds of the lengths of their errors in the metric w, and lower bounds of the ridge."""
        n, k = columns.shape
        with np.errstate(all="ignore"):
            parts = [
                columns[i : i + ROWS].T @ (columns[i : i + ROWS] * weights[i : i + ROWS, None])
                for i in range(0, n, ROWS)
            ]
            gram = np.sum(parts, axis=0) if parts else np.zeros((k, k))
            terms = min(n, ROWS) + len(parts) + 4
            lengths = np.sqrt(sums_above(np.diag(gram) / max(1 - 2 * gamma(terms), 0.5), terms)) * UP
            gram[np.arange(k), np.arange(k)] += ridge
            unit = _powers(np.diag(gram))
            gram = gram * unit * unit[:, None]
            lengths, errors, ridge = lengths * unit, errors * unit, ridge * unit * unit
            wrong = np.outer(lengths, lengths) * gamma(terms) + np.outer(lengths, errors) + np.outer(errors, lengths)
            wrong = wrong + np.outer(errors, errors) + np.diag(ridge) * gamma(4)
            wrong = known(wrong * UP + (n + 4) * TINY * np.maximum(np.outer(unit, unit), 1.0))
            self._invert(gram, wrong, unit)

    def _invert(self, gram: np.ndarray, wrong: np.ndarray, unit: np.ndarray) -> None:
        """Derive bounds of the inverse of a matrix near `gram`, off by at most `wrong`; then undo the units."""
        k = len(gram)
        if not (np.isfinite(gram).all() and np.isfinite(wrong).all()):
            raise Refused("numbers are too large for doubles")
        try:
            near = np.linalg.inv(gram)
        except np.linalg.LinAlgError as error:
            raise Refused("columns are dependent as far as doubles tell") from error
        size = np.abs(near)
        rest = np.abs(np.eye(k) - near @ gram) * UP + 4 * gamma(1)
        rest = rest + sums_above(size @ np.abs(gram), k) * gamma(k + 4) + sums_above(size @ wrong, k)
        rest = known(rest * UP + k * TINY)
        norm = float((rest.sum(axis=1) * (1 + 2 * gamma(k)) * UP).max(initial=0.0))
        if not norm < 0.5:
            raise Refused("columns are dependent as far as doubles tell")
        off = sums_above(rest @ size, k)
        off = (off + norm / (1 - norm) * UP * off.max(axis=0, initial=0.0)) * UP
        scale = unit * unit[:, None]
        self.mid, self.rad = near * scale, known(off * scale * UP + np.abs(near) * scale * gamma(4) + TINY)
        if not (np.isfinite(self.mid).all() and np.isfinite(self.rad).all()):
            raise Refused("numbers are too large for doubles")


def _exponents(largest: np.ndarray) -> np.ndarray:
    """Return the exponents of powers of two near 1 over some numbers."""
    with np.errstate(all="ignore"):
        exponents = np.where((largest > 0) & np.isfinite(largest), -np.round(np.log2(largest)), 0.0)
    return np.clip(exponents, -1000, 1000).astype(int)


def _powers(squares: np.ndarray) -> np.ndarray:
    """Return powers of two near 1 over the roots of numbers; scaling by them is exact but for what is too small."""
    with np.errstate(all="ignore"):
        exponents = np.where((squares > 0) & np.isfinite(squares), -np.round(np.log2(squares) / 2), 0.0)
    return np.asarray(np.ldexp(1.0, np.clip(exponents, -500, 500).astype(int)))
