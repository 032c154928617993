"""What a point proves about all problems of a family: the optimum moves no further than the data push it.

Let x be a point, b its best free coefficients for the stated data, and theta the slopes there. Let v be a subgradient
of the penalty at x, and K the blocks that are alive, C the columns of B and of K. For a problem of the family, let x'
be the optimum among the points that are zero outside of K, and u' its predictions. Since v is a subgradient,

    <theta' - theta, C'(p' - p)> <= <delta, p' - p> <= d |C'(p' - p)|,    delta = -C'' theta - v,

where p are the coefficients (b, x_K), the norm is that of the least curvatures m, and d is the norm of delta in the
inverse of `C'' diag(s m) C'`. Predictions of one and the same point move by at most eta from problem to problem. With
`a^2 = <theta' - theta, u' - u>` and e the norm of eta in the largest curvatures it follows that

    a^2 <= a e + d (a + e).

So scores move by at most a times the length of a column, and by `E' |theta|` for its own errors E. If every block
outside of K stays below the slope of the penalty, x' is the optimum of its problem. All this is of first order in the
errors. Curvatures are those for slopes that are not further from theta than this proves them to be.
"""

import math
from dataclasses import dataclass, fields

import numpy as np

from atomsieve.certificate.family import Family
from atomsieve.certificate.inverse import Inverse, Plain, inverse_of
from atomsieve.certificate.proof import Proof, low, mass_of
from atomsieve.certificate.statement import Statement
from atomsieve.numerics.enclosures import LEAST, Enclosure, Uncertain, gamma, norm, root, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask

ROUNDS = 20
"""How often blocks that are not proven zero are added to those that are alive."""

TRIALS = 5
"""How often the range of the slopes is widened until it proves itself."""

WIDER = 2.0
"""How much wider than necessary the next range of slopes is."""

TOO_WIDE = "the family is too wide: with so many blocks left, nothing bounds how far the optimum can be"


@dataclass(frozen=True, eq=False)
class FaceProof(Proof):
    """A proof for all problems of a family. Its z covers the products of all their columns with the slopes."""

    least: Array
    most: Array
    farthest: float
    near: float

    @property
    def curvatures(self) -> tuple[Array, Array]:
        """Bounds of loss'' between the point and the optimum of every problem."""
        return self.least, self.most

    @property
    def radius(self) -> float:
        """How far the slopes of the optimum can be from those of the point, in the inverse of the curvature metric."""
        return self.farthest

    @property
    def reach(self) -> float:
        """How far the predictions of the coefficients can be from those of the optimum, for the stated columns."""
        return self.near

    def _pairwise(self, norms: Array, radius: float) -> Mask:
        """Return that no coordinate is ruled out by another one: their columns move independently."""
        return np.zeros(len(norms), dtype=bool)


def on_face(nominal: Proof, family: Family) -> FaceProof:
    """Return what a point proves about all problems of a family; raise Uncertain if that is nothing."""
    given = nominal.statement.problem.eligible
    face = _Face.of(nominal, family)
    held = np.zeros(len(given), dtype=bool)
    held[np.unique(nominal.statement.labels[np.flatnonzero(nominal.x)])] = True
    alive = held
    for _ in range(ROUNDS):
        proof = face.proof(alive)
        left = ~proof.zero() & given
        if not (left & ~alive).any():
            if ((left | held) == alive).all():
                return proof
            alive = left | held  # fewer blocks, and sharper bounds
        else:
            alive = alive | left
    raise Uncertain(TOO_WIDE)


