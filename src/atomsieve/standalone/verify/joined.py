"""A ridge on `x = Q c`, the image of other coefficients, or beside limits: samples of x below those of X.

`R / 2 norm2(Q c)^2` is the loss of d samples of weight R, one for each row of Q, with the squared loss and targets 0.
Their rows of X are those of the identity. Constant and free columns are 0 there, and so is the offset: the constant is
one of the free columns then. So everything is derived as without a ridge, and z is `-A' theta - R Q' Q c`. Beside
limits Q is the identity, and coefficients without a price have no such sample.
"""

import copy
from typing import Any

import numpy as np
from flint import arb

from .checker import Checker
from .data import Data
from .facts import Facts
from .gauges import Gauge
from .losses import Loss
from .pairs import sum_of
from .verdict import Refused, Unknown

SQUARED = Loss({"type": "Squared"})


class JoinedLoss(Loss):
    """The loss of the first samples, and the squared loss of all others."""

    def __init__(self, piece: dict[str, Any], count: int) -> None:
        super().__init__(piece)
        self.own, self.count = Loss(piece), count
        if self.kind != "Squared":
            self.kind = f"{self.kind} with a ridge"

    def _each(self, name: str, *arguments: Any) -> list[Any]:
        """Return what both losses say of their samples, one after the other."""
        first = getattr(self.own, name)(*(part[: self.count] for part in arguments))
        rest = getattr(SQUARED, name)(*(part[self.count :] for part in arguments))
        return [first, rest]

    def most(self, low: np.ndarray, high: np.ndarray, y: np.ndarray, reach: np.ndarray) -> np.ndarray:
        return np.concatenate(self._each("most", low, high, y, reach))

    def bends(self, low: np.ndarray, high: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        (least, most), (less, more) = self._each("bends", low, high, y)
        return np.concatenate([least, less]), np.concatenate([most, more])

    def least_around(self, low: np.ndarray, high: np.ndarray, y: np.ndarray, moved: np.ndarray) -> np.ndarray:
        return np.concatenate(self._each("least_around", low, high, y, moved))

    def slopes(self, u: list[arb], y: list[float]) -> list[arb]:
        first, rest = self._each("slopes", u, y)
        return [*first, *rest]

    def values(self, u: list[arb], y: list[float], slopes: list[arb]) -> list[arb]:
        first, rest = self._each("values", u, y, slopes)
        return [*first, *rest]

    def conjugates(self, slopes: list[arb], y: list[float]) -> list[arb]:
        first, rest = self._each("conjugates", slopes, y)
        return [*first, *rest]


def joined(data: Data, held: list[int], weights: list[float], *, constant: bool) -> Data:
    """Return data with samples of so many weights for some features; the sum S stays that of the stated weights."""
    (n, d), tasks, more = data.rows, data.tasks, len(held)
    found = copy.copy(data)
    if data.sparse:  # one more entry at the end of a column
        ends, chosen = data.X.indptr[1:], np.array(held, dtype=int)
        values = np.insert(data.X.data, ends[chosen], 1.0)
        rows = np.insert(data.X.indices, ends[chosen], n + np.arange(more))
        starts = np.append(0, ends + np.cumsum(np.isin(np.arange(d), chosen)))
        found.X = type(data.X)((values, rows, starts), shape=(n + more, d))
    else:
        found.X = np.concatenate([data.X, np.eye(d)[held]])
    given = np.kron(np.ones((n, 1)), np.eye(tasks)) if constant else np.zeros((n * tasks, 0))
    given = np.concatenate([given, data.given], axis=1)
    found.given = np.concatenate([given, np.zeros((more * tasks, given.shape[1]))])
    found.rows, found.shape = (n + more, d), ((n + more) * tasks, d * tasks)
    found.y, found.offset = (np.append(part, np.zeros(more * tasks)) for part in (data.y, data.offset))
    found.weights = np.append(data.weights, weights)
    return found


class Joined(Checker):
    """One problem whose ridge is joined to its samples."""

    def __init__(self, content: dict[str, Any], data: Data, gauge: Gauge) -> None:
        problem, (_, d), tasks = content["problem"], data.rows, data.tasks
        stated, unpriced = problem["ridge"], [] if gauge.matrix is not None else gauge.free
        if isinstance(stated, list) and len(stated) != d * tasks:
            raise Refused(f"there are {len(stated)} ridges for {d * tasks} coefficients: one for all, or one for each")
        if unpriced and tasks > 1:
            raise Unknown("a ridge beside limits and coefficients without a price is known here for one output")
        held = sorted(set(range(d)) - set(unpriced))
        each = [stated[j * tasks + k] if isinstance(stated, list) else stated for j in held for k in range(tasks)]
        ridges = [sum_of(data.total) * arb(v) for v in each]
        near = [float(v.mid()) for v in ridges]  # bounds in doubles cover what they are off
        samples = joined(data, held, near, constant=problem["intercept"])
        plain = {key: part for key, part in problem.items() if key != "ridge"} | {"intercept": False}
        super().__init__(content | {"problem": plain}, samples, gauge)
        self.loss = JoinedLoss(problem["loss"], data.shape[0])
        vars(self)["weights"] = [*map(arb, data.weights.tolist()), *ridges]


class JoinedFacts(Joined, Facts):
    """The same with facts about single coefficients."""
