"""The pieces of the problem, and products with A."""

from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, arb_mat

from .balls import bounds_of, radii_of
from .data import Data
from .doubles import UP, column_sums, gamma, known, sums_above
from .gauges import Gauge
from .losses import Loss
from .pairs import sum_of
from .penalties import PENALTIES
from .pulls import Pulls
from .verdict import Refused, Unknown


class Products:
    """The pieces of the problem, columns of A in balls, and z."""

    def __init__(self, content: dict[str, Any], data: Data, gauge: Gauge) -> None:
        self.claims = content["claims"]
        self.point = content["point"]
        problem = content["problem"]
        self.data = data
        self.gauge = gauge
        self.checked = 0
        self._known_centres: dict[tuple[int, int], np.ndarray] = {}
        self._kept: tuple[list[int], arb_mat] | None = None
        self.loss = Loss(problem["loss"])
        penalty = problem["penalty"]
        if penalty["type"] == "Power" and penalty["p"] == "inf":
            penalty = {"type": "Ball", "radius": 1}
        self.penalty = {name: arb(value) for name, value in penalty.items() if name != "type"}
        self.phi, self.phi_conjugate, self.phi_slope = PENALTIES[penalty["type"]]
        self.total = sum_of(data.total)
        self.n, self.d = data.shape[0], len(gauge.labels)
        self.ridge = self._ridges(problem.get("ridge"))
        self.width = max(1, (1 << 20) // max(data.shape))
        self.broad = max(self.width, (1 << 16) // data.rows[0])  # for columns of X alone
        self.intercept: bool = problem["intercept"]
        constant = np.kron(np.ones((data.rows[0], int(problem["intercept"]))), np.eye(data.tasks))
        self.stated = np.concatenate([constant, data.given], axis=1)
        self.given = self.stated.shape[1]

    @cached_property
    def weights(self) -> list[arb]:
        """The weights of all samples."""
        return [arb(w) for w in self.data.weights.tolist()]

    @cached_property
    def B(self) -> list[arb_mat]:  # noqa: N802 -- its name above
        """The constant and other stated columns, and the columns of A without a price."""
        stated = [arb_mat(self.n, 1, column.tolist()) for column in self.stated.T]
        return stated + [self._columns([j])[0] for j in self.gauge.free]

    @cached_property
    def constants(self) -> arb_mat:
        """The constants of all outputs."""
        return arb_mat(np.kron(np.ones((self.data.rows[0], 1)), np.eye(self.data.tasks)).tolist())

    def _ridges(self, stated: Any) -> list[arb]:
        """Return R_g for every block; an empty list without a ridge."""
        if stated is None:
            return []
        if self.gauge.matrix is not None:
            raise Unknown("a ridge beside an Image is known to this checker for one problem and one output per target")
        blocks = len(self.gauge.prices)
        if isinstance(stated, list) and not (self.gauge.coordinates and len(stated) == blocks):
            raise Refused(f"there are {len(stated)} ridges for {blocks} blocks: one for all, or one per coefficient")
        return [self.total * arb(v) for v in (stated if isinstance(stated, list) else [stated] * blocks)]

    def _claim(self, holds: bool, sentence: str) -> None:
        self.checked += 1
        if not holds:
            raise Refused(sentence)

    # -- columns in balls ----------------------------------------------------------------------------------------------

    def _columns(self, index: list[int], *, centred: bool = False) -> list[arb_mat]:
        """Return columns of A, exact or with their rounding; or of X less its centres, times the matrix."""
        if self.gauge.matrix is None and not centred:
            return [arb_mat(self.n, 1, column) for column in self.data.columns(index).T.tolist()]
        inner, *outer = self._factors()
        image = arb_mat(inner.columns(index).tolist()) if outer else self._centred(inner.columns(index), index)
        for factor in outer:
            image = self._times(factor, image, centred=centred and factor is self.data)
        return [arb_mat([[image[i, k]] for i in range(self.n)]) for k in range(len(index))]

    def _factors(self) -> list[Any]:
        """Return the matrices whose product is A, the last one first: those of the gauge, and then X."""
        factors: list[Any] = []
        matrix = self.gauge.matrix
        while matrix is not None:
            factors.append(matrix)
            matrix = matrix.outer
        return [*factors, self.data]

    def _times(self, factor: Any, image: arb_mat, *, centred: bool) -> arb_mat:
        """Return the product of a matrix with others, from the rows that are not zero."""
        width = image.ncols()
        used = [i for i in range(image.nrows()) if any(not image[i, k] == 0 for k in range(width))]
        if factor is self.data and self.data.sparse and self.data.tasks == 1 and not (centred and self.intercept):
            return self._sparse_times(image, used)
        chosen = factor.columns(np.array(used, dtype=int))
        if not used:
            return arb_mat(len(chosen), width)
        left = self._centred(chosen, used) if centred else arb_mat(chosen.tolist())
        return left * arb_mat([[image[i, k] for k in range(width)] for i in used])

    def _sparse_times(self, image: arb_mat, used: list[int]) -> arb_mat:
        """Return the product of a sparse X with others, from its entries."""
        X, product = self.data.X, arb_mat(self.n, image.ncols())
        for i in used:
            part = slice(X.indptr[i], X.indptr[i + 1])
            for row, value in zip(X.indices[part].tolist(), X.data[part].tolist()):
                for k in range(image.ncols()):
                    product[row, k] += image[i, k] * arb(value)
        return product

    def _own_rows(self, block: np.ndarray, index: list[int]) -> np.ndarray:
        """Return columns of A without the rows of other outputs, where they are 0."""
        per = self.data.tasks
        if per == 1:
            return block
        return np.asarray(block.reshape(-1, per, len(index))[:, np.array(index) % per, np.arange(len(index))])

    def _centres(self, own: np.ndarray) -> np.ndarray:
        """Return a double near the mean of every column, and the number itself for a constant; 0 without an intercept.

        Theta is orthogonal to the constant, at the point and at the optimum. So columns less their centres do for the
        columns themselves.
        """
        if not self.intercept:
            return np.zeros(own.shape[1])
        with np.errstate(all="ignore"):
            own = np.asfortranarray(own)  # NumPy adds up in another order if it is stored otherwise
            means = np.where((own == own[0]).all(axis=0), own[0], own.mean(axis=0))
        return np.asarray(np.where(np.isfinite(means), means, 0.0))

    def _centres_from(self, start: int, own: np.ndarray) -> np.ndarray:
        """Return the same for a block of X that begins with some column; found once, as blocks come in two passes."""
        if (start, own.shape[1]) not in self._known_centres:
            self._known_centres[start, own.shape[1]] = self._centres(own)
        return self._known_centres[start, own.shape[1]]

    def _centred(self, block: np.ndarray, index: list[int]) -> arb_mat:
        """Return columns of A less their centres, in balls."""
        centres, per = self._centres(self._own_rows(block, index)), self.data.tasks
        columns = arb_mat(block.tolist())
        if not centres.any():
            return columns
        taken = np.zeros((per, len(index)))
        taken[np.array(index) % per, np.arange(len(index))] = centres
        return columns - self.constants * arb_mat(taken.tolist())

    # -- z -------------------------------------------------------------------------------------------------------------

    def _adjoint(self, theta: Any) -> Pulls:
        """Return z = -A' theta: doubles with bounds, and balls for the columns that are asked for.

        Of an Image or Atoms, X' theta is multiplied by the matrices of the gauge, the outer one first.
        """
        low, high = self._bounds_of(theta)
        shape = (self.data.rows[0], self.data.tasks)
        with np.errstate(all="ignore"):
            middle = (low / 2 + high / 2).reshape(shape)
            value, rad = self._products(middle, known((high - low) * UP).reshape(shape))
            for factor in self._factors()[-2::-1]:
                value, rad = factor.adjoint(value, known(rad))
            value, rad = value.ravel(), np.where(np.isfinite(value), known(rad), np.inf).ravel()
            low, high = np.nextafter(-value - rad, -np.inf), np.nextafter(-value + rad, np.inf)
        return Pulls(low, high, lambda index: self._products_in_balls(theta, index))

    def _bounds_of(self, numbers: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper bounds of numbers of all samples, in doubles."""
        return bounds_of(numbers.entries() if isinstance(numbers, arb_mat) else numbers)

    def _products_in_balls(self, theta: Any, index: list[int]) -> list[arb]:
        """Return z for some columns.

        With the middles of theta a column counts less its centre, too: `A_j . theta - c sum_i theta_i`. What theta is
        off adds at most the sum of its radii times the absolute values of the column less its centre.
        """
        if self.gauge.matrix is not None:
            chunks = (index[start : start + self.width] for start in range(0, len(index), self.width))
            columns = (column for chunk in chunks for column in self._columns(chunk, centred=True))
            return [-(theta.transpose() * column)[0, 0] for column in columns]
        rows, per = theta.mid().transpose(), self.data.tasks
        radii = radii_of(theta.entries()).reshape(-1, per) * UP
        sums = [sum(part, arb(0)) for part in (rows.entries()[c::per] for c in range(per))] if self.intercept else []
        found: list[arb] = []
        for start in range(0, len(index), self.width):
            part = index[start : start + self.width]
            places = np.array(part) % per
            product = rows * self._matrix_of(part)
            own = self._own_rows(self.data.columns(part), part)
            centres = self._centres(own)
            with np.errstate(all="ignore"):
                parts = np.abs(own - centres), radii[:, places]
                off = sums_above((parts[0] * parts[1]).sum(axis=0) * UP, self.n)
                off = np.where(((parts[0] != 0) & (parts[1] != 0)).any(axis=0), off, 0.0)
            for k, (c, r) in enumerate(zip(centres.tolist(), off.tolist())):
                taken = sums[places[k]] * arb(c) if c else arb(0)
                nothing = c and not parts[0][:, k].any()  # a constant less itself
                found.append(arb(0) if nothing else arb(0, r) - product[0, k] + taken)
        return found

    def _matrix_of(self, index: list[int]) -> arb_mat:
        """Return columns of X in balls; those of the point are kept."""
        if self._kept is None or self._kept[0] != index:
            matrix = arb_mat(self.n, len(index), self.data.columns(index).ravel().tolist())
            if index != self.point["x"]["index"]:
                return matrix
            self._kept = index, matrix
        return self._kept[1]

    def _products(self, mid: np.ndarray, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return `A' theta` for columns less their centres, by features and outputs, and bounds of the errors.

        For a centre c of a column, an entry is `(a - c)(1 + d)` in doubles, with abs(d) <= u. So the sum of n products
        with theta is off by at most `gamma(n + 1)` times the sum of the absolute values, beside the errors of theta.
        """
        weights = known((np.abs(mid) * gamma(self.n + 8) + error) * UP)
        if self.data.sparse and not (self.intercept and self.centred_sums):
            return self._sparse_products(mid, weights)
        values, rads = [], []
        for start in range(0, self.data.rows[1], self.broad):
            own = self.data.features(slice(start, start + self.broad))
            with np.errstate(all="ignore"):
                own = own - self._centres_from(start, own) if self.intercept else own
                values.append(own.T @ mid)
                rads.append(sums_above(np.abs(own).T @ weights, self.n))
        return np.concatenate(values), np.concatenate(rads)

    centred_sums = False
    """Whether products need columns less their centres even if theta is orthogonal to the constant."""

    def _sparse_products(self, mid: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the same from the entries that are not zero, without centres: theta is orthogonal to the constant."""
        X = self.data.X
        with np.errstate(all="ignore"):
            parts = [column_sums(X.data * v[X.indices], X.indptr) for v in mid.T]
            rads = [sums_above(column_sums(np.abs(X.data) * v[X.indices], X.indptr), self.n) for v in weights.T]
        return np.stack(parts, axis=1), np.stack(rads, axis=1)
