"""A cluster of dask: l1 logistic regression in chunks of rows on two processes, beside the same data in memory.

    python benchmarks/cluster.py                      10^6 x 100, at a twentieth of the critical slope
    python benchmarks/cluster.py --peer               the same with dask-ml beside it (it has to be installed)
    python benchmarks/cluster.py --n 20000 --workers 2 --chunks 4

Data are standard normal; 10 features carry the classes. Each chunk is drawn where it lies, and the copy in memory is
drawn from the same seeds. What is timed begins with `Problem(X, y)`, where data lie in memory already; the gap is
relative to the loss at x = 0. Prints a table in Markdown.
"""

import argparse
import time

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from atomsieve import Linear, Logistic, Problem, solve
from atomsieve.numerics.tasks import watched

SUPPORT, FRACTION, GAPS = 10, 1 / 20, (5e-2, 1e-6)


def drawn(seed, height, d):
    """Return some rows of X, and their classes."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((height, d))
    scores = rows[:, :SUPPORT] @ np.linspace(-1, 1, SUPPORT) + rng.standard_normal(height)
    return rows, np.where(scores > 0, 1.0, -1.0)


def heights_of(n, chunks):
    """Return the heights of chunks that are nearly equal."""
    return [len(part) for part in np.array_split(np.arange(n), chunks)]


def in_chunks(n, d, chunks):
    """Return X and y as arrays of dask whose chunks are drawn by the workers."""
    made = [(height, dask.delayed(drawn)(seed, height, d)) for seed, height in enumerate(heights_of(n, chunks))]
    X = da.concatenate([da.from_delayed(part[0], (height, d), np.float64) for height, part in made])
    y = da.concatenate([da.from_delayed(part[1], (height,), np.float64) for height, part in made])
    X, y = dask.persist(X, y)
    dask.compute(X.sum(), y.sum())
    return X, y


def in_memory(n, d, chunks):
    """Return the same in memory."""
    parts = [drawn(seed, height, d) for seed, height in enumerate(heights_of(n, chunks))]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def strength_of(X, y):
    """Return a twentieth of the critical slope."""
    return FRACTION * Problem(X, y, loss=Logistic(), intercept=True).critical


def timed(X, y, strength, tol):
    """Return the time of a solve, the result and the trips to the workers."""
    start = time.perf_counter()
    with watched() as traffic:
        result = solve(Problem(X, y, loss=Logistic(), penalty=Linear(strength), intercept=True), tol=tol)
    return time.perf_counter() - start, result, traffic


def row(name, tol, found):
    """Print a row of the table."""
    seconds, result, traffic = found
    gap = result.gap / result.problem.baseline
    trips = f"{traffic.trips} | {traffic.most_received + traffic.most_sent}" if traffic.trips else "|"
    print(f"| {name} | {tol:.0e} | {gap:.1e} | {seconds:.2f} s | {trips} |", flush=True)


def peer(X, y, strength):
    """Print the time of dask-ml to the same gap: the tolerance at which its objective is there."""
    from dask_ml.linear_model import LogisticRegression  # noqa: PLC0415

    n = X.shape[0]
    start = time.perf_counter()
    model = LogisticRegression(penalty="l1", C=1 / (n * strength), solver="proximal_grad", max_iter=100)
    model.fit(X, (y > 0).astype(int))
    seconds = time.perf_counter() - start
    x, b = np.asarray(model.coef_).ravel(), float(np.ravel(model.intercept_)[0])
    value = float(da.log1p(da.exp(-y * (X @ x + b))).mean().compute()) + strength * float(np.abs(x).sum())
    best = solve(Problem(X, y, loss=Logistic(), penalty=Linear(strength), intercept=True), tol=1e-8)
    above = (value - best.point.objective) / best.problem.baseline
    print(
        f"| dask-ml, proximal_grad, 100 steps | | {above:.1e} (above the optimum) | {seconds:.2f} s | | |", flush=True
    )


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--d", type=int, default=100)
    parser.add_argument("--chunks", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--peer", action="store_true", help="beside dask-ml")
    given = parser.parse_args()
    settings = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    print("| | asked | gap | time | trips | most bytes in one |\n|---|---|---|---|---|---|")
    with LocalCluster(n_workers=given.workers, **settings) as cluster, Client(cluster):
        X, y = in_chunks(given.n, given.d, given.chunks)
        strength = strength_of(X, y)
        for tol in GAPS:
            row(f"dask, {given.workers} processes", tol, timed(X, y, strength, tol))
        if given.peer:
            peer(X, y, strength)
    X, y = in_memory(given.n, given.d, given.chunks)
    for tol in GAPS:
        row("in memory", tol, timed(X, y, strength, tol))


if __name__ == "__main__":
    main()
