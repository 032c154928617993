"""What gauges over combinatorial atoms share: an algorithm finds the best atom, and proves that none is better.

The atoms are too many to list, so x is known by those that it is made of, as for `Oracle`. But here the set is known:
how far the best score can be above what was found is proven by a dual solution, and by the best scores of atoms that
hold an entry (its max-marginals) it is proven which entries all atoms of a solution have, and which none of them has.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from atomsieve.gauges.base import Atom, Gauge
from atomsieve.gauges.calculus.made import Made
from atomsieve.gauges.facts import Evidence, Facts
from atomsieve.gauges.listed import Listed
from atomsieve.gauges.oracle import Oracle
from atomsieve.numerics.rounding import noise_level
from atomsieve.typing import Array, Index, Mask, Signs

Picked = Any
"""An atom as its algorithm names it: (places, values), or an object that has entries()."""


class Combinatorial(Made):
    """A gauge over the atoms that an algorithm finds; its pieces say how, what it proves, and the gauge of x."""

    nonnegative_atoms: bool = True
    """Whether no atom has a negative entry."""

    @abstractmethod
    def best(self, z: Array) -> Picked:
        """Return the atom with the best score at z."""

    @abstractmethod
    def bound(self, z: Array, err: Array) -> float:
        """Return an upper bound of sigma for all z' with `|z' - z| <= err`, rounding included."""

    @abstractmethod
    def several(self, z: Array, count: int) -> Sequence[Picked]:
        """Return other good atoms, up to a number."""

    @abstractmethod
    def size(self, x: Array) -> float:
        """Return the gauge of x, for an x that fits up to rounding; inf for others."""

    @abstractmethod
    def settle(self, evidence: Evidence, facts: Facts) -> Facts:
        """Return the facts with what follows from bounds of z* and of the slope."""

    @abstractmethod
    def agrees(self, atom: Atom, facts: Facts) -> bool:
        """Return whether an atom has all that facts say of the atoms of every solution."""

    @abstractmethod
    def told(self, atom: Any) -> list[int]:
        """Return an atom as a file states it: whole numbers."""

    @abstractmethod
    def count(self) -> int:
        """Return the number of entries of x."""

    def check(self, shape: tuple[int, ...]) -> None:
        if np.prod(shape) != self.count():
            raise ValueError(
                f"{type(self).__name__} measures {self.count()} coefficients, and the problem has "
                f"{int(np.prod(shape))}."
            )

    @cached_property
    def oracle(self) -> Oracle:
        """The same set by its functions alone."""
        return Oracle(self.best, self.bound, self.several)

    def made(self, count: int) -> Gauge:
        return self._made

    @cached_property
    def _made(self) -> Gauge:
        return Structured(self.oracle, structure=self)

    def features(self, rows: int) -> int:
        return rows

    def spelled_out(self, form: tuple[int, ...]) -> Gauge:
        return self

    def value(self, x: Array) -> float:
        return self.size(np.asarray(x, dtype=np.float64).ravel()) if np.any(x) else 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Structured(Listed):
    """What solvers see of a combinatorial gauge: a list of atoms as for an oracle, and facts."""

    structure: Any = None
    decides = True
    named_atoms = True

    @property
    def signed(self) -> Signs:  # type: ignore[override]
        return not self.structure.nonnegative_atoms

    def decide(self, evidence: Evidence) -> Facts:
        count = len(evidence.most)
        known = np.ones(count) if self.structure.nonnegative_atoms else np.zeros(count)
        facts: Facts = self.structure.settle(evidence, replace(Facts.none(count), signs=known))
        return facts

    def agrees(self, atom: Atom, facts: Facts) -> bool:
        return bool(self.structure.agrees(atom, facts))

    def told(self, atom: Atom) -> list[int]:
        found: Any = atom
        return [int(v) for v in self.structure.told(found.given)]


class Marked(Combinatorial):
    """Atoms of zeros and ones: sets of entries. All facts are about the entries that are in all of them, or in none."""

    @abstractmethod
    def in_some_and_in_all(self, high: Array, slope: float) -> tuple[Mask, Mask]:
        """Return which entries are in some atom that reaches a slope, for upper bounds of z*, and which are in all."""

    def settle(self, evidence: Evidence, facts: Facts) -> Facts:
        # all atoms of a solution score the slope at z*, and no atom scores more at z* than at its upper bounds
        some, every = self.in_some_and_in_all(evidence.high, evidence.slope[0])
        every = every & some
        return replace(facts, zero=~some, nonzero=every, saturated=every, clusters=np.where(every, 0, facts.clusters))

    def agrees(self, atom: Atom, facts: Facts) -> bool:
        held = np.zeros(len(facts.zero), dtype=bool)
        held[np.asarray(atom.columns)] = True
        return not (held & facts.zero).any() and bool(held[facts.saturated].all())

    def told(self, atom: Any) -> list[int]:
        return sorted(int(j) for j in atom[0])


def marks(places: Any) -> tuple[Index, Array]:
    """Return the atom that is 1 at places and 0 elsewhere."""
    index = np.sort(np.asarray(places, dtype=np.intp))
    return index, np.ones(len(index))


def is_rounding(differences: Array, x: Array) -> bool:
    """Return whether numbers that ought to be 0 are, up to the rounding of sums of the entries of x."""
    return bool(np.abs(differences).max(initial=0.0) <= noise_level(x.size) * np.abs(x).sum())
