"""Problems far from zero, each with the same problem moved back to zero without rounding: the truth."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from atomsieve import Ball, Huber, Linear, Logistic, Multinomial, Poisson, Problem, Square, Squared, SquaredHinge, solve

OFFSETS = (1e3, 1e5, 1e6, 1e7, 1e8, 1e9, 1e11, 1e12, 1e14)
LOSSES = (Squared(), Huber(0.5), Logistic(), SquaredHinge(), Poisson(), Multinomial())
SHAPES = (Linear, Square, Ball)
PLACES = ("targets", "free targets", "columns", "free column")


@dataclass(frozen=True)
class Far:
    """A problem far from zero and its twin near zero; both have the same coefficients."""

    far: Problem
    near: Problem
    name: str


def cases(offset, seed):
    """Yield one problem for each loss, penalty and place of the offset."""
    for (k, loss), shape, place in product(enumerate(LOSSES), SHAPES, PLACES):
        if "targets" in place and not loss.translates:
            continue
        rng = np.random.default_rng([seed, k, SHAPES.index(shape), PLACES.index(place)])
        yield _case(offset, rng, loss, shape, place)


def _case(offset, rng, loss, shape, place):
    n, d = int(rng.integers(20, 60)), int(rng.integers(3, 9))
    X, ramp = rng.standard_normal((n, d)), np.arange(n) - n // 2.0
    signal = X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(n)
    y, free = _targets(loss, signal, rng), ramp if place != "targets" else None
    far, near = {"X": X, "y": y, "free": free}, {"X": X, "y": y, "free": free}
    if place == "targets":
        far["y"], near["y"] = offset + y, (offset + y) - offset
    elif place == "free targets":
        far["y"], near["y"] = offset * ramp + y, (offset * ramp + y) - offset * ramp
    elif place == "columns":
        far["X"], near["X"] = X + offset, (X + offset) - offset
    else:
        far["free"], near["free"] = offset + signal, (offset + signal) - offset
        if not loss.attained:  # what separates the classes has no best coefficient
            noisy = signal + 3 * rng.standard_normal(n)
            far["free"], near["free"] = offset + noisy, (offset + noisy) - offset
    start = Problem(**near, loss=loss, intercept=True)
    critical = start.origin.sigma
    size = rng.choice([0.03, 0.1, 0.3])
    strength = size * critical if shape is Linear else size
    penalty = shape(max(strength, 1e-300))
    make = {"loss": loss, "penalty": penalty, "intercept": True}
    name = f"{loss!r} {penalty!r} {place} {offset:g} n={n} d={d}"
    return Far(Problem(**far, **make), Problem(**near, **make), name)


def _targets(loss, signal, rng):
    if isinstance(loss, Poisson):
        return rng.poisson(np.exp(signal / 2)).astype(float)
    if isinstance(loss, Multinomial):
        return (np.digitize(signal + rng.standard_normal(len(signal)), [-0.7, 0.7])).astype(int)
    if loss.attained and loss.translates:
        return signal
    return np.where(signal + rng.standard_normal(len(signal)) > 0, 1.0, -1.0)


def faults(case, tol=1e-6):
    """Return what is false about the far problem, judged by the near one."""
    truth = solve(case.near, tol=1e-12)
    found = solve(case.far, tol=tol, max_iter=200)
    proof, near, baseline = truth.certificate(), case.near, case.near.baseline
    needed = proof.nonzero if proof.valid else np.abs(truth.lifted.ravel()) > 1e-3 * np.abs(truth.lifted).max()
    wrong = []
    if (needed & ~found.alive).any():
        wrong.append("a false zero")
    excess = near.at(near.state(found.lifted)).objective - truth.dual
    blur = 1e-12 * baseline + 10 * truth.point.uncertainty  # of the truth itself
    if found.converged and not excess <= tol * (1 + 1e-3) * baseline + blur:
        wrong.append(f"converged with an excess of {excess / baseline:.1e} of the baseline")
    if found.converged and found.dual > truth.objective + tol * baseline:
        wrong.append(f"a dual value above the optimum by {(found.dual - truth.objective) / baseline:.1e}")
    return found, wrong
