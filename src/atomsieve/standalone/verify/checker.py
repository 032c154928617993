"""One problem: every claim of its certificate.

Each file adds one subject to the class before it: products, sums, free, point, gap, zeros, combinations, ranges and
limits. `paired.py` has the same with samples in pairs of doubles, which is tried first.
"""

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
            except Refused as refusal:
                refusals.append(refusal)
            else:
                return
        raise refusals[0]
