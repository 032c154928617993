"""Norms of sets that cover items: the Lovasz extension of a coverage function at absolute values."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, eye_array, hstack, vstack

from atomsieve.gauges.base import Atom
from atomsieve.gauges.combinatorial.coverage import Coverage
from atomsieve.gauges.combinatorial.structure import Combinatorial
from atomsieve.gauges.facts import Evidence, Facts
from atomsieve.intake.arguments import shown
from atomsieve.numerics.enclosures import gamma, up
from atomsieve.numerics.programs import linear_program
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask


@dataclass(frozen=True, eq=False, repr=False)
class LovaszNorm(Combinatorial):
    """The norm `sum over items i of weight_i max of |x_j| over all j that cover i`, for a `Coverage` f.

    It is the Lovasz extension of f at `|x|`: a set S of features costs `f(S)` for each unit of their size, so those
    join that cover what others cover already. `sigma(z)` is the largest `|z|(S) / f(S)`, and an atom is a set S with
    signs, divided by `f(S)`. A linear program finds both S and shares of the items by which the elements are covered;
    shares that are large enough prove that no set is better, and by them certificates prove zeros and non-zeros.

    Bach, Structured sparsity-inducing norms through submodular functions, NIPS (2010).

    >>> import numpy as np
    >>> gauge = LovaszNorm(Coverage([[0, 1], [1, 2], [2]]))
    >>> gauge.value(np.array([1.0, -3.0, 2.0])), gauge.support(np.array([2.0, 2.0, 3.0]))
    (7.0, 3.0)
    """

    function: Any
    nonnegative_atoms = False

    def __post_init__(self) -> None:
        if not isinstance(self.function, Coverage):
            raise TypeError(f"LovaszNorm: function must be a Coverage, got {shown(self.function)}.")

    def count(self) -> int:
        return int(self.function.count)

    @cached_property
    def _shares(self) -> "Shares":
        return Shares(self.function)

    def best(self, z: Array) -> tuple[Index, Array]:
        flat = z.ravel()
        sizes = np.abs(flat)
        found = self._shares.covering(sizes)
        held = found[1] > found[1].max() / 2 if found is not None and found[1].max() > 0 else sizes == sizes.max()
        chains = self._prefixes(sizes)
        best = int(np.argmax(chains[1]))
        chosen = np.flatnonzero(held)
        if sizes[chosen].sum() / self.function(chosen.tolist()) < chains[1][best]:
            chosen = chains[0][: best + 1]
        return self._signed(chosen, flat)

    def _signed(self, chosen: Index, z: Array) -> tuple[Index, Array]:
        """Return the atom of a set, with the signs of z."""
        places = np.sort(chosen)
        return places, np.where(z[places] < 0, -1.0, 1.0) / self.function(places.tolist())

    def _prefixes(self, sizes: Array) -> tuple[Index, Array]:
        """Return the order of absolute values, and the scores of the first 1, 2, ... of them."""
        order = np.argsort(-sizes, kind="stable")
        return order, np.cumsum(sizes[order]) / np.cumsum(self.function.gains(order))

    def bound(self, z: Array, err: Array) -> float:
        with np.errstate(over="ignore"):
            sizes = np.nextafter(np.abs(z) + err, np.inf).ravel()
        if not np.isfinite(sizes).all():
            return math.inf
        return self._shares.least(sizes) if sizes.any() else 0.0

    def several(self, z: Array, count: int) -> list[tuple[Index, Array]]:
        """Return the first ones in the order of absolute values, those with the best scores."""
        order, scores = self._prefixes(np.abs(z.ravel()))
        return [self._signed(order[: k + 1], z.ravel()) for k in np.argsort(-scores, kind="stable")[:count]]

    def size(self, x: Array) -> float:
        elements, items = self.function.pairs
        starts = np.searchsorted(items, np.arange(len(self.function.weights)))
        return float(self.function.weights @ np.maximum.reduceat(np.abs(x)[elements], starts))

    def settle(self, evidence: Evidence, facts: Facts) -> Facts:
        # a set that reaches the slope has |z*|(S) >= slope f(S): shares of slope times the weights exclude it
        zero, nonzero = self._shares.excluded(evidence.most, evidence.slope[0])
        return replace(facts, zero=zero, nonzero=nonzero & (evidence.signs != 0), signs=evidence.signs)

    def agrees(self, atom: Atom, facts: Facts) -> bool:
        return not facts.zero[np.asarray(atom.columns)].any()

    def told(self, atom: Any) -> list[int]:
        return [int(math.copysign(j + 1, value)) for j, value in zip(*atom, strict=True)]


class Shares:
    """Items share their weights among the elements that cover them: `q >= 0`, one number for each pair."""

    def __init__(self, function: Coverage) -> None:
        self.owners, self.items = function.pairs
        self.weights, self.count = function.weights, function.count
        pairs = len(self.items)
        ones, columns = np.ones(pairs), np.arange(pairs)
        self.received = csr_array((ones, (self.owners, columns)), (self.count, pairs))
        self.given = csr_array((ones, (self.items, columns)), (len(self.weights), pairs))

    def covering(self, sizes: Array) -> tuple[Array, Array] | None:
        """Return shares of the least t times the weights by which elements receive their sizes, and the best set."""
        unit = float(sizes.max())
        rows = vstack(
            [
                hstack([-self.received, csr_array((self.count, 1))]),
                hstack([self.given, csr_array(-self.weights[:, None])]),
            ]
        )
        cost = np.append(np.zeros(len(self.items)), 1.0)
        limits = np.append(-sizes / unit, np.zeros(len(self.weights)))
        found = linear_program(cost, A_ub=rows, b_ub=limits, bounds=(0, None))
        if found.status != 0:
            return None
        return found.x[:-1] * unit, -found.ineqlin.marginals[: self.count]

    def least(self, sizes: Array) -> float:
        """Return an upper bound of the largest score: whatever the shares are, they are made large enough."""
        found = self.covering(sizes)
        q = np.zeros(len(self.items)) if found is None else np.maximum(found[0], 0.0)
        received = np.asarray(self.received @ q)
        missing = (received <= 0) & (sizes > 0)
        q = np.where(missing[self.owners], self.weights[self.items], q)
        received = np.asarray(self.received @ q)
        with np.errstate(invalid="ignore", divide="ignore"):
            raised = np.where(sizes > 0, sizes / received, 0.0)
        q = q * raised[self.owners] * (1 + 4 * gamma(len(q) + 8))
        return float(up((np.asarray(self.given @ q) / self.weights).max() * (1 + 2 * gamma(len(q) + 8))))

    def excluded(self, most: Array, slope: float) -> tuple[Mask, Mask]:
        """Return the elements that no set holds which can reach the slope, and those that every such set holds."""
        zero, nonzero = np.zeros(self.count, dtype=bool), np.zeros(self.count, dtype=bool)
        if not (slope > 0 and np.isfinite(most).all()):
            return zero, nonzero
        for j in range(self.count):
            # for sets with j: slope f(S) - |z*|(S) >= received_j - most_j - what is missing elsewhere
            cost = np.append(-(self.owners == j).astype(float), np.where(np.arange(self.count) == j, 0.0, 1.0))
            received = self._received(cost, most, slope, j)
            lacking = np.maximum(most - received, 0.0) * (1 + 4 * EPS)
            lacking[j] = 0.0
            room = float(lacking.sum()) * (1 + 2 * gamma(self.count + 4))
            zero[j] = received[j] * (1 - 4 * EPS) > most[j] + room + 4 * EPS * (most[j] + room)
            nonzero[j] = not zero[j] and self._all_but(j, most, slope)
        return zero, nonzero

    def _received(self, cost: Array, most: Array, slope: float, j: int) -> Array:
        """Return what elements receive, at most slope times the weights; all but j may lack something, at a cost."""
        unit = max(float(most.max()), slope * float(self.weights.max()))
        rows = vstack(
            [
                hstack([-self.received, -eye_array(self.count)]),
                hstack([self.given, csr_array((len(self.weights), self.count))]),
            ]
        )
        demands = np.where(np.arange(self.count) == j, 0.0, most)
        limits = np.append(-demands, slope * self.weights) / unit
        found = linear_program(cost, A_ub=rows, b_ub=limits, bounds=(0, None))
        if found.status != 0:
            return np.zeros(self.count)
        return self._fitting(found.x[: len(self.items)] * unit, slope)

    def _all_but(self, j: int, most: Array, slope: float) -> bool:
        """Return whether all elements but j receive more than their sizes, so that no set of them reaches the slope."""
        others = np.flatnonzero(np.arange(self.count) != j)
        if not len(others):
            return True
        unit = max(float(most.max()), slope * float(self.weights.max()))
        rows = vstack(
            [
                hstack([-self.received[others], csr_array(np.ones((len(others), 1)))]),
                hstack([self.given, csr_array((len(self.weights), 1))]),
            ]
        )
        cost = np.append(np.zeros(len(self.items)), -1.0)
        limits = np.append(-most[others], slope * self.weights) / unit
        found = linear_program(cost, A_ub=rows, b_ub=limits, bounds=(0, None))
        if found.status != 0:
            return False
        received = self._fitting(found.x[:-1] * unit, slope)
        return bool((received[others] * (1 - 4 * EPS) > most[others]).all())

    def _fitting(self, q: Array, slope: float) -> Array:
        """Return lower bounds of what elements receive if no item gives more than slope times its weight."""
        q = np.maximum(q, 0.0)
        given = self.given @ q * (1 + 2 * gamma(len(q) + 4))
        with np.errstate(invalid="ignore", divide="ignore"):
            kept = np.where(given > 0, np.minimum(slope * self.weights / given, 1.0), 1.0)
        return np.asarray(self.received @ (q * kept[self.items]) * (1 - 4 * gamma(len(q) + 8)))
