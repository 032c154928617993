"""A family of problems: errors in the data, and a range of strengths."""

from functools import reduce

import numpy as np
from flint import arb, arb_mat

from .balls import (
    bounds_of,
    double_above,
    double_below,
    highest,
    larger_of,
    largest_root,
    positive_part,
    quadratic_form,
    root,
    square,
)
from .doubles import TINY, UP, known, lengths_above, sums_above
from .family import main_parameter
from .free import ROUNDS
from .line import Line
from .pulls import Pulls, Scores
from .verdict import Refused


class Face(Line):
    """The same for a family of problems: FAMILY.

    `eta` bounds how far predictions less targets move with the data while the coefficients stay, `pulls` how far z
    moves while theta stays, and `errors` the errors of C, by samples.
    """

    pairwise = False
    alone = False
    in_blocks = True

    def check(self) -> None:
        """Raise Refused at the first claim that does not follow."""
        self._evaluate()
        self._check_free()
        self._place()
        self.errors = self._errors()
        self.eta, self.pulls = self._eta(), self._pulls()
        self._curvature()
        if self.family.slopes:
            self._cover_slopes()
        self._values()
        self._zeros()
        self._ranges()

    # -- errors --------------------------------------------------------------------------------------------------------

    def _check_free(self) -> None:
        """Refuse to leave out columns of B for sums of others, if errors can make them differ from these."""
        linked = {name for d in self.claims["dependencies"] for name in (d["column"], *d["of"])}
        features = [self._feature(name) for name in linked]
        if self.family.columns([j for j in features if j >= 0]).any():
            raise Refused("features without a price that depend on each other have errors")

    def _feature(self, name: int) -> int:
        """Return which column of A a column of C is; -1 for other columns of B."""
        return name if name >= 0 else self.gauge.free[-1 - name - self.given] if -1 - name >= self.given else -1

    def _errors(self) -> list[list[arb]]:
        """Return bounds of the errors of C, by samples; of B, only features without a price have errors."""
        found = np.zeros((self.n, len(self.names)))
        places = [k for k, name in enumerate(self.names) if self._feature(name) >= 0]
        found[:, places] = self.family.columns([self._feature(self.names[k]) for k in places])
        return [[arb(v) for v in row] for row in found.tolist()]

    def _eta(self) -> list[arb]:
        """Return how far predictions less targets can move with the data, at all points of the line."""
        moved = arb_mat([[v] for v in self.family.targets.tolist()])
        values = {j: self.x.get(j, arb(0)) for j in self.rows}
        values |= {-1 - k: self.b[k] + arb(0, self._moved(k).upper()) for k in self.used}
        sizes = [[abs(values[name]) + self.sway[name]] for name in self.names]
        if sizes:
            moved += arb_mat(self.errors) * arb_mat(sizes)
        return [arb(v.upper()) for v in moved.entries()]

    def _pulls(self) -> np.ndarray:
        """Return how far every z can move with the data while theta stays: sums of `E_ij abs(theta_i)`, rounded up."""
        both = zip(self.theta.entries(), self.lean.entries())
        theta = np.array([double_above(abs(t) + self.step * abs(v)) for t, v in both])
        pulls: list[np.ndarray] = []
        for start in range(0, self.d, self.width):
            with np.errstate(all="ignore"):
                sums = theta @ self.family.columns(list(range(self.d)[start : start + self.width]))
                pulls.append(sums_above(sums, self.n))
        return np.concatenate(pulls)

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
            swings = np.array([double_above(self.step * abs(v)) for v in self.turn])
            moved = np.sqrt(self.most) / np.sqrt(self.data.weights) * double_above(self.way) + self.most * swings
            return known(moved * UP + TINY)

    def _travel(self) -> None:
        """FACE, LINE: derive how far slopes (`way`) and predictions can be from the optimum, and the gap."""
        self._hold()
        kept = 1 - self._widening()
        least, most = ([arb(v) for v in ends.tolist()] for ends in (self.least, self.most))
        around = zip(least, most, self.bends, self.turn)
        off = [arb((larger_of(high - bend, bend - low) * self.step * abs(v)).upper()) for low, high, bend, v in around]
        both = [bend * v + r for bend, v, r in zip(most, self.eta, off)]
        pull = highest(self._pull(self._end(side)) for side in self._sides()) / kept
        d, q = (pull + self._drag(part, kept) for part in (off, both))
        e = root(sum((w * bend * square(v) for w, bend, v in zip(self.weights, most, self.eta)), arb(0)))
        a = largest_root(d + e, d * e + self.slack)
        beyond = zip(self.weights, most, off)
        self.way = a + root(sum((w * square(v) / high for w, high, v in beyond if not v == 0), arb(0)))
        reach = (a + e).min(largest_root(q, self.slack))
        self.reach = square(reach / kept)
        self.lost = d * reach + self.slack + self._tilted()
        self.gap = arb((self.lost + (square(e) / 2).min((q - d) * reach)).upper())

    def _tilted(self) -> arb:
        """LINE, SHAPE: return what other slopes than the stated one add to the gap."""
        away = {name: root(self.held[k, k] * self.reach) for k, name in enumerate(self.names)}
        self.apart = self._mass({j: away[j] for j in self.rows})
        shapes = self._shapes() if self.step > 0 else []
        tilts = [abs(self._slope_at(self.mass, shape) - self.slope) for shape in shapes]
        return highest([arb(0), *tilts]) * self._mass({j: away[j] + self.sway[j] for j in self.rows})

    def _hold(self) -> None:
        """Derive inv(G) and its absolute values."""
        self.held = self._inverted(self.names) if self.names else arb_mat(0, 0)
        k = len(self.names)
        self.forms = self.held, arb_mat(k, k, [abs(v) for v in self.held.entries()])

    def _widening(self) -> arb:
        """PULL: return rho."""
        if self.family.x_error is None:
            return arb(0)
        samples = zip(self.weights, self.least.tolist(), self.errors)
        rho = root(sum((w * arb(m) * quadratic_form(self.forms[1], row) for w, m, row in samples), arb(0)))
        if not rho < 1:
            raise Refused("columns that are not claimed zero may depend on each other, as far as their errors tell")
        return rho

    def _pull(self, rests: list[arb]) -> arb:
        """PULL: return d for the stated columns."""
        features = [self._feature(name) for name in self.names]
        pulls = [arb(float(self.pulls[j])) if j >= 0 else arb(0) for j in features]
        return self._length([arb(v.mid()) for v in rests], [arb(v.rad()) + pull for v, pull in zip(rests, pulls)])

    def _length(self, middle: list[arb], radii: list[arb]) -> arb:
        """Return a bound of the lengths of a box in the metric of inv(G)."""
        return root(quadratic_form(self.forms[0], middle)) + root(quadratic_form(self.forms[1], radii))

    def _drag(self, moved: list[arb], kept: arb) -> arb:
        """FACE: return how long C~' v is for slopes v of these sizes; a flat sample counts by the length of its row."""
        curved, flat = arb(0), arb(0)
        for i, (w, m, v) in enumerate(zip(self.weights, self.least.tolist(), moved)):
            if m > 0:
                curved += w * square(v) / arb(m)
            elif not v == 0:
                flat += w * v * self._length([column[i, 0] for column in self.chosen], self.errors[i]) / kept
        return root(curved) + flat

    # -- a range of slopes ---------------------------------------------------------------------------------------------

    def _mass(self, values: dict[int, arb]) -> arb:
        """Return the mass of coefficients that are left."""
        parts = ((g, [values[j] for j in mine]) for g, mine in self.members.items())
        return sum((self.gauge.prices[g] * self.gauge.norm(part) for g, part in parts), arb(0))

    def _shapes(self) -> list[dict[str, arb]]:
        """Return the penalty at both ends of the range of strengths, or as it is stated."""
        name = main_parameter(self.penalty)
        return [self.penalty | {name: arb(v)} for v in self.family.strengths] or [self.penalty]

    def _cover_slopes(self) -> None:
        """SHAPE: no strength has a slope beyond the stated range."""
        ends = (
            {j: self.x.get(j, arb(0)) + side * self.step * self.direction[j] for j in self.rows} for side in (-1, 1)
        )
        least, most = (self._mass(values) + side * self.apart for side, values in zip((-1, 1), ends))
        for shape in self._shapes():
            if "radius" in shape and not self.mass.max(most) < shape["radius"]:
                raise Refused("the mass may be outside the domain of the penalty")
            steep = self._slope_at(positive_part(arb(least.lower())), shape) >= self.slope - self.step
            flat = self._slope_at(arb(most.upper()), shape) <= self.slope + self.step
            self._claim(steep and flat, "some strength may have a slope beyond the stated range of slopes")

    # -- what that means for the claims --------------------------------------------------------------------------------

    def _value_range(self) -> tuple[arb, arb]:
        """FAMILY: return bounds of the optimal values of all members."""
        samples = zip(self.weights, self.u, self.eta, self.data.y.tolist())
        tops = (w * larger_of(self._value(v - r, y), self._value(v + r, y)) for w, v, r, y in samples)
        tilt = sum((abs(t) * r for t, r in zip(self.theta.entries(), self.eta)), arb(0))
        stated = self.total * self.phi(self.penalty, self.mass)
        charges = [self.charge + self.total * self.phi(shape, self.mass) - stated for shape in self._shapes()]
        least, most = (arb(reduce(f, charges)) for f in (arb.min, arb.max))
        return self.losses + least - tilt - self.lost, sum(tops, arb(0)) + most

    def _value(self, u: arb, y: float) -> arb:
        return self.loss.value(u, y, self.loss.slope(u, y))

    def _zeros(self) -> None:
        """ZERO: at both ends of a range, which decide for all of it, as scores are convex there and slopes linear."""
        if not self.step > 0:
            super()._zeros()
            return
        self.spreads = self._spreads()
        moves, zero, change = self._moves(), self._told_zero(), self._adjoint(self.lean)
        for side in (-1, 1):
            self.scores = Scores(self.gauge, self._pulls_at(side, change), arb(1))
            self._claim_zeros(zero, moves, self.slope + side * self.step)

    def _pulls_at(self, side: int, change: Pulls) -> Pulls:
        """Return `z + t change` at one end of the line."""
        least, most = max(double_below(self.step), 0.0), double_above(self.step)
        ends = (change.low, change.high) if side > 0 else (-change.high, -change.low)
        with np.errstate(all="ignore"):
            below = np.nextafter(np.where(ends[0] < 0, ends[0] * most, ends[0] * least), -np.inf)
            above = np.nextafter(np.where(ends[1] > 0, ends[1] * most, ends[1] * least), np.inf)
            low, high = np.nextafter(self.z.low + below, -np.inf), np.nextafter(self.z.high + above, np.inf)

        def balls(index: list[int]) -> list[arb]:
            self.z.sharpen(index)
            change.sharpen(index)
            return [self.z[j] + side * self.step * change[j] for j in index]

        return Pulls(low, high, balls)

    def _moves(self) -> np.ndarray:
        with np.errstate(all="ignore"):
            self.moves = self._of_blocks(known((double_above(self.way) * self.lengths + self.pulls) * UP + TINY))
        return self.moves

    def _slopes(self, first: arb) -> tuple[arb, arb]:
        """SLOPE: return a bound of the slope of S phi at the optima from below; none from above is needed."""
        if self.phi_conjugate is None:
            return first, first
        low, carried = first, {int(self.gauge.labels[j]) for j in self.x}
        for g in carried:
            low = low.max(self._steep(g))
        with np.errstate(all="ignore"):
            close = self.gauge.priced & ~(self.scores.high - self.moves < double_below(low))
        for g in self.scores.balls(set(np.flatnonzero(close).tolist()) - carried):
            low = low.max(self._steep(g))
        return arb(low.lower()), arb("inf")

    def _steep(self, g: int) -> arb:
        """Return a lower bound of the score of `z - R x` of a block at the optima."""
        apart = arb(float(self.moves[g])) + root(self.ridge[g] * self.reach) / self.gauge.prices[g]
        return arb((self._dragged(g) - apart).lower())

    def _least_lengths(self, own: np.ndarray, metric: np.ndarray, start: int) -> np.ndarray:
        """Return lengths with those of the errors: on a line less the centre of z, theta is not orthogonal there."""
        per, features = self.data.tasks, range(start, start + own.shape[1])
        roots = np.sqrt(metric).T * UP
        if self.step > 0:
            sizes = np.abs(own - self._centres(own) if self.gauge.matrix is None else own)
            lengths = np.stack([lengths_above(sizes * v[:, None] * UP) for v in roots], axis=1)
        else:
            lengths = super()._least_lengths(own, metric, start)
        for c, v in enumerate(roots):
            errors = self._own_rows(self.family.columns(chosen := [j * per + c for j in features]), chosen)
            lengths[:, c] = known((lengths[:, c] + lengths_above(errors * v[:, None] * UP)) * UP)
        return lengths

    def _distances(self, independent: list[int], involved: set[int], *, sharp: bool) -> dict[int, arb]:  # noqa: ARG002
        found = self._radii(independent, self.held, involved)
        return {name: v + self.sway[name] for name, v in found.items()}

    def _range(self, j: int, away: arb | None) -> tuple[arb, arb] | None:
        x = self.x.get(j, arb(0))
        return None if away is None else (x - away, x + away)

    def _pulled(self, g: int) -> bool:  # noqa: ARG002
        return False
