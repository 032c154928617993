"""Families of problems: the stated one, and all that differ from it by errors of the data or by the strength.

Errors are bounds: every entry of X and every target may be off by as much, in any direction, all at once.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix

from atomsieve.design.base import ALL, Design
from atomsieve.design.dense import DenseDesign
from atomsieve.design.product import ProductDesign
from atomsieve.design.repeated import RepeatedDesign
from atomsieve.design.selected import SelectedDesign
from atomsieve.design.sparse import SparseDesign
from atomsieve.intake.arguments import is_number, shown
from atomsieve.numerics.enclosures import LEAST, gamma, up
from atomsieve.numerics.rounding import EPS
from atomsieve.problem import Problem
from atomsieve.typing import Array, Index

LARGEST_EXPONENT = 308
"""Powers of ten beyond this are no doubles."""


@dataclass(frozen=True, eq=False)
class Family:
    """How far the data and the strength of the penalty may be from what is stated."""

    problem: Problem
    errors: Design | None
    """Bounds of the errors of the entries of A; None if they are exact."""

    y_errors: Array | None
    """Bounds of the errors of the targets; None if they are exact."""

    strengths: tuple[float, float] | None
    """The range of strengths; None for the stated one alone."""

    told: dict[str, Any]
    """The same as plain data, for a file."""

    slopes: tuple[float, float] | None = None
    """A range of slopes that holds those of all strengths, where the penalty is not linear: shape.py."""

    @classmethod
    def of(
        cls, problem: Problem, x_error: Any, y_error: Any, strengths: Any, decimals: int | None, *, relative: bool
    ) -> "Family":
        """Check what a user passed."""
        problem = problem.hosted
        _require_plain(problem)
        if decimals is not None:
            x_error, y_error, relative = _printed(problem, x_error, y_error, decimals, relative=relative)
        errors = None if x_error is None else _numbers(x_error, "x_error", _shapes(problem))
        y_errors = None if y_error is None else _numbers(y_error, "y_error", ((), problem.y.shape, _rows(problem)))
        if y_errors is not None and y_errors.any() and not problem.loss.translates:
            raise ValueError(
                f"y_error is for losses of the difference to the target (Squared, Huber); for "
                f"{type(problem.loss).__name__} the targets are labels or counts, and exact."
            )
        told = {
            "x_error": None if errors is None else _told(errors, relative) | {"zeros": not _is_sparse(problem)},
            "y_error": None if y_errors is None else _told(y_errors.ravel() if y_errors.ndim else y_errors, relative),
            "strengths": None if strengths is None else list(_range(problem, strengths)),
        }
        return cls(
            problem,
            None if errors is None else _design(problem, errors, relative=relative),
            None if y_errors is None else _targets(problem, y_errors, relative=relative),
            None if strengths is None else _range(problem, strengths),
            told,
        )

    @classmethod
    def none(cls, problem: Problem) -> "Family":
        """Return the family of one problem alone."""
        return cls(problem, None, None, None, {})

    @property
    def middle(self) -> float | None:
        """The strength in the middle of the range, where a proof reaches farthest; None if the problem states it."""
        if self.strengths is None:
            return None
        middle = (self.strengths[0] + self.strengths[1]) / 2
        return None if middle == getattr(self.problem.penalty, self.problem.penalty.main) else middle

    def moved(self, sizes: Array, index: Index) -> Array:
        """Return how far the predictions of coefficients of some columns, less the targets, can move: eta."""
        eta = np.zeros(len(self.problem.y)) if self.y_errors is None else self.y_errors
        found = self.rows(sizes, index)
        return np.where(found > 0, up(eta + found), eta)

    def pulled(self, theta: Array) -> Array:
        """Return how far the products of the columns of A with theta can move, given bounds of its sizes."""
        if self.errors is None:
            return np.zeros(self.problem.shape)
        return _sums(self.errors.rmatvec(theta), len(theta))

    def lengths(self, metric: Array) -> Array:
        """Return upper bounds of the lengths of the errors of the columns of A in a metric."""
        if self.errors is None:
            return np.zeros(self.problem.shape[0])
        return np.asarray(self.errors.norm_bounds(metric))  # type: ignore[attr-defined]

    def rows(self, sizes: Array, index: Index) -> Array:
        """Return bounds of the products of errors of some columns with numbers that are not negative.

        Columns are those of A; -1 stands for one that is exact.
        """
        used = np.flatnonzero((index >= 0) & (sizes > 0))
        if self.errors is None or not len(used):
            return np.zeros(len(self.problem.y))
        return _sums(self.errors.matvec(sizes[used], index[used]), len(used))

    def entries(self, samples: Index, index: Index) -> Array:
        """Return bounds of the errors of some samples in some columns of A, or exact ones (-1)."""
        found = np.zeros((len(samples), len(index)))
        if self.errors is not None:
            used = np.flatnonzero(index >= 0)
            found[:, used] = np.asarray(self.errors.columns(index[used]))[samples]
        return found


def _sums(products: Any, terms: int) -> Array:
    """Return upper bounds of sums of products that are not negative."""
    return np.asarray(up(products * (1 + gamma(terms + 4)) + terms * LEAST))


def in_words(told: dict[str, Any]) -> str:
    """Return a family, as a file holds it, in words."""
    parts = [
        f"all {name} within {_bound(told[key])}" for key, name in (("x_error", "X"), ("y_error", "y")) if told[key]
    ]
    if told["strengths"]:
        parts.append("all strengths from {:.6g} to {:.6g}".format(*told["strengths"]))
    return " and ".join(parts)


def _bound(error: dict[str, Any]) -> str:
    values = error["values"]
    size = f"{values:.3g}" if is_number(values) else "the stated errors"
    return f"{size} of its size" if error["relative"] else size


def _require_plain(problem: Problem) -> None:
    """Refuse problems whose families have no proof."""
    why = None
    if problem.core.prices(problem.shape) is None:
        why = "gauges without blocks"
    elif problem.core.signed is not True and not problem.core.one_by_one:
        why = "groups beside coefficients with a sign"
    elif problem.limits is not None:
        why = "limits of the coefficients: the proof moves the point with the data, and a limit would hold it back"
    elif problem.joined:
        why = "a ridge beside images of other coefficients: errors of X would have to leave its samples alone"
    if why:
        raise ValueError(f"Certificates for families of problems (x_error, y_error, strengths) do not cover {why}.")


def _printed(
    problem: Problem, x_error: Any, y_error: Any, decimals: int, *, relative: bool
) -> tuple[float, float | None, bool]:
    """Return the errors of data that were rounded to decimal places, and then to floats."""
    if x_error is not None or y_error is not None or relative:
        raise ValueError("Pass either decimals, or x_error, y_error and relative.")
    if not isinstance(decimals, (int, np.integer)) or isinstance(decimals, bool):
        raise TypeError(f"decimals must be a whole number, got {shown(decimals)}.")
    if decimals < -LARGEST_EXPONENT:
        raise ValueError(f"decimals must be at least {-LARGEST_EXPONENT}, got {decimals}.")
    half = 10.0 ** -float(decimals) / 2
    x_error = float(up(half + EPS * problem.data.design.largest()))
    y_error = float(up(half + EPS * float(np.abs(problem.y).max()))) if problem.loss.translates else None
    return x_error, y_error, False


def _is_sparse(problem: Problem) -> bool:
    return isinstance(getattr(problem.data.design, "unmetered", problem.data.design), SparseDesign)


def _shapes(problem: Problem) -> tuple[tuple[int, ...], ...]:
    n, d = problem.data.design.shape
    return (), (d,), (n, d)


def _rows(problem: Problem) -> tuple[int, ...]:
    n, tasks = problem.data.design.shape[0], problem.data.tasks
    return (n,) if tasks == 1 else (n, tasks)


def _numbers(value: Any, name: str, shapes: tuple[tuple[int, ...], ...]) -> Array:
    """Return errors as an array of one of the shapes."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a number or an array of numbers, got {shown(value)}.") from error
    if array.shape not in shapes:
        wanted = ", ".join("a number" if not shape else str(shape) for shape in dict.fromkeys(shapes))
        raise ValueError(f"{name} must have one of the shapes {wanted}, got {array.shape}.")
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise ValueError(f"{name} must hold finite numbers that are not negative.")
    return array


