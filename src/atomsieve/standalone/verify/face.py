"""A family of problems with errors in the data."""

from typing import Any

import numpy as np
from flint import arb, arb_mat

from .balls import (
    bounds_of,
    double_above,
    highest,
    larger_of,
    largest_root,
    positive_part,
    quadratic_form,
    root,
    square,
)
from .checker import Checker
from .data import Data
from .doubles import TINY, UP, known, lengths_above, sums_above
from .family import Family
from .free import ROUNDS
from .gauges import Gauge
from .verdict import Refused


class Face(Checker):
    """The same for a family of problems: FAMILY. What is derived at the point stays that of the stated data.

    `eta` bounds how far predictions less targets move with the data while the coefficients stay, and `pulls` how far z
    moves while theta stays. `slack` is that of the subgradient v; `rests` holds z - v.
    """

    pairwise = False

    def __init__(self, content: dict[str, Any], data: Data, gauge: Gauge, family: Family) -> None:
        super().__init__(content, data, gauge)
        self.family = family

    def check(self) -> None:
        """Raise Refused at the first claim that does not follow."""
        self._evaluate()
        self.rows = self._left()
        self.names = self._names(self.rows)
        self.eta, self.pulls = self._eta(), self._pulls()
        self.slack, slope = self._subgradient()
        self.rests = [self._rest(j, slope) for j in self.rows]
        self._curvature()
        self._values()
        self._zeros()
        self._ranges()

    def _eta(self) -> list[arb]:
        """Return how far predictions less targets can move with the data at the point."""
        moved = arb_mat([[v] for v in self.family.targets.tolist()])
        if self.x:
            sizes = arb_mat([[abs(v)] for v in self.x.values()])
            moved += arb_mat(self.family.columns(list(self.x)).tolist()) * sizes
        return [arb(v.upper()) for v in moved.entries()]

    def _pulls(self) -> np.ndarray:
        """Return how far every z can move with the data while theta stays: sums of `E_ij abs(theta_i)`, rounded up."""
        theta = np.array([double_above(abs(t)) for t in self.theta.entries()])
        pulls: list[np.ndarray] = []
        for start in range(0, self.d, self.width):
            with np.errstate(all="ignore"):
                sums = theta @ self.family.columns(list(range(self.d)[start : start + self.width]))
                pulls.append(sums_above(sums, self.n))
        return np.concatenate(pulls)

    def _subgradient(self) -> tuple[arb, arb]:
        """Return the slack of v, and the slope of S phi that belongs to v."""
        if "radius" in self.penalty and "sharpness" not in self.penalty:  # Ball: any slope has some slack
            best = arb(highest(self.scores.highest().values()).mid())
            return arb(positive_part(best * (self.penalty["radius"] - self.mass)).upper()), best
        return arb(0), self._slope_at(self.mass, self.penalty)

    def _rest(self, j: int, slope: arb) -> arb:
        """Return `z_j - v_j`, or bounds of it around 0 where the point is 0: there v is as near to z as it may be."""
        g = int(self.gauge.labels[j])
        norm, score = self.norms.get(g, arb(0)), self.scores[g]
        if norm > 0:
            rest: arb = self.z[j] - slope * self.gauge.prices[g] * self.x.get(j, arb(0)) / norm
            return rest
        if score <= slope:
            return arb(0)
        excess = positive_part(1 - slope / score) if score > 0 else arb(1)
        return arb(0, abs(self.z[j] * excess).upper())

    # -- the way from the point to the optimum of a member -------------------------------------------------------------

    def _curvature(self) -> None:
        """FACE: find bounds of loss'' that hold on the way to the optimum of every member."""
        if self.loss.kind == "Squared":
            self._steps(np.zeros(self.n))
        else:
            self._prove_steps()
        with np.errstate(all="ignore"):
            self.metric = known(self.data.weights * self.most * UP + TINY)

    def _prove_steps(self) -> None:
        """FACE: find a range of slopes that proves itself; the steps in it are another one, the better one counts."""
        steps = np.zeros(self.n)
        for _ in range(ROUNDS):
            away = 2 * steps + 2.0**-1000
            steps = self._steps(away)
            if (steps < away).all():
                wide = arb(self.reach.upper())
                self._steps(steps)
                if not self.reach < wide:
                    self._steps(away)
                return
        raise Refused("the curvature of the loss cannot be bounded over the family")

    def _steps(self, away: np.ndarray) -> np.ndarray:
        """Return how far the slopes of samples move, from bounds of loss'' for slopes that move by at most `away`."""
        low, high = bounds_of(self.slopes)
        with np.errstate(all="ignore"):
            ends = np.nextafter(low - away, -np.inf), np.nextafter(high + away, np.inf)
            self.least, self.most = self.loss.bends(*ends, self.data.y)
            self._travel()
            return known(np.sqrt(self.most / self.data.weights) * double_above(self.way) * UP + TINY)

    def _travel(self) -> None:
        """FACE: derive a (`way`), the reach and the gap."""
        self._hold()
        errors = self._errors()
        kept = 1 - self._widening(errors)
        d = self._pull(self.rests) / kept
        samples = zip(self.weights, self.most.tolist(), self.eta)
        e = root(sum((w * arb(bend) * square(v) for w, bend, v in samples), arb(0)))
        self.way = largest_root(d + e, d * e + self.slack)
        drag = self._drag(errors, kept)
        reach = (self.way + e).min(largest_root(d + drag, self.slack))
        self.lost = d * reach + self.slack
        self.gap = arb((self.lost + (square(e) / 2).min(drag * reach)).upper())
        self.reach = square(reach / kept)

    def _hold(self) -> None:
        """Derive inv(G) and its absolute values."""
        self.held = self._inverted(self.names) if self.names else arb_mat(0, 0)
        k = len(self.names)
        self.forms = self.held, arb_mat(k, k, [abs(v) for v in self.held.entries()])

    def _errors(self) -> list[list[arb]]:
        """Return bounds of the errors of C, by samples."""
        free = [arb(0)] * (len(self.names) - len(self.rows))
        return [free + [arb(v) for v in row] for row in self.family.columns(self.rows).tolist()]

    def _widening(self, errors: list[list[arb]]) -> arb:
        """PULL: return rho."""
        if self.family.x_error is None:
            return arb(0)
        samples = zip(self.weights, self.least.tolist(), errors)
        rho = root(sum((w * arb(m) * quadratic_form(self.forms[1], row) for w, m, row in samples), arb(0)))
        if not rho < 1:
            raise Refused("columns that are not claimed zero may depend on each other, as far as their errors tell")
        return rho

    def _pull(self, rests: list[arb]) -> arb:
        """PULL: return d for the stated columns."""
        free = [arb(0)] * (len(self.names) - len(self.rows))
        radii = [arb(rest.rad()) + arb(float(self.pulls[j])) for j, rest in zip(self.rows, rests)]
        return self._length(free + [arb(rest.mid()) for rest in rests], free + radii)

    def _length(self, middle: list[arb], radii: list[arb]) -> arb:
        """Return a bound of the lengths of a box in the metric of inv(G)."""
        return root(quadratic_form(self.forms[0], middle)) + root(quadratic_form(self.forms[1], radii))

    def _drag(self, errors: list[list[arb]], kept: arb) -> arb:
        """FACE: return q - d; a sample without curvature counts by the length of its row of C."""
        columns = [self._column(name) for name in self.names]
        curved, flat = arb(0), arb(0)
        bounds = zip(self.weights, map(arb, self.most.tolist()), map(arb, self.least.tolist()), self.eta)
        for i, (w, bend, m, v) in enumerate(bounds):
            if m > 0:
                curved += w * square(bend * v) / m
            elif not (bend == 0 or v == 0):
                flat += w * bend * v * self._length([column[i, 0] for column in columns], errors[i]) / kept
        return root(curved) + flat

    # -- what that means for the claims --------------------------------------------------------------------------------

    def _value_range(self) -> tuple[arb, arb]:
        """FAMILY: return bounds of the optimal values of all members."""
        charge = self.total * self.phi(self.penalty, self.mass)
        samples = zip(self.weights, self.u, self.eta, self.data.y.tolist())
        tops = (w * larger_of(self._value(v - r, y), self._value(v + r, y)) for w, v, r, y in samples)
        tilt = sum((abs(t) * r for t, r in zip(self.theta.entries(), self.eta)), arb(0))
        return self.losses + charge - tilt - self.lost, sum(tops, arb(0)) + charge

    def _value(self, u: arb, y: float) -> arb:
        return self.loss.value(u, y, self.loss.slope(u, y))

    def _moves(self) -> np.ndarray:
        with np.errstate(all="ignore"):
            return self._of_blocks(known((double_above(self.way) * self.lengths + self.pulls) * UP + TINY))

    in_blocks = True

    def _least_lengths(self, own: np.ndarray, metric: np.ndarray, start: int) -> np.ndarray:
        per, features = self.data.tasks, range(start, start + own.shape[1])
        lengths = super()._least_lengths(own, metric, start)
        for c, v in enumerate(np.sqrt(metric).T * UP):
            errors = self._own_rows(self.family.columns(chosen := [j * per + c for j in features]), chosen)
            lengths[:, c] = known((lengths[:, c] + lengths_above(errors * v[:, None] * UP)) * UP)
        return lengths

    def _distances(self, independent: list[int], involved: set[int], *, sharp: bool) -> dict[int, arb]:  # noqa: ARG002
        return self._radii(independent, self.held, involved)
