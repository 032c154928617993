"""The problem `min over x, b of F(A x + B b) + phi(kappa_P(x))`, and `Point`: all that one pass over the data tells."""

import copy
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from atomsieve.arrays import array_namespace
from atomsieve.checks import as_floats, require_piece
from atomsieve.design import Design, Meter, Metered, as_design
from atomsieve.free import FreeDirections, UnsettledError
from atomsieve.gauges import L1, Atom, Gauge
from atomsieve.gauges.base import BlockGauge
from atomsieve.losses import Loss, Squared
from atomsieve.measure import Measure, inner
from atomsieve.penalties import Penalty, Square
from atomsieve.rounding import EPS, noise_level
from atomsieve.state import State
from atomsieve.threads import one_thread
from atomsieve.typing import Array, Index, Mask, Samples
from atomsieve.validation import check_free, check_targets, check_weights, check_y


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
            error = noise_level(len(self.y)) * self.measure.plain_norm(origin.u)
            if self.free is not None and loss.translates:  # targets that free directions explain up to rounding
                error += (1 + columns.shape[1]) * EPS * self.measure.plain_norm(self.y)
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
    def measure(self) -> Measure:
        """Norms of images in the data."""
        return Measure(self.design, self.weights, None if self.free is None else self.free.basis)

    @cached_property
    def spread(self) -> Array:
        """Upper bound of the largest norm of A p, for each block."""
        return self.core.spread(self.measure, math.prod(self.outputs))

    @cached_property
    def lengths(self) -> Array:
        """The same with the part along the free directions counted: what rounding scales with."""
        if self.free is None:
            return self.spread
        return self.core.spread(self.measure.plain, math.prod(self.outputs))

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

    def inside(self, x: Array, fit: Samples, free: Array, drift: float = 0.0) -> State:
        """Return the state of coefficients with known predictions, shrunk where phi would be infinite."""
        mass = self.core.value(x)
        while not self.penalty.admits(mass) and math.isfinite(mass):
            shrink = self.penalty.limit / mass * (1 - 4 * EPS)
            x, fit = shrink * x, shrink * fit
            mass = self.core.value(x)
        return State(x, mass, fit, free, self.measure.plain_norm(fit), drift)

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

    def predict(self, fit: Samples, free: Array) -> tuple[Array, Samples, Samples]:
        """Return the best free coordinates for `A x = fit`, the predictions u there, and loss'(u)."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.free is None:
                return free, fit, self.loss.gradient(fit, self.targets)
            return self.free.minimise(fit, free)

    def view(self, state: State) -> "View":
        """Return what one product with A' shows."""
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                free, u, slopes = self.predict(state.fit, state.free)
            except UnsettledError:  # so far out that losses cannot be told apart: nothing is known there
                free, u = state.free, np.nan * state.fit
                slopes = u
            # B' theta = 0 holds up to rounding only, which an offset of the features would blow up in z; the slopes
            # themselves stay as they are, inside the domain of the conjugate
            across = self.measure.project(slopes)
            stray = 0.0 if self.free is None else self.measure.plain_norm(slopes - across)
            theta = self.measure.weighted(across)
            return View(replace(state, free=free), u, slopes, theta, -self.design.rmatvec(theta), stray)

    def at(self, state: State, alive: Mask | None = None) -> "Point":
        """Return the point at a state: one product with A', and all bounds that follow from it.

        Blocks that are not `alive` are known to be zero at the optimum and do not count in the support function.
        """
        return Point.of(self, self.view(state), alive)

    @property
    def origin(self) -> "Point":
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
        for name in ("measure", "eligible", "spread", "lengths", "widest", "_origin"):
            part.__dict__.pop(name, None)
        part.design, part.core, part.rows = design, core, rows
        part.outputs = self.outputs if outputs is None else outputs
        return part


@dataclass(frozen=True, eq=False)
class View:
    """What the data show at a state, whatever the penalty: predictions, loss'(u), theta and `z = -A' theta`.

    `stray` is the length of what was taken from loss'(u) so that `B' theta = 0`: how far the free coefficients are from
    their best, as a slope.
    """

    state: State
    u: Samples
    slopes: Samples
    theta: Samples
    z: Array
    stray: float


