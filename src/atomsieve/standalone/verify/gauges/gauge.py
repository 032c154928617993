"""What all gauges share: blocks of coefficients with their prices."""

import math
from typing import Any

import numpy as np
from flint import arb

from ..balls import double_above, double_below, root
from ..data import Data
from ..doubles import DOWN, TINY, UP, gamma, known, sums_above
from ..verdict import Refused, Unknown
from .matrix import Matrix
from .rules import Rules


class Gauge:
    """Blocks of coefficients with their prices, and the innermost matrix of Image or Atoms gauges, if there is one.

    A kind of gauge is a class of its own, with the l2 norm of blocks where it says nothing else. `labels` holds the
    block of every coefficient, `signed` whether it may be negative, `prices` the prices as balls, `priced` which blocks
    have a price, `free` the blocks of price 0 and `barred` those whose price is inf. `upward` holds the blocks beside
    groups whose only coefficient must not be negative.
    """

    coordinates = False
    """Whether every coefficient is a block."""
    euclidean = True
    """Whether the norm of a block is its l2 norm."""
    has_facts = False
    """Whether facts about single coefficients are derived, for lack of blocks."""
    listed = False
    """Whether the point names the atoms that it is made of, for their number is too large to know its gauge."""
    ranked = True
    """Whether x has the order of what scores are made of, so that an order may be claimed."""
    signs_of_z = True
    """Whether x has the signs of z, so that they follow from those of z*."""
    tops = False
    """Whether the coefficients with the largest z add up to the most that the gauge allows."""
    orthant = False
    """Whether no coefficient may be negative, in a gauge that does not depend on signs otherwise."""
    free_allowed = False
    """Whether weights may be 0."""

    def __init__(self, piece: dict[str, Any], scale: arb, matrix: Matrix | None, data: Data, form: list[int]) -> None:
        self.matrix, self.form = matrix, form
        self.kind: str = piece["type"]
        entries = data.shape[1] if matrix is None else matrix.width * data.tasks
        per = math.prod(form[1:])
        if not form or math.prod(form) != entries or per < data.tasks or per % data.tasks:
            raise Refused(f"x of shape {form} does not fit {entries} coefficients")
        if (data.tasks > 1 or matrix is not None) and form[1:] != [data.tasks] * (data.tasks > 1):
            raise Refused(f"x of shape {form} does not fit features and {data.tasks} outputs")
        self.signed = self._signs(piece, form[0], per)
        self.labels = self._labels(piece, form[0], per)
        weights = self._weights(piece.get("weights"), int(self.labels.max()) + 1, form[0], per)
        self.free: list[int] = np.flatnonzero(weights == 0).tolist()
        self.barred: set[int] = set(np.flatnonzero(weights == np.inf).tolist())
        self.priced = (weights > 0) & (weights < np.inf)
        self.prices = Prices(np.where(self.priced, weights, 0.0), scale)
        self.upward = self._upward(piece)
        self._order = np.argsort(self.labels, kind="stable")
        self._starts = np.searchsorted(self.labels[self._order], np.arange(len(weights) + 1))

    def _signs(self, piece: dict[str, Any], rows: int, per: int) -> np.ndarray:  # noqa: ARG002
        """Return which coefficients may be negative."""
        return np.ones(rows * per, dtype=bool)

    @staticmethod
    def _stated_signs(positive: list[bool] | None, rows: int, per: int) -> np.ndarray:
        """Return which coefficients may be negative; `positive` for a row of x holds for all of its entries."""
        if positive is None:
            return np.ones(rows * per, dtype=bool)
        if len(positive) != rows:
            raise Refused(f"positive has {len(positive)} truth values for {rows} coefficients")
        return np.repeat(~np.array(positive, dtype=bool), per)

    def _upward(self, piece: dict[str, Any]) -> set[int]:  # noqa: ARG002
        """Return the blocks beside groups whose only coefficient must not be negative."""
        return set()

    def _labels(self, piece: dict[str, Any], rows: int, per: int) -> np.ndarray:  # noqa: ARG002
        """Return the block of every coefficient: one block."""
        return np.zeros(rows * per, dtype=int)

    def _weights(self, stated: list[Any] | None, blocks: int, rows: int, per: int) -> np.ndarray:
        """Return the price of every block before scaling."""
        if stated and isinstance(stated[0], list):
            if any(len(row) != per for row in stated) or len(stated) != rows:
                raise Refused("the weights do not have the shape of x")
            stated = [w for row in stated for w in row]
        elif stated is not None and self.coordinates and len(stated) == rows:
            stated = [w for w in stated for _ in range(per)]
        weights = (
            np.ones(blocks) if stated is None else np.array([math.inf if w == "inf" else w for w in stated], float)
        )
        if len(weights) != blocks:
            raise Refused(f"there are {len(weights)} weights for {blocks} blocks: every block needs one")
        if not self.free_allowed and (weights == 0).any():
            raise Refused(f"{self.kind} has no weights of 0")
        if self.coordinates and ((weights == 0) & ~self.signed).any():
            raise Refused("a coefficient that must not be negative needs a price")
        return weights

    def entries(self, block: int) -> list[int]:
        """Return the coefficients of a block."""
        found: list[int] = self._order[self._starts[block] : self._starts[block + 1]].tolist()
        return found

    def see(self, low: np.ndarray, high: np.ndarray, moved: np.ndarray | None) -> None:
        """Take note of bounds of z at the dual point, and of how far z* can be from it; without an intercept."""

    def rules(self, least: np.ndarray, most: np.ndarray, slope: arb, steepest: arb) -> Rules:  # noqa: ARG002
        """Return what follows for single coefficients from bounds of abs(z*) and of the slope."""
        raise Unknown(f"no facts about single coefficients of {self.kind} are known to this checker")

    def within(self, mass: arb, j: int) -> arb:
        """Return a bound of the absolute value of coefficient j, given that of the mass."""
        bound: arb = mass / self.prices[int(self.labels[j])]
        return bound

    def counts(self, block: int) -> bool:
        """Return whether a block has a price."""
        return bool(self.priced[block])

    def norm(self, values: list[arb], block: int = 0) -> arb:  # noqa: ARG002
        """Return what the price of a block is multiplied by."""
        return root(sum((v * v for v in values), arb(0)))

    def norm_of(self, part: dict[int, arb], block: int) -> arb:
        """Return the same for the coefficients of a block that are not 0, by their places."""
        return self.norm(list(part.values()), block)

    def at_most(self, z: list[arb], limit: arb, rank: int) -> bool:  # noqa: ARG002
        """Return whether at most so many values of a matrix z reach a limit, for gauges of matrices."""
        raise Unknown(f"{self.kind} has no rank")

    def away(self, z: list[arb], bases: Any, value: arb, moved: arb) -> arb:  # noqa: ARG002
        """Return the sine by which singular vectors near those of z are off two subspaces, for gauges of matrices."""
        raise Unknown(f"{self.kind} has no subspaces")

    def dual_norm(self, values: list[arb]) -> arb:
        """Return the largest inner product with a block of norm 1."""
        return self.norm(values)

    def score(self, block: int, z: Any) -> arb:
        """Return the score of a block."""
        return self.dual_norm(self.pulls(block, z)) / self.prices[block]

    def score_above(self, block: int, z: Any) -> arb:
        """Return a ball whose upper end bounds the score of a block; that of its own ball, if it is not a wide one."""
        return self.score(block, z)

    def in_orthant(self) -> "Gauge":
        """Return the gauge without negative coefficients: scores are those of z with 0 in place of what is negative."""
        if self.coordinates or not self.signed.all():
            raise Refused(f"{self.kind} has signs of its own, and no Orthant around it")
        self.signed, self.orthant, self.euclidean = np.zeros(len(self.signed), dtype=bool), True, False
        return self

    def pulls(self, block: int, z: Any) -> list[arb]:
        """Return the absolute values of z over a block; 0 for what is negative where x must not be."""
        return [z[j].max(arb(0)) if self.orthant else abs(z[j]) for j in self.entries(block)]

    def sizes(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return bounds of what scores are made of, given bounds of z: absolute values, or what is positive in z."""
        if self.orthant:
            return np.maximum(low, 0.0), known(np.maximum(high, 0.0))
        return np.maximum(np.maximum(low, -high), 0.0), known(np.maximum(np.abs(low), np.abs(high)))

    def scores(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return bounds of the scores of all blocks, given bounds of z."""
        least, size = self.sizes(low, high)
        with np.errstate(all="ignore"):
            return self.dual_norms_below(least) / self.prices.high * DOWN, self.over_prices(self.dual_norms_above(size))

    def over_prices(self, norms: np.ndarray) -> np.ndarray:
        """Return upper bounds of numbers that are not negative, divided by the prices."""
        with np.errstate(all="ignore"):
            return known(norms / self.prices.low * UP + TINY)

    def dual_norms_above(self, sizes: np.ndarray) -> np.ndarray:
        """Return upper bounds of the dual norms of all blocks, given upper bounds of absolute values."""
        largest = float(sizes.max(initial=0.0))
        if not 0 < largest < np.inf:
            return np.full(len(self.priced), largest if largest == 0 else np.inf)
        scaled = sizes / largest * UP
        sums = sums_above(np.bincount(self.labels, scaled * scaled, len(self.priced)), len(sizes))
        return known(np.sqrt(sums) * largest * UP + TINY)

    def spreads_above(self, lengths: np.ndarray) -> np.ndarray:
        """Return upper bounds of `sum_j abs(p_j) lengths_j` over the atoms of each block of price 1."""
        return self.dual_norms_above(lengths)

    def dual_norms_below(self, sizes: np.ndarray) -> np.ndarray:
        """Return lower bounds of the dual norms of all blocks, given lower bounds of absolute values."""
        largest = float(sizes.max(initial=0.0))
        if not TINY < largest < np.inf:
            return np.zeros(len(self.priced))
        scaled = sizes / largest * DOWN
        scaled = np.where(scaled > 2.0**-400, scaled, 0.0)  # so that no square is too small for a double
        sums = np.bincount(self.labels, scaled * scaled, len(self.priced)) * max(1 - 2 * gamma(len(sizes) + 8), 0.0)
        return np.asarray(np.sqrt(sums) * largest * DOWN)


class Prices:
    """The prices of all blocks: balls, which are made when they are asked for, and bounds in doubles."""

    def __init__(self, weights: np.ndarray, scale: arb) -> None:
        self._weights, self._scale = weights, scale
        below, above = double_below(scale), double_above(scale)
        with np.errstate(all="ignore"):
            low = weights / above * DOWN
            self.low, self.high = np.where(low > TINY, low, 0.0), known(weights / below * UP + TINY)
        if scale == 1:
            self.low = self.high = weights

    def __len__(self) -> int:
        return len(self._weights)

    def __getitem__(self, block: int) -> arb:
        price: arb = arb(float(self._weights[block])) / self._scale
        return price
