"""Small problems of several classes, each drawn from one seed, with their solutions in many digits.

By hand, with the first seed and the number of problems:

    python tests/certificate/several_classes.py 0 1000
"""

import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass

import honest
import numpy as np
from classes_truth import Statement, solve_classes
from flint import arb

from atomsieve import L1, L2, Atoms, Group, Image, Multinomial, NonNegative, Problem, Scaled, Simplex, solve, verify
from atomsieve.certificate import certify

GAUGES = ("L1", "prices", "table", "positive", "NonNegative", "Simplex", "Group", "rows", "L2", "Atoms", "Image")
LABELS = ("signal", "signal", "random", "separable", "rare")
FREE = (None, None, None, None, None, "normal", "whole", "constant", "twice")


@dataclass
class Case:
    """A problem, the certificate of some point, and what the checker is told."""

    problem: Problem
    data: tuple
    given: dict
    certificate: object
    words: str

    def verdict(self):
        return verify(self.certificate, *self.data, **self.given)


def draw(seed):
    """Return the case of a seed."""
    rng = np.random.default_rng(seed)
    n, d, classes = int(rng.integers(4, 17)), int(rng.integers(1, 6)), int(rng.choice([2, 3, 3, 4, 5, 6]))
    kind, form = rng.choice(honest.DESIGNS), rng.choice(honest.FORMS)
    dense = honest._design(rng, kind, n, d)
    scale = 10.0 ** rng.integers(-120, 101) if rng.random() < 0.03 else 10.0 ** rng.choice([0, 0, 0, -3, 4])
    X = honest._stored(rng, dense * (1.0 if form in ("float32", "int") else scale), form)
    n, d = X.shape
    which = rng.choice(LABELS)
    y = _labels(rng, which, dense, classes)
    intercept = bool(rng.random() < 0.5)
    stated = classes if not intercept and rng.random() < 0.3 else None
    name = rng.choice(GAUGES)
    size = float(np.abs(honest._toarray(X)).max() or 1.0)
    strength = float(10.0 ** rng.uniform(-3, 0) * size)
    weights = honest._weights(rng, n)
    counted = np.ones(n, dtype=bool) if weights is None else weights > 0
    if intercept:
        y[counted] = np.unique(y[counted], return_inverse=True)[1]
    classes = stated or int(y[counted].max()) + 1
    pieces = {
        "loss": Multinomial(stated),
        "gauge": _gauge(rng, name, d, classes),
        "penalty": honest._penalty(rng, rng.choice(honest.PENALTIES), strength, size),
    }
    ridge = 0.0
    if rng.random() < 0.3 and not pieces["gauge"].mapped:
        ridge = float(np.clip(size * size * 10.0 ** rng.uniform(-10, 2), 1e-280, 1e280))
    given = {"sample_weight": weights, "free": _free(rng, n), "offset": _offset(rng, n, classes)}
    problem = Problem(X, y, **pieces, **given, intercept=intercept, ridge=ridge)
    words = f"{name}, {pieces['penalty']!r}, {kind}, {form}, {which}, {n} x {d} x {classes}, ridge {ridge:.1e}"
    return Case(problem, (X, y), given, _certificate(rng, problem), words)


def _certificate(rng, problem):
    """Return the certificate of a point, near or far from the optimum."""
    effort = {"time_limit": 2.0, "tol": float(rng.choice([1e-1, 1e-3, 1e-6, 1e-9, 1e-12]))}
    if rng.random() < 0.2:
        effort["max_iter"] = int(rng.integers(0, 5))
    elif rng.random() < 0.3:
        effort["until"] = "decided"
    result = solve(problem, **effort)
    if rng.random() < 0.6:
        return result.certificate()
    x = result.point.state.x
    noise = 10.0 ** rng.uniform(-12, -1) * rng.standard_normal(x.shape)
    if rng.random() < 0.3:  # the same number in all classes of a feature
        noise = np.where(x.any(axis=1), noise[:, 0], 0.0)[:, None] * np.abs(x).max()
        return certify(problem, x + noise, result.point.state.coordinates)
    moved = noise * np.abs(x).max() if rng.random() < 0.3 else 0.0
    return certify(problem, x * (1 + noise) + moved, result.point.state.coordinates)


