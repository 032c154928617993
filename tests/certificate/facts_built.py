"""Problems of gauges with facts about single coefficients, built around a solution, and certificates judged by it.

z* is drawn first, with ties of all kinds, and x* as a combination of atoms that have the best score there; or for OWL
x* first, and z* as the slope times a subgradient. Slopes of the losses are drawn; one row of X follows from them and
z*, targets or an offset from the predictions. So x* is a solution up to the rounding of the data: its zeros are exactly
0, and no other entry is below a thousandth of the largest. Every claim must hold for it, unique or not. With an
intercept there are three samples at least: of two, a column with z_j = 0 is constant up to rounding, and what rounding
left of it would decide the sign of z_j.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from judge import start_of

from atomsieve import (
    OSCAR,
    OWL,
    SLOPE,
    Ball,
    KSparse,
    KSupport,
    Linear,
    LInf,
    LogBarrier,
    Logistic,
    Problem,
    Scaled,
    Square,
    Squared,
    solve,
)
from atomsieve.certificate import certify
from atomsieve.standalone.verify import verify

POINTS = 3
"""Certificates of each problem."""
CHECKED = 200
"""Every certificate with this many others between is checked by the independent checker as well."""

BLUR = 1e-9
"""What rounding of the data may move the solution by, relative to its largest entry."""

KINDS = ("OWL", "OSCAR", "SLOPE", "KSupport", "KSparse", "LInf")


@dataclass
class Built:
    """A problem with its solution."""

    kind: str
    traits: list
    X: np.ndarray
    y: np.ndarray
    given: dict
    x: np.ndarray
    value: float
    told: dict

    def problem(self):
        return Problem(self.X, self.y, **self.given, **self.told)


def build(rng):
    """Return a problem of a random kind."""
    kind, d, n = KINDS[rng.integers(len(KINDS))], int(rng.integers(1, 15)), int(rng.integers(3, 13))
    gauge, x, z = PIECES[kind](rng, d) if kind in PIECES else _of_largest(rng, kind, d)
    turns = rng.choice([-1.0, 1.0], size=d)
    slope = 10.0 ** rng.uniform(-2, 1)
    size = 10.0 ** rng.uniform(-2, 2)
    x, z = x * turns * size, z * turns * slope
    if rng.random() < 0.1:
        gauge, z = Scaled(gauge, radius := 10.0 ** rng.uniform(-1, 1)), z / radius
    if rng.random() < 0.05:  # the solution is 0, at the border of it or not
        x, penalty = np.zeros(d), Linear(slope / rng.choice([1.0, 0.9, 0.3]))
    else:
        shape = (Linear(1.0), Square(1.0), Ball(1.0), LogBarrier(1.0, sharpness=2.0))[rng.integers(4)]
        penalty = shape.through(gauge.value(x), slope)
    loss, intercept, weighted = (Squared(), Logistic())[rng.integers(2)], rng.random() < 0.4, rng.random() < 0.3
    weights = rng.integers(1, 5, size=n).astype(float) if weighted else np.ones(n)
    weights_of_mean = weights / weights.sum()
    X, y, offset, slopes = data_around(rng, (x, z), weights_of_mean, isinstance(loss, Logistic), intercept)
    losses = slopes**2 / 2 if offset is None else -np.log1p(-np.abs(slopes))
    value = float(weights_of_mean @ losses + penalty.value(gauge.value(x) * (1 - 1e-15)))
    told = ({"sample_weight": weights} if weighted else {}) | ({} if offset is None else {"offset": offset})
    traits = [type(loss).__name__, type(penalty).__name__, "intercept" if intercept else "no intercept"]
    traits += ["d > n" if d > n else "d <= n", "scaled" if isinstance(gauge, Scaled) else "not scaled"]
    given = {"gauge": gauge, "penalty": penalty, "loss": loss, "intercept": intercept}
    return Built(kind, traits, X, y, given, x, value, told)


def data_around(rng, solution, weights, logistic, intercept):
    """Return X, y and an offset for which a point is a solution, z being minus the gradient there."""
    (x, z), n = solution, len(weights)
    slopes = 10.0 ** rng.uniform(-2, 0.5) * rng.standard_normal(n)
    if logistic:
        slopes = rng.choice([-1.0, 1.0], size=n) * rng.uniform(0.05, 0.95, size=n)
    theta = weights * slopes
    if intercept:  # slopes add up to 0
        positive, negative = theta[theta > 0].sum(), -theta[theta < 0].sum()
        if positive == 0 or negative == 0:
            theta = 0.3 * weights.min() * np.append(np.ones(n - 1), -float(n - 1)) / (n - 1)
        else:
            theta = np.where(theta > 0, theta * min(negative / positive, 1), theta * min(positive / negative, 1))
    slopes = theta / weights
    scales = 10.0 ** rng.uniform(-0.5, 0.5, size=len(x))
    X = rng.standard_normal((n, len(x))) * scales
    first = int(np.abs(theta).argmax())
    others = np.delete(np.arange(n), first)
    X[first] = -(z + X[others].T @ theta[others]) / theta[first]
    u = X @ x + (rng.standard_normal() if intercept else 0.0)
    if not logistic:
        return X, u - slopes, None, slopes
    y = np.where(slopes == 0, 1.0, -np.sign(slopes))
    return X, y, y * np.log(1 / np.abs(slopes) - 1) - X @ x, slopes


def _of_owl(rng, weights):
    """Return OWL, a solution and z of the score 1: within a cluster, a mean of orders of its weights."""
    d = len(weights)
    levels = np.sort(rng.choice([0.0, 0.0, 0.2, 0.5, 0.7, 1.0, rng.uniform(0.1, 1)], size=d))[::-1]
    if not levels.any():
        levels[0] = 1.0
    z = np.empty(d)
    for level in np.unique(levels):
        inside = np.flatnonzero(levels == level)
        shares = rng.dirichlet(np.full(3, rng.choice([0.05, 1.0])))
        part = sum(share * rng.permutation(weights[inside]) for share in shares)
        if level == 0:
            part = part * rng.choice([1.0, 1 - 1e-6, 0.9, 0.3, 0.0]) * rng.choice([1.0, 0.5], size=len(inside))
        z[inside] = part
    order = rng.permutation(d)
    return levels[order], z[order]


def _owl(rng, d):
    weights = np.sort(rng.choice([0.0, 0.5, 1.0, 1.0, 2.0, rng.uniform(0, 2)], size=d))[::-1].copy()
    weights[0] += 0.5
    return OWL(weights), *_of_owl(rng, weights)


def _oscar(rng, d):
    gauge = OSCAR(rng.uniform(0.1, 1), rng.choice([1e-6, 0.01, 0.1, 1.0])).named(None, d)
    return gauge, *_of_owl(rng, gauge.weights)


def _slope(rng, d):
    gauge = SLOPE(rng.uniform(0.05, 0.5)).named(None, d)
    return gauge, *_of_owl(rng, gauge.weights)


PIECES = {"OWL": _owl, "OSCAR": _oscar, "SLOPE": _slope}


def _of_largest(rng, kind, d):
    """Return a gauge of the k largest, a solution and z of the score 1: some entries tie for the last places."""
    k = d if kind == "LInf" else int(rng.integers(1, d + 2))
    gauge = LInf() if kind == "LInf" else {"KSupport": KSupport, "KSparse": KSparse}[kind](k)
    places = min(k, d)
    sure = int(rng.integers(0, places + 1))
    tied = int(rng.integers(places - sure, d - sure + 1)) if sure < places else 0
    level = 0.0 if sure and rng.random() < (0.5 if kind != "KSupport" else 0.2) else rng.uniform(0.2, 1)
    if not sure and not level:
        level = 0.5
    near = rng.choice([1e-7, 1e-3, 0.3, 1.0])
    z = np.concatenate([level + near * rng.uniform(0.1, 1, sure), np.full(tied, level)])
    rest = d - sure - tied
    z = np.append(
        z, level * (1 - rng.choice([1e-7, 1e-3, 0.3]) * rng.uniform(0.5, 1, rest)) if level else np.zeros(rest)
    )
    shares = _shares(rng, tied, places - sure)
    if level == 0 and kind != "KSupport":  # entries with z = 0 are free, within the limits
        free = d - sure
        shares = rng.uniform(-1, 1, free) * rng.choice([0.0, 1.0], size=free)
        shares *= min(1.0, (places - sure) / max(np.abs(shares).sum(), 1e-300))
        shares[np.abs(shares) < 1e-3] = 0.0
        x = np.append(np.ones(sure), shares)
    elif kind == "KSupport":
        x = np.concatenate([z[:sure], level * shares, np.zeros(rest)])
    else:
        x = np.concatenate([np.ones(sure), shares, np.zeros(rest)])
    falling = np.sort(z)[::-1][:places]
    order = rng.permutation(d)
    z = z / (np.linalg.norm(falling) if kind == "KSupport" else falling.sum())
    return gauge, x[order], z[order]


def _shares(rng, count, total):
    """Return numbers from 0 to 1 with a sum; some are 0 or 1, none else is tiny."""
    if not count:
        return np.zeros(0)
    means = [rng.permutation(np.append(np.ones(total), np.zeros(count - total))) for _ in range(3)]
    return rng.dirichlet(np.ones(3) * 3) @ np.array(means) if rng.random() < 0.8 else means[0]


def judge_facts(certificate, built):
    """Return how many claims a certificate makes, and a list of those that are false."""
    x, facts = built.x, certificate.facts
    lower, upper = certificate.lower.ravel(), certificate.upper.ravel()
    top = float(np.abs(x).max(initial=0.0))
    blur = BLUR * (top or 1.0)
    kappa = built.given["gauge"].value(x)
    radius = getattr(built.given["gauge"], "radius", 1.0)
    counts = Counter(
        certificates=1,
        zeros=int(certificate.zero.sum()),
        nonzeros=int(certificate.nonzero.sum()),
        undecided=int(certificate.undecided.sum()),
        intervals=int((np.isfinite(lower) | np.isfinite(upper))[~certificate.zero].sum()),
        values=2 * int(certificate.valid),
        signs=int(np.count_nonzero(facts.signs)),
        clusters=sum(len(cluster) - 1 for cluster in facts.sets),
        saturated=int(facts.saturated.sum()),
        ordered=max(len(facts.order) - 1, 0),
        silent=int(not certificate.valid),
    )
    sizes, turned = np.abs(x), x * facts.signs
    false = {
        "zero": certificate.zero & (sizes > blur),
        "non-zero": certificate.nonzero & (sizes <= blur),
        "lower": lower > x + blur,
        "upper": upper < x - blur,
        "sign": turned < -blur,
        "cluster": np.array([np.ptp(turned[c]) > blur for c in facts.sets], dtype=bool),
        "saturated": facts.saturated & (np.abs(turned - kappa * radius) > blur),
        "order": np.array([sizes[a].min() < sizes[b].max() - blur for a, b in zip(facts.order, facts.order[1:])], bool),
        "value": _value_is_wrong(certificate, built),
    }
    wrong = [f"{name} {k}" for name, mask in false.items() for k in np.flatnonzero(mask).tolist()]
    counts["false"] = len(wrong)
    return counts, wrong


def _value_is_wrong(certificate, built):
    """Return whether the objective at the solution is outside of the proven interval, by more than rounding."""
    slack = 1e-11 * max(abs(built.value), 1e-6)
    return np.array([certificate.dual > built.value + slack, certificate.primal < built.value - slack])


def places(rng, problem, x):
    """Yield points of all kinds: at the solution, near it, far from it, anywhere, and where a solver stops."""
    size = float(np.abs(x).max(initial=0.0)) or 1.0

    def noise():
        return 10.0 ** rng.uniform(-15, -1) * rng.standard_normal(x.shape)

    yield x * (1 + 10.0 ** rng.uniform(-16, -13))
    yield x * (1 + noise()) if rng.random() < 0.4 else x + noise() * size
    kind = rng.random()
    if kind < 0.1:
        try:
            yield solve(problem, tol=10.0 ** -rng.uniform(1, 13), time_limit=0.5).lifted.ravel()
        except (ArithmeticError, ValueError):  # certificates are judged here, not solvers
            yield 0.9 * x
    elif kind < 0.7:
        yield x * (rng.random(x.shape) < 0.8) + noise() * size * (rng.random(x.shape) < 0.3)
    else:
        yield size * 10.0 ** rng.uniform(-2, 1) * rng.standard_normal(x.shape)


def try_facts(seed, number, tally, check=True):
    """Certify one problem at all points, and add what comes out to the tally."""
    rng = np.random.default_rng([seed, number])
    built = build(rng)
    problem = built.problem()
    try:
        start = start_of(problem)
    except ValueError as error:  # an offset so far out that no intercept is found: said in a sentence
        tally.refusals[f"{built.kind}: {error}"] += 1
        return
    for k, x in enumerate(places(rng, problem, built.x)):
        counts, wrong = _tried(built, problem, x, start, shown=check and (number * POINTS + k) % CHECKED == 0)
        tally.add(built.kind, built.traits, counts)
        if wrong:
            tally.faults.append(
                {"number": number, "point": k, "kind": built.kind, "traits": built.traits, "wrong": wrong}
            )


def _tried(built, problem, x, start, *, shown):
    """Return the counts of one certificate and what is wrong with it; `shown` asks the checker as well."""
    try:
        certificate = certify(problem, x.reshape(problem.shape), start)
        counts, wrong = judge_facts(certificate, built)
    except Exception as error:
        return Counter(certificates=1), [f"{type(error).__name__}: {error}"]
    if shown:
        verdict = verify(certificate, built.X, built.y, **built.told)
        counts.update(checked=1, refused=int(not verdict.valid))
        wrong += [] if verdict.valid else [f"refused: {verdict.reason}"]
    return counts, wrong
