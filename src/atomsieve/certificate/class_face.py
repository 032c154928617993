"""What a point proves about all problems of a family, for several classes.

The argument is that of face.py. Rows are pairs of a sample and a class, and columns those of classes.py: free
coefficients, and features in blocks, are less the last class. With q the least probabilities in a range of slopes
around the point and r the largest ones, of a sample i,

    |v|^2 = s_i min over m of sum_c q_c (v_c - m)^2    is at most    (u - u') . (theta - theta')  for v = u - u',

because q holds on the line between both predictions, and `s_i sum_c (t_c - t'_c)^2 / r_c` is at most that, too, since
r holds on the line between both probabilities. So the slopes meet a move h of the predictions by at most the root of
that times

    e_i^2 = s_i min over m of sum_c r_c (h_c - m)^2 = s_i sum over pairs c < d of r_c r_d (h_c - h_d)^2 / sum(r).

All classes share the errors of a feature: `h_c - h_d` is at most `sum_j E_ij |x_jc - x_jd|`. The probabilities of the
point itself move by no more than `w_c = p_c exp(2 D) sum_d p_d |h_c - h_d|`, with D the largest difference.

delta is 0 in the direction of all classes of a feature, which no loss sees: slopes add up to 0 over the classes, and so
does v. In a block, that of x does but for rounding; what that is counts as `spare`. Where l1 leaves a feature in all
classes, v is chosen so where x is zero.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from atomsieve.certificate.class_line import ClassLine, class_line, direction, entries_of
from atomsieve.certificate.classes import Left, Shared, off_centre, ridge_of, rows_of
from atomsieve.certificate.face import TOO_WIDE, Face, known_of, norm_one
from atomsieve.certificate.face_proof import FaceProof
from atomsieve.certificate.gap import SLACK
from atomsieve.certificate.gram import Inverse, inverse_of
from atomsieve.numerics.enclosures import LEAST, Enclosure, Uncertain, gamma, norm, root, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask

UNBALANCED = "l1 leaves a feature in all classes, and the point is too far from the optimum there"


@dataclass(frozen=True, eq=False)
class ClassPlace:
    """The columns that are alive, the probabilities around the point, and the inverse there."""

    tops: Array
    most: Array
    left: Left
    rows: Shared
    inverse: Inverse | None
    names: Index
    """The column of A that each feature of the rows is; -1 for other columns of B, which are exact."""


@dataclass(frozen=True, eq=False)
class Moves:
    """How far the data move the predictions of the point, by samples: its slopes, and its losses."""

    pushed: Array
    """The norm e of the move of each sample, without its weight."""

    slopes: Array
    losses: Array


class ClassFace(Face):
    """The point of a proof, in all problems of a family, for several classes."""

    def _tried(self, alive: Mask, ends: tuple[Array, Array]) -> tuple[Array, Callable[[], FaceProof]]:
        place = self.class_place(alive, ends)
        line = class_line(self, place)
        moves = self._moves(place, line)
        distances = self._class_distances(place, line, moves)
        away, counts = distances[0], self.statement.counts[:, None]
        # a range that is this wide proves itself where a probability is next to 0
        most = np.maximum(place.most, up(away * away / counts))
        needed = up(root(up(most / counts)) * away + line.swing)
        return needed, lambda: self._concluded(place, line, moves, distances)

    def rate(self) -> float:
        """Return the derivative of the gauge of the optima by the slope of the penalty, in floats: at most 0."""
        t = self.nominal.slopes
        place = self.class_place(self.held, (t.low, t.high))
        index, first = entries_of(place), len(self.statement.used)
        if not len(index):
            return 0.0
        return min(float(self.along(index).mid @ direction(self, place, index)[first:].ravel()), 0.0)

    def class_place(self, alive: Mask, ends: tuple[Array, Array]) -> ClassPlace:
        statement, loss = self.statement, self.statement.loss
        most, shares = loss.curvatures(*ends, statement.y)[1], loss.shares(*ends, statement.y)
        left = Left.where(statement, alive)
        rows = rows_of(statement, left, shares)
        held = None if statement.ridges is None else np.asarray(statement.ridges.low[statement.labels])
        inverse = inverse_of(rows, ridge_of(rows, left, held)) if rows.shape[1] else None
        if inverse is None and rows.shape[1]:
            raise Uncertain(TOO_WIDE)
        names = np.append(self._free_names[statement.used], left.features)
        return ClassPlace(loss.tops(*ends, statement.y), most, left, rows, inverse, names)

    def _coefficients(self, place: ClassPlace) -> Enclosure:
        """Return the coefficients of the point, by features and classes; the best free ones are enclosed."""
        nominal, kept, classes = self.nominal, self.statement.used, place.tops.shape[1]
        reach = np.append(np.ones(classes - 1), np.sqrt(classes - 1) * (1 + 4 * EPS))
        b = Enclosure(nominal.b[kept], up(nominal.shift * nominal.unit[kept][:, None] * reach))
        x = nominal.x[place.left.features]
        return Enclosure(np.vstack([b.mid, x]), np.vstack([b.rad, np.zeros(x.shape)]))

    def _moves(self, place: ClassPlace, line: ClassLine) -> Moves:
        """Return what the errors of the data do to the points of the line while their coefficients stay."""
        statement, tops, y = self.statement, place.tops, self.statement.y
        n, classes = tops.shape
        t = self.nominal.slopes
        p, values = statement.loss.tops(t.low, t.high, y), self._coefficients(place)
        p = up(p * line.growth[:, None]) if line.step else p
        squares, far = np.zeros(n), np.zeros(n)
        means, own = np.zeros(tops.shape), np.zeros(tops.shape)
        for c in range(classes):
            for d in range(c):
                sizes = (values[:, c] - values[:, d]).size + line.step * np.abs(line.p[:, c] - line.p[:, d])
                apart = self.family.rows(np.where(sizes > 0, up(sizes), 0.0), place.names)
                squares += tops[:, c] * tops[:, d] * apart * apart
                means[:, c] += p[:, d] * apart
                means[:, d] += p[:, c] * apart
                far = np.maximum(far, apart)
                own[:, d] = np.where(y == c, apart, own[:, d])
                own[:, c] = np.where(y == d, apart, own[:, c])
        lost = 1 + gamma(classes * classes + 8)
        there = (far > 0)[:, None]
        slopes = np.where(there, up(p * means * np.exp(2 * far)[:, None] * lost * (1 + 32 * EPS) + LEAST), 0.0)
        losses = up(np.sum((p + slopes) * own, axis=1) * lost + classes * LEAST)
        whole = np.maximum(tops.sum(axis=1) * (1 - gamma(classes + 2)), 1.0)  # probabilities add up to 1
        pushed = root(up(squares * lost / whole + classes * classes * LEAST))
        return Moves(np.where(far > 0, pushed, 0.0), slopes, np.where(far > 0, losses, 0.0))

    def _class_distances(self, place: ClassPlace, line: ClassLine, moves: Moves) -> tuple[float, float, float]:
        """Return how far slopes, and predictions of coefficients, can be from the optimum, and a bound of the gap."""
        counts, off = self.statement.counts, line.off
        pushed = norm(up(root(counts) * moves.pushed))
        moved = np.where((moves.slopes > 0) | (off > 0), up(moves.slopes + off), 0.0)
        held, bent, pulled, stretch = 0.0, 0.0, 0.0, 1.0
        if place.inverse is not None:
            reaches = place.rows.reaches(place.inverse)
            widths = np.stack([self.family.rows(column, place.names) for column in reaches.T], axis=1)
            omitted = norm(up(root(up(counts[:, None] * place.rows.shares)) * widths).ravel())
            if not omitted < 1 / 2:
                raise Uncertain(TOO_WIDE)
            stretch = float(up(1 / (1 - omitted)))
            held = self._held(place, moved, stretch)
            bent = self._held(place, off, stretch) if line.step else 0.0
            pulled = float(up(self.class_pulled(place, line) * stretch))
        spare = float(up(self.spare + self._off_sums(place, line)))
        d = up(pulled + bent)
        both = up(pushed + d)
        a = up(both / 2 + math.sqrt(up(both * both / 4 + d * pushed + spare)))
        whole = up(held + pulled)
        near = up(whole / 2 + math.sqrt(up(whole * whole / 4 + spare)))
        gap = up(near * whole + spare)
        near = min(near, up(a + pushed)) * stretch
        beyond = norm(up(root(up(counts[:, None] / place.most)) * off)[off > 0])
        return float(up((a + beyond) * SLACK)), float(up(near * SLACK)), float(up(gap * SLACK))

    def _held(self, place: ClassPlace, moved: Array, stretch: float) -> float:
        """Return the norm of the products of all columns with moves of the slopes, which add up to 0 over the classes.

        Where the metric knows nothing of a class, a move there is one of the class with the largest share of the
        sample, and one of the difference of both.
        """
        shares, counts = place.rows.shares, self.statement.counts
        every = np.arange(len(shares))
        base = np.argmax(shares, axis=1)
        others = np.where(shares > 0, moved, 0.0)
        others[every, base] = 0.0
        whole = up(others.sum(axis=1) * (1 + gamma(shares.shape[1])))
        without = (shares == 0) & (moved > 0) & (np.arange(shares.shape[1]) != base[:, None])
        alone = up(np.where(without, moved, 0.0).sum(axis=1) * (1 + gamma(shares.shape[1])) + moved[every, base])
        others[every, base] = np.where(shares[every, base] > 0, np.minimum(whole, alone), 0.0)
        known = others > 0
        weights = np.broadcast_to(counts[:, None], shares.shape)[known]
        held = norm(up(root(up(weights / shares[known])) * others[known]))
        samples, one = np.nonzero(without)
        assert place.inverse is not None  # noqa: S101
        rows = place.rows.differences(samples, one, base[samples], self.family.entries(samples, place.names))
        lengths = up(place.inverse.lengths(rows) * stretch)
        return float(up(held + norm_one(counts[samples], up(moved[samples, one] * lengths))))

    def class_pulled(self, place: ClassPlace, line: ClassLine) -> float:
        """Return d for the stated columns: the norm of delta, over all errors and strengths."""
        statement, rows, inverse = self.statement, place.rows, place.inverse
        assert inverse is not None  # noqa: S101
        classes, first, index = place.tops.shape[1], len(statement.used), entries_of(place)
        along = self.along(index)
        fixed, excess = self._deltas(index, along, self._ends(line))
        fixed, excess = self._balanced(place, index, fixed, excess)

        def columns(values: Enclosure) -> Enclosure:
            below = (-1, classes)
            free = np.zeros((first, classes))
            mid, rad = (np.vstack([free, part.reshape(below)]) for part in (values.mid, values.rad))
            return rows.of_columns(Enclosure(mid, rad))

        theta, swing = self.nominal.slopes * statement.weights_of(2), up(statement.counts[:, None] * line.swing)
        alone, apart = (
            self.family.pulled(up(v.size + by))
            for v, by in ((theta, swing), (theta - theta[:, -1:], swing + swing[:, -1:]))
        )
        owner, coded = place.names[rows.feature], rows.minus >= 0
        blur = np.where(coded, apart[owner, rows.plus], alone[owner, rows.plus]) * (owner >= 0)
        # a difference of two entries is at most the root of 2 times the norm
        norms = np.vstack([np.zeros((first, classes)), up(excess + line.turn).reshape(-1, classes)])
        over = norms[rows.feature, rows.plus] * np.where(coded, math.sqrt(2) * (1 + 4 * EPS), 1.0)
        parts = [inverse.of(columns(fixed)), inverse.over(up(blur + over))]
        parts.append(inverse.of(columns(along)) * float(up(self.slope.rad)) ** 2)
        if line.step:
            parts.append(inverse.of(line.rest) * line.step * line.step)
        return float(up(sum(math.sqrt(up(part)) for part in parts)))

    def _balanced(self, place: ClassPlace, index: Index, fixed: Enclosure, excess: Array) -> tuple[Enclosure, Array]:
        """Return delta with the sum 0 over the classes where l1 leaves a feature in all of them.

        There v is as near to z as the slope allows, but for one class where x is zero: it takes what is missing.
        """
        classes = place.tops.shape[1]
        mid, rad, excess = fixed.mid.copy(), fixed.rad.copy(), excess.copy()
        for row in np.flatnonzero(place.left.unknown):
            entries = np.arange(row * classes, (row + 1) * classes)
            idle = entries[~self.carries(index[entries])]
            one = idle[np.argmin(np.abs(self.nominal.z_flat.mid[index[idle]]))] if len(idle) else None
            rest = idle[idle != one]
            taken = self.nominal.z_flat[index[rest]].widened(excess[rest]).sum()
            v = self._missing(index[entries], None if one is None else index[one], taken if len(rest) else None)
            if one is not None:
                delta = self.nominal.z_flat[index[one]] - v
                mid[one], rad[one], excess[one] = delta.mid, delta.rad, 0.0
        return Enclosure(mid, rad), excess

    def _missing(self, entries: Index, one: Index | None, taken: Enclosure | None) -> Enclosure:
        """Return the v of one entry with which v adds up to 0 over the classes; raise Uncertain if it is none.

        `taken` is what v adds up to over other entries where x is zero.
        """
        statement, signs = self.statement, np.sign(self.nominal.x.ravel()[entries])
        prices = statement.prices[statement.labels[entries]]
        stated = statement.stated_prices[0][statement.labels[entries]]  # enclosures of two prices may be the same
        alike = bool((stated == stated[0]).all())
        needed = -(prices * Enclosure.exact(signs)).sum()
        if alike:  # a whole number of times the same price
            needed = prices[0] * Enclosure.exact(-signs.sum())
        whole = abs(signs.sum()) if alike else np.inf
        v = needed * self.slope if taken is None else needed * self.slope - taken
        if one is None:
            fits = whole == 0 or v.size == 0
        else:
            allowed = (self.slope * statement.prices[statement.labels[one]]).low
            fits = (taken is None and whole <= 1) or v.size <= allowed
        if not fits:
            raise Uncertain(UNBALANCED)
        return v

    def _off_sums(self, place: ClassPlace, line: ClassLine) -> float:
        """Return what the sums of x over the classes of features in blocks, which are 0 at the optimum, add to a^2."""
        statement, features = self.statement, place.left.features[place.left.centred]
        classes, first = place.tops.shape[1], len(statement.used)
        moves = line.step * np.abs(line.p[first:]) * (1 + 4 * EPS)
        every = np.zeros(self.nominal.x.shape)
        every[place.left.features] = moves
        used = statement.labels.reshape(every.shape)[features, 0]
        least = (self.norms[1] - statement.block_norms(every))[used] * (1 - 4 * EPS)
        means = self._means(place, line)[place.left.centred, 0]
        charge = up(up(up(float(self.slope.high) + line.step) * statement.prices.high[used]) / np.maximum(least, 0.0))
        charge = charge if statement.ridges is None else up(charge + statement.ridges.high[used])
        return norm_one(np.where(means > 0, charge, 0.0), up(classes * means * means))

    def _means(self, place: ClassPlace, line: ClassLine) -> Array:
        """Return bounds of the means of features over the classes, at all points of the line."""
        means = off_centre(self.nominal.x[place.left.features])
        return up(means + line.step * off_centre(line.p[len(self.statement.used) :])) if line.step else means

    def _concluded(
        self, place: ClassPlace, line: ClassLine, moves: Moves, distances: tuple[float, float, float]
    ) -> FaceProof:
        nominal, (farthest, near, gap), first = self.nominal, distances, len(self.statement.used)
        theta = up(
            (nominal.slopes * self.statement.weights_of(2)).size + up(self.statement.counts[:, None] * line.swing)
        )
        blur, objective = self.family.pulled(theta), nominal.objective
        objective = objective.widened(norm_one(self.statement.counts, moves.losses))
        x, b = np.zeros(nominal.x.shape), np.zeros(nominal.b.shape)
        x[place.left.features], b[self.statement.used] = (
            line.step * v * (1 + 4 * EPS) for v in (line.p[first:], line.p[:first])
        )
        masses = (0.0, math.inf)
        if line.step:
            reaches = np.zeros((len(line.p), place.tops.shape[1]))
            reaches = reaches if place.inverse is None else place.rows.reaches(place.inverse)
            away = up(reaches * near)[first:] + np.where(place.left.centred[:, None], self._means(place, line), 0.0)
            masses, objective, gap = self._over_strengths(entries_of(place), x, up(away).ravel(), (objective, gap))
        ends = tuple((z.widened(blur), slope) for z, slope in self._ends(line))
        known = known_of(nominal) | {"statement": self.statement, "shrink": 1.0, "gap": gap, "objective": objective}
        known |= {"z": nominal.z.widened(blur), "moves": (x, b), "ends": ends, "masses": masses}
        return FaceProof(**known, least=place.rows.shares, most=place.most, farthest=farthest, near=near)