def _labels(rng, which, X, classes):
    n, d = X.shape
    scores = X / max(np.abs(X).max(), 1e-300) @ rng.standard_normal((d, classes))
    noise = {"signal": 0.3, "random": 1e3, "separable": 0.0, "rare": 0.3}[which]
    y = np.argmax(scores + noise * rng.standard_normal((n, classes)), axis=1)
    if which == "rare":
        y[rng.random(n) < 0.7] = 0
    if rng.random() < 0.7:
        _, y = np.unique(y, return_inverse=True)
    if y.max() == 0:
        y[0] = 1
    return y


def _gauge(rng, name, d, classes):
    prices = rng.choice([0.0, 0.5, 1.0, 2.0, np.inf], d, p=[0.1, 0.2, 0.4, 0.2, 0.1])
    if not ((prices > 0) & (prices < np.inf)).any():
        prices[0] = 1.0
    table = np.where(
        prices[:, None] == 0, 0.0, rng.choice([0.5, 1.0, 2.0, np.inf], (d, classes), p=[0.2, 0.5, 0.2, 0.1])
    )
    if not ((table > 0) & (table < np.inf)).any():
        table[0] = 1.0
    width, mask = int(rng.integers(1, 5)), rng.random(d) < 0.5
    matrix = rng.integers(-2, 3, (d, width)).astype(float)
    gauge = {
        "L1": L1,
        "prices": lambda: L1(prices),
        "table": lambda: L1(table),
        "positive": lambda: L1(np.where(mask & (prices == 0), 1.0, prices), positive=mask),
        "NonNegative": lambda: NonNegative(None if rng.random() < 0.5 else rng.uniform(0.1, 2, d)),
        "Simplex": Simplex,
        "Group": lambda: Group(rng.integers(0, 3, d), "equal" if rng.random() < 0.5 else "sqrt"),
        "rows": Group,
        "L2": L2,
        "Atoms": lambda: Atoms(matrix),
        "Image": lambda: Image(rng.choice([L1(), Group(rng.integers(0, 2, width))]), matrix),
    }[name]()
    return Scaled(gauge, float(10.0 ** rng.uniform(-1, 1))) if rng.random() < 0.2 else gauge


def _free(rng, n):
    kind = rng.choice(np.array(FREE, dtype=object))
    if kind is None:
        return None
    columns = rng.standard_normal((n, int(rng.integers(1, 3))))
    if kind == "whole":
        return np.round(2 * columns)
    if kind == "constant":
        columns[:, 0] = 2.0
    return np.hstack([columns, columns[:, :1]]) if kind == "twice" else columns


def _offset(rng, n, classes):
    if rng.random() < 0.6:
        return None
    return 10.0 ** rng.integers(-3, 2) * rng.standard_normal((n, classes))


def truth(problem):
    """Return the solution of a problem in many digits; None where it is not proven, or not unique.

    Free coefficients of columns that depend on others are None.
    """
    best = solve(problem, until="decided", time_limit=3.0).certificate()
    if problem.gauge.mapped or not best.valid:
        return None
    gauge, scale = (
        (problem.gauge.gauge, problem.gauge.radius) if isinstance(problem.gauge, Scaled) else (problem.gauge, 1.0)
    )
    data, shape = problem.data, problem.shape
    A = honest._toarray(data.design.matrix)
    own = problem.core.unpenalised()
    B = np.hstack([np.ones((len(A), int(data.intercept))), data.free, A[:, own]])
    kept, open_ended = _independent(B)
    offset = np.zeros((len(A), shape[1])) if data.offset is None else data.offset
    signed = np.broadcast_to(problem.core.signs(shape), shape[0] * shape[1]).reshape(shape)
    stated = Statement(
        A,
        data.y,
        shape[1],
        problem.penalty,
        weights=data.stated_weights,
        offset=offset,
        B=B[:, kept],
        blocks=problem.core.labels(shape),
        prices=gauge.prices(shape),
        scale=scale,
        signed=signed,
        ridge=problem.ridge,
    )
    x = np.where(np.isin(np.arange(shape[0]), own)[:, None], 0.0, best.x)
    found = solve_classes(stated, x, best.free[kept])
    if found is None:
        return None
    rows = dict(zip(kept, np.reshape(np.array(found.b, dtype=object), (len(kept), shape[1])).tolist()))
    found.b = [v for f in range(B.shape[1]) for v in ([None] * shape[1] if f in open_ended else rows[f])]
    return found


