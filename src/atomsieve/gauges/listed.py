"""What solvers see of a set that is given by its oracle alone: one block, and x as a list of atoms with weights."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges.base import Atom, BlockGauge
from atomsieve.gauges.found import Entries, Found, difference, entries_of
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import Enclosure, Uncertain, dots, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index

if TYPE_CHECKING:
    from atomsieve.gauges.oracle import Oracle

UNPROVEN = (
    "the oracle has no bound: its answer is a lower bound of the best score, and no proof can rest on that; give "
    "Oracle(lmo, bound) a function bound(z, err) that is never too low"
)


@dataclass(frozen=True, eq=False, repr=False)
class Listed(BlockGauge):
    """The atoms of an oracle, less those of `by` if that is given, for an x that the oracle sees in `form`."""

    oracle: "Oracle"
    by: Any = None
    form: tuple[int, ...] | None = None
    listed = True

    def check(self, shape: tuple[int, ...]) -> None:
        pass

    def flat(self, shape: tuple[int, ...]) -> BlockGauge:
        return replace(self, form=shape)

    def labels(self, shape: tuple[int, ...]) -> Index:
        return np.zeros(shape, dtype=np.intp)

    def blocks(self, columns: Index, shape: tuple[int, ...]) -> Index:
        return np.zeros(1, dtype=np.intp)

    @cached_property
    def _recent(self) -> dict[str, Any]:
        """The last z that was asked for, with its atom: a look and a step ask twice."""
        return {}

    def seen(self, z: Array) -> Array:
        """Return z as the oracle sees it."""
        shown = (z if self.form is None else z.reshape(self.form)).view()
        shown.flags.writeable = False
        return shown

    def atom(self, z: Array, block: int) -> Atom:
        if not z.any():  # all atoms are as good as 0
            return Atom(np.empty(0, dtype=np.intp), np.empty((0, *z.shape[1:])), block)
        if self._recent.get("z") is not z:
            self._recent.update(z=z, atom=self.presented(self.oracle.lmo(self.seen(z)), z.shape))
        atom: Atom = self._recent["atom"]
        return atom

    def more(self, z: Array, count: int) -> list[Atom] | None:
        if self.oracle.more is None:
            return None
        return [self.presented(given, z.shape) for given in self.oracle.more(self.seen(z), count)][:count]

    def presented(self, atom: Any, shape: tuple[int, ...]) -> Atom:
        return Found(atom, self, shape)

    def entries(self, given: Any, shape: tuple[int, ...]) -> Entries:
        """Return the rows of x in a shape that a user's atom touches, less `by`, and its entries there."""
        columns, values = entries_of(given, self.form or shape)
        if self.form is not None and self.form != shape:
            columns, values = _flattened(columns, values)
        return (columns, values) if self.by is None else difference((columns, values), self._from(shape), shape)

    def _from(self, shape: tuple[int, ...]) -> Entries:
        """Return the entries of `by`."""
        places = np.flatnonzero(self.by)
        if 2 * len(places) > self.by.size or len(shape) > 1:
            return slice(None), np.asarray(self.by).reshape(shape)
        return places, self.by.ravel()[places]

    def scores(self, z: Array) -> Array:
        return np.array([self.atom(z, 0).dot(z)])

    def sizes(self, x: Array) -> Array:
        if not x.any():
            return np.zeros(1)
        raise ValueError(
            "The gauge of a set that is given by its oracle alone is not known at x: solve() works with the mass, the "
            "sum of the weights of the atoms that x is made of (result.active). Start from an earlier Result, not from "
            "an array."
        )

    def enclose_sizes(self, x: Array) -> Enclosure:
        if not x.any():
            return Enclosure.exact(np.zeros(1))
        raise Uncertain("the atoms that these coefficients are made of are not known")

    def enclose_scores(self, z: Enclosure) -> Enclosure:
        if self.oracle.bound is None:
            raise Uncertain(UNPROVEN)
        upper = self._bound(z.mid, z.rad)
        atom = self.atom(z.mid, 0)
        held = Enclosure(atom.values, up(2 * EPS * np.abs(atom.values)))  # the differences to `by` are rounded
        least = float((held * z[atom.columns]).sum().low)
        if least > upper:
            raise Uncertain(f"bound(z, err) is too low: {upper:.17g}, where lmo found an atom that scores {least:.17g}")
        return Enclosure.between(np.array([least]), np.array([upper]))

    def _bound(self, z: Array, err: Array) -> float:
        """Return the user's bound of sigma over a box, as a number; less what `by` scores there at least."""
        assert self.oracle.bound is not None  # noqa: S101
        told = float(self.oracle.bound(self.seen(z), self.seen(err)))
        if np.isnan(told):
            return np.inf
        if self.by is not None:
            own = dots(np.asarray(self.by, dtype=np.float64).ravel()[:, None], Enclosure(z.ravel(), err.ravel()))[0]
            told = float((Enclosure.exact(told) - own).high)
        return told

    def spread_bounds(self, norms: Array) -> Array:
        # over the box |z| <= norms, sigma is the largest sum_j |p_j| norms_j
        return (
            np.full(1, np.inf) if self.oracle.bound is None else np.array([self._bound(np.zeros(norms.shape), norms)])
        )

    def spread(self, seminorm: Seminorm, outputs: int) -> Array:
        if self.oracle.bound is None:
            return np.full(1, np.inf)
        return self.spread_bounds(_norms(seminorm, outputs))

    def typical_spread(self, seminorm: Seminorm, outputs: int) -> Array:
        if self.oracle.bound is not None:
            return self.spread(seminorm, outputs)
        norms = _norms(seminorm, outputs)
        atoms = [self.presented(self.oracle.lmo(self.seen(z)), z.shape) for z in (norms, -norms)] if norms.any() else []
        sums = [float(np.abs(atom.values).ravel() @ norms[atom.columns].ravel()) for atom in atoms]
        return np.array([up(max(sums, default=0.0))])


def _norms(seminorm: Seminorm, outputs: int) -> Array:
    """Return the norm of the column of each entry of x, in its shape."""
    norms = seminorm.column_norms()
    return norms if outputs == 1 else np.repeat(norms[:, None], outputs, axis=1)


def _flattened(columns: Any, values: Array) -> Entries:
    """Return entries of rows of a matrix as entries of the vector of all its rows."""
    if isinstance(columns, slice):
        return columns, values.ravel()
    per = values.size // max(len(columns), 1)
    places = (columns[:, None] * per + np.arange(per)).ravel()
    held = values.ravel()
    return places[held != 0], held[held != 0]
