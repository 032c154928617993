"""A start from a sample: some rows tell which columns matter, and all rows are asked about these first.

A pass over all data tells the gap and which columns should join, and a run from nothing needs a few of them, each with
a copy of the columns that join. The solution of a sample names nearly all of these columns beforehand. They are read
once, the problem on them alone is solved for all samples, and the first look at all columns finds little that is left
to do. It is a start like any other: what it gets wrong costs passes, and changes no answer.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from atomsieve.design.files import spread_out
from atomsieve.methods.corrective.method import SAFE, by_rows
from atomsieve.methods.corrective.working_set import LEAST, RowSet
from atomsieve.problem import Point, Problem
from atomsieve.problem.lifted import Lifted
from atomsieve.problem.state import State
from atomsieve.run.limits import Limits
from atomsieve.typing import Index, Mask

Go = Callable[[Problem, Point, Limits], Any]
"""Runs a problem from a point within limits, and returns the result."""


def is_far(problem: Problem) -> bool:
    """Return whether the data are in a file, where passes are what a run costs."""
    return hasattr(problem.data.design, "sample")


def sampled(problem: Problem, limits: Limits, go: Go) -> State | None:
    """Return the solution on the columns that matter in a sample; None where a sample would tell nothing."""
    count = sample_size(problem)
    small = None if count is None else sample_of(problem, count)
    if small is None:
        return None
    # what so few samples say of so many coefficients is uncertain by about that part of the objective
    enough = LEAST / small.design.shape[0] * small.baseline
    first = go(small, small.origin, replace(limits, baseline=small.baseline, gap=enough))
    columns = columns_that_matter(first.point)
    part = problem.restrict(columns)
    begin = part.at(part.state(first.point.state.x[columns]), part.eligible)
    found = go(part, begin, replace(limits, gap=SAFE * limits.gap)).point.state
    x = np.zeros(problem.shape)
    x[columns] = found.x
    return problem.inside(x, found.image, found.coordinates)


def columns_that_matter(point: Point) -> Index:
    """Return a working set at the solution of a sample, or the part of it that adds most to the predictions.

    A sample fits its noise, too, by many small coefficients.
    """
    problem, x = point.problem, point.state.x
    columns = RowSet().renew(point).columns
    if len(columns) <= LEAST:
        return columns
    core, lifted = problem.core, problem.lifted
    if core.proximal or core.split:
        sizes = (np.abs(x) if x.ndim == 1 else np.abs(x).max(axis=1)) * problem.seminorm.column_norms()
        return np.sort(np.argsort(-sizes, kind="stable")[:LEAST])
    order = np.argsort(-core.sizes(x) * lifted.reaches, kind="stable")
    widths = np.bincount(lifted.labels, minlength=len(order)) // max(1, x.size // len(x))
    fits = np.cumsum(widths[order]) <= LEAST
    fits[0] = True
    return np.flatnonzero(core.columns(_mask(order[fits], len(order)), lifted.shape))


def sample_size(problem: Problem) -> int | None:
    """Return how many samples to take: as many as have no more entries than a working set of columns has.

    That much memory is needed in any case. None where it would be all samples, or fewer than a working set has columns:
    too few to tell these apart.
    """
    core, (n, d) = problem.core, problem.design.shape
    small = core.listed or core.ranked or core.together or problem.gauge.of_signals or problem.joined
    if small or problem.data.tasks > 1 or not by_rows(problem):
        return None
    count = LEAST * n // d
    return count if LEAST <= count < n else None


def sample_of(problem: Problem, count: int) -> Problem | None:
    """Return the same problem on about so many samples; None if their targets alone have no solution."""
    data = problem.data
    design: Any = data.design
    if hasattr(design, "sample"):
        rows, design = design.sample(count)
    else:
        rows = spread_out(design.shape[0], count, 1)
        design = design.samples(_mask(rows, design.shape[0]))
    weights, y = data.weights[rows], data.y[rows]
    try:
        problem.loss.check_targets(y)
        if data.intercept:
            problem.loss.check_intercept(y)
    except ValueError:  # all of one class, for example
        return None
    some = replace(
        data,
        design=design,
        y=y,
        weights=weights / weights.sum(),
        stated_weights=data.stated_weights[rows],
        free=data.free[rows],
        offset=None if data.offset is None else data.offset[rows],
    )
    lifted = Lifted.of(some, problem.loss, problem.gauge, None if problem.gauge.mapped else problem.lifted.form)
    return Problem.of(some, problem.gauge, problem.penalty, lifted, problem._beside)


def _mask(rows: Index, n: int) -> Mask:
    mask = np.zeros(n, dtype=bool)
    mask[rows] = True
    return mask
