"""What follows at the point of the certificate."""

from typing import Any

from flint import arb, arb_mat

from .free import Free
from .gauges.listed import combined
from .pulls import Scores
from .verdict import Refused

ROUNDED = 2.0**-30
"""How far a sum of atoms, rounded to doubles, may be from the sum itself, beside what the mass allows."""


class Point(Free):
    """u, theta, z, scores, mass and the objective."""

    def _evaluate(self) -> None:
        """Derive u, theta, z, scores, mass and the objective."""
        stated = dict(zip(self.point["x"]["index"], map(arb, self.point["x"]["value"])))
        mass: arb | None = None
        self.x = stated
        if self.gauge.listed:
            self.x, mass = combined(self.point["atoms"], self.gauge)
        index = list(self.x)
        if not all(self.gauge.counts(self.gauge.labels[j]) for j in index):
            raise Refused("the point has weight where the problem has no coefficient with a price")
        self.u = self._settle(self._fit(index))
        self.slopes = self._slopes_at(self.u)
        self.theta = self._weighted(self.slopes)
        self.z = self._adjoint(self.theta)
        self.z.sharpen(index)
        self.scores = Scores(self.gauge, self.z, arb(1))
        parts: dict[int, dict[int, arb]] = {}
        for j, v in self.x.items():
            parts.setdefault(int(self.gauge.labels[j]), {})[j] = v
            if not self.gauge.signed[j] and not v >= 0:
                raise Refused("the point has a negative coefficient where none is allowed")
        if mass is None:
            self.norms = {g: self.gauge.norm_of(part, g) for g, part in parts.items()}
            mass = sum((self.gauge.prices[g] * v for g, v in self.norms.items()), arb(0))
        else:
            self._check_sum(stated, mass)
        self.mass = mass
        self.losses = self._losses_at(self.u)
        self.charge = self.total * self.phi(self.penalty, self.mass)
        if self.ridge:
            self.charge += sum((self.ridge[self.gauge.labels[j]] * v * v / 2 for j, v in self.x.items()), arb(0))
        self.objective = self.losses + self.charge

    def _check_sum(self, stated: dict[int, arb], mass: arb) -> None:
        """ATOMS: refuse coefficients that are not the sum of the atoms, up to rounding."""
        for j in {*stated, *self.x}:
            near = abs(stated.get(j, arb(0)) - self.x.get(j, arb(0))) <= self.gauge.within(mass, j) * ROUNDED
            self._claim(near, f"coefficient {j} of the point is not the sum of its atoms")

    def _fit(self, index: list[int]) -> Any:
        """Return the predictions at the point, without those of B."""
        fit = arb_mat(self.n, 1, self.data.offset.tolist())
        for start in range(0, len(index), self.width):
            part = index[start : start + self.width]
            fit += self._image(part, [self.x[j] for j in part])
        return fit

    def _image(self, index: list[int], values: list[arb]) -> arb_mat:
        """Return the predictions of some coefficients."""
        if self.gauge.matrix is None:
            return self._matrix_of(index) * arb_mat(len(index), 1, values)
        return sum((column * v for column, v in zip(self._columns(index), values)), arb_mat(self.n, 1))

    def _losses_at(self, u: Any) -> arb:
        """Return the weighted sum of the losses."""
        if self.loss.kind == "Squared":
            twice: arb = (self.theta.transpose() * arb_mat(self.n, 1, self.slopes))[0, 0]
            return twice / 2
        values = self.loss.values(u, self.data.y.tolist(), self.slopes)
        return sum((w * value for w, value in zip(self.weights, values)), arb(0))

    def _first_slope(self) -> arb:
        """Return S phi'(0)."""
        return self._slope_at(arb(0), self.penalty)

    def _slope_at(self, mass: arb, penalty: dict[str, arb]) -> arb:
        """Return S phi'(mass)."""
        slope: arb = self.total * self.phi_slope(penalty, mass)
        return slope
