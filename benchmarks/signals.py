"""Signals, graphs and matrices beside yardsticks: time to a gap, passes, and what a certificate takes and decides.

    python benchmarks/signals.py --python atomsieve=.venv/bin/python --python clarabel=peers/bin/python ...

A signal itself is compared with the dynamic program of the core alone, coefficients in a row with our Lasso on the same
data, lines with Clarabel on a quadratic program, completion with Soft-Impute (written out below, in NumPy), and
shared factors of several outputs with copt. Where there is such a peer, the relative gap is computed here from the
coefficients; elsewhere it is that of the package. Processes take turns; each climbs its tolerances until the gap is
small enough. Times are those of the processor on one thread, the best of several. The table goes into
docs/benchmarks.md. Jester is read from the folder named by ATOMSIEVE_DATA.
"""

import argparse
import gzip
import json
import os
import sys
from functools import cached_property
from pathlib import Path
from time import process_time

import numpy as np

from turns import TARGET, climb, into_page, measured

HEADING = "## Signals, graphs and matrices"

WORDS = """Seconds of the processor on one thread (`benchmarks/signals.py`) to a gap of 1e-6 of the objective at 0 (8e-8
beside copt), squared loss. *Certificate* is its time beside that of the solution, and *proven* the part of the jumps or
bends that it decides, or a bound of the rank with the gap that it proves. Yardsticks: *program* is the dynamic program
of the core alone, which a solution begins with; *lasso* our own Lasso on the same data, at the same part of the
critical strength; *soft-impute* is written out in NumPy. The ratio is their time over ours. A number at the end of a
name is the part of the critical strength."""


class Case:
    """A problem of ours, and the gap by which it and its yardstick, if there is one, are judged."""

    target = TARGET
    X, edges = None, None

    def problem(self, slope=None, gauge=None):
        """Return the problem, or its data alone to find the strength; with another gauge."""
        import atomsieve  # noqa: PLC0415

        more = {} if self.edges is None else {"edges": self.edges}
        penalty = {} if slope is None else {"penalty": atomsieve.Linear(slope)}
        return atomsieve.Problem(self.X, self.y, gauge=getattr(atomsieve, gauge or self.gauge)(**more), **penalty)

    @cached_property
    def slope(self):
        """The strength, a part of the critical one."""
        return self.part * self.problem().critical

    def fitted(self, tol):
        """Return our result."""
        from atomsieve import solve  # noqa: PLC0415

        return solve(self.problem(self.slope), tol=tol)

    def gap(self, result):
        """Return the relative gap of a result, or of what the yardstick returns."""
        return result.gap / result.problem.baseline

    def proven(self, certificate):
        """Return what a certificate decides."""
        return f"{(certificate.zero | certificate.nonzero).mean():.2%}"


