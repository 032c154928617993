"""Linear programs, assignments and isotonic regression, by SciPy. What a solver returns is rounded: proofs repair it.

`scipy.optimize` takes longer to import than many fits, so it is imported by those who need it.
"""

from typing import Any

import numpy as np

from atomsieve.typing import Array, Index


def linear_program(cost: Array, **limits: Any) -> Any:
    """Return what SciPy finds for `min cost . v` within limits (`A_ub`, `b_ub`, `A_eq`, `b_eq`, `bounds`).

    The matrices may be sparse.

    >>> import numpy as np
    >>> linear_program(np.array([1.0, 2.0]), A_eq=np.ones((1, 2)), b_eq=np.ones(1), bounds=(0, None)).fun
    1.0
    """
    from scipy.optimize import linprog  # noqa: PLC0415 -- see above

    return linprog(cost, method="highs", **limits)


def falling(values: Array, weights: Array | None = None) -> Array:
    """Return the falling sequence that is nearest to some values.

    >>> import numpy as np
    >>> falling(np.array([3.0, 1.0, 2.0])).tolist()
    [3.0, 1.5, 1.5]
    """
    from scipy.optimize import isotonic_regression  # noqa: PLC0415 -- see above

    return np.asarray(isotonic_regression(values, weights=weights, increasing=False).x)


def best_assignment(gains: Array) -> tuple[Index, Index]:
    """Return rows and columns of the entries, one in each row and column, with the largest sum.

    >>> import numpy as np
    >>> best_assignment(np.array([[1.0, 3.0], [2.0, 1.0]]))[1].tolist()
    [1, 0]
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 -- see above

    rows, columns = linear_sum_assignment(gains, maximize=True)
    return rows, columns
