"""Problems of signals, graphs, matrices and combinatorial sets, built around a solution, and certificates judged by it.

z* is drawn in the normal cone of x*, with ties of all kinds: jumps of 0 over edges that carry all they can, singular
values of 1 that x* does not use, atoms that score best and are no part of x*. The data follow as in facts_built.py, so
that x* is a solution up to the rounding of the data. Certificates are those of runs that end anywhere, from a gap of a
tenth down to rounding. Every claim must hold for x*: what is zero and what is not, jumps and levels within intervals,
order and tight sums, the rank, the optimal value.
"""

import itertools
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from facts_built import BLUR, CHECKED, data_around
from scipy.optimize import linprog

from atomsieve import (
    Ball,
    Linear,
    LogBarrier,
    Logistic,
    Nuclear,
    Problem,
    PSDTrace,
    Square,
    Squared,
    TotalVariation,
    TrendFilter,
    solve,
)
from atomsieve.standalone.verify import verify

sys.path.append(str(Path(__file__).resolve().parent.parent / "gauges"))

from combinatorial_cases import CASES, Case

POINTS = 3
"""Certificates of each problem."""


@dataclass
class Shape:
    """A gauge with a solution, and z there, of the score 1."""

    gauge: Any
    x: np.ndarray
    z: np.ndarray
    kappa: float
    shape: Any = None
    case: Case | None = None


def _tied(rng, count):
    """Return numbers between -1 and 1, some of them at an end or next to it."""
    near = 1 - rng.choice([0.0, 1e-12, 1e-7, 1e-3, 0.3], size=count) * rng.random(count)
    return np.where(rng.random(count) < 0.5, rng.uniform(-1, 1, count), rng.choice([-1.0, 1.0], size=count) * near)


def _steps(rng, edges, d):
    """Return weights, levels and z for jumps over edges; where levels are equal, an edge carries up to its weight."""
    weights = rng.choice([1.0, 1.0, 0.5, 2.0, rng.uniform(0.1, 3)], size=len(edges))
    levels = rng.choice([0.0, 1.0, -0.7, rng.uniform(-2, 2)], size=d)
    start, end = edges.T
    across = levels[end] - levels[start]
    carried = np.where(across != 0, np.sign(across), _tied(rng, len(edges))) * weights
    z = np.zeros(d)
    np.add.at(z, end, carried)
    np.subtract.at(z, start, carried)
    return weights, levels, z, float(weights @ np.abs(across))


def line(rng):
    d = int(rng.integers(2, 13))
    weights, *found = _steps(rng, np.stack([np.arange(d - 1), np.arange(1, d)], axis=1), d)
    return Shape(TotalVariation(weights=weights), *found)


def tree(rng):
    d = int(rng.integers(2, 13))
    edges = np.array([(rng.integers(j), j) for j in range(1, d)])
    turned = np.where(rng.random((d - 1, 1)) < 0.5, edges, edges[:, ::-1])
    weights, *found = _steps(rng, turned, d)
    return Shape(TotalVariation(edges=turned, weights=weights), *found)


def graph(rng):
    d = int(rng.integers(3, 9))
    every = [(i, j) for i, j in itertools.combinations(range(d), 2) if j == i + 1 or rng.random() < 0.4]
    edges = np.array(sorted({*every, (0, d - 1)}))
    weights, *found = _steps(rng, edges, d)
    return Shape(TotalVariation(edges=edges, weights=weights), *found)


def trend(rng):
    d = int(rng.integers(3, 13))
    bends = np.where(rng.random(d - 2) < 0.4, rng.choice([-1.0, 1.0, 0.5]), 0.0)
    x = np.cumsum(np.cumsum(np.concatenate([rng.standard_normal(2), bends])))
    weights = rng.choice([1.0, 1.0, rng.uniform(0.3, 2)], size=d - 2)
    second = np.diff(np.eye(d), n=2, axis=0)
    carried = np.where(bends != 0, np.sign(bends), _tied(rng, d - 2)) * weights
    return Shape(TrendFilter(1, weights=weights), x, second.T @ carried, float(weights @ np.abs(bends)))


def nuclear(rng):
    rows, columns = (int(k) for k in rng.integers(1, 5, size=2))
    left, right = (np.linalg.qr(rng.standard_normal((k, k)))[0] for k in (rows, columns))
    least = min(rows, columns)
    rank = int(rng.integers(0, least + 1))
    sizes = np.append(rng.uniform(0.2, 2, rank), np.zeros(least - rank))
    own = np.append(np.ones(rank), np.abs(_tied(rng, least - rank)))
    x, z = ((left[:, :least] * values) @ right[:, :least].T for values in (sizes, own))
    return Shape(Nuclear(), x.ravel(), z.ravel(), float(sizes.sum()), (rows, columns))