@dataclass(frozen=True, eq=False, repr=False)
class Point:
    """One state with its dual point; gap, dual point and radius are made together and travel together.

    `theta` is dual feasible and `z = -A' theta`. It is the gradient at u, scaled by `factor` where the penalty asks for
    that (`Linear`): the point is then not paired, and every radius grows by sqrt(2). `gap >= objective - optimum`.
    `rounding` estimates how far rounding may have moved the gap for given scores, `doubt` how far it may have moved
    `p . z` per unit of the norm of A p: estimates that keep plain floats out of trouble, not bounds.
    """

    problem: Problem
    state: State
    u: Samples
    slopes: Samples
    theta: Samples
    z: Array
    scores: Array
    best: int
    sigma: float
    gap: float
    factor: float
    rounding: float
    doubt: float
    stray: float

    @classmethod
    def of(cls, problem: Problem, view: View, alive: Mask | None = None) -> Self:
        """Pair a state with the gradient there, scaled into the domain of phi* where it must be."""
        with np.errstate(over="ignore", invalid="ignore"):
            return cls._of(problem, view, alive)

    @classmethod
    def _of(cls, problem: Problem, view: View, alive: Mask | None) -> Self:
        state, u, slopes, theta, z = view.state, view.u, view.slopes, view.theta, view.z
        scores = problem.core.scores(z)
        if alive is not None:
            np.copyto(scores, -np.inf, where=~alive)
        penalty = problem.penalty
        # free directions do not count against theta, and taking them out first leaves less to cancel
        centred = problem.measure.project(state.fit)
        best = int(scores.argmax())
        sigma = max(float(scores[best]), 0.0)
        charge = penalty.value(state.mass)
        factor, answer = 1.0, penalty.conjugate(sigma)
        if not (penalty.superlinear or answer < math.inf):
            factor, answer = penalty.slope(0.0) / sigma, 0.0
            theta, z, scores, sigma = factor * theta, factor * z, factor * scores, penalty.slope(0.0)
            # F(u) + F*(factor theta) - factor u . theta, sample by sample: nothing cancels
            apart = problem.loss.fenchel_young(u, factor * slopes, problem.targets)
            answer = float(array_namespace(u).sum(problem.weights * apart))
        gap = charge + answer + inner(centred, theta)
        noise = noise_level(len(u))
        norm = problem.measure.plain_norm
        size = state.length if u is state.fit else state.length + norm(u)
        # rounding of u moves theta by at most M times as much
        blur = noise * size + state.drift
        doubt = noise * norm(slopes) + problem.loss.smoothness_near(u) * blur
        rounding = noise * (charge + abs(answer)) + doubt * (state.length if centred is state.fit else norm(centred))
        lost = view.stray * norm(u)  # where free coefficients are so far from their best that u would halve
        if problem.free is not None and lost > rounding:
            lost = min(lost, problem.free.shortfall(u, view.stray))
        rounding += lost
        if factor < 1:  # losses are evaluated, and rounding of u moves them as far as theta falls short of their slope
            rounding += noise * problem.loss_value(u) + (1 - factor) * norm(slopes) * blur
        if gap < -rounding:  # it cannot be negative: so far off is rounding at least
            gap = rounding = -gap
        if not math.isnan(gap):
            gap = max(gap, 0.0)
        return cls(problem, state, u, slopes, theta, z, scores, best, sigma, gap, factor, rounding, doubt, view.stray)

    def __repr__(self) -> str:
        return f"Point(gap {self.gap:.2e}, {'paired' if self.paired else 'unpaired'}, mass {self.state.mass:.6g})"

    @cached_property
    def objective(self) -> float:
        """F(u) + phi(mass), an upper bound of the optimum."""
        return self.problem.loss_value(self.u) + self.problem.penalty.value(self.state.mass)

    @property
    def paired(self) -> bool:
        """Whether theta is the gradient at u itself."""
        return self.factor == 1.0

    @property
    def dual(self) -> float:
        """The dual value at theta, a lower bound of the optimum."""
        return self.objective - self.gap

    @property
    def radius(self) -> float:
        """The r with `|v . (theta - theta*)| <= norm(v)_w r` for images v of single atoms, with room for rounding."""
        reach = (1 if self.paired else 2) * (self.gap + self.uncertainty)
        return math.sqrt(self._curvature(reach) * reach)

    @cached_property
    def uncertainty(self) -> float:
        """How far rounding may have moved the gap, that of the best score included: an estimate."""
        problem = self.problem
        # phi* is as steep as the size that attains it; a dual point that is scaled costs as much as x has mass
        size = problem.penalty.argmax(self.sigma) if self.paired and problem.penalty.superlinear else self.state.mass
        # the slopes are in doubt across the free directions only, the product with A' along them as well
        with np.errstate(over="ignore", invalid="ignore"):
            grain = noise_level(len(self.u)) * problem.measure.plain_norm(self.slopes)
        score = self.doubt * problem.widest + grain * float(problem.lengths.max())
        return self.rounding + size * score

    def _curvature(self, reach: float) -> float:
        """Return the largest curvature of the loss between here and the optimum."""
        problem = self.problem
        if problem.curvature < math.inf:
            return problem.curvature
        return problem.loss.smoothness_towards(self.factor * self.slopes, problem.targets, problem.weights, reach)

    @cached_property
    def atom(self) -> Atom:
        """The best atom q with `q . z = sigma`; 0 where no atom has a positive score."""
        atom = self.problem.core.atom(self.z, self.best)
        return atom if self.sigma > 0 else atom.scaled(0.0)

    @property
    def is_finite(self) -> bool:
        """Whether the gap is a number: it is not after an overflow."""
        return math.isfinite(self.gap)

    def under(self, problem: Problem) -> "Point":
        """Return the point at the same state for a problem that differs in its penalty only: no product is needed."""
        if not problem.penalty.admits(self.state.mass):
            state = problem.inside(self.state.x, self.state.fit, self.state.free, self.state.drift)
            return problem.at(state, problem.eligible)
        view = View(self.state, self.u, self.slopes, self.theta / self.factor, self.z / self.factor, self.stray)
        return Point.of(problem, view, problem.eligible)

    def restrict(self, problem: Problem, rows: Index, blocks: Index) -> "Point":
        """Return the same point seen from the problem on the given rows, which holds all of its weight."""
        state = replace(self.state, x=self.state.x[rows])
        best = int(np.searchsorted(blocks, self.best))
        return replace(self, problem=problem, state=state, z=self.z[rows], scores=self.scores[blocks], best=best)
