"""Functions of sets that grow less and less: coverage."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from atomsieve.intake.arguments import as_floats, keep_copy
from atomsieve.piece import Piece
from atomsieve.typing import Array, Index


@dataclass(frozen=True, eq=False, repr=False)
class Coverage(Piece):
    """`f(S)` is the weight of all items that at least one element of S covers; it is submodular and never falls.

    `sets` lists the items, numbered from 0, that each element covers. All weights are positive, by default 1.

    >>> f = Coverage([[0, 1], [1, 2], [2]], weights=[1.0, 2.0, 4.0])
    >>> f([0]), f([0, 1]), f.gains([0, 1, 2]).tolist()
    (3.0, 7.0, [3.0, 4.0, 0.0])
    """

    sets: Any
    weights: Any = None

    def __post_init__(self) -> None:
        try:
            sets = tuple(tuple(sorted({int(item) for item in covered})) for covered in self.sets)
        except (TypeError, ValueError) as error:
            raise ValueError("Coverage: sets must be lists of items, numbered from 0, one for each element.") from error
        items = {item for covered in sets for item in covered}
        if not all(sets) or items != set(range(len(items))):
            raise ValueError(
                "Coverage: every element must cover an item, and items must be numbered 0, 1, 2 and so on."
            )
        object.__setattr__(self, "sets", sets)
        weights = np.ones(len(items)) if self.weights is None else as_floats(self.weights, "Coverage: weights")
        if weights.shape != (len(items),) or not (np.isfinite(weights) & (weights > 0)).all():
            raise ValueError(f"Coverage: weights must be one positive number for each of the {len(items)} items.")
        keep_copy(self, "weights", weights)

    @property
    def count(self) -> int:
        """The number of elements."""
        return len(self.sets)

    def _show(self, name: str) -> str:
        return f"<{len(self.sets)} sets>" if name == "sets" else super()._show(name)

    def stated(self) -> dict[str, Any]:
        """Return the sets and the weights."""
        return {"sets": [list(covered) for covered in self.sets], "weights": self.weights}

    @cached_property
    def pairs(self) -> tuple[Index, Index]:
        """All pairs of an element and an item that it covers, sorted by items."""
        elements = np.repeat(np.arange(self.count), [len(covered) for covered in self.sets])
        items = np.concatenate([np.array(covered, dtype=np.intp) for covered in self.sets])
        order = np.argsort(items, kind="stable")
        return elements[order], items[order]

    @cached_property
    def matrix(self) -> Any:
        """Which element covers which item."""
        elements, items = self.pairs
        return csr_array((np.ones(len(items)), (elements, items)), (self.count, len(self.weights)))

    def __call__(self, chosen: Sequence[int]) -> float:
        covered = {item for j in chosen for item in self.sets[j]}
        return math.fsum(self.weights[item] for item in covered)

    def gains(self, order: Sequence[int] | Index) -> Array:
        """Return what each element in an order adds to all before it; every sum is rounded once."""
        ranks = np.empty(self.count, dtype=np.intp)
        ranks[np.asarray(order)] = np.arange(self.count)
        elements, items = self.pairs
        first = np.minimum.reduceat(ranks[elements], np.searchsorted(items, np.arange(len(self.weights))))
        if (self.weights == np.round(self.weights)).all() and float(self.weights.sum()) < 2.0**53:
            return np.bincount(first, self.weights, self.count).astype(np.float64)
        parts: list[list[float]] = [[] for _ in range(self.count)]
        for place, weight in zip(first.tolist(), self.weights.tolist(), strict=True):
            parts[place].append(weight)
        return np.array([math.fsum(part) for part in parts])
