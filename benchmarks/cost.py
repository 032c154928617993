"""What one GCG iteration costs beside the product it cannot avoid, and how screening makes it cheaper.

    python benchmarks/cost.py             MNIST 4 against 9 (ATOMSIEVE_DATA or OpenML)
    python benchmarks/cost.py --simulated a dense matrix of the same size

Everything is timed in one run and reported as a ratio to `A' theta`, the median over many repetitions.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from atomsieve import GCG, L1, Logistic, Power, Problem, Square, solve
from atomsieve.datasets import load_mnist
from atomsieve.design import Design


def median_time(action: Callable[[], object], repetitions: int) -> float:
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def iteration_times(problem: Problem, screening: str, iterations: int) -> tuple[np.ndarray, np.ndarray]:
    seen: list[tuple[float, int]] = []
    solve(
        problem,
        GCG(),
        tol=0,
        max_iter=iterations,
        screening=screening,
        callbacks=[lambda progress: seen.append((progress.time, progress.alive))],
    )
    times, alive = np.array(seen).T
    return np.diff(times), alive[1:]


class TimedDesign:
    """A design that keeps the times of its products with A'."""

    def __init__(self, design: Design) -> None:
        self.design, self.times = design, []

    def __getattr__(self, name: str) -> object:
        return getattr(self.design, name)

    def rmatvec(self, r: np.ndarray) -> np.ndarray:
        """Return the product, and keep its time."""
        start = time.perf_counter()
        product = self.design.rmatvec(r)
        self.times.append(time.perf_counter() - start)
        return product


def report_iteration(X: np.ndarray, y: np.ndarray) -> None:
    theta = np.random.default_rng(0).standard_normal(len(y)) / len(y)
    print(f"design {X.shape[0]} x {X.shape[1]}")
    for screening in ("off", "paper", "auto"):
        for intercept in (False, True):
            problem = Problem(X, y, loss=Logistic(), gauge=L1(), penalty=Square(1e-3), intercept=intercept)
            problem.design = TimedDesign(problem.design)
            before = median_time(lambda: X.T @ theta, 100)
            spent, _ = iteration_times(problem, screening, 500)
            alone = statistics.mean([before, median_time(lambda: X.T @ theta, 100)])
            within, whole = np.median(problem.design.times), np.median(spent)
            print(
                f"{screening!r:8s} intercept {intercept!s:6s} iteration {1e3 * whole:5.2f} ms; "
                f"{whole / within:.2f} times the product within it ({1e3 * within:.2f} ms), "
                f"{whole / alone:.2f} times the product alone in a loop ({1e3 * alone:.2f} ms)"
            )


def report_screened(X: np.ndarray, y: np.ndarray) -> None:
    """Rule out all but some columns, as screening does, and time the iterations on what is left."""
    rng = np.random.default_rng(0)
    theta = rng.standard_normal(len(y)) / len(y)
    print("columns alive, iteration and its part beyond the full product's share, as ratios to the full product")
    for share in (1.0, 0.5, 0.25, 0.1, 0.05, 0.01):
        weights = np.ones(X.shape[1])
        weights[rng.permutation(X.shape[1])[int(share * X.shape[1]) :]] = np.inf
        problem = Problem(X, y, loss=Logistic(), gauge=L1(weights), penalty=Square(1e-3))
        product = median_time(lambda: X.T @ theta, 100)
        spent, alive = iteration_times(problem, "off", 200)
        ratio = float(np.median(spent[20:])) / product
        print(f"  {alive[-1]:4.0f} of {X.shape[1]}: {ratio:.3f}, {ratio - alive[-1] / X.shape[1]:+.3f}")


def report_small() -> None:
    A = np.random.default_rng(0).standard_normal((100, 50))
    problem = Problem(A, np.ones(100), loss=Logistic(), penalty=Power(0.01, 2))
    start = time.perf_counter()
    solve(problem, GCG(), tol=0, max_iter=10_000)
    print(f"10000 iterations of the 100 x 50 problem: {time.perf_counter() - start:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulated", action="store_true", help="use random data of the size of MNIST 4 against 9")
    if parser.parse_args().simulated:
        rng = np.random.default_rng(0)
        X = rng.standard_normal((11791, 784))
        y = np.sign(X[:, :10].sum(axis=1) + rng.standard_normal(len(X)))
    else:
        X, y = load_mnist()
    report_iteration(X, y)
    report_screened(X, y)
    report_small()


if __name__ == "__main__":
    main()
