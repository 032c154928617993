"""Bounds in doubles.

The model: IEEE double precision, round to nearest, sums in any order, fused multiply-add allowed, and products that are
too small may become 0. So a computed sum of k products differs from the exact one by at most `gamma(k)` times the sum
of their absolute values, plus `k TINY`. Where a number overflows, a bound becomes inf or NaN. Both prove nothing, and
`known` turns both into inf.
"""

from typing import Any

import numpy as np

UNIT = 2.0**-53
"""The relative error of one rounding."""

TINY = 2.0**-1020
"""More than the absolute error of a product that is too small for a double."""

UP = 1 + 2.0**-45
"""Covers up to a hundred roundings of numbers that are not negative."""

DOWN = 1 - 2.0**-45


def gamma(terms: int) -> float:
    """Return a bound of `k u / (1 - k u)` for the unit u; inf where it says nothing."""
    return terms * UNIT * 1.01 if terms < 2**44 else np.inf


def known(bounds: Any) -> np.ndarray:
    """Return upper bounds, with inf for those that are no numbers."""
    return np.asarray(np.where(np.isnan(bounds), np.inf, bounds))


def sums_above(sums: Any, terms: int) -> np.ndarray:
    """Return upper bounds of sums of so many products that are not negative, from the computed sums."""
    with np.errstate(all="ignore"):
        return known(np.asarray(sums) * (1 + 2 * gamma(terms + 8)) * UP + terms * TINY)


def lengths_above(sizes: np.ndarray) -> np.ndarray:
    """Return upper bounds of the lengths of columns, from upper bounds of the absolute values of their entries."""
    n = len(sizes)
    with np.errstate(all="ignore"):
        largest = sizes.max(axis=0, initial=0.0)
        scaled = sizes / np.where(largest > 0, largest, 1.0)
        sums = sums_above(np.einsum("ij,ij->j", scaled, scaled), n)
        return known(largest * np.sqrt(sums) * UP + TINY)


def times_above(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return upper bounds of products of numbers that are not negative; 0 only if one of them is 0."""
    with np.errstate(all="ignore"):
        return np.asarray(np.where((a > 0) & (b > 0), np.nextafter(a * b, np.inf), 0.0))


def product_above(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return upper bounds of a product of matrices without negative numbers; 0 where all its terms are 0."""
    with np.errstate(all="ignore"):
        there = (a > 0).astype(float) @ (b > 0).astype(float) > 0
        return np.asarray(np.where(there, sums_above(a @ b, a.shape[1]), 0.0))


def exp_below(r: np.ndarray) -> np.ndarray:
    """Return lower bounds of `exp(-r)` for r >= 0: `(1 - r / k)^k` for k = 1024, by squaring ten times."""
    with np.errstate(all="ignore"):
        power = np.maximum(1 - known(r) / 1024 * UP - 4 * UNIT, 0.0)
        for _ in range(10):
            power = power * power * (1 - 4 * UNIT)
    return np.asarray(np.where(power > TINY, power * DOWN, 0.0))


def column_sums(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the sums of the entries of the columns of a sparse matrix, which are stored one after the other."""
    sums = np.zeros(len(starts) - 1)
    filled = starts[:-1] < starts[1:]
    if filled.any():
        sums[filled] = np.add.reduceat(values, starts[:-1][filled])
    return sums
