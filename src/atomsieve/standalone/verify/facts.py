"""Facts about single coefficients where the gauge has no blocks of its own: FACTS, and the PATTERN that they prove."""

from typing import Any

import numpy as np
from flint import arb, arb_mat

from .balls import double_above, double_below, root
from .checker import Checker
from .doubles import DOWN, TINY, UP, known
from .gram import Columns
from .pulls import Pulls, Scores
from .verdict import Refused


class Facts(Checker):
    """Claims `zero`, `nonzero` and `undecided` are about coefficients, and so are `facts`."""

    def _zeros(self) -> None:
        """FACTS: read the pattern, and derive every fact."""
        self.told: dict[str, Any] = self.claims["facts"]
        self.spreads = self._spreads()
        before = self.z, self.scores, self.shrink
        if self.ridge:
            self._drag()
        try:
            self.floor = self._best(self._first_slope(), self._moves())
            self._read_pattern()
            self._check_facts()
        finally:
            self.z, self.scores, self.shrink = before

    def _drag(self) -> None:
        """FACTS with a RIDGE: `k z - R x` takes the place of z, and lengths grow by `2 R / c`, squared."""
        self.z.sharpen(range(self.d))
        ridges = [self.ridge[int(g)] for g in self.gauge.labels]
        pulled = [self.shrink * self.z[j] - r * self.x.get(j, arb(0)) for j, r in enumerate(ridges)]
        with np.errstate(all="ignore"):
            added = np.array([double_above(2 * r / self.factor) for r in ridges])
            self.lengths = known(np.sqrt(known(self.lengths * self.lengths * UP + added + TINY)) * UP)
        self.spreads = self._of_blocks(self.lengths)
        self.z, self.shrink = Pulls.of_balls(pulled), arb(1)
        self.scores = Scores(self.gauge, self.z, arb(1))

    def _told_zero(self) -> np.ndarray:
        zero = np.ones(self.d, dtype=bool)
        zero[[*self.claims["nonzero"], *self.claims["undecided"], *self.gauge.free]] = False
        return zero

    def _read_pattern(self) -> None:
        """PATTERN: take the clusters from the claims, and check that the point has the pattern."""
        zero = self._told_zero()
        self.sign: dict[int, int] = dict(zip(self.told["signs"]["index"], self.told["signs"]["value"]))
        self.members: dict[int, list[int]] = {}
        self.head: dict[int, int] = {}
        for j in self.x:
            self._claim(not zero[j], f"coefficient {j} is claimed zero and carries weight at the point")
        for cluster in self.told["clusters"]:
            if len(cluster) < 2 or zero[cluster].any() or set(cluster) & set(self.head):
                raise Refused("a cluster has fewer than two coefficients, one that is zero, or one of another cluster")
            if not set(cluster) <= set(self.sign):
                raise Refused("a cluster has a coefficient without a sign")
            self.members[cluster[0]] = cluster
            self.head.update(dict.fromkeys(cluster, cluster[0]))
            ends = [arb(self.x.get(j, arb(0)).mid()) * self.sign[j] for j in cluster]
            alike = all(bool(end == ends[0]) for end in ends)
            self._claim(alike, f"the point does not have the cluster of coefficient {cluster[0]}")

    def _check_facts(self) -> None:
        """FACTS: derive bounds of abs(z*) and every fact."""
        low, high = self._around()
        least, most = self.gauge.sizes(low, high)
        price, moves = self.gauge.prices[0], self._moves()
        slopes = arb((self.floor * price).lower()), arb((self._ceiling(moves) * price).upper())
        self.gauge.see(*self._shrunk(), None if self.intercept else self._swung())
        self.rules = self.gauge.rules(least, most, *slopes)
        down = high < 0 if self.gauge.orthant else np.zeros(self.d, dtype=bool)
        told = np.flatnonzero(self._told_zero() & ~down).tolist()
        left = [j for j in told if not self.rules.in_no_set(j)]
        out = self._out({int(self.gauge.labels[j]) for j in left}, moves)
        for j in left:
            self._claim(int(self.gauge.labels[j]) in out, f"coefficient {j} is not proven zero")
        self.checked += int(self._told_zero().sum()) - len(left)
        for j, sign in self.sign.items():
            self._claim(self._has_sign(j, sign, low, high), f"the sign of coefficient {j} is not proven")
        for cluster in self.told["clusters"]:
            together = self.rules.never_apart(cluster)
            self._claim(together, f"coefficients {cluster[0]} and others are not proven to have one absolute value")
        for j in self.told["saturated"]:
            proven = j in self.sign and self.rules.saturated(j)
            self._claim(proven, f"coefficient {j} is not proven to be as large as the gauge")
        self._check_order(least, most)
        self._check_tight(low, high)

    def _has_sign(self, j: int, sign: int, low: np.ndarray, high: np.ndarray) -> bool:
        """FACTS: return whether x_j never has the other sign, by the sign of z*, or by that of all atoms left."""
        if not self.gauge.signed[j]:
            return sign > 0
        if not self.gauge.signs_of_z:
            return self.rules.sign(j) == sign
        return bool(low[j] > 0 if sign > 0 else high[j] < 0)

    def _check_tight(self, low: np.ndarray, high: np.ndarray) -> None:
        """FACTS: what is certainly above all others in z* has the largest sum."""
        parts, behind = self.told.get("tight", []), np.ones(self.d, dtype=bool)
        if parts and not self.gauge.tops:
            raise Refused(f"no tight sums are known of coefficients of {self.gauge.kind}")
        least = np.inf
        for part in parts:
            if not part or not behind[part].all():
                raise Refused("a tight sum names a coefficient twice, or none that is new")
            behind[part] = False
            least = min(least, float(low[part].min()))
            above = behind.any() and least > high[behind].max()
            self._claim(bool(above), f"the sum of coefficient {part[0]} and those before it is not proven tight")

    def _out(self, blocks: set[int], moves: np.ndarray) -> set[int]:
        """Return those of some blocks that are zero as a whole."""
        with np.errstate(all="ignore"):
            below = (self.scores.high + moves) * UP + TINY < double_below(self.floor)
        close = self.scores.balls(g for g in blocks if not below[g])
        return {g for g in blocks if below[g] or close[g] + arb(float(moves[g])) < self.floor}

    def _ceiling(self, moves: np.ndarray) -> arb:
        """Return an upper bound of the slope of S phi at a solution that is not 0: the best score."""
        if self.phi_conjugate is None:
            return self._first_slope()
        with np.errstate(all="ignore"):
            return arb(float(np.max(known((self.scores.high + moves) * UP + TINY))))

    def _check_order(self, least: np.ndarray, most: np.ndarray) -> None:
        """FACTS: abs(x*) has the order of abs(z*)."""
        tiers = self.told["order"]
        if tiers and not self.gauge.ranked:
            raise Refused(f"no order is known of coefficients of {self.gauge.kind}")
        listed = [j for tier in tiers for j in tier]
        if len(set(listed)) < len(listed) or not all(tiers):
            raise Refused("the order names a coefficient twice, or has an empty tier")
        for k in range(1, len(tiers)):
            # tier by tier: what is before the one before is larger still
            above, below = least[tiers[k - 1]].min(), most[tiers[k]].max()
            self._claim(above > below, f"coefficient {tiers[k][0]} and those before it are not proven to be in order")

    def _around(self) -> tuple[np.ndarray, np.ndarray]:
        """Return bounds of z*: those of k z, plus or minus `sqrt(reach)` times the lengths of the columns."""
        (low, high), moved = self._shrunk(), self._swung()
        with np.errstate(all="ignore"):
            low, high = np.nextafter(low - moved - TINY, -np.inf), np.nextafter(high + moved + TINY, np.inf)
        return np.where(np.isnan(low), -np.inf, low), known(high)

    def _swung(self) -> np.ndarray:
        """Return how far z* can be from k z."""
        with np.errstate(all="ignore"):
            return known(double_above(root(self.reach)) * self.lengths * UP + TINY)

    def _shrunk(self) -> tuple[np.ndarray, np.ndarray]:
        """Return bounds of k z."""
        shrink = max(double_below(self.shrink), 0.0), double_above(self.shrink)
        with np.errstate(all="ignore"):
            ends = [self.z.low, self.z.high]
            low = np.where(ends[0] > 0, ends[0] * shrink[0] * DOWN, ends[0] * shrink[1] * UP) - TINY
            high = np.where(ends[1] > 0, ends[1] * shrink[1] * UP, ends[1] * shrink[0] * DOWN) + TINY
        return np.where(np.isnan(low), -np.inf, low), known(high)

    def _left(self) -> list[int]:
        left = ~self._told_zero()
        left[self.gauge.free] = False
        return [int(j) for j in np.flatnonzero(left)]

    def _names(self, rows: list[int]) -> list[int]:
        """PATTERN: of a cluster only its head, the first coefficient, has a column."""
        return [-1 - k for k in self.used] + [j for j in rows if self.head.get(j, j) == j]

    def _column(self, name: int) -> arb_mat:
        column = super()._column(name)
        for j in self.members.get(name, [])[1:]:
            column = column + super()._column(j) * arb(self.sign[j] * self.sign[name])
        return column

    def _held(self, name: int) -> arb:
        return super()._held(name) * len(self.members.get(name, [name]))

    def _chosen(self, names: list[int]) -> Columns:
        if not self.members:
            return super()._chosen(names)
        columns = [self._column(name) for name in names]
        return Columns.in_units(len(names), lambda: columns, lambda: Columns.of_balls(columns).doubles)

    def _distances(self, independent: list[int], involved: set[int], *, sharp: bool) -> dict[int, arb]:
        try:
            away = super()._distances(independent, involved, sharp=sharp)
        except Refused:  # what is not zero may follow from other coefficients
            return {}
        return away | {j: away[head] for j, head in self.head.items() if head in away}

    def _bounds(self, rows: list[int]) -> dict[int, tuple[float | None, float | None]]:
        """Return the bounds that do not follow from the signs."""
        found = {}
        for j, (below, above) in super()._bounds(rows).items():
            sign = self.sign.get(j, 0)
            low = None if below is not None and below <= 0 < sign else below
            high = None if above is not None and sign < 0 <= above else above
            if (low, high) != (None, None):
                found[j] = low, high
        return found

    def _not_zero(self, claimed: list[int], rows: list[int], away: dict[int, arb]) -> None:
        """NOT 0: by its range, or because every set holds it and its block is not 0."""
        left = set(rows)
        apart = {j for j in rows if j in away and abs(self.x.get(j, arb(0))) > away[j]}
        following = [j for j in claimed if j not in apart]
        carrying = {int(self.gauge.labels[j]) for j in apart}
        if not carrying and following and len(self.gauge.prices) == 1 and self._carries():
            carrying = {0}
        for j in following:
            proven = self.gauge.labels[j] in carrying and j in left and self.rules.in_every_set(j)
            self._claim(proven, f"coefficient {j} is not proven non-zero")
        self.checked += len(claimed) - len(following)

    def _carries(self) -> bool:
        """NOT 0: return whether the solution is not 0: then A x is further from the span of B than it can be."""
        index = list(self.x)
        if not index:
            return False
        columns = [*(self.B[k] for k in self.used), self._image(index, [self.x[j] for j in index])]
        chosen = Columns.in_units(len(columns), lambda: columns, lambda: Columns.of_balls(columns).doubles)
        try:
            inverse = self._inverse(chosen, self.least, [arb(0)] * len(columns), sharp=True)
        except Refused:
            return False
        last = len(columns) - 1
        return bool(root(inverse[last, last]) * chosen.units[last] * root(self.reach) < 1)
