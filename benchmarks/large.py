"""Sparse logistic regression on many samples in memory, one thread, beside other packages: time to a gap of 1e-6.

    python benchmarks/large.py --python atomsieve=.venv/bin/python --python skglm=peers/bin/python ...

Standard normal data with twenty features that matter, at a twentieth of the critical strength, no intercept. Every
package has a Python of its own, and processes of all packages take turns; each climbs its tolerances until the gap,
computed here from the coefficients alone, is small enough. Times are those of the processor, the best of several.
snapml computes in float32. The table is printed.
"""

import argparse
import sys

import numpy as np

from turns import TARGET, cell, climbed, measured

SIZES = ("1000000 x 100", "200000 x 1000")
PART = 1 / 20


class Case:
    """Data, the strength, and the gap by which coefficients are judged."""

    def __init__(self, size):
        self.n, self.d = map(int, size.split(" x "))
        rng = np.random.default_rng(0)
        self.X = rng.standard_normal((self.d, self.n)).T  # in columns, as most packages like it
        w = np.zeros(self.d)
        w[rng.permutation(self.d)[:20]] = rng.choice([-1.0, 1.0], 20)
        self.y = np.where(self.X @ w + 2 * rng.standard_normal(self.n) > 0, 1.0, -1.0)
        self.slope = PART * np.abs(self.X.T @ self.y).max() / 2 / self.n

    def gap(self, w):
        """Return the duality gap relative to the objective at 0."""
        margins = self.y * (self.X @ w)
        value = np.logaddexp(0, -margins).mean() + self.slope * np.abs(w).sum()
        weights = 1 / (1 + np.exp(margins))
        weights *= min(1.0, self.slope * self.n / np.abs(self.X.T @ (self.y * weights)).max())
        entropy = np.where(weights > 0, weights * np.log(weights), 0.0) + (1 - weights) * np.log1p(-weights)
        return (value + entropy.mean()) / np.log(2)


def atomsieve(case):
    """Return coefficients."""
    from atomsieve import Linear, Logistic, Problem, solve  # noqa: PLC0415

    return lambda tol: solve(Problem(case.X, case.y, loss=Logistic(), penalty=Linear(case.slope)), tol=tol).x


def skglm(case):
    """Return coefficients."""
    from skglm import SparseLogisticRegression  # noqa: PLC0415

    settings = {"max_iter": 1000, "fit_intercept": False}
    return lambda tol: SparseLogisticRegression(case.slope, tol=tol, **settings).fit(case.X, case.y).coef_.ravel()


def adelie(case):
    """Return coefficients."""
    import adelie as ad  # noqa: PLC0415

    matrix, loss = ad.matrix.dense(case.X, method="naive"), ad.glm.binomial((case.y > 0).astype(float))
    given = {"lmda_path": case.slope * np.geomspace(10, 1, 10), "intercept": False, "early_exit": False}
    quiet = {"progress_bar": False}
    return lambda tol: ad.grpnet(matrix, loss, tol=tol, **given, **quiet).betas[-1].toarray().ravel()


def snapml(case):
    """Return coefficients; the package computes in float32."""
    from snapml import LogisticRegression  # noqa: PLC0415

    X = np.ascontiguousarray(case.X, dtype=np.float32)
    given = {
        "penalty": "l1",
        "regularizer": case.slope * case.n,
        "fit_intercept": False,
        "max_iter": 1000,
        "n_jobs": 1,
        "dual": False,
    }
    return lambda tol: LogisticRegression(tol=tol, **given).fit(X, case.y).coef_.ravel().astype(float)


RUN = {"atomsieve": atomsieve, "skglm": skglm, "adelie": adelie, "snapml": snapml}
FIRST = {"atomsieve": -6, "skglm": -3, "adelie": -7, "snapml": -3}
"""The exponent of the first tolerance that is tried."""


def main(pythons):
    """Measure both sizes and print the table."""
    print(f"| samples x features | {' | '.join(RUN)} | ratio |\n|---|{'---|' * len(RUN)}---|")
    for size in SIZES:
        found = measured(__file__, pythons, RUN, size)
        arrived = [found[name][0] for name in RUN if name != "atomsieve" and found.get(name, [0, 1])[1] <= TARGET]
        ratio = f"{min(arrived) / found['atomsieve'][0]:.2f}" if arrived else ""
        print(f"| {size} | {' | '.join(cell(found.get(name)) for name in RUN)} | {ratio} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        case = Case(sys.argv[3])
        climbed(RUN[sys.argv[2]](case), case.gap, FIRST[sys.argv[2]])
    else:
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--python", action="append", default=[], help="package=path of its Python")
        main(dict(pair.split("=", 1) for pair in parser.parse_args().python))
