"""The problem `min over x, b of F(A x + B b + offset) + phi(kappa_P(x)) + (ridge / 2) |x|^2`, within limits of x."""

import math
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.sparse import eye_array

from atomsieve.design import Completion, Design, Meter, Metered
from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges import L1, Gauge
from atomsieve.gauges.base import BlockGauge
from atomsieve.gauges.found import Combination
from atomsieve.gauges.triplets import Triplets
from atomsieve.intake.arguments import as_numbers, require_piece
from atomsieve.losses import Loss, Squared
from atomsieve.losses.ridged import Ridged
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.rounding import EPS
from atomsieve.penalties import Penalty, Square
from atomsieve.problem.beside import Beside, is_eliminated, require_samples
from atomsieve.problem.data import Data
from atomsieve.problem.lifted import Lifted
from atomsieve.problem.limits import CoefficientLimits, Pair, check_limits
from atomsieve.problem.point import Point
from atomsieve.problem.shrinkage import Ridge, Shrinkage, check_ridge
from atomsieve.problem.smooth import Smooth
from atomsieve.problem.span import Span
from atomsieve.problem.state import State
from atomsieve.problem.view import View
from atomsieve.typing import Array, Index, Mask, Samples


class Problem:
    """Minimise `sum_i w_i loss((A x + B b)_i, y_i) + penalty(gauge(x)) + (ridge / 2) |x|^2` over x and b.

    If there are limits, then over `lower <= x <= upper`. The free coefficients b are those of the intercept, of the
    columns `free`, and of coordinates with a weight of 0.

    The constructor checks the data and solves nothing. Values that depend on the data are computed when they are first
    needed, and then stored (`lifted`).

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (n, d)
        The design A. It is held by reference if it is float64 (dense, or CSR and CSC without duplicates), and converted
        once otherwise. It is never modified. Predictions are `X @ result.x + result.intercept`. For `TotalVariation`
        and `TrendFilter` None means the identity: x is the signal y without its noise. For matrix completion
        `Completion(rows, columns, shape)`.
    y : array of shape (n,) or (n, K)
        Targets: real numbers, labels -1 and 1, counts, or classes 0, ..., K - 1, depending on the loss. With K columns
        there are K outputs: x has the shape (d, K), and the losses of all outputs are added.
    loss : Loss
        `Squared()`, `Logistic()`, `SquaredHinge()`, `Huber(delta)`, `Poisson()` or `Multinomial()`. The objective uses
        its weighted mean over the samples.
    gauge : Gauge
        `L1()`, `NonNegative()`, `Simplex()`, `L2()`, `LInf()`, `Group(groups)`, `SparseGroup(groups)`,
        `LatentGroup(groups)`, `TotalVariation()`, `TrendFilter(order)`, `Nuclear()`, `PSDTrace()`, `Atoms(matrix)`,
        `Oracle(lmo)`, or `Scaled`, `Image`, `Positive`, `Product` and `Union` of these.
    penalty : Penalty
        `Square(a)`, `Power(a, p)`, `Ball(C)`, `LogBarrier(C, b)`, `LinearSquare(a, m)` or `Linear(a)`.
    sample_weight : array of shape (n,), optional
        Non-negative weights. They are divided by their sum; None means 1/n for each sample. A weight of 2 has the same
        effect as the sample twice.
    intercept : bool
        Whether an unpenalised constant is added to the predictions, one for each output.
    free : array of shape (n, k), optional
        Further unpenalised columns B.
    offset : array of the shape of the predictions, optional
        A fixed term that is added to the predictions, such as the logarithm of an exposure.
    shape : tuple, optional
        The shape in which the gauge sees x. It has d entries in all: with (p, q), x is a matrix, and its entries, row
        by row, are the coefficients of the columns of X. By default (d,), or (d, K) for K outputs.
    names : list of d names, optional
        The names of the features in certificates, tables and messages. By default the columns of a data frame.
    ridge : float or array of shape (d,)
        The strength of a ridge beside the penalty (elastic net), 0 by default: half of it times the sum of squares of
        all coefficients but the free ones. An array has a positive number for each feature; gauges of single
        coefficients (`L1`, `NonNegative`, `Simplex`) take it. For `Image`, `LatentGroup`, `Atoms` and `Union` it is the
        sum of squares of x, not of its preimage.
    limits : pair (lower, upper) or dict {name: (lower, upper)}, optional
        Limits of the coefficients: numbers, or arrays with one number for each feature (for each feature and output);
        None or an infinite number means no limit. 0 need not lie within them, and a coefficient with
        `lower == upper` is fixed. Gauges of single coefficients (`L1`, `NonNegative`, `Simplex`) take limits, also
        beside a ridge.

    Examples
    --------
    >>> import numpy as np
    >>> from atomsieve import Problem, Squared, L1, Square
    >>> Problem(np.eye(2), [3.0, 0.0], loss=Squared(), gauge=L1(), penalty=Square(1.0)).baseline
    2.25
    """

    def __init__(  # noqa: PLR0913 -- a public signature
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
        offset: Any = None,
        shape: Any = None,
        names: Any = None,
        ridge: Any = 0.0,
        limits: Any = None,
    ) -> None:
        for name, piece, kind in (("loss", loss, Loss), ("gauge", gauge, Gauge), ("penalty", penalty, Penalty)):
            require_piece(name, piece, kind)
        given = {"sample_weight": sample_weight, "intercept": intercept, "free": free, "offset": offset, "names": names}
        if X is None and gauge.of_signals:  # predictions are the coefficients themselves
            X = eye_array(len(as_numbers(y, "y")), format="csc")
        data = Data.of(X, y, loss, **given)
        shape = X.shape if shape is None and isinstance(X, Completion) else shape
        gauge = gauge.named(data.names if shape is None else None, data.design.shape[1])
        lifted = Lifted.of(data, loss, gauge, shape)
        stated = check_ridge(ridge, data.design.shape[1], lifted.core.one_by_one)
        whole = Ridge(stated if isinstance(stated, float) else np.repeat(stated, data.tasks))
        pair = check_limits(limits, gauge, lifted, data)
        if not whole.is_zero and (pair is not None or not is_eliminated(gauge, lifted)):
            require_samples(gauge, lifted, data, X)
            lifted = Lifted.of(data, loss, gauge, shape, stated)
        self._hold(data, gauge, penalty, lifted, Beside(whole, pair))

    def _hold(self, data: Data, gauge: Gauge, penalty: Penalty, lifted: Lifted, beside: Beside) -> None:
        """Store the parts, and short names for what every evaluation of a point needs."""
        if not penalty.superlinear and penalty.slope(1.0) != penalty.slope(0.0):
            raise TypeError(
                f"{penalty!r} says superlinear = False, which is for penalties of one slope, like Linear. Give it a "
                "limit (a large one will do), beyond which it is infinite."
            )
        self.data = data
        self.gauge = gauge
        self.penalty = penalty
        self.lifted = lifted
        self._beside = beside
        self.smooth: Smooth = lifted.smooth
        self.loss: Loss = lifted.smooth.loss
        self.design: Design = lifted.design
        self.core: BlockGauge = lifted.core
        self.shape: tuple[int, ...] = lifted.shape
        if beside.limits is not None and penalty.limit < math.inf:
            self._require_room(penalty)

    def _require_room(self, penalty: Penalty) -> None:
        """Refuse limits that leave no point in the domain of the penalty."""
        least = 0.0 if self.limits is None else self.limits.least_mass
        if not penalty.admits(least):
            raise ValueError(
                f"limits leave no solution: the gauge is at least {least:g} within them, and {penalty!r} admits less. "
                f"Choose a larger {penalty.main}, or other limits."
            )

    @classmethod
    def of(cls, data: Data, gauge: Gauge, penalty: Penalty, lifted: Lifted, beside: Beside) -> Self:
        """Return the problem of parts that are already checked."""
        problem = cls.__new__(cls)
        problem._hold(data, gauge, penalty, lifted, beside)
        return problem

    def at_penalty(self, penalty: Penalty) -> Self:
        """Return the same problem with another penalty; it shares all values computed from the data."""
        return self.of(self.data, self.gauge, penalty, self.lifted, self._beside)

    def coupled(self) -> Self:
        """Return the same problem with a ridge in proportion to the penalty: `ridge` times its slope at 0.

        So the elastic nets of one mixing ratio form a path over the slope of `Linear`.
        """
        if self.joined:
            raise ValueError("A ridge beside limits or an image is part of the data: it cannot follow the penalty.")
        beside = self._beside._replace(ridge=replace(self._beside.ridge, coupled=True))
        return self.of(self.data, self.gauge, self.penalty, self.lifted, beside)

    @property
    def hosted(self) -> "Problem":
        """The same problem for proofs, with all that is as long as the samples on the host."""
        return self if self.data.hosted is self.data else self._on_the_host

    @cached_property
    def _on_the_host(self) -> "Problem":
        data = self.data.hosted
        lifted = Lifted.of(data, self.loss, self.gauge, None if self.gauge.mapped else self.lifted.form)
        return self.of(data, self.gauge, self.penalty, lifted, self._beside)

    def restrict(self, columns: Index) -> Self:
        """Return the same problem on the chosen columns of the lifted design."""
        return self.over(self.lifted.restrict(columns))

    def over(self, lifted: Lifted) -> Self:
        """Return the same problem in other lifted coordinates."""
        return self.of(self.data, self.gauge, self.penalty, lifted, self._beside)

    @property
    def ridge(self) -> float | Array:
        """The strength of the ridge: a number, or one for each column of the full lifted design."""
        return self._beside.ridge.at(self.penalty)

    @property
    def joined(self) -> bool:
        """Whether a ridge is joined to the loss, in samples of x: beside gauges that cannot eliminate it."""
        return isinstance(self.loss, Ridged)

    @cached_property
    def shrinkage(self) -> Shrinkage | None:
        """The ridge of each block; None without a ridge, or where it is joined to the loss."""
        if self._beside.ridge.is_zero or self.joined:
            return None
        ridge = self.ridge
        return Shrinkage.of(ridge, self.lifted) if np.any(ridge != 0) else None

    @property
    def stated_limits(self) -> Pair:
        """The limits of the coefficients of the full lifted design, row by row."""
        none = np.full(math.prod(self.shape), np.inf)
        return self._beside.limits or (-none, none)

    @cached_property
    def limits(self) -> CoefficientLimits | None:
        """The limits of the coefficients, row by row; None without limits."""
        pair = self._beside.limits
        return None if pair is None else CoefficientLimits.of(pair, self.lifted)

    def __repr__(self) -> str:
        n, d = self.data.design.shape
        outputs = f", {self.data.outputs[0]} outputs" if self.data.outputs else ""
        loss, intercept = self.loss.stated_loss, self.data.intercept
        pieces = f"loss={loss!r}, gauge={self.gauge!r}, penalty={self.penalty!r}, intercept={intercept}"
        ridge = self.ridge
        if np.any(ridge != 0):
            pieces += f", ridge={ridge!r}" if isinstance(ridge, float) else ", a ridge for each feature"
        pieces += "" if self.limits is None else ", with limits"
        return f"Problem({n:,} samples, {d:,} features{outputs}, {pieces})"

    @property
    def y(self) -> Samples:
        """The targets, sample by sample, and output by output within a sample."""
        return self.smooth.y

    @property
    def weights(self) -> Samples:
        """The weights of the losses."""
        return self.smooth.weights

    @property
    def targets(self) -> Samples:
        """What predictions are compared with: y, or y without what an offset and unpenalised columns explain."""
        return self.smooth.targets

    @property
    def span(self) -> Span | None:
        """The span of the unpenalised columns; None without such columns."""
        return self.smooth.span

    @property
    def outputs(self) -> tuple[int, ...]:
        """Trailing shape of the predictions: (K,) for a loss that makes K outputs from one target."""
        return self.smooth.outputs

    @property
    def meter(self) -> Meter:
        """The number of passes over the data so far."""
        if not isinstance(self.design, Metered):
            raise TypeError("The passes of this problem are not counted: ask the problem it was made from.")
        return self.design.meter

    @property
    def columns(self) -> Index:
        """For a restricted problem, the positions of its columns in the full lifted design."""
        places = self.lifted.places
        return np.arange(self.shape[0]) if places is None else places

    @property
    def seminorm(self) -> Seminorm:
        """The seminorm of images."""
        return self.lifted.seminorm

    @property
    def spread(self) -> Array:
        """Upper bound of the largest norm of A p, for each block."""
        return self.lifted.spreads.spread

    @property
    def lengths(self) -> Array:
        """The spread including the part in the span of B; rounding errors are proportional to it."""
        return self.lifted.spreads.lengths

    @property
    def widest(self) -> float:
        """The largest norm of A p over all atoms of the full problem."""
        return self.lifted.spreads.widest

    @property
    def curvature(self) -> float:
        """The constant M of the loss for single atoms."""
        return self.loss.entry_smoothness if self.core.entrywise else self.loss.smoothness

    @property
    def smoothness(self) -> float:
        """The constant L: smoothness of F and the ridge with respect to the symmetrised hull of the atoms."""
        return self.steepest(self.widest)

    def steepest(self, widest: float) -> float:
        """Return the largest curvature along an atom, if no A p is longer than `widest`."""
        added = 0.0 if self.shrinkage is None else float(self.shrinkage.atoms.max())
        return self.curvature * widest * widest + added

    @property
    def eligible(self) -> Mask:
        """Which blocks have atoms (a block with an infinite weight has none)."""
        return self.lifted.eligible

    @property
    def unpenalised(self) -> Index:
        """The entries of the lifted coefficients that have weight 0, row by row."""
        own = self.core.unpenalised()
        return np.arange(math.prod(self.shape)).reshape(self.shape)[own].ravel() if len(own) else own

    @property
    def baseline(self) -> float:
        """The objective at x = 0 with the best free coefficients; all tolerances are relative to it."""
        baseline = self.lifted.baseline
        if not math.isfinite(baseline):
            raise ValueError(self._overflow())
        return baseline

    @property
    def critical(self) -> float:
        """The critical slope: x = 0 solves the problem with `Linear` of this strength, and of no smaller one.

        With limits the point within them that is nearest to 0 takes the place of 0.
        """
        if self.limits is None:
            return self.lifted.critical
        return float(self.limits.scores(self._first_view.z).max(initial=0.0))

    @property
    def negligible(self) -> float:
        """The objective that rounding of the predictions at x = 0 can produce where the exact objective is 0."""
        return self.lifted.negligible

    @property
    def origin(self) -> Point:
        """The point at x = 0, or at the point within the limits that is nearest to 0."""
        origin = Point.of(self, self._first_view, self.eligible)
        if not origin.is_finite:
            raise ValueError(self._overflow())
        return origin

    @cached_property
    def _first_view(self) -> View:
        """The view at x = 0, or at the point within the limits that is nearest to 0."""
        if self.limits is None or not self.limits.nearest.any():
            return self.lifted.origin
        return self.lifted.view(self.state())

    def _overflow(self) -> str:
        return (
            f"The problem overflows at x = 0: {type(self.loss).__name__} or {self.penalty!r} is not finite there. "
            "Rescale y, X and `free` to moderate size, or choose a larger strength."
        )

    def state(self, x: Array | None = None, coordinates: Array | None = None) -> State:
        """Return the state of lifted coefficients x (default 0), within the limits and the domain of the penalty."""
        if coordinates is None:
            coordinates = np.zeros(0) if self.span is None else self.span.origin
        if self.limits is not None:
            x = self.limits.clip(np.zeros(self.shape) if x is None else x)
        if x is None:
            return self.inside(*self.lifted.nowhere, coordinates)
        return self.inside(x, self.design.matvec(x), coordinates)

    def inside(
        self, x: Array | Triplets, image: Samples, coordinates: Array, drift: float = 0.0,
        support: Index | None = None, *, length: float | None = None,
    ) -> State:  # fmt: skip
        """Return the state of coefficients with known predictions; shrink them if phi would be infinite.

        `length` is the norm of the image, if it is known.
        """
        mass = self.lifted.mass(x, support)
        if not isinstance(x, Triplets) and self.limits is not None and not self.penalty.admits(mass):
            return self._inside_limits(self.limits, x, coordinates)
        while not self.penalty.admits(mass) and math.isfinite(mass):
            shrink = self.penalty.limit / mass * (1 - 4 * EPS)
            x, image = x.times(shrink) if isinstance(x, Triplets) else shrink * x, shrink * image
            length = None
            mass = self.lifted.mass(x, support)
        length = self.seminorm.plain_norm(image) if length is None else length
        return State(x, mass, image, coordinates, length, drift, support)

    def _inside_limits(self, limits: CoefficientLimits, x: Array, coordinates: Array) -> State:
        """Return the state nearer to the least point within the limits, where phi is finite."""
        mass, least = self.lifted.mass(x), limits.least_mass
        while not self.penalty.admits(mass) and math.isfinite(mass):
            x = limits.shrunk(x, max((self.penalty.limit - least) / (mass - least), 0.0) * (1 - 4 * EPS))
            mass = self.lifted.mass(x)
        image = self.design.matvec(x)
        return State(x, mass, image, coordinates, self.seminorm.plain_norm(image), 0.0)

    def combined(self, parts: Combination, image: Samples, coordinates: Array, drift: float = 0.0) -> State:
        """Return the state of a combination of atoms; shrink it if phi would be infinite."""
        while not self.penalty.admits(parts.mass) and math.isfinite(parts.mass):
            shrink = self.penalty.limit / parts.mass * (1 - 4 * EPS)
            parts, image = parts.scaled(shrink), shrink * image
        x, length = parts.sum(self.shape), self.seminorm.plain_norm(image)
        return State(x, parts.mass, image, coordinates, length, drift, parts=parts)

    def admitted(self, state: State) -> State:
        """Return a state of the same data as one of this problem; shrink it if phi would be infinite."""
        if state.parts is not None:
            return self.combined(state.parts, state.image, state.coordinates, state.drift)
        return self.inside(state.held, state.image, state.coordinates, state.drift)

    def renewed(self, state: State) -> State:
        """Return a state with its predictions computed from x."""
        if state.factors is not None:
            return self.inside(state.factors, self.lifted.image_of(state.factors), state.coordinates)
        if state.parts is None:
            return self.state(state.x, state.coordinates)
        return self.made_of(state.parts, state.coordinates)

    def made_of(self, parts: Combination, coordinates: Array | None = None) -> State:
        """Return the state of a combination of atoms, shrunk into the domain of the penalty."""
        if coordinates is None:
            coordinates = np.zeros(0) if self.span is None else self.span.origin
        return self.combined(parts, self.design.matvec(parts.sum(self.shape)), coordinates)

    def at(self, state: State, alive: Mask | None = None) -> Point:
        """Return the point at a state: one product with A' and all bounds that follow from it.

        Blocks that are not `alive` are known to be zero at the optimum; the support function ignores them.
        """
        return Point.of(self, self.lifted.view(state), alive)

    def free_coefficients(self, state: State) -> tuple[Array, Array, Array]:
        """Return the coefficients of the intercept (one row or none), of `free`, and of unpenalised columns of A.

        Losses of several classes do not see a number that is added to all classes. Of the coefficients that differ by
        one, these are those with the sum 0, which certificates speak of.
        """
        data = self.data
        if self.span is None:
            none = np.zeros((0, *data.outputs))
            return none, none, np.zeros((0, *self.shape[1:]))
        b = self.span.coefficients(state.coordinates)
        b = b - b.mean(axis=1, keepdims=True) if self.outputs else b
        first = data.tasks * int(data.intercept)
        second = first + data.tasks * data.free.shape[1]
        given = (b[:first].reshape(-1, *data.outputs), b[first:second].reshape(-1, *data.outputs))
        return *given, b[second:]

    def lower(self, lifted: Array) -> Array:
        """Return x for lifted coefficients, in the shape that the gauge sees."""
        return self.gauge.lower(lifted.reshape(self.lifted.form))