class Levels(Case):
    """A million places with a thousand levels in noise as large as their spread."""

    gauge = "TotalVariation"

    def __init__(self, count, price):
        rng, self.slope = np.random.default_rng(0), price / count
        self.y = np.repeat(rng.standard_normal(count // 1000), 1000) + rng.standard_normal(count)

    def program(self, _):
        """Return the levels by the compiled core alone."""
        from atomsieve.core.signals import denoised  # noqa: PLC0415

        count = len(self.y)
        return denoised(self.y, np.full(count, 1 / count), np.full(count - 1, self.slope))

    def gap(self, found):
        """Return the relative gap of our result, or of levels."""
        return gap_of_signal(self.y, getattr(found, "x", found), self.slope, 1)


class Lines(Case):
    """A curve of sixty lines in noise; the yardstick is an interior point method, Clarabel."""

    gauge = "TrendFilter"

    def __init__(self, count, price):
        rng, self.slope = np.random.default_rng(0), price / count
        ends = np.sort(rng.choice(count, 59, replace=False))
        curve = np.cumsum(np.repeat(rng.standard_normal(60), np.diff([0, *ends, count])))
        self.y = 3 * curve / curve.std() + rng.standard_normal(count)

    def clarabel(self, tol):
        """Return the curve and the dual: least `|x - y|^2 / 2 + price sum(p + q)` with `D x = p - q`.

        On the dual program itself, `D D' u = D y` with u within the price, it says that it is done a thousandth of the
        objective from the optimum.
        """
        import clarabel  # noqa: PLC0415
        from scipy import sparse  # noqa: PLC0415

        n, m = len(self.y), len(self.y) - 2
        D, one = sparse.diags_array([1.0, -2.0, 1.0], offsets=[0, 1, 2], shape=(m, n)), sparse.eye_array(m)
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_threads = False, 1
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
        quadratic = sparse.diags_array(np.repeat([1.0, 0.0], [n, 2 * m])).tocsc()
        linear = np.concatenate([-self.y, np.full(2 * m, self.slope * n)])
        signs = sparse.hstack([sparse.csc_array((2 * m, n)), -sparse.eye_array(2 * m)])
        rows = sparse.vstack([sparse.hstack([D, -one, one]), signs]).tocsc()
        cones = [clarabel.ZeroConeT(m), clarabel.NonnegativeConeT(2 * m)]
        found = clarabel.DefaultSolver(quadratic, linear, rows, np.zeros(3 * m), cones, settings).solve()
        return np.array(found.x)[:n], np.array(found.z)[:m] / n

    def gap(self, found):
        """Return the relative gap of our result, or of a curve and its dual."""
        x, u = found if isinstance(found, tuple) else (found.x, None)
        return gap_of_signal(self.y, x, self.slope, 2, u)


def gap_of_signal(y, x, slope, order, u=None):
    """Return the relative gap of a signal itself, with differences of an order; the dual is that of x, or given."""
    n, along = len(y), np.linspace(-1, 1, len(y))
    free = np.linalg.qr(np.vander(along, order))[0]
    y, x = y - free @ (free.T @ y), x - free @ (free.T @ y)
    if u is None:
        u = (y - x) / n
        u -= free @ (free.T @ u)
        for _ in range(order):
            u = -np.cumsum(u)[:-1]
    theta = np.clip(u, -slope, slope)
    for _ in range(order):
        theta = -np.diff(theta, prepend=0.0, append=0.0)
    value = ((y - x) @ (y - x)) / 2 / n + slope * np.abs(np.diff(x, order)).sum()
    return (value - y @ theta + n * (theta @ theta) / 2) / (y @ y / 2 / n)


class Coefficients(Case):
    """Coefficients in a row that have few levels; the yardstick is our Lasso on the same data."""

    gauge = "TotalVariation"

    def __init__(self, n, d, part):
        rng, self.part = np.random.default_rng(0), part
        self.X = np.asfortranarray(rng.standard_normal((n, d)))
        w = np.repeat(rng.standard_normal(50) * (rng.random(50) < 0.3), d // 50)
        signal = self.X @ w
        self.y = signal + np.sqrt(0.1) * signal.std() * rng.standard_normal(n)

    def lasso(self, tol):
        """Return the result of the same part of the critical strength of an l1 norm."""
        from atomsieve import solve  # noqa: PLC0415

        slope = self.part * self.problem(gauge="L1").critical
        return solve(self.problem(slope, "L1"), tol=tol)


class Picture(Case):
    """A grid of levels in squares, in noise; or a random tree of as many places."""

    gauge = "TotalVariation"

    def __init__(self, side, squares, price):
        rng, self.slope = np.random.default_rng(0), price / side**2
        levels = np.kron(rng.standard_normal((squares, squares)), np.ones((side // squares, side // squares)))
        places = np.arange(side**2).reshape(side, side)
        right = np.stack([places[:, :-1].ravel(), places[:, 1:].ravel()], axis=1)
        down = np.stack([places[:-1].ravel(), places[1:].ravel()], axis=1)
        self.edges = np.concatenate([right, down])
        self.y = levels.ravel() + 0.5 * rng.standard_normal(side**2)


class Branches(Picture):
    """A random tree, with jumps over some of its edges."""

    def __init__(self, count, jumps, price):
        rng, self.slope = np.random.default_rng(0), price / count
        above = (rng.random(count - 1) * np.arange(1, count)).astype(int)
        self.edges = np.stack([above, np.arange(1, count)], axis=1)
        levels, steps = np.zeros(count), np.zeros(count)
        steps[rng.choice(count, jumps, replace=False)] = rng.standard_normal(jumps)
        for place in range(1, count):
            levels[place] = levels[above[place - 1]] + steps[place]
        self.y = levels + 0.5 * rng.standard_normal(count)


def rank_of(certificate, baseline):
    """Return what a certificate says of a matrix."""
    return f"rank at most {certificate.rank}, gap {certificate.gap / baseline:.0e}".replace("rank at most None, ", "")


class Ratings(Case):
    """Entries of a matrix of which some are seen."""

    gauge = "Nuclear"

    def __init__(self, rows, columns, shape, y, part):
        from atomsieve import Completion  # noqa: PLC0415

        self.X, self.y, self.part = Completion(rows, columns, shape), y, part

    @classmethod
    def generated(cls, side, rank, seen, part):
        """Return entries of a product of two thin matrices, in noise."""
        rng = np.random.default_rng(0)
        left, right = rng.standard_normal((side, rank)), rng.standard_normal((side, rank))
        rows, columns = np.nonzero(rng.random((side, side)) < seen)
        noise = 0.1 * rng.standard_normal(len(rows))
        return cls(rows, columns, (side, side), (left[rows] * right[columns]).sum(axis=1) + noise, part)

    def proven(self, certificate):
        """Return what a certificate says of the matrix."""
        return rank_of(certificate, self.problem().baseline)


class Jester(Ratings):
    """Four fifths of the ratings of jokes, less their mean; beside Soft-Impute."""

    def __init__(self, part):
        with gzip.open(Path(os.environ["ATOMSIEVE_DATA"]) / "jester5k.csv.gz", "rt") as file:
            table = np.loadtxt(file, delimiter=",", skiprows=1)
        table = table[np.random.default_rng(0).random(len(table)) < 0.8]
        rows, columns = table[:, :2].astype(int).T - 1
        super().__init__(rows, columns, (5000, 100), table[:, 2] - table[:, 2].mean(), part)

    def soft_impute(self, tol):
        """Return the matrix once a step changes it by less than a part; steps fill in what is not seen, and shrink."""
        z, seen, slope = np.zeros(self.X.shape), (self.X.rows, self.X.columns), self.slope * len(self.y)
        while True:
            filled = z.copy()
            filled[seen] = self.y
            left, values, right = np.linalg.svd(filled, full_matrices=False)
            new = (left * np.maximum(values - slope, 0.0)) @ right
            change, z = np.linalg.norm(new - z), new
            if change <= tol * np.linalg.norm(z):
                return z

    @cached_property
    def slope(self):
        """The strength, where atomsieve may not be at hand."""
        return self.part * self.norm(self.y) / len(self.y)

    def norm(self, values):
        """Return the largest singular value of a matrix that is 0 where nothing is seen."""
        z = np.zeros(self.X.shape)
        np.add.at(z, (self.X.rows, self.X.columns), values)
        return np.linalg.norm(z, 2)

    def gap(self, found):
        """Return the relative gap of our result, or of a matrix."""
        x = getattr(found, "x", found)
        n, left = len(self.y), self.y - x[self.X.rows, self.X.columns]
        value = left @ left / 2 / n + self.slope * np.linalg.norm(x, "nuc")
        theta = left / n * min(1.0, self.slope * n / self.norm(left))
        return (value + n * (theta @ theta) / 2 - theta @ self.y) / (self.y @ self.y / 2 / n)


class Outputs(Case):
    """Several outputs that share a few factors."""

    gauge = "Nuclear"

    def __init__(self, n, d, outputs, part):
        rng, self.part = np.random.default_rng(0), part
        self.X = rng.standard_normal((n, d))
        signal = self.X @ rng.standard_normal((d, 5)) @ rng.standard_normal((5, outputs))
        self.y = signal + np.sqrt(0.1) * signal.std() * rng.standard_normal((n, outputs))

    def proven(self, certificate):
        """Return what a certificate says of the matrix."""
        return rank_of(certificate, self.problem().baseline)


class Factors(Outputs):
    """The same beside accelerated proximal gradients of copt."""

    target = 8e-8

    @cached_property
    def slope(self):
        """The strength, where atomsieve may not be at hand."""
        return self.part * np.linalg.norm(self.X.T @ self.y, 2) / len(self.y)

    def copt(self, tol):
        """Return the coefficients; the step is that of the largest curvature."""
        from copt import minimize_proximal_gradient  # noqa: PLC0415
        from copt.penalty import TraceNorm  # noqa: PLC0415

        n, shape = len(self.y), (self.X.shape[1], self.y.shape[1])

        def loss(flat):
            left = self.X @ flat.reshape(shape) - self.y
            return (left * left).sum() / 2 / n, (self.X.T @ left).ravel() / n

        step = n / np.linalg.norm(self.X, 2) ** 2
        prox = TraceNorm(self.slope, shape).prox
        given = {"jac": True, "accelerated": True, "max_iter": 10**5, "step": lambda _: step}
        return minimize_proximal_gradient(loss, np.zeros(np.prod(shape)), prox, tol=tol, **given).x.reshape(shape)

    def gap(self, found):
        """Return the relative gap of our result, or of a matrix."""
        x = getattr(found, "x", found)
        n, left = len(self.y), self.y - self.X @ x
        value = (left * left).sum() / 2 / n + self.slope * np.linalg.norm(x, "nuc")
        theta = left / n * min(1.0, self.slope * n / np.linalg.norm(self.X.T @ left, 2))
        return (value + n * (theta * theta).sum() / 2 - (theta * self.y).sum()) / ((self.y**2).sum() / 2 / n)


CASES = {
    "levels, 10^6 places": lambda: Levels(10**6, 40.0),
    "levels, 10^6 places, weak": lambda: Levels(10**6, 10.0),
    "coefficients in a row, 2000 x 10,000, 0.1": lambda: Coefficients(2000, 10_000, 0.1),
    "coefficients in a row, 2000 x 10,000, 0.02": lambda: Coefficients(2000, 10_000, 0.02),
    "lines, 10^5 places": lambda: Lines(10**5, 1e4),
    "lines, 10^5 places, weak": lambda: Lines(10**5, 1e3),
    "random tree, 10^5 places": lambda: Branches(10**5, 300, 5.0),
    "grid, 10^5 edges": lambda: Picture(224, 14, 2.0),
    "jester, 5000 x 100, 0.2": lambda: Jester(0.2),
    "jester, 5000 x 100, 0.05": lambda: Jester(0.05),
    "completion, 2000 x 2000, 2% seen, 0.2": lambda: Ratings.generated(2000, 10, 0.02, 0.2),
    "completion, 2000 x 2000, 2% seen, 0.05": lambda: Ratings.generated(2000, 10, 0.02, 0.05),
    "factors, 500 x 200, 50 outputs, 0.1": lambda: Factors(500, 200, 50, 0.1),
    "factors, 300 x 100, 8 outputs, 0.1": lambda: Outputs(300, 100, 8, 0.1),
    "factors, 300 x 100, 8 outputs, 0.02": lambda: Outputs(300, 100, 8, 0.02),
}
BESIDE = {
    name: [yardstick]
    for start, yardstick in [
        ("levels", "program"),
        ("coefficients", "lasso"),
        ("lines", "clarabel"),
        ("jester", "soft-impute"),
        ("factors, 500", "copt"),
    ]
    for name in CASES
    if name.startswith(start)
}
"""The yardstick of each case that has one."""

OURS = ("program", "lasso", "soft-impute")
"""Those that run in the Python of atomsieve."""

FIRST = {"atomsieve": -6, "program": -1, "lasso": -6, "clarabel": -5, "soft-impute": -2, "copt": -2}
"""The exponent of the first tolerance that is tried."""


def worker(package, name):
    """Climb the tolerances of a package on a case; for ours, count passes and make a certificate too."""
    case = CASES[name]()
    _ = case.slope  # not timed
    if package != "atomsieve":
        fit = getattr(case, package.replace("-", "_"))
        print(json.dumps(climb(fit, case.gap, FIRST[package], case.target)[:2]))
        return
    seconds, gap, result = climb(case.fitted, case.gap, FIRST[package], case.target)
    start = process_time()
    certificate = result.certificate()
    taken = process_time() - start
    print(json.dumps([seconds, gap, result.passes, taken, case.proven(certificate)]))


def main(pythons, chosen):
    """Measure the cases whose names begin so, print the table, and write it into the page if it is whole."""
    rows = [
        "| problem | atomsieve | gap | passes | certificate | proven | yardstick | its time | its gap | ratio |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    print(*rows, sep="\n")
    ours = dict.fromkeys(OURS, pythons["atomsieve"])
    for name in (name for name in CASES if name.startswith(chosen)):
        found = measured(__file__, ours | pythons, ("atomsieve", *BESIDE.get(name, ())), name)
        seconds, gap, passes, taken, proven = found.pop("atomsieve")
        cells = [f"{seconds:.2g}", f"{gap:.0e}", f"{passes:.0f}", f"{taken:.2g}", proven]
        for yardstick, (time, distance) in found.items():
            cells += [yardstick, f"{time:.2g}", f"{distance:.0e}", f"{time / seconds:.2g}"]
        rows.append(f"| {name} | {' | '.join(cells)} |{'  |' * (9 - len(cells))}")
        print(rows[-1], flush=True)
    if not chosen:
        into_page(HEADING, f"{WORDS}\n\n{chr(10).join(rows)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        worker(*sys.argv[2:4])
    else:
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--python", action="append", default=[], help="package=path of its Python")
        parser.add_argument("--only", default="", help="cases whose names begin so; the page stays as it is")
        given = parser.parse_args()
        main(dict(pair.split("=", 1) for pair in given.python), given.only)
