"""One problem: every claim of its certificate.

Each file adds one subject to the class before it: products, sums, free, point, gap, zeros, combinations, ranges and
limits. `paired.py` has the same with samples in pairs of doubles, which is tried first.
"""

from flint import arb

from .limits import Limits
from .verdict import Refused


class Checker(Limits):
    """Derive everything from the point of the certificate, and compare with its claims."""

    def check(self) -> None:
        """Raise Refused at the first claim that does not follow."""
        self._evaluate()
        self._duals()
        self._values()
        before, refusals = self.checked, []
        for dual in self.duals:
            self.shrink, self.factor, self.reach, self.scores = dual
            self.checked = before
            try:
                self._curvature()
                self._zeros()
                self._ranges()
                self._rank()
                self._subspaces()
            except Refused as refusal:
                refusals.append(refusal)
            else:
                return
        raise refusals[0]

    def _rank(self) -> None:
        """RANK."""
        rank = self.claims.get("rank")
        if rank is None:
            return
        moved = arb(float(self._moves()[0]))
        limit = (self.floor - moved) * self.gauge.prices[0]
        proven = bool(limit > 0) and self.gauge.at_most([v * self.shrink for v in self.z_of_all()], limit, rank)
        self._claim(proven, f"the rank of the solution is not proven to be at most {rank}")

    def _subspaces(self) -> None:
        """SUBSPACES."""
        stated = self.claims.get("subspaces")
        if stated is None:
            return
        price = self.gauge.prices[0]
        z, moved = [v * self.shrink for v in self.z_of_all()], arb(float(self._moves()[0])) * price
        sine = self.gauge.away(z, (stated["left"], stated["right"]), self.floor * price, moved)
        self._claim(bool(sine <= stated["sine"]), "the solution is not proven to be as near to the subspaces as stated")

    def z_of_all(self) -> list[arb]:
        """Return z, coefficient by coefficient."""
        self.z.sharpen(range(self.d))
        return [self.z[j] for j in range(self.d)]
