"""Two states of the code in one run: `python benchmarks/ratio.py path/to/old/src path/to/new/src`.

Each case is timed by a process of either state in turn, several rounds, and the least times are compared: a ratio below
1 means that the new state is faster. Times are those of the processor, on one thread.
"""

import json
import os
import subprocess
import sys
from dataclasses import replace
from itertools import product
from time import perf_counter, process_time

import numpy as np

ROUNDS = 5
"""Processes of either state."""

SECONDS = 0.4
"""How long a process repeats one case, at least twice."""


def data():
    """Yield names, designs and real targets."""
    rng = np.random.default_rng(0)
    for n, d in ((20, 30), (100, 50), (38, 7129), (300, 500), (1000, 4000), (8000, 200)):
        X = rng.standard_normal((n, d))
        yield f"{n} x {d}", X, X[:, :5].sum(axis=1) + rng.standard_normal(n)


def cases():
    """Yield the name of each case and what is timed."""
    from atomsieve import Group, Linear, Logistic, Problem, Squared, path, solve  # noqa: PLC0415

    for (name, X, y), (loss, signs), share in product(data(), ((Squared(), False), (Logistic(), True)), (0.1, 0.02)):
        targets = np.where(y > np.median(y), 1.0, -1.0) if signs else y
        made = {"loss": loss, "intercept": True}
        critical = Problem(X, targets, **made).origin.sigma
        penalty = Linear(share * critical)
        words = f"{name}, {type(loss).__name__}, {share}"
        yield f"fit, {words}", lambda X=X, y=targets, m=made, p=penalty: solve(Problem(X, y, penalty=p, **m))
        result = solve(Problem(X, targets, penalty=penalty, **made), tol=1e-10)
        yield f"certificate, {words}", lambda r=result: replace(r).certificate()
        if share == 0.1:
            yield f"path of 30, {words}", lambda X=X, y=targets, m=made: path(Problem(X, y, **m), n=30)
            groups = Group(np.arange(X.shape[1]) // 5)
            top = Problem(X, targets, gauge=groups, **made).origin.sigma
            given = {"gauge": groups, "penalty": Linear(0.1 * top)} | made
            yield f"groups, {words}", lambda X=X, y=targets, g=given: solve(Problem(X, y, **g))


def worker():
    """Print the least time of each case."""
    times = {}
    for name, timed in cases():
        spent, began = [], perf_counter()
        while len(spent) < 2 or perf_counter() - began < SECONDS:
            start = process_time()
            timed()
            spent.append(process_time() - start)
        times[name] = min(spent)
    print(json.dumps(times))


def main(old, new):
    """Compare two states."""
    best = {old: {}, new: {}}
    for _ in range(ROUNDS):
        for place in (old, new):
            environment = os.environ | {"PYTHONPATH": place, "OPENBLAS_NUM_THREADS": "1"}
            command = [sys.executable, __file__, "worker"]
            ran = subprocess.run(command, env=environment, capture_output=True, check=True)  # noqa: S603 -- this file
            for name, seconds in json.loads(ran.stdout).items():
                best[place][name] = min(seconds, best[place].get(name, np.inf))
    for name, seconds in best[new].items():
        print(f"{name:45s} {1e3 * best[old][name]:9.2f} ms {1e3 * seconds:9.2f} ms {seconds / best[old][name]:6.2f}")
    kinds = sorted({name.split(",")[0] for name in best[new]})
    for kind in kinds:
        ratios = [best[new][name] / best[old][name] for name in best[new] if name.startswith(kind)]
        print(
            f"{kind:45s} geometric mean {np.exp(np.mean(np.log(ratios))):.2f}, {min(ratios):.2f} to {max(ratios):.2f}"
        )


if __name__ == "__main__":
    worker() if sys.argv[1:] == ["worker"] else main(*sys.argv[1:3])
