"""The problem `min over x, b of F(A x + B b + offset) + phi(kappa_P(x))`."""

import math
from typing import Any, Self

import numpy as np

from atomsieve.design import Design, Meter, Metered
from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges import L1, Gauge
from atomsieve.gauges.base import BlockGauge
from atomsieve.intake.arguments import require_piece
from atomsieve.intake.names import entries
from atomsieve.losses import Loss, Squared
from atomsieve.numerics.rounding import EPS
from atomsieve.penalties import Penalty, Square
from atomsieve.problem.data import Data
from atomsieve.problem.lifted import Lifted
from atomsieve.problem.point import Point
from atomsieve.problem.smooth import Smooth
from atomsieve.problem.span import Span
from atomsieve.problem.state import State
from atomsieve.typing import Array, Index, Mask, Samples


class Problem:
    """Minimise `sum_i w_i loss((A x + B b)_i, y_i) + penalty(gauge(x))` over x and the free coefficients b.

    Nothing is solved when a problem is made: data are checked, and what follows from them is computed when it is first
    needed and then kept (`lifted`).

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (n, d)
        The design A, held by reference where it is float64 (dense, or CSR and CSC without duplicates) and converted
        once otherwise; never modified. Predictions are `X @ result.x + result.intercept`.
    y : array of shape (n,) or (n, K)
        Targets: real numbers, labels -1 and 1, or classes 0, ..., K - 1, as the loss asks. With K columns there are K
        outputs, x has the shape (d, K), and the losses of all outputs are added.
    loss : Loss
        `Squared()`, `Logistic()`, `SquaredHinge()`, `Huber(delta)`, `Poisson()` or `Multinomial()`; their weighted mean
        over the samples is taken.
    gauge : Gauge
        `L1()`, `NonNegative()`, `Simplex()`, `L2()`, `LInf()`, `Group(groups)`, `Atoms(matrix)`, or `Scaled` and
        `Image` of one of these.
    penalty : Penalty
        `Square(a)`, `Power(a, p)`, `Ball(C)`, `LogBarrier(C, b)`, `LinearSquare(a, m)` or `Linear(a)`.
    sample_weight : array of shape (n,), optional
        Non-negative weights; they are divided by their sum, so that None means 1/n each and a weight of 2 means the
        sample twice.
    intercept : bool
        Whether a constant is added to the predictions, unpenalised; one for each output.
    free : array of shape (n, k), optional
        Further unpenalised columns B.
    offset : array of the shape of the predictions, optional
        What is added to the predictions as it is, such as the logarithm of an exposure.
    shape : tuple, optional
        The shape in which the gauge sees x, with d entries in all: (p, q) for a matrix x whose entries, row by row, are
        the coefficients of the columns of X. By default (d,), or (d, K) for K outputs.
    names : list of d names, optional
        What the features are called in certificates, tables and messages; the columns of a data frame by default.

    Examples
    --------
    >>> import numpy as np
    >>> from atomsieve import Problem, Squared, L1, Square
    >>> Problem(np.eye(2), [3.0, 0.0], loss=Squared(), gauge=L1(), penalty=Square(1.0)).baseline
    2.25
    """

    def __init__(  # noqa: PLR0913 -- the public statement
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
    ) -> None:
        for name, piece, kind in (("loss", loss, Loss), ("gauge", gauge, Gauge), ("penalty", penalty, Penalty)):
            require_piece(name, piece, kind)
        given = {"sample_weight": sample_weight, "intercept": intercept, "free": free, "offset": offset, "names": names}
        data = Data.of(X, y, loss, **given)
        self._hold(data, gauge, penalty, Lifted.of(data, loss, gauge, shape))

    def _hold(self, data: Data, gauge: Gauge, penalty: Penalty, lifted: Lifted) -> None:
        """Keep the parts, and at hand what every look at a point asks for."""
        self.data, self.gauge, self.penalty, self.lifted = data, gauge, penalty, lifted
        self.smooth: Smooth = lifted.smooth
        self.loss: Loss = lifted.smooth.loss
        self.design: Design = lifted.design
        self.core: BlockGauge = lifted.core
        self.shape: tuple[int, ...] = lifted.shape

    @classmethod
    def of(cls, data: Data, gauge: Gauge, penalty: Penalty, lifted: Lifted) -> Self:
        """Return the problem of parts that were checked before."""
        problem = cls.__new__(cls)
        problem._hold(data, gauge, penalty, lifted)
        return problem

    def at_penalty(self, penalty: Penalty) -> Self:
        """Return the same problem with another penalty; nothing that was computed from the data is lost."""
        return self.of(self.data, self.gauge, penalty, self.lifted)

    def restrict(self, columns: Index) -> Self:
        """Return the same problem on the chosen columns of the lifted design."""
        return self.over(self.lifted.restrict(columns))

    def over(self, lifted: Lifted) -> Self:
        """Return the same problem over other coefficients."""
        return self.of(self.data, self.gauge, self.penalty, lifted)

    def __repr__(self) -> str:
        n, d = self.design.shape
        pieces = f"loss={self.loss!r}, gauge={self.gauge!r}, penalty={self.penalty!r}, intercept={self.data.intercept}"
        return f"Problem({n} samples, {d} lifted coefficients, {pieces})"

    @property
    def y(self) -> Samples:
        """The targets, output by output of each sample."""
        return self.smooth.y

    @property
    def weights(self) -> Samples:
        """The weights of the losses."""
        return self.smooth.weights

    @property
    def targets(self) -> Samples:
        """What predictions are compared with: y, less what an offset and unpenalised columns explain of it."""
        return self.smooth.targets

    @property
    def span(self) -> Span | None:
        """The span of the unpenalised columns, None without any."""
        return self.smooth.span

    @property
    def outputs(self) -> tuple[int, ...]:
        """Trailing shape of the predictions: (K,) for a loss that makes K outputs of one target."""
        return self.smooth.outputs

    @property
    def meter(self) -> Meter:
        """How many times the data were gone through so far."""
        assert isinstance(self.design, Metered)  # noqa: S101 -- so it was made
        return self.design.meter

    @property
    def columns(self) -> Index:
        """Which columns of the full lifted design these are, for a problem restricted to some of them."""
        return self.lifted.columns

    @property
    def seminorm(self) -> Seminorm:
        """Norms of images in the data."""
        return self.lifted.seminorm

    @property
    def spread(self) -> Array:
        """Upper bound of the largest norm of A p, for each block."""
        return self.lifted.spreads.spread

    @property
    def lengths(self) -> Array:
        """The same with the part along the unpenalised columns counted: what rounding scales with."""
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
        """The constant L: smoothness of the loss part with respect to the symmetrised hull of the atoms."""
        return self.curvature * self.widest * self.widest

    @property
    def eligible(self) -> Mask:
        """Which blocks have atoms at all (an infinite weight leaves none)."""
        return self.lifted.eligible

    @property
    def baseline(self) -> float:
        """The objective at x = 0, unpenalised coefficients at their best: the scale of every tolerance."""
        baseline = self.lifted.baseline
        if not math.isfinite(baseline):
            raise ValueError(self._overflow())
        return baseline

    @property
    def negligible(self) -> float:
        """What rounding of the predictions at x = 0 can make of an objective that is 0."""
        return self.lifted.negligible

    @property
    def origin(self) -> Point:
        """The point at x = 0."""
        origin = Point.of(self, self.lifted.origin, self.eligible)
        if not origin.is_finite:
            raise ValueError(self._overflow())
        return origin

    def _overflow(self) -> str:
        return (
            f"The problem overflows at x = 0: {type(self.loss).__name__} or {self.penalty!r} is not finite there. "
            "Rescale y, X and `free` to moderate size, or choose a larger strength."
        )

    def state(self, x: Array | None = None, coordinates: Array | None = None) -> State:
        """Return the state of lifted coefficients x (default 0), shrunk into the domain of the penalty."""
        if coordinates is None:
            coordinates = np.zeros(0) if self.span is None else self.span.origin
        if x is None:
            x = np.zeros(self.shape)
            return self.inside(x, self.design.matvec(x[:0], slice(0, 0)), coordinates)
        return self.inside(x, self.design.matvec(x), coordinates)

    def inside(self, x: Array, image: Samples, coordinates: Array, drift: float = 0.0) -> State:
        """Return the state of coefficients with known predictions, shrunk where phi would be infinite."""
        mass = self.core.value(x)
        while not self.penalty.admits(mass) and math.isfinite(mass):
            shrink = self.penalty.limit / mass * (1 - 4 * EPS)
            x, image = shrink * x, shrink * image
            mass = self.core.value(x)
        return State(x, mass, image, coordinates, self.seminorm.plain_norm(image), drift)

    def at(self, state: State, alive: Mask | None = None) -> Point:
        """Return the point at a state: one product with A', and all bounds that follow from it.

        Blocks that are not `alive` are known to be zero at the optimum and do not count in the support function.
        """
        return Point.of(self, self.lifted.view(state), alive)

    def free_coefficients(self, state: State) -> tuple[Array, Array, Array]:
        """Return the coefficients of the intercept (one row or none), of `free`, and of unpenalised columns of A."""
        data = self.data
        if self.span is None:
            none = np.zeros((0, *data.outputs))
            return none, none, np.zeros((0, *self.shape[1:]))
        b = self.span.coefficients(state.coordinates)
        first = data.tasks * int(data.intercept)
        second = first + data.tasks * data.free.shape[1]
        given = (b[:first].reshape(-1, *data.outputs), b[first:second].reshape(-1, *data.outputs))
        return *given, b[second:]

    def called(self, entry: int) -> str:
        """Return what an entry of the lifted coefficients is called: its number, or the name of its feature."""
        if self.data.names is None or self.lifted.form[0] != self.data.design.shape[1]:
            return str(entry)
        about = entries(self.data.names, self.lifted.form)
        output = f" of output {about['output'][entry]}" if "output" in about else ""
        return repr(about["feature"][entry]) + output

    def lower(self, lifted: Array) -> Array:
        """Return x, in the shape that the gauge sees, of lifted coefficients."""
        return self.gauge.lower(lifted.reshape(self.lifted.form))
