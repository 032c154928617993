"""Hessians of all entries of a matrix x that are known without being formed, because few entries meet in the data."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from atomsieve.design import RepeatedDesign, SparseDesign
from atomsieve.problem import Point, Problem
from atomsieve.typing import Array


@dataclass(frozen=True, eq=False)
class Operator:
    """A symmetric matrix by its products; `added` is what the diagonal has beside."""

    added: Array

    __array_ufunc__ = None  # so that products from the left come here

    def diagonal(self) -> Array:
        """Return the diagonal without what is added."""
        raise NotImplementedError

    def times(self, v: Array) -> Array:
        """Return the product with a vector without what is added."""
        raise NotImplementedError

    def plus(self, added: Array) -> Self:
        """Return the operator with more on the diagonal."""
        return replace(self, added=self.added + added)

    def __matmul__(self, v: Array) -> Array:
        return np.asarray(self.times(v) + self.added * v)

    __rmatmul__ = __matmul__


@dataclass(frozen=True, eq=False)
class ByOutput(Operator):
    """Entries of different outputs do not meet: one matrix of features for each output, or one for all."""

    blocks: Array

    @classmethod
    def of(cls, point: Point, design: RepeatedDesign, unit: float) -> Self:
        """Return the Hessian of the losses at a point, the free coefficients minimised out, in units."""
        problem, tasks = point.problem, design.tasks
        weights = curvatures(point).reshape(-1, tasks)
        bases = [None] * tasks if problem.span is None else [_own(problem.span.basis, k, tasks) for k in range(tasks)]
        alike = bool((weights == weights[:, :1]).all()) and all(_same_line(basis, bases[0]) for basis in bases)
        every = np.arange(design.design.shape[1])
        grams = [
            design.design.gram(np.ascontiguousarray(weights[:, k]), every, every, unit, bases[k])
            for k in range(1 if alike else tasks)
        ]
        return cls(np.zeros(len(every) * tasks), np.stack(grams))

    def diagonal(self) -> Array:
        own = np.diagonal(self.blocks, axis1=1, axis2=2)
        return np.asarray(np.repeat(own[0], len(self.added) // own.shape[1]) if len(own) == 1 else own.T.ravel())

    def times(self, v: Array) -> Array:
        table = v.reshape(self.blocks.shape[1], -1)
        alike = len(self.blocks) == 1
        return np.asarray(self.blocks[0] @ table if alike else (self.blocks @ table.T[:, :, None])[:, :, 0].T).ravel()


@dataclass(frozen=True, eq=False)
class Apart(Operator):
    """No two entries meet: every sample has one. Free coefficients take a few directions from the diagonal."""

    own: Array
    free: Array

    @classmethod
    def of(cls, point: Point, design: SparseDesign, unit: float) -> Self:
        """Return the Hessian of the losses at a point, the free coefficients minimised out, in units."""
        weights, span = curvatures(point), point.problem.span
        own = np.asarray(design.squared_norms(weights, unit))
        free = np.zeros((len(own), 0))
        if span is not None:
            root = np.sqrt(weights)[:, None]
            free = np.asarray(design.rmatvec(np.linalg.qr(root * span.basis)[0] * root)) / unit
        return cls(np.zeros(len(own)), own, free)

    def diagonal(self) -> Array:
        return np.asarray(self.own - np.sum(self.free * self.free, axis=1))

    def times(self, v: Array) -> Array:
        product = self.own * v
        return product if not self.free.shape[1] else product - self.free @ (self.free.T @ v)


def operator_at(point: Point, unit: float) -> Operator | None:
    """Return the Hessian of all entries of x at a point; None if it has to be formed."""
    design = getattr(point.problem.design, "unmetered", point.problem.design)
    if isinstance(design, RepeatedDesign):
        return ByOutput.of(point, design, unit)
    return Apart.of(point, design, unit) if isinstance(design, SparseDesign) and design.apart else None


def has_operator(problem: Problem, largest: int) -> bool:
    """Return whether the Hessian of all entries of x is such an operator, with so many numbers at most."""
    design = getattr(problem.design, "unmetered", problem.design)
    if isinstance(design, RepeatedDesign):
        return design.design.shape[1] * design.shape[1] <= largest
    return isinstance(design, SparseDesign) and not problem.shape[1:] and design.apart


def curvatures(point: Point) -> Array:
    """Return the weights of the samples times the curvatures of their losses."""
    problem = point.problem
    return np.asarray(problem.seminorm.weighted(problem.loss.curvature(point.u, problem.targets)))


def _own(basis: Array, k: int, tasks: int) -> Array:
    """Return the columns of a basis that have entries in the samples of one output."""
    own = basis[k::tasks]
    return np.asarray(own[:, own.any(axis=0)])


def _same_line(one: Array | None, other: Array | None) -> bool:
    """Return whether two bases are both none, or one column each and the same up to sign."""
    if one is None or other is None:
        return one is other
    return one.shape == other.shape == (len(one), 1) and bool(np.array_equal(np.abs(one), np.abs(other)))
