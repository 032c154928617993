"""Several classes."""

from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat

from .balls import root
from .checker import Checker
from .class_losses import class_loss, class_slopes
from .data import Data
from .doubles import UNIT, UP, gamma, lengths_above
from .gauges import Gauge
from .verdict import Refused


class Classes(Checker):
    """The same for Multinomial: the K rows of a sample share one loss. `last` is the number of the last class."""

    pairwise = False

    def __init__(self, content: dict[str, Any], data: Data, gauge: Gauge) -> None:
        super().__init__(content, data, gauge)
        self.last = data.tasks - 1
        self.centred: set[int] = set()  # features in all classes with the sum 0, by their first coefficient
        self.open: set[int] = set()  # features in all classes with any sum

    def _samples(self, u: list[arb]) -> list[tuple[list[arb], int]]:
        """Return the predictions of every sample, and its label."""
        per = self.last + 1
        return [(u[i * per : (i + 1) * per], label) for i, label in enumerate(self.data.labels or [])]

    def _slopes_at(self, u: list[arb]) -> list[arb]:
        return [t for part, label in self._samples(u) for t in class_slopes(part, label)]

    def _losses_at(self, u: list[arb]) -> arb:
        samples = zip(self.weights[:: self.last + 1], self._samples(u), self._samples(self.slopes))
        return sum((w * class_loss(part, label, slopes) for w, (part, label), (slopes, _) in samples), arb(0))

    def _least_around(self, ends: tuple[np.ndarray, np.ndarray], moved: np.ndarray) -> np.ndarray:
        per = self.last + 1
        return super()._least_around(ends, np.repeat(moved.reshape(-1, per).max(axis=1), per))

    def _spreads(self) -> np.ndarray:
        alone = super()._spreads()
        if self.gauge.coordinates or not self.gauge.euclidean:
            return alone
        per = self.last + 1
        rows = self.metric.reshape(-1, per)
        half = self.data.total / 2
        both = np.minimum(2 * rows.max(axis=1), rows.sum(axis=1) * (1 + per * UNIT * 2))
        first = self._lengths_in(np.minimum(both, half)[:, None])
        return self._of_blocks(np.where(np.arange(self.d) % per == 0, np.repeat(first[:, 0], per), 0.0))

    # -- columns that are differences to the last class ----------------------------------------------------------------

    def _spot(self, name: int) -> tuple[int, int]:
        """Return the number of the first class of the same feature, or free column, and the class."""
        k = name if name >= 0 else -1 - name
        c = k % (self.last + 1)
        return (name - c if name >= 0 else name + c), c

    def _in_class(self, first: int, c: int) -> int:
        """Return the number of a coefficient from that of the first class."""
        return first + c if first >= 0 else first - c

    def _in_last(self, name: int) -> int:
        return self._in_class(self._spot(name)[0], self.last)

    def _is_coded(self, name: int) -> bool:
        """Return whether a column is less that of the last class."""
        return name < 0 or self._spot(name)[0] in self.centred

    def _column(self, name: int) -> arb_mat:
        column = super()._column(name)
        return column - super()._column(self._in_last(name)) if self._is_coded(name) else column

    def _free_columns(self) -> list[arb_mat]:
        per = self.last + 1
        if set(self.used) != {k // per * per + c for k in self.used for c in range(per)}:
            raise Refused("a free column is left out in some classes, and not in others")
        columns = dict(zip(self.used, super()._free_columns()))
        return [column - columns[k // per * per + self.last] for k, column in columns.items() if k % per < self.last]

    def _move(self, steps: list[arb]) -> None:
        per = self.last + 1
        for k, step in zip([k for k in self.used if k % per < self.last], steps):
            last = k // per * per + self.last
            self.b[k] += step * self.unit[k]
            self.b[last] -= step * self.unit[last]
            self.b[self._home(k)] -= step * self.unit[k] * self.centre[k]
            self.b[self._home(last)] += step * self.unit[last] * self.centre[last]

    def _moved(self, k: int) -> arb:
        alone = super()._moved(k)
        return alone * arb(self.last).sqrt() if k % (self.last + 1) == self.last else alone

    def _in_doubles(self, names: list[int]) -> np.ndarray:
        dense = super()._in_doubles(names)
        coded = [k for k, name in enumerate(names) if self._is_coded(name)]
        if coded:
            dense[:, coded] -= super()._in_doubles([self._in_last(names[k]) for k in coded])
        return dense

    def _seen(self, middles: np.ndarray, errors: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return columns less their means over the classes of a sample, weighted.

        The mean and the difference are off by at most `gamma` times the largest entry of the sample; and errors of the
        columns have no larger lengths afterwards.
        """
        lengths, per = super()._seen(middles, errors, weights)[1], self.last + 1
        w, cube = weights.reshape(-1, per, 1), middles.reshape(-1, per, middles.shape[1])
        total = w.sum(axis=1)
        with np.errstate(all="ignore"):
            means = np.where(total > 0, (w * cube).sum(axis=1) / total, 0.0)
            off = np.abs(cube).max(axis=1) * gamma(2 * per + 16) * np.sqrt(total) * UP
            rest = (cube - means[:, None, :]).reshape(middles.shape)
        return rest, lengths + lengths_above(off * UP)

    def _seen_in_balls(self, columns: list[arb_mat], weights: np.ndarray) -> list[arb_mat]:
        """Return columns less their means over the classes of a sample, weighted."""
        per = self.last + 1
        parts: list[arb] = []
        for row in weights.reshape(-1, per).tolist():
            total = sum((arb(w) for w in row), arb(0))
            parts += [arb(w) / total if total > 0 else arb(0) for w in row]

        def without_mean(column: arb_mat) -> arb_mat:
            entries = column.entries()
            means = [
                sum((q * v for q, v in zip(parts[i : i + per], entries[i : i + per])), arb(0))
                for i in range(0, self.n, per)
            ]
            return arb_mat([[v - means[i // per]] for i, v in enumerate(entries)])

        return [without_mean(column) for column in columns]

    def _names(self, rows: list[int]) -> list[int]:
        """Return the columns of C; features that are in all classes lack the last one, unless there is a ridge."""
        there = set(rows)
        every = {first for first in rows if not first % (self.last + 1)}
        every = {j for j in every if there.issuperset(range(j, j + self.last + 1))}
        sloped = bool(self.ridge) or bool(self.floor > 0)
        euclidean = not self.gauge.coordinates and self.gauge.euclidean
        self.centred = every if sloped and euclidean else set()
        self.open = set() if self.ridge else every - self.centred
        short = self.centred | self.open
        names = super()._names(rows)
        return [v for v in names if self._spot(v)[1] < self.last or (v >= 0 and self._spot(v)[0] not in short)]

    def _radii(self, independent: list[int], inverse: arb_mat, involved: set[int]) -> dict[int, arb]:
        """RANGE: also for the last class of features whose columns are less that of the last class."""
        unknown = self.open | {self._spot(name)[0] for name in involved if self._is_coded(name)}
        found = super()._radii(independent, inverse, involved)
        found = {name: v for name, v in found.items() if self._spot(name)[0] not in unknown}
        for first in {self._spot(name)[0] for name in found if self._is_coded(name)}:
            places = [k for k, name in enumerate(independent) if self._spot(name)[0] == first]
            whole = sum((inverse[a, b] for a in places for b in places), arb(0))
            found[self._in_class(first, self.last)] = root(whole * self.reach)
            for c in range(self.last + 1):
                found[self._in_class(first, c)] += self._mean(first)
        return found

    def _combinations(self, dependencies: list[dict[str, Any]], names: list[int]) -> None:
        """DEPENDENCY: columns that are left out must be sums of others, exactly."""
        if self.claims["sums"]:
            raise Refused("sums of coefficients are not claimed for several classes")
        self.beside = arb(0)
        self._sums(dependencies, names, self._exact_as_seen)

    def _mean(self, first: int) -> arb:
        """Return the mean over the classes at the point, without its sign."""
        names = [self._in_class(first, c) for c in range(self.last + 1)]
        values = [self.x.get(name, arb(0)) if name >= 0 else self.b[-1 - name] for name in names]
        return arb(abs(sum(values, arb(0)) / len(names)).upper())

    def _exact_as_seen(self, name: int) -> list[Fraction]:
        """Return what losses see of a column of C: the differences to its last class."""
        per = self.last + 1
        column = self._exact(name)
        if self._is_coded(name):
            column = [a - b for a, b in zip(column, self._exact(self._in_last(name)))]
        return [v - column[i // per * per + self.last] for i, v in enumerate(column) if i % per < self.last]
