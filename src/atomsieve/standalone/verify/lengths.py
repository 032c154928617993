"""Lengths of columns of A in a metric, in doubles rounded up."""

import numpy as np

from .balls import LEAST
from .doubles import DOWN, TINY, UNIT, UP, column_sums, gamma, known, lengths_above, sums_above
from .gap import Gap
from .gauges import Steps, Tree
from .gram import Columns


class Lengths(Gap):
    """`sqrt(sum_i metric_i A_ij^2)` for every column, modulo the constant if there is an intercept."""

    def _lengths_in(self, metric: np.ndarray) -> np.ndarray:
        """Return upper bounds of the lengths, by features and columns of the metric."""
        if self.gauge.matrix is not None:
            return self._image_lengths(metric)
        if self.data.sparse and not self.in_blocks:
            return self._sparse_lengths(metric)
        lengths = []
        for start in range(0, self.data.rows[1], self.broad):
            own = self.data.features(slice(start, start + self.broad))
            lengths.append(self._least_lengths(own, metric, start))
        return np.concatenate(lengths)

    def _image_lengths(self, metric: np.ndarray) -> np.ndarray:
        """Return the same for the columns of an Image or Atoms: the lengths of doubles, and of what they are off."""
        inner, *outer = self._factors()
        if isinstance(inner, Steps | Tree) and outer == [self.data] and self.data.sparse:
            squares = inner.squares(self.data.X, metric)
            if squares is not None:
                return known(np.sqrt(squares) * UP + TINY)
        lengths, features = [], range(self.d // self.data.tasks)
        for start in features[:: self.width]:
            own, errors = self._image_block(list(features[start : start + self.width]))
            off = [lengths_above(errors * v[:, None] * UP) for v in (np.sqrt(metric) * UP).T]
            lengths.append(known((self._least_lengths(own, metric, start) + np.stack(off, axis=1)) * UP))
        return np.concatenate(lengths)

    def _image_block(self, index: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return columns of an Image or Atoms in doubles, and bounds of their errors.

        With an intercept, X counts less its centres, of which every entry is off by one rounding. A product of
        matrices, the left one of d columns, is off by at most `gamma(d + 1)` times that of their absolute values, and
        by the left one's absolute values times the errors of the right one. Columns of which that leaves only a few
        digits are balls.
        """
        inner, *outer = self._factors()
        block = inner.features(index)
        errors = np.zeros(block.shape)
        for factor in outer:
            used = np.flatnonzero(block.any(axis=1) | errors.any(axis=1))
            left, block, errors = factor.features(used), block[used], errors[used]
            with np.errstate(all="ignore"):
                left = left - self._centres(left) if factor is self.data else left
                weights = known((np.abs(block) * gamma(len(used) + 8) + errors) * UP + (block != 0) * LEAST)
                block, errors = left @ block, sums_above(np.abs(left) @ weights, len(used))
        errors = np.where(np.isfinite(block), errors, np.inf)
        for k in np.flatnonzero(~(errors.max(axis=0) < 2.0**-20 * np.abs(block).max(axis=0))):
            ball = Columns.of_balls(self._columns([index[k] * self.data.tasks], centred=True))
            block[:, k], errors[:, k] = (part[:: self.data.tasks, 0] for part in ball.doubles)
        return block, errors

    in_blocks = False
    """Whether lengths are not those of the columns alone, and need them as dense blocks."""

    def _least_lengths(self, own: np.ndarray, metric: np.ndarray, start: int) -> np.ndarray:
        """Return upper bounds of the lengths of columns from `start` on."""
        with np.errstate(all="ignore"):
            rest = own - self._block_centres(own, start) if self.intercept else own
            found, good = self._from_sums((rest * rest).T @ metric, rest.T @ metric, metric)
        for j in np.flatnonzero(~good):
            found[j] = self._one_by_one(rest[:, j], metric)
        return found

    def _block_centres(self, own: np.ndarray, start: int) -> np.ndarray:
        return self._centres_from(start, own) if self.gauge.matrix is None else self._centres(own)

    def _sparse_lengths(self, metric: np.ndarray) -> np.ndarray:
        """Return the same from the entries that are not zero."""
        X = self.data.X
        with np.errstate(all="ignore"):
            weighted = [X.data * v[X.indices] for v in metric.T]
            sums = np.stack([column_sums(v, X.indptr) for v in weighted], axis=1) if self.intercept else np.zeros(1)
            squares = np.stack([column_sums(v * X.data, X.indptr) for v in weighted], axis=1)
            found, good = self._from_sums(squares, sums, metric)
        empty = X.indptr[:-1] == X.indptr[1:]
        found[empty] = 0.0
        for j in np.flatnonzero(~good & ~empty):
            column = self.data.features([j])
            found[j] = self._one_by_one((column - self._centres(column))[:, 0], metric)
        return found

    def _from_sums(self, squares: np.ndarray, sums: np.ndarray, metric: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return bounds of the lengths of columns v from `sum_i m_i v_i^2` and `sum_i m_i v_i`, and which are good.

        With an intercept the least square over all numbers that are taken off is the first less the square of the
        second over `sum_i m_i`. The error of the second is at most `gamma` times the root of the product of the others.
        """
        n = self.n
        floor = 2.0**-900 * np.maximum(metric.max(axis=0), 1.0)  # what was too small for a double meets the metric
        good = (squares > floor) & (squares < 2.0**900)
        squares = sums_above(squares, n + 8)
        left = squares
        if self.intercept:
            total = sums_above(metric.sum(axis=0), n)
            mean = np.abs(sums) - 2 * gamma(n + 8) * np.sqrt(squares) * np.sqrt(total) * UP
            mean = np.where(np.isfinite(mean), np.maximum(mean, 0.0), 0.0)
            part = mean / np.sqrt(total)
            left = np.maximum(squares - part * part * DOWN, 0.0) + 2 * UNIT * squares
            good &= left > 2.0**-20 * squares  # or else only a few digits are left
        return known(np.sqrt(left) * UP + TINY), np.asarray(good.all(axis=1))

    def _one_by_one(self, rest: np.ndarray, metric: np.ndarray) -> np.ndarray:
        """Return bounds of the lengths of one column, less its centre, in all metrics.

        The number that makes it shortest is its mean in the metric.
        """
        with np.errstate(all="ignore"):
            roots, sizes = np.sqrt(metric) * UP, np.abs(rest)[:, None] * UP
            plain = lengths_above(sizes * roots * UP)
            if not self.intercept:
                return plain
            means = rest @ metric / metric.sum(axis=0)
            means = np.where(np.isfinite(means), means, 0.0)
            nearer = np.abs(rest[:, None] - means) * (1 + 4 * UNIT) + 2 * UNIT * sizes
            return np.asarray(np.minimum(plain, lengths_above(nearer * roots * UP)))
