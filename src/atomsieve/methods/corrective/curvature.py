"""The Hessian of the loss part on chosen entries, b minimised out, remembered from step to step."""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from atomsieve.design import DenseDesign, Design
from atomsieve.design.seminorm import weigh
from atomsieve.methods.corrective.factor import Factor, square
from atomsieve.numerics.clock import look
from atomsieve.problem import Point, Problem
from atomsieve.typing import Array, Index, Mask, Samples

LARGE = 8000
"""Entries up to which the Hessian is held as a matrix (half a gigabyte)."""

MATRIX_PIECE = 2e9
"""Multiplications for a matrix between two looks at the clock."""

LEAST_WIDTH = 64
"""Columns that are added to a matrix at a time, at least."""

COPIED_PART = 0.7
"""Part of the columns of which no copy is made."""


def free_inverse(problem: Problem, u: Samples) -> Array:
    """Return the pseudo-inverse of the Hessian in the unpenalised columns (a constant for all classes is flat)."""
    assert problem.span is not None  # noqa: S101
    hessian = problem.loss.hessian(problem.span.basis, u, problem.targets, problem.weights)
    return np.asarray(np.linalg.pinv(np.asarray(hessian), rcond=1e-12, hermitian=True))


@dataclass(frozen=True, eq=False)
class Products:
    """The Hessian on many entries through products with the data, never formed."""

    problem: Problem
    u: Samples
    entries: Index
    unit: float
    ridge: Array | float = 0.0
    known_diagonal: Array | None = None

    @cached_property
    def _free_inverse(self) -> Array:
        return free_inverse(self.problem, self.u)

    @cached_property
    def _weights(self) -> Samples:
        """The curvature of each sample times its weight; None where outputs mix."""
        if self.u.ndim > 1:
            return None
        return self.problem.seminorm.weighted(self.problem.loss.curvature(self.u, self.problem.targets))

    @cached_property
    def diagonal(self) -> Array | None:
        """The curvature of each entry on its own, the unpenalised columns left as they are; None where outputs mix."""
        if self.known_diagonal is not None:
            return self.known_diagonal
        if self._weights is None:
            return None
        return self.problem.design.squared_norms(self._weights, self.unit)[self.entries] + self.ridge

    def compact(self) -> "Products":
        """Return the same with a copy of the columns that are needed, if they are much less than all."""
        problem, entries = self.problem, self.entries
        if problem.shape[1:] or len(entries) > COPIED_PART * problem.shape[0]:
            return self
        return replace(self, problem=problem.restrict(entries), entries=np.arange(len(entries)))

    def restrict(self, places: Index) -> "Products":
        """Return the Hessian on some of the entries."""
        ridge = np.broadcast_to(self.ridge, self.entries.shape)[places]
        known = None if self.diagonal is None else self.diagonal[places]
        return replace(self, entries=self.entries[places], ridge=ridge, known_diagonal=known).compact()

    def __matmul__(self, v: Array) -> Array:
        """Return H v for a vector, or for each column of a matrix."""
        if v.ndim == 2:
            return np.stack([self @ column for column in v.T], axis=1)
        problem = self.problem
        x = np.zeros(problem.shape)
        x.ravel()[self.entries] = v / self.unit
        bent = self._bend(problem.seminorm.project(problem.design.matvec(x)))
        if problem.span is not None:
            basis = problem.span.basis
            along = self._free_inverse @ np.asarray(basis.T @ bent).ravel()
            bent = bent - self._bend(basis @ along.reshape(basis.shape[1], *problem.outputs))
        return np.asarray(problem.design.rmatvec(bent)).ravel()[self.entries] / self.unit + self.ridge * v

    def _bend(self, image: Samples) -> Samples:
        if self._weights is not None:
            return weigh(self._weights, image)
        return self.problem.seminorm.weighted(self.problem.loss.bend(self.u, self.problem.targets, image))


