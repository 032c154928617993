"""Trees in the compiled core (tree.h): sums over subtrees or from the roots, and denoising.

Nodes are numbered so that `above`, the node that one hangs on, comes before it; it is -1 for a root.
"""

import numpy as np

from atomsieve.core import _core
from atomsieve.typing import Array, Index


def tree_sums(above: Index, rows: Array, *, upward: bool) -> None:
    """Turn rows into their sums over subtrees, or over the ways from the roots, in place."""
    _core.tree_sums(above, upward, rows)


def enclosed_tree_sums(above: Index, values: Array, radii: Array, *, upward: bool) -> Array:
    """Return four rows: such sums, those of their rounding errors and of the absolute values of these, radii."""
    found = np.zeros((4, len(values)))
    found[0], found[3] = values, radii
    _core.enclosed_tree_sums(above, upward, found)
    return found


def denoised_tree(above: Index, y: Array, weights: Array, prices: Array) -> Array:
    """Return the x that minimises `sum_i w_i (x_i - y_i)^2 / 2 + sum_i price_i |x_i - x_above(i)|`, in O(n log n).

    Weights are positive and finite, prices are not negative; those of roots do not count. Johnson's dynamic program
    (2013), whose messages are merged at the nodes of the tree.
    """
    x = np.empty(len(y))
    given = (np.ascontiguousarray(part, dtype=np.float64) for part in (y, weights, prices))
    _core.denoised_tree(above, *given, x)
    return x
