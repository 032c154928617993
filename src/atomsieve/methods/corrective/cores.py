"""Working sets for gauges of singular values: a core between two subspaces, `x = U S V'` with orthonormal U and V.

The gauge of x is that of its core S, so the problem on the subspaces is one of the same kind, with p q columns in place
of all entries of x. The subspaces hold those of x and the singular vectors of z with the largest values, which show
where x has to turn: weights of fixed matrices of rank one could not follow, and a free core does. Where a model of all
entries costs little, as that of several outputs, whose columns do not meet, the core is x itself.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from atomsieve.design import DenseDesign, Design, StackDesign
from atomsieve.gauges.matrix import decomposed
from atomsieve.methods.corrective.inner import LARGE
from atomsieve.methods.corrective.operators import Operator, has_operator, operator_at
from atomsieve.methods.corrective.proximal import Proximal
from atomsieve.methods.corrective.surfaces import SurfaceModel, seen_by
from atomsieve.methods.corrective.working_set import Part
from atomsieve.numerics.rounding import EPS
from atomsieve.problem import Point, Problem
from atomsieve.problem.lifted import Lifted
from atomsieve.problem.state import State
from atomsieve.typing import Array

SMALL = 400
"""Entries of x up to which no subspaces are chosen."""

BESIDE = 5
"""Pairs of singular vectors beside as many as the rank of x, at least."""


class Bases(NamedTuple):
    """Orthonormal columns U and V."""

    left: Array
    right: Array

    @property
    def form(self) -> tuple[int, int]:
        """The shape of a core."""
        return self.left.shape[1], self.right.shape[1]

    def core(self, x: Array) -> Array:
        """Return `U' x V`."""
        return np.asarray(self.left.T @ x @ self.right)

    def whole(self, core: Array) -> Array:
        """Return `U S V'`."""
        return np.asarray(self.left @ core @ self.right.T)


class CoreSet:
    """The subspaces of x and those of the largest singular values of z; or all of x where that costs little."""

    patience = 20.0

    def __init__(self) -> None:
        self.complete = False
        self.bases: Bases | None = None

    def enter(self, point: Point) -> tuple[Part, Point]:
        problem = self.problem = point.problem
        self.complete = modelled_at_once(problem)
        if self.complete:
            self.bases = None
            return _all_of(problem), point
        form = matrix_form(problem)
        bases = self.bases = bases_at(point, form)
        core: Any = problem.core
        shape = (math.prod(bases.form),)
        small = problem.over(
            Lifted(problem.smooth, core_design(problem, form, bases), core.cored(bases.form), shape, bases.form)
        )
        there = small.state(bases.core(point.state.x.reshape(form)).ravel(), point.state.coordinates)
        return _all_of(small), small.at(there)

    def leave(self, state: State) -> State:
        if self.bases is None:
            return state
        x = self.bases.whole(state.x.reshape(self.bases.form)).reshape(self.problem.shape)
        return State(x, state.mass, state.image, state.coordinates, state.length, state.drift)


def modelled_at_once(problem: Problem) -> bool:
    """Return whether the Hessian of all entries fits into memory, and costs little beside the data."""
    size, (n, d) = math.prod(problem.shape), problem.design.shape
    if size <= SMALL:
        return True
    if has_operator(problem, LARGE * LARGE):
        return True
    return size <= LARGE and size * size <= 2 * problem.design.density * n * d * math.prod(problem.shape[1:])


def matrix_form(problem: Problem) -> tuple[int, int]:
    """Return the rows and columns of x."""
    rows, columns = problem.lifted.form
    return rows, columns


def _all_of(problem: Problem) -> Part:
    """Return all columns of a problem."""
    return Part(problem.lifted, np.arange(problem.shape[0]), np.zeros(1, dtype=np.intp))


def bases_at(point: Point, form: tuple[int, int]) -> Bases:
    """Return bases of the subspaces of x, and of the pairs of singular vectors of z with the largest values."""
    core: Any = point.problem.core
    left, values, right = decomposed(point.state.x.reshape(form))
    rank = int(np.count_nonzero(values > 8 * EPS * max(form) * values[0]))
    best = core.leading(point.pulls.reshape(form), rank + max(BESIDE, rank // 2))
    own = _basis(left[:, :rank], best.left)
    return Bases(own, own if seen_by(core)[2].symmetric else _basis(right[:, :rank], best.right))


def _basis(first: Array, others: Array) -> Array:
    """Return an orthonormal basis of orthonormal columns and others; what is nearly in the span of the first is not."""
    for _ in range(2):  # twice is enough
        others = others - first @ (first.T @ others)
        left, values, _ = np.linalg.svd(others, full_matrices=False)
        others = left[:, values > 1e-12]
    room = max(first.shape[0] - first.shape[1], 0)
    return np.hstack([first, others[:, :room]])


def core_design(problem: Problem, form: tuple[int, int], bases: Bases) -> Design:
    """Return the images of the entries of a core."""
    atoms = np.einsum("ai,bj->abij", bases.left, bases.right).reshape(*form, -1)
    if not problem.shape[1:]:
        return DenseDesign(np.asarray(problem.design.matvec(atoms.reshape(problem.shape[0], -1))))
    images = problem.design.matvec(atoms.reshape(form[0], -1))
    return StackDesign(np.asarray(images).reshape(len(images), form[1], -1))


class Cored(Proximal):
    """A core in one model."""

    quadratic = SurfaceModel

    def _hessian(self, point: Point) -> Any:
        loss, shrinkage = point.problem.loss, point.problem.shrinkage
        if self._operator is not None and loss.quadratic:
            return self._operator
        small = math.prod(point.problem.shape) <= SMALL
        operator = None if small or point.u.ndim > 1 else operator_at(point, self.unit)
        if operator is None:
            return super()._hessian(point)
        if shrinkage is not None:
            operator = operator.plus(shrinkage.by_entry / self.unit / self.unit)
        steepest = loss.smoothness_near(point.u) * self.stiffness
        self._operator = operator.plus(self._lacking(operator.diagonal() + operator.added, steepest))
        return self._operator

    _operator: Operator | None = None
