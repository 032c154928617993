"""Blocks of coefficients with their prices."""

import math
from functools import reduce
from typing import Any

import numpy as np
from flint import arb

from ..balls import root
from ..data import Data
from ..verdict import Refused
from .matrix import Matrix


class Gauge:
    """Blocks of coefficients with their prices, and the innermost matrix of Image or Atoms gauges, if there is one."""

    def __init__(self, piece: dict[str, Any], data: Data, form: list[int]) -> None:
        self.matrix: Matrix | None = None
        self.form, scale = form, arb(1)
        while "gauge" in piece:
            if piece["type"] == "Scaled":
                scale = scale * arb(piece["radius"])
            else:
                self.matrix = Matrix(piece["matrix"], data, self.matrix)
            piece = piece["gauge"]
        entries = data.shape[1] if self.matrix is None else self.matrix.width * data.tasks
        per = math.prod(form[1:])
        if not form or math.prod(form) != entries or per < data.tasks or per % data.tasks:
            raise Refused(f"x of shape {form} does not fit {entries} coefficients")
        if (data.tasks > 1 or self.matrix is not None) and form[1:] != [data.tasks] * (data.tasks > 1):
            raise Refused(f"x of shape {form} does not fit features and {data.tasks} outputs")
        self.kind: str = piece["type"]
        self.coordinates = self.kind not in ("Group", "L2", "LInf")
        self.signed = self._signs(piece.get("positive"), form[0], per)
        self.labels = self._labels(piece.get("groups"), form[0], per)
        weights = self._weights(piece.get("weights"), int(self.labels.max()) + 1, form[0], per)
        self.free = [g for g, w in enumerate(weights) if w == 0]
        self.barred = {g for g, w in enumerate(weights) if w == math.inf}
        self.prices = [arb(w) / scale if 0 < w < math.inf else arb(0) for w in weights]

    def _signs(self, positive: list[bool] | None, rows: int, per: int) -> list[bool]:
        """Return which coefficients may be negative; `positive` for a row of x holds for all of its entries."""
        if positive is None:
            return [self.kind not in ("NonNegative", "Simplex")] * (rows * per)
        if len(positive) != rows:
            raise Refused(f"positive has {len(positive)} truth values for {rows} coefficients")
        return [not value for value in positive for _ in range(per)]

    def _labels(self, groups: list[int] | None, rows: int, per: int) -> np.ndarray:
        """Return the block of every coefficient."""
        if self.coordinates:
            return np.arange(rows * per)
        if self.kind in ("L2", "LInf"):
            return np.zeros(rows * per, dtype=int)
        groups = list(range(rows)) if groups is None else groups
        if len(groups) != rows:
            raise Refused(f"the groups have {len(groups)} labels for {rows} coefficients")
        if set(groups) != set(range(len(set(groups)))):
            raise Refused("the groups are not numbered 0, 1, 2 and so on")
        return np.repeat(np.array(groups), per)

    def _weights(self, stated: list[Any] | None, blocks: int, rows: int, per: int) -> list[float]:
        """Return the price of every block before scaling."""
        if stated and isinstance(stated[0], list):
            if any(len(row) != per for row in stated) or len(stated) != rows:
                raise Refused("the weights do not have the shape of x")
            stated = [w for row in stated for w in row]
        elif stated is not None and self.coordinates and len(stated) == rows:
            stated = [w for w in stated for _ in range(per)]
        weights = [1.0] * blocks if stated is None else [math.inf if w == "inf" else float(w) for w in stated]
        if len(weights) != blocks:
            raise Refused(f"there are {len(weights)} weights for {blocks} blocks: every block needs one")
        if self.kind != "L1" and 0.0 in weights:
            raise Refused(f"{self.kind} has no weights of 0")
        if any(w == 0 and not both for w, both in zip(weights, self.signed)):
            raise Refused("a coefficient that must not be negative needs a price")
        return weights

    def norm(self, values: list[arb]) -> arb:
        """Return what the price of a block is multiplied by: its l2 norm, for LInf the largest absolute value."""
        if self.kind == "LInf":
            return reduce(arb.max, (abs(v) for v in values), arb(0))
        return root(sum((v * v for v in values), arb(0)))

    def dual_norm(self, values: list[arb]) -> arb:
        """Return the largest inner product with a block of norm 1."""
        return sum((abs(v) for v in values), arb(0)) if self.kind == "LInf" else self.norm(values)

    def counts(self, block: int) -> bool:
        """Return whether a block has a price."""
        return block not in self.barred and not self.prices[block] == 0
