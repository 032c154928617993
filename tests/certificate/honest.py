"""Small problems of every kind, each drawn from one seed: their honest certificates must all be accepted.

By hand, with the first seed and the number of problems:

    python tests/certificate/honest.py 0 1000
"""

import signal
import sys
import time
import warnings
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from atomsieve import (
    L1,
    L2,
    Atoms,
    Ball,
    Group,
    Huber,
    Image,
    Linear,
    LinearSquare,
    LInf,
    LogBarrier,
    Logistic,
    NonNegative,
    Poisson,
    Power,
    Problem,
    Scaled,
    Simplex,
    Square,
    Squared,
    SquaredHinge,
    solve,
    verify,
)

LOSSES = (Squared, Huber, SquaredHinge, Logistic, Poisson)
DESIGNS = ("normal", "whole", "binary", "twins", "near twins", "antisymmetric", "constant", "uneven", "offset", "sums")
FORMS = ("C", "F", "csr", "csc", "coo", "float32", "duplicates", "coo duplicates", "explicit zeros", "int")
PENALTIES = ("Linear", "Square", "Power", "Ball", "LogBarrier", "LinearSquare")
WIDER = 1_000_000
"""Seeds from which on problems may have several outputs, an offset or a shape of their own."""
RIDGED, RIDGED_AND_WIDER = 500_000, 2_000_000
"""Seeds from which on they have a ridge as well, without and with such parts."""
WHOLE = 3_000_000
"""Seeds from which on the gauge is LInf or an image of an image, and nothing has a ridge."""
GAUGES = ("L1", "prices", "positive", "NonNegative", "Simplex", "Group", "L2", "Atoms", "Image", "Image of Group")


@dataclass
class Case:
    """A problem, how far to solve it, and what the checker is told."""

    X: object
    y: object
    pieces: dict
    weights: object = None
    free: object = None
    intercept: bool = False
    offset: object = None
    shape: object = None
    effort: dict = field(default_factory=dict)
    words: str = ""

    def certificate(self):
        """Return the certificate of the point that the solver finds."""
        given = {"sample_weight": self.weights, "free": self.free, "intercept": self.intercept}
        given |= {"offset": self.offset, "shape": self.shape}
        return solve(Problem(self.X, self.y, **self.pieces, **given), **self.effort).certificate()

    def verdict(self, certificate):
        given = {"sample_weight": self.weights, "free": self.free, "offset": self.offset}
        return verify(certificate, self.X, self.y, **given)


