"""The best free coefficients: intercept and other columns without a price."""

import math

from flint import arb, arb_mat

from .balls import root, square, unit_of
from .sums import Sums
from .verdict import Refused

MOST = 4000
"""Largest number of columns for which an inverse is computed, as in the package that makes certificates."""

ROUNDS = 8
"""Number of balls around the free coefficients that are tried before much larger ones."""

FINE = 2.0**20
"""An inverse is known well enough if the radii of its diagonal are smaller than this part of it."""

REFINEMENTS = 2
"""Newton steps for the free coefficients; each doubles the number of digits."""


class Free(Sums):
    """The exact minimiser over b for the x of the certificate, enclosed."""

    def _settle(self, fit: arb_mat) -> list[arb]:
        """Return u at the exact minimiser over b, after proving that it is close to the b of the certificate.

        If the Hessian is at least lambda on a ball around b, and the gradient at b is shorter than lambda times the
        radius, then the minimiser is within norm(gradient) / lambda of b.
        """
        self.b = [arb(v) for v in self.point["free"]]
        b = self.b
        for column, value in zip(self.B, b):
            fit = fit + column * value
        u = list(fit.entries())
        sums = [d for d in self.claims["dependencies"] if d["column"] < 0]  # they add nothing to the others
        self._sums(sums, [-1 - k for k in range(len(b))], self._exact)
        left_out = {d["column"] for d in sums}
        self.used = used = [k for k in range(len(b)) if -1 - k not in left_out]
        self.shift = arb(0)
        if not used:
            return u
        columns = self._free_columns()  # entries of about 1 at most
        u = self._refine(u, columns)
        lengths = [root(sum((square(column[i, 0]) for column in columns), arb(0))) for i in range(self.n)]
        self.shift = self._enclose(u, columns, lengths)
        return [v + arb(0, (r * self.shift).upper()) for v, r in zip(u, lengths)]

    def _refine(self, u: list[arb], columns: list[arb_mat]) -> list[arb]:
        """Move b towards the minimiser by Newton steps, and return u there: doubles may be too coarse for it.

        Whatever b they lead to, the minimiser is proven to be near it afterwards.
        """
        for _ in range(REFINEMENTS):
            theta = arb_mat([[w * t for w, t in zip(self.weights, self._slopes_at(u))]])
            gradient = arb_mat([[(theta * column)[0, 0]] for column in columns])
            try:
                change = self._inverse(columns, self._least_around(u, [arb(0)] * self.n)) * gradient
            except Refused:
                break
            if not all(v.is_finite() for v in change.entries()):
                break
            steps = [-arb(v.mid()) for v in change.entries()]
            self._move(steps)
            moved = arb_mat(self.n, 1)
            for column, step in zip(columns, steps):
                moved += column * step
            u = [v + m for v, m in zip(u, moved.entries())]
        return u

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

    def _enclose(self, u: list[arb], columns: list[arb_mat], lengths: list[arb]) -> arb:
        """Return a bound of the distance from b to the minimiser, in the units of the columns.

        The distance found for one ball is the radius of the next, until the distance is below the radius. At first the
        radius grows as slowly as possible, because the curvature on a larger ball may be 0.
        """
        theta = arb_mat([[w * t for w, t in zip(self.weights, self._slopes_at(u))]])
        gradient = root(sum((square((theta * column)[0, 0]) for column in columns), arb(0)))

        def away(radius: arb) -> arb:
            inverse = self._inverse(columns, self._least_around(u, [r * radius for r in lengths]))
            return arb((gradient * sum((inverse[k, k] for k in range(len(columns))), arb(0))).upper())

        first = bound = away(arb(0))
        for factor in (0,) * ROUNDS + (4, 64, 2**20):
            radius = (bound * (1 + arb(2) ** -41)).max(factor * first) + arb(2) ** -1000
            bound = away(radius)
            if bound < radius:
                return bound
        raise Refused("the best free coefficients (intercept) cannot be enclosed")

    def _inverse(self, columns: list[arb_mat], least: list[arb], ridge: list[arb] | None = None) -> arb_mat:
        """Return the inverse of `C' diag(s m) C + diag(ridge)`, with bounds; raise Refused if it may not exist."""
        ridge = [arb(0)] * len(columns) if ridge is None else ridge
        if len(columns) > MOST or sum(v == 0 for v in ridge) > self.n:
            raise Refused(f"{len(columns)} columns are more than there are samples, or than {MOST}")
        C = arb_mat([[column[i, 0] for column in columns] for i in range(self.n)])
        weighted = arb_mat(
            [
                [w * arb(m.lower()) * C[i, k] for k in range(len(columns))]
                for i, (w, m) in enumerate(zip(self.weights, least))
            ]
        )
        try:
            gram = C.transpose() * weighted
            for k, v in enumerate(ridge):
                gram[k, k] += v
            inverse = gram.inv()
            if all(arb(inverse[k, k].rad()) * FINE < abs(inverse[k, k]) for k in range(len(columns))):
                return inverse
            # balls may grow with every column that has next to no curvature, unless there is a preconditioner
            unit = arb_mat([[int(i == k) for k in range(len(columns))] for i in range(len(columns))])
            return gram.solve(unit, algorithm="precond")
        except ZeroDivisionError as error:
            raise Refused("columns that the certificate takes for independent are not, or as good as not") from error

    def _slopes_at(self, u: list[arb]) -> list[arb]:
        """Return the slope of every row."""
        return [self.loss.slope(v, t) for v, t in zip(u, self.data.y.tolist())]

    def _least_around(self, u: list[arb], moved: list[arb]) -> list[arb]:
        """Return lower bounds of loss'' where every u moves by at most so much."""
        least = []
        for v, r, t in zip(u, moved, self.data.y.tolist()):
            ends = self.loss.slopes_around(v, r, t)
            least.append(self.loss.bends(arb(ends[0].lower()), arb(ends[1].upper()), t)[0])
        return least