def _told(errors: Array, relative: bool) -> dict[str, Any]:
    return {"relative": bool(relative), "values": errors.tolist()}


def _design(problem: Problem, errors: Array, *, relative: bool) -> Design:
    """Return bounds of the errors of all entries of A, as a matrix."""
    base: Any = getattr(problem.data.design, "unmetered", problem.data.design)
    bounds: Design
    if isinstance(base, SparseDesign):
        entries = base.matrix.tocoo()
        held = np.broadcast_to(errors, base.shape)[entries.row, entries.col]
        held = _parts(entries.data, held) if relative else held
        bounds = SparseDesign(csc_matrix((held, (entries.row, entries.col)), shape=base.shape))
    else:
        dense = _parts(base.columns(ALL), errors) if relative else np.broadcast_to(errors, base.shape).copy()
        bounds = DenseDesign(dense)
    tasks, design = problem.data.tasks, problem.design
    design = getattr(design, "unmetered", design)
    bounds = _image(design.design if isinstance(design, RepeatedDesign) else design, bounds)
    return bounds if tasks == 1 else RepeatedDesign.of(bounds, tasks)


def _image(design: Any, bounds: Any) -> Design:
    """Return bounds of the errors of the columns of X times matrices: their sizes times the errors of X, rounded up."""
    if isinstance(design, SelectedDesign):
        return SelectedDesign(_image(design.design, bounds), design.places)
    if not isinstance(design, ProductDesign):
        return bounds  # type: ignore[no-any-return]
    left, right = _image(design.left, bounds), design.right
    between = right.shape[0]
    product: Any = _entries(left) @ abs(_entries(right))
    if not (isinstance(left, SparseDesign) and isinstance(right, SparseDesign)):
        return DenseDesign(np.where(product > 0, _sums(product, between), 0.0))
    stored: Any = csc_matrix(product)
    stored.data = _sums(stored.data, between)
    return SparseDesign(stored)


