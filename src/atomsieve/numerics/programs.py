"""Linear programs. What a solver of them returns is rounded: proofs repair it, or do not use it."""

from typing import Any

from scipy.optimize import linprog

from atomsieve.typing import Array


def linear_program(cost: Array, **limits: Any) -> Any:
    """Return what SciPy finds for `min cost . v` within limits (`A_ub`, `b_ub`, `A_eq`, `b_eq`, `bounds`).

    The matrices may be sparse.

    >>> import numpy as np
    >>> linear_program(np.array([1.0, 2.0]), A_eq=np.ones((1, 2)), b_eq=np.ones(1), bounds=(0, None)).fun
    1.0
    """
    return linprog(cost, method="highs", **limits)
