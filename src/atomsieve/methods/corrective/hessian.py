"""The Hessian of the loss part on some entries, b minimised out, for losses that the compiled core does not know."""

import numpy as np

from atomsieve.design import DenseDesign, Design
from atomsieve.problem import Point, Problem
from atomsieve.typing import Array, Index, Samples


def hessian(point: Point, entries: Index, unit: float) -> Array:
    """Return the Hessian on entries of the flattened x, in units of x: divided by the square of the unit."""
    problem = point.problem
    if point.u.ndim == 1:
        weights = problem.seminorm.weighted(problem.loss.curvature(point.u, problem.targets))
        basis = None if problem.span is None else problem.span.basis
        return np.asarray(problem.design.gram(weights, entries, entries, unit, basis))
    if not problem.shape[1:]:
        return _between_images(problem, point.u, entries, unit)
    return _between_outputs(problem, point.u, entries, unit)


def _free_inverse(problem: Problem, u: Samples) -> Array:
    """Return the pseudo-inverse of the Hessian in the unpenalised columns (a constant for all classes is flat)."""
    assert problem.span is not None  # noqa: S101
    inner = problem.loss.hessian(problem.span.basis, u, problem.targets, problem.weights)
    return np.asarray(np.linalg.pinv(np.asarray(inner), rcond=1e-12, hermitian=True))


def _across(problem: Problem, entries: Index, unit: float) -> Samples:
    """Return columns less their part along B, which is minimised out: nothing cancels later."""
    columns = problem.design.columns(entries) / unit
    flat = columns.reshape(len(columns), -1)
    return problem.seminorm.project(flat).reshape(columns.shape)


def _between_images(problem: Problem, u: Samples, entries: Index, unit: float) -> Array:
    """Return the Hessian for atoms that move all outputs at once."""
    images = _across(problem, entries, unit)
    bend, weighted = problem.loss.bend, problem.seminorm.weighted
    bent = np.stack([weighted(bend(u, problem.targets, images[:, :, j])) for j in range(len(entries))], axis=2)
    block = np.tensordot(images, bent, axes=([0, 1], [0, 1]))
    if problem.span is None:
        return np.asarray(block)
    along = np.stack([(problem.span.basis.T @ bent[:, :, j]).ravel() for j in range(len(entries))])
    return np.asarray(block - along @ _free_inverse(problem, u) @ along.T)


def _between_outputs(problem: Problem, u: Samples, entries: Index, unit: float) -> Array:
    """Return the Hessian for entries (j, k) of a matrix x, pair by pair of outputs."""
    outputs = problem.outputs[0]
    block = np.empty((len(entries), len(entries)))
    free = None if problem.span is None else problem.span.basis
    along = np.empty((problem.shape[0], outputs, 0 if free is None else free.shape[1], outputs))
    design: Design = problem.design
    scale = unit
    if free is not None and design.density == 1:  # columns that are mostly zero have little that could cancel
        design, scale = DenseDesign(_across(problem, np.arange(problem.shape[0]), unit)), 1.0
    members = [np.flatnonzero(entries % outputs == k) for k in range(outputs)]
    for k in range(outputs):
        bent = problem.loss.bend(u, problem.targets, np.broadcast_to(np.eye(outputs)[k], u.shape))
        for r in range(outputs):
            weights = problem.weights * bent[:, r]
            left, right = members[r], members[k]
            if len(left) and len(right):
                rows, columns = entries[left] // outputs, entries[right] // outputs
                block[np.ix_(left, right)] = design.gram(weights, rows, columns, scale)
            if free is not None:
                along[:, k, :, r] = design.rmatvec(weights[:, None] * free) / scale
    if free is None:
        return block
    flat = along.reshape(problem.shape[0] * outputs, -1)[entries]
    return block - flat @ _free_inverse(problem, u) @ flat.T
