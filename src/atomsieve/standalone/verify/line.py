"""A family of problems: the point, which moves along a line with the slope of the penalty."""

from typing import Any

import numpy as np
from flint import arb, arb_mat

from .balls import bounds_of, highest, larger_of, positive_part, square
from .checker import Checker
from .data import Data
from .family import Family
from .gauges import Gauge
from .verdict import Refused


class Line(Checker):
    """PULL and LINE. What is derived at the point stays that of the stated data.

    `slack` is that of the subgradient v, with the slope `slope` of S phi. For a range of strengths, `step` is how far
    the slope goes in both directions, `line` the direction of the point, `turn` that of the predictions, `lean` that of
    theta, if losses were quadratic, and `swing` what the turning of blocks adds.
    """

    def __init__(self, content: dict[str, Any], data: Data, gauge: Gauge, family: Family) -> None:
        super().__init__(content, data, gauge)
        self.family = family
        self.shrink, self.factor = arb(1), 2  # all of the ridge is in the metric
        self.centred_sums = bool(family.strengths)  # on a line theta is not orthogonal to constants

    def _place(self) -> None:
        """Choose the columns of C, the subgradient and the line."""
        self.rows = self._left()
        self.names = self._names(self.rows)
        self.chosen = [self._column(name) for name in self.names]
        self.members: dict[int, list[int]] = {}
        for j in self.rows:
            self.members.setdefault(int(self.gauge.labels[j]), []).append(j)
        self.z.sharpen(self.rows)
        self.slack, self.slope = self._subgradient()
        self.step = self._step()
        self._draw()

    def _step(self) -> arb:
        """LINE: return how far the slope of S phi can be from that at the point."""
        if not self.family.strengths:
            return arb(0)
        if self.family.slopes:
            low, high = (arb(v) for v in self.family.slopes)
            return arb((self.total * (high - low) / 2).upper())
        stated = self.penalty["strength"]
        low, high = (arb(v) for v in self.family.strengths)
        return arb((self.total * larger_of(high - stated, stated - low)).upper())

    def _subgradient(self) -> tuple[arb, arb]:
        """Return the slack of v, and the slope of S phi that belongs to v; SHAPE: that of Linear in its place."""
        if self.family.slopes:
            low, high = (arb(v) for v in self.family.slopes)
            return arb(0), self.total * (low + high) / 2
        if "radius" in self.penalty and "sharpness" not in self.penalty:  # Ball: any slope has some slack
            best = arb(highest(self.scores.highest().values()).mid())
            return arb(positive_part(best * (self.penalty["radius"] - self.mass)).upper()), best
        return arb(0), self._slope_at(self.mass, self.penalty)

    # -- the line ------------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        """LINE: choose a line in doubles; any line would do."""
        bends, self.line = np.zeros(self.n), [arb(0)] * len(self.names)
        if self.step > 0:
            bends = np.mean(self.loss.bends(*bounds_of(self.slopes), self.data.y), axis=0)
            self.line = self._direction(bends)
        turn = sum((column * p for column, p in zip(self.chosen, self.line)), arb_mat(self.n, 1))
        self.turn, self.bends = turn.entries(), [arb(v) for v in bends.tolist()]
        self.lean = arb_mat([[w * bend * v] for w, bend, v in zip(self.weights, self.bends, self.turn)])
        self.leans = [(column.transpose() * self.lean)[0, 0] for column in self.chosen]
        self.direction = dict(zip(self.names, self.line))
        self.sway = {name: self.step * abs(p) for name, p in self.direction.items()}
        self._swing()

    def _direction(self, bends: np.ndarray) -> list[arb]:
        """Return the direction in which optima move with the slope, to first order, from columns less their means."""
        towards = np.array([float(self._towards(name).mid()) for name in self.names])
        moving = [k for k, name in enumerate(self.names) if name < 0 or self._carries(name)]
        doubles = np.array([[float(v) for v in self.chosen[k].entries()] for k in moving]).reshape(-1, self.n)
        homes = [self._constant(self.names[k]) for k in moving]
        means = [0.0 if h is None else row.sum() / (self.n // self.data.tasks) for h, row in zip(homes, doubles)]
        rests = [row if h is None else row - mean * doubles[h] for h, row, mean in zip(homes, doubles, means)]
        doubles = np.array(rests).reshape(-1, self.n)
        hessian = (doubles * (self.data.weights * bends)) @ doubles.T
        for a, k in enumerate(moving):
            for b, other in enumerate(moving):
                hessian[a, b] += float(self._turning(self.names[k], self.names[other]).mid())
        found = [arb(v) for v in (-np.linalg.lstsq(hessian, towards[moving], rcond=None)[0]).tolist()]
        line = [arb(0)] * len(self.names)
        for k, home, mean, v in zip(moving, homes, means, found):
            line[k] += v
            if home is not None:  # the constant takes what the column has lost
                line[home] -= v * arb(float(mean))
        return line

    def _constant(self, name: int) -> int | None:
        """Return the place in C of the constant that takes the mean of a column; None if there is none."""
        tasks = self.data.tasks if self.intercept else 0
        if tasks == 0 or self.names[:tasks] != [-1 - k for k in range(tasks)] or 0 <= -1 - name < tasks:
            return None
        return name % tasks if name >= 0 else self._home(-1 - name)

    def _carries(self, j: int) -> bool:
        """Return whether a coefficient is in a block that is not zero at the point."""
        return int(self.gauge.labels[j]) in self.norms

    def _towards(self, name: int) -> arb:
        """Return the subgradient of the gauge where x is not zero."""
        if name < 0 or not self._carries(name):
            return arb(0)
        g, v = int(self.gauge.labels[name]), self.x.get(name, arb(0))
        if self.gauge.coordinates:
            return self.gauge.prices[g] if v > 0 else -self.gauge.prices[g]
        towards: arb = self.gauge.prices[g] * v / self.norms[g]
        return towards

    def _turning(self, a: int, b: int) -> arb:
        """Return an entry of the second derivative of the ridge, and of the gauge times the slope."""
        if a < 0 or b < 0 or self.gauge.labels[a] != self.gauge.labels[b]:
            return arb(0)
        g = int(self.gauge.labels[a])
        found = self.ridge[g] if self.ridge and a == b else arb(0)
        if not self.gauge.coordinates:
            norm = self.norms[g]
            across = int(a == b) - self.x.get(a, arb(0)) * self.x.get(b, arb(0)) / square(norm)
            found += self.slope * self.gauge.prices[g] * across / norm
        return found

    def _swing(self) -> None:
        """LINE: bound what the turning of blocks adds to delta; no block may reach zero."""
        self.swing: dict[int, arb] = {}
        for g, norm in self.norms.items():
            entries = self.members.get(g, [])
            along = [self.direction[j] for j in entries]
            length = self.gauge.norm(along)
            room = norm - self.step * length
            if len(entries) == 1 or not self.step > 0:
                self.swing[g], fits = arb(0), not self.step > 0 or norm >= self.step * length
            else:
                unit = [self.x.get(j, arb(0)) / norm for j in entries]
                inner = sum((a * b for a, b in zip(unit, along)), arb(0))
                sweep = norm * self.gauge.norm([b - a * inner for a, b in zip(unit, along)])
                bent = self.slope * length * sweep / (room * square(room)) + sweep / square(room)
                self.swing[g], fits = self.gauge.prices[g] * square(self.step) * bent, room > 0
            if not fits:
                raise Refused("a coefficient reaches zero within the range of strengths")

    def _sides(self) -> tuple[int, ...]:
        """Return the ends of the line: one place if the slope stays."""
        return (-1, 1) if self.step > 0 else (0,)

    def _end(self, side: int) -> list[arb]:
        """PULL, LINE: return delta at one end of the line, for the columns of C; those of B have none at the point."""
        slope = self.slope + side * self.step
        ends = dict(zip(self.names, (-side * self.step * lean for lean in self.leans)))
        for j in self.rows:
            ends[j] += self.z[j]
        for g, mine in self.members.items():
            if g not in self.norms:
                size = self.gauge.norm([ends[j] for j in mine])
                for j in mine:
                    most = size if self.gauge.signed[j] else ends[j]
                    ends[j] = arb(0, positive_part(most - slope * self.gauge.prices[g]).upper())
                continue
            for j in mine:
                turned = sum((self._turning(j, k) * self.direction[k] for k in mine), arb(0))
                ridge = self.ridge[g] * self.x.get(j, arb(0)) if self.ridge else arb(0)
                ends[j] += arb(0, self.swing[g].upper()) - ridge - slope * self._towards(j) - side * self.step * turned
        return [ends[name] for name in self.names]
