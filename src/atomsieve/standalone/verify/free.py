"""The best free coefficients: intercept and other columns without a price."""

import math
from contextlib import suppress
from typing import Any

import numpy as np
from flint import arb, arb_mat

from .balls import double_above, double_below, length_of, unit_of
from .doubles import DOWN, TINY, UNIT, UP, lengths_above
from .gram import Columns, Inverse, inverse_in_balls
from .sums import Sums
from .verdict import Refused

MOST = 4000
"""Largest number of columns for which an inverse is computed, as in the package that makes certificates."""

ROUNDS = 8
"""Number of balls around the free coefficients that are tried before much larger ones."""

REFINEMENTS = 4
"""Largest number of Newton steps for the free coefficients, which are rounded in the certificate."""

CLOSE = 2.0**-32
"""A move of predictions after which no other Newton step follows: it leaves about its square, less than doubles see."""


class Free(Sums):
    """The exact minimiser over b for the x of the certificate, enclosed."""

    def _settle(self, fit: Any) -> Any:
        """Return u at the exact minimiser over b, after proving that it is close to the b of the certificate.

        If the Hessian is at least lambda on a ball around b, and the gradient at b is shorter than lambda times the
        radius, then the minimiser is within norm(gradient) / lambda of b.
        """
        self.b = [arb(v) for v in self.point["free"]]
        u = self._with_free(fit)
        sums = [d for d in self.claims["dependencies"] if d["column"] < 0]  # they add nothing to the others
        self._sums(sums, [-1 - k for k in range(len(self.b))], self._exact)
        left_out = {d["column"] for d in sums}
        self.used = used = [k for k in range(len(self.b)) if -1 - k not in left_out]
        self.shift = arb(0)
        if not used:
            return u
        columns = self._settling_columns()  # entries of about 1 at most
        u = self._refine(u, columns)
        middles, errors = columns.doubles
        lengths = lengths_above((np.abs(middles) + errors).T * UP)
        self.shift = self._enclose(u, columns, lengths)
        return self._widened(u, double_above(self.shift) * lengths * UP + TINY)

    def _refine(self, u: Any, columns: Columns) -> Any:
        """Move b towards the minimiser by Newton steps, and return u there: doubles may be too coarse for it.

        A step doubles the number of digits, and one is enough unless b is large, as it is beside features far from
        zero. Others follow only while the steps are no longer than those that rounding of b to doubles asks for.
        Whatever b they lead to, the minimiser is proven to be near it afterwards. So the steps themselves are doubles.
        """
        rounding = self._rounding_of_free()
        for _ in range(REFINEMENTS):
            slopes = self._slopes_at(u)
            gradient = [-float(v.mid()) for v in self._gradient(slopes, columns).entries()]
            steps = self._newton(self._middles(slopes), columns, np.array(gradient))
            if not np.isfinite(steps).all():
                break
            exact = [arb(v) for v in steps.tolist()]
            self._move(exact)
            u = self._shifted(u, columns, exact)
            with np.errstate(all="ignore"):
                moved = np.abs(columns.doubles[0] @ steps).max()
            if not CLOSE < moved <= rounding:
                break
        return u

    def _rounding_of_free(self) -> float:
        """Return how far rounding of the free coefficients to doubles can move predictions, about."""
        sizes = (abs(self.b[k]) * (1 / self.unit[k] + abs(self.centre[k])) for k in self.used)
        return 4 * UNIT * float(sum(sizes, arb(0)).mid())

    def _newton(self, slopes: np.ndarray, columns: Columns, towards: np.ndarray) -> np.ndarray:
        """Return a Newton step, in doubles; NaN if there is none."""
        with np.errstate(all="ignore"):
            weights = self.data.weights * self._least_around((slopes, slopes), np.zeros(self.n))
            seen = self._seen(*columns.doubles, weights)[0]
            try:
                return np.linalg.solve(seen.T @ (seen * weights[:, None]), towards)
            except np.linalg.LinAlgError:
                return np.full(len(towards), np.nan)

    # -- numbers of all samples, in balls: `paired.py` has the same in pairs of doubles --------------------------------

    def _with_free(self, fit: Any) -> Any:
        """Return u at the b of the certificate."""
        for column, value in zip(self.B, self.b):
            fit = fit + column * value
        return list(fit.entries())

    def _weighted(self, slopes: Any) -> Any:
        """Return theta."""
        return arb_mat(self.n, 1, [w * t for w, t in zip(self.weights, slopes)])

    def _gradient(self, slopes: Any, columns: Columns) -> arb_mat:
        """Return the derivatives with respect to the coefficients of some columns."""
        theta: arb_mat = self._weighted(slopes)
        return columns.matrix.transpose() * theta

    def _middles(self, slopes: Any) -> np.ndarray:
        """Return doubles near the slopes."""
        return np.array([float(t) for t in slopes])

    def _shifted(self, u: Any, columns: Columns, steps: list[arb]) -> Any:
        """Return u after steps along some columns."""
        moved = columns.matrix * arb_mat(len(steps), 1, steps)
        return [v + m for v, m in zip(u, moved.entries())]

    def _widened(self, u: Any, moved: np.ndarray) -> Any:
        """Return u where it may be off by so much."""
        return [v + arb(0, r) for v, r in zip(u, moved.tolist())]

    def _slopes_at(self, u: Any) -> Any:
        """Return the slope of every row."""
        return self.loss.slopes(u, self.data.y.tolist())

    # -- columns of B --------------------------------------------------------------------------------------------------

    def _settling_columns(self) -> Columns:
        """Return the columns of B that are used, in their units."""
        return Columns.of_balls(self._free_columns())

    def _move(self, steps: list[arb]) -> None:
        """Move b by so much along the columns that are used, in their units."""
        for k, step in zip(self.used, steps):
            self.b[k] += step * self.unit[k]
            self.b[self._home(k)] -= step * self.unit[k] * self.centre[k]

    def _home(self, k: int) -> int:
        """Return the place of the constant in the rows of a column of B."""
        return (k if k < self.given else self.gauge.free[k - self.given]) % self.data.tasks

    def _free_columns(self) -> list[arb_mat]:
        """Return the columns of B that are used, in their units, less a double near their mean times the constant."""
        columns = []
        self.unit: dict[int, arb] = {}
        self.centre = dict.fromkeys(self.used, arb(0))
        constants = range(self.data.tasks) if self.intercept else range(0)
        for k in self.used:
            column = self.B[k]
            if constants and k not in constants and set(constants) <= set(self.used):
                mean = math.fsum(float(v.mid()) for v in column.entries()) / (self.n // len(constants))
                self.centre[k] = arb(mean if math.isfinite(mean) else 0.0)
                column = column - self.B[self._home(k)] * self.centre[k]
            self.unit[k] = unit_of(column)
            columns.append(column * self.unit[k])
        return columns

    def _moved(self, k: int) -> arb:
        """Return how far a free coefficient of the point may be from the best one."""
        others = sum((abs(c) * self.unit[j] for j, c in self.centre.items() if self._home(j) == k), arb(0))
        return self.shift * (self.unit[k] + others)

    def _enclose(self, u: Any, columns: Columns, lengths: np.ndarray) -> arb:
        """Return a bound of the distance from b to the minimiser, in the units of the columns.

        The distance found for one ball is the radius of the next, until the distance is below the radius. At first the
        radius grows as slowly as possible, because the curvature on a larger ball may be 0.
        """
        slopes = self._slopes_at(u)
        gradient = length_of(self._gradient(slopes, columns))
        ends = self._bounds_of(slopes)

        def away(radius: arb) -> arb:
            inverse = self._inverse(columns, self._least_around(ends, lengths * double_above(radius) * UP))
            return arb((gradient * sum((inverse[k, k] for k in range(inverse.nrows())), arb(0))).upper())

        first = bound = away(arb(0))
        for factor in (0,) * ROUNDS + (4, 64, 2**20):
            radius = (bound * (1 + arb(2) ** -41)).max(factor * first) + arb(2) ** -1000
            bound = away(radius)
            if bound < radius:
                return bound
        raise Refused("the best free coefficients (intercept) cannot be enclosed")

    def _inverse(
        self, columns: Columns, least: np.ndarray, ridge: list[arb] | None = None, *, sharp: bool = False
    ) -> arb_mat:
        """Return the inverse of `C' diag(s m) C + diag(ridge)`, with bounds; raise Refused if it may not exist.

        It is computed in doubles, and in balls if these do not suffice or `sharp` is true.
        """
        ridge = [arb(0)] * len(columns) if ridge is None else ridge
        if len(columns) > MOST or sum(v == 0 for v in ridge) > self.n:
            raise Refused(f"{len(columns)} columns are more than there are samples, or than {MOST}")
        with np.errstate(all="ignore"):
            weights = self.data.weights * least * DOWN
        weights = np.where(weights > TINY, weights, 0.0)
        if not sharp:
            with suppress(Refused):
                return self._inverse_in_doubles(columns, weights, ridge)
        return inverse_in_balls(self._seen_in_balls(columns.balls(), weights), weights, ridge)

    def _inverse_in_doubles(self, columns: Columns, weights: np.ndarray, ridge: list[arb]) -> arb_mat:
        found = Inverse(
            *self._seen(*columns.doubles, weights), weights, np.array([max(double_below(v), 0.0) for v in ridge])
        )
        pairs = zip(found.mid.ravel().tolist(), found.rad.ravel().tolist())
        return arb_mat(len(columns), len(columns), [arb(v, r) for v, r in pairs])

    def _seen(self, middles: np.ndarray, errors: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what losses see of columns, and bounds of the lengths of its errors in the metric of the weights."""
        if not errors.any():
            return middles, np.zeros(middles.shape[1])
        return middles, lengths_above(errors * np.sqrt(weights)[:, None] * UP)

    def _seen_in_balls(self, columns: list[arb_mat], weights: np.ndarray) -> list[arb_mat]:  # noqa: ARG002
        """Return what losses see of columns."""
        return columns

    def _least_around(self, ends: tuple[np.ndarray, np.ndarray], moved: np.ndarray) -> np.ndarray:
        """Return lower bounds of loss'' where u moves by at most so much from where the slopes are between two ends."""
        return self.loss.least_around(*ends, self.data.y, moved)
