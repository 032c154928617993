"""Passes over the data to a relative gap of 1e-6 for gauges of sorted coefficients, by the meter of the problem.

    python benchmarks/passes.py 300 500 --seeds 5

Standard normal data with 20 non-zeros. Every penalty has the solution of `Linear` at a half or a tenth of the critical
slope. A product with some of the columns counts as that part of a pass.
"""

import argparse

import numpy as np

from atomsieve import (
    OSCAR,
    SLOPE,
    Ball,
    KSparse,
    KSupport,
    Linear,
    LogBarrier,
    Logistic,
    Problem,
    Square,
    Squared,
    solve,
)

GAUGES = [OSCAR(1.0, 0.01), SLOPE(0.1), KSupport(10), KSparse(10)]
SHAPES = [Linear(), Square(), Ball(), LogBarrier()]


def drawn(n, d, loss, seed):
    """Return columns and targets."""
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((n, d)), np.zeros(d)
    w[rng.permutation(d)[:20]] = rng.choice([-1.0, 1.0], 20)
    signal = X @ w
    if isinstance(loss, Squared):
        return X, signal + np.sqrt(0.1) * signal.std() * rng.standard_normal(n)
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-signal)), 1.0, -1.0)


def counted(n, d, seed):
    """Yield what was solved and the passes that it took."""
    for loss in (Squared(), Logistic()):
        X, y = drawn(n, d, loss, seed)
        for gauge in GAUGES:
            problem = Problem(X, y, loss=loss, gauge=gauge)
            for part in (0.5, 0.1):
                slope = part * problem.critical
                mass = solve(problem.at_penalty(Linear(slope)), tol=1e-9).point.state.mass
                for shape in SHAPES:
                    penalty = Linear(slope) if isinstance(shape, Linear) else shape.through(mass, slope)
                    result = solve(Problem(X, y, loss=loss, gauge=gauge, penalty=penalty), tol=1e-6)
                    what = f"{type(loss).__name__} {type(gauge).__name__} {type(penalty).__name__} {part}"
                    yield what, result.passes if result.converged else np.inf


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("n", type=int)
    parser.add_argument("d", type=int)
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    for seed in range(given.seeds):
        cases = dict(counted(given.n, given.d, seed))
        found = np.array(list(cases.values()))
        spread = f"{found.min():.1f} to {found.max():.1f}, median {np.median(found):.1f}"
        print(f"seed {seed}: {len(found)} cases, {spread}")
        print("".join(f"  {what}: {passes:.1f}\n" for what, passes in cases.items() if passes > 12), end="", flush=True)
