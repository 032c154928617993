"""The part of a ball without negative entries: what solvers see of `Positive`."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges.base import Atom, BlockGauge
from atomsieve.gauges.facts import Evidence, Facts
from atomsieve.gauges.proximal import Face, Line, ProximalGauge
from atomsieve.numerics.enclosures import Enclosure
from atomsieve.typing import Array, Index, Mask


@dataclass(frozen=True, eq=False, repr=False)
class Orthant(ProximalGauge):
    """Gauge of the points of P without negative entries, for a P that does not depend on signs.

    Its support function is `sigma_P(z_+)`: an atom loses nothing where z is negative if its entries there are put to 0,
    which leaves it in P. A solution is aligned with `z_+` in P itself, so whatever follows from that holds.
    """

    gauge: BlockGauge
    signed = False

    @property
    def proximal(self) -> bool:  # type: ignore[override]
        return self.gauge.proximal

    @property
    def split(self) -> bool:  # type: ignore[override]
        return self.gauge.split

    @property
    def _inner(self) -> Any:
        """The gauge, which has a prox and faces, or split blocks."""
        return self.gauge

    def stated(self) -> dict[str, Any]:
        return {"gauge": self.gauge.spelled_out(())}

    def check(self, shape: tuple[int, ...]) -> None:
        self.gauge.check(shape)

    def flat(self, shape: tuple[int, ...]) -> "Orthant":
        return self._around(self.gauge.flat(shape))

    def restrict(self, columns: Index) -> "Orthant":
        return self._around(self.gauge.restrict(columns))

    def _around(self, gauge: Any) -> "Orthant":
        return self if gauge is self.gauge else Orthant(gauge)

    def labels(self, shape: tuple[int, ...]) -> Index:
        return self.gauge.labels(shape)

    def blocks(self, columns: Index, shape: tuple[int, ...]) -> Index:
        return self.gauge.blocks(columns, shape)

    def eligible(self, shape: tuple[int, ...]) -> Mask:
        return self.gauge.eligible(shape)

    def charges(self, shape: tuple[int, ...]) -> tuple[Array, Array] | None:
        return self.gauge.charges(shape)

    def scores(self, z: Array) -> Array:
        return self.gauge.scores(np.maximum(z, 0.0))

    def sizes(self, x: Array) -> Array:
        negative = np.bincount(self.labels(x.shape).ravel(), (x < 0).ravel()) > 0
        return np.where(negative, np.inf, self.gauge.sizes(x))

    def atom(self, z: Array, block: int) -> Atom:
        found = self.gauge.atom(np.maximum(z, 0.0), block)
        return replace(found, values=np.where(z[found.columns] > 0, found.values, 0.0))

    def spread(self, seminorm: Seminorm, outputs: int) -> Array:
        return self.gauge.spread(seminorm, outputs)

    def spread_bounds(self, norms: Array) -> Array:
        return self.gauge.spread_bounds(norms)

    def enclose_sizes(self, x: Array) -> Enclosure:
        found = self.gauge.enclose_sizes(x)
        return Enclosure(np.where(np.isinf(self.sizes(x)), np.inf, found.mid), found.rad)

    def enclose_scores(self, z: Enclosure) -> Enclosure:
        return self.gauge.enclose_scores(Enclosure.between(np.maximum(z.low, 0.0), np.maximum(z.high, 0.0)))

    @property
    def decides(self) -> bool:  # type: ignore[override]
        return self.gauge.decides

    @property
    def dense(self) -> bool:  # type: ignore[override]
        return self.gauge.dense

    def decide(self, evidence: Evidence) -> Facts:
        down, up = evidence.signs < 0, evidence.signs > 0
        least, most = np.where(up, evidence.least, 0.0), np.where(down, 0.0, evidence.most)
        facts = self.gauge.decide(replace(evidence, least=least, most=most, signs=np.where(up, 1.0, 0.0)))
        return replace(facts, zero=facts.zero | down)

    def prox(self, v: Array, line: Line) -> Array:
        return np.asarray(self._inner.prox(np.maximum(v, 0.0), line))

    def face(self, x: Array) -> Face:
        face: Face = self._inner.face(x)
        kept = np.flatnonzero(face.coordinates)  # entries at 0 stay there
        if len(kept) == len(face.coordinates):
            return face
        hessian = None if face.hessian is None else face.hessian[np.ix_(kept, kept)]
        return Face(face.directions[kept], face.coordinates[kept], face.gradient[kept], hessian)

    def growth(self, x: Array, there: Array) -> float:
        return float(self._inner.growth(x, there))

    def joining(self, z: Array, scores: Array) -> Array:
        return np.asarray(self._inner.joining(np.maximum(z, 0.0), scores))
