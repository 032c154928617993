"""Coordinates with both signs or only one: `Signs` is one truth value for all coordinates, or one for each."""

import numpy as np

from atomsieve.typing import Array, Index, Mask, Signs


def upward(z: Array, signed: Signs) -> Array:
    """Return the larger of `z_j` and `-z_j` where both signs are allowed, and z_j where only + is, in a new array."""
    if isinstance(signed, bool):
        return np.abs(z) if signed else z.copy()
    return np.where(signed, np.abs(z), z)


def forbidden(x: Array, signed: Signs) -> Mask:
    """Return which entries of x are negative although they must not be."""
    return x < 0 if signed is False else (x < 0) & np.logical_not(signed)


def admissible(x: Array, signed: Signs) -> Array:
    """Return x with forbidden negative entries replaced by 0."""
    return x if signed is True else np.where(signed, x, np.maximum(x, 0.0))


def some(signed: Signs, index: Index | int) -> Signs:
    """Return the signs of some coordinates, or of a single one."""
    return signed if isinstance(signed, bool) else signed[index]
