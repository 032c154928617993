"""A family of problems of several classes: errors in X."""

from collections.abc import Iterator
from functools import reduce
from typing import NamedTuple

import numpy as np
from flint import arb, arb_mat

from .balls import bounds_of, double_above, highest, largest_root, positive_part, root, square
from .class_line import ClassLine
from .class_losses import class_loss, class_slopes
from .doubles import TINY, UP, exp_below, gamma, known, lengths_above, product_above, sums_above
from .pulls import Pulls, Scores
from .verdict import Refused


class Push(NamedTuple):
    """What errors do to the point: e; how far each slope moves; how far predictions move from that of the label."""

    length: arb
    slopes: np.ndarray
    from_label: np.ndarray


class ClassFace(ClassLine):
    """FAMILY with CLASSES."""

    sharp = False
    """Whether the inverse is made of balls."""

    def check(self) -> None:
        """Raise Refused at the first claim that does not follow: from an inverse in doubles, and then in balls."""
        self._evaluate()
        self._check_free()
        self._place()
        self.pulls = self._pulls()
        self._curvature()
        before = self.checked
        try:
            self._follow()
        except Refused:
            self.checked, self.sharp = before, True
            self._steps(self.away)  # this range of slopes has proven itself
            self._follow()

    def _follow(self) -> None:
        if self.family.slopes:
            self._cover_slopes()
        self._values()
        self._zeros()
        self._ranges()

    def _hold(self) -> None:
        k = len(self.names)
        self.held = self._inverted(self.names, sharp=self.sharp) if k else arb_mat(0, 0)
        self.forms = self.held, arb_mat(k, k, [abs(v) for v in self.held.entries()])

    def _pulls(self) -> np.ndarray:
        """Return how far every z can move with the data while theta stays: sums of `E_ij abs(theta_i)`, rounded up."""
        pulls: list[np.ndarray] = []
        for start in range(0, self.d, self.width):
            with np.errstate(all="ignore"):
                sums = self.sizes @ self.family.columns(list(range(self.d)[start : start + self.width]))
                pulls.append(sums_above(sums, self.n))
        return np.concatenate(pulls)

    # -- errors --------------------------------------------------------------------------------------------------------

    def _apart(self) -> Iterator[tuple[int, int, np.ndarray]]:
        """Yield pairs of classes, and how far the difference of their predictions can move with the data."""
        values = [self._coefficients(first) for first in self.firsts]
        names = [[self._in_class(first, c) for c in range(self.last + 1)] for first in self.firsts]
        ways = [[self.direction.get(name, arb(0)) for name in some] for some in names]
        for c in range(self.last + 1):
            for d in range(c):
                both = zip(values, ways)
                moves = [abs(v[c] - v[d]) + self.step * abs(way[c] - way[d]) for v, way in both]
                sizes = np.array([double_above(v) for v in moves]).reshape(-1, 1)
                yield c, d, product_above(self.own, sizes)[:, 0]

    def _push(self) -> Push:
        """ETA: derive what the errors do while the coefficients stay."""
        per, labels = self.last + 1, np.array(self.data.labels)
        p, tops = self._shares(np.zeros(self.n)) * self.growth[:, None] * UP, self.tops
        squares, far = np.zeros(len(p)), np.zeros(len(p))
        means, from_label = np.zeros(p.shape), np.zeros(p.shape)
        for c, d, moved in self._apart():
            squares += tops[:, c] * tops[:, d] * moved * moved
            far = np.maximum(far, moved)
            for one, other in ((c, d), (d, c)):
                means[:, one] += p[:, other] * moved
                from_label[:, one] = np.where(labels == other, moved, from_label[:, one])
        shrunk = exp_below(2 * far)
        slopes = known(p * sums_above(means, per) / np.where(shrunk > 0, shrunk, np.nan)[:, None] * UP + TINY)
        whole = np.maximum(tops.sum(axis=1) * (1 - gamma(per + 8)), 1.0)
        lengths = np.sqrt(sums_above(squares, per * per) / whole * self.data.total) * UP
        lengths, slopes = np.where(far > 0, lengths, 0.0), np.where(far[:, None] > 0, slopes, 0.0)
        return Push(arb(float(lengths_above(lengths[:, None])[0])), slopes, from_label)

    def _shares(self, away: np.ndarray) -> np.ndarray:
        """Return upper bounds of the probabilities where slopes move by at most so much."""
        low, high = bounds_of(self.slopes)
        with np.errstate(all="ignore"):
            ends = np.nextafter(low - away, -np.inf), np.nextafter(high + away, np.inf)
        return self.loss.shares(*ends, self.data.y)[1].reshape(-1, self.last + 1)

    # -- the way from the point to the optimum of a member -------------------------------------------------------------

    def _steps(self, away: np.ndarray) -> np.ndarray:
        """Return how far slopes move, if they move by at most `away`.

        Where a probability is next to 0, a range of `way^2 / s_i` proves itself.
        """
        low, high = bounds_of(self.slopes)
        self.away = away
        with np.errstate(all="ignore"):
            ends = np.nextafter(low - away, -np.inf), np.nextafter(high + away, np.inf)
            self.least, self.most = self.loss.bends(*ends, self.data.y)
            self.tops = self._shares(away)
            self._travel()
            way, weights = double_above(self.way), self.data.weights
            roots = np.sqrt(weights)
            steps = np.maximum(np.sqrt(self.most), way / roots) / roots * way
            return known((steps + self.swings.ravel()) * UP + TINY)

    def _travel(self) -> None:
        """FACE: derive how far slopes (`way`) and predictions can be from the optimum, and the gap."""
        self._hold()
        self.push = self._push()
        kept, e = 1 - self._widening(), self.push.length
        pull = highest(self._pull(self._end(side)) for side in self._sides()) / kept
        d = pull + self._drag_classes(self.off, kept)
        q = pull + self._drag_classes((self.push.slopes + self.off) * UP, kept)
        slack = self.slack + self._off_sums()
        a = largest_root(d + e, d * e + slack)
        with np.errstate(all="ignore"):
            beyond = known(
                np.where(self.off > 0, self.off * np.sqrt(self.data.weights / self.most).reshape(self.off.shape), 0.0)
            )
        self.way = a + arb(float(lengths_above(beyond.reshape(-1, 1) * UP)[0])) if beyond.any() else a
        reach = (a + e).min(largest_root(q, slack))
        self.reach = square(reach / kept)
        self.lost = d * reach + slack + self._tilted()
        self.gap = arb((self.lost + (q - d) * reach).upper())

    def _tilted(self) -> arb:
        """LINE, SHAPE: return what other slopes than the stated one add to the gap."""
        if not self.step > 0:
            return arb(0)
        away = self._radii(self.names, self.held, set())
        self.apart = self._mass({j: away[j] for j in self.rows})
        tilts = [abs(self._slope_at(self.mass, shape) - self.slope) for shape in self._shapes()]
        return highest(tilts) * self._mass({j: away[j] + self.sway[j] for j in self.rows})

    def _widening(self) -> arb:
        """PULL: return rho, from how far each coefficient of a feature can be at distance 1, in all classes."""
        per, places = self.last + 1, {first: k for k, first in enumerate(self.firsts)}
        widths = np.zeros((len(self.firsts), per))
        coded: dict[int, list[int]] = {}
        for k, name in enumerate(self.names):
            first, c = self._spot(name)
            widths[places[first], c] = double_above(root(self.held[k, k]))
            if self._is_coded(name):
                coded.setdefault(first, []).append(k)
        for first, columns in coded.items():
            whole = sum((self.held[a, b] for a in columns for b in columns), arb(0))
            widths[places[first], self.last] = double_above(root(whole))
        with np.errstate(all="ignore"):
            moved = product_above(self.own, widths).ravel() * np.sqrt(self.data.weights * self.least) * UP
        rho = arb(float(lengths_above(moved[:, None])[0])) if moved.any() else arb(0)
        if not rho < 1:
            raise Refused("columns that are not claimed zero may depend on each other, as far as their errors tell")
        return rho

    def _pull(self, rests: list[arb]) -> arb:
        """PULL: return d for the stated columns."""
        places, pulls = {first: k for k, first in enumerate(self.firsts)}, []
        for name in self.names:
            first, c = self._spot(name)
            coded = float(self.coded_pulls[places[first], c])
            pulls.append(arb(coded if self._is_coded(name) else float(self.pulls[name])))
        return self._length([arb(v.mid()) for v in rests], [arb(v.rad()) + pull for v, pull in zip(rests, pulls)])

    def _off_sums(self) -> arb:
        """PULL: return what sums of x over the classes, which are 0 at the optimum, add to the slack."""
        found = arb(0)
        for first in self.centred:
            g = int(self.gauge.labels[first])
            if g in self.norms:
                held = self.ridge[g] if self.ridge else arb(0)
                length = self.gauge.norm([self.direction[j] for j in self.members[g]])
                room = self.norms[g] - self.step * length
                held += (self.slope + self.step) * self.gauge.prices[g] / room
                found += (self.last + 1) * square(self._mean(first)) * held
        return arb(found.upper())

    def _drag_classes(self, moved: np.ndarray, kept: arb) -> arb:
        """FACE: return how long C~' v is for slopes v that move by as much, and add up to 0 over the classes.

        Where q is 0, the move is one of the class with the largest q, and one of the difference of both.
        """
        per, q = self.last + 1, self.least.reshape(-1, self.last + 1)
        every, base = np.arange(len(q)), q.argmax(axis=1)
        others = np.where((q > 0) & (np.arange(per) != base[:, None]), moved, 0.0)
        flat = (q == 0) & (moved > 0) & (np.arange(per) != base[:, None])
        ends = sums_above(others.sum(axis=1), per), sums_above(np.where(flat, moved, 0.0).sum(axis=1), per)
        others[every, base] = np.where(q[every, base] > 0, np.minimum(ends[0], (ends[1] + moved[every, base]) * UP), 0)
        with np.errstate(all="ignore"):
            curved = known(np.where(others > 0, others * np.sqrt(self.data.total[:, None] / q) * UP, 0.0))
        found = arb(float(lengths_above(curved.reshape(-1, 1))[0])) if curved.any() else arb(0)
        samples, classes = np.nonzero(flat)
        if not len(samples):
            return found
        with np.errstate(all="ignore"):
            lengths = self._row_lengths(samples, classes, base[samples])
            sums = self.data.total[samples] * moved[samples, classes] * lengths
        return found + arb(float(sums_above(sums.sum(), len(sums)))) / kept

    def _row_lengths(self, samples: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Return bounds of the lengths, in inv(G), of the rows of samples in one class less those in another."""
        k, places = len(self.names), {first: i for i, first in enumerate(self.firsts)}
        signs, owner = np.zeros((self.last + 1, k)), np.zeros(k, dtype=int)
        for column, name in enumerate(self.names):
            first, c = self._spot(name)
            owner[column], signs[c, column] = places[first], 1.0
            if self._is_coded(name):
                signs[self.last, column] = -1.0
        low, high = (end.reshape(k, k) for end in bounds_of(self.held.entries()))
        near, off = low / 2 + high / 2, known((high - low) * UP + TINY)
        values, errors = self._values_of_features()
        turns = signs[one] - signs[other]
        rows = values[samples][:, owner] * turns
        blurs = (errors + self.own)[samples][:, owner] * np.abs(turns) * UP
        sizes = np.abs(rows)
        rough = np.sum(sizes @ (np.abs(near) * 2 * gamma(2 * k + 8) + off) * sizes, axis=1)
        squares = np.maximum(np.sum(rows @ near * rows, axis=1), 0.0) + rough * UP
        widths = np.sum(blurs @ (np.abs(near) + off) * blurs, axis=1)
        return known((np.sqrt(sums_above(squares, k)) + np.sqrt(sums_above(widths, 2 * k))) * UP)

    def _values_of_features(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the features of C in doubles, by samples, and bounds of their errors."""
        per, parts = self.last + 1, []
        for first in self.firsts:
            column = self.B[-1 - first] if first < 0 else self._columns([first])[0]
            parts.append(bounds_of(column.entries()[::per]))
        low, high = (np.array([part[end] for part in parts]).T for end in range(2))
        return low / 2 + high / 2, known((high - low) * UP + TINY)

    # -- what that means for the claims --------------------------------------------------------------------------------

    def _value_range(self) -> tuple[arb, arb]:
        """FAMILY: return bounds of the optimal values of all members."""
        moved, p = self.push.from_label, self._shares(np.zeros(self.n))
        tilt = sums_above(np.sum(self.data.total[:, None] * p * moved), p.size)
        tops = arb(0)
        for w, (part, label), moves in zip(self.weights[:: self.last + 1], self._samples(self.u), moved.tolist()):
            further = [v + arb(r) for v, r in zip(part, moves)]
            tops += w * class_loss(further, label, class_slopes(further, label))
        stated = self.total * self.phi(self.penalty, self.mass)
        charges = [self.charge + self.total * self.phi(shape, self.mass) - stated for shape in self._shapes()]
        least, most = (arb(reduce(f, charges)) for f in (arb.min, arb.max))
        return self.losses + least - arb(float(tilt)) - self.lost, tops + most

    def _zeros(self) -> None:
        """ZERO: at both ends of a range, which decide for all of it, as scores are convex there and slopes linear."""
        if not self.step > 0:
            super()._zeros()
            return
        self.spreads, zero, self.floor = self._spreads(), self._told_zero(), self.slope - self.step
        for side in (-1, 1):
            z = self._pulls_at(side, self.change)
            self.scores = Scores(self.gauge, z, arb(1))
            self._claim_zeros(zero, self._moves_of(z), self.slope + side * self.step)

    def _moves(self) -> np.ndarray:
        return self._moves_of(self.z)

    def _moves_of(self, z: Pulls) -> np.ndarray:
        """Return how far scores can fall, and note how far they can rise: with all entries of z at their ends."""
        with np.errstate(all="ignore"):
            ends = z.low - self.pulls, z.high + self.pulls
            low, high = self.gauge.scores(np.nextafter(ends[0], -np.inf), np.nextafter(ends[1], np.inf))
            way, most = double_above(self.way) * self.spreads, self._of_blocks(self.pulls)
            rises, falls = (np.fmin(np.maximum(v, 0.0), most) for v in (high - self.scores.low, self.scores.high - low))
            self.rises, self.moves = (known((way + moves) * UP + TINY) for moves in (rises, falls))
        return self.moves

    def _claim_zeros(self, zero: np.ndarray, moves: np.ndarray, floor: arb) -> None:  # noqa: ARG002
        super()._claim_zeros(zero, self.rises, floor)

    def _steep(self, g: int) -> arb:
        """Return a lower bound of the score of `z - R x` of a block at the optima."""
        parts: dict[int, arb] = {}
        for j in self.gauge.entries(g):
            left, pull = self.z[j] - self.ridge[g] * self.x.get(j, arb(0)), arb(float(self.pulls[j]))
            parts[j] = positive_part(abs(left) - pull) if self.gauge.signed[j] else left - pull
        apart = self.way * arb(float(self.spreads[g])) + root(self.ridge[g] * self.reach) / self.gauge.prices[g]
        return arb((self.gauge.score(g, parts) - apart).lower())

    def _distances(self, independent: list[int], involved: set[int], *, sharp: bool) -> dict[int, arb]:  # noqa: ARG002
        found = self._radii(independent, self.held, involved)
        for j in self.rows if self.ridge else ():
            alone = root(self.reach / self.ridge[int(self.gauge.labels[j])])
            found[j] = alone if j not in found or alone < found[j] else found[j]
        return {name: v + self.sway[name] for name, v in found.items()}
