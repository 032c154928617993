"""Several classes: how far the coefficients at a point can be from the optimum.

The Hessian of one sample is at least `diag(q) - q q' / sum(q)` (see `Multinomial`), and

    v' (diag(q) - q q' / sum(q)) v  =  sum over classes c of  q_c (v_c - mean)^2,      mean = q . v / sum(q):

a sum of weighted squares, with one row for each sample and class. It does not see a number that is added to all
classes. So coefficients that are the same feature in every class are known up to such a number. Free coefficients are
taken with the sum 0. A block that holds a feature in all classes has the sum 0 at the optimum, if the penalty has a
slope there, or a ridge: any other number makes the norm longer. Where l1 leaves all classes of a feature in, nothing is
said of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from atomsieve.certificate.gram import ROWS_AT_ONCE, Inverse, Products, inverse_of, products_of
from atomsieve.certificate.inverse import Dependency, dependencies
from atomsieve.numerics import balls
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import Enclosure, gamma, root, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask

if TYPE_CHECKING:
    from atomsieve.certificate.proof import Proof
    from atomsieve.certificate.statement import Statement


@dataclass(frozen=True, eq=False)
class Shared:
    """The rows of all samples and classes. A column is a feature in one class, less that in another one or none."""

    features: Enclosure
    feature: Index
    plus: Index
    minus: Index
    shares: Array
    counts: Array
    exact: Callable[[], Enclosure] | None = None
    """The features as the problem states them."""

    @classmethod
    def coded(cls, features: Enclosure, shares: Array, counts: Array) -> "Shared":
        """Return the rows where each feature is in all classes, less the last one."""
        others = shares.shape[1] - 1
        feature = np.repeat(np.arange(features.shape[1]), others)
        plus = np.tile(np.arange(others), features.shape[1])
        return cls(features, feature, plus, np.full(len(plus), others), shares, counts)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and columns."""
        return self.shares.size, len(self.feature)

    @cached_property
    def _weights(self) -> Array:
        return np.asarray(self.counts[:, None] * self.shares * (1 - 4 * EPS))

    @cached_property
    def _parts(self) -> Enclosure:
        """The shares as parts of their sum."""
        total = balls.sum(Enclosure.exact(self.shares), axis=1)
        known = total.mid > 0
        total = Enclosure(np.where(known, total.mid, 1.0), np.where(known, total.rad, 0.0))
        return Enclosure.exact(self.shares) / total[:, None]

    @cached_property
    def signs(self) -> Array:
        """Classes by columns: 1 in the one class, -1 in the other."""
        signs = np.zeros((self.shares.shape[1], len(self.feature)))
        signs[self.plus, np.arange(len(self.feature))] = 1.0
        paired = np.flatnonzero(self.minus >= 0)
        signs[self.minus[paired], paired] = -1.0
        return signs

    def products(self) -> Products:
        """Return the products of the columns."""
        return products_of(self.pieces(), self.shape[1])

    def of_columns(self, values: Enclosure) -> Enclosure:
        """Return numbers of features and classes for the columns: less that of the other class, if there is one."""
        paired = Enclosure.exact((self.minus >= 0).astype(float))
        return values[self.feature, self.plus] - values[self.feature, self.minus] * paired

    def differences(self, samples: Index, one: Index, other: Index, blur: Array) -> Enclosure:
        """Return rows of samples in one class less those in another, with errors of the features."""
        signs = self.signs[one] - self.signs[other]
        features = self.features[samples].widened(blur)[:, self.feature]
        return Enclosure(features.mid * signs, features.rad * np.abs(signs))

    def reaches(self, inverse: Inverse) -> Array:
        """Return how far coefficients are at distance 1, by features and classes; 0 where there is no column.

        The last class of differences to it has the sum of all others.
        """
        reaches = np.zeros((self.features.shape[1], self.shares.shape[1]))
        reaches[self.feature, self.plus] = root(inverse.diagonal)
        for row in np.unique(self.feature[self.minus >= 0]):
            whole = inverse.of(Enclosure.exact((self.feature == row).astype(float)))
            reaches[row, -1] = root(np.asarray(whole))
        return reaches

    def pieces(self) -> Iterator[tuple[Enclosure, Array]]:
        """Yield some rows and their weights after the other."""
        paired = self.minus >= 0
        step = max(1, ROWS_AT_ONCE // max(self.signs.size, 1))
        for start in range(0, len(self.shares), step):
            here = slice(start, start + step)
            parts = self._parts[here]
            mean = parts[:, self.plus] - parts[:, self.minus] * Enclosure.exact(paired.astype(float))
            rows = self.features[here][:, self.feature][:, None] * (Enclosure.exact(self.signs) - mean[:, None])
            flat = (-1, len(self.feature))
            yield Enclosure(rows.mid.reshape(flat), rows.rad.reshape(flat)), self._weights[here].ravel()

    def select(self, columns: Index) -> "Shared":
        """Return the same rows with fewer columns."""
        return replace(self, feature=self.feature[columns], plus=self.plus[columns], minus=self.minus[columns])

    def dependencies(self, first: int) -> list[Dependency] | None:
        """Return which columns are combinations of the others for every loss, or None if that cannot be proven.

        The first columns are known to be independent. Losses see the differences to the last class. Columns can depend
        on others only if the features do.
        """
        features = self.features if self.exact is None else self.exact()
        found = dependencies(features)
        if not found:
            return found
        linked = np.unique(np.concatenate([[d.column, *d.of] for d in found]))
        chosen = np.flatnonzero(np.isin(self.feature, linked))
        signs = self.signs[:-1, chosen] - self.signs[-1, chosen]
        differences = (features.mid[:, self.feature[chosen]] * signs[:, None]).reshape(-1, len(chosen))
        among = dependencies(Enclosure.exact(differences), int(np.count_nonzero(chosen < first)))
        return None if among is None else [Dependency(int(chosen[j]), chosen[of], times) for j, of, times in among]


@dataclass(frozen=True, eq=False)
class Left:
    """The rows of x that are not proven zero, and in what way they are columns."""

    features: Index
    held: Mask
    """Rows by classes: which entries are not proven zero."""

    centred: Mask
    """Rows that are in all classes, with the sum 0 at the optimum."""

    unknown: Mask
    """Rows that are in all classes, with any sum."""

    @classmethod
    def of(cls, proof: "Proof", alive: Mask) -> "Left":
        """Return what is left where some blocks are alive."""
        return cls.where(proof.statement, alive, pulled=proof.held is not None or proof.least_slope > 0)

    @classmethod
    def where(cls, statement: "Statement", alive: Mask, *, pulled: bool = True) -> "Left":
        """Return what is left; solutions have the sum 0 in blocks where they are pulled to 0, and some do always."""
        held = alive[statement.labels].reshape(statement.problem.shape)
        features = np.flatnonzero(held.any(axis=1))
        held = held[features]
        everywhere, ridged = np.asarray(held.all(axis=1)), statement.ridges is not None
        blocks = statement.priced and not statement.problem.core.entrywise
        centred = everywhere if blocks and pulled else np.zeros(len(held), dtype=bool)
        return cls(features, held, centred, np.logical_and(everywhere & ~centred, not ridged))


def undetermined(proof: "Proof", alive: Mask) -> Index:
    """Return the features that are left in all classes, so that nothing is said of them."""
    left = Left.of(proof, alive)
    return left.features[left.unknown]


def intervals(proof: "Proof", alive: Mask, away: Array, around: Array) -> tuple[Array, Array, list[Dependency]]:
    """Return how far each entry of x and each free coefficient can be from the optimum, and the dependencies.

    Both begin with what is known already; entries that are proven zero are not far. In the dependencies, entries of x
    are numbered row by row, and free coefficients -1, -2, ... in the same way.
    """
    statement, x, kept = proof.statement, proof.x, proof.statement.used
    classes = x.shape[1]
    sums = [
        Dependency(-1 - (d.column * classes + c), -1 - (d.of * classes + c), d.times)
        for d in statement.sums
        for c in range(classes)
    ]
    left = Left.of(proof, alive)
    rows = rows_of(statement, left, proof.curvatures[0])
    if not (rows.shares.any() and rows.shape[1]):
        return away, around, sums
    with np.errstate(all="ignore"):
        ridge = ridge_of(rows, left, proof.held)
        inverse, columns, found = _determined(rows, len(kept) * (classes - 1), ridge)
        if inverse is None:
            return away, around, sums
        chosen = rows.select(columns)
        bounds = _bounds(proof, chosen, inverse)
        involved = [k for d in found for k in (d.column, *d.of)]
        coded = rows.minus[involved] >= 0
        bounds[rows.feature[involved], rows.plus[involved]] = np.inf
        bounds[rows.feature[involved][coded]] = np.inf
        of_x = bounds[len(kept) :]
        of_x[left.unknown] = np.inf
        of_x[left.centred] += off_centre(x[left.features[left.centred]])
        swayed, freely = _sway(proof, left.features)
        of_x += swayed
        away[left.features] = np.where(left.held, np.minimum(away[left.features], of_x), away[left.features])
        reach = np.append(np.ones(classes - 1), np.sqrt(classes - 1) * (1 + 4 * EPS))
        moved = proof.shift * proof.unit[kept][:, None] * reach + freely[kept]
        around[kept] = bounds[: len(kept)] + moved
        for home, direction in enumerate(statement.frame.directions(kept, left.features)):
            stated = _stated(proof, chosen, inverse, direction) + direction.size[: len(kept)] @ moved
            stated += direction.size[len(kept) :] @ (swayed + swayed.mean(axis=1, keepdims=True))
            around[home] = np.where(np.isfinite(around[home]), stated, np.inf)
        around[kept] = up(around[kept] * (1 + 4 * EPS) + off_centre(proof.b[kept]) + proof.stated.rad[kept])
    around[[k for d in statement.sums for k in (d.column, *d.of)]] = np.inf
    whose = np.concatenate([-1 - kept * classes, left.features * classes])[rows.feature]
    names = np.where(whose < 0, whose - rows.plus, whose + rows.plus)
    return away, around, sums + [Dependency(int(names[d.column]), names[d.of], d.times) for d in found]


def _sway(proof: "Proof", features: Index) -> tuple[Array, Array]:
    """Return how far some features and all free coefficients move along the line of a range of strengths."""
    if proof.sway is None:
        return np.zeros((len(features), proof.x.shape[1])), np.zeros(proof.b.shape)
    part = gamma(proof.x.shape[1] + 8)  # of sums over the classes of the line, which rounding leaves
    x, b = proof.sway[0].reshape(proof.x.shape)[features], proof.sway[1]
    return up(x + part * x.sum(axis=1, keepdims=True)), up(b + part * b.sum(axis=1, keepdims=True))


def rows_of(statement: "Statement", left: Left, shares: Array) -> Shared:
    """Return the rows whose columns are the free coefficients, and then the entries of x that are left."""
    last, kept = shares.shape[1] - 1, statement.used
    features = statement.columns(kept, left.features)
    there = np.vstack([np.ones((len(kept), last + 1), dtype=bool), left.held])
    coded = np.concatenate([np.ones(len(kept), dtype=bool), left.centred])
    there[coded | np.concatenate([np.zeros(len(kept), dtype=bool), left.unknown]), last] = False
    feature, plus = np.nonzero(there)
    minus = np.where(coded[feature], last, -1)
    return Shared(
        features, feature, plus, minus, shares, statement.counts, lambda: statement.exact_columns(kept, left.features)
    )


def ridge_of(rows: Shared, left: Left, held: Array | None) -> Array | None:
    """Return what a ridge adds for each column; it holds an entry of the last class, too, beside the others."""
    if held is None:
        return None
    by_entry = np.zeros((rows.features.shape[1], rows.shares.shape[1]))
    by_entry[len(by_entry) - len(left.features) :] = held.reshape(-1, rows.shares.shape[1])[left.features]
    return np.asarray(by_entry[rows.feature, rows.plus])


def _determined(rows: Shared, first: int, ridge: Array | None) -> tuple[Inverse | None, Index, list[Dependency]]:
    """Return the inverse over columns that are independent, these columns, and how the others depend on them."""
    every = np.arange(rows.shape[1])
    inverse = inverse_of(rows, ridge)
    if inverse is not None or ridge is not None:
        return inverse, every, []
    found = rows.dependencies(first)
    if not found or any(dependency.column < first for dependency in found):
        return None, every, []
    independent = np.setdiff1d(every, [dependency.column for dependency in found])
    return inverse_of(rows.select(independent)), independent, found


def _bounds(proof: "Proof", rows: Shared, inverse: Inverse) -> Array:
    """Return how far coefficients are from the optimum, by features and classes; inf where there is no column."""
    known = np.zeros((rows.features.shape[1], rows.shares.shape[1]), dtype=bool)
    known[rows.feature, rows.plus] = True
    known[rows.feature[rows.minus >= 0], -1] = True
    return np.where(known, up(rows.reaches(inverse) * proof.reach), np.inf)


def _stated(proof: "Proof", rows: Shared, inverse: Inverse, direction: Enclosure) -> Array:
    """Return how far the constants as stated are from the optimum, for each class: sums of coefficients in the frame.

    What features lose to the constant is taken without its mean over the classes, so that its sum over them stays 0.
    """
    signs = Enclosure.exact(rows.signs)
    mean = balls.sum(signs, axis=0) / Enclosure.exact(float(len(rows.signs)))
    sums = [direction[rows.feature] * (signs[c] - mean) for c in range(len(rows.signs))]
    return np.asarray(up(root(np.array([inverse.of(v) for v in sums])) * proof.reach))


def off_centre(rows: Array) -> Array:
    """Return upper bounds of the means of rows."""
    count = rows.shape[1]
    total = np.abs(rows.sum(axis=1)) + gamma(count) * np.abs(rows).sum(axis=1)
    return np.asarray(up(total / count * (1 + 4 * EPS)))[:, None]
