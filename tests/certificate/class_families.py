"""Families of problems of several classes: random ones, and members at corners that are aimed at a claim.

By hand, with the first seed and the number of families:

    python tests/certificate/class_families.py 0 1000

What the plain certificate of a member proves is taken for the truth, as in families.py; and for some members their
solution in 240 bits, which knows nothing of certificates.
"""

import sys
import time
import warnings
from collections import Counter
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
from families import Drawn, _features, _member, contradicted, made
from judge import Tally, start_of
from several_classes import Case, faults, truth

from atomsieve import (
    L1,
    L2,
    Ball,
    Group,
    Image,
    Linear,
    LinearSquare,
    LogBarrier,
    Multinomial,
    NonNegative,
    Power,
    Scaled,
    Square,
    solve,
    verify,
)
from atomsieve.certificate import certify
from atomsieve.certificate.class_face import ClassFace
from atomsieve.certificate.family import Family

PENALTIES = ("Linear", "Linear", "Linear", "Square", "Ball", "LogBarrier", "Power", "LinearSquare")
GAUGES = ("L1", "L1", "prices", "table", "positive", "NonNegative", "rows", "rows", "Group", "L2", "Image", "Scaled")


def draw(rng):
    """Return a random family with its certificate; None where the problem is refused."""
    traits = ["Multinomial"]
    n, d, classes = int(rng.integers(4, 20)), int(rng.integers(1, 7)), int(rng.choice([2, 3, 3, 3, 4, 5]))
    X, held, is_sparse = _features(rng, n, d, traits)
    gauge = _gauge(rng, d, classes, traits)
    pieces = {
        "loss": Multinomial(classes),
        "penalty": _penalty(rng, traits),
        "gauge": gauge,
        "intercept": bool(rng.random() < 0.6),
        "sample_weight": rng.uniform(0.2, 2, n) if rng.random() < 0.3 else None,
        "free": rng.standard_normal((n, 1)) + rng.choice([0, 100]) if rng.random() < 0.15 else None,
        "offset": rng.standard_normal((n, classes)) if rng.random() < 0.15 else None,
    }
    if rng.random() < 0.25 and not gauge.mapped:
        pieces["ridge"] = 10.0 ** rng.uniform(-3, 0)
        traits.append("ridge")
    size, relative = 10.0 ** rng.uniform(-9, -1), bool(rng.random() < 0.3)
    shape = [(), (d,), (n, d)][int(rng.integers(3))]
    unit = 1.0 if relative else float(X.std()) or 1.0
    asked = {"x_error": size * unit * (rng.uniform(0, 1, shape) if shape else 1.0), "relative": relative}
    _ask_for_strengths(rng, pieces["penalty"], asked, traits)
    drawn = Drawn(X, _labels(rng, X, classes), pieces, asked, held, is_sparse, traits)
    try:
        drawn.result = solve(drawn.problem(), tol=10.0 ** -rng.integers(6, 15), time_limit=2.0)
    except ValueError:  # a class that is missing beside an intercept, more free columns than samples
        return None
    drawn.certificate = drawn.result.certificate(**asked) if rng.random() < 0.7 else _elsewhere(rng, drawn)
    return drawn


def _ask_for_strengths(rng, penalty, asked, traits):
    """Ask for a range of strengths as well as errors of X, or for strengths alone, or for none."""
    if penalty.limit < np.inf or rng.random() > (0.3 if penalty.superlinear else 0.5):
        return
    if rng.random() < 0.5:
        asked.clear()
    wide = 10.0 ** rng.uniform(-9, -0.5)
    asked["strengths"] = (penalty.strength * (1 - wide), penalty.strength * (1 + wide))
    traits.append("strengths")


def _elsewhere(rng, drawn):
    """Return the certificate at another point: it may decide less, and never wrongly."""
    problem, x = drawn.result.problem, drawn.result.lifted
    noise = 10.0 ** rng.uniform(-12, -1) * rng.standard_normal(x.shape)
    even = x + np.where(x.any(axis=1), noise[:, 0], 0.0)[:, None]  # the same number in all classes of a feature
    points = [x * (1 + noise), x + noise, x * (rng.random(x.shape) < 0.7), 0.9 * x, 0.0 * x, even, even]
    drawn.traits.append("another point")
    asked = drawn.asked
    errors = asked.get("x_error"), None, asked.get("strengths"), None
    family = Family.of(problem, *errors, relative=asked.get("relative", False))
    return certify(problem, points[int(rng.integers(len(points)))], start_of(problem), family)


