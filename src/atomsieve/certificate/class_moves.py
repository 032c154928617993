"""How the optimum moves as a sample is left out, for several classes: to second order, as in samples.py.

A sample has K predictions, C_i are its K rows, and its Hessian is `H_i = s_i (diag(p) - p p' / sum(p))`. Let sample i
keep the part 1 - tau of its weight, and

    g = inv(G) q,   q = C_i' theta_i + (s_i sigma / S) w,   h = inv(G) C_i' m,   G = C' H C,   m = H_i C_i (g + h).

At `p + tau g + beta h` the gradient lacks `C_i' (beta m - tau H_i C_i (tau g + beta h))`. With `t = H_i C_i h` and any
nu below 1, that is for `beta = tau^2 (1 - nu) / (1 - tau nu)`

    tau^2 (1 - tau) / (1 - tau nu) C_i' (t - nu m),   at most   tau / (1 + sqrt(1 - nu))^2 |t - nu m|, class by class:

nothing for two classes, where t is a multiple of m. So beta is between 0 and tau, and the corners of the triangle
decide. Whatever numbers g, h and m are, these formulas say what they leave.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from atomsieve.certificate.class_face import ClassFace
from atomsieve.certificate.classes import Shared
from atomsieve.certificate.samples import blocks
from atomsieve.core.clock import look
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import Uncertain, gamma, root, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask


@dataclass(frozen=True, eq=False)
class Moves:
    """How the optimum moves for each sample that is left out; a row for each sample, a column for each coefficient."""

    face: ClassFace
    rows: Shared
    """The rows with the probabilities at the point, as floats."""

    samples: Index
    pull: Array
    """The slopes of each sample, times its weight."""

    first: Array
    """g, for each sample."""

    second: Array
    """h, for each sample."""

    back: Array
    """m, for each sample."""

    left: Array
    """Bounds of what is left of m, class by class."""

    apart: Array
    """How far two predictions of any sample (column) move from each other; empty before `parts`."""

    @classmethod
    def of(cls, face: ClassFace, alive: Mask) -> "Moves":
        """Compute g and h in floats; whatever they are, `rest` is what they leave."""
        t = face.nominal.slopes
        place = face.class_place(alive, (t.low, t.high))
        if place.inverse is None or place.left.unknown.any():
            raise Uncertain("there are no columns, or l1 leaves a feature in all classes")
        label = np.arange(t.shape[1]) == face.statement.y[:, None]
        rows = replace(place.rows, shares=np.clip(t.mid + label, 0.0, 1.0))
        every, columns, signs = np.arange(len(t)), rows.features.mid[:, rows.feature], rows.signs
        pull, none = t.mid * face.statement.counts[:, None], np.zeros((len(t), 0))
        empty = cls(face, rows, every, pull, none, none, none, none, none)
        gram = empty._gram
        q = columns * (empty.pull @ signs) + empty.share
        first = np.linalg.lstsq(gram, q.T, rcond=None)[0].T
        r = empty.bent((columns * first) @ signs.T)
        lever, inverse = np.empty((*t.shape, t.shape[1])), np.linalg.pinv(gram)
        for c in range(t.shape[1]):
            lever[:, :, c] = empty.bent((columns * ((columns * signs[c]) @ inverse)) @ signs.T)
        back = np.asarray(np.linalg.solve(np.eye(t.shape[1]) - lever, r[:, :, None])[:, :, 0], dtype=np.float64)
        second = np.linalg.lstsq(gram, (columns * (back @ signs)).T, rcond=None)[0].T
        moves = replace(empty, first=first, second=second, back=back)
        return replace(moves, left=moves._left(r, moves.bent((columns * second) @ signs.T)))

    def _left(self, r: Array, t: Array) -> Array:
        """Return bounds of what is left of m; r and t have rounding errors."""
        m, rows, counts = self.back, self.rows, self.face.statement.counts
        nu = np.clip(np.nan_to_num(np.sum(m * t, axis=1) / np.sum(m * m, axis=1)), 0.0, 1 - 2.0**-20)[:, None]
        part = (1 + 2.0**-40) / (1 + np.sqrt(1 - nu)) ** 2
        sizes = np.abs(self.first) + np.abs(self.second)
        blur = rows.features.rad + gamma(2 * sum(self.first.shape) + 64) * rows.features.size
        rough = counts * np.sum(blur[:, rows.feature] * sizes, axis=1)
        rough = 4 * rows.shares * rough[:, None] + 16 * EPS * (np.abs(r) + np.abs(t) + np.abs(m))
        return np.asarray(up(part * np.abs(nu * m - t) + np.abs(r + t - m) + rough))

    @cached_property
    def _gram(self) -> Array:
        """G, in floats: off by no more than `rough` times the lengths of both columns."""
        rows, counts, signs = self.rows, self.face.statement.counts, self.rows.signs
        columns, total = rows.features.mid[:, rows.feature], rows.shares.sum(axis=1)
        gram = np.zeros((len(rows.feature),) * 2)
        for c, share in enumerate(rows.shares.T):
            gram += (columns * signs[c]).T @ ((counts * share)[:, None] * columns * signs[c])
        mean = columns * (rows.shares @ signs)
        return np.asarray(gram - mean.T @ ((counts / total)[:, None] * mean))

    def bent(self, v: Array) -> Array:
        """Return the Hessians of all samples times numbers of all samples and classes."""
        p, counts = self.rows.shares, self.face.statement.counts
        mean = np.sum(p * v, axis=1) / p.sum(axis=1)
        return np.asarray(counts[:, None] * p * (v - mean[:, None]))

    @cached_property
    def share(self) -> Array:
        """What the change of S adds to q, for each sample."""
        face, rows = self.face, self.rows
        index = np.arange(len(face.statement.labels))
        along = face.along(index).mid.reshape(face.nominal.x.shape)
        first = rows.features.shape[1] - len(self._features)
        below = np.vstack([np.zeros((first, along.shape[1])), along[self._features]])
        part = face.statement.counts[self.samples] * (float(face.slope.mid) / float(face.statement.total.mid))
        return np.outer(part, below[rows.feature, rows.plus] * (rows.minus < 0))

    @cached_property
    def _features(self) -> Index:
        """The features of A among those of the rows."""
        held = self.face.nominal.x.any(axis=1)
        return np.flatnonzero(held)

    @property
    def entries(self) -> tuple[Index, Index]:
        """The columns that are entries of x, and which entries these are, flattened."""
        first = self.rows.features.shape[1] - len(self._features)
        own = np.flatnonzero(self.rows.feature >= first)
        places = self._features[self.rows.feature[own] - first]
        return own, places * self.rows.shares.shape[1] + self.rows.plus[own]

    def parts(self, samples: Index) -> Iterator["Moves"]:
        """Yield the moves of some samples, a few at a time: they hold a number for each pair of samples."""
        for part in blocks(samples, self.rows.shares.size):
            look()
            some = self.only(part)
            yield replace(some, apart=some._apart())

    def only(self, chosen: Mask | Index) -> "Moves":
        """Return the moves of some samples."""
        names = ("samples", "pull", "first", "second", "back", "left", "apart")
        return replace(self, **{name: getattr(self, name)[chosen] for name in names})

    @property
    def sizes(self) -> Array:
        """Upper bounds of the sizes of the moves."""
        return np.asarray(up(np.abs(self.first) + np.abs(self.second)))

    @property
    def rough(self) -> float:
        """How large rounding errors are beside the numbers."""
        return float(gamma(8 * (sum(self.rows.shares.shape) + len(self.rows.feature)) + 64))

    def lengths(self, sizes: Array) -> Array:
        """Return bounds of the lengths of columns with entries of these sizes, in the metric of the probabilities."""
        rows, counts = self.rows, self.face.statement.counts
        weight = counts[:, None] * (rows.shares @ np.abs(rows.signs))
        return np.asarray(root(up(np.sum(weight * sizes[:, rows.feature] ** 2, axis=0) * (1 + 2.0**-30))))

    @cached_property
    def long(self) -> Array:
        """The lengths of the columns."""
        return self.lengths(self.rows.features.size)

    @cached_property
    def blurred(self) -> Array:
        """The lengths of the errors of the columns."""
        return self.lengths(self.rows.features.rad)

    def rest(self) -> Array:
        """Return what g and h leave of q and of `C_i' m`, with all rounding errors."""
        face, rows, i = self.face, self.rows, self.samples
        columns, signs = rows.features[i][:, rows.feature], np.abs(rows.signs)
        q, turned = columns.mid * (self.pull @ rows.signs) + self.share, columns.mid * (self.back @ rows.signs)
        rest = np.abs(q - self.first @ self._gram) + np.abs(turned - self.second @ self._gram)
        whole = np.outer(self.sizes @ self.long, self.long)
        pulls, backs = np.abs(self.pull) @ signs, np.abs(self.back) @ signs
        rough = (pulls + backs) * columns.size + np.abs(self.share) + whole
        blur = ((face.statement.counts[:, None] * face.nominal.slopes.rad)[i] @ signs) * columns.size
        blur = blur + (pulls + backs) * columns.rad + np.abs(self.share) * float(face.slope.rad / face.slope.mid)
        blur = blur + np.outer(self.sizes @ self.long, self.blurred)
        blur = blur + np.outer(self.sizes @ (2 * self.blurred), self.long)
        return np.asarray(up(rest + self.rough * rough + blur))

    def _apart(self) -> Array:
        """Return how far two predictions of all samples (columns) move from each other."""
        rows, shape = self.rows, (len(self.samples), len(self.rows.shares))
        columns, most = rows.features.mid[:, rows.feature], np.zeros(shape)
        for moves in (self.first, self.first + self.second):
            highest, lowest = np.full(shape, -np.inf), np.full(shape, np.inf)
            for sign in rows.signs:
                moved = moves @ (columns * sign).T
                np.maximum(highest, moved, out=highest)
                np.minimum(lowest, moved, out=lowest)
            most = np.maximum(most, highest - lowest)
        blur = rows.features.rad + gamma(len(rows.feature) + 8) * rows.features.size
        return np.asarray(up(most * (1 + 4 * EPS) + 4 * self.sizes @ blur[:, rows.feature].T))
