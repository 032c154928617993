"""A family of problems of several classes: the point, which moves along a line with the slope of the penalty."""

import numpy as np
from flint import arb, arb_mat

from .balls import bounds_of, double_above, positive_part
from .classes import Classes
from .doubles import TINY, UP, exp_below, known, product_above, sums_above
from .face import Face
from .verdict import Refused


class ClassLine(Face, Classes):
    """PULL and LINE with CLASSES. `firsts` are the features of C, by their first class, `own` bounds of their errors.

    `growth` bounds how much probabilities grow along the line, `swings` how far slopes move, and `off` how far they are
    from those of a straight line.
    """

    def _place(self) -> None:
        """Choose the columns of C, and the subgradient; of the optima, one has sums of 0 in blocks."""
        per, self.rows, self.floor = self.last + 1, self._left(), arb(1)
        self.names = self._names(self.rows)
        self.firsts = list(dict.fromkeys(self._spot(name)[0] for name in self.names))
        self.members = {}
        for j in self.rows:
            self.members.setdefault(int(self.gauge.labels[j]), []).append(j)
        self.z.sharpen(self.rows)
        self.slack, self.slope = self._subgradient()
        self.step, self.beside = self._step(), arb(0)
        self.own = np.zeros((self.n // per, len(self.firsts)))
        places = [k for k, first in enumerate(self.firsts) if self._feature(first) >= 0]
        features = [self._feature(self.firsts[k]) for k in places]
        if features:
            self.own[:, places] = self._own_rows(self.family.columns(features), features)
        self._draw()
        theta, moved = self.theta.entries(), (self.data.total[:, None] * self.swings).ravel()
        sizes = [double_above(abs(t - theta[i // per * per + self.last])) for i, t in enumerate(theta)]
        apart = np.array(sizes).reshape(-1, per) + (moved.reshape(-1, per) + moved.reshape(-1, per)[:, -1:]) * UP
        self.coded_pulls = product_above(self.own.T, apart * UP)
        self.sizes = np.array([double_above(abs(t)) for t in theta]) * UP + moved * UP

    def _coefficients(self, first: int) -> list[arb]:
        """Return the coefficients of the point in all classes of a feature or free column."""
        names = [self._in_class(first, c) for c in range(self.last + 1)]
        if first >= 0:
            return [self.x.get(j, arb(0)) for j in names]
        return [self.b[-1 - name] + arb(0, self._moved(-1 - name).upper()) for name in names]

    # -- the line ------------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        """LINE: choose a line in doubles; any line would do."""
        per, free = self.last + 1, [self._in_class(first, c) for first in self.firsts for c in range(self.last + 1)]
        self.direction = dict.fromkeys([*self.rows, *(name for name in free if name < 0)], arb(0))
        self.slants = dict.fromkeys(self.names, arb(0))
        self.growth, shape = np.ones(self.n // per), (self.n // per, per)
        self.swings, self.off = np.zeros(shape), np.zeros(shape)
        if self.step > 0:
            if self.open:
                raise Refused("no line is known for strengths where a feature is left in all classes")
            if self.names:
                self._aim()
            turn = self._turn()
            self._lean(turn)
            self._bound_line(turn)
        self.sway = {name: self.step * abs(p) for name, p in self.direction.items()}
        self._swing()

    def _aim(self) -> None:
        """Derive the direction in which optima move with the slope, to first order, in doubles."""
        columns = self._chosen(self.names)
        (middles, errors), units = columns.doubles, np.array([float(unit) for unit in columns.units])
        low, high = bounds_of(self.slopes)
        weights = self.data.weights * np.clip((low + high) / 2 + self.data.y, 0.0, 1.0)
        seen = self._less_means(self._seen(middles, errors, weights)[0] / units)
        rests, taken = seen
        hessian = (rests * weights[:, None]).T @ rests
        places = {j: k for k, j in enumerate(self.rows)}
        to_entries = np.zeros((len(self.rows), len(self.names)))
        for k, name in enumerate(self.names):
            if name >= 0:
                to_entries[places[name], k] = 1.0
                if self._is_coded(name):
                    to_entries[places[self._in_last(name)], k] = -1.0
        bends = np.zeros((len(self.rows), len(self.rows)))
        for g, mine in self.members.items():
            if g in self.norms:
                block = [[float(self._turning(a, b).mid()) for b in mine] for a in mine]
                bends[np.ix_([places[j] for j in mine], [places[j] for j in mine])] = block
        hessian += to_entries.T @ bends @ to_entries
        towards = to_entries.T @ np.array([float(self._towards(j).mid()) for j in self.rows])
        moving = [k for k, name in enumerate(self.names) if name < 0 or self._carries(name)]
        line = np.zeros(len(self.names))
        line[moving] = -np.linalg.lstsq(hessian[np.ix_(moving, moving)], towards[moving], rcond=None)[0]
        for name, v in zip(self.names, (line - taken @ line).tolist()):
            self.direction[name] += arb(v)
            if self._is_coded(name):
                self.direction[self._in_last(name)] -= arb(v)

    def _less_means(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return columns less multiples of those of the constants, and which multiples: they are shorter that way."""
        taken = np.zeros((len(self.names), len(self.names)))
        constants = [k for k, name in enumerate(self.names) if name < 0 and -1 - name < self.last]
        if not self.intercept or len(constants) < self.last:
            return columns, taken
        others = [k for k in range(len(self.names)) if k not in constants]
        found = np.linalg.lstsq(columns[:, constants], columns[:, others], rcond=None)[0]
        taken[np.ix_(constants, others)] = found
        return columns - columns @ taken, taken

    def _turn(self) -> list[arb]:
        """Return how predictions move along the line."""
        index = [j for j in self.rows if not self.direction[j] == 0]
        turn = arb_mat(self.n, 1)
        for start in range(0, len(index), self.width):
            part = index[start : start + self.width]
            turn += self._image(part, [self.direction[j] for j in part])
        for name, v in self.direction.items():
            if name < 0 and not v == 0:
                turn += self.B[-1 - name] * v
        entries: list[arb] = turn.entries()
        return entries

    def _lean(self, turn: list[arb]) -> None:
        """Derive how theta moves along the line to first order, and with it z and the products with columns of B."""
        per, lean = self.last + 1, []
        for i in range(0, self.n, per):
            p = [t + int(y) for t, y in zip(self.slopes[i : i + per], self.data.y[i : i + per].tolist())]
            mean = sum((a * b for a, b in zip(p, turn[i : i + per])), arb(0))
            lean += [self.weights[i] * a * (b - mean) for a, b in zip(p, turn[i : i + per])]
        self.lean = arb_mat(self.n, 1, lean)
        self.change = self._adjoint(self.lean)
        self.drift: dict[int, arb] = {}
        for start in range(0, len(self.rows), self.width):  # of the columns as they are, like those of B
            part = self.rows[start : start + self.width]
            for j, column in zip(part, self._columns(part)):
                self.drift[j] = -(column.transpose() * self.lean)[0, 0]
        for name in self.names:
            if name < 0:
                self.slants[name] = (self._column(name).transpose() * self.lean)[0, 0]

    def _bound_line(self, turn: list[arb]) -> None:
        """LINE: bound how far slopes move along the line, and how far they are off a straight one."""
        per, p = self.last + 1, self.loss.shares(*bounds_of(self.slopes), self.data.y)[1].reshape(-1, self.last + 1)
        step = double_above(self.step)
        means, far, variance = np.zeros(p.shape), np.zeros(len(p)), np.zeros(len(p))
        for c in range(per):
            for d in range(c):
                pairs = zip(turn[c::per], turn[d::per])
                apart = np.array([double_above(abs(a - b)) for a, b in pairs])
                means[:, c] += p[:, d] * apart
                means[:, d] += p[:, c] * apart
                far = np.maximum(far, apart)
                variance += p[:, c] * p[:, d] * apart * apart
        with np.errstate(all="ignore"):
            shrunk = exp_below(far * step * UP)
            self.growth = growth = known(1 / np.where(shrunk > 0, shrunk, np.nan) * UP)
            means, variance = sums_above(means, per), sums_above(variance, per * per)
            self.swings = known(p * means * (step * growth * growth)[:, None] * UP + TINY)
            bent = np.maximum(means * means, variance[:, None]) * (step * step / 2 * growth**3)[:, None]
            self.off = known(p * bent * UP * UP + TINY)

    # -- delta ---------------------------------------------------------------------------------------------------------

    def _end(self, side: int) -> list[arb]:
        """PULL, LINE: return delta at one end of the line, for the columns of C; those of B have none at the point."""
        away, slope = side * self.step, self.slope + side * self.step
        ends = {j: self.z[j] + away * self.drift[j] if side else self.z[j] for j in self.rows}
        for g, mine in self.members.items():
            size = self.gauge.norm([ends[j] for j in mine])
            for j in mine:
                if g not in self.norms:
                    most = size if self.gauge.signed[j] else ends[j]
                    ends[j] = arb(0, positive_part(most - slope * self.gauge.prices[g]).upper())
                    continue
                ends[j] -= slope * self._towards(j) + (self.ridge[g] * self.x.get(j, arb(0)) if self.ridge else arb(0))
                if side:
                    ends[j] -= away * sum((self._turning(j, k) * self.direction[k] for k in mine), arb(0))
        for first in self.open:
            self._balance([self._in_class(first, c) for c in range(self.last + 1)], ends)
        return [self._of_column(name, ends, away) for name in self.names]

    def _of_column(self, name: int, ends: dict[int, arb], away: arb) -> arb:
        """Return delta of a column: less that of the last class. Two entries of a vector differ by sqrt(2) norms."""
        if name < 0:
            return -away * self.slants[name]
        blur = arb(0, self.swing[int(self.gauge.labels[name])].upper()) if self._carries(name) else arb(0)
        if not self._is_coded(name):
            return ends[name] + blur
        apart = ends[name] - ends[self._in_last(name)] if self._carries(name) else ends[name] * arb(2).sqrt()
        return apart + blur * arb(2).sqrt()

    def _balance(self, entries: list[int], ends: dict[int, arb]) -> None:
        """PULL: let v add up to 0 over all classes of a feature, by its entry in one class where x is zero."""
        prices = [self.gauge.prices[int(self.gauge.labels[j])] for j in entries]
        signs = [0 if j not in self.x else 1 if self.x[j] > 0 else -1 for j in entries]
        idle = [k for k, j in enumerate(entries) if not self._carries(j)]
        alike = all(p.mid() == prices[0].mid() and p.rad() == prices[0].rad() for p in prices)
        needed = -self.slope * sum((s * p for s, p in zip(signs, prices)), arb(0))
        if alike:  # a whole number of times one price
            needed = -self.slope * prices[0] * sum(signs)
        if not idle:
            fits = needed == 0 or (alike and sum(signs) == 0)
        else:
            one = min(idle, key=lambda k: abs(float(self.z[entries[k]])))
            rest = [entries[k] for k in idle if k != one]
            v = needed - sum((self.z[j] - ends[j] for j in rest), arb(0))
            fits = (alike and not rest and abs(sum(signs)) <= 1) or abs(v) <= self.slope * prices[one]
            ends[entries[one]] = self.z[entries[one]] - v
        if not fits:
            raise Refused("a feature is left in all classes, and no subgradient at the point adds up to 0 over them")