@dataclass(frozen=True, eq=False)
class _Face:
    """The point of a proof, in all problems of a family."""

    nominal: Proof
    statement: Statement
    family: Family
    eta: Array
    blur: Array
    slope: Enclosure
    """The slope of the penalty at the point, times S, for the stated strength."""

    slopes: Enclosure
    """The same for all strengths."""

    spare: float
    """What is missing for `slope` to be a slope of the penalty: 0, unless the penalty is flat at the point."""

    @classmethod
    def of(cls, nominal: Proof, family: Family) -> "_Face":
        stated, statement = nominal.statement, nominal.statement.over(family)
        theta = up(nominal.slopes.size * stated.counts)
        mass = mass_of(stated, nominal.x)
        steepness, spare = stated.penalty.slope(mass), 0.0
        slope, slopes = stated.total * steepness, statement.total * statement.penalty.slope(mass)
        if stated.problem.penalty.limit < math.inf and steepness.size == 0:
            slope = slopes = Enclosure.exact(nominal.sigma)
            conjugate = stated.total * stated.penalty.conjugate(slope / stated.total)
            spare = max(float((conjugate + stated.total * stated.penalty.value(mass) - slope * mass).high), 0.0)
        if not np.isfinite(slopes.high):
            raise Uncertain("the slope of the penalty at the point is not known")
        return cls(nominal, statement, family, family.moved(nominal.x), family.pulled(theta), slope, slopes, spare)

    def proof(self, alive: Mask) -> FaceProof:
        """Return the proof with these blocks alive; the caller has to see that it proves all others zero."""
        t, counts, loss = self.nominal.slopes, self.statement.counts, self.statement.loss
        away = np.zeros(len(counts))
        with np.errstate(all="ignore"):
            for _ in range(TRIALS):
                ends = np.nextafter(t.low - away, -np.inf), np.nextafter(t.high + away, np.inf)
                least, most = loss.curvatures(*ends, self.statement.y)
                farthest, near, gap = self._distances(alive, least, most)
                needed = up(root(up(most / counts)) * farthest)
                if not np.isfinite(needed).all():
                    raise Uncertain(TOO_WIDE)
                if (needed < away).all():
                    return self._proof(least, most, farthest, near, gap)
                away = WIDER * needed + 4 * EPS * t.size + np.finfo(float).tiny
        raise Uncertain("the family is too wide: the slopes of the losses are not bounded")

    def _distances(self, alive: Mask, least: Array, most: Array) -> tuple[float, float, float]:
        """Return how far slopes, and predictions of coefficients, can be from the optimum, and a bound of the gap."""
        statement, counts, eta = self.statement, self.statement.counts, self.eta
        index, kept = np.flatnonzero(alive[statement.labels]), statement.used
        pushed = norm(up(root(up(counts * most)) * eta))
        moves = eta > 0
        held = norm(up(up(root(up(counts / least)) * most) * eta)[moves & (least > 0)])
        pulled, stretch = 0.0, 1.0
        if len(index) + len(kept):
            columns = statement.columns(kept, index)
            inverse = inverse_of(Plain(columns, np.asarray(counts * least * (1 - 4 * EPS))))
            if inverse is None:
                raise Uncertain(TOO_WIDE)
            # columns with errors are shorter at worst by this part
            moved = self.family.rows(root(inverse.diagonal)[len(kept) :], index)
            omitted = norm(up(root(up(counts * least)) * moved))
            if not omitted < 1 / 2:
                raise Uncertain(TOO_WIDE)
            stretch = float(up(1 / (1 - omitted)))
            pulled = self._pulled(inverse, index, len(kept)) * stretch
            flat = np.flatnonzero(moves & (least == 0))  # where the metric knows nothing of a sample
            rows = columns[flat].widened(self.family.entries(flat, index, len(kept)))
            held += norm_one(up(counts * most)[flat], up(eta[flat] * inverse.lengths(rows))) * stretch
        both = up(pushed + pulled)
        farthest = up(both / 2 + math.sqrt(up(both * both / 4 + pulled * pushed + self.spare)))
        near = up(held + pulled)
        near = up(near / 2 + math.sqrt(up(near * near / 4 + self.spare)))
        gap = up(near * up(held + pulled) + self.spare)
        return float(farthest), float(up(min(near, farthest + pushed) * stretch)), float(gap)

    def _pulled(self, inverse: Inverse, index: Index, first: int) -> float:
        """Return d for the stated columns: the norm of delta, over all errors, slopes and strengths."""
        fixed, along, box = self._deltas(index)
        none = np.zeros(first)
        each = [Enclosure(np.append(none, v.mid), np.append(none, v.rad)) for v in (fixed, along)]
        spread = float(up(np.maximum(self.slopes.high - self.slope.mid, self.slope.mid - self.slopes.low)))
        parts = [inverse.of(each[0]), inverse.of(each[1]) * spread * spread, inverse.over(np.append(none, box))]
        return float(up(sum(math.sqrt(up(part)) for part in parts)))

    def _deltas(self, index: Index) -> tuple[Enclosure, Enclosure, Array]:
        """Return delta for some entries: what is fixed, its change with the slope, and bounds of all the rest.

        Where x is zero, v is as near to z as the slope allows. What is left is the excess of the norm of a block.
        """
        statement, x = self.statement, self.nominal.x.ravel()
        labels, z = statement.labels, self.nominal.z
        sizes = np.abs(x)
        high, least = statement.block_norms(sizes), statement.least_norms(sizes)
        norms = Enclosure((high + least) / 2, up((high - least) / 2 + EPS * high))
        used = labels[index]
        carries = high[used] > 0
        unit = Enclosure.exact(x[index]) / norms[used] * statement.prices[used]
        if statement.plain:
            unit = Enclosure.exact(np.sign(x[index])) * statement.prices[used]
        along = Enclosure(np.where(carries, unit.mid, 0.0), np.where(carries, unit.rad, 0.0))
        fixed = z[index] - along * Enclosure(self.slope.mid, 0.0 * self.slope.rad)
        allowed = self.slopes.low * low(statement.prices)[used] * (1 - 4 * EPS)
        excess = np.maximum(self.nominal.pulls[1][used] - allowed, 0.0) * (1 + 4 * EPS)
        fixed = Enclosure(np.where(carries, fixed.mid, 0.0), np.where(carries, fixed.rad, 0.0))
        return fixed, along, up(self.blur.ravel()[index] + np.where(carries, 0.0, excess))

    def _proof(self, least: Array, most: Array, farthest: float, near: float, gap: float) -> FaceProof:
        nominal, stated = self.nominal, self.nominal.statement
        mass = mass_of(stated, nominal.x)
        charge = self.statement.total * self.statement.penalty.value(mass)
        moved = up(nominal.slopes.size * self.eta + most * self.eta * self.eta)
        objective = nominal.objective.widened(float(up(norm_one(stated.counts, moved))))
        if self.family.strengths is not None:
            objective = objective - stated.total * stated.penalty.value(mass) + charge
        known = {field.name: getattr(nominal, field.name) for field in fields(Proof)}
        known |= {"statement": self.statement, "z": nominal.z.widened(self.blur), "shrink": 1.0}
        known |= {"objective": objective, "gap": gap}
        return FaceProof(**known, least=least, most=most, farthest=farthest, near=near)


def norm_one(weights: Array, sizes: Array) -> float:
    """Return an upper bound of a weighted sum of sizes."""
    return float(up(weights @ sizes * (1 + gamma(len(sizes) + 2)) + len(sizes) * LEAST))
