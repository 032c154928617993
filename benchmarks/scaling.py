"""What a fit costs where samples are many: passes, bytes and messages, counted, and what follows for more workers.

    python benchmarks/scaling.py                count, and print the table of docs/scaling.md
    python benchmarks/scaling.py --picture      the same, and draw docs/_static/scaling-light.png and -dark.png

Counted on tensors of PyTorch on the CPU, or on array-api-strict, which take the way of data that are elsewhere: what is
as long as the samples stays there, Gram matrices are made there, and the client sees what is as long as the features. A
pass is a read of all entries; a product with some columns counts as that part of one. A message is an answer that the
client waits for: a product with A', a Gram matrix, or numbers of all losses. Counts do not depend on the machine.

The model is `time = passes * bytes of X / (workers * rate) + messages * latency`. Nothing in it is fitted.
"""

import argparse
import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from atomsieve import Linear, Logistic, Problem, solve
from atomsieve.design import array, chunked, seminorm
from atomsieve.problem import smooth, span

GRID = [(n, d, k) for k in (10, 50) for d in (300, 1000) for n in (3_000, 10_000, 30_000, 100_000)]
PART = 0.1
"""The strength, as a part of the critical one."""

RATE, LATENCY = 5e9, 0.02
"""Bytes that a worker reads and multiplies in a second, and seconds of a message with its tree of sums, assumed."""

SHOWN = [(10**6, 1), (10**7, 10), (10**8, 100), (10**9, 1000), (10**9, 10_000)]
FOLDER = Path(__file__).parents[1] / "docs" / "_static"


class Counts:
    """Passes by what asked for them, messages, and the bytes that they bring to the client."""

    def __init__(self):
        self.passes, self.messages, self.bytes = Counter(), Counter(), Counter()

    def add(self, what, share, size):
        """Count one answer of so many numbers."""
        self.passes[what] += share
        self.messages[what] += 1
        self.bytes[what] += 8 * size

    @property
    def totals(self):
        """Return passes, messages and bytes in all."""
        return tuple(sum(counter.values()) for counter in (self.passes, self.messages, self.bytes))


def width(index, d):
    """Return how many columns are chosen."""
    return len(np.arange(d)[index])


@dataclass
class Watched:
    """Counts of a problem of n samples and d features, whatever part of it a design holds."""

    n: int
    d: int
    counts: Counts = field(default_factory=Counts)

    def _share(self, design, m):
        return m / self.d * design.shape[0] / self.n

    def product(self, design, *_):
        """Count a product with A'."""
        self.counts.add("products with A'", self._share(design, design.shape[1]), design.shape[1])

    def gram(self, design, _, index, *__):
        """Count a Gram matrix."""
        m = width(index, design.shape[1])
        self.counts.add("Gram matrices", self._share(design, m), m * m)

    def image(self, design, x, *_):
        """Count a product with A, which stays where it is made."""
        self.counts.passes["products with A"] += self._share(design, len(x))

    def rows(self, rows, *given):
        """Count what a proof reads."""
        if rows.shape[0] == self.n:
            m = width(given[2] if len(given) > 2 else chunked.ALL, rows.shape[1])
            self.counts.add("certificate", m / self.d, m)

    def losses(self, *_):
        """Count numbers of all losses."""
        self.counts.add("losses", 0.0, 4)

    @property
    def places(self):
        """Return what is watched, and how."""
        products = ("rmatvec", "products", "squared_norms", "is_finite")
        yield from ((array.ArrayDesign, name, self.product) for name in products)
        yield array.ArrayDesign, "gram", self.gram
        yield array.ArrayDesign, "matvec", self.image
        yield chunked.HeldRows, "each", self.rows
        yield chunked.HeldRows, "stored", self.rows
        for module in (smooth, span, seminorm):
            yield from ((module, name, self.losses) for name in {"evaluate", "totals"} & vars(module).keys())


@contextmanager
def counted(n, d):
    """Count what designs and losses are asked for."""
    watched = Watched(n, d)
    kept = [(owner, name, getattr(owner, name), told) for owner, name, told in watched.places]
    for owner, name, own, told in kept:
        setattr(owner, name, watching(own, told))
    try:
        yield watched.counts
    finally:
        for owner, name, own, _ in kept:
            setattr(owner, name, own)


def watching(own, told):
    """Return a function that tells of each call."""

    def call(*args, **options):
        told(*args)
        return own(*args, **options)

    return call


