"""Products of columns and numbers that are exact in doubles: both are cut into slices of few bits.

A slice holds multiples of a unit, a power of two, of at most `2^bits` units. So the sum of N products of two slices is
a multiple of the product of both units, and so is every part of that sum; as `N 2^bits 2^bits` of these fit into the 53
bits of a double, sums and products in any order, fused or not, are exact. What is cut off after the last slice is
bounded, and so is what numbers too small for a double lose, by a few TINY for each product. Columns are scaled first by
powers of two, so that their largest entry is below 1 and at least 1/2.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from flint import arb

from .doubles import TINY, UP, column_sums
from .pairs import Pairs

WIDTH = 110
"""Bits below the largest number that are kept at least."""


class Block:
    """Columns of X: dense, or sparse if their rows and where each of them starts are given."""

    def __init__(self, values: np.ndarray, rows: Any = None, starts: Any = None, n: int = 0) -> None:
        self.values, self.rows, self.starts = values, rows, starts
        self.n, self.count = values.shape if rows is None else (n, len(starts) - 1)
        sizes = np.abs(values)
        if rows is None:
            largest = sizes.max(axis=0, initial=0.0)
        else:
            largest = np.zeros(self.count)
            filled = starts[:-1] < starts[1:]
            if filled.any():
                largest[filled] = np.maximum.reduceat(sizes, starts[:-1][filled])
        self.filled, self.exponents = largest > 0, np.frexp(largest)[1].astype(int)
        if np.abs(self.exponents).max(initial=0) < 1000:  # a product is faster, and as exact
            self._scaled = values * self._spread(np.ldexp(1.0, -self.exponents))
        else:
            self._scaled = np.ldexp(values, -self._spread(self.exponents))

    def _spread(self, numbers: np.ndarray) -> np.ndarray:
        """Return numbers of columns for all of their entries."""
        return numbers if self.rows is None else np.repeat(numbers, np.diff(self.starts))

    def adjoint(self, numbers: Pairs) -> list[arb]:
        """Return the sums of products of every column with the middles of some numbers.

        What is cut off of the columns is multiplied by numbers of at most 2, what is cut off of these by at most 1.
        """
        if not numbers.high.any():
            return [arb(0)] * self.count
        bits, found, left = _bits(self.n), [], 0.0
        parts, rest, power = _cut_pairs(numbers, bits)
        for part, after in _slices(self._scaled, bits):
            found.append(self._across(part, parts))
            left = after
        off = self.n * ((2 * left + rest) * 1.01 + 8 * TINY)
        columns = zip(np.concatenate(found, axis=1).tolist(), self.filled.tolist(), self.exponents.tolist())
        return [(sum(map(arb, row), arb(0)) + arb(0, off * there)) * arb(2) ** (e + power) for row, there, e in columns]

    def _across(self, part: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        if self.rows is None:
            return np.asarray(part.T @ numbers)
        return np.stack([column_sums(part * v[self.rows], self.starts) for v in numbers.T], axis=1)

    def image(self, values: list[float]) -> Pairs:
        """Return the sum of the columns times some doubles."""
        mantissas, exponents = np.frexp(np.where(self.filled, values, 0.0))
        exponents = exponents + self.exponents
        if not mantissas.any():
            return Pairs.exactly(np.zeros(self.n))
        power, bits = int(exponents[mantissas != 0].max()), _bits(self.count)
        parts = list(_slices(np.ldexp(mantissas, exponents - power), bits))
        total, left = Pairs.exactly(np.zeros(self.n)), 0.0
        for column, after in _slices(self._scaled, bits):
            for part, _ in parts:
                total = total + self._along(column, part)
            left = after
        off = self.count * ((left + parts[-1][1]) * 1.01 + 8 * TINY)
        with np.errstate(all="ignore"):
            high, low, radius = (np.ldexp(v, power) for v in (total.high, total.low, (total.radius + off) * UP))
            return Pairs(high, low, radius + TINY)

    def _along(self, part: np.ndarray, values: np.ndarray) -> np.ndarray:
        if self.rows is None:
            return np.asarray(part @ values)
        return np.bincount(self.rows, weights=part * self._spread(values), minlength=self.n)


def _bits(terms: int) -> int:
    """Return the bits of slices: two products of slices fit, because pairs have two slices for each unit."""
    return (52 - max(terms, 1).bit_length()) // 2


def _slices(values: np.ndarray, bits: int) -> Iterator[tuple[np.ndarray, float]]:
    """Yield slices of numbers of at most 1, each with a bound of what is left after it.

    A number of at most `2^51` units plus `1.5 2^52` units is rounded to a multiple of the unit, and the second
    difference is exact (Sterbenz); so is what is left, at most half a unit.
    """
    rest, unit = values, 1.0
    while unit > 2.0**-WIDTH:
        unit *= 2.0**-bits
        shift = 1.5 * 2.0**52 * unit
        part = rest + shift
        part -= shift
        rest = rest - part
        done = not rest.any()
        yield part, 0.0 if done else unit
        if done:
            return


def _cut_pairs(numbers: Pairs, bits: int) -> tuple[np.ndarray, float, int]:
    """Return slices of the middles of numbers, what is left, and the power of two that they were divided by."""
    power = int(np.frexp(np.abs(numbers.high).max(initial=0.0))[1])
    halves = [list(_slices(np.ldexp(v, -power), bits)) for v in (numbers.high, numbers.low)]
    parts = np.zeros((len(numbers.high), max(map(len, halves))))
    for half in halves:
        for k, (part, _) in enumerate(half):
            parts[:, k] += part
    return parts, sum(half[-1][1] for half in halves), power
