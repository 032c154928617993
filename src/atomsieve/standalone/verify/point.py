"""What follows at the point of the certificate."""

from flint import arb, arb_mat

from .free import Free
from .verdict import Refused


class Point(Free):
    """u, theta, z, scores, mass and the objective."""

    def _evaluate(self) -> None:
        """Derive u, theta, z, scores, mass and the objective."""
        index, values = self.point["x"]["index"], [arb(v) for v in self.point["x"]["value"]]
        self.x = dict(zip(index, values))
        if not all(self.gauge.counts(self.gauge.labels[j]) for j in index):
            raise Refused("the point has weight where the problem has no coefficient with a price")
        fit = arb_mat([[v] for v in self.data.offset.tolist()])
        for start in range(0, len(index), 64):
            for j, column in zip(index[start : start + 64], self._columns(index[start : start + 64])):
                fit += column * self.x[j]
        self.u = self._settle(fit)
        self.slopes = self._slopes_at(self.u)
        self.theta = arb_mat([[w * t] for w, t in zip(self.weights, self.slopes)])
        self.z = self._adjoint(self.theta)
        self.scores = self._block_scores(self.z)
        parts: dict[int, list[arb]] = {}
        for j, v in self.x.items():
            parts.setdefault(self.gauge.labels[j], []).append(v)
            if not self.gauge.signed[j] and not v >= 0:
                raise Refused("the point has a negative coefficient where none is allowed")
        self.norms = {g: self.gauge.norm(part) for g, part in parts.items()}
        self.mass = sum((self.gauge.prices[g] * v for g, v in self.norms.items()), arb(0))
        self.losses = self._losses_at(self.u)
        self.charge = self.total * self.phi(self.penalty, self.mass)
        if self.ridge:
            self.charge += sum((self.ridge[self.gauge.labels[j]] * v * v / 2 for j, v in self.x.items()), arb(0))
        self.objective = self.losses + self.charge

    def _losses_at(self, u: list[arb]) -> arb:
        """Return the weighted sum of the losses."""
        return sum((w * self.loss.value(v, t) for w, v, t in zip(self.weights, u, self.data.y.tolist())), arb(0))

    def _first_slope(self) -> arb:
        """Return S phi'(0)."""
        return self._slope_at(arb(0), self.penalty)

    def _slope_at(self, mass: arb, penalty: dict[str, arb]) -> arb:
        """Return S phi'(mass)."""
        slope: arb = self.total * self.phi_slope(penalty, mass)
        return slope

    def _block_scores(self, z: list[arb]) -> dict[int, arb]:
        """Return the score of every block with a price."""
        prices = {g: price for g, price in enumerate(self.gauge.prices) if self.gauge.counts(g)}
        if self.gauge.coordinates:
            return {g: (abs(z[g]) if self.gauge.signed[g] else z[g]) / price for g, price in prices.items()}
        parts: dict[int, list[arb]] = {g: [] for g in prices}
        for g, v in zip(self.gauge.labels.tolist(), z):
            if g in parts:
                parts[g].append(v)
        return {g: self.gauge.dual_norm(parts[g]) / price for g, price in prices.items()}