def _labels(rng, X, classes):
    n, d = X.shape
    beta = np.where(rng.random((d, classes)) < 0.5, rng.standard_normal((d, classes)), 0.0)
    scores = (X - X.mean(axis=0)) @ beta
    scores = scores / (scores.std() or 1.0) + float(rng.choice([0.0, 0.3, 3.0])) * rng.standard_normal((n, classes))
    y = np.argmax(scores, axis=1)
    y[: min(n, classes)] = np.arange(classes)[: min(n, classes)]
    return y


def _penalty(rng, traits):
    strength, kind = 10.0 ** rng.uniform(-2.5, -0.5), str(rng.choice(PENALTIES))
    traits.append(kind)
    return {
        "Linear": Linear(strength),
        "Square": Square(strength),
        "Ball": Ball(10 * strength),
        "LogBarrier": LogBarrier(10 * strength, 1.0),
        "Power": Power(strength, float(rng.choice([1.5, 3.0]))),
        "LinearSquare": LinearSquare(strength, 0.5),
    }[kind]


def _gauge(rng, d, classes, traits):
    kind = str(rng.choice(GAUGES))
    traits.append(kind)
    prices = rng.uniform(0.5, 2, d)
    if d > 1 and rng.random() < 0.5:
        prices[int(rng.integers(d))] = rng.choice([0.0, np.inf])
    positive = rng.random(d) < 0.5
    groups = np.sort(rng.integers(0, 1 + d // 2, d)).tolist()
    return {
        "L1": L1(),
        "prices": L1(weights=prices),
        "table": L1(weights=rng.choice([0.5, 1.0, 2.0], (d, classes))),
        "positive": L1(positive=positive.tolist()),
        "NonNegative": NonNegative(),
        "rows": Group(),
        "Group": Group(groups),
        "L2": L2(),
        "Image": Image(L1() if rng.random() < 0.5 else Group(), rng.standard_normal((d, int(rng.integers(1, d + 2))))),
        "Scaled": Scaled(L1() if rng.random() < 0.5 else Group(groups), 0.7),
    }[kind]


def members(rng, drawn, aimed):
    """Yield members: some that are aimed at a coefficient or score, one at a random corner and one within."""
    aims = list(_aims(rng, drawn)) if aimed else []
    for _ in range(aimed if aims else 0):
        yield _member(rng, drawn, float(rng.choice([-1, 1])) * aims[int(rng.integers(len(aims)))], 0.0)
    for way in (rng.choice([-1.0, 1.0], drawn.X.shape), rng.uniform(-1, 1, drawn.X.shape)):
        yield _member(rng, drawn, way, 0.0)


def _aims(rng, drawn):
    """Yield directions of the errors of X that move a coefficient, or a score, furthest to first order.

    The gradient on the support is `C' theta + v`. An error E moves it by `E' theta + C' H (E x)`, and the solution by
    minus the inverse of the Hessian times that.
    """
    problem, x = drawn.problem(), np.asarray(drawn.result.x)
    if x.ndim != 2 or not np.isfinite(x).all():
        return
    (n, d), classes, unit = drawn.X.shape, x.shape[1], np.eye(x.shape[1])
    free = [] if drawn.pieces["free"] is None else [drawn.pieces["free"]]
    B = np.hstack([np.ones((n, int(drawn.pieces["intercept"]))), *free])
    b = np.vstack([np.atleast_2d(drawn.result.intercept)] * int(drawn.pieces["intercept"]) + [np.zeros((0, classes))])
    b = np.vstack([b, np.reshape(drawn.result.free, (-1, classes))]) if free else b
    u = drawn.X @ x + B @ b + (0.0 if drawn.pieces["offset"] is None else drawn.pieces["offset"])
    p = np.exp(u - u.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    weights = problem.smooth.stated_weights[:, None]
    theta = weights * (p - unit[drawn.y])
    support = np.argwhere(x)
    columns = [np.outer(v, unit[c]) for v in B.T for c in range(classes)]
    C = np.array(columns + [np.outer(drawn.X[:, j], unit[c]) for j, c in support]).reshape(-1, n, classes)

    def bent(v):
        """Return H v for numbers of samples and classes."""
        return weights * p * (v - (p * v).sum(axis=-1, keepdims=True))

    inverse = np.linalg.pinv(np.tensordot(C, bent(C), axes=([1, 2], [1, 2])) if len(C) else np.zeros((0, 0)))

    def corner(shares, image):
        """Return the signs of the derivative `-theta S' - image x'` by X, with S the shares of entries of x."""
        S = np.zeros(x.shape)
        S[tuple(support.T)] = shares[len(columns) :]
        return np.where((way := -theta @ S.T - image @ x.T) == 0, rng.choice([-1.0, 1.0], (n, d)), np.sign(way))

    for k in range(len(columns), len(C)):
        yield corner(inverse[k], bent(np.tensordot(inverse[k], C, axes=1)))
    for j, c in np.argwhere(x == 0)[:20]:
        own = bent(np.outer(drawn.X[:, j], unit[c]))
        shares = inverse @ np.tensordot(C, own, axes=([1, 2], [0, 1])) if len(C) else np.zeros(0)
        way = corner(-shares, own - bent(np.tensordot(shares, C, axes=1)) if len(C) else own)
        way[:, j] = np.where(theta[:, c] == 0, way[:, j], -np.sign(theta[:, c]))
        yield way


def try_family(seed, number, tally, aimed=2, *, exact=False, check=False):
    """Certify one family, show that to its members (unless `aimed` is None) and to the checker, and count."""
    rng = np.random.default_rng([seed, number])
    drawn = draw(rng)
    if drawn is None:
        return
    claims, traits = drawn.certificate, drawn.traits[1:]
    tally.add("Multinomial, family", traits, Counter(certificates=1, silent=int(not claims.valid)) + made(claims))
    wrongs = []
    if check:
        given = {name: drawn.pieces[name] for name in ("sample_weight", "free", "offset")}
        verdict = verify(claims, drawn._stored(drawn.X) if drawn.is_sparse else drawn.X, drawn.y, **given)
        wrongs += [] if verdict.valid else [f"refused: {verdict.reason}"]
    for problem in members(rng, drawn, aimed) if claims.valid and aimed is not None else ():
        found = truth(problem) if exact else None
        if found is not None:
            wrongs += faults(Case(problem, (), {}, claims, ""), found)
        elif not exact:
            wrongs += contradicted(claims, solve(problem, tol=1e-13, time_limit=2.0).certificate())
        tally.add("Multinomial, family", traits, Counter(members=int(found is not None or not exact)))
    tally.add("Multinomial, family", traits, Counter(false=len(wrongs)))
    if wrongs:
        tally.faults.append({"number": number, "traits": traits, "asked": drawn.asked, "wrong": wrongs})


def run(seed, numbers, aimed=2, **how):
    """Return the tally of many families, with so many members aimed at a coefficient or score."""
    tally = Tally()
    for number in numbers:
        try_family(seed, number, tally, aimed, **how)
    return tally


@contextmanager
def cut(part):
    """Cut the distances within the proofs of families: false claims should follow."""
    honest = ClassFace._class_distances

    def shorter(self, *arguments):
        return tuple(part * distance for distance in honest(self, *arguments))

    with patch.object(ClassFace, "_class_distances", shorter):
        yield


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    began = time.process_time()
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    how = {name: name in sys.argv for name in ("exact", "check")}
    with cut(1e-3 if "cut" in sys.argv else 1.0):
        tally = run(seed, range(count), **how)
    for fault in tally.faults[:20]:
        print(fault, flush=True)  # noqa: T201
    print(dict(tally.whole), f"{time.process_time() - began:.0f} s", flush=True)  # noqa: T201