def draw(seed):
    """Return the case of a seed."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 9)), int(rng.integers(1, 7))
    kind, form = rng.choice(DESIGNS), rng.choice(FORMS)
    dense = _design(rng, kind, n, d)
    scale = 10.0 ** rng.integers(-150, 121) if rng.random() < 0.03 else 10.0 ** rng.choice([0, 0, 0, -3, 4])
    if form in ("float32", "int"):
        scale = 1.0
    X = _stored(rng, dense * scale, form)
    n, d = X.shape
    loss = LOSSES[rng.integers(len(LOSSES))]
    y = _targets(rng, loss, dense)
    if rng.random() < 0.02 and loss in (Squared, Huber):
        y = y * 10.0 ** rng.integers(-150, 121)
    delta = float(10.0 ** rng.uniform(-1.5, 1) * (np.abs(y).max() or 1.0))
    name = rng.choice(GAUGES)
    gauge = _gauge(rng, name, d)
    size = float(np.abs(_toarray(X)).max() or 1.0)
    strength = float(10.0 ** rng.uniform(-3, 0.3) * size * (np.abs(y).max() or 1.0))
    penalty = _penalty(rng, rng.choice(PENALTIES), strength, size)
    weights = _weights(rng, n)
    free = (
        None if rng.random() < 0.8 else rng.standard_normal((n, int(rng.integers(1, 3)))).round(int(rng.integers(0, 9)))
    )
    effort = {"time_limit": 2.0, "tol": float(rng.choice([1e-1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-14]))}
    if rng.random() < 0.15:
        effort["max_iter"] = int(rng.integers(0, 5))
    elif rng.random() < 0.4:
        effort["until"] = "decided"
    pieces = {"loss": loss(delta) if loss is Huber else loss(), "gauge": gauge, "penalty": penalty}
    words = f"{loss.__name__}, {name}, {type(penalty).__name__}, {kind}, {form}, {n} x {d}"
    case = Case(X, y, pieces, weights, free, bool(rng.random() < 0.5), None, None, effort, words)
    case = case if seed < WIDER else _wider(rng, case, dense, name)
    if RIDGED <= seed < WIDER or RIDGED_AND_WIDER <= seed < WHOLE:
        _ridged(rng, case, size)
    if seed >= WHOLE:
        case.shape, case.pieces["gauge"] = None, _whole(rng, d)
        case.words += f", with {case.pieces['gauge']!r}"
    return case


def _whole(rng, d):
    """Return LInf, or an image of an image."""
    middle, width = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    outer, inner = rng.standard_normal((d, middle)), rng.integers(-2, 3, (middle, width)).astype(float)
    scale = float(10.0 ** rng.uniform(-1, 1))
    return (
        LInf(),
        Scaled(LInf(), scale),
        Image(LInf(), outer),
        Image(Image(L1(), inner), sparse.csc_array(outer)),
        Image(Scaled(Image(Group(rng.integers(0, 2, width)), sparse.csr_array(inner)), scale), outer),
        Image(Atoms(inner), outer),
    )[rng.integers(6)]


def _ridged(rng, case, size):
    """Add a ridge to a case whose gauge can have one: near the curvature of the columns, or far from it."""
    if case.pieces["gauge"].mapped:
        return
    ridge = float(np.clip(size * size * 10.0 ** rng.uniform(-14, 3), 1e-280, 1e280))
    case.pieces["ridge"] = ridge
    case.words += f", ridge {ridge:.1e}"


def _wider(rng, case, dense, name):
    """Return a case with several outputs or a shape of its own, and perhaps an offset."""
    kind, d = type(case.pieces["loss"]), dense.shape[1]
    if rng.random() < 0.5:
        others = [_targets(rng, kind, dense) for _ in range(int(rng.integers(1, 3)))]
        case.y = np.column_stack([case.y, *others])
        case.words += f", {1 + len(others)} outputs"
    elif name in ("L1", "L2"):
        case.shape = (d, 1) if d % 2 else (d // 2, 2)
        case.pieces["gauge"] = Group() if rng.random() < 0.5 else case.pieces["gauge"]
        case.words += f", shape {case.shape}"
    if rng.random() < 0.5:
        size = float(np.abs(case.y).max() or 1.0)
        case.offset = size * 10.0 ** rng.integers(-3, 2) * rng.standard_normal(case.y.shape)
        case.words += ", offset"
    return case


def _design(rng, kind, n, d):
    X = rng.standard_normal((n, d))
    if kind in ("whole", "sums"):
        X = rng.integers(-3, 4, (n, d)).astype(float)
    if kind == "sums" and d > 2:
        X[:, -1] = X[:, 0] + X[:, 1]
    if kind == "binary":
        X = (X > 0).astype(float)
    if kind in ("twins", "near twins"):
        X[:, -1] = X[:, 0] + (0.0 if kind == "twins" else 10.0 ** -rng.integers(4, 9)) * rng.standard_normal(n)
    if kind == "antisymmetric":
        X = np.vstack([X, -X]) if rng.random() < 0.5 else np.repeat(X, 2, axis=0) * np.tile([1.0, -1.0], n)[:, None]
    if kind == "constant":
        X[:, 0] = rng.choice([0.0, 1.0, 3.7])
    if kind == "uneven":
        X = X * 10.0 ** rng.integers(-5, 6, d)
    if kind == "offset":
        X = X + 10.0 ** rng.integers(1, 5)
    if rng.random() < 0.3:
        X[rng.random(X.shape) < 0.5] = 0.0
    return X


def _stored(rng, X, form):  # noqa: PLR0911
    if form == "int":
        return np.round(X).astype(rng.choice(["int8", "int64"])) if np.abs(X).max() < 100 else X
    if form == "float32":
        return X.astype(np.float32)
    if form in ("C", "F"):
        return np.array(X, order=form)
    if form in ("csr", "csc", "coo"):
        kind = {"csr": sparse.csr_array, "csc": sparse.csc_matrix, "coo": sparse.coo_array}[form]
        return kind(X)
    rows, columns = (index.ravel() for index in np.indices(X.shape))
    part = rng.uniform(0, 1, rows.shape)
    if form == "explicit zeros":
        return sparse.csr_array((X.ravel(), (rows, columns)), shape=X.shape)
    parts = [X.ravel() * part, X.ravel() * (1 - part), X.ravel() * 0.1]
    entries = sparse.coo_array((np.concatenate(parts), (np.tile(rows, 3), np.tile(columns, 3))), shape=X.shape)
    if form == "coo duplicates":
        return entries
    order = np.argsort(np.tile(rows, 3), kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(np.tile(rows, 3), minlength=len(X)))])
    return sparse.csr_matrix((entries.data[order], np.tile(columns, 3)[order], ends), shape=X.shape)


def _toarray(X):
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)


def _targets(rng, loss, X):
    n, d = X.shape
    signal = X @ (rng.standard_normal(d) * (rng.random(d) < 0.5)) / max(np.abs(X).max(), 1e-300)
    signal = signal + 10.0 ** rng.uniform(-3, 0.5) * rng.standard_normal(n)
    if loss in (Logistic, SquaredHinge):
        return np.where(signal > 0, 1.0, -1.0)
    if loss is Poisson:
        return rng.poisson(np.exp(np.clip(signal, -3, 3))).astype(float)
    return np.round(signal, 2) if rng.random() < 0.3 else signal


def _gauge(rng, name, d):
    mask = rng.random(d) < 0.5
    prices = rng.choice([0.0, 0.5, 1.0, 2.0, np.inf], d, p=[0.15, 0.2, 0.3, 0.2, 0.15])
    if not ((prices > 0) & (prices < np.inf)).any():
        prices[0] = 1.0
    labels = rng.integers(0, 3, d)
    width = int(rng.integers(1, 6))
    matrix = rng.integers(-2, 3, (d, width)).astype(float) if rng.random() < 0.5 else rng.standard_normal((d, width))
    if rng.random() < 0.3:
        matrix = sparse.csc_array(matrix)
    gauge = {
        "L1": L1,
        "prices": lambda: L1(prices),
        "positive": lambda: L1(np.where(mask & (prices == 0), 1.0, prices), positive=mask),
        "NonNegative": lambda: NonNegative(None if rng.random() < 0.5 else rng.uniform(0.1, 2, d)),
        "Simplex": Simplex,
        "Group": lambda: Group(
            labels, "equal" if rng.random() < 0.5 else rng.uniform(0.1, 2, len(set(labels.tolist())))
        ),
        "L2": L2,
        "Atoms": lambda: Atoms(matrix),
        "Image": lambda: Image(L1(positive=rng.random(width) < 0.3), matrix),
        "Image of Group": lambda: Image(Group(rng.integers(0, 2, width)), matrix),
    }[name]()
    for _ in range(int(rng.choice([0, 1, 2], p=[0.7, 0.2, 0.1]))):
        gauge = Scaled(gauge, float(10.0 ** rng.uniform(-1, 1)))
    return gauge


def _penalty(rng, name, strength, size):
    radius = float(10.0 ** rng.uniform(-1.5, 1) / size)
    return {
        "Linear": lambda: Linear(strength),
        "Square": lambda: Square(strength * size),
        "Power": lambda: Power(strength, float(rng.choice([1.5, 2.0, 3.0, np.inf]))),
        "Ball": lambda: Ball(radius),
        "LogBarrier": lambda: LogBarrier(radius, float(10.0 ** rng.uniform(-1, 2))),
        "LinearSquare": lambda: LinearSquare(strength, float(strength * size * 10.0 ** rng.uniform(-2, 1))),
    }[name]()


def _weights(rng, n):
    choice = rng.random()
    if choice < 0.6:
        return None
    if choice < 0.75:
        weights = rng.integers(0, 3, n).astype(float)
        return weights if weights.any() else np.ones(n)
    return rng.uniform(0.1, 3, n) if choice < 0.9 else 10.0 ** rng.uniform(-8, 8, n)


class TooLong(Exception):
    """The solver went on past its limit."""


def _late(*_):
    raise TooLong


@contextmanager
def limit(seconds):
    """Raise TooLong after some seconds, where the system can."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, _late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run(first, count, report=print):
    """Return how many certificates of the seeds were accepted, silent, or never made, and the refusals."""
    tally, refused = Counter(), []
    for seed in range(first, first + count):
        try:
            with limit(6):
                case = draw(seed)
                certificate = case.certificate()
        except TooLong:
            tally["too long"] += 1
            report(seed, "solve: too long")
            continue
        except (ValueError, np.linalg.LinAlgError) as error:  # problems without a solution
            tally["no certificate"] += 1
            tally[f"no certificate: {type(error).__name__}"] += 1
            continue
        except Exception as error:
            tally["crash"] += 1
            report(seed, "solve:", type(error).__name__, error)
            continue
        tally["certificates"] += 1
        tally["silent"] += not certificate.valid
        tally["decided"] += bool(certificate.valid and not certificate.undecided.any())
        verdict = case.verdict(certificate)
        if not verdict.valid:
            refused.append((seed, verdict.reason))
            report(seed, verdict.reason, "|", case.words)
    return tally, refused


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    began = time.perf_counter()
    tally, refused = run(int(sys.argv[1]), int(sys.argv[2]), lambda *words: print(*words, flush=True))  # noqa: T201
    print(dict(tally), f"refused: {len(refused)}", f"{time.perf_counter() - began:.0f} s", flush=True)  # noqa: T201
