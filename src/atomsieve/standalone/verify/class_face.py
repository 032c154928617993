"""A family of problems of several classes: errors in X."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from flint import arb, arb_mat

from .balls import bounds_of, double_above, largest_root, positive_part, root, square
from .class_losses import class_loss, class_slopes
from .classes import Classes
from .doubles import TINY, UP, exp_below, gamma, known, lengths_above, product_above, sums_above
from .face import Face
from .verdict import Refused


class Push(NamedTuple):
    """What errors do to the point: e; how far each slope moves; how far predictions move from that of the label."""

    length: arb
    slopes: np.ndarray
    from_label: np.ndarray


class ClassFace(Face, Classes):
    """FAMILY with CLASSES. `firsts` are the features of C, by their first class, and `own` bounds of their errors."""

    alone = True

    def check(self) -> None:
        """Raise Refused at the first claim that does not follow."""
        self._evaluate()
        self._check_free()
        self._place()
        self.pulls = self._pulls()
        self._curvature()
        self._values()
        self._zeros()
        self._ranges()

    def _place(self) -> None:
        """Choose the columns of C, and the subgradient; of the optima, one has sums of 0 in blocks."""
        per, self.rows, self.floor = self.last + 1, self._left(), arb(1)
        self.names = self._names(self.rows)
        self.firsts = list(dict.fromkeys(self._spot(name)[0] for name in self.names))
        self.members = {}
        for j in self.rows:
            self.members.setdefault(int(self.gauge.labels[j]), []).append(j)
        self.z.sharpen(self.rows)
        self.slack, self.slope = self._subgradient()
        self.step, self.lean = arb(0), arb_mat(self.n, 1)
        self.own = np.zeros((self.n // per, len(self.firsts)))
        places = [k for k, first in enumerate(self.firsts) if self._feature(first) >= 0]
        features = [self._feature(self.firsts[k]) for k in places]
        if features:
            self.own[:, places] = self._own_rows(self.family.columns(features), features)
        theta = self.theta.entries()
        apart = [double_above(abs(t - theta[i // per * per + self.last])) for i, t in enumerate(theta)]
        self.coded_pulls = product_above(self.own.T, np.array(apart).reshape(-1, per))

    def _coefficients(self, first: int) -> list[arb]:
        """Return the coefficients of the point in all classes of a feature or free column."""
        names = [self._in_class(first, c) for c in range(self.last + 1)]
        if first >= 0:
            return [self.x.get(j, arb(0)) for j in names]
        return [self.b[-1 - name] + arb(0, self._moved(-1 - name).upper()) for name in names]

    # -- errors --------------------------------------------------------------------------------------------------------

    def _apart(self) -> Iterator[tuple[int, int, np.ndarray]]:
        """Yield pairs of classes, and how far the difference of their predictions can move with the data."""
        values = [self._coefficients(first) for first in self.firsts]
        for c in range(self.last + 1):
            for d in range(c):
                sizes = np.array([double_above(abs(v[c] - v[d])) for v in values]).reshape(-1, 1)
                yield c, d, product_above(self.own, sizes)[:, 0]

    def _push(self) -> Push:
        """ETA: derive what the errors do while the coefficients stay."""
        per, labels = self.last + 1, np.array(self.data.labels)
        p, tops = self._shares(np.zeros(self.n)), self.tops
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
        with np.errstate(all="ignore"):
            ends = np.nextafter(low - away, -np.inf), np.nextafter(high + away, np.inf)
            self.least, self.most = self.loss.bends(*ends, self.data.y)
            self.tops = self._shares(away)
            self._travel()
            way, weights = double_above(self.way), self.data.weights
            return known(np.sqrt(np.maximum(self.most, way * way / weights) / weights) * way * UP + TINY)

    def _travel(self) -> None:
        """FACE: derive how far slopes (`way`) and predictions can be from the optimum, and the gap."""
        self._hold()
        self.push = self._push()
        kept, e = 1 - self._widening(), self.push.length
        d = self._pull(self._end(0)) / kept
        q = d + self._drag_classes(kept)
        slack = self.slack + self._off_sums()
        self.way = largest_root(d + e, d * e + slack)
        reach = (self.way + e).min(largest_root(q, slack))
        self.reach = square(reach / kept)
        self.lost = d * reach + slack
        self.gap = arb((self.lost + (q - d) * reach).upper())

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

    def _end(self, side: int) -> list[arb]:  # noqa: ARG002
        """PULL: return delta for the columns of C; those of B have none at the point."""
        ends: dict[int, arb] = {}
        for g, mine in self.members.items():
            size = self.gauge.norm([self.z[j] for j in mine])
            for j in mine:
                if g in self.norms:
                    ridge = self.ridge[g] * self.x.get(j, arb(0)) if self.ridge else arb(0)
                    ends[j] = self.z[j] - ridge - self.slope * self._towards(j)
                else:
                    most = size if self.gauge.signed[j] else self.z[j]
                    ends[j] = arb(0, positive_part(most - self.slope * self.gauge.prices[g]).upper())
        for first in self.open:
            self._balance([self._in_class(first, c) for c in range(self.last + 1)], ends)
        return [self._of_column(name, ends) for name in self.names]

    def _of_column(self, name: int, ends: dict[int, arb]) -> arb:
        """Return delta of a column: less that of the last class. Two entries of a vector differ by sqrt(2) norms."""
        if name < 0:
            return arb(0)
        if not self._is_coded(name):
            return ends[name]
        return ends[name] - ends[self._in_last(name)] if self._carries(name) else ends[name] * arb(2).sqrt()

    def _balance(self, entries: list[int], ends: dict[int, arb]) -> None:
        """PULL: let v add up to 0 over all classes of a feature, by its entry in one class where x is zero."""
        prices = [self.gauge.prices[int(self.gauge.labels[j])] for j in entries]
        signs = [0 if j not in self.x else 1 if self.x[j] > 0 else -1 for j in entries]
        idle = [k for k, j in enumerate(entries) if not self._carries(j)]
        alike = all(p.mid() == prices[0].mid() and p.rad() == prices[0].rad() for p in prices)
        needed = -self.slope * sum((s * p for s, p in zip(signs, prices)), arb(0))
        if alike:  # a whole number of times one price
            needed = -self.slope * prices[0] * sum(signs)
        if not idle:
            fits = needed == 0 or (alike and sum(signs) == 0)
        else:
            one = min(idle, key=lambda k: abs(float(self.z[entries[k]])))
            rest = [entries[k] for k in idle if k != one]
            v = needed - sum((self.z[j] - ends[j] for j in rest), arb(0))
            fits = (alike and not rest and abs(sum(signs)) <= 1) or abs(v) <= self.slope * prices[one]
            ends[entries[one]] = self.z[entries[one]] - v
        if not fits:
            raise Refused("a feature is left in all classes, and no subgradient at the point adds up to 0 over them")

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
                held += self.slope * self.gauge.prices[g] / self.norms[g]
                found += (self.last + 1) * square(self._mean(first)) * held
        return arb(found.upper())

    def _drag_classes(self, kept: arb) -> arb:
        """FACE: return how long C~' v is for slopes v that move as `push` says, and add up to 0 over the classes.

        Where q is 0, the move is one of the class with the largest q, and one of the difference of both.
        """
        per, moved, q = self.last + 1, self.push.slopes, self.least.reshape(-1, self.last + 1)
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
        return self.losses + self.charge - arb(float(tilt)) - self.lost, tops + self.charge

    def _moves(self) -> np.ndarray:
        """Return how far scores can fall, and note how far they can rise: with all entries of z at their ends."""
        with np.errstate(all="ignore"):
            ends = self.z.low - self.pulls, self.z.high + self.pulls
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
        return self._radii(independent, self.held, involved)
