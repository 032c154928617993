"""Total variation over a graph as certificates state it: jumps over a spanning tree, chords, and a flow through these.

What does not flow through the chords has to flow through the tree, where there is one way only. So any numbers as flows
through the chords give an upper bound of sigma, and the better they are the more is proven.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from atomsieve.design import TreeSteps
from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges.base import Atom, BlockGauge
from atomsieve.gauges.facts import Evidence, Facts
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import Enclosure, gamma, up
from atomsieve.numerics.flows import Network
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask

SPARED = 2.0**-30
"""Part of what an edge carries by which it must stay below what it can hold, so that a checker can confirm it."""


@dataclass(frozen=True, eq=False, repr=False)
class GraphJumps(BlockGauge):
    """`kappa(c) = sum_j weights_j |c_j| + sum_e weights_e |x_i - x_j|` over chords e, with the levels x of jumps c.

    `weights` has the price of the edge from each place to its parent in the tree of `steps`, 0 for roots, and `flow`
    what flows through each chord. Let f_j be what then flows through the edge of the tree beyond which j lies: the sum
    of z there, less what chords bring. Then sigma(z) is at most the largest of `|f_j| / weights_j` and `|flow_e| /
    weights_e`. And with any c, `toward` (the set that scores best), it is at least `c . z / kappa(c)`.

    A set S of places that scores best has `z*(S) = slope cut(S)`, and z*(S) is at most what flows out of it. So no such
    S cuts an edge of the tree with `|f_j| + excess < slope weights_j`, where the excess is by how much other edges of
    the tree may carry more than `slope weights`: then the jump over the edge is 0. That is with a flow of z*; with a
    flow of z, what z(S) and z*(S) may differ by is an excess, too.
    """

    steps: TreeSteps
    weights: Any
    chords: Any
    chord_weights: Any
    flow: Any
    toward: Any
    upward: bool = False
    """Whether A has no negative entries, so that no sum of columns is longer than that of all places of a tree."""

    decides = True

    def check(self, shape: tuple[int, ...]) -> None:
        pass

    def stated(self) -> dict[str, Any]:
        places = np.flatnonzero(self.toward)
        toward = {"index": places.tolist(), "value": self.toward[places].tolist()}
        told = {name: getattr(self, name) for name in ("weights", "chords", "chord_weights", "flow")}
        return told | {"toward": toward}

    @cached_property
    def inner(self) -> Mask:
        """The places that are no roots."""
        return np.asarray(self.steps.parents != np.arange(self.steps.count))

    @cached_property
    def brought(self) -> Enclosure:
        """What flows through the chords take out of all that is beyond each edge of the tree."""
        tails, heads = self.chords.T
        count, flow = self.steps.count, self.flow
        out = np.bincount(tails, flow, count) - np.bincount(heads, flow, count)
        ends = np.bincount(tails, minlength=count) + np.bincount(heads, minlength=count)
        sizes = np.bincount(tails, np.abs(flow), count) + np.bincount(heads, np.abs(flow), count)
        lost = np.where(ends > 1, up(gamma(int(ends.max(initial=0)) + 2) * sizes), 0.0)
        return self.steps.enclose_adjoint(Enclosure(out, lost))

    @cached_property
    def network(self) -> Network:
        """All edges, those of the tree first."""
        places = np.flatnonzero(self.inner)
        tree = np.stack([places, self.steps.parents[places]], axis=1)
        return Network(np.concatenate([tree, self.chords]), self.steps.count)

    def labels(self, shape: tuple[int, ...]) -> Index:
        return np.asarray(np.where(self.inner, 0, 1))

    def eligible(self, shape: tuple[int, ...]) -> Mask:
        return np.array([True, False])

    def unpenalised(self) -> Index:
        return self.steps.roots

    def sizes(self, x: Array) -> Array:
        return np.asarray(self.enclose_sizes(x).mid)

    def scores(self, z: Array) -> Array:
        nodes = z.copy()
        np.subtract.at(nodes, self.steps.parents[self.inner], z[self.inner])
        weights = np.concatenate([self.weights[self.inner], self.chord_weights])
        return np.array([self.network.least_congestion(nodes, weights)[0], 0.0])

    def atom(self, z: Array, block: int) -> Atom:
        """Return the set that is stated to score best, whatever z is."""
        size = float(self._size_toward.mid[0]) if self.toward.any() and not block else np.inf
        return Atom(slice(0, self.steps.count), self.toward / size, block)

    def spread(self, seminorm: Seminorm, outputs: int) -> Array:
        return self.spread_bounds(seminorm.column_norms())

    def spread_bounds(self, norms: Array) -> Array:
        # a set has the sum of the columns of the tree's edges that it cuts, and cuts no less than these
        return np.array([float(up(norms[self.inner] / self.weights[self.inner]).max(initial=0.0)), 0.0])

    def enclose_sizes(self, x: Array) -> Enclosure:
        x = np.where(self.inner, x, 0.0)
        regions = self.steps.regions(np.flatnonzero(x))
        levels = self.steps.enclose(Enclosure.exact(x))
        tails, heads = self.chords[regions.labels[self.chords[:, 0]] != regions.labels[self.chords[:, 1]]].T
        across = self.chord_weights[regions.labels[self.chords[:, 0]] != regions.labels[self.chords[:, 1]]]
        jumps = abs(levels[tails] - levels[heads])
        total = (Enclosure.exact(self.weights) * Enclosure.exact(np.abs(x))).sum()
        if len(across):
            total = total + (Enclosure.exact(across) * jumps).sum()
        return Enclosure(np.array([float(total.mid), 0.0]), np.array([float(total.rad), 0.0]))

    @cached_property
    def _size_toward(self) -> Enclosure:
        """The gauge of what bounds sigma from below."""
        return self.enclose_sizes(self.toward)[:1]

    def enclose_scores(self, z: Enclosure) -> Enclosure:
        rest = (z - self.brought).size[self.inner]
        through = np.concatenate([rest / self.weights[self.inner], np.abs(self.flow) / self.chord_weights])
        most = float(up(through).max(initial=0.0))
        least, places = 0.0, np.flatnonzero(self.toward)
        if len(places):
            along = (z[places] * Enclosure.exact(self.toward[places])).sum()
            least = float((along / self._size_toward).low[0])
        least = min(max(least, 0.0), most) if np.isfinite(least) else 0.0
        return Enclosure.between(np.array([least, 0.0]), np.array([most, 0.0]))

    def decide(self, evidence: Evidence) -> Facts:
        nothing = Facts.none(len(evidence.most))
        least = evidence.slope[0]
        if not 0 < least < np.inf:
            return nothing
        used = self.flow != 0
        room = least * self.chord_weights[used] / np.abs(self.flow[used]) * (1 - 8 * EPS)
        brought = self.brought * Enclosure.exact(np.array(min(float(room.min(initial=1.0)), 1.0)))
        held = least * self.weights * (1 - 4 * EPS)
        zero = self._apart(evidence.low, evidence.high, brought, held, 0.0)
        if self.upward and evidence.seen is not None:
            z, away = evidence.seen
            zero |= self._apart(z.low, z.high, brought, held, float(away[self.steps.roots].max()))
        return replace(nothing, zero=zero)

    def _apart(self, low: Array, high: Array, brought: Enclosure, held: Array, excess: float) -> Mask:
        """Return the edges of the tree that no set which scores best cuts, for what holds between such bounds of z."""
        carried = up(np.maximum(np.abs(low - brought.high), np.abs(high - brought.low)))
        over = np.where(self.inner & ~(carried <= held), up(carried - held), 0.0)
        excess = float(up(excess + over.sum() * (1 + gamma(len(over)))))
        return np.asarray(self.inner & (up(carried + excess) * (1 + SPARED) < held))
