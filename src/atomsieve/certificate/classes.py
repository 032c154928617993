"""Several classes: how far the coefficients at a point can be from the optimum.

The Hessian of one sample is at least `diag(q) - q q' / sum(q)` (see `Multinomial`), and

    v' (diag(q) - q q' / sum(q)) v  =  sum over classes c of  q_c (v_c - mean)^2,      mean = q . v / sum(q):

a sum of weighted squares, with one row for each sample and class. It does not see a number that is added to all classes.
So coefficients that are the same feature in every class are known up to such a number. Free coefficients are taken with
the sum 0. A block that holds a feature in all classes has the sum 0 at the optimum, if the penalty has a slope there,
or a ridge: any other number makes the norm longer. Where l1 leaves all classes of a feature in, nothing is said of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from atomsieve.certificate.inverse import ROWS_AT_ONCE, Dependency, inverse_of
from atomsieve.numerics import balls
from atomsieve.numerics.enclosures import Enclosure, gamma, root, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask

if TYPE_CHECKING:
    from atomsieve.certificate.proof import Proof


@dataclass(frozen=True, eq=False)
class Shared:
    """The rows of all samples and classes. A column is a feature in one class, less the same in another one, or none."""

    features: Enclosure
    feature: Index
    plus: Index
    minus: Index
    shares: Array
    counts: Array

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
    def _signs(self) -> Array:
        """Classes by columns: 1 in the one class, -1 in the other."""
        signs = np.zeros((self.shares.shape[1], len(self.feature)))
        signs[self.plus, np.arange(len(self.feature))] = 1.0
        paired = np.flatnonzero(self.minus >= 0)
        signs[self.minus[paired], paired] = -1.0
        return signs

    def pieces(self) -> Iterator[tuple[Enclosure, Array]]:
        """Yield some rows and their weights after the other."""
        n, classes = self.shares.shape
        paired = self.minus >= 0
        step = max(1, ROWS_AT_ONCE // max(self._signs.size, 1))
        for start in range(0, n, step):
            here = slice(start, start + step)
            parts = self._parts[here]
            mean = parts[:, self.plus] - parts[:, self.minus] * Enclosure.exact(paired.astype(float))
            rows = self.features[here][:, self.feature][:, None] * (Enclosure.exact(self._signs) - mean[:, None])
            flat = (-1, len(self.feature))
            yield Enclosure(rows.mid.reshape(flat), rows.rad.reshape(flat)), self._weights[here].ravel()

    def select(self, columns: Index) -> "Shared":
        """Return the same rows with fewer columns."""
        return replace(self, feature=self.feature[columns], plus=self.plus[columns], minus=self.minus[columns])


def intervals(proof: "Proof", alive: Mask, away: Array, around: Array) -> tuple[Array, Array, list[Dependency]]:
    """Return how far each entry of x and each free coefficient can be from the optimum, and the dependencies.

    Both begin with what is known already; entries that are proven zero are not far.
    """
    statement, x = proof.statement, proof.x
    shares = proof.curvatures[0]
    if not shares.any():
        return away, around, []
    held = alive[statement.labels].reshape(x.shape)
    features = np.flatnonzero(held.any(axis=1))
    kept, base = statement.used, x.shape[1] - 1
    everywhere = held[features].all(axis=1)
    entrywise, ridge = statement.problem.core.entrywise, proof.held
    centred = everywhere & (not entrywise) & (ridge is not None or proof.least_slope > 0)
    unknown = everywhere & ~centred & (ridge is None)
    whole = _beside(statement.unpenalised[:, kept], statement.design.enclose_columns(features))
    pairs = held[features].copy()
    pairs[centred | unknown, base] = False
    free = np.tile(np.arange(base + 1) < base, (len(kept), 1))
    feature, plus = np.nonzero(np.vstack([free, pairs]))
    coded = np.concatenate([np.ones(len(kept), dtype=bool), centred])[feature]
    rows = Shared(whole, feature, plus, np.where(coded, base, -1), shares, statement.counts)
    with np.errstate(all="ignore"):
        added = None
        if ridge is not None:
            by_feature = np.vstack([np.zeros((len(kept), x.shape[1])), ridge.reshape(x.shape)[features]])
            added = by_feature[feature, plus]
        inverse = inverse_of(rows, added)
        if inverse is None:
            return away, around, _the_same(features[unknown], x.shape[1])
        bounds = np.full((len(kept) + len(features), x.shape[1]), np.inf)
        bounds[feature, plus] = root(up(inverse.diagonal * proof.gap_bound))
        for row in np.unique(feature[coded]):
            bounds[row, base] = root(up(np.asarray(inverse.of_sum(np.flatnonzero(feature == row)) * proof.gap_bound)))
        bounds[len(kept) :][unknown] = np.inf
        bounds[len(kept) :][centred] += _off_centre(x[features[centred]])
        found = away[features]
        found[held[features]] = np.minimum(found, bounds[len(kept) :])[held[features]]
        away[features] = found
        reach = np.append(np.ones(base), np.sqrt(base) * (1 + 4 * EPS))
        moved = proof.shift * proof.unit[kept][:, None] * reach
        around[kept] = up(bounds[: len(kept)] + moved + _off_centre(proof.b[kept]))
    involved = [k for d in statement.sums for k in (d.column, *d.of)]
    around[involved] = np.inf
    return away, around, _the_same(features[unknown], x.shape[1])


def _beside(left: Enclosure, right: Enclosure) -> Enclosure:
    return Enclosure(np.hstack([left.mid, right.mid]), np.hstack([left.rad, right.rad]))


def _off_centre(rows: Array) -> Array:
    """Return upper bounds of the means of rows."""
    count = rows.shape[1]
    total = np.abs(rows.sum(axis=1)) + gamma(count) * np.abs(rows).sum(axis=1)
    return np.asarray(up(total / count * (1 + 4 * EPS)))[:, None]


def _the_same(features: Index, count: int) -> list[Dependency]:
    """Return that a feature in the last class is minus the sum of the same in all others, as far as losses can see."""
    return [
        Dependency(int(j) * count + count - 1, j * count + np.arange(count - 1), -np.ones(count - 1)) for j in features
    ]