def elsewhere(numbers):
    """Return numbers in a library that is not NumPy."""
    library = import_module("torch" if find_spec("torch") else "array_api_strict")
    return library.asarray(numbers)


def drawn(n, d, k, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d), dtype=np.float32)
    scores = 1.5 / np.sqrt(k) * X[:, rng.permutation(d)[:k]].sum(axis=1)
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-scores)), 1.0, -1.0)


def fit(n, d, k):
    """Return the counts of a problem with its critical slope, of the run, and of the certificate."""
    X, y = drawn(n, d, k)
    held = elsewhere(X)
    with counted(n, d) as first:
        problem = Problem(held, y, loss=Logistic())
        slope = PART * problem.critical
        assert problem.widest > 0  # noqa: S101 -- lengths of columns, which are kept
    with counted(n, d) as run:
        result = solve(problem.at_penalty(Linear(slope)), tol=1e-6)
    with counted(n, d) as other:
        solve(problem.at_penalty(Linear(slope)), tol=1e-6, start="sample")
    with counted(n, d) as proof:
        certificate = result.certificate()
    assert result.converged  # noqa: S101
    assert certificate.valid  # noqa: S101
    return (first, run, proof), other, int(np.count_nonzero(result.x))


def seconds(passes, messages, size, workers):
    """Return the time by the model."""
    return passes * size / (workers * RATE) + messages * LATENCY


def table():
    """Print the counts; return passes and messages for the largest data."""
    print("| n | d | not zero | passes: first look, run, certificate | run from a sample | messages | to the client |")
    print("|---|---|---|---|---|---|---|")
    for n, d, k in GRID:
        parts, other, support = fit(n, d, k)
        passes, messages, size = (sum(counts) for counts in zip(*(part.totals for part in parts), strict=True))
        split = " + ".join(f"{part.totals[0]:.1f}" for part in parts)
        print(
            f"| {n:,} | {d} | {support} | {split} = **{passes:.1f}** | {other.totals[0]:.1f} | {messages} | "
            f"{size / 1e6:.1f} MB |",
            flush=True,
        )
    print(f"\n| samples (d = {d}, float32) | workers | passes | messages | by the model |\n|---|---|---|---|---|")
    for n, workers in SHOWN:
        took = seconds(passes, messages, 4.0 * n * d, workers)
        waiting = messages * LATENCY
        print(f"| {n:.0e} | {workers:,} | {passes:.1f} | {messages} | {took:.0f} s, of which {waiting:.0f} s waiting |")
    return passes, messages


MEASURED = {"a file of 2 GB, one core": (2.0, 5.2, 5.5, 8.0), "of 20 GB": (20.0, 5.0, 3.8, 42.0)}
"""What `out_of_core.py` printed: gigabytes, passes, gigabytes a second of a product and seconds, of the processor."""

GPU = (80.0, 7.1, 4348.0, 0.37)
"""The same of `gpu.py` on an H200."""


def picture(passes, messages):
    """Draw the model, and what was measured beside what it says of the same passes and rates."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    sys.path.insert(0, str(FOLDER.parent))
    pictures = import_module("pictures")
    sizes = np.geomspace(1, 1e4, 200)
    for look in pictures.LOOKS:
        with plt.rc_context(pictures.settings_of(look)):
            fig, ax = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
            for color, workers in zip(pictures.LINES, (1, 10, 100, 1000), strict=False):
                took = seconds(passes, messages, 1e9 * sizes, workers)
                ax.plot(sizes, took, color=color, linewidth=1.6)
                ax.annotate(f"{workers:,}", (sizes[-1], took[-1]), (5, -3), textcoords="offset points", color=color)
            for name, (size, own, rate, took) in {**MEASURED, "80 GB on a GPU": GPU}.items():
                ax.plot(size, took, "o", color=look.ink, markersize=7)
                ax.plot(size, own * size / rate, "o", color=look.ink, markersize=11, fillstyle="none")
                ax.annotate(name, (size, took), (10, -4), textcoords="offset points", color=look.ink)
            ax.set(xscale="log", yscale="log", xlabel="gigabytes of X", ylabel="seconds")
            ax.set_title("Lines: the model, by workers. Dots: measured, in rings: its passes by its rate", loc="left")
            fig.savefig(FOLDER / f"scaling-{look.name}.png", dpi=150)
            plt.close(fig)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", action="store_true")
    given = parser.parse_args()
    counts_of_all = table()
    if given.picture:
        picture(*counts_of_all)
