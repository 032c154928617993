"""Hessians of all entries of a matrix x that are known without being formed, because few entries meet in the data."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from atomsieve.design import RepeatedDesign
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


def operator_at(point: Point, unit: float) -> Operator | None:
    """Return the Hessian of all entries of x at a point; None if it has to be formed."""
    design = getattr(point.problem.design, "unmetered", point.problem.design)
    return ByOutput.of(point, design, unit) if isinstance(design, RepeatedDesign) else None


def has_operator(problem: Problem, largest: int) -> bool:
    """Return whether the Hessian of all entries of x is such an operator, with so many numbers at most."""
    design = getattr(problem.design, "unmetered", problem.design)
    return isinstance(design, RepeatedDesign) and design.design.shape[1] ** 2 <= largest


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
