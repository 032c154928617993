"""Working sets for gauges of singular values: a core between two subspaces, `x = U S V'` with orthonormal U and V.

The gauge of x is that of its core S, so the problem on the subspaces is one of the same kind, with p q columns in place
of all entries of x. The subspaces hold those of x and the singular vectors of z with the largest values, which show
where x has to turn: weights of fixed matrices of rank one could not follow, and a free core does. Where a model of all
entries costs little, as that of several outputs, whose columns do not meet, the core is x itself.
"""

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from atomsieve.design import DenseDesign, Design, StackDesign
from atomsieve.design.places import Places
from atomsieve.gauges.triplets import Triplets, decomposed
from atomsieve.methods.corrective.curvature import AtPlaces, Curvature, Everywhere
from atomsieve.methods.corrective.factored import FactoredModel
from atomsieve.methods.corrective.inner import LARGE, ROUGH, Memory, Modelled
from atomsieve.methods.corrective.lines import meet
from atomsieve.methods.corrective.operators import Operator, curvatures, has_operator, operator_at
from atomsieve.methods.corrective.part import Part
from atomsieve.methods.corrective.proximal import Descent, Proximal
from atomsieve.methods.corrective.surfaces import seen_by
from atomsieve.methods.moves import Move
from atomsieve.numerics.krylov import orthonormal
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
    if size <= SMALL or problem.lifted.seen_places is not None:
        return True
    if has_operator(problem, LARGE * LARGE):
        return True
    return size <= LARGE and size * size <= 2 * problem.design.density * n * d * math.prod(problem.shape[1:])


def matrix_form(problem: Problem) -> tuple[int, int]:
    """Return the rows and columns of x."""
    rows, columns = problem.lifted.form
    return rows, columns


def _all_of(problem: Problem) -> Part:
    """Return all columns of a problem; there may be too many to list."""
    columns: Any = range(problem.shape[0])
    return Part(problem.lifted, columns, np.zeros(1, dtype=np.intp))


