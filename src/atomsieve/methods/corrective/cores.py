"""Working sets for gauges of singular values: a core between two subspaces, `x = U S V'` with orthonormal U and V.

The gauge of x is that of its core S, so the problem on the subspaces is one of the same kind, with p q columns in place
of all entries of x. The subspaces hold those of x and the singular vectors of z with the largest values, which show
where x has to turn: weights of fixed matrices of rank one could not follow, and a free core does. Where a model of all
entries costs little, as that of several outputs, whose columns do not meet, the core is x itself.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from atomsieve.design import DenseDesign, Design, RepeatedDesign, StackDesign
from atomsieve.gauges.matrix import decomposed
from atomsieve.methods.corrective.inner import LARGE
from atomsieve.methods.corrective.proximal import Proximal
from atomsieve.methods.corrective.surfaces import SurfaceModel
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
    if several_outputs(problem) is not None:
        rows, columns = matrix_form(problem)
        return rows * rows * columns <= LARGE * LARGE
    return size <= LARGE and size * size <= 2 * problem.design.density * n * d * math.prod(problem.shape[1:])


def several_outputs(problem: Problem) -> RepeatedDesign | None:
    """Return the design of a problem with several outputs, each with samples of its own; None for other problems."""
    design = getattr(problem.design, "unmetered", problem.design)
    return design if isinstance(design, RepeatedDesign) and problem.lifted.places is None else None


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
    return Bases(_basis(left[:, :rank], best.left), _basis(right[:, :rank], best.right))


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


@dataclass(frozen=True, eq=False)
class ByOutput:
    """A Hessian of the entries of x, row by row, in which entries of different outputs do not meet.

    `blocks` has one matrix of features for each output, or one for all; `added` is what the diagonal has beside.
    """

    blocks: Array
    added: Array

    __array_ufunc__ = None

    @classmethod
    def of(cls, point: Point, design: RepeatedDesign, unit: float) -> "ByOutput":
        """Return the Hessian of the losses at a point, the free coefficients minimised out, in units."""
        problem, tasks = point.problem, design.tasks
        weights = problem.seminorm.weighted(problem.loss.curvature(point.u, problem.targets)).reshape(-1, tasks)
        bases = [None] * tasks if problem.span is None else [_own(problem.span.basis, k, tasks) for k in range(tasks)]
        alike = bool((weights == weights[:, :1]).all()) and all(_same_line(basis, bases[0]) for basis in bases)
        every = np.arange(design.design.shape[1])
        grams = [
            design.design.gram(np.ascontiguousarray(weights[:, k]), every, every, unit, bases[k])
            for k in range(1 if alike else tasks)
        ]
        return cls(np.stack(grams), np.zeros(len(every) * tasks))

    def diagonal(self) -> Array:
        """Return the diagonal."""
        own = np.diagonal(self.blocks, axis1=1, axis2=2)
        return np.asarray(np.repeat(own[0], len(self.added) // own.shape[1]) if len(own) == 1 else own.T.ravel())

    def __matmul__(self, v: Array) -> Array:
        table = v.reshape(self.blocks.shape[1], -1)
        alike = len(self.blocks) == 1
        product = self.blocks[0] @ table if alike else (self.blocks @ table.T[:, :, None])[:, :, 0].T
        return np.asarray(product.ravel() + self.added * v)

    __rmatmul__ = __matmul__  # it is symmetric


def _own(basis: Array, k: int, tasks: int) -> Array:
    """Return the columns of a basis that have entries in the samples of one output."""
    own = basis[k::tasks]
    return np.asarray(own[:, own.any(axis=0)])


def _same_line(one: Array | None, other: Array | None) -> bool:
    """Return whether two bases are both none, or one column each and the same up to sign."""
    if one is None or other is None:
        return one is other
    return one.shape == other.shape == (len(one), 1) and bool(np.array_equal(np.abs(one), np.abs(other)))


class Cored(Proximal):
    """A core in one model."""

    quadratic = SurfaceModel

    def _hessian(self, point: Point) -> Any:
        design = several_outputs(point.problem)
        if design is None or math.prod(point.problem.shape) <= SMALL:
            return super()._hessian(point)
        loss, shrinkage = point.problem.loss, point.problem.shrinkage
        if self._blocks is None or not loss.quadratic:
            found = ByOutput.of(point, design, self.unit)
            added = np.zeros(len(found.added))
            if shrinkage is not None:
                added += shrinkage.by_entry / self.unit / self.unit
            added += self._lacking(found.diagonal() + added, loss.smoothness_near(point.u) * self.stiffness)
            self._blocks = ByOutput(found.blocks, added)
        return self._blocks

    _blocks: ByOutput | None = None
