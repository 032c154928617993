"""Which samples can be left out, one at a time, for several classes: the argument of samples.py.

The points of class_moves.py have to be near the optima, with the same signs and with scores below the slope. What
losses are off their second order there follows from D, the largest difference of two predictions of a sample that move:
a probability moves by no more than `p exp(2 D) D` times that of all other classes, and the slope is off its straight
line by no more than `p D^2 exp(3 D) / 2` times the square of that, or times the variance (class_line.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from atomsieve.certificate.class_face import ClassFace, ClassPlace
from atomsieve.certificate.class_line import still
from atomsieve.certificate.class_moves import Moves
from atomsieve.certificate.samples import STEPS, blocks
from atomsieve.certificate.scores import low
from atomsieve.core.clock import look
from atomsieve.display.live import LiveLine
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import Enclosure, Uncertain, gamma, root, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask

SMALL = 1 / 4
"""Where a probability is next to 0, it may move by the square of this part of a step."""


def removable(face: ClassFace, alive: Mask) -> Mask:
    """Return which samples can lose any part of their weight, without a change of zeros, non-zeros and signs."""
    counts = face.statement.counts
    found = np.zeros(len(counts), dtype=bool)
    with np.errstate(all="ignore"), LiveLine() as line:
        try:
            moves = Moves.of(face, alive)
        except (Uncertain, np.linalg.LinAlgError):
            return found
        steps = [step for step in (_step(moves, alive, size) for size in STEPS if size < np.inf) if step is not None]
        for some in moves.parts(np.arange(len(counts))):
            left = some
            for step in steps:
                around = Around(left, step)
                near = around.stay() & around.signs()
                some_near = Around(left.only(near), step)
                found[some_near.moves.samples] = some_near.scores(alive)
                left = left.only(~near)
            line.tell(f"{np.count_nonzero(found):,} of {len(found):,} samples can be left out, so far")
    return found


@dataclass(frozen=True, eq=False)
class Step:
    """A range of probabilities around the point, and what holds as long as they stay within it."""

    place: ClassPlace
    width: Array
    """How far slopes may move."""

    others: Array
    """The probability of all other classes than one, at the point."""

    tops: Array
    """The probabilities at the point; bounds of both from above."""

    pulled: float
    """The norm of delta at the point."""

    kept: Array
    """The part of the metric that is left without each sample."""

    lengths: Array
    """The lengths of the rows of each sample, class by class, in the inverse."""

    turns: Array
    """Bounds of their lengths less their mean."""

    spread: Array
    """The lengths of the columns of A in the largest curvatures, flattened, and after them those with probabilities."""


def _step(moves: Moves, alive: Mask, size: float) -> Step | None:
    """Return the range for moves of predictions of so much; None if nothing is known there."""
    face, statement, t = moves.face, moves.face.statement, moves.face.nominal.slopes
    counts = statement.counts
    tops = statement.loss.tops(t.low, t.high, statement.y)
    others = up(np.stack([np.delete(tops, c, axis=1).sum(axis=1) for c in range(t.shape[1])], axis=1) * (1 + 2.0**-40))
    others = np.minimum(others, 1.0)
    floor = (SMALL * size) ** 2 * (counts.mean() / counts)
    width = up(tops * others * size * np.exp(2 * size) + floor[:, None] + 4 * EPS * t.size)
    look()
    try:
        place = face.class_place(alive, (np.nextafter(t.low - width, -np.inf), np.nextafter(t.high + width, np.inf)))
        pulled = face.class_pulled(place, still(face, place))
    except Uncertain:
        return None
    if place.inverse is None:
        return None
    kept, turns = _lost(place)
    features = moves.rows.features[:, moves.rows.feature]
    rows = (Enclosure(features.mid * v, features.rad * np.abs(v)) for v in moves.rows.signs)
    lengths = np.stack([place.inverse.lengths(row) for row in rows], axis=1)
    metrics = up(counts[:, None] * place.most), up(counts[:, None] * moves.rows.shares)
    spread = [np.stack([statement.spreads(v) for v in metric.T], axis=1).ravel() for metric in metrics]
    return Step(place, width, others, tops, pulled, kept, lengths, turns, np.stack(spread))


def _lost(place: ClassPlace) -> tuple[Array, Array]:
    """Return what part of the metric is left without each sample, and the lengths of its rows less their mean."""
    assert place.inverse is not None  # noqa: S101
    found = [(place.inverse.lengths(rows), weights) for rows, weights in place.rows.pieces()]
    lengths, weights = (np.concatenate(part).reshape(place.tops.shape) for part in zip(*found, strict=True))
    lost = up(np.sum(up(weights * lengths * lengths), axis=1) * (1 + 2.0**-40))
    return np.fmax(1 - lost * (1 + 16 * EPS), 0.0), lengths


@dataclass(frozen=True, eq=False)
class Around:
    """Some samples that are left out, within a range of probabilities."""

    moves: Moves
    step: Step

    @cached_property
    def _root(self) -> Array:
        return np.sqrt(self.step.kept[self.moves.samples]) * (1 - 4 * EPS)

    @cached_property
    def _bent(self) -> tuple[Array, Array]:
        """How far slopes are off a straight line, by classes: times D, and times `D^2 exp(3 D)`."""
        tops, others, p = self.step.tops, self.step.others, self.moves.rows.shares
        t = self.moves.face.nominal.slopes
        off = up(t.rad + 4 * EPS * (t.size + p))
        linear = off + 2 * p * up(np.sum(off, axis=1, keepdims=True) * (1 + 2.0**-40))
        pairs = up(np.sum(tops * others, axis=1) / 2 * (1 + 2.0**-40))  # the variance of numbers that differ by 1
        return up(linear), up(tops * np.maximum(others * others, pairs[:, None]) / 2)

    @cached_property
    def _curved(self) -> Array:
        """`D^2 exp(3 D)`."""
        apart = self.moves.apart
        return np.asarray(up(apart * apart * np.exp(3 * apart) * (1 + 2.0**-40)))

    def _off(self, metric: Array) -> Array:
        """Return the norms of what slopes are off, in the inverse of a metric of samples and classes."""
        counts, sums = self.moves.face.statement.counts, np.zeros(len(self.moves.samples))
        for bound, moved in zip(self._bent, (self.moves.apart, self._curved), strict=True):
            parts = np.where(bound > 0, up(bound * bound / metric), 0.0)
            weights = up(counts * up(np.sum(parts, axis=1) * (1 + 2.0**-40)))
            sums += root(up((moved * moved) @ weights * (1 + gamma(len(weights) + 4))))
        return np.asarray(up(sums))

    @cached_property
    def _held(self) -> Array:
        """The norm of the products of all columns with what slopes are off, which adds up to 0 over the classes.

        Where the metric knows nothing of a class, the move there is one of the class with the largest share of the
        sample, and one of the difference of both.
        """
        shares, counts = self.step.place.rows.shares, self.moves.face.statement.counts
        base, flat = np.argmax(shares, axis=1), shares == 0
        every, sums = np.arange(len(shares)), np.zeros(len(self.moves.samples))
        lengths = up(self.step.lengths + self.step.lengths[every, base][:, None])
        for bound, moved in zip(self._bent, (self.moves.apart, self._curved), strict=True):
            held = np.where(flat, 0.0, bound)
            held[every, base] += np.where(flat, bound, 0.0).sum(axis=1)
            parts = np.where(flat, 0.0, up(held * held / np.where(flat, 1.0, shares)))
            weights = up(counts * up(np.sum(parts, axis=1) * (1 + 2.0**-40)))
            sums += root(up((moved * moved) @ weights * (1 + gamma(len(weights) + 4))))
            alone = up(counts * up(np.sum(np.where(flat, bound * lengths, 0.0), axis=1) * (1 + 2.0**-40)))
            sums += up(moved @ alone * (1 + gamma(len(alone) + 4))) / self._root
        return np.asarray(up(sums))

    @cached_property
    def before(self) -> Array:
        """How far the optimum can be from the point, in the metric of the least curvatures without the sample."""
        return np.where(self._root > 0, up(self.step.pulled * (1 + 4 * EPS) / self._root), np.inf)

    @cached_property
    def away(self) -> Array:
        """How far it can be from the other corners of the triangle; in between the distance grows in proportion."""
        assert self.step.place.inverse is not None  # noqa: S101
        rest = up(self.moves.rest() @ root(self.step.place.inverse.diagonal) * (1 + 2.0**-30))
        left = np.sum(self.moves.left * self.step.lengths[self.moves.samples], axis=1) * (1 + 2.0**-30)
        away = up(self.before + up(rest + left) / self._root * (1 + 4 * EPS) + self._held)
        return np.where((self._root > 0) & ~np.isnan(away), away, np.inf)

    @cached_property
    def _beyond(self) -> Array:
        """How far slopes can be from those at the corners, in the metric of the largest curvatures."""
        return np.asarray(up(self.away + self._off(self.step.place.most)))

    def stay(self) -> Mask:
        """Return for which samples all slopes stay where curvatures are bounded."""
        step, apart, counts, i = self.step, self.moves.apart, self.moves.face.statement.counts, self.moves.samples
        away = self.away[:, None]
        apart = apart.copy()
        own = np.arange(len(i)), i  # the sample itself may have no weight left, and its predictions count
        apart[own] = up(apart[own] + 2 * up(step.turns[i].max(axis=1) * self.away / self._root))
        moved = up(apart * np.exp(2 * apart) * (1 + 2.0**-40))
        found = np.ones(len(i), dtype=bool)
        for c in range(step.tops.shape[1]):
            most = np.maximum(step.place.most[:, c], up(away * away / counts))
            further = up(root(up(most / counts)) * away)
            further[own] = 0.0
            needed = up(up(step.tops[:, c] * step.others[:, c]) * moved + further)
            found &= (needed < step.width[:, c]).all(axis=1)
        return found

    def _corners(self) -> Iterator[tuple[float, float, Array, Array]]:
        """Yield the parts of g and h at each corner, how far the optimum can be from it, and how far slopes can."""
        yield 0.0, 0.0, self.before, self.before
        yield 1.0, 0.0, self.away, self._beyond
        yield 1.0, 1.0, self.away, self._beyond

    def signs(self) -> Mask:
        """Return for which samples every coefficient keeps its sign."""
        assert self.step.place.inverse is not None  # noqa: S101
        moves, (own, entries) = self.moves, self.moves.entries
        x = moves.face.nominal.x.ravel()[entries]
        lengths = root(self.step.place.inverse.diagonal)[own]
        found = np.ones(len(moves.samples), dtype=bool)
        for tau, beta, away, _ in self._corners():
            there = x + tau * moves.first[:, own] + beta * moves.second[:, own]
            there = there * np.sign(x) - 8 * EPS * (np.abs(x) + moves.sizes[:, own])
            found &= (there > up(np.outer(away / self._root, lengths))).all(axis=1)
        return found

    def scores(self, alive: Mask) -> Mask:
        """Return for which samples the scores of all other entries stay below the slope, which changes with S."""
        moves, i, classes = self.moves, self.moves.samples, self.step.tops.shape[1]
        statement = moves.face.statement
        other = ~alive & statement.problem.eligible
        shares = up(statement.counts[i] / float(statement.total.low))
        found = np.ones(len(i), dtype=bool)
        for features in blocks(np.flatnonzero(other.reshape(-1, classes).any(axis=1)), len(i) + len(statement.counts)):
            columns = statement.design.enclose_columns(features)
            for c in range(classes):
                look()
                chosen = np.flatnonzero(other[features * classes + c])
                if len(chosen):
                    found &= self._below(columns[:, chosen], features[chosen], c, shares)
        return found

    def _below(self, columns: Enclosure, features: Index, c: int, shares: Array) -> Mask:
        """Return for which samples the scores of some features in one class stay below the slope."""
        moves, face, step, i = self.moves, self.moves.face, self.step, self.moves.samples
        entries, statement = features * step.tops.shape[1] + c, face.statement
        z, mine = face.nominal.z_flat[entries], columns[i]
        turned = columns.mid.T @ self._bends(c)
        parts = ((moves.pull[:, c], moves.first), (moves.back[:, c], moves.second))
        steps = [mine.mid.T * pull - turned @ moved.T for pull, moved in parts]
        pulls = up(np.abs(moves.pull[:, c]) + np.abs(moves.back[:, c]))
        slack = (statement.counts[:, None] * face.nominal.slopes.rad)[i, c] + moves.left[:, c]
        blur = up(z.rad[:, None] + pulls * (mine.rad + 8 * EPS * mine.size).T + mine.size.T * slack)
        long = moves.sizes @ moves.long
        flat = root(up(statement.counts @ (columns.rad * columns.rad) * (1 + 2.0**-30)))
        rough = moves.sizes @ (moves.rough * moves.long + 2 * moves.blurred)
        blur = up(blur + np.outer(flat, long) + np.outer(step.spread[1][entries], rough))
        prices = low(statement.prices)[statement.labels[entries]] * float(face.slope.low) * (1 - 8 * EPS)
        found = np.ones(len(i), dtype=bool)
        for tau, beta, _, off in self._corners():
            there = z.mid[:, None] + tau * steps[0] + beta * steps[1]
            sizes = up(blur + np.outer(step.spread[0][entries], off)) + 16 * EPS * np.abs(there)
            sizes = sizes + 8 * EPS * (np.abs(steps[0]) + np.abs(steps[1]))
            highest = self._highest(there, entries)
            found &= (highest + sizes < np.outer(prices, 1 - tau * shares)).all(axis=0)
        return found

    def _bends(self, c: int) -> Array:
        """Return the Hessians of all samples times their columns, for one class."""
        rows, counts = self.moves.rows, self.moves.face.statement.counts
        p = rows.shares
        mean = (p @ rows.signs) / p.sum(axis=1, keepdims=True)
        return np.asarray((counts * p[:, c])[:, None] * (rows.signs[c] - mean) * rows.features.mid[:, rows.feature])

    def _highest(self, z: Array, entries: Index) -> Array:
        """Return what of z counts: its size, or itself where coefficients must not be negative."""
        signs = self.moves.face.statement.signs
        if isinstance(signs, bool):
            return np.abs(z) if signs else z
        return np.where(signs[entries][:, None], np.abs(z), z)
