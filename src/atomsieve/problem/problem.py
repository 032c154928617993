"""The problem `min over x, b of F(A x + B b) + phi(kappa_P(x))`."""

import copy
import math
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from atomsieve.design import Design, Meter, Metered, as_design
from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges import L1, Gauge
from atomsieve.gauges.base import BlockGauge
from atomsieve.intake.arguments import as_floats, require_piece
from atomsieve.losses import Loss, Squared
from atomsieve.numerics.namespace import array_namespace
from atomsieve.numerics.rounding import EPS, noise_level
from atomsieve.numerics.threads import one_thread
from atomsieve.penalties import Penalty, Square
from atomsieve.problem.data import check_free, check_targets, check_weights, check_y
from atomsieve.problem.free import FreeDirections, UnsettledError
from atomsieve.problem.point import Point, View
from atomsieve.problem.state import State
from atomsieve.typing import Array, Index, Mask, Samples


class Problem:
    """Minimise `sum_i w_i loss((A x + B b)_i, y_i) + penalty(gauge(x))` over x and the free coefficients b.

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (n, d)
        The design A, held by reference where it is float64 (dense, or CSR and CSC without duplicates) and converted
        once otherwise; never modified. Predictions are `X @ result.x + result.intercept`.
    y : array of shape (n,)
        Targets: real numbers, labels -1 and 1, or classes 0, ..., K - 1, as the loss asks.
    loss : Loss
        `Squared()`, `Logistic()`, `SquaredHinge()`, `Huber(delta)`, `Poisson()` or `Multinomial()`; their weighted mean
        is taken.
    gauge : Gauge
        `L1()`, `NonNegative()`, `Simplex()`, `L2()`, `LInf()`, `Group(groups)`, `Atoms(matrix)`, or `Scaled` and
        `Image` of one of these.
    penalty : Penalty
        `Square(a)`, `Power(a, p)`, `Ball(C)`, `LogBarrier(C, b)`, `LinearSquare(a, m)` or `Linear(a)`.
    sample_weight : array of shape (n,), optional
        Non-negative weights; they are divided by their sum, so that None means 1/n each and a weight of 2 means the
        sample twice.
    intercept : bool
        Whether a constant is added to the predictions, unpenalised.
    free : array of shape (n, k), optional
        Further unpenalised columns B.

    Examples
    --------
    >>> import numpy as np
    >>> from atomsieve import Problem, Squared, L1, Square
    >>> Problem(np.eye(2), [3.0, 0.0], loss=Squared(), gauge=L1(), penalty=Square(1.0)).baseline
    2.25
    """

    @one_thread()
    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        loss: Loss = Squared(),  # noqa: B008
        gauge: Gauge = L1(),  # noqa: B008
        penalty: Penalty = Square(1.0),  # noqa: B008
        sample_weight: Any = None,
        intercept: bool = False,
        free: Any = None,
    ) -> None:
        for name, piece, kind in (("loss", loss, Loss), ("gauge", gauge, Gauge), ("penalty", penalty, Penalty)):
            require_piece(name, piece, kind)
        if not isinstance(intercept, (bool, np.bool_)):
            raise TypeError(f"intercept must be True or False, got {intercept!r}. Pass columns of your own as `free`.")
        ambient, given, y, weights = self._state(X, y, sample_weight, free)
        self.loss, self.gauge, self.penalty, self.weights = loss, gauge, penalty, weights
        self.intercept, self.free_count = bool(intercept), given.shape[1]
        self.y, self.outputs = check_targets(y, loss, intercept=self.intercept)
        gauge.check((ambient.shape[1], *self.outputs))
        self.design: Design
        self.core: BlockGauge
        lifted, self.core = gauge.lift(ambient)
        self.meter = Meter(lifted.shape[1])
        """How many times the data were gone through so far."""
        self.design = Metered(lifted, self.meter)
        self.rows: Index = np.arange(self.design.shape[1])
        """Which rows of the lifted coefficients these are, for a problem restricted to some of them."""
        constant = np.ones((len(weights), int(self.intercept)))
        unpenalised = np.asarray(self.design.columns(self.core.free_rows()))
        columns = np.hstack([constant, given, unpenalised])
        self.free: FreeDirections | None = None
        with np.errstate(over="ignore", invalid="ignore"):
            if columns.shape[1]:
                self.free = FreeDirections.of(columns, loss, self.y, weights, self.outputs)
            self.targets = self.y if self.free is None else self.free.y
            """What predictions are compared with: y, less what free directions explain of it (FreeDirections)."""
            self._origin = self.view(self.state())
            origin = Point.of(self, self._origin, self.eligible)
            error = noise_level(len(self.y)) * self.seminorm.plain_norm(origin.u)
        self.baseline = origin.objective
        """The objective at x = 0, free directions at their best: the scale of every tolerance."""
        self.negligible = loss.smoothness_near(origin.u) * error * error
        """What rounding of the predictions at x = 0 can make of an objective that is 0."""
        if not (math.isfinite(origin.objective) and origin.is_finite):
            raise ValueError(
                f"The problem overflows at x = 0: {type(loss).__name__} or {penalty!r} is not finite there. Rescale "
                "y, X and `free` to moderate size, or choose a larger strength."
            )

    def _state(self, X: Any, y: Any, sample_weight: Any, free: Any) -> tuple[Design, Array, Any, Array]:
        """Check the data and keep what certificates need; samples of weight 0 are left out, whatever they hold."""
        ambient = as_design(X)
        weights = check_weights(sample_weight, ambient.shape[0])
        given, y = check_free(free, len(weights)), check_y(y, len(weights))
        stated = np.ones(len(weights)) if sample_weight is None else np.array(as_floats(sample_weight, "sample_weight"))
        counted = weights > 0
        self.lost_weight = bool((stated[~counted] > 0).any())
        """Whether samples have so little weight that it rounds to 0: they are left out, against the statement."""
        if not counted.all():
            ambient, weights, given, y = ambient.samples(counted), weights[counted], given[counted], y[counted]
            stated = stated[counted]
        self.stated_design = ambient
        """X itself, before atoms of an Image are counted as columns."""
        self.stated_weights = stated
        """The weights as they were given, to be divided by their sum; 1 for every sample by default."""
        self.given = given
        """The columns passed as `free`."""
        return ambient, given, y, weights

    def __repr__(self) -> str:
        n, d = self.design.shape
        pieces = f"loss={self.loss!r}, gauge={self.gauge!r}, penalty={self.penalty!r}, intercept={self.intercept}"
        return f"Problem({n} samples, {d} lifted coefficients, {pieces})"

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the lifted coefficients."""
        return (self.design.shape[1], *self.outputs)

    @cached_property
    def seminorm(self) -> Seminorm:
        """Norms of images in the data."""
        return Seminorm(self.design, self.weights, None if self.free is None else self.free.basis)

    @cached_property
    def spread(self) -> Array:
        """Upper bound of the largest norm of A p, for each block."""
        return self.core.spread(self.seminorm, math.prod(self.outputs))

    @cached_property
    def lengths(self) -> Array:
        """The same with the part along the free directions counted: what rounding scales with."""
        if self.free is None:
            return self.spread
        return self.core.spread(self.seminorm.plain, math.prod(self.outputs))

    @cached_property
    def curvature(self) -> float:
        """The constant M of the loss for single atoms."""
        return self.loss.entry_smoothness if self.core.entrywise else self.loss.smoothness

    @cached_property
    def smoothness(self) -> float:
        """The constant L: smoothness of the loss part with respect to the symmetrised hull of the atoms."""
        return self.curvature * self.widest * self.widest

    @cached_property
    def widest(self) -> float:
        """The largest norm of A p over all atoms of the full problem."""
        return float(self.spread.max())

    @cached_property
    def eligible(self) -> Mask:
        """Which blocks have atoms at all (an infinite weight leaves none)."""
        return self.core.eligible(self.shape)

    def state(self, x: Array | None = None, free: Array | None = None) -> State:
        """Return the state of lifted coefficients x (default 0), shrunk into the domain of the penalty."""
        if free is None:
            free = np.zeros(0) if self.free is None else self.free.origin
        if x is None:
            x = np.zeros(self.shape)
            return self.inside(x, self.design.matvec(x[:0], slice(0, 0)), free)
        return self.inside(x, self.design.matvec(x), free)

    def inside(self, x: Array, image: Samples, free: Array, drift: float = 0.0) -> State:
        """Return the state of coefficients with known predictions, shrunk where phi would be infinite."""
        mass = self.core.value(x)
        while not self.penalty.admits(mass) and math.isfinite(mass):
            shrink = self.penalty.limit / mass * (1 - 4 * EPS)
            x, image = shrink * x, shrink * image
            mass = self.core.value(x)
        return State(x, mass, image, free, self.seminorm.plain_norm(image), drift)

    def free_coefficients(self, state: State) -> tuple[Array, Array, Array]:
        """Return the coefficients of the intercept (one row or none), of `free`, and of unpenalised columns of A."""
        if self.free is None:
            none = np.zeros((0, *self.outputs))
            return none, none, none
        b = self.free.coefficients(state.free)
        first = int(self.intercept)
        return b[:first], b[first : first + self.free_count], b[first + self.free_count :]

    def loss_value(self, u: Samples) -> float:
        """Return F(u)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(array_namespace(u).sum(self.weights * self.loss.value(u, self.targets)))

    def predict(self, image: Samples, free: Array) -> tuple[Array, Samples, Samples]:
        """Return the best free coordinates for `A x = image`, the predictions u there, and loss'(u)."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.free is None:
                return free, image, self.loss.gradient(image, self.targets)
            return self.free.minimise(image, free)

    def shortfall(self, u: Samples, stray: float, enough: float) -> float:
        """Return how much lower the losses may be at better free coefficients; a bound below `enough` will do.

        Their slope is `stray`. The best u may be as far away as u is from 0, or as a step of that slope is long.
        """
        assert self.free is not None  # noqa: S101 -- else nothing strays
        curvature = self.loss.smoothness_near(u)
        farthest = max(self.seminorm.plain_norm(u), stray / curvature if curvature > 0 else math.inf)
        lost = stray * farthest
        return lost if lost <= enough else min(lost, self.free.shortfall(u, stray))

    def view(self, state: State) -> View:
        """Return what one product with A' shows."""
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                free, u, slopes = self.predict(state.image, state.free)
            except UnsettledError:  # so far out that losses cannot be told apart: nothing is known there
                free, u = state.free, np.nan * state.image
                slopes = u
            # B' theta = 0 holds up to rounding only, which an offset of the features would blow up in z; the slopes
            # themselves stay as they are, inside the domain of the conjugate
            across = self.seminorm.project(slopes)
            stray = 0.0 if self.free is None else self.seminorm.plain_norm(slopes - across)
            theta = self.seminorm.weighted(across)
            return View(replace(state, free=free), u, slopes, theta, -self.design.rmatvec(theta), stray)

    def at(self, state: State, alive: Mask | None = None) -> Point:
        """Return the point at a state: one product with A', and all bounds that follow from it.

        Blocks that are not `alive` are known to be zero at the optimum and do not count in the support function.
        """
        return Point.of(self, self.view(state), alive)

    @property
    def origin(self) -> Point:
        """The point at x = 0, which was looked at when the problem was stated."""
        return Point.of(self, self._origin, self.eligible)

    def at_penalty(self, penalty: Penalty) -> Self:
        """Return the same problem with another penalty; nothing that was computed from the data is lost."""
        other = copy.copy(self)
        other.penalty = penalty
        return other

    def restrict(self, rows: Index) -> Self:
        """Return the same problem on the chosen rows of the lifted coefficients."""
        part = self.recast(self.design.select(rows), self.core.restrict(rows), self.rows[rows])
        if "spread" in self.__dict__:
            kept = self.core.blocks(rows, self.shape)
            part.__dict__.update(spread=self.spread[kept], lengths=self.lengths[kept], widest=self.widest)
        return part

    def recast(self, design: Design, core: BlockGauge, rows: Index, outputs: tuple[int, ...] | None = None) -> Self:
        """Return the same loss, penalty and free directions over other coefficients."""
        part = copy.copy(self)
        for name in ("seminorm", "eligible", "spread", "lengths", "widest", "_origin"):
            part.__dict__.pop(name, None)
        part.design, part.core, part.rows = design, core, rows
        part.outputs = self.outputs if outputs is None else outputs
        return part
