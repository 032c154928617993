"""Whole numbers beyond those that doubles hold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

WHOLE = 2**53
"""All whole numbers up to this size are doubles; beyond, some are not."""


def require_held(numbers: NDArray[Any], name: str) -> None:
    """Refuse whole numbers of which some would be rounded, because no double holds them.

    >>> require_held(np.array([2**53, -(2**60)]), "X")
    >>> require_held(np.array([2**53 + 1]), "X")
    Traceback (most recent call last):
    ValueError: X holds the whole number 9007199254740993, ...
    """
    odd = rounded_in(numbers)
    if odd is not None:
        raise ValueError(
            f"{name} holds {beyond(odd)} Subtract a constant, such as the least number; leave out what names rows or "
            "is a code."
        )


def rounded_in(numbers: NDArray[Any]) -> int | None:
    """Return the first whole number in an array that no double holds; None if doubles hold all of them."""
    if numbers.dtype.kind not in "iu" or numbers.dtype.itemsize < 8 or not numbers.size:
        return None
    if max(int(numbers.max()), -int(numbers.min())) <= WHOLE:
        return None
    large = numbers[np.abs(numbers.astype(np.float64)) >= WHOLE]
    return next((value for value in large.tolist() if is_rounded(value)), None)


def is_rounded(value: int) -> bool:
    """Return whether no double holds a whole number.

    >>> is_rounded(2**53), is_rounded(2**53 + 1), is_rounded(2**60)
    (False, True, False)
    """
    return int(float(value)) != value


def beyond(value: int) -> str:
    """Say that a whole number is too large for a double."""
    return f"the whole number {value}, which would be rounded: beyond 2^53 doubles do not hold all of them."
