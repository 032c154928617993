"""What one GCG iteration costs beside the product it cannot avoid, and how screening makes it cheaper.

    python benchmarks/cost.py             MNIST 4 against 9 (ATOMSIEVE_DATA or OpenML)
    python benchmarks/cost.py --simulated a dense matrix of the same size

Everything is timed in one run and reported as a ratio to `A' theta`, the median over many repetitions.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from atomsieve import GCG, L1, Logistic, Power, Problem, Square, solve
from atomsieve.datasets import load_mnist


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


def report_iteration(X: np.ndarray, y: np.ndarray) -> None:
    theta = np.random.default_rng(0).standard_normal(len(y)) / len(y)
    print(f"design {X.shape[0]} x {X.shape[1]}")
    for screening in ("off", "paper", "auto"):
        for intercept in (False, True):
            problem = Problem(X, y, loss=Logistic(), gauge=L1(), penalty=Square(1e-3), intercept=intercept)
            before = median_time(lambda: X.T @ theta, 100)
            spent, _ = iteration_times(problem, screening, 200)
            product = statistics.mean([before, median_time(lambda: X.T @ theta, 100)])
            label = f"screening {screening!r}, intercept {intercept}"
            print(
                f"{label:40s} iteration {1e3 * np.median(spent):6.2f} ms, product {1e3 * product:6.2f} ms, "
                f"ratio {np.median(spent) / product:.2f}"
            )


def report_screened(X: np.ndarray, y: np.ndarray) -> None:
    theta = np.random.default_rng(0).standard_normal(len(y)) / len(y)
    product = median_time(lambda: X.T @ theta, 100)
    times, counts = [], []
    for strength in (0.1, 0.3, 1.0, 3.0, 10.0):
        problem = Problem(X, y, loss=Logistic(), gauge=L1(), penalty=Square(strength))
        spent, alive = iteration_times(problem, "auto", 2000)
        times.append(spent)
        counts.append(alive)
    spent, alive = np.concatenate(times), np.concatenate(counts) / X.shape[1]
    print("share of columns alive, median iteration as a ratio to the full product ('auto', five strengths)")
    edges = (1.0, 0.999, 0.6, 0.4, 0.25, 0.15, 0.08, 0.04, 0.02, 0.0)
    for high, low in pairwise(edges):
        chosen = (alive > low) & (alive <= high)
        if chosen.sum() >= 3:
            print(
                f"  {np.median(alive[chosen]):6.3f}: {np.median(spent[chosen]) / product:.3f}  ({chosen.sum()} iterations)"
            )


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
