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

A ridge R counts as samples `sqrt(R_j) x_j` of the squared loss, which are exact: delta is `-C'' theta - R x - v`, and R
is added to the metric. The scores of blocks outside of K do not see it, since they are zero in both.

For a range of strengths the point moves along a line with the slope of the penalty: line.py. Only what is left of delta
there counts. Bounds of scores are convex along it and the slope is linear, so that both ends of the range decide for
all of it. Data with errors move predictions and scores as above, from every point of the line.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from atomsieve.certificate.face_proof import FaceProof
from atomsieve.certificate.family import Family
from atomsieve.certificate.gap import SLACK
from atomsieve.certificate.gram import Inverse, Plain, inverse_of
from atomsieve.certificate.line import Line, derivative, line_of
from atomsieve.certificate.point import mass_of
from atomsieve.certificate.proof import Proof
from atomsieve.certificate.scores import low, pulls
from atomsieve.certificate.statement import Statement
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import LEAST, Enclosure, Uncertain, gamma, norm, root, up
from atomsieve.numerics.places import support_of
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask

if TYPE_CHECKING:
    from atomsieve.certificate.class_line import ClassLine

TRIALS = 5
"""How often the range of the slopes is widened until it proves itself."""

WIDER = 2.0
"""How much wider than necessary the next range of slopes is."""

TOO_WIDE = "the family is too wide: with so many blocks left, nothing bounds how far the optimum can be"


Ends = tuple[tuple[Enclosure, float], ...]
"""At both ends of a range of strengths: z, and a lower bound of the slope of the penalty; nothing without a range."""


@dataclass(frozen=True, eq=False)
class Place:
    """The columns that are alive, the curvatures around the point, and the inverse there."""

    least: Array
    most: Array
    index: Index
    kept: Index
    columns: Enclosure
    inverse: Inverse | None
    names: Index
    """The column of A that each of them is; -1 for other columns of B, which are exact."""


