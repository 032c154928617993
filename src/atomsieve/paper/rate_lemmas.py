"""Lemmas 9 to 12 of the appendix: their constants as printed, and as they should be.

Each is tested on the smallest instance that tells and on many. `Delta` is the objective error, `theta = 2/(t+1)` the
step, and `average` the paper's mean of `sqrt(Delta)` with weights 1, ..., t, squared.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from atomsieve import GCG, solve
from atomsieve.paper.draws import integer
from atomsieve.paper.experiment import Settings
from atomsieve.paper.synthetic import Optimum, stated
from atomsieve.typing import Array, Index

Row = dict[str, Any]


def one_dimension(_: Settings) -> pd.DataFrame:
    """Take the second step from 0 on `f = x^2 / 2 - x`, `phi = mu s^2 / 2`, where everything in Lemma 9 is rational.

    The first step goes to `s = 1 / mu`, so that the average of the errors before the second is `Delta` at 0.
    """
    mu, L = Fraction(1, 10), 1

    def objective(x: Fraction) -> Fraction:
        return x**2 / 2 - x + mu * x**2 / 2

    best = 1 / (1 + mu)
    x, theta = 1 / mu, Fraction(2, 3)
    z = 1 - x
    gap = mu * x**2 / 2 + z**2 / (2 * mu) - x * z
    after = (1 - theta) * x + theta * z / mu
    errors = [objective(at) - objective(best) for at in (Fraction(0), x)]
    scale, curve = (1 - best) ** 2, L * sum(errors)
    change = objective(after) - objective(x) + theta * gap
    printed = theta**2 / 2 * (6 * L * scale + 3 * L * curve)
    right = theta**2 * 4 * L / mu**2 * (scale + curve)
    return pd.DataFrame([{"mu": float(mu), "change": float(change), "printed": float(printed), "right": float(right)}])


def one_step(settings: Settings) -> pd.DataFrame:
    """Compare both sides of Lemma 9 along runs of the method on the synthetic data, with `phi = strength s^2 / 2`.

    `printed`, `scaled` (with the factor `1 / mu^2` that the proof has) and `right` are left side over right side.
    """
    return pd.concat([_steps(settings, strength) for strength in settings["strengths"]], ignore_index=True)


def _steps(settings: Settings, strength: float) -> pd.DataFrame:
    problem = stated(settings, strength)
    optimum = Optimum.of(problem)
    run = solve(problem, GCG(), tol=0, max_iter=settings["iterations"], screening="off", trace=True)
    objective, gap = np.array(run.trace.objective), np.array(run.trace.gap)
    t = np.arange(2, len(objective))
    errors = np.maximum(objective - optimum.value, 0.0)
    now, before = errors[1:-1], averages(errors)[:-2]
    theta, L, top = 2 / (t + 1), problem.smoothness, float(np.abs(optimum.z).max())
    change = objective[2:] - objective[1:-1] + theta * gap[1:-1]
    printed = theta**2 / 2 * (6 * L * top**2 + 3 * L**2 * (now + before))
    right = 4 * L * theta**2 / strength**2 * (top**2 + L * (now + before))
    sides = {"printed": change / printed, "scaled": change / printed * strength**2, "right": change / right}
    return pd.DataFrame({"strength": strength, "t": t} | sides)


def averages(errors: Array) -> Array:
    """Return the paper's averaged error after each iteration.

    >>> averages(np.array([4.0, 1.0]))
    array([4.        , 1.77777778])
    """
    u = np.arange(1, len(errors) + 1)
    return np.asarray((np.cumsum(u * np.sqrt(errors)) / np.cumsum(u)) ** 2)


def averaged(_: Settings) -> pd.DataFrame:
    """Compute the average of `Delta = G / t`, as a multiple of G, beside the two bounds for it."""
    t = np.arange(1, 10_001)
    exact = averages(1 / t)
    frame = pd.DataFrame({"t": t, "exact": exact, "printed": 1 / (2 * t), "right": 2 / (t + 1)})
    return frame[frame.t.isin([1, 10, 100, 1000, 10_000])]


def inductions(_: Settings) -> pd.DataFrame:
    """Follow the recursion of Lemma 10 with equality from `Delta = G / t` up to t_0, and see how far `t Delta` comes.

    `halved` has the factor 1/2 of the statement before `theta Delta`, `printed` the 2/3 of the induction, both with
    the printed `t_0 = 12 B`; `right` has 2/3 and `t_0 = 48 B`.
    """
    kinds = {"halved": (1 / 2, 12), "printed": (2 / 3, 12), "right": (2 / 3, 48)}
    rows = []
    for B in (1, 4, 16):
        for kind, (share, factor) in kinds.items():
            first = factor * B + 1
            rows.append({"B": B, "kind": kind, "largest": followed(B, share, first, 50 * first)})
    return pd.DataFrame(rows)


def followed(B: float, share: float, first: int, last: int) -> float:
    """Return the largest `t Delta / G` after t = first, with A = 1 and G = 25."""
    A, G = 1.0, 25.0
    total = sum(u * math.sqrt(G / u) for u in range(1, first))
    error, largest = G / first, 0.0
    for t in range(first, last):
        total += t * math.sqrt(error)
        average = (total / (t * (t + 1) / 2)) ** 2
        theta = 2 / (t + 1)
        error += -share * theta * error + theta**2 * (A + B * average)
        largest = max(largest, (t + 1) * error / G)
    return largest


def helper(settings: Settings) -> pd.DataFrame:
    """Test Lemma 11 on random constants: its bracket for k_bar, and its sum, with `C_3` as small as it allows.

    `printed` and `right` are the largest sums times `D + k` over k; `right` has the `C_3` that also pays for `C_2`, and
    its k are those for which the bracket is proven.
    """
    rng = np.random.default_rng(settings["seed"])
    return pd.DataFrame([_helped(rng) for _ in range(settings["instances"])])


def _helped(rng: np.random.Generator) -> Row:
    D = integer(rng, 1, 6)
    T_1 = rng.uniform(0.5, 6)
    T_2 = T_1 * rng.uniform(0.05, 0.95)
    C_1, C_2 = math.exp(rng.uniform(-1, 1)), math.exp(rng.uniform(-3, 3))
    ratio, log = (D + T_1) / D, math.log((D + T_2) / D)
    k = np.arange(math.floor(T_1) + 1, 400, dtype=np.intp)
    first = np.ceil(D * (k + D) / (D + T_1)).astype(np.intp)  # this is D + k_bar
    bracket = first / (k + D) <= D / (D + T_2) * (1 + 1e-12)
    proven = k + D >= (D + T_1) * (D + T_2) / (D * (T_1 - T_2))
    paid = (C_1 / first + C_2 * partial_sums(2, first, k + D)) * (D + k)
    earned = partial_sums(1, first, k + D) / log
    printed = paid - C_1 * ratio * earned
    right = paid - (C_1 * ratio + C_2 * (2 * ratio - 1)) * earned
    return {
        "bracket": bool(bracket.all()),
        "bracket_proven": bool(bracket[proven].all()),
        "printed": printed.max(),
        "right": right[proven].max(initial=-math.inf),
    }


def partial_sums(power: int, first: Index, last: Index) -> Array:
    """Return the sums of `1 / i^power` from first to last.

    >>> partial_sums(1, np.array([1, 2]), np.array([2, 2]))
    array([1.5, 0.5])
    """
    sums = np.cumsum(np.append(0.0, np.arange(1.0, last.max() + 1) ** -power))
    return np.asarray(sums[last] - sums[first - 1])


def gap_bounds(settings: Settings) -> pd.DataFrame:
    """Test Lemma 12 on random sequences: `Delta` below `G_1 / (t + D)`, each gap as large as the hypothesis allows.

    `printed` and `right` are the largest `(t + D) min gap / G_4` from t = 5 on.
    """
    rng = np.random.default_rng(settings["seed"])
    return pd.DataFrame([_gaps(rng) for _ in range(settings["instances"])])


def _gaps(rng: np.random.Generator, last: int = 100) -> Row:
    D, alpha = integer(rng, 1, 4), float(rng.choice([0.0, rng.random()]))
    G_1, G_2, G_3 = 1.0, rng.uniform(1, D + 1), math.exp(rng.uniform(-4, 3))
    error, smallest, largest = G_1 / (1 + D), math.inf, 0.0
    for t in range(1, last):
        theta = G_2 / (t + D)
        highest = error * (1 + alpha * theta) + theta**2 * G_3
        after = min(G_1 / (t + 1 + D), highest - theta * error) * float(rng.choice([1.0, rng.random()]))
        smallest = min(smallest, (highest - after) / theta)  # at least the error, as every gap is
        largest = max(largest, (t + D) * smallest) if t >= 5 else 0.0
        error = after
    log = D * math.log((D + 1) / D)
    printed = G_1 / G_2 * (D + 2) / log
    right = (G_1 * (D + 2) + (alpha * G_1 * G_2 + G_3 * G_2**2) * (D + 4)) / (G_2 * log)
    return {"printed": largest / printed, "right": largest / right}