def _independent(B):
    """Return columns that span all columns, and those whose coefficients are not determined by the whole."""
    B = B / np.where(B.any(axis=0), np.abs(B).max(axis=0, initial=0.0), 1.0)
    kept = [f for f in range(B.shape[1]) if _rank(B[:, : f + 1]) > _rank(B[:, :f])]
    others = [np.delete(np.arange(B.shape[1]), f) for f in range(B.shape[1])]
    return kept, {f for f, rest in enumerate(others) if _rank(B[:, rest]) == _rank(B)}


def _rank(B):
    return np.linalg.matrix_rank(B) if B.size else 0  # NumPy before 2.1 knows no rank of an empty matrix


def faults(case, found):
    """Return what a certificate says that is not true."""
    certificate, problem = case.certificate, case.problem
    labels = problem.core.labels(problem.shape).ravel()
    own = set(problem.unpenalised.tolist())
    wrong = []
    there = {int(g) for g, v in zip(labels, found.x) if not v == 0}
    wrong += [f"block {g} is not zero" for g in np.flatnonzero(certificate.zero).tolist() if g in there]
    wrong += [f"block {g} is zero" for g in np.flatnonzero(certificate.nonzero).tolist() if g not in there]
    bounds = zip(found.x, certificate.lower.ravel().tolist(), certificate.upper.ravel().tolist())
    wrong += [f"entry {k}" for k, (v, low, high) in enumerate(bounds) if k not in own and _outside(v, low, high)]
    free = list(zip(found.b, certificate.free_lower.ravel().tolist(), certificate.free_upper.ravel().tolist()))
    wrong += [f"free {k}" for k, (v, low, high) in enumerate(free) if _outside(v, low, high)]
    if _outside(found.value, certificate.dual, certificate.primal):
        wrong.append("the optimal value")
    return wrong


def _outside(value, low, high):
    if value is None:
        return np.isfinite(low) or np.isfinite(high)
    below = np.isfinite(low) and value < arb(low)
    return bool(below or (np.isfinite(high) and value > arb(high)))


def run(first, count, report=print):
    """Return how many certificates of the seeds were accepted, how many compared with the truth, and all faults."""
    tally, bad = Counter(), []
    for seed in range(first, first + count):
        try:
            with honest.limit(10):
                case = draw(seed)
                found = truth(case.problem)
        except honest.TooLong:
            tally["too long"] += 1
            continue
        except ValueError:  # problems without a solution
            tally["no certificate"] += 1
            continue
        except Exception as error:
            tally["crash"] += 1
            report(seed, "solve:", type(error).__name__, error)
            continue
        certificate = case.certificate
        tally["certificates"] += 1
        tally["silent"] += not certificate.valid
        tally["decided"] += bool(certificate.valid and not certificate.undecided.any())
        tally["with intervals"] += bool((np.isfinite(certificate.lower) & ~(certificate.lower == 0)).any())
        tally["with dependencies"] += bool(any(d.column >= 0 for d in certificate.dependencies))
        tally["compared"] += found is not None
        wrong = [] if found is None else faults(case, found)
        verdict = case.verdict()
        wrong += [] if verdict.valid else [f"refused: {verdict.reason}"]
        if wrong:
            bad.append((seed, wrong))
            report(seed, *wrong, "|", case.words)
    return tally, bad


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    began = time.perf_counter()
    tally, bad = run(int(sys.argv[1]), int(sys.argv[2]), lambda *words: print(*words, flush=True))  # noqa: T201
    print(dict(tally), f"faults: {len(bad)}", f"{time.perf_counter() - began:.0f} s", flush=True)  # noqa: T201
