"""Which samples can be left out, one at a time, without any change of what is proven.

Let sample i keep the part 1 - tau of its weight s_i; with it the sum of the weights changes, and the strength that the
penalty has beside them. To first order the optimum moves along `p + tau g + beta h`, in the notation of face.py:

    g = inv(G) q,   q = theta_i C_i + (s_i sigma / S) w,   h = (C_i . g) inv(G) C_i,   G = C' diag(s D) C,

where w is the subgradient of the gauge, D are curvatures at the point, and beta is between 0 and its value at tau = 1,
times tau. This is the optimum itself if the loss is quadratic and no coefficient comes or goes. So the points of a
triangle have to be proven near the optima, with the same signs and with scores below the slope. All bounds are convex
in (tau, beta), and the corners decide. What losses are off the parabola counts as in face.py.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from atomsieve.certificate.face import Face, Place
from atomsieve.certificate.gram import Inverse
from atomsieve.certificate.line import still
from atomsieve.certificate.scores import low
from atomsieve.core.clock import look
from atomsieve.display.live import LiveLine
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import Uncertain, gamma, root, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask

STEPS = (math.inf, *(2.0**-k for k in range(10, -2, -1)))
"""Changes of predictions for which curvatures are bounded; a sample has to pass for one of them."""

BLOCK = 1 << 22
"""Numbers that are held at a time."""


def removable(face: Face, alive: Mask) -> Mask:
    """Return which samples can lose any part of their weight, without a change of zeros, non-zeros and signs."""
    statement, t = face.statement, face.nominal.slopes
    found = np.zeros(len(statement.counts), dtype=bool)
    with np.errstate(all="ignore"), LiveLine() as line:
        middle = np.mean(statement.loss.curvatures(t.low, t.high, statement.y), axis=0)
        for step in STEPS:
            away = up(middle * step) + 4 * EPS * t.size
            ends = np.nextafter(t.low - away, -np.inf), np.nextafter(t.high + away, np.inf)
            least, most = statement.loss.curvatures(*ends, statement.y)
            try:
                moves = _Moves.of(face, face.place(alive, least, most), middle)
            except Uncertain:
                continue
            for some in moves.parts(np.flatnonzero(~found)):
                near = some.only(some.stay(away) & some.signs())
                found[near.samples] = near.scores(alive)
                line.tell(f"{np.count_nonzero(found):,} of {len(found):,} samples can be left out, so far")
            if step == math.inf and (least == most).all():  # the loss is quadratic
                break
    return found


@dataclass(frozen=True, eq=False)
class _Moves:
    """How the optimum moves for each sample that is left out; a row for each sample, a column for each coefficient."""

    face: Face
    place: Place
    inverse: Inverse
    curvature: Array
    samples: Index
    pull: Array
    """The derivative of the loss of each sample, times its weight."""

    first: Array
    """g, for each sample."""

    second: Array
    """h times the largest beta, for each sample."""

    back: Array
    """`C_i . g` times the largest beta."""

    kept: Array
    """The part of the metric that is left without the sample."""

    @classmethod
    def of(cls, face: Face, place: Place, curvature: Array) -> "_Moves":
        """Compute g and h in floats; whatever they are, `rest` is what they leave."""
        statement, inverse = face.statement, place.inverse
        if inverse is None:
            raise Uncertain("there are no columns")
        counts, columns = statement.counts, place.columns.mid
        pull, weight = face.nominal.slopes.mid * counts, counts * curvature
        gram = columns.T @ (weight[:, None] * columns)
        q = pull[:, None] * columns + _share(face, place)
        g, towards = (np.linalg.lstsq(gram, v.T, rcond=None)[0].T for v in (q, columns))
        lever = weight * np.einsum("ij,ij->i", columns, towards)
        back = np.einsum("ij,ij->i", columns, g) * weight / (1 - lever)
        lengths = inverse.lengths(place.columns)
        kept = np.where(lever < 1, 1 - up(up(counts * place.least) * up(lengths * lengths)), 0.0)
        every = np.arange(len(counts))
        return cls(face, place, inverse, curvature, every, pull, g, back[:, None] * towards, back, np.fmax(kept, 0.0))

    def parts(self, samples: Index) -> Iterator["_Moves"]:
        """Yield the moves of some samples, a few at a time: they hold a number for each pair of samples."""
        yield from (self.only(part) for part in blocks(samples, len(self.samples)))

    def only(self, chosen: Mask | Index) -> "_Moves":
        """Return the moves of some samples."""
        names = ("samples", "pull", "first", "second", "back", "kept")
        return replace(self, **{name: getattr(self, name)[chosen] for name in names})

    @property
    def _sizes(self) -> Array:
        """Upper bounds of the sizes of the moves."""
        return np.asarray(up(np.abs(self.first) + np.abs(self.second)))

    @property
    def _long(self) -> Array:
        """The lengths of the columns, in the metric of the curvatures."""
        return self._lengths(self.place.columns.size)

    @property
    def _blurred(self) -> Array:
        """The lengths of the errors of the columns, in the metric of the curvatures."""
        return self._lengths(self.place.columns.rad)

    def _lengths(self, sizes: Array) -> Array:
        weight = self.face.statement.counts * self.curvature
        return np.asarray(root(up(np.sum(weight[:, None] * sizes**2, axis=0) * (1 + 2.0**-30))))

    @property
    def _rough(self) -> float:
        """How large rounding errors are beside the numbers: of a product of three matrices, and of `back`."""
        return float(gamma(4 * len(self.curvature) + 32))

    @cached_property
    def shift(self) -> Array:
        """How far the prediction of every sample (column) moves at most, for each sample that is left out (row)."""
        columns, k = self.place.columns, self.first.shape[1]
        ends = (np.abs(moves @ columns.mid.T) for moves in (self.first, self.first + self.second))
        return np.asarray(up(np.maximum(*ends) + self._sizes @ (columns.rad + gamma(k + 8) * columns.size).T))

    @cached_property
    def _off(self) -> Array:
        """How far the slopes of all samples can be off the parabola."""
        place = self.place
        return np.asarray(up(np.maximum(place.most - self.curvature, self.curvature - place.least) * self.shift))

    def _norms(self, metric: Array) -> Array:
        """Return the norms of `off` in the inverse of a metric."""
        squares = np.sum(up(self.face.statement.counts / metric) * self._off**2, axis=1, where=self._off > 0)
        return np.asarray(root(up(squares * (1 + gamma(len(metric) + 4)))))

    @cached_property
    def before(self) -> Array:
        """How far the optimum can be from the point, in the metric of the least curvatures without the sample."""
        pulled = self.face.pulled(self.place, still(self.face, self.place))
        return np.where(self.kept > 0, up(pulled * (1 + 4 * EPS) / np.sqrt(self.kept)), np.inf)

    @cached_property
    def away(self) -> Array:
        """How far it can be from the other corners of the triangle; in between the distance grows in proportion."""
        rest = up(self._rest() @ root(self.inverse.diagonal) * (1 + 2.0**-30))
        away = up(self.before + rest / np.sqrt(self.kept) * (1 + 4 * EPS) + self._norms(self.place.least))
        return np.where(self.kept > 0, away, np.inf)

    def _corners(self) -> Iterator[tuple[float, float, Array, Array]]:
        """Yield the parts of g and h at each corner, how far the optimum can be from it, and how far slopes can."""
        rough = self._sizes @ (self._rough * self._long + 2 * self._blurred)
        off = up(self.away + self._norms(self.place.most) + rough)
        yield 0.0, 0.0, self.before, self.before
        yield 1.0, 0.0, self.away, off
        yield 1.0, 1.0, self.away, off

    def _rest(self) -> Array:
        """Return what g and h leave of q and of C_i, with all rounding errors."""
        face, place, i = self.face, self.place, self.samples
        counts, slopes, columns = face.statement.counts, face.nominal.slopes, place.columns[i]
        weight = counts * self.curvature
        gram = place.columns.mid.T @ (weight[:, None] * place.columns.mid)
        share = _share(face, place)[i]
        q, turned_back = self.pull[:, None] * columns.mid + share, self.back[:, None] * columns.mid
        rest = np.abs(q - self.first @ gram) + np.abs(turned_back - self.second @ gram)
        long, blurred = self._long, self._blurred
        rough = np.abs(q) + np.abs(turned_back) + np.abs(share) + np.outer(self._sizes @ long, long)
        blur = (counts * slopes.rad)[i][:, None] * columns.size + np.abs(self.pull)[:, None] * columns.rad
        blur = blur + np.abs(self.back)[:, None] * columns.rad
        blur = blur + np.abs(share) * float(face.slope.rad / face.slope.mid)
        blur = blur + np.outer(self._sizes @ long, blurred) + np.outer(self._sizes @ (2 * blurred), long)
        return np.asarray(up(rest + self._rough * rough + blur))

    def stay(self, away: Array) -> Mask:
        """Return for which samples all slopes stay where curvatures are bounded."""
        counts, most = self.face.statement.counts, self.place.most
        needed = up(most * self.shift + root(up(most / counts)) * self.away[:, None])
        i = self.samples  # the sample itself may have no weight left
        near = up(self.inverse.lengths(self.place.columns[i]) * self.away / np.sqrt(self.kept))
        needed[np.arange(len(i)), i] = up(most[i] * (self.shift[np.arange(len(i)), i] + near))
        return np.asarray((needed < away).all(axis=1))

    def signs(self) -> Mask:
        """Return for which samples every coefficient keeps its sign."""
        free = len(self.place.kept)
        x = self.face.nominal.x[self.place.index]
        lengths = root(self.inverse.diagonal)[free:]
        found = np.ones(len(self.samples), dtype=bool)
        for tau, beta, away, _ in self._corners():
            there = x + tau * self.first[:, free:] + beta * self.second[:, free:]
            there = there * np.sign(x) - 8 * EPS * (np.abs(x) + self._sizes[:, free:])
            found &= (there > up(np.outer(away / np.sqrt(self.kept), lengths))).all(axis=1)
        return found

    def scores(self, alive: Mask) -> Mask:
        """Return for which samples the scores of all other columns stay below the slope, which changes with S."""
        face, i = self.face, self.samples
        statement, proof, counts = face.statement, face.nominal, face.statement.counts
        others = np.flatnonzero((~alive & statement.problem.eligible)[statement.labels])
        spread = statement.spreads(up(counts * self.place.most))
        bend = (counts * self.curvature)[:, None] * self.place.columns.mid
        shares, corners = up(counts[i] / float(statement.total.low)), list(self._corners())
        long = self._sizes @ self._long
        found = np.ones(len(i), dtype=bool)
        for index in blocks(others, len(counts)):
            look()
            columns, z = statement.design.enclose_columns(index), proof.z[index]
            mine, turned = columns[i], columns.mid.T @ bend
            parts = ((self.pull, self.first), (self.back, self.second))
            steps = [mine.mid.T * pull - turned @ moves.T for pull, moves in parts]
            blur = up(np.abs(self.pull) + np.abs(self.back)) * (mine.rad + 8 * EPS * mine.size).T
            blur = up(z.rad[:, None] + blur + mine.size.T * (counts * proof.slopes.rad)[i])
            blur = up(blur + np.outer(self._lengths(columns.rad), long))
            prices = low(statement.prices)[statement.labels[index]] * float(face.slope.low) * (1 - 8 * EPS)
            for tau, beta, _, off in corners:
                there = z.mid[:, None] + tau * steps[0] + beta * steps[1]
                sizes = up(blur + np.outer(spread[index], off)) + 16 * EPS * np.abs(there)
                sizes = sizes + 8 * EPS * (np.abs(steps[0]) + np.abs(steps[1]))
                found &= (self._highest(there, index) + sizes < np.outer(prices, 1 - tau * shares)).all(axis=0)
        return found

    def _highest(self, z: Array, index: Index) -> Array:
        """Return what of z counts: its size, or itself where coefficients must not be negative."""
        signs = self.face.statement.signs
        if isinstance(signs, bool):
            return np.abs(z) if signs else z
        return np.where(signs[index][:, None], np.abs(z), z)


def _share(face: Face, place: Place) -> Array:
    """Return what the change of S adds to q, for each sample."""
    along = np.append(np.zeros(len(place.kept)), face.along(place.index).mid)
    return np.outer(face.statement.counts, along) * (float(face.slope.mid) / float(face.statement.total.mid))


def blocks(index: Index, length: int) -> Iterator[Index]:
    """Yield parts of an index, for arrays with a row of this length for each of them."""
    width = max(1, BLOCK // length)
    for start in range(0, len(index), width):
        yield index[start : start + width]
