"""The base polytope of a submodular function."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from atomsieve.gauges.combinatorial.coverage import Coverage
from atomsieve.gauges.combinatorial.permutahedron import Ranked, Ranking
from atomsieve.gauges.oracle import named
from atomsieve.intake.arguments import is_whole, shown
from atomsieve.numerics.enclosures import Enclosure
from atomsieve.numerics.programs import linear_program
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index


@dataclass(frozen=True, eq=False, repr=False)
class BasePolytope(Ranked):
    """Gauge over the base polytope of a submodular f: all x with `x(S) <= f(S)` for all sets S, and `x(V) = f(V)`.

    Its corners are orders of all elements: each has what it adds to those before it. The best order is that of z, so
    `sigma(z)` is the Lovasz extension of f. `function` is a `Coverage`, or any function of yours that takes a list of
    positions and returns f, with so many `elements`; that it is submodular, and 0 for no elements, is then your word,
    and what it returns is taken for exact. `kappa(x) = x(V) / f(V)` where x is in that multiple, which `value` decides
    for a `Coverage` by a linear program.

    A set of entries whose z* is certainly above that of all others is proven tight: `x(S) = kappa f(S)` in every
    solution, `facts.tight`, part by part. A checker knows `Coverage`; a file has the name of other functions.

    >>> import numpy as np
    >>> gauge = BasePolytope(Coverage([[0, 1], [1, 2], [2]]))
    >>> gauge.support(np.array([1.0, 3.0, 2.0])), gauge.value(np.array([2.0, 3.0, 1.0]))
    (7.0, 2.0)
    """

    function: Any
    elements: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.function, Coverage):
            object.__setattr__(self, "elements", self.function.count)
        if not callable(self.function):
            raise TypeError(f"BasePolytope: function must be a Coverage or a function, got {shown(self.function)}.")
        if not is_whole(self.elements) or not int(self.elements) > 0:
            raise ValueError("BasePolytope: elements must be the number of elements, beside a function of your own.")
        if not self._whole > 0:
            raise ValueError("BasePolytope: the value of the set of all elements must be positive.")

    @cached_property
    def _whole(self) -> float:
        """The value of the set of all elements."""
        return float(self.function(list(range(self.elements))))

    @cached_property
    def largest(self) -> Array:
        """The largest absolute values that entries of a base can have."""
        every = range(self.elements)
        alone = np.array([float(self.function([j])) for j in every])
        return np.asarray(np.maximum(np.abs(alone), np.abs(self._last)))

    @cached_property
    def _last(self) -> Array:
        """What each element adds to all others: the least entry that it can have."""
        every = range(self.elements)
        return np.array([self._whole - float(self.function([i for i in every if i != j])) for j in every])

    @cached_property
    def nonnegative_atoms(self) -> bool:  # type: ignore[override]
        return isinstance(self.function, Coverage) or bool((self._last >= 0).all())

    def count(self) -> int:
        return int(self.elements)

    def stated(self) -> dict[str, Any]:
        """Return the function, or its name if it is not known."""
        return {"function": self.function if isinstance(self.function, Coverage) else named(self.function)}

    def _gains(self, order: Index) -> Array:
        """Return what each element in an order adds to those before it."""
        if isinstance(self.function, Coverage):
            return self.function.gains(order)
        places = order.tolist()
        values = [float(self.function(places[:k])) for k in range(1, len(places) + 1)]
        return np.diff(values, prepend=0.0)

    def best(self, z: Array) -> Ranking:
        order = np.argsort(-z.ravel(), kind="stable")
        return Ranking(order, self._gains(order))

    def bound(self, z: Array, err: Array) -> float:
        with np.errstate(all="ignore"):
            if self.nonnegative_atoms:
                return self._extension(np.nextafter(z + err, np.inf).ravel())
            moved = (Enclosure.exact(self.largest * (1 + 4 * EPS)) * Enclosure.exact(err.ravel())).sum()
            return float((Enclosure.exact(self._extension(z.ravel())) + moved).high)

    def _extension(self, z: Array) -> float:
        """Return an upper bound of the Lovasz extension; gains are rounded once."""
        if not np.isfinite(z).all():
            return math.inf
        atom = self.best(z)
        gains = Enclosure(atom.falling, 4 * EPS * np.abs(atom.falling))
        return float((gains * Enclosure.exact(z[atom.order])).sum().high)

    def several(self, z: Array, count: int) -> list[Ranking]:
        """Return the best order with two neighbours swapped, for those that are nearest to each other."""
        order, found = np.argsort(-z.ravel(), kind="stable"), []
        for k in np.argsort(-np.diff(z.ravel()[order]), kind="stable")[:count]:
            swapped = order.copy()
            swapped[[k, k + 1]] = swapped[[k + 1, k]]
            found.append(Ranking(swapped, self._gains(swapped)))
        return found

    def size(self, x: Array) -> float:
        function = self.function
        if not isinstance(function, Coverage):
            raise TypeError("The gauge of a base polytope is known for a Coverage only; solve() does not need it.")
        total = float(x.sum()) / self._whole
        if not total > 0:
            return math.inf
        # items share their weights among the elements that cover them
        owners, items = function.pairs
        pairs, columns = len(items), np.arange(len(items))
        shares = csr_array(
            (np.ones(2 * pairs), (np.append(owners, len(x) + items), np.append(columns, columns))),
            (len(x) + len(function.weights), pairs),
        )
        due = np.append(x / total, function.weights)
        found = linear_program(np.zeros(pairs), A_eq=shares, b_eq=due, bounds=(0, None))
        return total if found.status == 0 else math.inf
