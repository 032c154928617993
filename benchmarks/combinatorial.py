"""Passes over the data to a relative gap of 1e-6 over combinatorial atoms, beside conditional gradients.

    python benchmarks/combinatorial.py

Standard normal data, and a signal of three atoms: 300 samples of 20 x 20 assignments, of 299 edges between 50 nodes
(spanning trees), of 200 ranks, and of the edges of a grid of 30 x 30 nodes (paths), these also with 1000 samples.
`Square` and `Ball`, for which plain conditional gradients are defined, each weak and strong; Squared and Logistic. All
methods have the same oracle. A product with some of the columns counts as that part of a pass; a model of all columns
(their Gram matrix, where it is not larger than the data) counts as the pass that reads them. A method that is not done
after so many iterations (`--most`) has at least the passes that it took, and the ratio is a lower bound.
"""

import argparse
from itertools import product

import numpy as np

from atomsieve import (
    GCG,
    Away,
    Ball,
    Birkhoff,
    Corrective,
    LineSearch,
    Logistic,
    Pairwise,
    PathsInDAG,
    Permutahedron,
    Problem,
    SpanningTrees,
    Square,
    Squared,
    solve,
)

OTHERS = {"GCG": GCG(LineSearch()), "away": Away(), "pairwise": Pairwise()}


def grid(size):
    """Return the paths through a grid of nodes, from one corner to the opposite one, right and down."""
    nodes = list(product(range(size), repeat=2))
    right = [((i, j), (i, j + 1)) for i, j in nodes if j + 1 < size]
    down = [((i, j), (i + 1, j)) for i, j in nodes if i + 1 < size]
    return PathsInDAG(right + down, (0, 0), (size - 1, size - 1))


def network(nodes, extra, seed=0):
    """Return the spanning trees of a ring-like graph with further edges."""
    far = [(i, j) for i in range(nodes) for j in range(i + 2, nodes)]
    chosen = np.random.default_rng(seed).choice(len(far), extra, replace=False)
    return SpanningTrees([(i, i + 1) for i in range(nodes - 1)] + [far[k] for k in chosen])


def cases():
    """Return names, gauges and numbers of samples."""
    return [
        ("Birkhoff 20 x 20", Birkhoff(20), 300),
        ("spanning trees, 50 nodes", network(50, 250), 300),
        ("permutahedron, 200 ranks", Permutahedron((np.arange(200.0) - 99.5) / 200), 300),
        ("tall: paths, grid 30 x 30", grid(30), 1000),
        ("wide: paths, grid 30 x 30", grid(30), 300),
    ]


def drawn(gauge, n, loss, seed):
    """Return columns and targets with a signal of three atoms."""
    rng, d = np.random.default_rng(seed), gauge.count()
    X, core = rng.standard_normal((n, d)), gauge.made(d)
    x = sum(weight * core.atom(rng.standard_normal(d), 0).toarray((d,)) for weight in (0.5, 0.3, 0.2))
    signal = X @ x
    y = signal + 0.3 * signal.std() * rng.standard_normal(n)
    return X, y if isinstance(loss, Squared) else np.sign(y)


def passes(problem, method, most):
    """Return the passes to a relative gap of 1e-6, and whether it was reached."""
    result = solve(problem, method, tol=1e-6, max_iter=most)
    return result.passes, result.converged


def row(gauge, n, loss, penalty_of, seed, most):
    """Return the penalty, the passes of the corrective method, and those of all others."""
    X, y = drawn(gauge, n, loss, seed)
    penalty = penalty_of(Problem(X, y, loss=loss, gauge=gauge).critical)

    def taken(method, limit):
        return passes(Problem(X, y, loss=loss, gauge=gauge, penalty=penalty), method, limit)

    own, done = taken(Corrective(), 1000)
    return penalty, own if done else np.inf, {name: taken(method, most) for name, method in OTHERS.items()}


PENALTIES = [
    ("Square, strong", lambda critical: Square(0.5 * critical)),
    ("Square, weak", lambda critical: Square(0.1 * critical)),
    ("Ball(0.5)", lambda _: Ball(0.5)),
    ("Ball(0.9)", lambda _: Ball(0.9)),
]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=2000, help="iterations of the other methods")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="cases whose names begin so")
    given = parser.parse_args()
    print(f"| atoms | n x d | loss | penalty | corrective | {' | '.join(OTHERS)} | best of these / corrective |")
    print("|---" * (6 + len(OTHERS)) + "|")
    for (name, gauge, n), loss, (words, penalty_of) in product(cases(), (Squared(), Logistic()), PENALTIES):
        if not name.lower().startswith(given.only.lower()):
            continue
        _, own, others = row(gauge, n, loss, penalty_of, given.seed, given.most)
        told = [f"{count:.0f}" if done else f"> {count:.0f}" for count, done in others.values()]
        least, done = min(others.values())
        ratio = f"{least / own:.0f}" if done else f"> {least / own:.0f}"
        shape = f"{n} x {gauge.count()}"
        print(
            f"| {name} | {shape} | {type(loss).__name__} | {words} | {own:.0f} | {' | '.join(told)} | {ratio} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
