"""What a point proves about the optimum, in spite of rounding."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from atomsieve.certificate import elastic, limited
from atomsieve.certificate.free import free_scale, with_free
from atomsieve.certificate.statement import Statement
from atomsieve.gauges.facts import Evidence, Facts
from atomsieve.gauges.signs import admissible, some
from atomsieve.numerics.enclosures import Enclosure, Uncertain, gamma, quiet, root, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask

SLACK = 1 + 2.0**-9
"""Factor by which the gap in the claims is enlarged; the interval of the objective is widened by the same amount. A
checker with slightly weaker bounds can then still confirm the claims."""

SHARP = 1 << 25
"""Largest number of entries for which products are computed in twice the precision."""

SETTLED = 0.99
"""Bounds of curvatures are made anew, at most three times, until none of them falls below this part of itself."""

SPARED = 2.0**-20
"""Part of the slope by which singular values must stay below it, so that a checker can confirm the rank."""

NEAR = 0.999
"""Scores above this fraction of the best one are computed in twice the precision."""


@dataclass(frozen=True, eq=False)
class Proof:
    """What one point proves: gap and objective, scores, and how far away the optimum can be."""

    statement: Statement
    x: Array
    b: Array
    slopes: Enclosure
    z: Enclosure
    shift: float
    sigma: float
    shrink: float
    objective: Enclosure
    gap: float
    scored: tuple[Enclosure, tuple[Array, Array]]
    """A z, and the bounds of its scores: those of this proof, unless it has another z."""

    @property
    def paired(self) -> bool:
        """Whether the dual point is the gradient itself."""
        return self.shrink == 1.0

    @property
    def gap_bound(self) -> float:
        """`c gap` with c = 1 for a paired point and 2 otherwise."""
        return float(up(self.gap * (1.0 if self.paired else 2.0)))

    @cached_property
    def curvatures(self) -> tuple[Array, Array]:
        """Bounds of loss'' between the point and the optimum: for each sample, or for each sample and output.

        With several outputs, the Hessian of a sample is at least `diag(q) - q q' / sum(q)` with the first of them, and
        its diagonal is at most the second.
        """
        loss, counts = self.statement.loss, self.statement.weights_of(self.slopes.ndim).mid
        t, y = self.slopes, self.statement.y
        low, high = np.minimum(t.low, self.shrink * t.low), np.maximum(t.high, self.shrink * t.high)
        with quiet():
            if self.statement.problem.loss.quadratic and t.ndim == 1:  # the same curvature everywhere
                return loss.curvatures(low, high, y)
            most = loss.largest(low, high, y, up(self.gap_bound / counts))
            for _ in range(3):
                before = most
                away = root(up(up(most / counts) * self.gap_bound)) + 4 * EPS * t.size
                ends = np.nextafter(low - away, -np.inf), np.nextafter(high + away, np.inf)
                least, most = loss.curvatures(*ends, y)
                if (most >= SETTLED * before).all():
                    break
            return (least if t.ndim == 1 else loss.shares(*ends, y)), most

    @cached_property
    def spread(self) -> tuple[Array, Array]:
        """Upper bounds of the norm of A p over each block, and of the column of each entry, in the curvature metric."""
        statement = self.statement
        with quiet():
            core, shape, most = statement.problem.core, statement.problem.shape, self.curvatures[1]
            whole = most if most.ndim == 1 else statement.loss.largest_eigenvalues(most)
            norms = whole = statement.spreads(up(statement.counts * whole))
            if most.ndim > 1:
                norms = np.stack([statement.spreads(up(statement.counts * column)) for column in most.T], axis=1)
            if not statement.priced:
                return core.spread_bounds(norms), norms
            prices = low(statement.prices)
            if core.entrywise:
                return up(norms.ravel() / prices), norms
            # the norm of a block of columns is at most the root of the sum of their squares
            labels = core.labels(shape) if len(shape) == 1 else core.labels(shape)[:, 0]
            squares = np.bincount(labels, whole * whole, len(prices)) * (1 + gamma(len(whole) + 4))
            return up(root(up(squares)) / prices), norms

    @cached_property
    def unscaled_scores(self) -> tuple[Array, Array]:
        """Lower and upper bounds of the scores of all blocks at z itself."""
        if self.scored[0] is self.z:
            return self.scored[1]
        with quiet():
            return scores_of(self.statement, self.z)

    @cached_property
    def scores(self) -> tuple[Array, Array]:
        """Lower and upper bounds of the scores of all blocks at the dual point."""
        below, above = self.unscaled_scores
        with quiet():
            return self.from_below(below), self.from_above(above)

    def from_below(self, scores: Array) -> Array:
        """Return lower bounds of scores at the dual point, from those at z."""
        return scores if self.paired else np.where(scores > 0, self.shrink * scores * (1 - 2 * EPS), scores)

    def from_above(self, scores: Array) -> Array:
        """Return upper bounds of scores at the dual point, from those at z."""
        if self.paired:
            return scores
        return np.where(scores > 0, up(self.shrink * scores), self.shrink * scores * (1 - 2 * EPS))

    def at(self, z: Enclosure) -> "Proof":
        """Return the proof with another z, for its scores."""
        return replace(self, z=z)

    @property
    def pulls(self) -> tuple[Array, Array]:
        """Lower and upper bounds of the norm of z over each block; of z itself where x must not be negative."""
        return pulls(self.statement, self.z)

    @property
    def radius(self) -> float:
        """How far the optimum can be from the dual point, in the curvature metric."""
        return float(up(math.sqrt(self.gap_bound)))

    @property
    def reach(self) -> float:
        """How far the predictions can be from those of the optimum, in the metric of the least curvatures."""
        return self.radius

    @property
    def sway(self) -> tuple[Array, Array] | None:
        """How far x and b move, in either direction, with what a family of problems leaves open; None for one.

        If x is the sum of atoms, its rounding is such a move.
        """
        blur = self.statement.blur(self.x)
        return None if blur is None else (blur, np.zeros(self.b.shape))

    @cached_property
    def least_slope(self) -> float:
        """A lower bound of the slope of the penalty at the optimum, times S: that of the best score."""
        statement = self.statement
        if statement.ridges is not None:
            return elastic.slopes(self, statement.ridges)[0]
        if statement.limits is not None:
            least = limited.Bracket(statement, statement.limits, *limited.ends(self)).least()
            return float((statement.total * Enclosure.exact(least)).low)
        # phi is at least as steep at the optimum as at 0, and a linear one is never steeper
        least = float((statement.total * statement.penalty.first_slope).low)
        if least > 0 and not statement.problem.penalty.superlinear:
            return least
        below = self.scores[0]
        with quiet():
            floors = below - up(self.radius * self.spread[0]) - 2 * EPS * np.abs(below)
            floor = float(np.max(floors, where=statement.problem.eligible, initial=-np.inf))
        return max(floor, least) if least > 0 else floor

    @cached_property
    def facts(self) -> Facts | None:
        """What holds for the entries of every solution; None where all that is known is about blocks."""
        if not self.statement.decides:
            return None
        with np.errstate(all="ignore"):
            spread, norms = self.spread
            below, above = self.scores
            moved = up(self.radius * spread)
            scores = below - moved - 2 * EPS * np.abs(below), above + moved + 2 * EPS * np.abs(above)
            z = self.z if self.paired else self.z * Enclosure.exact(self.shrink)
            flat = Enclosure(z.mid.ravel(), z.rad.ravel())
            slope = self.least_slope, self._steepest(scores[1])
            return self.statement.problem.core.decide(
                Evidence.around(flat, up(self.radius * norms.ravel()), scores, slope)
            )

    @cached_property
    def rank(self) -> int | None:
        """A bound of the rank of every solution; None where x is no matrix, and where the bound says nothing.

        Solutions live where the singular values of z* are equal to the slope, and none of them moves by more than the
        radius times the spread.
        """
        statement, core = self.statement, self.statement.problem.core
        alone = statement.ridges is None and statement.family is None and not statement.problem.outputs
        if not (core.ranked and alone):
            return None
        with quiet():
            least = (self.least_slope - float(up(self.radius * self.spread[0][0]))) * (1 - SPARED)
            if not least > 0:
                return None
            z = self.z if self.paired else self.z * Enclosure.exact(self.shrink)
            rank = core.rank_bound(z, least)
        return rank if rank < min(statement.problem.lifted.form) else None

    def _steepest(self, above: Array) -> float:
        """Return an upper bound of the slope of the penalty, times S, at a solution that is not 0: the best score."""
        statement = self.statement
        if not statement.problem.penalty.superlinear:
            return float((statement.total * statement.penalty.first_slope).high)
        return float(np.max(above, where=statement.problem.eligible, initial=0.0))

    def zero(self) -> Mask:
        """Return the blocks that are zero in every solution, or the entries where verdicts are about them."""
        if self.facts is None:
            return self._zero_blocks()
        return np.asarray((self.facts.zero | self._zero_blocks()[self.statement.labels]) & self.statement.eligible)

    def _zero_blocks(self) -> Mask:
        """Return the blocks that are zero in every solution."""
        statement = self.statement
        if self.values is not None:
            return self.values.zero
        eligible, slope = statement.problem.eligible, self.least_slope
        with quiet():
            out = self._below(slope) if statement.single else self._stay_below(slope, self.scores[1], self.spread[0])
            if statement.ridges is not None:  # zero if and only if the score is at most the slope
                return np.asarray(out & eligible)
            if statement.priced and statement.problem.core.entrywise and not statement.problem.outputs:
                left = ~out & eligible
                left[np.flatnonzero(self.x)] = False
                index = np.flatnonzero(left)
                out[index] = self._beaten(index)
        return np.asarray(out & eligible)

    @cached_property
    def values(self) -> limited.Values | None:
        """Which coefficients are proven to be 0 or at a limit; None without limits."""
        limits = self.statement.limits
        return None if limits is None else limited.values(self, limits)

    @property
    def z_flat(self) -> Enclosure:
        """z, row by row."""
        return Enclosure(self.z.mid.ravel(), self.z.rad.ravel())

    def _stay_below(self, slope: float, above: Array, spread: Array) -> Mask:
        """Return where scores are below a slope at the optimum, from bounds of them at the point and of spreads."""
        return np.asarray(above + up(self.radius * spread) + 2 * EPS * np.abs(above) < slope)

    def _below(self, slope: float) -> Mask:
        """Return the coordinates whose scores are below a slope at the optimum.

        The length of the longest column, in the largest curvature, clears nearly all of them at once: a score that is
        below `(slope - radius * spread) / shrink`, rounded down. Those that are left are looked at one by one.
        """
        statement, above = self.statement, self.unscaled_scores[1]
        metric = up(statement.counts * self.curvatures[1])
        prices = None if statement.free_of_prices else low(statement.prices)
        cheapest = 1.0 if prices is None else float(np.min(prices, where=statement.problem.eligible, initial=np.inf))
        widest = float(statement.widest(metric, np.array([statement.lengths.argmax()]))[0])
        room = (slope - float(up(self.radius * up(widest / cheapest)))) * (1 - 8 * EPS)
        bound = room / self.shrink * (1 - 8 * EPS) if self.shrink > 0 else 0.0
        out = np.asarray(above < bound) if bound > 0 else np.zeros(len(above), dtype=bool)
        for lengths in (statement.widest, statement.spreads):
            index = np.flatnonzero(~out)
            if not len(index):
                break
            spread = lengths(metric, index if 4 * len(index) < len(out) else None)
            spread = spread[index] if len(spread) > len(index) else spread
            spread = spread if prices is None else up(spread / prices[index])
            out[index] = self._stay_below(slope, self.from_above(above[index]), spread)
        return out

    def _beaten(self, index: Index) -> Mask:
        """Return which coordinates the best atom rules out by the pairwise rule, with the distance of the images."""
        statement, signed, out = self.statement, self.statement.signs, np.zeros(len(index), dtype=bool)
        if not len(index):
            return out
        below = self.unscaled_scores[0]
        q = np.array([np.where(statement.problem.eligible, below, -np.inf).argmax()])
        best = float(self.from_below(below[q])[0])
        if not best > 0:
            return out
        metric = up(statement.counts * self.curvatures[1])
        inverse, own = (Enclosure.exact(1.0) / statement.prices[which] for which in (index, q))
        sign = Enclosure.exact(math.copysign(1.0, self.z.mid[q[0]]))
        image = statement.design.enclose_columns(q)[:, 0] * sign * own
        cross = self._products(image * Enclosure.exact(metric), index) * inverse
        length = up(statement.spreads(metric, index) * inverse.size)
        squares = up(length * length + up(statement.spreads(metric, q) * own.size) ** 2)
        along = self.z[index] * inverse * Enclosure.exact(self.shrink)
        for side in (1.0,) if signed is False else (1.0, -1.0):
            towards = Enclosure(side * cross.mid, cross.rad)
            apart = root(np.maximum(squares - 2 * towards.low, 0.0) + 8 * EPS * (squares + 2 * np.abs(towards.low)))
            highest = Enclosure(side * along.mid, along.rad).high + up(self.radius * apart) * (1 + 4 * EPS)
            beaten = highest + 4 * EPS * np.abs(highest) < best
            out = beaten if side == 1.0 else out & (beaten | np.logical_not(some(signed, index)))
        return np.asarray(out & (index != q))

    def _products(self, image: Enclosure, index: Index) -> Enclosure:
        """Return the products of some columns with a vector."""
        design = self.statement.design
        if len(index) * len(image) > SHARP:
            return design.enclose_adjoint(image, self.statement.lengths)[index]
        return design.sharp_adjoint(image, index)

    @property
    def held(self) -> Array | None:
        """What the ridge adds to the curvature of each entry, rounded down: half of it if the point is paired.

        For then the gap bounds half of the ridge times the square of the distance beside the curvature of the losses,
        and twice the gap all of it otherwise.
        """
        ridges = self.statement.ridges
        if ridges is None:
            return None
        return np.asarray(ridges.low[self.statement.labels] * (0.5 if self.paired else 1.0))

    @cached_property
    def box(self) -> elastic.Box | None:
        """Bounds of the optimal coefficients from the dual point alone; None without a ridge, or without prices."""
        ridges = self.statement.ridges
        return None if ridges is None or not self.statement.priced else elastic.box(self, ridges)

    @cached_property
    def stated(self) -> Enclosure:
        """The free coefficients as the problem states them; they are rounded."""
        return self.statement.frame.outside(self.x, self.b)

    @property
    def free(self) -> Array:
        """The free coefficients as the problem states them."""
        return np.asarray(self.stated.mid)

    @cached_property
    def unit(self) -> Array:
        return free_scale(self.statement)


def pulls(statement: Statement, z: Enclosure, index: Index | None = None) -> tuple[Array, Array]:
    """Return lower and upper bounds of the norm of z over each block; of z itself where x must not be negative.

    If every block is one entry, z may be that of some of them.
    """
    signed = statement.signs if index is None else some(statement.signs, index)
    if signed is False:
        return z.low.ravel(), z.high.ravel()
    if signed is True and statement.plain:
        highest = np.abs(z.mid).ravel()
        rad = z.rad.ravel()
        least = highest - rad
        np.maximum(least, 0.0, out=least)
        least *= 1 - 4 * EPS
        highest += rad
        highest *= 1 + 2 * EPS  # at least the next number
        return least, highest
    least = statement.least_norms(np.maximum(np.abs(z.mid) - z.rad, 0.0) * (1 - 4 * EPS))
    highest = statement.block_norms(z.size)
    if signed is True:
        return least, highest
    first = slice(None) if statement.plain else np.unique(statement.labels, return_index=True)[1]
    signed = signed[first]  # blocks without signs are single entries
    return np.where(signed, least, z.low.ravel()[first]), np.where(signed, highest, z.high.ravel()[first])


def scores_of(statement: Statement, z: Enclosure, index: Index | None = None) -> tuple[Array, Array]:
    """Return lower and upper bounds of the scores of all blocks at z; or of some, if every block is one entry."""
    if not statement.priced:
        scores = statement.problem.core.enclose_scores(z)
        return np.fmax(scores.low, -np.inf), np.where(np.isnan(scores.high), np.inf, scores.high)
    least, highest = pulls(statement, z, index)
    if statement.free_of_prices:
        return least, highest
    prices = statement.prices if index is None else statement.prices[index]
    above = np.where(highest > 0, up(np.abs(highest) / low(prices)), highest / prices.high * (1 - 4 * EPS))
    below = np.where(least > 0, least / prices.high * (1 - 4 * EPS), -up(np.abs(least) / low(prices)))
    return below, above


def low(prices: Enclosure) -> Array:
    """Return lower bounds of positive numbers."""
    return np.asarray(prices.mid - prices.rad if prices.rad.any() else prices.mid)


def prove(statement: Statement, x: Array, b: Array) -> Proof:
    """Evaluate gap, scores and objective at a point, with error bounds; raise Uncertain if that fails."""
    problem = statement.problem
    blur = statement.blur(x)
    point = Enclosure.exact(x) if blur is None else Enclosure(x, blur)
    support = np.flatnonzero(point.size if x.ndim == 1 else point.size.any(axis=1))
    image = image_of(statement, x, support)
    if blur is not None:
        image = image + statement.design.enclose(Enclosure(0 * x[support], blur[support]), support)
    offset = statement.frame.offset
    u, shift, slopes = with_free(statement, image if offset is None else image + offset, b)
    theta = slopes * statement.weights_of(slopes.ndim)
    mass = mass_of(statement, x)
    with quiet():
        z, scores = _sharper(statement, statement.pulled(theta), theta, support)
    sigma = float(np.max(scores[1], where=problem.eligible, initial=0.0))
    unscaled = Proof(statement, x, b, slopes, z, shift, sigma, 1.0, mass, np.inf, (z, scores))
    losses = (statement.loss.values(u, slopes, statement.y) * Enclosure.exact(statement.counts)).sum()
    charge = statement.total * statement.penalty.value(mass)
    if statement.ridges is not None:
        charge = charge + elastic.held(statement, statement.ridges, x, support)
    objective = losses + charge
    pull = (point[support] * z[support]).sum()

    def gap_at(shrink: float, answer: float) -> float:
        if shrink == 1:
            return float((charge + Enclosure.exact(answer) - pull).high)
        return float((objective + _dual_loss(unscaled, theta, shrink) + Enclosure.exact(answer)).high)

    if statement.limits is None:
        gap, shrink = _best_gap(unscaled, gap_at)
    else:
        gap, shrink = limited.best_gap(unscaled, statement.limits, mass, gap_at)
    if not math.isfinite(gap):
        raise Uncertain("the gap is not finite in double precision")
    gap = float(up(max(gap, 0.0) * SLACK))
    objective = objective.widened(gap * (SLACK - 1))
    return replace(unscaled, shrink=shrink, objective=objective, gap=gap)


def _best_gap(unscaled: Proof, gap_at: Callable[[float, float], float]) -> tuple[float, float]:
    """Return the gap and the scale of the dual point at which it is reached: 1, unless a linear penalty needs another.

    `gap_at` returns the gap for a scale and an upper bound of the conjugate of penalty and ridge there.
    """
    statement = unscaled.statement
    sigma, ridges, penalty = unscaled.sigma, statement.ridges, statement.penalty
    if ridges is None:
        answer = float((statement.total * penalty.conjugate(Enclosure.exact(sigma) / statement.total)).high)
        if math.isfinite(answer):
            return gap_at(1.0, answer), 1.0
        slope = float((statement.total * penalty.first_slope).low)
        shrink = max(slope / sigma * (1 - 8 * EPS), 0.0) if sigma > 0 else 0.0
        return gap_at(shrink, 0.0), shrink
    gap = gap_at(1.0, elastic.answer(unscaled, ridges, 1.0))
    if statement.problem.penalty.superlinear or not statement.priced:
        return gap, 1.0
    shrink = elastic.fitting_scale(unscaled)
    scaled = gap_at(shrink, elastic.answer(unscaled, ridges, shrink))
    return (scaled, shrink) if 2 * scaled < gap else (gap, 1.0)


def _dual_loss(unscaled: Proof, theta: Enclosure, shrink: float) -> Enclosure:
    """Return an upper bound of the conjugate of the loss at the dual point, scaled; without what an offset adds."""
    statement, slopes = unscaled.statement, unscaled.slopes
    low, high = slopes.low, slopes.high
    shrunk = [np.minimum(shrink * low, shrink * high), np.maximum(shrink * low, shrink * high)]
    ends = np.nextafter(shrunk[0], -np.inf), np.nextafter(shrunk[1], np.inf)
    bound = statement.loss.conjugates(*ends, statement.y)
    dual = (Enclosure.exact(bound) * Enclosure.exact(statement.counts)).sum()
    offset = statement.frame.offset
    return dual if offset is None else dual - (theta * Enclosure.exact(shrink) * offset).sum()


def image_of(statement: Statement, x: Array, support: Index) -> Enclosure:
    """Return the predictions of x alone."""
    if x[support].size * len(statement.counts) > SHARP:
        return statement.design.enclose(Enclosure.exact(x[support]), support)
    if x.ndim == 1:
        return statement.design.sharp(x[support], support)
    return _side_by_side([statement.design.sharp(column, support) for column in x[support].T])


def _sharper(
    statement: Statement, z: Enclosure, theta: Enclosure, support: Index
) -> tuple[Enclosure, tuple[Array, Array]]:
    """Return z with the rows of the best scores, which matter most, known to nearly all digits; and all scores."""
    eligible = statement.problem.eligible
    below, above = scores_of(statement, z)
    matters = statement.for_entries(above >= NEAR * np.max(below, where=eligible, initial=0.0)).reshape(z.shape)
    matters[support] = True
    index = np.flatnonzero(matters if matters.ndim == 1 else matters.any(axis=1))
    if len(index) * theta.mid.size > SHARP:
        index = support
    if not len(index) or len(index) * theta.mid.size > SHARP:
        return z, (below, above)
    if theta.ndim == 1:
        sharp = -statement.design.sharp_adjoint(theta, index)
    else:
        outputs = range(theta.shape[1])
        sharp = -_side_by_side([statement.design.sharp_adjoint(theta[:, k], index) for k in outputs])
    mid, rad = z.mid.copy(), z.rad.copy()
    better = sharp.rad < rad[index]  # not where it overflows
    mid[index] = np.where(better, sharp.mid, mid[index])
    rad[index] = np.where(better, sharp.rad, rad[index])
    z = Enclosure(mid, rad)
    if not statement.single:
        return z, scores_of(statement, z)
    below[index], above[index] = scores_of(statement, z[index], index)
    return z, (below, above)


def _side_by_side(columns: list[Enclosure]) -> Enclosure:
    """Return vectors as the columns of a matrix."""
    return Enclosure(np.stack([v.mid for v in columns], axis=1), np.stack([v.rad for v in columns], axis=1))


def mass_of(statement: Statement, x: Array) -> Enclosure:
    """Return the gauge of x."""
    if statement.parts is not None and x.any():
        return Enclosure.exact(statement.parts.weights).sum()
    if not statement.priced:
        return statement.problem.core.enclose_sizes(x).sum()
    flat = x.ravel()
    if statement.plain:
        blocks = np.flatnonzero(flat)
        norms = Enclosure.exact(np.abs(flat[blocks]))
    else:
        sizes = np.abs(flat)
        blocks = np.unique(statement.labels[np.flatnonzero(sizes)])
        high = statement.block_norms(sizes)[blocks]
        low = statement.least_norms(sizes)[blocks]
        norms = Enclosure((high + low) / 2, up((high - low) / 2 + EPS * high))
    return (norms * statement.prices[blocks]).sum()


def feasible(statement: Statement, x: Array, coordinates: Array) -> tuple[Array, Array]:
    """Return x, shrunk until its gauge is certainly in the domain of the penalty, and the best free coefficients."""
    problem = statement.problem
    eligible = statement.for_entries(problem.eligible).reshape(x.shape)
    x = x.copy() if eligible.all() else np.where(eligible, x, 0.0)
    x = admissible(x.ravel(), statement.signs).reshape(x.shape)
    limit, limits = problem.penalty.limit, statement.limits
    x = x if limits is None else limits.clip(x)
    if not np.isfinite(x).all():
        raise Uncertain("the coefficients are not finite in double precision")
    x = problem.core.settled(x)
    for _ in range(100):
        if limit == np.inf or math.isfinite(float(statement.penalty.value(mass_of(statement, x)).high)):
            break
        most, least = float(mass_of(statement, x).high), 0.0 if limits is None else limits.least_mass
        part = min((limit - least) / (most - least), 1.0) * (1 - 4 * EPS)
        x = part * x if limits is None else limits.shrunk(x, part)
    if problem.span is None:
        return x, np.zeros((0, *problem.outputs))
    b = statement.frame.best(x, coordinates)
    for column, of, times in statement.sums:
        b[of] += times.reshape(-1, *[1] * (b.ndim - 1)) * b[column]
        b[column] = 0.0
    if problem.outputs:  # losses of several classes see differences only
        b = b - b.mean(axis=1, keepdims=True)
    if not np.isfinite(b).all():
        raise Uncertain("the free coefficients are not finite in double precision")
    return x, b
