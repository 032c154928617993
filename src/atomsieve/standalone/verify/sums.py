"""Columns that are exact sums of others."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from .products import Products
from .verdict import Refused


class Sums(Products):
    """DEPENDENCY, in fractions."""

    def _sums(
        self, dependencies: list[dict[str, Any]], names: list[int], exact: Callable[[int], list[Fraction]]
    ) -> None:
        """DEPENDENCY: check that columns are sums of others, exactly."""
        there, sums = set(names), {d["column"] for d in dependencies}
        for dependency in dependencies:
            column = dependency["column"]
            others = dependency["of"]
            times = dependency["times"]
            if not {column, *others} <= there or sums & set(others):
                raise Refused("a dependency names columns that are not there")
            rest = exact(column)
            for other, factor in zip(others, times):
                rest = [a - Fraction(factor) * c for a, c in zip(rest, exact(other))]
            self._claim(not any(rest), f"column {column} is not the sum of others that the certificate says it is")

    def _exact(self, name: int) -> list[Fraction]:
        """Return a column of A or B as fractions."""
        place = -1 - name
        if 0 <= place < self.given:
            return [Fraction(float(v.mid())) for v in self.B[place].entries()]
        inner, *outer = self._factors()
        index = name if name >= 0 else self.gauge.free[place - self.given]
        column = [Fraction(v) for v in inner.columns([index])[:, 0].tolist()]
        for factor in outer:
            used = [i for i, v in enumerate(column) if v]
            rows = factor.columns(np.array(used, dtype=int)).tolist()
            column = [sum((Fraction(v) * column[i] for v, i in zip(row, used) if v), Fraction(0)) for row in rows]
        return column
