"""What a point proves about the optimum, in spite of rounding."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from atomsieve.certificate import elastic
from atomsieve.certificate.inverse import Dependency, determined, inverse_diagonal
from atomsieve.certificate.statement import Statement
from atomsieve.gauges.signs import admissible
from atomsieve.numerics.enclosures import Enclosure, Uncertain, dots, gamma, norm, root, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask

SLACK = 1 + 2.0**-9
"""Factor by which the gap in the claims is enlarged; the interval of the objective is widened by the same amount. A
checker with slightly weaker bounds can then still confirm the claims."""

SHARP = 1 << 25
"""Largest number of entries for which products are computed in twice the precision."""

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
        """Lower and upper bounds of loss'' between the point and the optimum, for each sample."""
        loss, problem = self.statement.loss, self.statement.problem
        if self.slopes.mid.ndim > 1:
            largest = loss.entry_smoothness if problem.core.entrywise else loss.smoothness
            return np.zeros(len(self.slopes.mid)), np.full(len(self.slopes.mid), largest)
        t = self.slopes
        y = problem.y
        counts = self.statement.counts
        low, high = np.minimum(t.low, self.shrink * t.low), np.maximum(t.high, self.shrink * t.high)
        with np.errstate(all="ignore"):
            least, most = np.zeros_like(t.mid), loss.largest(low, high, y, up(self.gap_bound / counts))
            for _ in range(3):
                away = root(up(up(most / counts) * self.gap_bound)) + 4 * EPS * t.size
                least, most = loss.curvatures(np.nextafter(low - away, -np.inf), np.nextafter(high + away, np.inf), y)
        return least, most

    @cached_property
    def spread(self) -> tuple[Array, Array]:
        """Upper bounds of the norm of A p over each block, and of the norm of each column, in the curvature metric."""
        statement = self.statement
        with np.errstate(over="ignore", invalid="ignore"):
            norms = statement.spreads(up(statement.counts * self.curvatures[1]))
            core = statement.problem.core
            shape = statement.problem.shape
            prices = _low(statement.prices)
            if core.entrywise:
                entries = np.broadcast_to(norms if len(shape) == 1 else norms[:, None], shape)
                return up(entries.ravel() / prices), norms
            # the norm of a block of columns is at most the root of the sum of their squares
            labels = core.labels(shape) if len(shape) == 1 else core.labels(shape)[:, 0]
            squares = np.bincount(labels, norms * norms, len(prices)) * (1 + gamma(len(norms) + 4))
            return up(root(up(squares)) / prices), norms

    @cached_property
    def scores(self) -> tuple[Array, Array]:
        """Lower and upper bounds of the scores of all blocks at the dual point."""
        with np.errstate(all="ignore"):
            least, highest = self.pulls
            prices = self.statement.prices
            above = np.where(highest > 0, up(np.abs(highest) / _low(prices)), highest / prices.high * (1 - 4 * EPS))
            below = np.where(least > 0, least / prices.high * (1 - 4 * EPS), -up(np.abs(least) / _low(prices)))
            if self.paired:
                return below, above
            positive = self.shrink * below * (1 - 2 * EPS)
            negative = self.shrink * above * (1 - 2 * EPS)
            return np.where(below > 0, positive, below), np.where(above > 0, up(self.shrink * above), negative)

    def at(self, z: Enclosure) -> "Proof":
        """Return the proof with another z, for its scores."""
        return replace(self, z=z)

    @property
    def pulls(self) -> tuple[Array, Array]:
        """Lower and upper bounds of the norm of z over each block; of z itself where x must not be negative."""
        statement = self.statement
        signed = statement.signs
        z = self.z
        if signed is False:
            return z.low.ravel(), z.high.ravel()
        least = statement.least_norms(np.maximum(np.abs(z.mid) - z.rad, 0.0) * (1 - 4 * EPS))
        highest = statement.block_norms(z.size)
        if signed is True:
            return least, highest
        return np.where(signed, least, z.low.ravel()), np.where(signed, highest, z.high.ravel())

    def zero(self) -> Mask:
        """Return the blocks that are zero in every solution."""
        statement = self.statement
        eligible = statement.problem.eligible
        below, above = self.scores
        radius = float(up(math.sqrt(self.gap_bound)))
        with np.errstate(all="ignore"):
            spread, norms = self.spread
            highest = above + up(radius * spread) + 2 * EPS * np.abs(above)
            if statement.ridges is not None:  # zero if and only if the score is at most the slope
                return np.asarray((highest < elastic.slopes(self, statement.ridges)[0]) & eligible)
            floors = np.where(eligible, below - up(radius * spread) - 2 * EPS * np.abs(below), -np.inf)
            floor = float(np.max(floors, initial=-np.inf))
            # phi is at least as steep at the optimum as at 0
            least = float((statement.total * statement.penalty.first_slope).low)
            out = highest < (max(floor, least) if least > 0 else floor)
            left = ~out & eligible & ~np.isin(np.arange(len(out)), self._support)
            if left.any() and not statement.problem.outputs and statement.problem.core.entrywise:
                out |= self._pairwise(norms, radius)
        return np.asarray(out & eligible)

    @property
    def _support(self) -> Index:
        return np.unique(self.statement.labels[np.flatnonzero(self.x.ravel())])

    def _pairwise(self, norms: Array, radius: float) -> Mask:
        """Return the coordinates that the best atom rules out by the pairwise rule, with the distance of the images."""
        statement, signed = self.statement, self.statement.signs
        below, _ = self.scores
        q = int(np.where(statement.problem.eligible, below, -np.inf).argmax())
        if not below[q] > 0:
            return np.zeros(len(norms), dtype=bool)
        metric = up(statement.counts * self.curvatures[1])
        prices = statement.prices
        best = statement.design.enclose_columns(np.array([q]))[:, 0]
        inverse = Enclosure.exact(1.0) / prices
        image = best * Enclosure(np.full(1, math.copysign(1.0, self.z.mid[q])) * inverse.mid[q], inverse.rad[q])
        cross = statement.design.enclose_adjoint(image * Enclosure.exact(metric), statement.lengths) * inverse
        length = up(norms * inverse.size)
        own = float(length[q])
        out = np.zeros(len(norms), dtype=bool)
        along = self.z * inverse * Enclosure.exact(self.shrink)
        for side in (1.0,) if signed is False else (1.0, -1.0):
            towards = Enclosure(side * cross.mid, cross.rad)
            squares = up(length * length + own * own)
            apart = root(np.maximum(squares - 2 * towards.low, 0.0) + 8 * EPS * (squares + 2 * np.abs(towards.low)))
            highest = Enclosure(side * along.mid, along.rad).high + up(radius * apart) * (1 + 4 * EPS)
            beaten = highest + 4 * EPS * np.abs(highest) < below[q]
            out = beaten if side == 1.0 else out & (beaten | np.logical_not(signed))
        out[q] = False
        return out

    def intervals(self, alive: Mask) -> tuple[Array, Array, list[Dependency]]:
        """Return how far each entry of x and each free coefficient can be from the optimum, and the dependencies.

        Distances are inf where unknown. In the dependencies, entries of x are numbered 0, 1, ... and free columns
        -1, -2, ...
        """
        statement, shape = self.statement, self.statement.problem.shape
        away, around = np.full(shape, np.inf), np.full(self.b.shape, np.inf)
        ridge = self._held
        if ridge is not None:
            away = root(up(self.gap_bound / ridge)).reshape(shape)
        away.ravel()[~alive[statement.labels]] = 0.0
        if statement.problem.outputs:
            return away, around, []
        index = np.flatnonzero(alive[statement.labels])
        kept = statement.used
        if not len(index) + len(kept):
            return away, around, []
        columns = statement.design.enclose_columns(index)
        own = statement.unpenalised[:, kept]
        whole = Enclosure(np.hstack([own.mid, columns.mid]), np.hstack([own.rad, columns.rad]))
        with np.errstate(all="ignore"):
            weights = statement.counts * self.curvatures[0] * (1 - 4 * EPS)
            added = None if ridge is None else np.concatenate([np.zeros(len(kept)), ridge[index]])
            diagonal, found = determined(whole, weights, len(kept), added)
            bound = root(up(diagonal * self.gap_bound))
            away[index] = np.minimum(away[index], bound[len(kept) :])
            around[kept] = up(bound[: len(kept)] + self.shift * self._unit[kept])
        names = np.concatenate([-1 - kept, index])
        further = [Dependency(int(names[d.column]), names[d.of], d.times) for d in found]
        involved = [k for d in statement.sums for k in (d.column, *d.of)]
        around[involved] = np.inf
        return away, around, [Dependency(-1 - d.column, -1 - d.of, d.times) for d in statement.sums] + further

    @property
    def _held(self) -> Array | None:
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
        """Bounds of the optimal coefficients from the dual point alone; None without a ridge."""
        ridges = self.statement.ridges
        return None if ridges is None else elastic.box(self, ridges)

    @cached_property
    def _unit(self) -> Array:
        return free_scale(self.statement)


def _low(prices: Enclosure) -> Array:
    """Return lower bounds of positive numbers."""
    return np.asarray(prices.mid - prices.rad if prices.rad.any() else prices.mid)


def free_scale(statement: Statement) -> Array:
    """Return, for each free column, a power of two near 1 / (its largest entry)."""
    largest = np.abs(statement.unpenalised.mid).max(axis=0)
    return np.asarray(2.0 ** -np.round(np.log2(np.where(largest > 0, largest, 1.0))))


def prove(statement: Statement, x: Array, b: Array) -> Proof:
    """Evaluate gap, scores and objective at a point, with error bounds; raise Uncertain if that fails."""
    problem = statement.problem
    support = np.flatnonzero(x if x.ndim == 1 else x.any(axis=1))
    image = _image(statement, x, support)
    offset = problem.smooth.offset
    u, shift = _with_free(statement, image if offset is None else image + Enclosure.exact(offset), b)
    slopes = statement.loss.slopes(u, problem.y)
    weights = Enclosure.exact(statement.counts if slopes.mid.ndim == 1 else statement.counts[:, None])
    theta = slopes * weights
    z = -statement.design.enclose_adjoint(theta, statement.lengths)
    mass = _mass(statement, x)
    unscaled = Proof(statement, x, b, slopes, z, shift, 0.0, 1.0, mass, np.inf)
    z = _sharper(unscaled, theta, support)
    unscaled = replace(unscaled, z=z)
    sigma = float(np.max(np.where(problem.eligible, unscaled.scores[1], 0.0), initial=0.0))
    losses = (statement.loss.values(u, slopes, problem.y) * Enclosure.exact(statement.counts)).sum()
    charge = statement.total * statement.penalty.value(mass)
    if statement.ridges is not None:
        charge = charge + elastic.held(statement, statement.ridges, x, support)
    objective = losses + charge
    pull = (Enclosure.exact(x[support]) * z[support]).sum()

    def gap_at(shrink: float, answer: float) -> float:
        if shrink == 1:
            return float((charge + Enclosure.exact(answer) - pull).high)
        return float((objective + _dual_loss(unscaled, theta, shrink) + Enclosure.exact(answer)).high)

    gap, shrink = _best_gap(replace(unscaled, sigma=sigma), gap_at)
    if not math.isfinite(gap):
        raise Uncertain("the gap is not finite in double precision")
    gap = float(up(max(gap, 0.0) * SLACK))
    objective = objective.widened(gap * (SLACK - 1))
    return Proof(statement, x, b, slopes, z, shift, sigma, shrink, objective, gap)


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
    if statement.problem.penalty.superlinear:
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
    bound = statement.loss.conjugates(*ends, statement.problem.y)
    dual = (Enclosure.exact(bound) * Enclosure.exact(statement.counts)).sum()
    offset = statement.problem.smooth.offset
    return dual if offset is None else dual - (theta * Enclosure.exact(shrink) * Enclosure.exact(offset)).sum()


def _image(statement: Statement, x: Array, support: Index) -> Enclosure:
    """Return the predictions of x alone."""
    if x.ndim == 1 and len(support) * len(statement.counts) <= SHARP:
        columns = statement.design.enclose_columns(support)
        if not columns.rad.any():
            return dots(columns.mid.T, Enclosure.exact(x[support]))
    return statement.design.enclose(Enclosure.exact(x[support]), support)


def _sharper(proof: Proof, theta: Enclosure, support: Index) -> Enclosure:
    """Return z with the entries of the best scores, which matter most, known to nearly all digits."""
    statement = proof.statement
    if theta.mid.ndim > 1:
        return proof.z
    below, above = (np.where(statement.problem.eligible, scores, 0.0) for scores in proof.scores)
    matters = (above >= NEAR * below.max(initial=0.0))[statement.labels]
    matters[support] = True
    index = np.flatnonzero(matters)
    if len(index) * len(theta.mid) > SHARP:
        index = support
    if not len(index) or len(index) * len(theta.mid) > SHARP:
        return proof.z
    columns = statement.design.enclose_columns(index)
    if columns.rad.any():
        return proof.z
    sharp = -dots(columns.mid, theta)
    mid, rad = proof.z.mid.copy(), proof.z.rad.copy()
    better = sharp.rad < rad[index]  # not where it overflows
    mid[index[better]], rad[index[better]] = sharp.mid[better], sharp.rad[better]
    return Enclosure(mid, rad)


def _mass(statement: Statement, x: Array) -> Enclosure:
    """Return the gauge of x."""
    sizes = np.abs(x.ravel())
    labels = statement.labels[np.flatnonzero(sizes)]
    blocks = np.unique(labels)
    if statement.plain:
        norms = Enclosure.exact(sizes[blocks])
    else:
        high = statement.block_norms(sizes)[blocks]
        low = statement.least_norms(sizes)[blocks]
        norms = Enclosure((high + low) / 2, up((high - low) / 2 + EPS * high))
    return (norms * statement.prices[blocks]).sum()


def _with_free(statement: Statement, image: Enclosure, b: Array) -> tuple[Enclosure, float]:
    """Return the predictions at the exact minimiser over the free coefficients, and how far that is from b.

    Let the Hessian be at least lambda on a ball around b. If the gradient at b is shorter than lambda times the radius,
    then the minimiser lies within `norm(gradient) / lambda` of b. Columns are scaled to entries of at most about 1.
    """
    problem = statement.problem
    if problem.span is None:
        return image, 0.0
    used = statement.used
    scale = free_scale(statement)[used]
    free = statement.unpenalised[:, used]
    free = Enclosure(free.mid * scale, free.rad * scale)
    part = _product(free, b[used] / scale)
    u = image + part
    slopes = statement.loss.slopes(u, problem.y)
    theta = slopes * Enclosure.exact(statement.counts)
    gradient = [float((free[:, k] * theta).sum().size) for k in range(len(used))]
    size = norm(np.array(gradient))
    # entries are at most about 1: their squares do not overflow
    lengths = root(up((free.size**2).sum(axis=1) * (1 + gamma(len(used) + 2))))
    with np.errstate(all="ignore"):
        guess = _least_eigenvalue(free, statement.counts * _least_on(statement, u, lengths * 0.0))
        for radius in (4.0, 64.0, 2.0**20):
            if guess is None:
                break
            ball = max(radius * size / guess, 1e-300)
            least = _least_eigenvalue(free, statement.counts * _least_on(statement, u, lengths * ball))
            if least is not None and size < least * ball * (1 - 2.0**-40):
                shift = float(up(size / least * (1 + 2.0**-40)))
                return u.widened(up(lengths * shift)), shift
    raise Uncertain("the best free coefficients (intercept) could not be enclosed")


def _least_on(statement: Statement, u: Enclosure, away: Array) -> Array:
    """Return lower bounds of loss'' for all predictions within a distance `away` of u."""
    return np.asarray(statement.loss.least_curvatures(u.widened(away), statement.problem.y) * (1 - 4 * EPS))


def _least_eigenvalue(columns: Enclosure, weights: Array) -> float | None:
    """Return a lower bound of the smallest eigenvalue of `C' diag(w) C`, or None if none is proven.

    The smallest eigenvalue is 1 / (norm of the inverse), and the trace of the inverse bounds that norm.
    """
    diagonal = inverse_diagonal(columns, weights)
    if diagonal is None:
        return None
    trace = float(up(diagonal.sum() * (1 + float(gamma(len(diagonal))))))
    return 1 / trace * (1 - 4 * EPS) if trace > 0 else None


def _product(columns: Enclosure, b: Array) -> Enclosure:
    """Return C b."""
    total = Enclosure.exact(np.zeros(len(columns.mid)))
    for k in range(len(b)):
        total = total + columns[:, k] * Enclosure.exact(b[k])
    return total


def feasible(statement: Statement, x: Array, coordinates: Array) -> tuple[Array, Array]:
    """Return x, shrunk until its gauge is certainly in the domain of the penalty, and the best free coefficients."""
    problem = statement.problem
    x = np.where(problem.eligible[statement.labels].reshape(x.shape), x, 0.0)
    x = admissible(x.ravel(), statement.signs).reshape(x.shape)
    limit = problem.penalty.limit
    if not np.isfinite(x).all():
        raise Uncertain("the coefficients are not finite in double precision")
    for _ in range(100):
        if limit == np.inf or math.isfinite(float(statement.penalty.value(_mass(statement, x)).high)):
            break
        x = x * min(limit / float(_mass(statement, x).high), 1.0) * (1 - 4 * EPS)
    if problem.span is None:
        return x, np.zeros(0)
    best, _, _ = problem.smooth.predict(problem.design.matvec(x), coordinates)
    b = problem.span.coefficients(best)
    for column, of, times in statement.sums:
        b[of] += times.reshape(-1, *[1] * (b.ndim - 1)) * b[column]
        b[column] = 0.0
    if not np.isfinite(b).all():
        raise Uncertain("the free coefficients are not finite in double precision")
    return x, b