def bases_at(point: Point, form: tuple[int, int]) -> Bases:
    """Return bases of the subspaces of x, and of the pairs of singular vectors of z with the largest values."""
    core: Any = point.problem.core
    x = factors_of(point.state, form)
    rank = len(x.values)
    best = core.leading(point.pulls.reshape(form), rank + max(BESIDE, rank // 2))
    own = _basis(x.left, best.left)
    return Bases(own, own if seen_by(core)[2].symmetric else _basis(x.right, best.right))


def _basis(first: Array, others: Array) -> Array:
    """Return an orthonormal basis of orthonormal columns and others."""
    return np.hstack([first, orthonormal(others, first)[:, : max(first.shape[0] - first.shape[1], 0)]])


def core_design(problem: Problem, form: tuple[int, int], bases: Bases) -> Design:
    """Return the images of the entries of a core."""
    atoms = np.einsum("ai,bj->abij", bases.left, bases.right).reshape(*form, -1)
    if not problem.shape[1:]:
        return DenseDesign(np.asarray(problem.design.matvec(atoms.reshape(problem.shape[0], -1))))
    images = problem.design.matvec(atoms.reshape(form[0], -1))
    return StackDesign(np.asarray(images).reshape(len(images), form[1], -1))


class Cored(Proximal):
    """A core in one model, or all of x."""

    def _newton(self, point: Point, enough: float) -> tuple[State, float]:
        start, there = self._moved(point, enough)
        change = (there.whole - start.whole).reshape(point.state.x.shape) / self.unit
        growth = self._size(point, there) - self._size(point, start)
        return self._go(point, change, self.along(point, change, growth))

    def _moved(self, point: Point, enough: float) -> tuple[Triplets, Triplets]:
        """Return x and the minimiser of the model there, in units."""
        start = factors_of(point.state, matrix_form(point.problem)).times(self.unit)
        model = FactoredModel(self._gauge(point), self._curvature(point), (0.0, 0.0))
        descent = Descent(model, self.unit, start, self._pulls(point) / self.unit)
        meet(descent.solve, point, enough)
        return start, descent.x

    def _size(self, point: Point, x: Triplets) -> float:
        """Return the gauge of a matrix in units."""
        return float(self._gauge(point).value(x)) / self.unit

    def _blur(self, point: Point) -> float:
        mass = point.state.mass  # the growth is a difference of sums of singular values
        return mass * point.problem.penalty.slope(mass)

    def _pulls(self, point: Point) -> Array:
        """Return minus the gradient as a model sees it."""
        return point.pulls.ravel()

    def _curvature(self, point: Point) -> Curvature:
        """Return the Hessian at a point, in units."""
        return Everywhere(self._hessian(point), matrix_form(point.problem))

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


class Completed(Cored):
    """All of a matrix of which every sample sees one entry: nothing as long as x is ever formed."""

    def __init__(self, part: Part, point: Point, memory: Memory) -> None:
        Modelled.__init__(self, part, point, memory)
        self.places = places_of(point.problem)
        self.squares = self.places.squares(np.asarray(point.problem.weights))
        longest = math.sqrt(float(self.squares.max()))
        self.unit = 2.0 ** round(math.log2(longest)) if longest > 0 else 1.0
        self.rough = 0.0 if point.problem.loss.quadratic else ROUGH  # the model is then the problem itself

    def state(self) -> State:
        return self.point.state

    def _newton(self, point: Point, enough: float) -> tuple[State, float]:
        problem, state = point.problem, point.state
        start, there = (x.times(1 / self.unit) for x in self._moved(point, enough))
        growth = problem.lifted.mass(there) - problem.lifted.mass(start)
        change = self.places.entries(there.left * there.values, there.right)
        change -= self.places.entries(start.left * start.values, start.right)
        pulled = self._pulls(point) * change
        if problem.shrinkage is not None:
            move = self.along(point, (there.whole - start.whole).ravel(), growth)
            return self._go(point, move.change(state.x), move)
        move = Move(0.0, (), growth, 0.0, 1.0, self.places.samples(change))
        sizes = float(np.abs(pulled).sum()) + self._blur(point)
        settled, length = self._far(point, move, float(pulled.sum()), sizes)
        if length == 0:
            return state, 0.0
        held = there if length == 1 else start.towards(there, length)
        image = problem.lifted.image_of(held)
        return settled(problem.inside(held, image, state.coordinates), length), length

    def _pulls(self, point: Point) -> Array:
        return self.places.sums(-np.asarray(point.view.theta))

    def _curvature(self, point: Point) -> AtPlaces:
        problem, places, unit = point.problem, self.places, self.unit
        weights = curvatures(point)
        free = np.zeros((len(places.rows), 0))
        if problem.span is not None:
            root = np.sqrt(weights)[:, None]
            basis = np.linalg.qr(root * problem.span.basis)[0] * root / unit
            free = np.stack([places.sums(column) for column in basis.T], axis=1)
        found = AtPlaces(places, places.squares(weights) / unit / unit, free)
        steepest = problem.loss.smoothness_near(point.u) * self.squares / unit / unit
        ridge = 0.0 if problem.shrinkage is None else float(problem.shrinkage.by_entry[0]) / unit / unit
        own = found.own + self._lacking(found.diagonal + ridge, steepest)
        return replace(found, own=own, even=ridge)


def places_of(problem: Problem) -> Places:
    """Return the entries that samples see of x."""
    assert problem.lifted.seen_places is not None  # noqa: S101
    return problem.lifted.seen_places


def factors_of(state: State, form: tuple[int, int]) -> Triplets:
    """Return the factors of x; what rounding has left beside them is dropped."""
    if state.factors is not None:
        return state.factors
    if not state.x.any():
        return Triplets.nothing(form)
    left, values, right = decomposed(state.x.reshape(form))
    rank = int(np.count_nonzero(values > 8 * EPS * max(form) * values[0]))
    return Triplets(left[:, :rank], values[:rank], right[:, :rank])
