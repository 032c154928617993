"""Reference solutions, computed once by atomsieve itself and kept on disk."""

from typing import Any

import numpy as np

from atomsieve import L1, Group, Linear, Logistic, Problem, Squared, solve
from benchmark_utils.cache import memory
from benchmark_utils.measure import Measure


def pieces(loss: str, d: int, group_size: int) -> tuple[Any, Any]:
    """Return the loss and the gauge as atomsieve spells them."""
    if group_size == 1:
        gauge = L1()
    else:
        gauge = Group(np.arange(d) // group_size, weights=np.full(d // group_size, np.sqrt(group_size)))
    return {"squared": Squared, "logistic": Logistic}[loss](), gauge


@memory.cache
def norm_of_solution(X: Any, y: np.ndarray, loss: str, group_size: int, lam: float) -> float:
    """Return kappa(w*) at the solution for the linear penalty: `Square(lam / kappa(w*))` has the same solution."""
    smooth, gauge = pieces(loss, X.shape[1], group_size)
    result = solve(Problem(X, y, loss=smooth, gauge=gauge, penalty=Linear(lam)), tol=1e-12)
    return Measure(X, y, loss, group_size).kappa(result.x)