def _entries(design: Any) -> Any:
    """Return a design as a matrix: sparse if it is stored so."""
    return design.matrix if isinstance(design, SparseDesign) else np.asarray(design.columns(ALL))


def _targets(problem: Problem, errors: Array, *, relative: bool) -> Array:
    errors = np.broadcast_to(errors.ravel(), problem.y.shape)
    return _parts(problem.y, errors) if relative else errors


def _parts(data: Array, errors: Array) -> Array:
    """Return upper bounds of errors that are parts of the data; what is exact stays exact."""
    return np.asarray(np.where((data == 0) | (errors == 0), 0.0, up(np.abs(data) * errors)))


def _range(problem: Problem, strengths: Any) -> tuple[float, float]:
    """Return a range of strengths around the stated one."""
    penalty = problem.penalty
    if penalty.slope(min(penalty.limit, 1.0) / 2) == 0:
        raise ValueError(
            f"{type(penalty).__name__} has no slope within its ball, and no proof for ranges of its radius. All "
            "penalties share one path of solutions: ask for strengths of Linear."
        )
    try:
        low, high = (float(s) for s in strengths)
    except (TypeError, ValueError) as error:
        raise ValueError(f"strengths must be two numbers, got {shown(strengths)}.") from error
    stated = float(getattr(penalty, penalty.main))
    if not 0 < low <= stated <= high < math.inf:
        raise ValueError(f"strengths must be positive and enclose the stated strength {stated:.6g}: {low:g}, {high:g}.")
    return low, high
