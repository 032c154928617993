"""The next strength of `Linear` at which a block comes or goes, as far as floats tell: where a certificate may end.

To first order, x moves by l for each unit of the strength, with `(C' H C + R + strength H_v) l = -v`, as in
certificate/line.py, and `z = -A' theta` by `-A' H C l`: H are the second derivatives of the losses, H_v that of the
gauge. No proof relies on it.
"""

import numpy as np

from atomsieve.design.seminorm import weigh
from atomsieve.numerics.namespace import on_host
from atomsieve.numerics.places import support_of
from atomsieve.problem import Problem
from atomsieve.run.result import Result
from atomsieve.typing import Array, Index


def next_knot(result: Result, strength: float) -> float:
    """Return the next strength below at which a block reaches 0, or the score of a block the slope; 0 if there is none.

    The losses are taken for quadratic.
    """
    problem, x = result.problem.hosted, result.lifted.ravel()
    smooth, u = problem.smooth, on_host(result.point.u)
    theta = np.asarray(weigh(problem.weights, smooth.loss.gradient(u, smooth.targets)))
    labels, count = problem.lifted.labels.ravel(), len(problem.eligible)
    prices = np.where(problem.eligible, np.asarray(problem.core.prices(problem.shape)), np.inf)
    held = np.zeros(count, dtype=bool)
    held[labels[support_of(x)]] = True
    index = np.flatnonzero(held[labels])
    change = np.zeros(len(x))
    line = _class_line if problem.outputs else _line
    change[index], turned = line(problem, u, index, *_pulled(problem, x, index, strength))
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


def _pulled(problem: Problem, x: Array, index: Index, strength: float) -> tuple[Array, Array]:
    """Return v and `R + strength H_v` for some entries of x."""
    prices, used = np.asarray(problem.core.prices(problem.shape)), problem.lifted.labels.ravel()[index]
    towards, bends = np.zeros(len(index)), np.zeros((len(index), len(index)))
    for g in np.unique(used):
        rows = np.flatnonzero(used == g)
        norm = np.linalg.norm(x[index[rows]])
        unit = x[index[rows]] / norm
        towards[rows] = prices[g] * unit
        bends[np.ix_(rows, rows)] += strength * prices[g] / norm * (np.eye(len(rows)) - np.outer(unit, unit))
    if problem.shrinkage is not None:
        bends[np.diag_indices(len(index))] += problem.shrinkage.ridges[used]
    return towards, bends


def _line(problem: Problem, u: Array, index: Index, towards: Array, bends: Array) -> tuple[Array, Array]:
    """Return how coefficients of some columns move with the strength, and how theta does."""
    smooth, free = problem.smooth, np.asarray(problem.smooth.unpenalised)
    bend = np.asarray(problem.weights * smooth.loss.curvature(u, smooth.targets))
    columns = np.hstack([free, np.asarray(problem.design.columns(index))])
    first = free.shape[1]
    if problem.data.intercept and problem.data.tasks == 1 and bend.sum() > 0:  # columns may lie far from zero
        columns[:, 1:] -= bend @ columns[:, 1:] / bend.sum()
    hessian = columns.T @ (bend[:, None] * columns)
    hessian[first:, first:] += bends
    line = -np.linalg.lstsq(hessian, np.append(np.zeros(first), towards), rcond=None)[0]
    return line[first:], bend * (columns @ line)


def _class_line(problem: Problem, u: Array, index: Index, towards: Array, bends: Array) -> tuple[Array, Array]:
    """Return the same for several classes: entries of x are features and classes, and so are free coefficients.

    Losses do not see a number that is added to all classes, and of all lines the shortest is taken.
    """
    smooth, classes, free = problem.smooth, u.shape[1], np.asarray(problem.smooth.unpenalised)
    features, places = np.unique(index // classes, return_inverse=True)
    columns = np.hstack([free, np.asarray(problem.design.columns(features))])
    if problem.data.intercept:
        columns[:, 1:] -= columns[:, 1:].mean(axis=0)
    first = classes * free.shape[1]
    used = np.append(np.arange(first), first + classes * places + index % classes)
    hessian = np.asarray(smooth.loss.hessian(columns, u, smooth.targets, problem.weights))[np.ix_(used, used)]
    hessian[first:, first:] += bends
    every = np.zeros(classes * columns.shape[1])
    every[used] = -np.linalg.lstsq(hessian, np.append(np.zeros(first), towards), rcond=None)[0]
    moved = columns @ every.reshape(-1, classes)
    return every[used[first:]], np.asarray(weigh(problem.weights, smooth.loss.bend(u, smooth.targets, moved)))


def _roots(a: Array, b: Array, c: Array) -> list[Array]:
    """Return both roots of `a s^2 - 2 b s + c`, without cancellation."""
    farther = b + np.copysign(np.sqrt(b * b - a * c), b)
    return [farther / a, c / farther]
