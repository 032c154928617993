"""Blocks that are zero in every solution."""

import numpy as np
from flint import arb, arb_mat

from .balls import double_above, double_below, root
from .doubles import DOWN, TINY, UNIT, UP, known
from .lengths import Lengths


class Zeros(Lengths):
    """CURVE, SLOPE and ZERO."""

    pairwise = True
    """Whether the difference of two atoms moves by no more than its length, so that one can beat the other."""

    def _curvature(self) -> None:
        """CURVE."""
        low, high = self._bounds_of(self.slopes)
        shrink = max(double_below(self.shrink), 0.0) * (1 - 4 * UNIT)
        low, high = np.where(low < 0, low, low * shrink), np.where(high > 0, high, high * shrink)
        y, weights = self.data.y, self.data.weights
        with np.errstate(all="ignore"):
            reach = known(double_above(self.reach) / weights * UP + TINY)
            most = self.loss.most(low, high, y, reach)
            for _ in range(3):
                away = known(np.sqrt(reach) * np.sqrt(most) * UP + TINY)
                least, most = self.loss.bends(np.nextafter(low - away, -np.inf), np.nextafter(high + away, np.inf), y)
            self.least, self.metric = least, known(weights * most * UP + TINY)

    def _spreads(self) -> np.ndarray:
        """Return upper bounds of the spread of every block."""
        self.lengths = self._lengths_in(self.metric.reshape(-1, self.data.tasks)).ravel()
        return self._of_blocks(self.lengths)

    def _of_blocks(self, lengths: np.ndarray) -> np.ndarray:
        """Return upper bounds of the spread of every block, from the lengths of its columns."""
        return self.gauge.over_prices(self.gauge.spreads_above(lengths))

    def _zeros(self) -> None:
        """ZERO."""
        self.spreads = self._spreads()
        moves, first = self._moves(), self._first_slope()
        if self.ridge:
            self.steepness = self._slopes(first)
            floor = self.steepness[0]
        else:
            floor = self.floor = self._best(first, moves)
        self._claim_zeros(self._told_zero(), moves, floor)

    def _told_zero(self) -> np.ndarray:
        """Return which blocks are claimed zero."""
        told = [*self.claims["nonzero"], *self.claims["undecided"], *self.gauge.free, *self.gauge.barred]
        zero = np.ones(len(self.gauge.prices), dtype=bool)
        zero[told] = False
        return zero

    def _claim_zeros(self, zero: np.ndarray, moves: np.ndarray, floor: arb) -> None:
        """Refuse a block that may not be zero: doubles decide nearly all, and balls those that are left."""
        with np.errstate(all="ignore"):
            below = (self.scores.high + moves) * UP + TINY < double_below(floor)
        left = np.flatnonzero(zero & ~below)
        carried = {int(self.gauge.labels[j]) for j in self.x}
        order = np.argsort(-self.scores.high, kind="stable") if len(left) and not self.ridge else np.zeros(0, dtype=int)
        rivals = order[self.scores.high[order] > 0].tolist()
        for g, score in self.scores.balls(left).items():
            holds = score + arb(float(moves[g])) < floor or (not self.ridge and self._beaten(g, rivals))
            self._claim(holds, f"coefficient or block {g} is not proven zero")
        for g in carried:
            self._claim(not zero[g], f"block {g} carries weight at the point")
        self.checked += 2 * int(zero.sum()) - len(left) - len(carried)

    def _best(self, first: arb, moves: np.ndarray) -> arb:
        """Return the largest of the scores less their moves, or the slope of S phi at 0."""
        with np.errstate(all="ignore"):
            least = np.max(self.scores.low - moves, where=self.gauge.priced, initial=-np.inf)
            close = self.gauge.priced & (self.scores.high - moves >= max(float(least), double_below(first)))
        floor = first
        for g, score in self.scores.balls(np.flatnonzero(close)).items():
            candidate = score - arb(float(moves[g]))
            floor = candidate if candidate > floor else floor
        return floor

    def _moves(self) -> np.ndarray:
        """Return how far the score of every block can be from that of the optimum."""
        with np.errstate(all="ignore"):
            return known(double_above(root(self.reach)) * self.spreads * UP + TINY)

    def _slopes(self, first: arb) -> tuple[arb, arb]:
        """SLOPE: return bounds of the slope of S phi at the optimum."""
        if self.phi_conjugate is None:
            return first, first
        if not self.gauge.euclidean:
            return first, arb("inf")
        low, high = first, first
        moved = self._slides()
        with np.errstate(all="ignore"):
            tops = np.where(self.gauge.priced, known((self.scores.high + moved) * UP + TINY), -np.inf)
        dragged = {int(self.gauge.labels[j]) for j in self.x}
        rest = tops.copy()
        rest[list(dragged)] = -np.inf
        for g in dragged:
            score = self._dragged(g)
            low = low.max(arb((score - arb(float(moved[g]))).lower()))
            high = high.max(arb((score + arb(float(moved[g]))).upper()))
        for g, score in self.scores.balls(np.flatnonzero(rest > double_below(low))).items():
            low = low.max(arb((score - arb(float(moved[g]))).lower()))
            high = high.max(arb((score + arb(float(moved[g]))).upper()))
        return arb(low.lower()), arb(high.upper())

    def _slides(self) -> np.ndarray:
        """Return how far the scores of `k z - R x` can be from those of the optimum."""
        ridge, reach = np.array([double_above(v) for v in self.ridge]), double_above(self.reach)
        with np.errstate(all="ignore"):
            bends = 2 * ridge / (self.factor * self.gauge.prices.low * self.gauge.prices.low * DOWN)
            return known(np.sqrt(known(reach * (self.spreads * self.spreads + bends) * UP + TINY)) * UP)

    def _dragged(self, g: int) -> arb:
        """Return the score of a block of `k z - R x`."""
        entries = self.gauge.entries(g)
        parts = {j: self.shrink * self.z[j] - self.ridge[g] * self.x.get(j, arb(0)) for j in entries}
        return self.gauge.score(g, parts)

    def _beaten(self, g: int, rivals: list[int]) -> bool:
        """Return whether one of the rivals, the best first, beats coordinate g by the distance of their images.

        That rival is moved to the front: it is likely to beat the next coordinate, too.
        """
        if not (self.pairwise and self.gauge.coordinates):
            return False
        radius = arb(root(self.reach).upper())
        for k, q in enumerate(rivals):
            if q != g and self._beats(q, g, radius):
                rivals.insert(0, rivals.pop(k))
                return True
        return False

    def _beats(self, q: int, g: int, radius: arb) -> bool:
        """Return whether coordinate q, of a positive score, beats coordinate g by the distance of their images."""
        if not self.scores.low[g] < self.scores.high[q]:
            return False
        if not (self.scores[q] > 0 and self.scores[g] < self.scores[q]):
            return False
        return any(self._is_shorter(q, g, radius, self._columns([g, q], centred=way)) for way in (True, False))

    def _is_shorter(self, q: int, g: int, radius: arb, columns: list[arb_mat]) -> bool:
        """Return whether the atoms of both coordinates, given by their columns, are as near to each other as that."""
        side = 1 if self.z[q] > 0 else -1
        for sign in (1, -1) if self.gauge.signed[g] else (1,):
            difference = columns[0] * (sign / self.gauge.prices[g]) - columns[1] * (side / self.gauge.prices[q])
            length = root(sum((arb(float(m)) * v * v for m, v in zip(self.metric, difference.entries())), arb(0)))
            if not sign * self.z[g] * self.shrink / self.gauge.prices[g] + radius * length < self.scores[q]:
                return False
        return True
