"""Bounds in doubles, rounded up."""

import numpy as np

UNIT = 2.0**-53


def by_outputs(block: np.ndarray, values: np.ndarray, index: list[int], tasks: int) -> np.ndarray:
    """Return the products of columns with the numbers of their outputs."""
    return np.asarray(np.einsum("ij,ij->j", block, values.reshape(-1, tasks)[:, np.array(index) % tasks]))


def lengths_above(sizes: np.ndarray) -> np.ndarray:
    """Return upper bounds, in doubles, of the lengths of columns of non-negative rounded products."""
    n = len(sizes)
    with np.errstate(all="ignore"):
        largest = sizes.max(axis=0)
        scaled = sizes / np.where(largest > 0, largest, 1.0)
        sums = np.einsum("ij,ij->j", scaled, scaled) * (1 + (n + 24) * UNIT * 2) + n * 2.0**-1000
        return np.asarray(largest * np.sqrt(sums) * (1 + 16 * UNIT) + n * 2.0**-1070)


def times_above(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return upper bounds of products of numbers that are not negative; 0 only if one of them is 0."""
    with np.errstate(all="ignore"):
        return np.asarray(np.where((a > 0) & (b > 0), np.nextafter(a * b, np.inf), 0.0))