class Curvature:
    """Curvature at some point of the past, bordered as entries are asked for, until it is told to forget.

    Squared has the same curvature everywhere and never needs to forget.
    """

    def __init__(self, unit: float) -> None:
        self.unit = unit
        """The coefficients are measured in `1 / unit`, so that squares of huge and tiny data stay in range."""
        self.forget()

    def forget(self, u: Samples = None) -> None:
        """Drop what is remembered: the next Hessian is that at u, or else at the point that it is asked for."""
        self._ids = np.empty(0, dtype=np.intp)
        self._matrix = np.empty((0, 0))
        self._u: Samples = u
        self._factor: Factor | None = None

    @property
    def cost(self) -> float:
        """Multiplications that the matrix took, more or less."""
        return 0.0 if self._u is None else float(self._u.size) * len(self._ids) ** 2

    def hessian(self, point: Point, entries: Index, large: int = LARGE) -> "tuple[Index, Array | Products]":
        """Return the Hessian on entries of the flattened x, with the curvature of an earlier point if one is known.

        It comes with the entries in its own order: those remembered first, so that little needs to be copied. Of more
        entries than are `large` it is not formed.
        """
        problem = point.problem
        if len(entries) > large:
            return entries, Products(problem, point.u, entries, self.unit).compact()
        outputs = math.prod(problem.shape[1:])
        ids = problem.columns[entries // outputs] * outputs + entries % outputs
        if self._u is None:
            self._u = point.u
        places = np.minimum(np.searchsorted(ids, self._ids), len(ids) - 1)
        kept = ids[places] == self._ids
        old, new = places[kept], np.ones(len(ids), dtype=bool)
        new[old] = False
        order = np.concatenate([old, np.flatnonzero(new)])
        entries, matrix = entries[order], self._matrix if kept.all() else square(self._matrix, np.flatnonzero(kept))
        if len(entries) > len(old):
            matrix = self._border(problem, matrix, entries[: len(old)], entries[len(old) :])
        if self._factor is not None:
            self._factor.carry(matrix, np.where(kept, np.cumsum(kept) - 1, -1))
        self._ids, self._matrix = ids[order], matrix
        return entries, matrix

    def factored(self, problem: Problem) -> Mask:
        """Return which rows of a problem the factor covers: while they stay it need not be made again."""
        found = np.zeros(problem.shape[0], dtype=bool)
        if self._factor is not None:
            covered = self._ids[self._factor.order]
            places = np.minimum(np.searchsorted(problem.columns, covered), len(found) - 1)
            found[places[problem.columns[places] == covered]] = True
        return found

    def factor(self, stiffness: Array) -> Factor:
        """Return a factor of the matrix that was returned last, remembered like it."""
        if self._factor is None:
            self._factor = Factor(self._matrix, stiffness)
        self._factor.stiffness = stiffness
        return self._factor

    def _border(self, problem: Problem, matrix: Array, old: Index, entering: Index) -> Array:
        """Return the matrix with further rows and columns, a piece at a time where they are many."""
        size, order = len(old), np.concatenate([old, entering])
        width = max(LEAST_WIDTH, int(MATRIX_PIECE / (len(self._u) * problem.design.density * len(order))))
        if not size and len(entering) <= width:
            return self._block(problem, entering, entering)
        bordered = np.empty((len(order),) * 2)
        bordered[:size, :size] = matrix
        for start in range(size, len(order), width):
            look()
            before, part = order[:start], order[start : start + width]
            stop = start + len(part)
            if problem.design.density < 1:  # sparse products are so cheap that asking twice would cost more
                bordered[:stop, start:stop] = self._block(problem, order[:stop], part)
            else:
                bordered[:start, start:stop] = self._block(problem, before, part)
                bordered[start:stop, start:stop] = self._block(problem, part, part)  # by symmetry half the work
            bordered[start:stop, :start] = bordered[:start, start:stop].T
        return bordered

    def _block(self, problem: Problem, entries: Index, others: Index) -> Array:
        """Return some rows and columns of the Hessian."""
        if self._u.ndim == 1:
            weights = problem.seminorm.weighted(problem.loss.curvature(self._u, problem.targets))
            basis = None if problem.span is None else problem.span.basis
            return problem.design.gram(weights, entries, others, self.unit, basis)
        if not problem.shape[1:]:
            return self._between_images(problem, entries, others)
        return self._between_outputs(problem, entries, others)

    def _between_images(self, problem: Problem, entries: Index, others: Index) -> Array:
        """Return the block for atoms that move all outputs at once."""
        left, right = (self._across(problem, some) for some in (entries, others))
        loss = problem.loss
        y = problem.targets
        weighted = problem.seminorm.weighted
        bent = [weighted(loss.bend(self._u, y, right[:, :, j])) for j in range(len(others))]
        block = np.tensordot(left, np.stack(bent, axis=2), axes=([0, 1], [0, 1]))
        if problem.span is None:
            return np.asarray(block)
        basis, images = problem.span.basis, left if entries is others else np.concatenate([left, right], axis=2)
        bent = [weighted(loss.bend(self._u, y, images[:, :, j])) for j in range(images.shape[2])]
        along = np.stack([(basis.T @ image).ravel() for image in bent])
        return np.asarray(block - along[: len(entries)] @ free_inverse(problem, self._u) @ along[-len(others) :].T)

    def _across(self, problem: Problem, entries: Index) -> Samples:
        """Return columns less their part along B, which is minimised out: nothing cancels later."""
        columns = problem.design.columns(entries) / self.unit
        flat = columns.reshape(len(columns), -1)
        return problem.seminorm.project(flat).reshape(columns.shape)

    def _between_outputs(self, problem: Problem, entries: Index, others: Index) -> Array:
        """Return the block for entries (j, k) of a matrix x, pair by pair of outputs."""
        outputs = problem.outputs[0]
        unit = np.eye(outputs)
        block = np.empty((len(entries), len(others)))
        free = None if problem.span is None else problem.span.basis
        along = np.empty((problem.shape[0], outputs, 0 if free is None else free.shape[1], outputs))
        design: Design = problem.design
        scale = self.unit
        if free is not None and design.density == 1:  # columns that are mostly zero have little that could cancel
            design, scale = DenseDesign(self._across(problem, np.arange(problem.shape[0]))), 1.0
        for k in range(outputs):
            bent = problem.loss.bend(self._u, problem.targets, np.broadcast_to(unit[k], self._u.shape))
            for r in range(outputs):
                weights = problem.weights * bent[:, r]
                left, right = np.flatnonzero(entries % outputs == r), np.flatnonzero(others % outputs == k)
                if len(left) and len(right):
                    rows, columns = entries[left] // outputs, others[right] // outputs
                    block[np.ix_(left, right)] = design.gram(weights, rows, columns, scale)
                if free is not None:
                    along[:, k, :, r] = design.rmatvec(weights[:, None] * free) / scale
        if free is None:
            return block
        flat = along.reshape(problem.shape[0] * outputs, -1)
        return block - flat[entries] @ free_inverse(problem, self._u) @ flat[others].T