@dataclass(frozen=True, eq=False)
class Face:
    """The point of a proof, in all problems of a family."""

    nominal: Proof
    statement: Statement
    family: Family
    slope: Enclosure
    """The slope of the penalty at the point, times S, for the stated strength."""

    step: float
    """Half of the range of that slope."""

    spare: float
    """What is missing for `slope` to be a slope of the penalty: 0, unless the penalty is flat at the point."""

    @classmethod
    def of(cls, nominal: Proof, family: Family) -> "Face":
        stated, statement = nominal.statement, nominal.statement.over(family)
        mass = mass_of(stated, nominal.x)
        steepness, spare, step = stated.penalty.slope(mass), 0.0, 0.0
        slope = stated.total * steepness
        if family.slopes is not None:  # Linear at these slopes
            low, high = family.slopes
            slope = stated.total * Enclosure.exact((low + high) / 2)
            step = float(up(stated.total.high * (high - low) / 2))
        elif stated.problem.penalty.limit < math.inf and steepness.size == 0:
            slope = Enclosure.exact(nominal.sigma)
            conjugate = stated.total * stated.penalty.conjugate(slope / stated.total)
            spare = max(float((conjugate + stated.total * stated.penalty.value(mass) - slope * mass).high), 0.0)
        if not np.isfinite(slope.high):
            raise Uncertain("the slope of the penalty at the point is not known")
        if family.strengths is not None and family.slopes is None:
            ends = statement.total * statement.penalty.slope(mass)
            step = float(up(max(float(ends.high - slope.mid), float(slope.mid - ends.low))))
        return cls(nominal, statement, family, slope, step, spare)

    def proof(self, alive: Mask) -> FaceProof:
        """Return the proof with these blocks alive; the caller has to see that it proves all others zero."""
        t = self.nominal.slopes
        away = np.zeros(t.shape)
        with np.errstate(all="ignore"):
            for _ in range(TRIALS):
                ends = np.nextafter(t.low - away, -np.inf), np.nextafter(t.high + away, np.inf)
                needed, proven = self._tried(alive, ends)
                if not np.isfinite(needed).all():
                    raise Uncertain(TOO_WIDE)
                if (needed < away).all():
                    return proven()
                away = WIDER * needed + 4 * EPS * t.size + np.finfo(float).tiny
        raise Uncertain("the family is too wide: the slopes of the losses are not bounded")

    def _tried(self, alive: Mask, ends: tuple[Array, Array]) -> tuple[Array, Callable[[], FaceProof]]:
        """Return how far slopes move if they stay between two ends, and the proof if that is no contradiction."""
        statement = self.statement
        place = self.place(alive, *statement.loss.curvatures(*ends, statement.y))
        line = line_of(self, place)
        distances = self._distances(place, line)
        needed = root(up(place.most / statement.counts)) * distances[0] + up(place.most * line.u.size) * line.step
        return up(needed), lambda: self._proof(place, line, *distances)

    def place(self, alive: Mask, least: Array, most: Array) -> Place:
        """Return the columns that are alive, with the inverse for these curvatures."""
        statement = self.statement
        index, kept = np.flatnonzero(alive[statement.labels]), statement.used
        columns = statement.columns(kept, index)
        inverse = None
        if columns.shape[1]:
            ridge = None if statement.ridges is None else statement.ridges.low[statement.labels[index]]
            ridge = None if ridge is None else np.append(np.zeros(len(kept)), ridge)
            inverse = inverse_of(Plain(columns, np.asarray(statement.counts * least * (1 - 4 * EPS))), ridge)
            if inverse is None:
                raise Uncertain(TOO_WIDE)
        return Place(least, most, index, kept, columns, inverse, np.append(self._free_names[kept], index))

    @cached_property
    def _free_names(self) -> Index:
        """The column of A that each column of B is; -1 for others. Those that depend on others have to be exact."""
        own, sums = self.statement.problem.core.unpenalised(), self.statement.sums
        names = np.full(self.statement.unpenalised.shape[1], -1, dtype=np.intp)
        names[len(names) - len(own) :] = own
        linked = np.unique([k for d in sums for k in (d.column, *d.of)]).astype(np.intp)
        if self.family.entries(np.arange(len(self.statement.counts)), names[linked]).any():
            raise Uncertain("features without a price that depend on each other have errors")
        return names

    def _distances(self, place: Place, line: Line) -> tuple[float, float, float]:
        """Return how far slopes, and predictions of coefficients, can be from the optimum, and a bound of the gap."""
        counts, least, most = self.statement.counts, place.least, place.most
        eta, off = self._eta(place, line), line.off(place.least, place.most)
        pushed = norm(up(root(up(counts * most)) * eta))
        left = np.where((eta > 0) | (off > 0), up(up(most * eta) + off), 0.0)
        held, bent = (norm(up(root(up(counts / least)) * v)[(least > 0) & (v > 0)]) for v in (left, off))
        pulled, stretch = 0.0, 1.0
        if place.inverse is not None:
            inverse = place.inverse
            # columns with errors are shorter at worst by this part
            moved = self.family.rows(root(inverse.diagonal), place.names)
            omitted = norm(up(root(up(counts * least)) * moved))
            if not omitted < 1 / 2:
                raise Uncertain(TOO_WIDE)
            stretch = float(up(1 / (1 - omitted)))
            flat = np.flatnonzero((least == 0) & (left > 0))  # where the metric knows nothing of a sample
            rows = place.columns[flat].widened(self.family.entries(flat, place.names))
            lengths = up(inverse.lengths(rows) * stretch)
            held += norm_one(counts[flat], up(left[flat] * lengths))
            bent += norm_one(counts[flat], up(off[flat] * lengths))
            pulled = float(up(self.pulled(place, line) * stretch))
        d = up(pulled + bent)
        both = up(pushed + d)
        a = up(both / 2 + math.sqrt(up(both * both / 4 + d * pushed + self.spare)))
        whole = up(held + pulled)
        near = up(whole / 2 + math.sqrt(up(whole * whole / 4 + self.spare)))
        gap = up(near * whole + self.spare)
        beyond = norm(up(root(up(counts / most)) * off)[off > 0])
        near = min(near, up(a + pushed)) * stretch
        return float(up((a + beyond) * SLACK)), float(up(near * SLACK)), float(up(gap * SLACK))

    def _eta(self, place: Place, line: Line) -> Array:
        """Return how far predictions less targets can move, all along the line."""
        nominal, kept = self.nominal, place.kept
        sizes = np.append(np.abs(nominal.b[kept]) + nominal.shift * nominal.unit[kept], np.abs(nominal.x[place.index]))
        sizes = sizes + line.step * np.abs(line.p)
        return self.family.moved(np.where(sizes > 0, up(sizes), 0.0), place.names)

    def _theta(self, place: Place, line: Line) -> Array:
        """Return bounds of the sizes of the slopes times the weights, all along the line."""
        moved = up(up(place.most * line.u.size) * line.step)
        return np.asarray(up(up(self.nominal.slopes.size + moved) * self.statement.counts))

    def pulled(self, place: Place, line: Line) -> float:
        """Return d for the stated columns: the norm of delta, over all errors and strengths."""
        inverse, first = place.inverse, len(place.kept)
        assert inverse is not None  # noqa: S101
        none = np.zeros(first)
        along = self.along(place.index)
        fixed, excess = self._deltas(place.index, along, self._ends(line))
        blur = self.family.pulled(self._theta(place, line)).ravel()[place.names] * (place.names >= 0)
        parts = [inverse.of(Enclosure(np.append(none, fixed.mid), np.append(none, fixed.rad)))]
        parts.append(inverse.over(up(blur + np.append(none, excess + line.turn))))
        spread = float(up(self.slope.rad))
        parts.append(inverse.of(Enclosure(np.append(none, along.mid), np.append(none, along.rad))) * spread * spread)
        if line.step:
            parts.append(inverse.of(line.rest) * line.step * line.step)
        return float(up(sum(math.sqrt(up(part)) for part in parts)))

    @cached_property
    def norms(self) -> tuple[Array, Array]:
        """Upper and lower bounds of the norm of each block at the point."""
        sizes = np.abs(self.nominal.x.ravel())
        return self.statement.block_norms(sizes), self.statement.least_norms(sizes)

    @cached_property
    def held(self) -> Mask:
        """The blocks that are not zero at the point."""
        held = np.zeros(len(self.statement.problem.eligible), dtype=bool)
        held[self.statement.labels[support_of(self.nominal.x)]] = True
        return held

    def carries(self, index: Index) -> Mask:
        """Return which entries are in blocks that are not zero at the point."""
        return np.asarray(self.held[self.statement.labels[index]])

    def along(self, index: Index) -> Enclosure:
        """Return the subgradient of the gauge where it is one vector: prices times x over its norm; 0 elsewhere."""
        statement, x = self.statement, self.nominal.x.ravel()
        (high, least), used = self.norms, statement.labels[index]
        norms = Enclosure((high + least) / 2, up((high - least) / 2 + EPS * high))
        unit = Enclosure.exact(x[index]) / norms[used] * statement.prices[used]
        if statement.plain:
            unit = Enclosure.exact(np.sign(x[index])) * statement.prices[used]
        carries = self.carries(index)
        return Enclosure(np.where(carries, unit.mid, 0.0), np.where(carries, unit.rad, 0.0))

    def _deltas(self, index: Index, along: Enclosure, ends: Ends) -> tuple[Enclosure, Array]:
        """Return delta where x is not zero, without what moves with the slope, and bounds of it where x is zero.

        There v is as near to z as the slope allows. What is left is the excess of the norm of a block.
        """
        used, carries = self.statement.labels[index], self.carries(index)
        fixed = self.nominal.z_flat[index] - along * Enclosure.exact(self.slope.mid)
        if self.statement.ridges is not None:
            fixed = fixed - self.statement.ridges[used] * Enclosure.exact(self.nominal.x.ravel()[index])
        fixed = Enclosure(np.where(carries, fixed.mid, 0.0), np.where(carries, fixed.rad, 0.0))
        excess = np.zeros(len(index))
        for z, slope in ends or ((self.nominal.z, float(self.slope.low)),):
            allowed = slope * low(self.statement.prices)[used] * (1 - 4 * EPS)
            over = pulls(self.nominal.statement, z)[1][used] - allowed
            excess = np.maximum(excess, np.maximum(over, 0.0) * (1 + 4 * EPS))
        return fixed, np.where(carries, 0.0, excess)

    def rate(self) -> float:
        """Return the derivative of the gauge of the optima by the slope of the penalty, in floats: at most 0."""
        return derivative(self)

    def _ends(self, line: "Line | ClassLine") -> Ends:
        """Return z of the stated columns at both ends of the line, as if losses were quadratic, and the slopes."""
        if not line.step:
            return ()
        change, slope = line.change * Enclosure.exact(line.step), self.slope.low
        return tuple(
            (self.nominal.z - change * Enclosure.exact(side), float((slope + side * line.step) * (1 - 4 * EPS)))
            for side in (-1.0, 1.0)
        )

    def _proof(self, place: Place, line: Line, farthest: float, near: float, gap: float) -> FaceProof:
        nominal, stated, statement = self.nominal, self.nominal.statement, self.statement
        eta, first = self._eta(place, line), len(place.kept)
        moved = up(nominal.slopes.size * eta + place.most * eta * eta)
        objective = nominal.objective.widened(norm_one(stated.counts, moved))
        x, b = np.zeros(nominal.x.shape), np.zeros(nominal.b.shape)
        x[place.index], b[place.kept] = (line.step * v * (1 + 4 * EPS) for v in (line.p[first:], line.p[:first]))
        masses = (0.0, math.inf)
        if line.step:
            inverse = place.inverse
            away = root(inverse.diagonal)[first:] * near if inverse is not None else np.zeros(0)
            masses, objective, gap = self._over_strengths(place.index, x, away, (objective, gap))
        blur = self.family.pulled(self._theta(place, line))
        ends = tuple((z.widened(blur), slope) for z, slope in self._ends(line))
        known = known_of(nominal) | {"statement": statement, "z": nominal.z.widened(blur), "shrink": 1.0}
        known |= {"objective": objective, "gap": gap, "moves": (x, b), "ends": ends, "masses": masses}
        return FaceProof(**known, least=place.least, most=place.most, farthest=farthest, near=near)

    def _over_strengths(
        self, index: Index, moves: Array, away: Array, at: tuple[Enclosure, float]
    ) -> tuple[tuple[float, float], Enclosure, float]:
        """Return bounds of the gauge of the optima, and objective and gap at the point, for all strengths."""
        objective, tilt = self._charged(at[0])
        apart = self._mass(index, up(away + np.abs(moves.ravel()[index])))
        return self._masses(index, moves, away), objective, float(up(at[1] + tilt * apart))

    def _charged(self, objective: Enclosure) -> tuple[Enclosure, float]:
        """Return the objective at the point for all strengths, and how far the slopes of penalties are from `slope`.

        Above the optimal value it is by the gap for `Linear` at that slope, and by the difference of slopes, times how
        far the mass of the optimum can be from that of the point: penalties are convex.
        """
        stated, statement = self.nominal.statement, self.statement
        mass = mass_of(stated, self.nominal.x)
        change = statement.total * (statement.penalty.value(mass) - stated.penalty.value(mass))
        tilt = statement.total * statement.penalty.slope(mass) - self.slope
        if not (math.isfinite(change.size) and math.isfinite(tilt.size)):
            raise Uncertain("the range of strengths is too wide: the point is beyond the domain of some penalties")
        return objective + change, float(up(tilt.size))

    def _mass(self, index: Index, sizes: Array) -> float:
        """Return an upper bound of the gauge of coefficients, from bounds of some of them; others are zero."""
        every = np.zeros(len(self.statement.labels))
        every[index] = sizes
        norms = self.statement.block_norms(every)
        used = np.unique(self.statement.labels[index])
        return norm_one(self.statement.prices.high[used], norms[used])

    def _masses(self, index: Index, moves: Array, away: Array) -> tuple[float, float]:
        """Return bounds of the gauge of the optima: at the lower end of the range, and at the upper one."""
        statement, x = self.statement, self.nominal.x
        off, used = self._mass(index, away), np.unique(statement.labels[index])
        blur = 4 * EPS * (np.abs(x) + np.abs(moves))
        smallest = statement.least_norms(np.maximum(np.abs(x - moves) - blur, 0.0))[used]
        least = low(statement.prices)[used] @ smallest * (1 - 2 * gamma(len(used) + 4))
        most = self._mass(index, up(np.abs(x + moves) + blur).ravel()[index])
        return float((least - off) * (1 - 4 * EPS) if least > off else 0.0), float(up(most + off))


def known_of(proof: Proof) -> dict[str, Any]:
    """Return the fields of a proof by name."""
    return {field.name: getattr(proof, field.name) for field in fields(proof)}


def norm_one(weights: Array, sizes: Array) -> float:
    """Return an upper bound of a weighted sum of sizes."""
    return float(up(weights @ sizes * (1 + gamma(len(sizes) + 2)) + len(sizes) * LEAST))
