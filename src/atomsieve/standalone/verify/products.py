"""The pieces of the problem, and products with A."""

import math
from typing import Any

import numpy as np
from flint import arb, arb_mat

from .balls import double_above
from .data import Data
from .doubles import UNIT, by_outputs, lengths_above
from .gauges import Gauge
from .losses import Loss
from .penalties import PENALTIES
from .verdict import Refused, Unknown

BALLS_UP_TO = 10_000_000
"""Number of entries of A up to which all products use ball arithmetic; for larger A, only those that matter do."""


class Products:
    """The pieces of the problem, columns of A in balls, and z."""

    def __init__(self, content: dict[str, Any], data: Data, gauge: Gauge) -> None:
        self.claims = content["claims"]
        self.point = content["point"]
        problem = content["problem"]
        self.data = data
        self.gauge = gauge
        self.checked = 0
        self.loss = Loss(problem["loss"])
        penalty = problem["penalty"]
        if penalty["type"] == "Power" and penalty["p"] == "inf":
            penalty = {"type": "Ball", "radius": 1}
        self.penalty = {name: arb(value) for name, value in penalty.items() if name != "type"}
        self.phi, self.phi_conjugate, self.phi_slope = PENALTIES[penalty["type"]]
        self.weights = [arb(w) for w in data.weights.tolist()]
        self.total = sum((arb(w) for w in data.total.tolist()), arb(0))
        self.n, self.d = data.shape[0], len(gauge.labels)
        self.ridge = self._ridges(problem.get("ridge"))
        self.width = max(1, (1 << 20) // max(data.shape))
        self.all_in_balls = self.n * self.d <= BALLS_UP_TO
        self.intercept: bool = problem["intercept"]
        self.constants = arb_mat(np.kron(np.ones((data.rows[0], 1)), np.eye(data.tasks)).tolist())
        constant = np.kron(np.ones((data.rows[0], int(problem["intercept"]))), np.eye(data.tasks))
        parts = [constant, data.given]
        self.B = [arb_mat([[float(v)] for v in column]) for part in parts for column in part.T]
        self.B += [self._columns([j])[0] for j in gauge.free]
        self.given = len(self.B) - len(gauge.free)

    def _ridges(self, stated: Any) -> list[arb]:
        """Return R_g for every block; an empty list without a ridge."""
        if stated is None:
            return []
        if self.gauge.matrix is not None or self.gauge.kind == "LInf":
            raise Unknown("a ridge beside an Image or LInf is not known to this checker")
        blocks = len(self.gauge.prices)
        if isinstance(stated, list) and not (self.gauge.coordinates and len(stated) == blocks):
            raise Refused(f"there are {len(stated)} ridges for {blocks} blocks: one for all, or one per coefficient")
        return [self.total * arb(v) for v in (stated if isinstance(stated, list) else [stated] * blocks)]

    def _claim(self, holds: bool, sentence: str) -> None:
        self.checked += 1
        if not holds:
            raise Refused(sentence)

    def _columns(self, index: list[int], *, centred: bool = False) -> list[arb_mat]:
        """Return columns of A, exact or with their rounding; or of X less its centres, times the matrix."""
        if self.gauge.matrix is None and not centred:
            return [arb_mat([[v] for v in column]) for column in self.data.columns(index).T.tolist()]
        inner, *outer = self._factors()
        image = arb_mat(inner.columns(index).tolist()) if outer else self._centred(inner.columns(index), index)
        for factor in outer:
            image = self._times(factor, image, centred=centred and factor is self.data)
        return [arb_mat([[image[i, k]] for i in range(self.n)]) for k in range(len(index))]

    def _factors(self) -> list[Any]:
        """Return the matrices whose product is A, the last one first: those of the gauge, and then X."""
        factors: list[Any] = []
        matrix = self.gauge.matrix
        while matrix is not None:
            factors.append(matrix)
            matrix = matrix.outer
        return [*factors, self.data]

    def _times(self, factor: Any, image: arb_mat, *, centred: bool) -> arb_mat:
        """Return the product of a matrix with others, from the rows that are not zero."""
        width = image.ncols()
        used = [i for i in range(image.nrows()) if any(not image[i, k] == 0 for k in range(width))]
        chosen = factor.columns(np.array(used, dtype=int))
        if not used:
            return arb_mat(len(chosen), width)
        left = self._centred(chosen, used) if centred else arb_mat(chosen.tolist())
        return left * arb_mat([[image[i, k] for k in range(width)] for i in used])

    def _own_rows(self, block: np.ndarray, index: list[int]) -> np.ndarray:
        """Return columns of A without the rows of other outputs, where they are 0."""
        per = self.data.tasks
        if per == 1:
            return block
        return np.asarray(block.reshape(-1, per, len(index))[:, np.array(index) % per, np.arange(len(index))])

    def _centres(self, own: np.ndarray) -> np.ndarray:
        """Return a double near the mean of every column, and the number itself for a constant; 0 without an intercept.

        Theta is orthogonal to the constant, at the point and at the optimum. So columns less their centres do for the
        columns themselves.
        """
        if not self.intercept:
            return np.zeros(own.shape[1])
        with np.errstate(all="ignore"):
            own = np.asfortranarray(own)  # NumPy adds up in another order if it is stored otherwise
            means = np.where(own.max(axis=0) == own.min(axis=0), own[0], own.mean(axis=0))
        return np.asarray(np.where(np.isfinite(means), means, 0.0))

    def _centred(self, block: np.ndarray, index: list[int]) -> arb_mat:
        """Return columns of A less their centres, in balls."""
        centres, per = self._centres(self._own_rows(block, index)), self.data.tasks
        columns = arb_mat(block.tolist())
        if not centres.any():
            return columns
        taken = np.zeros((per, len(index)))
        taken[np.array(index) % per, np.arange(len(index))] = centres
        return columns - self.constants * arb_mat(taken.tolist())

    def _adjoint(self, theta: arb_mat) -> list[arb]:
        """Return z = -A' theta; for large data, in doubles with a bound of their rounding where no claim is close."""
        if self.gauge.matrix is not None:
            parts = (range(self.d)[start : start + self.width] for start in range(0, self.d, self.width))
            return [-(theta.transpose() * v)[0, 0] for part in parts for v in self._columns(list(part), centred=True)]
        z: list[Any] = [None] * self.d
        width, rows = self.width, theta.transpose()
        if self.all_in_balls:
            for start in range(0, self.d, width):
                index = list(range(self.d)[start : start + width])
                product = rows * self._centred(self.data.columns(slice(start, start + width)), index)
                z[start : start + width] = [-product[0, k] for k in range(product.ncols())]
            return z
        mid = np.array([float(t.mid()) for t in theta.entries()])
        errors = np.array([double_above(abs(t - arb(m))) for t, m in zip(theta.entries(), mid.tolist())])
        length, error = (float(lengths_above(np.abs(v)[:, None])[0]) for v in (mid, errors))
        off = ((self.n + 12) * UNIT * 1.01 * length + error) * 1.01 + 2.0**-1000
        for start in range(0, self.d, width):
            index = list(range(self.d)[start : start + width])
            own = self._own_rows(self.data.columns(slice(start, start + width)), index)
            block = own - self._centres(own)
            with np.errstate(all="ignore"):
                values = block.T @ mid if self.data.tasks == 1 else by_outputs(block, mid, index, self.data.tasks)
                rads = lengths_above(np.abs(block)) * off + self.n * 2.0**-1070
            for k, (value, rad) in enumerate(zip(values.tolist(), rads.tolist())):
                known = math.isfinite(value) and math.isfinite(rad)
                z[start + k] = -arb(value, rad) if known else None
        top = max((double_above(abs(v)) for v in z if v is not None), default=0.0)
        near = {j for j, v in enumerate(z) if v is None or double_above(abs(v)) >= 0.99 * top}
        close = sorted(near | set(self.point["x"]["index"]))
        for start in range(0, len(close), width):
            part = close[start : start + width]
            product = rows * self._centred(self.data.columns(part), part)
            for k, j in enumerate(part):
                z[j] = -product[0, k]
        return z
