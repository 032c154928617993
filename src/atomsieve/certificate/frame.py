"""The problem modulo the constant: features, free columns and targets less a number each.

With an intercept, theta is orthogonal to the constant at the point and at the optimum. So every column may be replaced
by the column less a number, and so may the targets of a loss of `u - y`: x stays the same, and the intercept changes by
what was taken. The numbers are floats near the means. What is left is of the size of its spread, and so are rounding
errors and norms, however far from zero the data lie.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from atomsieve.core import Packed
from atomsieve.design.base import Enclosed, bounded, enclosed
from atomsieve.design.centred import CentredDesign
from atomsieve.design.chunked import ChunkedDesign
from atomsieve.design.dense import DenseDesign
from atomsieve.design.product import ProductDesign
from atomsieve.design.repeated import RepeatedDesign
from atomsieve.design.selected import SelectedDesign
from atomsieve.design.sparse import SparseDesign
from atomsieve.numerics import exact
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import Enclosure, gamma, up
from atomsieve.numerics.places import support_of
from atomsieve.numerics.rounding import EPS
from atomsieve.problem import Problem
from atomsieve.problem.span import Span
from atomsieve.typing import Array, Index


@dataclass(frozen=True, eq=False)
class Frame:
    """What was taken from whom: columns of A and B have a home, the constant column of B that takes what they lose."""

    problem: Problem
    constants: int
    """The number of constant columns, the first ones of B: one for each output, or none."""

    design: Enclosed
    centres: Enclosure
    homes: Index
    free: Enclosure
    """The columns of B, less their centres."""

    free_centres: Enclosure
    free_homes: Index
    level: Array
    """What was taken from the targets, for each constant."""

    y: Array
    offset: Enclosure | None
    """The offset, and what rounding left of the targets."""

    @classmethod
    def of(cls, problem: Problem) -> "Frame":
        """Return the frame of a problem; nothing is taken without an intercept."""
        design, columns = bounded(problem.design), problem.smooth.unpenalised
        constants = 0 if problem.joined else problem.data.tasks * int(problem.data.intercept)
        offset = problem.smooth.offset
        fixed = None if offset is None else Enclosure.exact(offset)
        own = problem.core.unpenalised()
        given = columns[:, : columns.shape[1] - len(own)]
        centred, centres, homes = _centred(design) if constants else _as_it_is(design)
        homes_of_given = np.arange(given.shape[1]) % max(constants, 1)
        means = np.zeros(given.shape[1])
        if constants and given.shape[1] > constants:
            means[constants:] = _finite(given[:, constants:].sum(axis=0) / (len(given) // constants))
        free = Enclosure.exact(given)
        if means.any():
            left = given - given[:, homes_of_given] * means
            free = Enclosure(left, EPS * np.abs(left) * (means != 0))
        if len(own):
            free = beside(free, centred.enclose_columns(own))
        level, y = np.zeros(constants), problem.y
        if constants and problem.loss.translates:
            level = _finite(y.reshape(-1, constants).mean(axis=0))
            y = (y.reshape(-1, constants) - level).ravel()
            rest = Enclosure(np.zeros(len(y)), EPS * np.abs(y))
            fixed = rest if fixed is None else fixed + rest
        free_centres, free_homes = Enclosure.exact(means), homes_of_given
        if len(own):
            free_centres, free_homes = beside(free_centres, centres[own]), np.append(free_homes, homes[own])
        return cls(problem, constants, centred, centres, homes, free, free_centres, free_homes, level, y, fixed)

    @cached_property
    def span(self) -> Span:
        """The span of the columns of B, for the best free coefficients; that of the problem if B loses nothing."""
        smooth = self.problem.smooth
        if np.array_equal(self.free.mid, smooth.unpenalised):
            assert self.problem.span is not None  # noqa: S101 -- there are constants
            return self.problem.span
        return Span.of(self.free.mid, smooth.loss, self.y, smooth.weights, smooth.outputs, smooth.offset)

    def best(self, x: Array, support: Index, image: Array, coordinates: Array) -> Array:
        """Return the best free coefficients in this frame for an image, as far as floats tell."""
        problem = self.problem
        if not self.constants:
            assert problem.span is not None  # noqa: S101
            return np.asarray(problem.span.coefficients(problem.smooth.predict(image, coordinates)[0]))
        image = image if problem.smooth.fixed is None else image + problem.smooth.fixed
        span = self.span
        b = np.asarray(span.transform @ span.settled(image, self._guess(x, support, coordinates)))
        shift = span.shift.copy()
        if span is problem.span:  # whose targets have not lost the level, but what the shift says
            shift[: self.constants] -= self.level.reshape(-1, *[1] * (shift.ndim - 1))
        return shift + b

    def _guess(self, x: Array, support: Index, coordinates: Array) -> Array | None:
        """Return the stated coordinates of B b in this frame; None where nothing is known, or not in this span."""
        span, design = self.span, self.design
        if span is not self.problem.span or x.ndim > 1 or not np.isfinite(coordinates).all():
            return None
        if isinstance(design, CentredDesign):  # the constant takes what the columns lose
            return coordinates + span.along(np.full(design.shape[0], float(design.centres[support] @ x[support])))
        return coordinates if isinstance(design, SparseDesign) else None

    def outside(self, x: Array, b: Array) -> Enclosure:
        """Return free coefficients as the problem states them. With several classes, their sums over them stay 0."""
        if not self.constants:
            return Enclosure.exact(b)
        if b.ndim == 1 and x.ndim == 1 and self.constants == 1 and len(b) == 1:
            return self._intercept(x, float(b[0]))
        x, b = x.reshape(len(self.homes), -1), b.reshape(len(b), -1)
        used = np.flatnonzero(x.any(axis=1))
        x, homes = x[used], self.homes[used]
        sizes = np.abs(x).mean(axis=1)
        means = x.mean(axis=1) if x.shape[1] > 1 else np.zeros(len(x))
        lost = gamma(x.shape[1] + 1) * sizes if x.shape[1] > 1 else means
        mid, rad = b.copy(), np.zeros(b.shape)
        for home in range(self.constants):
            mine, own = homes == home, self.free_homes == home
            c, f = self.centres[used[mine]], self.free_centres[own]
            factors = np.concatenate([[1.0, self.level[home]], -c.mid, c.mid, -f.mid])
            for k in range(b.shape[1]):
                terms = np.concatenate([[b[home, k], 1.0], x[mine, k], means[mine], b[own, k]])
                found = exact.dots(Packed.of(factors[:, None]), Enclosure.exact(terms))
                blur = c.rad @ (np.abs(x[mine, k]) + sizes[mine]) + f.rad @ np.abs(b[own, k]) + c.size @ lost[mine]
                mid[home, k], rad[home, k] = found.mid[0], up(found.rad[0] + float(blur) * (1 + gamma(len(factors))))
        shape = (len(b), *self.problem.outputs)
        return Enclosure(mid.reshape(shape), rad.reshape(shape))

    def _intercept(self, x: Array, b: float) -> Enclosure:
        """Return the only free coefficient, a constant, as the problem states it."""
        used = support_of(x)
        c = self.centres[used]
        factors, terms = np.empty((2, len(used) + 2))
        factors[:-2], factors[-2:], terms[:-2], terms[-2:] = c.mid, (-1.0, -self.level[0]), x[used], (b, 1.0)
        total, small, lost = exact.product(factors, terms)
        mid = -(total + small)
        rad = up(lost + EPS * abs(mid) + float(c.rad @ np.abs(x[used])) * (1 + gamma(len(used) + 2)))
        return Enclosure(np.array([mid]), np.array([rad]))

    def directions(self, free: Index, columns: Index) -> list[Enclosure]:
        """Return what each constant is as a sum of coefficients in this frame: of some columns of B, and of A."""
        if not self.constants:
            return []
        homes = np.concatenate([self.free_homes[free], self.homes[columns]])
        centres = beside(self.free_centres[free], self.centres[columns])
        found = []
        for home in range(self.constants):
            mid, rad = -centres.mid * (homes == home), centres.rad * (homes == home)
            mid[home] = 1.0
            found.append(Enclosure(mid, rad))
        return found


def _centred(design: Any) -> tuple[Enclosed, Enclosure, Index]:
    """Return a design modulo the constants, what was taken from each column, and which constant takes it."""
    if isinstance(design, DenseDesign):
        centred = CentredDesign.of(design)
        return centred, Enclosure.exact(centred.centres), np.zeros(design.shape[1], dtype=np.intp)
    if isinstance(design, ChunkedDesign) and not design.sparse:
        return design.centred(), Enclosure.exact(design.centres), np.zeros(design.shape[1], dtype=np.intp)
    if isinstance(design, ProductDesign):
        left, centres, _ = _centred(design.left)
        return _replaced(design, left=left), *_moved_by(design, centres)
    if isinstance(design, SelectedDesign):
        inner, centres, _ = _centred(design.design)
        return _replaced(design, design=inner), centres[design.places], np.zeros(design.shape[1], dtype=np.intp)
    if isinstance(design, RepeatedDesign):
        inner, centres, _ = _centred(design.design)
        return _replaced(design, design=inner), centres[design.features], design.outputs
    return _as_it_is(design)


def _moved_by(design: ProductDesign, centres: Enclosure) -> tuple[Enclosure, Index]:
    """Return what is taken from the columns of a product whose left factor loses its centres."""
    return bounded(design.right).enclose_adjoint(centres), np.zeros(design.shape[1], dtype=np.intp)


def _as_it_is(design: Any) -> tuple[Enclosed, Enclosure, Index]:
    """Return a design from which nothing is taken: a sparse one would not be sparse any more."""
    none = np.zeros(design.shape[1], dtype=np.intp)
    return design, Enclosure.exact(np.zeros(len(none))), design.outputs if isinstance(design, RepeatedDesign) else none


def _replaced(whole: Any, **parts: Any) -> Enclosed:
    """Return a design with another part, for its products with error bounds only."""
    return enclosed(replace(whole, **parts))


def _finite(means: Array) -> Array:
    """Return 0 in place of what has overflowed."""
    return np.where(np.isfinite(means), means, 0.0)


def beside(given: Enclosure, columns: Enclosure) -> Enclosure:
    """Return columns side by side."""
    if not given.shape[-1]:
        return columns
    if not columns.shape[-1]:
        return given
    parts = (given.mid, columns.mid), (given.rad, columns.rad)
    return Enclosure(*(np.concatenate(both, axis=-1) for both in parts))
