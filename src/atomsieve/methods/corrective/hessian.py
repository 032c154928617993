"""The Hessian of the loss part on some entries, b minimised out, for losses that the compiled core does not know."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from atomsieve.design import ALL, DenseDesign, Design
from atomsieve.design.distributed import Asked, DaskDesign
from atomsieve.design.sparse import DENSE
from atomsieve.losses import Loss
from atomsieve.losses.compiled import slopes_and_bends
from atomsieve.numerics.samplewise import lazily
from atomsieve.problem import Point, Problem
from atomsieve.problem.view import View
from atomsieve.typing import Array, Index, Samples


def hessian(point: Point, entries: Index, unit: float) -> Array:
    """Return the Hessian on entries of the flattened x, in units of x: divided by the square of the unit."""
    problem, told = point.problem, point.view.told
    if point.u.ndim == 1:
        asked = None if told is None else told.errand
        if isinstance(asked, Asked) and asked.answers(_plain(problem), entries, unit):
            return np.array(asked.gram, order="C")
        return np.asarray(problem.design.gram(_weights(problem, point.u), entries, entries, unit, _basis(problem)))
    if not problem.shape[1:]:
        return _between_images(problem, point.u, entries, unit)
    return _between_outputs(problem, point.u, entries, unit)


def foreseen(problem: Problem, view: View, entries: Index, unit: float) -> View:
    """Return a view whose next trip to the workers, if it makes one to be measured, brings a Hessian there as well."""
    design: Any = _plain(problem)
    if view.told is None or not isinstance(design, DaskDesign):
        return view
    asked = Asked(design, _weights(problem, view.u), entries, unit, _basis(problem))
    return replace(view, told=view.told._replace(errand=asked))


def _plain(problem: Problem) -> Any:
    return getattr(problem.design, "unmetered", problem.design)


def _weights(problem: Problem, u: Samples) -> Samples:
    """Return the weights of samples in the Hessian."""
    return lazily(partial(_bends, loss=problem.loss), u, problem.targets, problem.weights)


def _basis(problem: Problem) -> Samples | None:
    return None if problem.span is None else problem.span.basis


def _bends(u: Samples, y: Samples, weights: Samples, *, loss: Loss) -> Samples:
    return slopes_and_bends(loss, u, y, weights)[1] if type(u) is np.ndarray else weights * loss.curvature(u, y)


def _free_inverse(problem: Problem, u: Samples) -> Array:
    """Return the pseudo-inverse of the Hessian in the unpenalised columns (a constant for all classes is flat)."""
    assert problem.span is not None  # noqa: S101
    inner = problem.loss.hessian(problem.span.basis, u, problem.targets, problem.weights)
    return np.asarray(np.linalg.pinv(np.asarray(inner), rcond=1e-12, hermitian=True))


def _across(problem: Problem, columns: Samples) -> Samples:
    """Return columns less their part along B, which is minimised out: nothing cancels later."""
    flat = columns.reshape(len(columns), -1)
    return problem.seminorm.project(flat).reshape(columns.shape)


def _between_images(problem: Problem, u: Samples, entries: Index, unit: float) -> Array:
    """Return the Hessian for atoms that move all outputs at once."""
    images = _across(problem, problem.design.columns(entries) / unit)
    bend, weighted = problem.loss.bend, problem.seminorm.weighted
    bent = np.stack([weighted(bend(u, problem.targets, images[:, :, j])) for j in range(len(entries))], axis=2)
    block = np.tensordot(images, bent, axes=([0, 1], [0, 1]))
    if problem.span is None:
        return np.asarray(block)
    along = np.stack([(problem.span.basis.T @ bent[:, :, j]).ravel() for j in range(len(entries))])
    return np.asarray(block - along @ _free_inverse(problem, u) @ along.T)


def _between_outputs(problem: Problem, u: Samples, entries: Index, unit: float) -> Array:
    """Return the Hessian for entries (j, k) of a matrix x, pair by pair of outputs; by symmetry half of them do."""
    outputs = problem.outputs[0]
    features, places = np.unique(entries // outputs, return_inverse=True)
    design, scale = _features(problem, features, unit)
    block = np.empty((len(entries), len(entries)))
    free = None if problem.span is None else problem.span.basis
    along = np.empty((len(features), outputs, 0 if free is None else free.shape[1], outputs))
    members = [np.flatnonzero(entries % outputs == k) for k in range(outputs)]
    for k in range(outputs):
        bent = problem.loss.bend(u, problem.targets, np.broadcast_to(np.eye(outputs)[k], u.shape))
        for r in range(k + 1):
            weights = problem.weights * bent[:, r]
            left, right = members[r], members[k]
            if len(left) and len(right):
                part = design.gram(weights, places[left], places[right], scale)
                block[np.ix_(left, right)] = part
                block[np.ix_(right, left)] = part.T
            if free is not None:
                along[:, k, :, r] = along[:, r, :, k] = design.rmatvec(weights[:, None] * free) / scale
    if free is None:
        return block
    flat = along[places, entries % outputs].reshape(len(entries), -1)
    return block - flat @ _free_inverse(problem, u) @ flat.T


def _features(problem: Problem, features: Index, unit: float) -> tuple[Design, float]:
    """Return a design of some features, and its unit; dense ones are without their part along B."""
    chosen: Design = problem.design.select(features)
    if chosen.density <= DENSE:  # columns that are mostly zero have little that could cancel
        return chosen, unit
    columns = chosen.columns(ALL) / unit
    return DenseDesign(columns if problem.span is None else _across(problem, columns)), 1.0
