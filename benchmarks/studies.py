"""Questions that a ladder of tolerances does not answer.

    python benchmarks/studies.py first_fit    a fit in a new process, imports included
    python benchmarks/studies.py mnist        the default method to 1e-9 against the paper's to 1e-3
    python benchmarks/studies.py nested       nested cross-validation of sparse logistic regression
    python benchmarks/studies.py floor        a fit in multiples of two reads of the data, and of its work
    python benchmarks/studies.py stability    the paths of 100 random halves

Without a name, all that have no result yet; `--force` asks again.
"""

import argparse
import subprocess
import sys
import time
from typing import Any

import numpy as np

from atomsieve import (
    GCG,
    L1,
    CertifiedLasso,
    CertifiedLogisticRegression,
    Linear,
    Logistic,
    Problem,
    Square,
    Squared,
    StabilitySelector,
    core,
    solve,
)
from benchmark_utils.components import Component, components
from benchmark_utils.nested import nested_times
from benchmark_utils.store import load_study, save_study

DATA = """
import numpy as np
rng = np.random.default_rng(0)
X = np.asfortranarray(rng.standard_normal((200, 2000)))
y = X[:, :10].sum(axis=1) + rng.standard_normal(200)
lam = np.abs(X.T @ y).max() / len(y) / 10
"""

FITS = {
    "nothing": "",
    "atomsieve": "from atomsieve import Linear, Problem, solve; solve(Problem(X, y, penalty=Linear(lam)))",
    "scikit-learn": "from sklearn.linear_model import Lasso; Lasso(lam, fit_intercept=False).fit(X, y)",
    "celer": "from celer import Lasso; Lasso(lam, fit_intercept=False).fit(X, y)",
    "skglm": "from skglm import Lasso; Lasso(lam, fit_intercept=False).fit(X, y)",
    "adelie": "import adelie; adelie.grpnet(X, adelie.glm.gaussian(y), lmda_path=[lam], intercept=False,"
    " early_exit=False, progress_bar=False)",
}
"""Fits as a user would write them; "nothing" is the interpreter, NumPy and the data."""


def first_fit(repetitions: int = 5) -> list[dict[str, Any]]:
    """Time whole processes; the best of several, so that files are in the cache of the system."""
    rows = []
    for name, code in FITS.items():
        times = []
        for _ in range(repetitions):
            start = time.perf_counter()
            ended = subprocess.run([sys.executable, "-c", DATA + code], check=False, capture_output=True)  # noqa: S603
            times.append(time.perf_counter() - start)
        failed = ended.stderr.decode().strip().splitlines()[-1:] if ended.returncode else []
        rows.append({"solver": name, "seconds": None if failed else min(times), "reason": "".join(failed)})
    return rows


def mnist(limit: float = 60.0) -> list[dict[str, Any]]:
    """Solve MNIST 4 against 9, logistic with square penalties, by the default method and by the paper's."""
    data = Component("datasets/mnist.py").instance().get_data()
    if data["X"] is None:
        return []
    rows = []
    for strength in (1e-1, 1e-2, 1e-3, 1e-4):
        for name, method, tol in (("default", None, 1e-9), ("GCG", GCG(), 1e-3)):
            start = time.perf_counter()
            problem = Problem(data["X"], data["labels"], loss=Logistic(), gauge=L1(), penalty=Square(strength))
            result = solve(problem, method, tol=tol, max_iter=10**9, time_limit=limit)
            rows.append(
                {
                    "strength": strength,
                    "method": name,
                    "tol": tol,
                    "seconds": time.perf_counter() - start,
                    "gap": result.gap / problem.baseline,
                    "iterations": result.n_iter,
                    "alive": int(result.alive.sum()),
                    "reached": bool(result.converged),
                }
            )
    return rows


def nested() -> list[dict[str, Any]]:
    """Choose the strength by cross-validation within cross-validation."""
    return [row for name in ("golub", "newsgroups") for row in nested_times(name)]


def floor(repetitions: int = 25) -> list[dict[str, Any]]:
    """Time fits at a tenth of the critical strength, one product with X', and what of a fit the core and products take.

    No method can do with less than two reads of X: one for the scores at 0, one that shows the gap of the solution.
    """
    rows = []
    for component in components("datasets"):
        data = component.instance().get_data()
        if data["X"] is None or data.get("group_size", 1) > 1 or str(component).startswith("growing"):
            continue
        for name, loss, y in (("squared", Squared(), data["y"]), ("logistic", Logistic(), data.get("labels"))):
            if y is not None:
                target = (y - np.mean(y)) / np.std(y) if name == "squared" else np.asarray(y, dtype=float)
                rows.append({"data": str(component), "loss": name} | _floor_of(data["X"], target, loss, repetitions))
    return rows


def _floor_of(X: Any, y: np.ndarray, loss: Any, repetitions: int) -> dict[str, Any]:
    """Return the least times of a fit, of a product, and of the calls of the core within the fastest fit."""
    penalty = Linear(0.1 * Problem(X, y, loss=loss).critical)
    v = np.ones(len(y))
    inside = _Timed(core._core.restricted)
    real, core._core = core._core, _With(core._core, restricted=inside)
    try:
        fits = []
        for _ in range(repetitions):
            inside.seconds = 0.0
            start = time.perf_counter()
            result = solve(Problem(X, y, loss=loss, penalty=penalty))
            fits.append((time.perf_counter() - start, inside.seconds, result.passes))
        start = time.perf_counter()
        reads = []
        while len(reads) < repetitions:
            start = time.perf_counter()
            _ = X.T @ v
            reads.append(time.perf_counter() - start)
    finally:
        core._core = real
    seconds, within, passes = min(fits)
    return {"seconds": seconds, "read": min(reads), "core": within, "passes": passes}


class _Timed:
    """A function that adds up the time of its calls."""

    def __init__(self, function: Any) -> None:
        self.function, self.seconds = function, 0.0

    def __call__(self, *arguments: Any) -> Any:
        start = time.perf_counter()
        try:
            return self.function(*arguments)
        finally:
            self.seconds += time.perf_counter() - start


class _With:
    """A module with another function in place of one of its own."""

    def __init__(self, module: Any, **functions: Any) -> None:
        self.module = module
        self.__dict__.update(functions)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)


def stability(repetitions: int = 3) -> list[dict[str, Any]]:
    """Follow the path of a lasso and of a logistic regression on 100 halves of leu."""
    data = Component("datasets/leu.py").instance().get_data()
    if data["X"] is None:
        return []
    rows = []
    for name, model, y in (
        ("lasso", CertifiedLasso(), data["y"]),
        ("logistic regression", CertifiedLogisticRegression(), data["labels"]),
    ):
        times = []
        for _ in range(repetitions):
            start = time.perf_counter()
            StabilitySelector(model, n_subsamples=100, random_state=0).fit(data["X"], y)
            times.append(time.perf_counter() - start)
        rows.append({"model": name, "seconds": min(times)})
    return rows


STUDIES = {"first_fit": first_fit, "mnist": mnist, "nested": nested, "floor": floor, "stability": stability}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*STUDIES, []], help="which studies")
    parser.add_argument("--force", action="store_true", help="measure again what has a result")
    options = parser.parse_args()
    for name in options.names or STUDIES:
        if options.force or load_study(name) is None:
            rows = STUDIES[name]()
            save_study(name, rows)
            for row in rows:
                print(name, row, flush=True)


if __name__ == "__main__":
    main()
