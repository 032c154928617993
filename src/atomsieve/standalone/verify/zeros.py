"""Blocks that are zero in every solution."""

import math

import numpy as np
from flint import arb, arb_mat

from .balls import double_above, root, square
from .doubles import UNIT, lengths_above
from .gap import Gap


class Zeros(Gap):
    """CURVE, SLOPE and ZERO."""

    pairwise = True
    """Whether the difference of two atoms moves by no more than its length, so that one can beat the other."""

    def _curvature(self) -> None:
        """CURVE."""
        self.least, most = [], []
        for t, w, y in zip(self.slopes, self.weights, self.data.y.tolist()):
            low, high = (
                arb(t.lower()).min(arb((t * self.shrink).lower())),
                arb(t.upper()).max(arb((t * self.shrink).upper())),
            )
            bend = self.loss.most(low, high, y, self.reach / w)
            for _ in range(3):
                away = arb(root(self.reach * bend / w).upper())
                least, bend = self.loss.bends(low - away, high + away, y)
            self.least.append(least)
            most.append(bend)
        self.metric = np.array([double_above(w * m) for w, m in zip(self.weights, most)])

    def _spreads(self) -> list[float]:
        """Return upper bounds of the spread of every block, in doubles rounded up."""
        self.lengths = self._lengths_in(self.metric, range(self.d))
        return self._of_blocks(range(self.d), self.lengths)

    def _lengths_in(self, metric: np.ndarray, entries: range) -> list[float]:
        """Return upper bounds of the lengths of some columns of A in a metric."""
        lengths: list[float] = []
        roots = np.array([double_above(root(arb(float(m)))) for m in metric])
        for start in range(0, len(entries), self.width):
            index = list(entries[start : start + self.width])
            if self.gauge.matrix is None:
                own = self._own_rows(self.data.columns(index), index)
                lengths += self._least_lengths(own, roots, index).tolist()
            else:
                both = [self._columns(index, centred=centred) for centred in (False, True)]
                sizes = [
                    np.array([[double_above(abs(v)) for v in column.entries()] for column in part]).T for part in both
                ]
                lengths += np.minimum(*(lengths_above(part * roots[:, None]) for part in sizes)).tolist()
        return lengths

    def _least_lengths(self, own: np.ndarray, roots: np.ndarray, index: list[int]) -> np.ndarray:
        """Return upper bounds of the lengths of columns, modulo the constant if there is an intercept.

        The number that makes a column shortest is its mean in the metric: near that of the rest after the centre is
        taken, which is rounded once more.
        """
        per = self.data.tasks
        mine = roots[:, None] if per == 1 else roots.reshape(-1, per)[:, np.array(index) % per]
        rest = own - self._centres(own)
        if not self.intercept:
            return lengths_above(np.abs(rest) * mine)
        with np.errstate(all="ignore"):
            squares = mine * mine
            means = (squares * rest).sum(axis=0) / (squares + np.zeros(rest.shape)).sum(axis=0)
            means = np.where(np.isfinite(means), means, 0.0)
            sizes = np.abs(rest - means) * (1 + 4 * UNIT) + 2 * UNIT * np.abs(rest)
            return np.asarray(np.minimum(lengths_above(sizes * mine), lengths_above(np.abs(rest) * mine)))

    def _of_blocks(self, entries: range, lengths: list[float]) -> list[float]:
        """Return upper bounds of the spread of every block, from the lengths of its columns."""
        parts: dict[int, list[arb]] = {g: [] for g in range(len(self.gauge.prices))}
        for g, length in zip(self.gauge.labels[list(entries)].tolist(), lengths):
            parts[g].append(arb(length))
        prices = enumerate(self.gauge.prices)
        dual = self.gauge.dual_norm
        return [double_above(dual(parts[g]) / p) if self.gauge.counts(g) else math.inf for g, p in prices]

    def _zeros(self) -> None:
        """ZERO."""
        told = set(self.claims["nonzero"]) | set(self.claims["undecided"]) | set(self.gauge.free)
        zero = [g for g in range(len(self.gauge.prices)) if g not in told and g not in self.gauge.barred]
        carried = {self.gauge.labels[j] for j in self.x}
        moves, floor = self._moves(), self._first_slope()
        if self.ridge:
            self.steepness = self._slopes(floor)
            for g in zero:
                below = self.scores[g] + moves[g] < self.steepness[0]
                self._claim(below, f"coefficient or block {g} is not proven zero")
                self._claim(g not in carried, f"block {g} carries weight at the point")
            return
        for g, score in self.scores.items():
            candidate = score - moves[g]
            floor = candidate if candidate > floor else floor
        self.floor = floor
        rivals = sorted((g for g, v in self.scores.items() if v > 0), key=lambda g: -float(self.scores[g].mid()))
        for g in zero:
            self._claim(
                self.scores[g] + moves[g] < floor or self._beaten(g, rivals),
                f"coefficient or block {g} is not proven zero",
            )
            self._claim(g not in carried, f"block {g} carries weight at the point")

    def _moves(self) -> list[arb]:
        """Return how far the score of every block can be from that of the optimum."""
        self.spreads = self._spreads()
        radius = arb(root(self.reach).upper())
        return [radius * arb(spread) for spread in self.spreads]

    def _slopes(self, first: arb) -> tuple[arb, arb]:
        """SLOPE: return bounds of the slope of S phi at the optimum."""
        if self.phi_conjugate is None:
            return first, first
        low, high = first, first
        dragged = [self.shrink * v for v in self.z]
        for j, v in self.x.items():
            dragged[j] -= self.ridge[self.gauge.labels[j]] * v
        for g, score in self._block_scores(dragged).items():
            bend = 2 * self.ridge[g] / (self.factor * square(self.gauge.prices[g]))
            moved = arb(root(self.reach * (square(arb(self.spreads[g])) + bend)).upper())
            low = low.max(arb((score - moved).lower()))
            high = high.max(arb((score + moved).upper()))
        return arb(low.lower()), arb(high.upper())

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
        """Return whether coordinate q beats coordinate g by the distance of their images."""
        if not self.scores[g] < self.scores[q]:
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
