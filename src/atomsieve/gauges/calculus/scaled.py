"""Atoms multiplied by a factor, called C in the paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from atomsieve.design import Design
from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges.base import Atom, BlockGauge, Gauge
from atomsieve.gauges.facts import Evidence, Facts
from atomsieve.gauges.leading import Leading
from atomsieve.gauges.orthant import Orthant
from atomsieve.gauges.proximal import Face, Line, ProximalGauge
from atomsieve.intake.arguments import require_piece, require_positive
from atomsieve.numerics.enclosures import Enclosure, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask, Signs


@dataclass(frozen=True, eq=False, repr=False)
class Scaled(BlockGauge):
    """Gauge of `radius * P`: `kappa(x) = gauge(x) / radius` and `sigma(z) = radius * sigma_P(z)`.

    >>> import numpy as np
    >>> from atomsieve import L1
    >>> Scaled(L1(), 10.0).value(np.array([5.0, -5.0]))
    1.0
    """

    gauge: Gauge
    radius: float

    def __post_init__(self) -> None:
        require_piece("Scaled: gauge", self.gauge, Gauge)
        require_positive(self, radius=self.radius)

    def check(self, shape: tuple[int, ...]) -> None:
        self.gauge.check(shape)

    def scores(self, z: Array) -> Array:
        return self.radius * self.gauge.scores(z)

    def atom(self, z: Array, block: int) -> Atom:
        return self.gauge.atom(z, block).scaled(self.radius)

    def value(self, x: Array) -> float:
        return self.gauge.value(x) / self.radius

    def value_under(self, design: Design, x: Array) -> float:
        return self.gauge.value_under(design, x) / self.radius

    @property
    def mapped(self) -> bool:  # type: ignore[override]
        return self.gauge.mapped

    def named(self, names: Sequence[str] | None, count: int) -> Gauge:
        inner = self.gauge.named(names, count)
        return self if inner is self.gauge else Scaled(inner, self.radius)

    def nonnegative(self, rows: int) -> BlockGauge | None:
        inner = self.gauge.nonnegative(rows)
        if isinstance(inner, Orthant):
            around: Any = Scaled(inner.gauge, self.radius)
            return Orthant(around)
        return None if inner is None else Scaled(inner, self.radius)

    def names(self) -> tuple[str, ...] | None:
        return self.gauge.names()

    def owners(self, shape: tuple[int, ...]) -> Index:
        return self.gauge.owners(shape)

    def touched(self, chosen: Mask) -> Mask:
        return self.gauge.touched(chosen)

    def lift(self, design: Design) -> tuple[Design, BlockGauge]:
        lifted, core = self.gauge.lift(design)
        return lifted, Scaled(core, self.radius)

    def lower(self, c: Array) -> Array:
        return self.gauge.lower(c)

    def copies(self, rows: int) -> Index | None:
        return self.gauge.copies(rows)

    def spelled_out(self, form: tuple[int, ...]) -> Gauge:
        return Scaled(self.gauge.spelled_out(form), self.radius)

    @property
    def _blocks(self) -> BlockGauge:
        """The inner gauge, if it has blocks; solvers work on lifted gauges, which always do."""
        if not isinstance(self.gauge, BlockGauge):
            raise TypeError(f"{self!r} does not split x into blocks: use its lifted form, lift(design).")
        return self.gauge

    @property
    def entrywise(self) -> bool:  # type: ignore[override]
        return self._blocks.entrywise

    @property
    def one_by_one(self) -> bool:  # type: ignore[override]
        return self._blocks.one_by_one

    @property
    def listed(self) -> bool:  # type: ignore[override]
        return self._blocks.listed

    @property
    def named_atoms(self) -> bool:  # type: ignore[override]
        return self._blocks.named_atoms

    def agrees(self, atom: Atom, facts: Facts) -> bool:
        return self._blocks.agrees(atom, facts)

    def told(self, atom: Atom) -> list[int]:
        return self._blocks.told(atom)

    def flat(self, shape: tuple[int, ...]) -> BlockGauge:
        return Scaled(self._blocks.flat(shape), self.radius)

    def labels(self, shape: tuple[int, ...]) -> Index:
        return self._blocks.labels(shape)

    def sizes(self, x: Array) -> Array:
        return self._blocks.sizes(x) / self.radius

    @property
    def signed(self) -> Signs:  # type: ignore[override]
        return self._blocks.signed

    def prices(self, shape: tuple[int, ...]) -> Array | None:
        prices = self._blocks.prices(shape)
        return None if prices is None else prices / self.radius

    def charges(self, shape: tuple[int, ...]) -> tuple[Array, Array] | None:
        found = self._blocks.charges(shape)
        return None if found is None else (found[0] / self.radius, found[1] / self.radius)

    @property
    def proximal(self) -> bool:  # type: ignore[override]
        return self._blocks.proximal

    @property
    def dense(self) -> bool:  # type: ignore[override]
        return self._blocks.dense

    @property
    def ranked(self) -> bool:  # type: ignore[override]
        return self._blocks.ranked

    def cored(self, form: tuple[int, int]) -> BlockGauge:
        return Scaled(self._blocks.cored(form), self.radius)

    def settled(self, x: Array) -> Array:
        return self._blocks.settled(x)

    def leading_above(self, z: Enclosure, least: float) -> Leading | None:
        leading = self._blocks.leading_above(z, least / self.radius * (1 - 4 * EPS))
        return None if leading is None else leading.times(self.radius)

    def scores_at(self, table: Any, x: Any) -> Array:
        """Return the scores of a table near a matrix of low rank; see `MatrixGauge`."""
        inner: Any = self.gauge
        return np.asarray(self.radius * inner.scores_at(table, x))

    def leading(self, z: Array, count: int) -> Any:
        """Return pairs of vectors with the best scores; see `MatrixGauge`."""
        inner: Any = self.gauge
        return inner.leading(z, count)

    @property
    def split(self) -> bool:  # type: ignore[override]
        return self._blocks.split

    @property
    def _proximal(self) -> ProximalGauge:
        """The inner gauge, if it has a prox."""
        inner: ProximalGauge = self.gauge  # type: ignore[assignment]
        return inner

    def prox(self, v: Array, line: Line) -> Array:
        """Return the prox of a line of slopes; see `ProximalGauge`."""
        return self._proximal.prox(v, (line[0] / self.radius, line[1] / self.radius / self.radius))

    def face(self, x: Array) -> Face:
        """Return the face that x lies on; see `ProximalGauge`."""
        return self._proximal.face(x).times(1 / self.radius)

    def growth(self, x: Array, there: Array) -> float:
        """Return how much larger the gauge is at another point; see `ProximalGauge`."""
        return self._proximal.growth(x, there) / self.radius

    def joining(self, z: Array, scores: Array) -> Array:
        """Return the slope at which each entry joins x, for a gauge whose blocks are split."""
        inner: Any = self.gauge
        return np.asarray(self.radius * inner.joining(z, scores / self.radius))

    def enclose_sizes(self, x: Array) -> Enclosure:
        return self._blocks.enclose_sizes(x) / self.radius

    def enclose_scores(self, z: Enclosure) -> Enclosure:
        return self._blocks.enclose_scores(z) * self.radius

    @property
    def decides(self) -> bool:  # type: ignore[override]
        return self._blocks.decides

    def decide(self, evidence: Evidence) -> Facts:
        return self._blocks.decide(evidence.over(self.radius))

    def spread_bounds(self, norms: Array) -> Array:
        return np.asarray(up(self.radius * self._blocks.spread_bounds(norms)))

    def spread(self, seminorm: Seminorm, outputs: int) -> Array:
        return self.radius * self._blocks.spread(seminorm, outputs)

    def more(self, z: Array, count: int) -> list[Atom] | None:
        found = self._blocks.more(z, count)
        return None if found is None else [atom.scaled(self.radius) for atom in found]

    def presented(self, atom: Any, shape: tuple[int, ...]) -> Atom:
        return self._blocks.presented(atom, shape).scaled(self.radius)

    def typical_spread(self, seminorm: Seminorm, outputs: int) -> Array:
        return self.radius * self._blocks.typical_spread(seminorm, outputs)

    def restrict(self, columns: Index) -> BlockGauge:
        return Scaled(self._blocks.restrict(columns), self.radius)

    def eligible(self, shape: tuple[int, ...]) -> Mask:
        return self._blocks.eligible(shape)

    def unpenalised(self) -> Index:
        return self._blocks.unpenalised()

    def rivals(self, z: Array, cross: Array, spread: Array, best: Any, radius: float) -> Array:
        # max of C p.z + r norm(A(Cp - q)) = C (max of p.z + r norm(A(p - q/C))); the direction of A q is the same
        atom, norm = best
        scale = self.radius
        return scale * self._blocks.rivals(z, cross, spread / scale, (atom.scaled(1 / scale), norm / scale), radius)
