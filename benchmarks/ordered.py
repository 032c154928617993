"""Ordered norms, group paths, sparse groups and elastic net paths against other packages: time to a gap of 1e-6.

    python benchmarks/ordered.py --python atomsieve=.venv/bin/python --python sortedl1=peers/bin/python ...

Every package may need a Python of its own (adelie wants an older NumPy than atomsieve), so each has one, and processes
of all packages take turns. A process runs over tolerances of its package until the relative gap, computed here from
the coefficients alone, is small enough. Times are those of the processor on one thread, the best of several. The table
goes into docs/benchmarks.md. Riboflavin and leu are read from the folder named by ATOMSIEVE_DATA.
"""

import argparse
import bz2
import gzip
import os
import sys
from pathlib import Path

import numpy as np

from turns import TARGET, cell, climbed, into_page, measured

HEADING = "## Ordered norms, group paths, sparse groups and elastic nets"


def standardised(X):
    """Return the columns that vary, with mean 0 and variance 1."""
    X = X - X.mean(axis=0)
    spread = X.std(axis=0)
    varies = spread > 1e-12 * np.abs(X).max()
    return np.asfortranarray(X[:, varies] / spread[varies])


def simulated(n, d, count, *, rho=0.0, common=0.0, signs=True, together=1, noise=0.1):
    """Return columns that are an autoregression from left to right, or share a factor, and targets.

    `count` coefficients are not 0, in groups of some that stand `together`; the noise has so much of the variance of
    the signal.
    """
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.standard_normal((d, n)).T)
    for j in range(1, d if rho else 0):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    X = standardised(np.sqrt(1 - common) * X + np.sqrt(common) * rng.standard_normal((n, 1)))
    w = np.zeros(d)
    places = rng.permutation(d // together)[: count // together]
    w[(places[:, None] * together + np.arange(together)).ravel()] = rng.choice([-1.0, 1.0], count) if signs else 1.0
    signal = X @ w
    return X, signal + np.sqrt(noise) * signal.std() * rng.standard_normal(n)


def riboflavin():
    """Return gene expression and the production of riboflavin, 71 x 4088."""
    with gzip.open(Path(os.environ["ATOMSIEVE_DATA"]) / "riboflavin.csv.gz", "rt") as file:
        header = [name.strip().strip('"') for name in file.readline().split(",")]
        table = np.loadtxt(file, delimiter=",")
    target = header.index("y")
    return standardised(np.delete(table, target, axis=1)), table[:, target]


def leu():
    """Return gene expression in two kinds of leukemia, 38 x 7129."""
    with bz2.open(Path(os.environ["ATOMSIEVE_DATA"]) / "leu.bz2", "rt") as file:
        rows = [line.split() for line in file]
    X = np.zeros((len(rows), 7129))
    for i, row in enumerate(rows):
        places, values = zip(*(entry.split(":") for entry in row[1:]), strict=True)
        X[i, np.array(places, dtype=int) - 1] = np.array(values, dtype=float)
    return standardised(X), np.array([float(row[0]) for row in rows])


DATA = {
    "sim_ar": lambda: simulated(200, 5000, 20, rho=0.3),
    "sim_equi": lambda: simulated(200, 5000, 20, common=0.3, signs=False),
    "riboflavin": riboflavin,
    "leu": leu,
    "500 x 2000": lambda: simulated(500, 2000, 50, rho=0.5, together=10),
    "500 x 2000 in noise": lambda: simulated(500, 2000, 50, rho=0.5, together=10, noise=4.0),
    "2000 x 5000": lambda: simulated(2000, 5000, 100, rho=0.5, together=10),
    "2000 x 10000": lambda: simulated(2000, 10000, 100, rho=0.5),
}

CASES = [("slope", name, share) for name in ("sim_ar", "riboflavin", "sim_equi") for share in (0.5, 0.1, "path")]
CASES += [("group", "2000 x 5000", "path")]
CASES += [("sparse", name, share) for name in ("500 x 2000", "500 x 2000 in noise") for share in (0.1, 0.02)]
CASES += [("net", "leu", "path"), ("net", "2000 x 10000", "path")]

PEERS = {
    "slope": ("sortedl1",),
    "group": ("adelie",),
    "sparse": ("skglm",),
    "net": ("adelie", "glmnet", "scikit-learn"),
}
WORDS = {"slope": "SLOPE", "group": "groups of ten", "sparse": "sparse groups of ten", "net": "elastic net"}


class Case:
    """One case: data, the strengths, and the gap by which coefficients are judged."""

    def __init__(self, kind, name, share):
        self.kind, (self.X, y) = kind, DATA[name]()
        self.y = (y - y.mean()) / y.std()
        self.n, self.d = self.X.shape
        self.order = None
        if kind == "slope":
            from scipy.special import ndtri  # noqa: PLC0415

            self.order = -ndtri(0.1 * np.arange(1, self.d + 1) / (2 * self.d))
        top = self.sigma(self.X.T @ self.y / self.n)
        count = 50 if kind == "slope" else 100
        self.path = share == "path"
        self.slopes = top * (np.geomspace(1, 0.01, count) if self.path else np.array([share]))

    def sigma(self, z):
        """Return the support function of the atoms."""
        if self.kind == "slope":
            return (np.cumsum(np.sort(np.abs(z))[::-1]) / np.cumsum(self.order)).max()
        if self.kind == "group":
            return np.linalg.norm(z.reshape(-1, 10), axis=1).max() / np.sqrt(10)
        return self.of_sparse_groups(np.abs(z).reshape(-1, 10)) if self.kind == "sparse" else np.abs(z).max()

    @staticmethod
    def of_sparse_groups(sizes):
        """Return the least slope at which no group has a score: what its l1 price leaves is as long as the other."""
        low, high = 0.0, 2 * sizes.max()
        for _ in range(60):
            middle = (low + high) / 2
            left = np.maximum(sizes - middle / 2, 0.0)
            free = np.linalg.norm(left, axis=1) <= middle / 2 * np.sqrt(10)
            low, high = (low, middle) if free.all() else (middle, high)
        return high

    def kappa(self, w):
        """Return the gauge."""
        if self.kind == "slope":
            return self.order @ np.sort(np.abs(w))[::-1]
        if self.kind == "group":
            return np.sqrt(10) * np.linalg.norm(w.reshape(-1, 10), axis=1).sum()
        if self.kind == "sparse":
            return (np.abs(w).sum() + np.sqrt(10) * np.linalg.norm(w.reshape(-1, 10), axis=1).sum()) / 2
        return np.abs(w).sum()

    def gap(self, w, slope):
        """Return the duality gap relative to the objective at 0; an elastic net has a ridge as large as its slope."""
        left = self.X @ w - self.y
        theta, z = left / self.n, -self.X.T @ left / self.n
        value = left @ left / 2 / self.n + slope * self.kappa(w)
        if self.kind == "net":
            over = np.maximum(np.abs(z) - slope, 0.0)
            value += slope * (w @ w) / 2 + (over @ over) / 2 / slope
        else:
            theta = theta * min(1.0, slope / self.sigma(z))
        return (value + self.n * (theta @ theta) / 2 + theta @ self.y) / (self.y @ self.y / 2 / self.n)

    def worst(self, coefs):
        """Return the largest gap over all strengths."""
        return max(self.gap(w, slope) for w, slope in zip(np.atleast_2d(coefs), self.slopes, strict=True))


def atomsieve(case, tol):
    """Return coefficients."""
    from atomsieve import L1, OWL, Group, Linear, Problem, SparseGroup, path, solve  # noqa: PLC0415

    tens = np.arange(case.d) // 10
    gauges = {"slope": lambda: OWL(case.order), "group": lambda: Group(tens), "sparse": lambda: SparseGroup(tens)}
    gauge = gauges.get(case.kind, L1)()
    ridge = 1.0 if case.kind == "net" else 0.0
    problem = Problem(case.X, case.y, gauge=gauge, penalty=Linear(case.slopes[-1]), ridge=ridge)
    if case.path:
        return path(problem.coupled() if ridge else problem, case.slopes, tol=tol).coefs
    return solve(problem, tol=tol).x


def sortedl1(case, tol):
    """Return coefficients."""
    from sortedl1 import Slope  # noqa: PLC0415

    model = Slope(lam=case.order, alpha=case.slopes[-1], fit_intercept=False, tol=tol, max_iter=10**7)
    if not case.path:
        found = model.fit(case.X, case.y).coef_
        return np.asarray(found.todense() if hasattr(found, "todense") else found).ravel()
    whole = {"tol_dev_change": 0.0, "tol_dev_ratio": 1.0, "max_clusters": case.n * case.d}
    found = model.path(case.X, case.y, alphas=case.slopes, **whole).coefs
    return found.toarray().T if hasattr(found, "toarray") else np.asarray(found).reshape(case.d, -1).T


def adelie(case, tol):
    """Return coefficients; what is called alpha there is the part of the gauge, of twice the slope."""
    import adelie as ad  # noqa: PLC0415

    net = case.kind == "net"
    groups = np.arange(case.d) if net else np.arange(0, case.d, 10)
    given = {"groups": groups, "lmda_path": case.slopes * (2 if net else 1), "alpha": 0.5 if net else 1.0, "tol": tol}
    matrix, quiet = ad.matrix.dense(case.X, method="naive"), {"progress_bar": False, "early_exit": False}
    state = ad.grpnet(matrix, ad.glm.gaussian(case.y), intercept=False, max_iters=10**7, **given, **quiet)
    return state.betas.toarray()


def skglm(case, tol):
    """Return coefficients."""
    from skglm import GeneralizedLinearEstimator  # noqa: PLC0415
    from skglm.datafits import QuadraticGroup  # noqa: PLC0415
    from skglm.penalties import WeightedL1GroupL2  # noqa: PLC0415
    from skglm.solvers import GroupBCD  # noqa: PLC0415
    from skglm.utils.data import grp_converter  # noqa: PLC0415

    indices, ends = grp_converter(10, case.d)
    prices = np.full(case.d // 10, np.sqrt(10) / 2), np.full(case.d, 0.5)
    penalty = WeightedL1GroupL2(case.slopes[-1], *prices, ends, indices)
    solver = GroupBCD(max_iter=1000, max_epochs=50_000, tol=tol, fit_intercept=False, ws_strategy="fixpoint")
    return GeneralizedLinearEstimator(QuadraticGroup(ends, indices), penalty, solver).fit(case.X, case.y).coef_


def glmnet(case, tol):
    """Return coefficients; y has variance 1, as the ridge of this package asks."""
    import rpy2.robjects as ro  # noqa: PLC0415
    from rpy2.robjects import numpy2ri  # noqa: PLC0415

    if not hasattr(case, "in_r"):
        ro.r("library(glmnet); glmnet.control(fdev = 0, devmax = 1)")
        case.in_r = numpy2ri.numpy2rpy(case.X), ro.FloatVector(case.y)
    fit = ro.r(
        """function(X, y, lambda, thresh) glmnet(X, y, lambda = lambda, alpha = 0.5, thresh = thresh, intercept = FALSE,
           standardize = FALSE, maxit = 1e9)$beta"""
    )
    found = fit(*case.in_r, ro.FloatVector(2 * case.slopes), float(tol))
    return np.array(ro.r("as.matrix")(found)).T


def scikit_learn(case, tol):
    """Return coefficients."""
    from sklearn.linear_model import enet_path  # noqa: PLC0415

    return enet_path(case.X, case.y, l1_ratio=0.5, alphas=2 * case.slopes, tol=tol, max_iter=10**6)[1].T


RUN = {
    "atomsieve": atomsieve,
    "sortedl1": sortedl1,
    "adelie": adelie,
    "glmnet": glmnet,
    "skglm": skglm,
    "scikit-learn": scikit_learn,
}
FIRST = {"atomsieve": -6, "sortedl1": -5, "adelie": -8, "glmnet": -8, "skglm": -3, "scikit-learn": -4}
"""The exponent of the first tolerance that is tried."""


def worker(package, kind, name, share):
    """Climb the tolerances of a package on a case."""
    case = Case(kind, name, share if share == "path" else float(share))
    climbed(lambda tol: RUN[package](case, tol), case.worst, FIRST[package])


def main(pythons, cases):
    """Measure all cases and write the table."""
    rows, ratios = [], []
    packages = [package for package in RUN if package != "atomsieve"]
    for kind, name, share in cases:
        found = measured(__file__, pythons, ("atomsieve", *PEERS[kind]), kind, name, str(share))
        peers = [found[peer] for peer in PEERS[kind] if peer in found]
        ours, ratio = found["atomsieve"], ""
        if peers and ours[1] <= TARGET:
            arrived = [seconds for seconds, gap in peers if gap <= TARGET]
            least = min(arrived or [seconds for seconds, _ in peers]) / ours[0]
            ratios.append(least)
            ratio = f"{'' if arrived else '> '}{least:.2f}" if least >= 1 else f"**{least:.2f}**"
        words = f"{WORDS[kind]}, {name}" + (
            f", path of {50 if kind == 'slope' else 100}" if share == "path" else f", {share}"
        )
        cells = " | ".join(cell(found.get(package)) for package in ["atomsieve", *packages])
        rows.append(f"| {words} | {cells} | {ratio} |")
        print(rows[-1], flush=True)
    mean = float(np.exp(np.mean(np.log(ratios)))) if ratios else float("nan")
    write(rows, packages, mean)


def write(rows, packages, mean):
    """Put the table into the page, in the place of the one before."""
    table = "\n".join(
        [
            f"| problem | atomsieve | {' | '.join(packages)} | ratio |",
            f"|---|---|{'---|' * len(packages)}---|",
            *rows,
        ]
    )
    text = f"""\
Seconds of the processor to a relative gap of 1e-6 (`benchmarks/ordered.py`), squared loss, no intercept; in brackets
the time and the gap of a package that did not arrive. SLOPE has the weights of the Benjamini-Hochberg procedure (q =
0.1); a number is the part of the critical strength, and paths go down to a hundredth of it. Elastic nets have a ridge
as large as their slope; sparse groups have half of each price, and in noise it has four times the variance of the
signal. Where no peer arrived, the ratio is that to the best of them, a lower bound (>).

{table}

Geometric mean of the ratios: {mean:.2f}."""
    into_page(HEADING, text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        worker(*sys.argv[2:6])
    else:
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--python", action="append", default=[], help="package=path of its Python")
        parser.add_argument("--only", help="slope, group, sparse or net")
        given = parser.parse_args()
        chosen = dict(pair.split("=", 1) for pair in given.python)
        main(chosen, [case for case in CASES if given.only in (None, case[0])])
