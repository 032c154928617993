"""Jumps over the edges of a graph: those of a spanning tree are the coefficients, and chords close its cycles."""

from typing import Any

import numpy as np
from flint import arb

from ..balls import double_above, double_below
from ..doubles import DOWN, TINY, UP, known, sums_above
from ..verdict import Refused
from .gauge import Gauge
from .rules import Rules
from .tree import Tree


class GraphJumps(Gauge):
    """`sum_j weights_j abs(c_j) + sum_e weights_e abs(x_i - x_j)` over chords e, with the levels x of jumps c.

    Whatever flows through the chords, the rest of z flows through the tree, `f_j` through the edge beyond which j lies:
    the sum of `f_j c_j` and of `flow_e (x_i - x_j)` is `z . c`, so the dual norm is at most the largest of
    `abs(f_j) / weights_j` and `abs(flow_e) / weights_e`. And it is at least `c . z` over the gauge of c, for any c.
    """

    euclidean = False
    has_facts = True
    ranked = False
    signs_of_z = False
    matrix: Tree

    def __init__(self, piece: dict[str, Any], scale: arb, matrix: Any, data: Any, form: list[int]) -> None:
        if not isinstance(matrix, Tree) or data.tasks > 1 or len(form) != 1:
            raise Refused("jumps over a graph are those of one vector, over the edges of a tree")
        super().__init__(piece, scale, matrix, data, form)
        d = matrix.width
        self.free = [j for j, parent in enumerate(matrix.parents) if parent == j]
        self.inner = np.ones(d, dtype=bool)
        self.inner[self.free] = False
        self.edges, self.flow = [tuple(chord) for chord in piece["chords"]], piece["flow"]
        self.chord_weights = piece["chord_weights"]
        if not len(self.edges) == len(self.flow) == len(self.chord_weights):
            raise Refused("every chord needs one weight and one flow")
        if not all(len(ends) == 2 and ends[0] != ends[1] and max(ends) < d for ends in self.edges):
            raise Refused("a chord joins no two places")
        if any(matrix.root_of(i) != matrix.root_of(j) for i, j in self.edges):
            raise Refused("a chord joins two trees, whose levels have nothing to do with each other")
        told = piece["toward"]
        if len(told["index"]) != len(told["value"]) or (told["index"] and told["index"][-1] >= d):
            raise Refused("lists that belong together have different lengths")
        self.toward = dict(zip(told["index"], map(arb, told["value"])))
        stored = data.X.data if data.sparse else data.X
        self.never_negative = matrix.outer is None and bool((stored >= 0).all())
        self._brought = self._beyond()
        self._gauge_toward = self.norm_of(self.toward, 0) if self.toward else arb(0)

    def in_orthant(self) -> Gauge:
        raise Refused(f"{self.kind} depends on signs, and no Orthant can be around it")

    def _weights(self, stated: Any, blocks: int, rows: int, per: int) -> np.ndarray:  # noqa: ARG002
        self.along = np.array(stated, dtype=float)
        roots = np.array([parent == j for j, parent in enumerate(self.matrix.parents)])
        if len(self.along) != rows or ((self.along == 0) != roots).any() or not (self.along[~roots] > 0).all():
            raise Refused("the edge from each place to its parent needs a weight, and roots have none")
        return np.ones(1)

    def _beyond(self) -> list[arb]:
        """Return what flows out of all that hangs on a place through the chords."""
        sums = [arb(0)] * self.matrix.width
        for (i, j), flow in zip(self.edges, map(arb, self.flow)):
            sums[i], sums[j] = sums[i] + flow, sums[j] - flow
        for j in reversed(self.matrix.order):
            parent = self.matrix.parents[j]
            if parent != j:
                sums[parent] = sums[parent] + sums[j]
        return sums

    def norm_of(self, part: dict[int, arb], block: int) -> arb:  # noqa: ARG002
        if any(not self.inner[j] for j in part):
            raise Refused("a root has no jump")
        levels: list[arb] = [arb(0)] * self.matrix.width
        for j in self.matrix.order:
            parent = self.matrix.parents[j]
            if parent != j:  # without a jump it is the very same number
                levels[j] = levels[parent] + part[j] if j in part else levels[parent]
        total = sum((arb(float(self.along[j])) * abs(v) for j, v in part.items()), arb(0))
        for (i, j), weight in zip(self.edges, self.chord_weights):
            if levels[i] is not levels[j]:
                total += arb(weight) * abs(levels[i] - levels[j])
        return total

    def score_above(self, block: int, z: Any) -> arb:
        # the radius of a ball has nine digits, so that the end of one from a poor lower bound to this is further up
        most = arb(0)
        for weight, flow in zip(self.chord_weights, self.flow):
            most = most.max(abs(arb(flow)) / arb(weight))
        for j in np.flatnonzero(self.inner).tolist():
            most = most.max(arb(abs(z[j] - self._brought[j]).upper()) / arb(float(self.along[j])))
        return arb(most.upper()) / self.prices[block]

    def score(self, block: int, z: Any) -> arb:
        most = self.score_above(block, z)
        along = sum((v * z[j] for j, v in self.toward.items()), arb(0))
        least = along / self._gauge_toward if self._gauge_toward > 0 else arb(0)
        least = arb(least.lower()).max(arb(0)) / self.prices[block]
        return arb(least.lower()).union(arb(most.upper()))

    def entries(self, block: int) -> list[int]:  # noqa: ARG002
        return [int(j) for j in np.flatnonzero(self.inner)]

    def scores(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(all="ignore"):
            sizes = self._carried(low, high, self._brought)[self.inner] / self.along[self.inner] * UP
            through = np.abs(np.array(self.flow)) / np.array(self.chord_weights) * UP
            most = known(np.max(np.concatenate([known(sizes), through]), initial=0.0) + TINY)
        return np.array([self._least(low, high)]), self.over_prices(np.array([most]))

    def _least(self, low: np.ndarray, high: np.ndarray) -> float:
        """Return a lower bound of the score, by the stated direction."""
        places = list(self.toward)
        if not places or not (np.isfinite(low[places]) & np.isfinite(high[places])).all():
            return 0.0
        ends = [(v * arb(float(low[j])), v * arb(float(high[j]))) for j, v in self.toward.items()]
        along = sum((arb(a.lower()) if a < b else arb(b.lower()) for a, b in ends), arb(0))
        found = along / self._gauge_toward / self.prices[0]
        return max(double_below(found), 0.0) if found.is_finite() else 0.0

    @staticmethod
    def _carried(low: np.ndarray, high: np.ndarray, brought: list[arb]) -> np.ndarray:
        """Return upper bounds of what flows through the edges of the tree."""
        below, above = (np.array([end(v) for v in brought]) for end in (double_below, double_above))
        with np.errstate(all="ignore"):
            return known(np.maximum(np.abs(high - below), np.abs(low - above)) * UP + TINY)

    def spreads_above(self, lengths: np.ndarray) -> np.ndarray:
        # an atom has no more than its share of weight on each edge of the tree that it cuts
        with np.errstate(all="ignore"):
            return known([np.max(lengths[self.inner] / self.along[self.inner], initial=0.0) * UP + TINY])

    def within(self, mass: arb, j: int) -> arb:
        return super().within(mass, j) / arb(float(self.along[j]))

    def sizes(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return low, high  # what flows has a direction

    def rules(self, least: np.ndarray, most: np.ndarray, slope: arb, steepest: arb) -> Rules:  # noqa: ARG002
        kept = arb(1)
        for weight, flow in zip(self.chord_weights, map(arb, self.flow)):
            if flow != 0:
                kept = kept.min(slope * arb(weight) / abs(flow))
        kept = arb(kept.lower())
        if not (slope > 0 and kept > 0):
            return Cuts(np.ones(len(least)), np.zeros(len(least)))
        brought = [kept * v for v in self._brought]
        held = np.where(self.inner, double_below(slope) * self.along * DOWN, np.inf)
        found = Cuts(np.where(self.inner, self._carried(least, most, brought), 0.0), held)
        if self.never_negative and self.moved is not None:
            carried = np.where(self.inner, self._carried(*self.seen, brought), 0.0)
            found.apart |= Cuts(carried, held, float(self.moved[self.free].max())).apart
        return found

    def see(self, low: np.ndarray, high: np.ndarray, moved: np.ndarray | None) -> None:
        self.seen, self.moved = (low, high), moved


class Cuts(Rules):
    """Sets of places: one that scores best has all that the edges out of it can hold flowing out, `slope weights`.

    Of the edges of the tree, `carried` bounds what flows through them, and `held` what they can hold. What some of them
    carry beyond that is all that another one may lack; and where the flow is one of z, by how much z and z* differ over
    a set. If X has no negative entries that is at most what they can differ by over all places that hang together.
    """

    def __init__(self, carried: np.ndarray, held: np.ndarray, excess: float = 0.0) -> None:
        super().__init__(carried, carried)
        with np.errstate(all="ignore"):
            over = np.where(carried > held, (carried - held) * UP, 0.0)
            excess = (excess + float(sums_above(over.sum(), len(over)))) * UP
            self.apart = known((carried + excess) * UP) < held

    def in_no_set(self, j: int) -> bool:
        return bool(self.apart[j])

    def in_every_set(self, j: int) -> bool:  # noqa: ARG002
        return False

    def never_apart(self, members: list[int]) -> bool:  # noqa: ARG002
        return False
