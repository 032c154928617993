"""Dual points, and the gap."""

import numpy as np
from flint import arb, arb_mat

from .balls import double_below, golden_section, highest, positive_part, square
from .point import Point
from .pulls import Scores


class Gap(Point):
    """GAP, and the claims about values."""

    shrink: arb
    factor: int
    reach: arb

    def _duals(self) -> None:
        """GAP: derive the dual points, and the smallest gap."""
        self.duals: list[tuple[arb, int, arb, Scores]] = []
        self._dual_points()
        if 2 * arb(self.objective.upper()) < self.duals[0][2]:
            self._add(arb(0), self.objective)  # GAP with k = 0: the objective itself
        self.gap = arb(self.objective.upper())
        for _, factor, reach, _ in self.duals:
            gap = arb((reach / factor).upper())
            self.gap = gap if gap < self.gap else self.gap

    def _dual_points(self) -> None:
        """Derive the dual points: theta itself, or a multiple of it."""
        charge, sigma = self.charge, highest(self.scores.highest().values())
        pull = sum((v * self.z[j] for j, v in self.x.items()), arb(0))
        limit = self._first_slope()
        if self.ridge and not self.gauge.euclidean:
            self._add(arb(1), charge + self._answer_beside(limit) - pull)
        elif self.ridge:
            self._add(arb(1), charge + self._answer(arb(1)) - pull)
            shrink = self._fitting(limit) if self.phi_conjugate is None else arb(1)
            if shrink < 1:
                self._add(shrink, self.objective + self._dual_loss(shrink) + self._answer(shrink))
                self.duals.sort(key=lambda dual: float(dual[2].mid()))
        elif self.phi_conjugate is not None or sigma <= limit:
            answer = arb(0) if self.phi_conjugate is None else self.phi_conjugate(self.penalty, sigma / self.total)
            self._add(arb(1), charge + self.total * answer - pull)
        else:
            shrink = arb((limit / sigma).lower())
            self._add(shrink, self.objective + self._dual_loss(shrink))

    def _add(self, shrink: arb, gap: arb) -> None:
        """Take note of a dual point, theta times a number, and of its gap."""
        factor = 1 if shrink == 1 else 2
        scores = self.scores if shrink == 1 else self.scores.times(shrink)
        self.duals.append((shrink, factor, factor * positive_part(arb(gap.upper())), scores))

    def _dual_loss(self, shrink: arb) -> arb:
        """Return the conjugate of the loss where theta is multiplied by a number, less what the offset adds."""
        if self.loss.kind == "Squared":
            row = self.theta.transpose()
            added = [y - o for y, o in zip(map(arb, self.data.y.tolist()), self.data.offset.tolist())]
            parts = (row * arb_mat(self.n, 1, values) for values in (self.slopes, added))
            curved, straight = (arb(part[0, 0]) for part in parts)
            return shrink * shrink * curved / 2 + shrink * straight
        scaled = [shrink * t for t in self.slopes]
        found = self.loss.conjugates(scaled, self.data.y.tolist())
        samples = zip(self.weights, found, scaled, self.data.offset.tolist())
        return sum((w * (dual - t * arb(o)) for w, dual, t, o in samples), arb(0))

    def _answer(self, shrink: arb) -> arb:
        """Return the conjugate of penalty and ridge at k z, or a bound of it: GAP with a RIDGE."""
        first = self._first_slope()
        found = self.scores.balls(np.flatnonzero(self.scores.high > double_below(first)))
        scores = [(arb((shrink * score).upper()), g) for g, score in found.items() if score > 0]
        scores.sort(key=lambda pair: -float(pair[0].mid()))

        def at(t: arb) -> arb:
            surely_below = float(t.lower()) * (1 - 2.0**-40)
            total = arb(0) if self.phi_conjugate is None else self.phi_conjugate(self.penalty, t / self.total)
            total = self.total * total
            for score, g in scores:
                if float(score.mid()) < surely_below:
                    break
                total += square(positive_part(score - t) * self.gauge.prices[g]) / (2 * self.ridge[g])
            return total

        if self.phi_conjugate is None:
            return at(first)
        top = highest([first, *(score for score, _ in scores[:1])])
        values = [at(t) for t in (first, top, golden_section(at, first, top))]
        return min(values, key=lambda value: float(value.mid()))

    def _answer_beside(self, first: arb) -> arb:
        """Return a bound of the conjugate of penalty and ridge at z for a gauge that is no sum of l2 norms."""
        self.z.sharpen(range(self.d))
        pulls, ridge = [self.z[j] for j in range(self.d)], self.ridge[0]
        held = [ridge * self.x.get(j, arb(0)) for j in range(self.d)]
        dragged = [z - r for z, r in zip(pulls, held)]
        scores = (self.gauge.score(g, dragged) for g in np.flatnonzero(self.gauge.priced).tolist())
        sigma = arb(highest(scores).upper())
        linear = self.phi_conjugate is None
        kept = arb((first / sigma).lower()) if linear and not sigma <= first else arb(1)
        left = sum((square((1 - kept) * z + kept * r) for z, r in zip(pulls, held)), arb(0))
        answer = arb(0) if linear else self.phi_conjugate(self.penalty, sigma / self.total)
        return self.total * answer + left / (2 * ridge)

    def _fitting(self, limit: arb) -> arb:
        """Return a number by which theta may be multiplied so that no score is far above that of the optimum."""
        shrink = arb(1)
        for g, score in self.scores.balls(np.flatnonzero(self.scores.high > double_below(limit))).items():
            most = limit + self.ridge[g] * self.norms.get(g, arb(0)) / self.gauge.prices[g]
            if score > most:
                shrink = shrink.min(arb((most / score).lower()))
        return arb(shrink.lower())

    def _values(self) -> None:
        """GAP."""
        lower = self.claims["value"]["lower"]
        upper = self.claims["value"]["upper"]
        gap = self.claims["gap"]
        below, above = self._value_range()
        self._claim(gap is None or self.gap <= self.total * arb(gap), "the gap at the point is larger than claimed")
        self._claim(upper is None or above <= self.total * arb(upper), "the objective is above the upper bound")
        self._claim(lower is None or below >= self.total * arb(lower), "the optimal value may be below the lower bound")

    def _value_range(self) -> tuple[arb, arb]:
        """Return bounds of the optimal value."""
        return self.objective - self.gap, self.objective
