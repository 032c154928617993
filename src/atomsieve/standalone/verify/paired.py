"""The same with samples in pairs of doubles, which are as good as balls nearly always, and much faster."""

import numpy as np
from flint import arb, arb_mat

from .checker import Checker
from .doubles import UP, column_sums, sums_above
from .facts import Facts
from .gram import Columns
from .pair_losses import conjugates_of, largest_bend, slopes_of, values_of
from .pairs import Pairs
from .slices import Block
from .verdict import Refused


class Paired(Checker):
    """One problem. Refused says nothing of a claim here: it may still follow in balls."""

    def _fit(self, index: list[int]) -> Pairs:
        if self.gauge.matrix is not None:
            return Pairs.of_balls(super()._fit(index).entries())
        fit, per = Pairs.exactly(self.data.offset), self.data.tasks
        values = dict(zip(self.point["x"]["index"], self.point["x"]["value"]))
        for c in range(per):
            own = [j for j in index if j % per == c]
            for start in range(0, len(own), self.together):
                part = own[start : start + self.together]
                added = self._block(part).image([values[j] for j in part])
                fit = fit + (added if per == 1 else _in_rows(added, c, per))
        return fit

    @property
    def together(self) -> int:
        """How many columns have a million entries, those that are stored."""
        if not self.data.sparse:
            return int(self.width)
        columns, entries = self.data.X.shape[1], max(self.data.X.nnz, 1)
        return max(int(self.width), (1 << 20) * int(columns) // int(entries))

    def _block(self, index: list[int]) -> Block:
        """Return columns of X, without the rows of other outputs."""
        features = [j // self.data.tasks for j in index]
        if not self.data.sparse:
            return Block(self.data.features(features))
        chosen = self.data.X[:, features]
        return Block(chosen.data, chosen.indices, chosen.indptr, chosen.shape[0])

    def _with_free(self, fit: Pairs) -> Pairs:
        for k, value in enumerate(self.b):
            fit = fit + self._stated_pairs(k) * value
        return fit

    def _stated_pairs(self, k: int) -> Pairs:
        """Return a column of B."""
        return Pairs.exactly(self.stated[:, k]) if k < self.given else Pairs.of_balls(self.B[k].entries())

    def _weighted(self, slopes: Pairs) -> Pairs:
        return slopes if (self.data.weights == 1).all() else slopes * self.data.weights

    def _settling_columns(self) -> Columns:
        """Return the columns of B that are used; a constant alone needs no balls."""
        if self.used == [0] and self.intercept and self.data.tasks == 1:
            self.unit, self.centre = {0: arb(1)}, {0: arb(0)}
            ones = np.ones((self.n, 1))
            self.settling = [Pairs.exactly(ones[:, 0])]
            return Columns(1, lambda: [self.B[0]], lambda: (ones, np.zeros((self.n, 1))))
        columns = self._free_columns()
        self.settling = [Pairs.of_balls(column.entries()) for column in columns]
        return Columns.of_balls(columns)

    def _gradient(self, slopes: Pairs, columns: Columns) -> arb_mat:  # noqa: ARG002
        theta = self._weighted(slopes)
        return arb_mat([[(column * theta).total()] for column in self.settling])

    def _middles(self, slopes: Pairs) -> np.ndarray:
        return slopes.high

    def _shifted(self, u: Pairs, columns: Columns, steps: list[arb]) -> Pairs:  # noqa: ARG002
        for column, step in zip(self.settling, steps):
            u = u + column * step
        return u

    def _widened(self, u: Pairs, moved: np.ndarray) -> Pairs:
        """Return u where it may be off by so much; its slopes are those of before, off by no more than that allows."""
        wide = u.widened(moved)
        if self._latest[0] is u and (bend := largest_bend(self.loss)) is not None:
            self._latest = wide, self._latest[1].widened(moved * bend)
        return wide

    _latest: tuple[Pairs | None, Pairs] = None, Pairs.exactly([])
    """The predictions for which slopes were computed last, and these."""

    def _slopes_at(self, u: Pairs) -> Pairs:
        if self._latest[0] is not u:
            self._latest = u, slopes_of(self.loss, u, self.data.y)
        return self._latest[1]

    def _bounds_of(self, numbers: Pairs) -> tuple[np.ndarray, np.ndarray]:
        return numbers.ends()

    def _losses_at(self, u: Pairs) -> arb:
        return self._weighted(values_of(self.loss, u, self.data.y, self.slopes)).total()

    def _dual_loss(self, shrink: arb) -> arb:
        slopes = self.slopes * shrink
        return self._weighted(conjugates_of(self.loss, slopes, self.data.y) - slopes * self.data.offset).total()

    def _products_in_balls(self, theta: Pairs, index: list[int]) -> list[arb]:
        """Return z for some columns, as it is in balls, but without centres for a sparse X."""
        if self.gauge.matrix is None:
            return self._sums_with(theta, index)
        image = arb_mat(self.gauge.matrix.columns(index).tolist())
        for factor in self._factors()[1:-1]:
            image = self._times(factor, image, centred=False)
        places = range(len(index))
        used = [j for j in range(image.nrows()) if any(not image[j, k] == 0 for k in places)]
        if not used:
            return [arb(0)] * len(index)
        pulls = arb_mat([self._sums_with(theta, used)])
        return list((pulls * arb_mat([[image[j, k] for k in places] for j in used])).entries())

    def _sums_with(self, theta: Pairs, index: list[int]) -> list[arb]:
        """Return minus the products with columns of X."""
        per, found = self.data.tasks, dict.fromkeys(index, arb(0))
        if not np.isfinite(radii := theta.known_radius()).all():
            raise Refused("pairs of doubles do not suffice")
        for c in range(per):
            own = [j for j in index if j % per == c]
            numbers = Pairs(theta.high[c::per], theta.low[c::per], radii[c::per])
            for start in range(0, len(own), self.together):
                part = own[start : start + self.together]
                block = self._block(part)
                taken, off = self._centred_errors(block, numbers)
                products = zip(part, block.adjoint(numbers), taken, off.tolist())
                found |= {j: added + arb(0, r) - product if r else arb(0) for j, product, added, r in products}
        return [found[j] for j in index]

    def _centred_errors(self, block: Block, numbers: Pairs) -> tuple[list[arb], np.ndarray]:
        """Return what the centres of columns take off the products, and what errors of the numbers add to the rest.

        That is 0 only for a constant column less itself, of which nothing is left.
        """
        nothing = [arb(0)] * block.count
        with np.errstate(all="ignore"):
            if block.rows is not None:
                sums = column_sums(np.abs(block.values) * numbers.radius[block.rows], block.starts)
                return nothing, sums_above(sums, self.n)
            centres = self._centres(block.values)
            rest = np.abs(block.values - centres)
            sums = np.where(rest.any(axis=0), sums_above((rest * UP).T @ numbers.radius, self.n), 0.0)
        if not centres.any():
            return nothing, sums
        total = Pairs(numbers.high, numbers.low, np.zeros(len(numbers.high))).total()
        return [total * arb(c) for c in centres.tolist()], sums


class PairedFacts(Paired, Facts):
    """The same where claims are about coefficients."""


def _in_rows(numbers: Pairs, c: int, per: int) -> Pairs:
    """Return numbers of one output in the rows of all outputs, with 0 in the others."""
    parts = []
    for part in (numbers.high, numbers.low, numbers.radius):
        whole = np.zeros((len(part), per))
        whole[:, c] = part
        parts.append(whole.ravel())
    return Pairs(*parts)
