"""Columns that are combinations of others, exactly or nearly, and sums that the data determine all the same."""

from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat

from .balls import bounds_of, length_of, root
from .doubles import UP, lengths_above
from .gram import Columns
from .verdict import Refused
from .zeros import Zeros

CLOSE = 2.0**-10
"""A column is nearly a combination of others if it is off by no more than this part of its length."""

BISECTIONS = 40
"""For the largest mass that a solution can have."""


class Combinations(Zeros):
    """DEPENDENCY."""

    independent: list[int]
    inverse: arb_mat

    def _left(self) -> list[int]:
        """Return the coefficients of the blocks that are not claimed zero."""
        told = np.zeros(len(self.gauge.prices), dtype=bool)
        told[[*self.claims["nonzero"], *self.claims["undecided"]]] = True
        left: list[int] = np.flatnonzero((told & self.gauge.priced)[self.gauge.labels]).tolist()
        return left

    def _names(self, rows: list[int]) -> list[int]:
        """Return the columns of C: those of B as -1, -2, ..., and those of A that are not proven zero."""
        return [-1 - k for k in self.used] + rows

    def _column(self, name: int) -> arb_mat:
        """Return a column of C."""
        return self.B[-1 - name] if name < 0 else self._columns([name])[0]

    def _chosen(self, names: list[int]) -> Columns:
        """Return columns of C in units of their own."""

        def balls() -> list[arb_mat]:
            return [self._column(name) for name in names]

        if self.gauge.matrix is not None:
            return Columns.in_units(len(names), balls, lambda: Columns.of_balls(balls()).doubles)
        exact = np.broadcast_to(0.0, (self.n, len(names)))
        return Columns.in_units(len(names), balls, lambda: (self._in_doubles(names), exact))

    def _in_doubles(self, names: list[int]) -> np.ndarray:
        """Return columns of C in doubles; they are exact, unless A is the product of several matrices."""
        dense = np.zeros((self.n, len(names)))
        stated = [k for k, name in enumerate(names) if -self.given <= name < 0]
        dense[:, stated] = self.stated[:, [-1 - names[k] for k in stated]]
        rows = [k for k, name in enumerate(names) if not -self.given <= name < 0]
        if rows:
            features = (names[k] if names[k] >= 0 else self.gauge.free[-1 - names[k] - self.given] for k in rows)
            dense[:, rows] = self.data.columns(list(features))
        return dense

    def _combinations(self, dependencies: list[dict[str, Any]], names: list[int]) -> None:
        """DEPENDENCY: bound what columns are off the combinations of others, and what that adds to distances.

        No coefficient of the optimum is larger than its mass over its price, and phi is at most the objective there.
        """
        there, left_out = set(names), {d["column"] for d in dependencies}
        self.beside = arb(0)
        mass = self._largest_mass() if dependencies else arb(0)
        for dependency in dependencies:
            column, others = dependency["column"], dependency["of"]
            if not {column, *others} <= there or left_out & set(others):
                raise Refused("a dependency names columns that are not there")
            rest = self._column(column)
            for other, factor in zip(others, dependency["times"]):
                rest = rest - self._column(other) * arb(factor)
            near = length_of(rest) <= CLOSE * length_of(self._column(column))
            self._claim(near, f"column {column} is not the sum of others that the certificate says it is, nor nearly")
            size = self._size(rest)
            most = abs(self.x.get(column, arb(0))) + self.gauge.within(mass, column)
            self.beside += arb((size * most).upper())

    def _size(self, rest: arb_mat) -> arb:
        """Return a bound of the length of a column in the metric of G."""
        low, high = bounds_of(rest.entries())
        with np.errstate(all="ignore"):
            roots = np.sqrt(self.data.weights * self.least) * UP
            return arb(float(lengths_above((np.maximum(-low, high) * roots * UP)[:, None])[0]))

    def _largest_mass(self) -> arb:
        """Return a bound of the mass of the optimum: phi is at most the objective there, and inf beyond a radius."""
        most, limit = arb(self.objective.upper()), self.penalty.get("radius", arb(2) ** 2000)
        low, high = arb(0), arb(2) ** -1000
        while high < limit and not self.total * self.phi(self.penalty, high) > most:
            low, high = high, 2 * high
        if not high < limit:
            if "radius" not in self.penalty:
                raise Refused("the mass of the optimum cannot be bounded")
            high = limit
        for _ in range(BISECTIONS):
            middle = arb(((low + high) / 2).mid())
            low, high = (low, middle) if self.total * self.phi(self.penalty, middle) > most else (middle, high)
        return high

    def _totals(self, dependencies: list[dict[str, Any]]) -> None:
        """DEPENDENCY: check the intervals of sums that the data determine.

        Column k is left out for a combination of others with the factors t_l. So `sum_j v_j x_j` is determined if
        `v_k = sum_l t_l v_l` for all of them, and then it is the same sum without k, over what takes their place.
        """
        left_out = {d["column"] for d in dependencies}
        for total in self.claims["sums"]:
            v = dict(zip(total["index"], total["times"]))
            if len(v) < len(total["index"]) or not set(v) <= {*self.independent, *left_out}:
                raise Refused("a sum names a coefficient twice, or one that is not there")
            for d in dependencies:
                shares = (Fraction(t) * Fraction(v.get(other, 0)) for other, t in zip(d["of"], d["times"]))
                self._claim(Fraction(v.get(d["column"], 0)) == sum(shares), "a sum is not determined by the data")
            used = [(k, name) for k, name in enumerate(self.independent) if name in v]
            squares = (arb(v[a]) * arb(v[b]) * self.inverse[i, j] for i, a in used for j, b in used)
            away = root(sum(squares, arb(0))) * (root(self.reach) + self.beside)
            away += sum((abs(arb(v[name])) * self._moved(-1 - name) for _, name in used if name < 0), arb(0))
            parts = (arb(t) * (self.x.get(j, arb(0)) if j >= 0 else self.b[-1 - j]) for j, t in v.items())
            value = sum(parts, arb(0))
            fits = self._fits((value - away, value + away), total["lower"], total["upper"])
            self._claim(fits, "the interval of a sum is too narrow")

    @staticmethod
    def _fits(ends: tuple[arb, arb] | None, low: float | None, high: float | None) -> bool:
        """Return whether a range lies in an interval."""
        if ends is None:
            return False
        return bool((low is None or ends[0] >= arb(low)) and (high is None or ends[1] <= arb(high)))