def psd(rng):
    rows = int(rng.integers(1, 5))
    basis = np.linalg.qr(rng.standard_normal((rows, rows)))[0]
    rank = int(rng.integers(1, rows + 1))
    sizes = np.append(rng.uniform(0.2, 2, rank), np.zeros(rows - rank))
    own = np.append(np.ones(rank), _tied(rng, rows - rank))
    x, z = ((basis * values) @ basis.T for values in (sizes, own))
    return Shape(PSDTrace(), x.ravel(), ((z + z.T) / 2).ravel(), float(sizes.sum()), (rows, rows))


def combinatorial(kind):
    """Return a drawing of a combinatorial set: z is a corner of the polar set, or between two of them."""

    def draw(rng):
        case = CASES[kind](int(rng.integers(1000)))
        atoms, d = case.atoms, case.d
        corners = []
        for _ in range(2):
            goal = rng.standard_normal(d) + (1.0 if case.marked else 0.0)
            found = linprog(-goal, A_ub=atoms.T, b_ub=np.ones(atoms.shape[1]), bounds=(-3.0, 3.0))
            if found.x is None:
                return None
            corners.append(found.x)
        z = corners[0] if rng.random() < 0.7 else np.mean(corners, axis=0)
        best = np.flatnonzero(atoms.T @ z > 1 - 1e-6)
        if not len(best):
            return None
        z = z + np.linalg.lstsq(atoms[:, best].T, 1 - atoms[:, best].T @ z)[0]
        z = z / (atoms.T @ z).max()
        shares = rng.dirichlet(np.ones(len(best))) * (rng.random(len(best)) < rng.choice([0.3, 1.0]))
        shares[shares < 1e-2] = 0.0
        if not shares.any():
            shares[0] = 1.0
        return Shape(case.gauge, atoms[:, best] @ shares, z, float(shares.sum()), None, case)

    return draw


KINDS = {"line": line, "tree": tree, "graph": graph, "trend": trend, "nuclear": nuclear, "psd": psd}
KINDS |= {kind: combinatorial(kind) for kind in CASES}


@dataclass
class Built:
    """A problem with its solution."""

    kind: str
    traits: list
    X: np.ndarray
    y: np.ndarray
    given: dict
    told: dict
    x: np.ndarray
    kappa: float
    value: float
    shape: Shape

    def problem(self):
        return Problem(self.X, self.y, **self.given, **self.told)


def build(rng):
    """Return a problem of a random kind; None where the draw has no tie."""
    kind = list(KINDS)[rng.integers(len(KINDS))]
    shape = KINDS[kind](rng)
    if shape is None:
        return None
    n = int(rng.integers(3, 20))
    slope, size = 10.0 ** rng.uniform(-2, 1), 10.0 ** rng.uniform(-2, 2)
    x, z, kappa = shape.x * size, shape.z * slope, shape.kappa * size
    form = (Linear(1.0), Square(1.0), Ball(1.0), LogBarrier(1.0, sharpness=2.0))[rng.integers(4)]
    penalty = form.through(kappa, slope) if kappa > 0 else Linear(slope)
    loss, intercept, weighted = (Squared(), Logistic())[rng.integers(2)], rng.random() < 0.3, rng.random() < 0.3
    weights = rng.integers(1, 5, size=n).astype(float) if weighted else np.ones(n)
    mean = weights / weights.sum()
    X, y, offset, slopes = data_around(rng, (x, z), mean, isinstance(loss, Logistic), intercept)
    losses = slopes**2 / 2 if offset is None else -np.log1p(-np.abs(slopes))
    value = float(mean @ losses + penalty.value(kappa * (1 - 1e-15)))
    told = ({"sample_weight": weights} if weighted else {}) | ({} if offset is None else {"offset": offset})
    traits = [type(loss).__name__, type(penalty).__name__, "intercept" if intercept else "no intercept"]
    traits += ["d > n" if len(x) > n else "d <= n"]
    given = {"gauge": shape.gauge, "penalty": penalty, "loss": loss, "intercept": intercept}
    given |= {} if shape.shape is None else {"shape": shape.shape}
    return Built(kind, traits, X, y, given, told, x, kappa, value, shape)


