"""A problem without its penalty, in lifted coordinates; it stores what was computed from the data."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.sparse import eye_array

from atomsieve.design import (
    BelowDesign,
    CumulatedDesign,
    Design,
    Meter,
    Metered,
    RepeatedDesign,
    SparseDesign,
    as_design,
)
from atomsieve.design.places import Places
from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges import Gauge
from atomsieve.gauges.base import BlockGauge
from atomsieve.gauges.triplets import Triplets
from atomsieve.intake.arguments import is_whole
from atomsieve.losses import Loss
from atomsieve.losses.compiled import Seen
from atomsieve.losses.ridged import Ridged
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.namespace import held
from atomsieve.numerics.rounding import noise_level
from atomsieve.numerics.samplewise import in_chunks
from atomsieve.numerics.threads import one_thread
from atomsieve.problem.data import Data
from atomsieve.problem.remote import view_there
from atomsieve.problem.smooth import Smooth
from atomsieve.problem.span import UnsettledError
from atomsieve.problem.state import State
from atomsieve.problem.view import View
from atomsieve.typing import Array, Index, Mask, Samples


@dataclass(frozen=True, eq=False)
class Spreads:
    """The norms of the images A p of the atoms, block by block."""

    spread: Array
    """Upper bound of the largest norm of A p, for each block."""

    lengths: Array
    """The spread including the part in the span of the unpenalised columns; rounding errors are proportional to it."""

    widest: float
    """The largest norm of A p over all atoms of the full problem."""

    @cached_property
    def narrowest(self) -> float:
        """The smallest spread of these blocks."""
        return float(self.spread.min())

    @classmethod
    def of(cls, core: BlockGauge, seminorm: Seminorm, outputs: int) -> Self:
        """Compute the spreads from the data."""
        spread = core.spread(seminorm, outputs)
        typical = core.typical_spread if core.listed else core.spread
        longest = typical(seminorm, outputs) if core.listed else spread
        lengths = longest if seminorm.basis is None else typical(seminorm.plain, outputs)
        return cls(spread, lengths, float(longest.max()))

    def some(self, blocks: Index) -> Self:
        """Return the spreads of some blocks; `widest` remains that of the full problem."""
        return replace(self, spread=self.spread[blocks], lengths=self.lengths[blocks])


@dataclass(frozen=True, eq=False)
class Lifted:
    """Everything that solvers work on except the penalty: the smooth part, the design and the block gauge.

    Values computed from the data are stored here. Problems that differ only in the penalty share them.
    """

    smooth: Smooth
    design: Design
    core: BlockGauge
    shape: tuple[int, ...]
    """Shape of the lifted coefficients: (d,), or (d, K) if the loss makes K outputs from one target."""
    form: tuple[int, ...]
    """The shape in which the gauge sees the lifted coefficients."""
    places: Index | None = None
    """The positions of these columns in the full lifted design; None for that design itself."""
    known: Spreads | None = None
    """The spreads, if they are known already."""
    known_reaches: Array | None = None
    """The reaches of the problem that this is a part of: what was computed in units of them stays valid."""
    whole: "tuple[Lifted, Index] | None" = None
    """What this is a part of, and its blocks there, whose spreads it has."""

    @classmethod
    def of(cls, data: Data, loss: Loss, gauge: Gauge, shape: Any, ridge: float | Array = 0.0) -> Self:
        """State data and pieces in lifted coordinates, without solving anything; with a ridge as samples of x."""
        form = check_shape(shape, data)
        gauge.check(form)
        design, core = gauge.lift(data.design)
        require_hosted(data, design, gauge)
        if design is not data.design:
            if form != (data.design.shape[1], *data.outputs):
                raise TypeError(f"{type(gauge).__name__} maps vectors: leave out shape={shape!r}.")
            form = (design.shape[1], *data.outputs)
        if np.any(ridge):
            loss = Ridged(loss, data.design.shape[0] * data.tasks)
            held = np.ones(data.design.shape[1], dtype=bool)
            held[[] if gauge.mapped else core.unpenalised()] = False
            design = BelowDesign(design, gauge.lift(identity(len(held)).samples(held))[0])
            data = data.with_ridge(np.broadcast_to(ridge, held.shape)[held], loss.curved)
        inner = (form[0], *data.outputs)
        if data.tasks > 1:
            design = RepeatedDesign.of(design, data.tasks)
        if data.tasks > 1 or form != inner:
            inner, core = (math.prod(form),), core.flat(form)
        metered = Metered(design, Meter(design.shape[1]))
        smooth = Smooth.of(data, loss, design.columns(core.unpenalised()))
        return cls(smooth, metered, core, inner, form)

    @cached_property
    def seen_places(self) -> Places | None:
        """The entries that samples see of a matrix measured by its rank, if each sees one; None for other problems."""
        design: Any = getattr(self.design, "unmetered", self.design)
        alone = self.core.ranked and not self.shape[1:] and isinstance(design, SparseDesign)
        return Places.of(design, (self.form[0], self.form[1])) if alone else None

    @cached_property
    def seminorm(self) -> Seminorm:
        """The seminorm of images."""
        span = self.smooth.span
        return Seminorm(self.design, self.smooth.weights, None if span is None else span.basis)

    @cached_property
    def spreads(self) -> Spreads:
        """The norms of the images of the atoms; computed once."""
        if self.whole is not None:
            whole, blocks = self.whole
            return whole.spreads.some(blocks)
        if self.seen_places is not None:
            # the part in the span of the unpenalised columns is not taken away: a bound, and it costs nothing
            bounds = self.core.spread_bounds(np.sqrt(self.seen_places.squares(np.asarray(self.smooth.weights))))
            return Spreads(bounds, bounds, float(bounds.max()))
        return self.known or Spreads.of(self.core, self.seminorm, math.prod(self.shape[1:]))

    @cached_property
    def labels(self) -> Index:
        """The block of every lifted coefficient, row by row."""
        return self.core.labels(self.shape).ravel()

    @cached_property
    def prices(self) -> Array | None:
        """The price of every block, if the gauge is a sum of l2 norms of blocks."""
        return self.core.prices(self.shape)

    @cached_property
    def charges(self) -> tuple[Array, Array] | None:
        """What every block charges for its l2 norm and for the l1 norm beside it, if the gauge is a sum of these."""
        return self.core.charges(self.shape)

    def mass(self, x: Array | Triplets, support: Index | None = None) -> float:
        """Return kappa(x); where x is zero outside of a known support, and single entries have prices, from there."""
        if isinstance(x, Triplets):
            core: Any = self.core
            return float(core.sizes(x).sum())
        if support is None or not self.core.one_by_one or self.core.signed is not True:
            return self.core.value(x)
        assert self.prices is not None  # noqa: S101
        return float(np.abs(x.ravel()[support]) @ self.prices[support])

    def carrying(self, state: State) -> Mask:
        """Return which blocks carry weight."""
        if state.factors is not None:
            return np.array([len(state.factors.values) > 0])
        return self.core.sizes(state.x) > 0 if state.parts is None else np.array([len(state.parts.atoms) > 0])

    @cached_property
    def reaches(self) -> Array:
        """Upper bound of the largest norm of A p, for each block: the spreads, or what the norms of the columns tell.

        Those are cheaper, and enough if the gauge is a sum of l2 norms and there are no unpenalised columns.
        """
        if self.known_reaches is not None:
            return self.known_reaches
        if self.seen_places is not None:
            core: Any = self.core
            longest = np.sqrt(self.seen_places.squares(np.asarray(self.smooth.weights)))
            return np.asarray(core.scores_at(self.seen_places.table(longest), Triplets.nothing(self.seen_places.form)))
        if self.prices is None and (self.core.proximal or self.core.split):
            return self.core.scores(
                np.repeat(self.seminorm.column_norms(), math.prod(self.shape[1:])).reshape(self.shape)
            )
        if self.core.listed:
            return np.array([self.spreads.widest])
        if self.core.one_by_one or self.prices is None or self.known is not None or self.smooth.span is not None:
            return self.spreads.spread
        norms = np.repeat(self.seminorm.plain.column_norms(), math.prod(self.shape[1:]))
        priced = (self.prices > 0) & (self.prices < math.inf)
        if len(norms) > len(self.prices):
            norms = np.sqrt(np.bincount(self.labels, norms * norms))
        else:
            norms = norms[np.argsort(self.labels)]
        return np.where(priced, norms / np.where(priced, self.prices, 1.0), 0.0)

    @cached_property
    def widest_reach(self) -> float:
        """The largest of the reaches."""
        return float(self.reaches.max())

    @cached_property
    def longest(self) -> float:
        """The same with the part in the span of B."""
        return self.widest_reach if self.smooth.span is None else float(self.spreads.lengths.max())

    @cached_property
    def rough_reaches(self) -> tuple[float, float]:
        """Upper bounds of the largest reach, and of the same with the part in the span of B, where they cost less."""
        design: Any = getattr(self.design, "unmetered", self.design)
        if self.prices is None or not (isinstance(design, CumulatedDesign) and design.identity):
            return self.widest_reach, self.longest
        whole = math.sqrt(float(np.sum(self.smooth.weights)))  # the norm of a step over all places
        widest = whole / float(np.min(self.prices, where=self.eligible, initial=np.inf))
        return widest, widest

    @cached_property
    def eligible(self) -> Mask:
        """Which blocks have atoms (a block with an infinite weight has none)."""
        return self.core.eligible(self.shape)

    @cached_property
    @one_thread()
    def origin(self) -> View:
        """The view at x = 0."""
        return self._pulled(self._first_sight)

    @cached_property
    @one_thread()
    def _first_sight(self) -> View:
        """The view at x = 0 before any product with A', which the baseline does not need."""
        coordinates = np.zeros(0) if self.smooth.span is None else self.smooth.span.origin
        held, nothing = self.nowhere
        return self._sight(State(held, 0.0, nothing, coordinates, 0.0, 0.0, np.empty(0, dtype=np.intp)))

    @property
    def nowhere(self) -> tuple[Array | Triplets, Samples]:
        """The origin, and its image."""
        if self.seen_places is not None:
            return Triplets.nothing(self.seen_places.form), np.zeros(len(self.seen_places.which))
        x = np.zeros(self.shape)
        return x, self.design.matvec(x[:0], slice(0, 0))

    @cached_property
    def baseline(self) -> float:
        """The loss at x = 0 with the best free coefficients."""
        seen = self._first_sight
        return self.smooth.measure(seen.u, seen.slopes, 1.0, seen.told).value

    @cached_property
    def critical(self) -> float:
        """The critical slope: the largest score at x = 0. From this slope on, x = 0 is the solution."""
        view, core = self.origin, self.core
        either: Any = core
        scores = core.scores(view.z) if view.table is None else either.scores_at(view.table, view.state.factors)
        return max(float(np.max(scores, where=self.eligible, initial=-np.inf)), 0.0)

    @cached_property
    def negligible(self) -> float:
        """The objective that rounding of the predictions at x = 0 can produce where the exact objective is 0."""
        u, told = self._first_sight.u, self._first_sight.told
        size = self.seminorm.plain_norm(u) if told is None else told.measured.size
        error = noise_level(self.smooth.y.shape[0]) * size
        return self.smooth.loss.smoothness_near(u) * error * error

    @cached_property
    def last_seen(self) -> list[View]:
        """The last view whose samples are on the workers of dask."""
        return []

    def view(self, state: State) -> View:
        """Return the view at a state, which takes one product with A'."""
        return self._pulled(self._sight(state))

    def _pulled(self, view: View) -> View:
        """Return a view with its product with A', which the trip to the workers may have made already."""
        with np.errstate(over="ignore", invalid="ignore"):
            return replace(view, pulled=self.pulled(view.theta)) if view.pulled is None else view

    @np.errstate(over="ignore", invalid="ignore")
    def _sight(self, state: State) -> View:
        """Return the view at a state, without its product with A'."""
        smooth, seminorm = self.smooth, self.seminorm
        if smooth.compiled is not None:
            seen = smooth.compiled.view(np.ascontiguousarray(state.image), state.coordinates)
            if seen.settled:
                return _view_of(state, seen, None)
        try:
            if in_chunks(state.image):
                return view_there(self, state)
            coordinates, u, slopes = smooth.predict(state.image, state.coordinates)
        except UnsettledError:  # u is so large that losses cannot be distinguished: nothing is known there
            coordinates, u = state.coordinates, np.nan * state.image
            slopes = u
        # Project theta: B' theta = 0 holds only up to rounding, and features far from 0 amplify the error in z.
        # Do not project the slopes: they must stay inside the domain of the conjugate.
        across = held(seminorm.project(slopes))
        stray = 0.0 if smooth.span is None else seminorm.plain_norm(slopes - across)
        theta = held(seminorm.weighted(across))
        moved = state if coordinates is state.coordinates else replace(state, coordinates=coordinates)
        return View(moved, u, slopes, theta, None, stray)

    def pulled(self, theta: Samples) -> Any:
        """Return `-A' theta`, by the table of its entries where samples see single entries of a matrix."""
        if self.seen_places is None:
            return self.design.rmatvec(-theta)
        self._pass()
        return self.seen_places.table(self.seen_places.sums(-np.asarray(theta)))

    def image_of(self, x: Triplets) -> Samples:
        """Return the image of a matrix that is held by its factors."""
        assert self.seen_places is not None  # noqa: S101
        self._pass()
        return self.seen_places.samples(self.seen_places.entries(x.left * x.values, x.right))

    def _pass(self) -> None:
        """Count a pass over the data that makes no use of the design."""
        if isinstance(self.design, Metered):
            self.design.meter.passes += self.design.share

    def views(self, states: Sequence[State]) -> list[View]:
        """Return the views at several states; for losses that the core knows they share one product with A'."""
        compiled = self.smooth.compiled
        if compiled is None or not states or self.seen_places is not None:
            return [self.view(state) for state in states]
        with np.errstate(over="ignore", invalid="ignore"):
            seen = [compiled.view(np.ascontiguousarray(state.image), state.coordinates) for state in states]
            if not all(one.settled for one in seen):
                return [self.view(state) for state in states]
            products = -self.design.products([one.theta for one in seen])
        return [_view_of(state, one, z) for state, one, z in zip(states, seen, products, strict=True)]

    def restrict(self, columns: Index) -> "Lifted":
        """Return the same on the chosen columns; their spreads are not computed again."""
        blocks = self.core.blocks(columns, self.shape)
        reaches = self.reaches[blocks]
        shape = (len(columns), *self.shape[1:])
        design, core = self.design.select(columns), self.core.restrict(columns)
        places = columns if self.places is None else self.places[columns]
        return Lifted(self.smooth, design, core, shape, shape, places, None, reaches, (self, blocks))


