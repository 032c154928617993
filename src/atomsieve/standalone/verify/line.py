"""A family of problems: a range of strengths."""

import numpy as np
from flint import arb, arb_mat

from .balls import bounds_of, double_above, double_below, highest, larger_of, positive_part, root, square
from .doubles import DOWN, TINY, UP, known, lengths_above
from .face import Face
from .pulls import Pulls
from .verdict import Refused


class Line(Face):
    """The same for a range of strengths of Linear: LINE. The point moves along a line with the slope of the penalty.

    `line` is its direction, `turn` that of the predictions and `lean` that of theta, if losses were quadratic; `step`
    is how far the slope goes in both directions.
    """

    def check(self) -> None:
        """Raise Refused at the first claim that does not follow."""
        self._evaluate()
        self.rows = self._left()
        self.names = self._names(self.rows)
        self.slope = self._slope_at(self.mass, self.penalty)
        stated = self.penalty["strength"]
        low, high = (arb(v) for v in self.family.strengths)
        self.step = arb((self.total * larger_of(high - stated, stated - low)).upper())
        self._draw()
        self._curvature()
        self._values()
        self._zeros()
        self._ranges()

    def _draw(self) -> None:
        """LINE: choose a line in doubles; any line would do."""
        columns = [self._column(name) for name in self.names]
        bends = np.mean(self.loss.bends(*bounds_of(self.slopes), self.data.y), axis=0)
        weights = self.data.weights * bends
        towards = np.array([float(self._towards(name).mid()) for name in self.names])
        moving = [k for k, name in enumerate(self.names) if name < 0 or name in self.x]
        doubles = self._in_doubles([self.names[k] for k in moving]).T
        found = np.zeros(len(self.names))
        found[moving] = -np.linalg.lstsq((doubles * weights) @ doubles.T, towards[moving], rcond=None)[0]
        self.line = [arb(v) for v in found.tolist()]
        turn = sum((column * p for column, p in zip(columns, self.line)), arb_mat(self.n, 1))
        self.turn, self.bends = turn.entries(), [arb(v) for v in bends.tolist()]
        self.lean = arb_mat([[w * bend * v] for w, bend, v in zip(self.weights, self.bends, self.turn)])
        self.leans = [(column.transpose() * self.lean)[0, 0] for column in columns]
        sway = {name: self.step * abs(p) for name, p in zip(self.names, self.line)}
        if not all(abs(v) >= sway[j] for j, v in self.x.items()):
            raise Refused("a coefficient reaches zero within the range of strengths")
        self.sway = sway

    def _towards(self, name: int) -> arb:
        """Return the subgradient of the gauge where x is not zero."""
        v = self.x.get(name, arb(0))
        price = self.gauge.prices[int(self.gauge.labels[name])] if name >= 0 else arb(0)
        return price if v > 0 else -price if v < 0 else arb(0)

    def _end(self, side: int) -> list[arb]:
        """LINE: return delta at one end of the range."""
        slope, rests = self.slope + side * self.step, []
        for name, lean in zip(self.names, self.leans):
            if name < 0:
                rests.append(-side * self.step * lean)
                continue
            z = self.z[name] - side * self.step * lean
            price = self.gauge.prices[int(self.gauge.labels[name])]
            over = positive_part((abs(z) if self.gauge.signed[name] else z) - slope * price)
            rests.append(z - slope * self._towards(name) if name in self.x else arb(0, over.upper()))
        return rests

    def _steps(self, away: np.ndarray) -> np.ndarray:
        steps = super()._steps(away)
        swings = np.array([double_above(self.step * abs(v)) for v in self.turn])
        return known((steps + self.most * swings) * UP + TINY)

    def _travel(self) -> None:
        """LINE: derive a (`way`), the reach and the gap."""
        self._hold()
        least, most = ([arb(v) for v in ends.tolist()] for ends in (self.least, self.most))
        around = zip(least, most, self.bends, self.turn)
        off = [arb((larger_of(high - bend, bend - low) * self.step * abs(v)).upper()) for low, high, bend, v in around]
        d = highest(self._boxed(self._end(side)) for side in (-1, 1)) + self._bent(off)
        beyond = zip(self.weights, most, off)
        self.way = d + root(sum((w * square(v) / high for w, high, v in beyond if not v == 0), arb(0)))
        self.reach = square(d)
        lengths = {name: root(self.held[k, k]) * d for k, name in enumerate(self.names)}
        parts = ((j, abs(self.x.get(j, arb(0))) + self.sway[j] + lengths[j]) for j in self.rows)
        mass = sum((self.gauge.prices[int(self.gauge.labels[j])] * v for j, v in parts), arb(0))
        self.gap = arb((square(d) + self.step * mass).upper())

    def _boxed(self, rests: list[arb]) -> arb:
        return self._length([arb(v.mid()) for v in rests], [arb(v.rad()) for v in rests]) if rests else arb(0)

    def _bent(self, off: list[arb]) -> arb:
        """LINE: return how far losses are off the parabola; a sample without curvature counts by its row of C."""
        columns = [self._column(name) for name in self.names]
        curved, flat = arb(0), arb(0)
        for i, (w, m, v) in enumerate(zip(self.weights, self.least.tolist(), off)):
            if m > 0:
                curved += w * square(v) / arb(m)
            elif not v == 0:
                flat += w * v * self._length([column[i, 0] for column in columns], [arb(0)] * len(columns))
        return root(curved) + flat

    def _value_range(self) -> tuple[arb, arb]:
        return self.objective - self.gap, self.objective + self.step * self.mass

    def _zeros(self) -> None:
        """ZERO at both ends of the range, which decide for all of it: scores are convex there, and slopes linear."""
        change = self._adjoint(self.lean)
        lengths = self._lengths_in(self.metric[:, None])[:, 0]
        told = [*self.claims["nonzero"], *self.claims["undecided"], *self.gauge.free, *self.gauge.barred]
        zero = np.ones(self.d, dtype=bool)
        zero[told] = False
        left = self._doubtful(zero, change, lengths)
        self.z.sharpen(left)
        change.sharpen(left)
        for j in left:
            for side in (-1, 1):
                z = self.z[j] + side * self.step * change[j]
                score = (abs(z) if self.gauge.signed[j] else z) + self.way * arb(float(lengths[j]))
                below = score < (self.slope + side * self.step) * self.gauge.prices[j]
                self._claim(below, f"coefficient or block {j} is not proven zero")
        for j in self.x:
            self._claim(not zero[j], f"block {j} carries weight at the point")
        self.checked += 3 * int(zero.sum()) - 2 * len(left) - len(self.x)

    def _doubtful(self, zero: np.ndarray, change: Pulls, lengths: np.ndarray) -> list[int]:
        """Return the coefficients that doubles do not prove zero."""
        step, way = double_above(self.step), double_above(self.way)
        slope = double_below(self.slope - self.step)
        with np.errstate(all="ignore"):
            sizes = [np.maximum(np.abs(v.low), np.abs(v.high)) for v in (self.z, change)]
            highest = (sizes[0] + step * sizes[1] + way * lengths) * UP + TINY
            below = highest < slope * self.gauge.prices.low * DOWN - TINY
        left: list[int] = np.flatnonzero(zero & ~below).tolist()
        return left

    centred_sums = True

    def _least_lengths(self, own: np.ndarray, metric: np.ndarray, start: int) -> np.ndarray:  # noqa: ARG002
        """Return lengths of columns less their centres, as in z: on the line theta is not orthogonal to constants."""
        return lengths_above(np.abs(own - self._centres(own)) * np.sqrt(metric) * UP)[:, None]

    def _radii(self, independent: list[int], inverse: arb_mat, involved: set[int]) -> dict[int, arb]:
        return {name: v + self.sway[name] for name, v in super()._radii(independent, inverse, involved).items()}
