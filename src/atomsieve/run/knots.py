"""The next strength of `Linear` at which a block comes or goes, as far as floats tell: where a certificate may end.

To first order, x moves by l for each unit of the strength, with `(C' diag(w loss'') C + R + strength H) l = -v`, as in
certificate/line.py, and `z = -A' theta` by `-A' diag(w loss'') C l`. No proof relies on it.
"""

import numpy as np

from atomsieve.numerics.namespace import on_host
from atomsieve.problem import Problem
from atomsieve.run.result import Result
from atomsieve.typing import Array, Index


def next_knot(result: Result, strength: float) -> float:
    """Return the next strength below at which a block reaches 0, or the score of a block the slope; 0 if there is none.

    The losses are taken for quadratic.
    """
    problem, x = result.problem.hosted, result.lifted.ravel()
    smooth, u = problem.smooth, on_host(result.point.u)
    bend = np.asarray(problem.weights * smooth.loss.curvature(u, smooth.targets))
    theta = np.asarray(problem.weights * smooth.loss.gradient(u, smooth.targets))
    labels, count = problem.lifted.labels, len(problem.eligible)
    prices = np.where(problem.eligible, np.asarray(problem.core.prices(problem.shape)), np.inf)
    held = np.zeros(count, dtype=bool)
    held[labels[np.flatnonzero(x)]] = True
    index = np.flatnonzero(held[labels])
    change = np.zeros(len(x))
    change[index], turned = _line(problem, x, index, bend, strength)
    z, rise = (-np.asarray(problem.design.rmatvec(v)).ravel() for v in (theta, turned))

    def inner(a: Array, b: Array) -> Array:
        return np.asarray(np.bincount(labels, a * b, count), dtype=np.float64)

    with np.errstate(all="ignore"):
        shrinking = inner(x, x) / inner(x, change)
        found = [shrinking[held & (shrinking > 0)]]
        if count == len(x):
            reached = [(strength * prices - side * z) / (prices - side * rise) for side in (1.0, -1.0)]
        else:
            slack = inner(z, z) - (strength * prices) ** 2
            reached = _roots(inner(rise, rise) - prices**2, inner(z, rise) - strength * prices**2, slack)
        found += [some[~held & (some > 0) & np.isfinite(some)] for some in reached]
    return float(max(strength - np.min(np.concatenate(found), initial=np.inf), 0.0))


def _line(problem: Problem, x: Array, index: Index, bend: Array, strength: float) -> tuple[Array, Array]:
    """Return how coefficients of some columns move with the strength, and how theta does."""
    free = np.asarray(problem.smooth.unpenalised)
    columns = np.hstack([free, np.asarray(problem.design.columns(index))])
    first, used = free.shape[1], problem.lifted.labels[index]
    if problem.data.intercept and problem.data.tasks == 1 and bend.sum() > 0:  # columns may lie far from zero
        columns[:, 1:] -= bend @ columns[:, 1:] / bend.sum()
    hessian = columns.T @ (bend[:, None] * columns)
    prices = np.asarray(problem.core.prices(problem.shape))
    towards = np.zeros(len(hessian))
    for g in np.unique(used):
        rows = np.flatnonzero(used == g)
        norm = np.linalg.norm(x[index[rows]])
        unit, places = x[index[rows]] / norm, first + rows
        towards[places] = prices[g] * unit
        hessian[np.ix_(places, places)] += strength * prices[g] / norm * (np.eye(len(rows)) - np.outer(unit, unit))
    if problem.shrinkage is not None:
        hessian[np.arange(first, len(hessian)), np.arange(first, len(hessian))] += problem.shrinkage.ridges[used]
    line = -np.linalg.lstsq(hessian, towards, rcond=None)[0]
    return line[first:], bend * (columns @ line)


def _roots(a: Array, b: Array, c: Array) -> list[Array]:
    """Return both roots of `a s^2 - 2 b s + c`, without cancellation."""
    farther = b + np.copysign(np.sqrt(b * b - a * c), b)
    return [farther / a, c / farther]
