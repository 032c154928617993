"""z = -A' theta: bounds in doubles for all coefficients, and balls for those that a claim is close to."""

from collections.abc import Callable, Iterable

import numpy as np
from flint import arb

from .balls import double_above, double_below
from .doubles import DOWN, TINY, UP, known
from .gauges import Gauge


class Pulls:
    """Numbers with bounds `low` and `high` in doubles; `pulls[j]` is a ball, which is computed when it is asked for."""

    def __init__(self, low: np.ndarray, high: np.ndarray, balls: Callable[[list[int]], list[arb]]) -> None:
        self.low = np.where(np.isnan(low), -np.inf, low)
        self.high = np.where(np.isnan(high), np.inf, high)
        self._balls = balls
        self._found: dict[int, arb] = {}

    @classmethod
    def of_balls(cls, values: list[arb]) -> "Pulls":
        """Return numbers that are known as balls."""
        low, high = ([end(v) for v in values] for end in (double_below, double_above))
        return cls(np.array(low), np.array(high), lambda index: [values[j] for j in index])

    def sharpen(self, index: Iterable[int]) -> None:
        """Find the balls of some numbers, all at once."""
        new = [j for j in index if j not in self._found]
        for j, ball in zip(new, self._balls(new) if new else []):
            self._found[j] = ball
            self.low[j], self.high[j] = double_below(ball), double_above(ball)

    def __getitem__(self, j: int) -> arb:
        if j not in self._found:
            self.sharpen([j])
        return self._found[j]


class Scores:
    """The scores of all blocks at theta times a number: bounds in doubles, and balls for those that are asked for.

    Blocks without a price have no score, and bounds of -inf.
    """

    def __init__(self, gauge: Gauge, z: Pulls, shrink: arb) -> None:
        self.gauge, self.z, self.shrink = gauge, z, shrink
        low, high = gauge.scores(z.low, z.high)
        least, most = max(double_below(shrink), 0.0), double_above(shrink)
        with np.errstate(all="ignore"):
            scaled = low * least * DOWN
            low = np.where(scaled > TINY, scaled, np.where(low >= 0, 0.0, -np.inf))
            high = known(high * most * UP + TINY)
        self.low = np.where(gauge.priced, low, -np.inf)
        self.high = np.where(gauge.priced, high, -np.inf)

    def __getitem__(self, g: int) -> arb:
        score: arb = self.gauge.score(g, self.z) * self.shrink
        return score

    def times(self, shrink: arb) -> "Scores":
        """Return the scores where theta is multiplied by a number."""
        return Scores(self.gauge, self.z, self.shrink * shrink)

    def balls(self, blocks: Iterable[int]) -> dict[int, arb]:
        """Return some scores as balls."""
        chosen = [int(g) for g in blocks]
        self.z.sharpen(j for g in chosen for j in self.gauge.entries(g))
        return {g: self[g] for g in chosen}

    def highest(self) -> dict[int, arb]:
        """Return all scores that may be the highest, for their upper ends."""
        chosen = np.flatnonzero(self.high >= max(float(self.low.max()), 0.0)).tolist()
        self.z.sharpen(j for g in chosen for j in self.gauge.entries(g))
        return {g: self.gauge.score_above(g, self.z) * self.shrink for g in chosen}
