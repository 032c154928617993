"""Intervals of coefficients, and coefficients that are not zero."""

from flint import arb, arb_mat

from .balls import positive_part, root, square
from .combinations import Combinations
from .verdict import Refused


class Ranges(Combinations):
    """RANGE and NOT 0."""

    alone = True
    """Whether the gap and a ridge bound coefficients without any matrix."""

    def _ranges(self) -> None:
        """RANGE, DEPENDENCY, NOT 0: with an inverse in doubles, and in balls if the claims do not follow from that."""
        before = self.checked
        try:
            self._ranges_from(sharp=False)
        except Refused:
            self.checked = before
            self._ranges_from(sharp=True)

    def _ranges_from(self, *, sharp: bool) -> None:
        rows = self._left()
        names = self._names(rows)
        dependencies = self.claims["dependencies"]
        self._combinations([d for d in dependencies if d["column"] >= 0], names)
        sums = {d["column"] for d in dependencies}
        involved = sums.union(*(d["of"] for d in dependencies))
        bounds = self._bounds(rows)
        free = list(zip(self.claims["free"]["lower"], self.claims["free"]["upper"]))
        told_of_free = [k for k, ends in enumerate(free) if ends != (None, None)]
        away: dict[int, arb] = {}
        self.independent = []  # until `_distances` has found them
        self.inverse = arb_mat(0, 0)
        not_zero = [g for g in self.claims["nonzero"] if not self._is_surely_not_zero(g)]
        if bounds or told_of_free or not_zero or self.claims["sums"]:
            away = self._distances([name for name in names if name not in sums], involved, sharp=sharp)
        for j in rows if self.ridge and self.alone else ():
            alone = root(2 * self.reach / (self.factor * self.ridge[int(self.gauge.labels[j])]))
            away[j] = alone if j not in away or alone < away[j] else away[j]
        for j, ends in bounds.items():
            fits = self._fits(self._range(j, away.get(j)), *ends)
            self._claim(fits, f"the interval of coefficient {j} is too narrow")
        for k in told_of_free:
            distance = None if -1 - k not in away else away[-1 - k] + self._moved(k)
            value = self.b[k]
            fits = self._fits(None if distance is None else (value - distance, value + distance), *free[k])
            self._claim(fits, f"the interval of free coefficient {k} is too narrow")
        self.checked += len(self.claims["nonzero"]) - len(not_zero)
        self._not_zero(not_zero, rows, away)
        self._totals(dependencies)

    def _bounds(self, rows: list[int]) -> dict[int, tuple[float | None, float | None]]:
        """Return the bounds that are claims, for the coefficients that are not proven zero."""
        ends = self._ends()
        self._claim(set(rows) <= set(ends), "a coefficient that is not proven zero has no interval")
        self._claim(not set(ends) & set(self.gauge.free), "unpenalised coefficients have their intervals elsewhere")
        others = [ends[j] for j in set(ends) - set(rows)]
        zeros = all((low is None or low <= 0) and (high is None or high >= 0) for low, high in others)
        self._claim(zeros, "the interval of a coefficient that is proven zero does not contain 0")
        claimed = {j: self._claimed(j, *ends[j]) for j in rows}
        return {j: sides for j, sides in claimed.items() if sides != (None, None)}

    def _ends(self) -> dict[int, tuple[float | None, float | None]]:
        """Return the intervals of the file."""
        index, *sides = (self.claims["intervals"][name] for name in ("index", "lower", "upper"))
        return dict(zip(index, zip(*sides)))

    def _claimed(self, j: int, low: float | None, high: float | None) -> tuple[float | None, float | None]:
        """Return the ends of an interval that are claims."""
        if low is not None and low <= 0 and not self.gauge.signed[j]:
            low = None  # if a coefficient must not be negative, a lower bound of 0 is no claim
        return low, high

    def _distances(self, independent: list[int], involved: set[int], *, sharp: bool) -> dict[int, arb]:
        """Return how far coefficients can be from the optimum, for the columns that are in no dependency."""
        try:
            inverse = self._inverted(independent, sharp=sharp) if independent else arb_mat(0, 0)
        except Refused:
            if self.ridge:  # other bounds may do
                return {}
            raise
        self.independent, self.inverse = independent, inverse
        return self._radii(independent, inverse, involved)

    def _inverted(self, independent: list[int], *, sharp: bool = False) -> arb_mat:
        """Return the inverse of G for some columns of C."""
        columns = self._chosen(independent)
        units = columns.units  # badly scaled columns would cost the inverse all its digits
        ridge = [arb(0)] * len(columns)
        if self.ridge:
            ridge = [arb(0) if name < 0 else self._held(name) * square(unit) for name, unit in zip(independent, units)]
        inverse = self._inverse(columns, self.least, ridge, sharp=sharp)
        if all(unit == 1 for unit in units):
            return inverse
        return arb_mat([[inverse[a, b] * u * v for b, v in enumerate(units)] for a, u in enumerate(units)])

    def _held(self, name: int) -> arb:
        """Return what the ridge adds to G for a column of A."""
        held: arb = self.factor * self.ridge[int(self.gauge.labels[name])] / 2
        return held

    def _radii(self, independent: list[int], inverse: arb_mat, involved: set[int]) -> dict[int, arb]:
        """RANGE: return the distances for columns that are in no dependency."""
        known = [(k, name) for k, name in enumerate(independent) if name not in involved]
        return {name: root(inverse[k, k]) * (root(self.reach) + self.beside) for k, name in known}

    def _not_zero(self, claimed: list[int], rows: list[int], away: dict[int, arb]) -> None:
        """NOT 0."""
        entries: dict[int, list[int]] = {}
        for j in rows:
            entries.setdefault(int(self.gauge.labels[j]), []).append(j)
        for g in claimed:
            block = entries.get(g, [])
            known = [j for j in block if j in away]
            size = sum((square(self.x.get(j, arb(0))) for j in known), arb(0))
            blur = sum((square(away[j]) for j in known), arb(0))
            pulled = bool(self.ridge and block) and self._pulled(g)
            self._claim(pulled or bool(known and size > blur), f"coefficient or block {g} is not proven non-zero")

    def _is_surely_not_zero(self, g: int) -> bool:  # noqa: ARG002
        """Return whether a block is not zero for a reason other than its range."""
        return False

    def _pulled(self, g: int) -> bool:
        """NOT 0 with a RIDGE."""
        return self.gauge.euclidean and bool(self._dual_norm(g)[0] > self.steepness[1] * self.gauge.prices[g])

    def _range(self, j: int, away: arb | None) -> tuple[arb, arb] | None:
        """RANGE: return bounds of a coefficient."""
        x = self.x.get(j, arb(0))
        if not self.ridge or away is None or not self.gauge.euclidean:
            return None if away is None else (x - away, x + away)
        g = int(self.gauge.labels[j])
        least, most = self._dual_norm(g)
        moved = arb(root(self.reach).upper()) * arb(float(self.lengths[j]))
        ends = [self.shrink * self.z[j] - moved, self.shrink * self.z[j] + moved]
        low, high = self.steepness
        price = self.gauge.prices[g]
        smaller = arb(positive_part(1 - high * price / least).lower()) if least > 0 else arb(0)
        larger = arb(positive_part(1 - low * price / most).upper()) if most > 0 else arb(0)
        below = (larger if not ends[0] >= 0 else smaller) * ends[0] / self.ridge[g]
        above = (larger if not ends[1] <= 0 else smaller) * ends[1] / self.ridge[g]
        return arb((x - away).lower()).max(arb(below.lower())), arb((x + away).upper()).min(arb(above.upper()))

    def _dual_norm(self, g: int) -> tuple[arb, arb]:
        """Return bounds of what a block pulls at the optimum: the norm of z*_g, or z*_g itself if x_g >= 0."""
        moved = arb(root(self.reach).upper()) * arb(float(self.spreads[g]))
        price = self.gauge.prices[g]
        return arb(((self.scores[g] - moved) * price).lower()), arb(((self.scores[g] + moved) * price).upper())