def require_hosted(data: Data, design: Design, gauge: Gauge) -> None:
    """Refuse signals whose data are not NumPy arrays: running sums of their columns are made on the host."""
    if data.hosted is not data and (gauge.of_signals or isinstance(design, CumulatedDesign)):
        raise ValueError(f"{gauge!r} takes X as a NumPy array or a SciPy matrix. Convert X, or choose another gauge.")


def identity(count: int) -> Design:
    """Return the identity as a design."""
    return as_design(eye_array(count, format="csc"))


def _view_of(state: State, seen: Seen, z: Array | None) -> View:
    """Return the view of what the core has seen at a state."""
    moved = replace(state, coordinates=seen.coordinates) if len(seen.coordinates) else state
    return View(moved, seen.u, seen.slopes, seen.theta, z, seen.stray)


def check_shape(shape: Any, data: Data) -> tuple[int, ...]:
    """Return the shape in which the gauge sees x; refuse a shape with another number of entries."""
    d = data.design.shape[1]
    own = (d, *data.outputs)
    if shape is None:
        return own
    asked = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    if not (asked and all(is_whole(size) and size > 0 for size in asked) and math.prod(asked) == math.prod(own)):
        raise ValueError(f"shape must hold the {math.prod(own)} entries of x, in whole numbers, got {shape!r}.")
    if data.outputs and asked != own:
        raise ValueError(f"shape must be {own}, features and outputs, got {shape!r}.")
    return tuple(int(size) for size in asked)