def judge_shape(certificate, built):
    """Return how many claims a certificate makes, and a list of those that are false."""
    x, blur = built.x, BLUR * (float(np.abs(built.x).max(initial=0.0)) or 1.0)
    counts = Counter(
        certificates=1,
        zeros=int(certificate.zero.sum()),
        nonzeros=int(certificate.nonzero.sum()),
        undecided=int(certificate.undecided.sum()),
        intervals=int(np.isfinite(certificate.lower).sum()),
        values=2 * int(certificate.valid),
        silent=int(not certificate.valid),
    )
    slack = 1e-11 * max(abs(built.value), 1e-6)
    false = {"value": np.array([certificate.dual > built.value + slack, certificate.primal < built.value - slack])}
    if built.kind in ("nuclear", "psd"):
        rank = int((np.linalg.svd(x.reshape(built.shape.shape), compute_uv=False) > blur).sum())
        false["rank"] = np.array([certificate.rank is not None and certificate.rank < rank])
        false["subspaces"] = np.array([certificate.subspaces is not None and _is_away(certificate, built, rank)])
        counts["subspaces"] = int(certificate.subspaces is not None)
        false |= _outside(certificate.lower.ravel(), certificate.upper.ravel(), x, blur)
    elif built.shape.case is None:
        false |= _false_jumps(certificate, built, blur)
    elif certificate.valid:
        false |= _false_facts(certificate, built, blur)
        counts["ordered"] = len(certificate.facts.tight)
    wrong = [f"{name} {k}" for name, mask in false.items() for k in np.flatnonzero(mask).tolist()]
    counts["false"] = len(wrong)
    return counts, wrong


def _is_away(certificate, built, rank):
    """Return whether columns or rows of x are further from the subspaces than a certificate says."""
    left, values, right = np.linalg.svd(built.x.reshape(built.shape.shape), full_matrices=False)
    room = 1e-12 * values[0] / values[rank - 1] if rank else 0.0
    for vectors, basis in ((left[:, :rank], certificate.subspaces.left), (right[:rank].T, certificate.subspaces.right)):
        span = np.linalg.qr(basis)[0]
        if np.linalg.norm(vectors - span @ (span.T @ vectors), 2) > certificate.subspaces.sine + room:
            return True
    return False


def _outside(lower, upper, x, blur):
    return {"lower": lower > x + blur, "upper": upper < x - blur}


def _false_jumps(certificate, built, blur):
    """Judge the jumps that a certificate names, and the intervals of the levels."""
    table, x = certificate.to_frame(), built.x
    jumps = np.full(len(table), np.nan)
    for k, name in enumerate(table["preimage"]):
        if " to " in name:
            start, end = (int(place.removeprefix("x")) for place in name.split(" to "))
            jumps[k] = x[end] - x[start] if built.kind != "trend" else x[end] - 2 * x[start + 1] + x[start]
    known = ~np.isnan(jumps)
    levels = certificate.feature_frame()
    false = _outside(table["lower"].to_numpy()[known], table["upper"].to_numpy()[known], jumps[known], 4 * blur)
    false["level lower"], false["level upper"] = _outside(
        levels["lower"].to_numpy(), levels["upper"].to_numpy(), x, blur
    ).values()
    false["zero"] = certificate.zero & (np.abs(jumps) > 4 * blur)
    false["non-zero"] = certificate.nonzero & (np.abs(jumps) <= blur)
    return false


def _false_facts(certificate, built, blur):
    """Judge coordinates, signs, order and tight sums."""
    x, case, facts, mass = built.x, built.shape.case, certificate.facts, built.kappa
    room = blur + BLUR * mass
    false = _outside(certificate.lower.ravel(), certificate.upper.ravel(), x, room)
    false["zero"] = certificate.zero & (np.abs(x) > room)
    false["non-zero"] = certificate.nonzero & (np.abs(x) <= blur)
    false["sign"] = facts.signs * x < -room
    if case.marked:
        false["saturated"] = facts.saturated & (np.abs(x - mass) > room)
    false["order"] = ~case.order_holds(x, mass, facts, room)
    return false


def try_shape(seed, number, tally, check=True):
    """Certify one problem where runs end, and add what comes out to the tally."""
    rng = np.random.default_rng([seed, number])
    built = build(rng)
    if built is None:
        tally.refusals["no tie in the draw"] += 1
        return
    try:
        _ = built.problem().origin
    except ValueError as error:  # an offset so far out that no intercept is found: said in a sentence
        tally.refusals[f"{built.kind}: {error}"] += 1
        return
    for k in range(POINTS):
        tol = 10.0 ** -rng.uniform(1, 14)
        counts, wrong = _tried(built, tol, shown=check and (number * POINTS + k) % CHECKED == 0)
        tally.add(built.kind, built.traits, counts)
        if wrong:
            tally.faults.append(
                {"number": number, "point": k, "kind": built.kind, "traits": built.traits, "wrong": wrong}
            )


def _tried(built, tol, *, shown):
    """Return the counts of one certificate and what is wrong with it; `shown` asks the checker as well."""
    try:
        certificate = solve(built.problem(), tol=tol, time_limit=1.0).certificate()
        counts, wrong = judge_shape(certificate, built)
        if shown:
            verdict = verify(certificate, built.X, built.y, **built.told)
            counts.update(checked=1, refused=int(not verdict.valid))
            wrong += [] if verdict.valid else [f"refused: {verdict.reason}"]
    except Exception as error:
        return Counter(certificates=1), [f"{type(error).__name__}: {error}"]
    return counts, wrong
