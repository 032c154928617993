"""Certificates of problems whose truth is known, by the thousand: which claims are false?

Every problem is certified at several points: near a solution, far from one, anywhere. A bad point may decide less; it
must never decide wrongly.
"""

from collections import Counter, defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from unittest.mock import patch

import numpy as np
from built import build
from polished import polish
from polished_classes import polish_classes

from atomsieve import solve
from atomsieve.certificate import certified, certify
from atomsieve.certificate.proof import Proof
from atomsieve.certificate.statement import Statement
from atomsieve.standalone.verify import verify

KINDS = {
    "Squared": (4, lambda rng: build(rng, "Squared")),
    "Squared, outputs": (2, lambda rng: build(rng, "Squared", 2)),
    "Huber": (3, lambda rng: build(rng, "Huber")),
    "Huber, outputs": (1, lambda rng: build(rng, "Huber", 2)),
    "SquaredHinge": (2, lambda rng: build(rng, "SquaredHinge")),
    "SquaredHinge, outputs": (1, lambda rng: build(rng, "SquaredHinge", 2)),
    "Logistic": (2, lambda rng: build(rng, "Logistic")),
    "Poisson": (2, lambda rng: build(rng, "Poisson")),
    "Poisson, outputs": (1, lambda rng: build(rng, "Poisson", 2)),
    "Multinomial": (1, lambda rng: build(rng, "Multinomial")),
    "Squared, any floats": (1, lambda rng: polish(rng, "Squared")),
    "Huber, any floats": (1, lambda rng: polish(rng, "Huber")),
    "SquaredHinge, any floats": (1, lambda rng: polish(rng, "SquaredHinge")),
    "Logistic, any floats": (2, lambda rng: polish(rng, "Logistic")),
    "Poisson, any floats": (1, lambda rng: polish(rng, "Poisson")),
    "Multinomial, any floats": (1, polish_classes),
}
"""How often each kind of problem is drawn, and how."""

POINTS = 5
"""Certificates of each problem."""
CHECKED = 1000
"""Every certificate with this many others between is checked by the independent checker as well."""
DRAWS = 50
"""How often a problem is drawn until it is exact."""


def problem_of(seed, number):
    """Return the kind, the problem and the generator of a number."""
    rng = np.random.default_rng([seed, number])
    shares = np.array([share for share, _ in KINDS.values()])
    kind = list(KINDS)[int(rng.choice(len(shares), p=shares / shares.sum()))]
    for _ in range(DRAWS):
        built = KINDS[kind][1](rng)
        if built is not None:
            return kind, built, rng
    return kind, None, rng


def start_of(problem):
    """Return where the search for the best free coefficients begins."""
    return np.zeros(0) if problem.span is None else problem.span.origin


def points(rng, problem, built):
    """Yield points of all kinds."""
    x, corners = built.x, built.truth.corners
    size = float(np.abs(x).max(initial=0.0)) or 1.0

    def noise():
        return 10.0 ** rng.uniform(-15, -2) * rng.standard_normal(x.shape)

    yield x * (1 + noise())
    yield x * (1 + noise()) + noise() * size * (rng.random(x.shape) < 0.5)
    start = corners[rng.integers(len(corners))]
    if rng.random() < 0.5:
        start = start * (t := rng.random()) + (1 - t) * x
    yield start if rng.random() < 0.5 else start * (1 + noise())
    yield x + noise() * size
    yield _anywhere(rng, problem, x, size)


def _anywhere(rng, problem, x, size):
    kind = rng.integers(40)
    if kind == 0:
        return solve(problem, tol=10.0 ** -rng.integers(1, 14), time_limit=1.0).lifted.ravel()
    if kind < 8:
        return np.zeros(x.shape)
    if kind < 16:
        return x * (rng.random(x.shape) < 0.7)
    if kind < 24:
        return x * rng.choice([-1.0, 0.5, 0.9, 1.1, 2.0, 10.0])
    return size * 10.0 ** rng.uniform(-3, 3) * rng.standard_normal(x.shape)


@dataclass
class Tally:
    """Counts by kind of problem and by trait, what was found false, and problems that were refused in a sentence."""

    kinds: defaultdict = field(default_factory=lambda: defaultdict(Counter))
    traits: defaultdict = field(default_factory=lambda: defaultdict(Counter))
    faults: list = field(default_factory=list)
    refusals: Counter = field(default_factory=Counter)

    def add(self, kind, traits, counts):
        self.kinds[kind].update(counts)
        for trait in traits:
            self.traits[trait].update(counts)

    def merge(self, other):
        for mine, theirs in ((self.kinds, other.kinds), (self.traits, other.traits)):
            for name, counts in theirs.items():
                mine[name].update(counts)
        self.faults += other.faults
        self.refusals.update(other.refusals)

    @property
    def whole(self):
        """The sum over all kinds."""
        return sum(self.kinds.values(), Counter())


def judge(certificate, truth):
    """Return how many claims a certificate makes, and a list of those that are false."""
    lower, upper = certificate.lower.ravel(), certificate.upper.ravel()
    free_lower, free_upper = certificate.free_lower.ravel(), certificate.free_upper.ravel()
    known = np.isfinite(np.concatenate([lower, free_lower])) | np.isfinite(np.concatenate([upper, free_upper]))
    counts = Counter(
        certificates=1,
        zeros=int(certificate.zero.sum()),
        nonzeros=int(certificate.nonzero.sum()),
        intervals=int(known.sum()),
        sums=len(certificate.sums),
        values=int(np.isfinite(certificate.primal)) + int(np.isfinite(certificate.dual)),
        undecided=int(certificate.undecided.sum()),
        silent=int(not certificate.valid),
    )
    false = {
        "zero": certificate.zero & ~truth.zero,
        "non-zero": certificate.nonzero & ~truth.nonzero,
        "lower": lower > truth.low,
        "upper": upper < truth.high,
        "free lower": free_lower > truth.free_low,
        "free upper": free_upper < truth.free_high,
        "sum": np.array([not _holds(total, truth.corners) for total in certificate.sums], dtype=bool),
        "value": np.array([certificate.dual > truth.value[0], certificate.primal < truth.value[1]]),
    }
    wrong = [f"{name} {k}" for name, mask in false.items() for k in np.flatnonzero(mask).tolist()]
    counts["false"] = len(wrong)
    return counts, wrong


def _holds(total, corners):
    """Return whether the interval of a sum of coefficients holds it for every solution; corners are rounded once."""
    if (total.index < 0).any():
        return True
    parts = np.array([corner.ravel()[total.index] * total.times for corner in corners])
    values, slack = parts.sum(axis=1), 1e-14 * np.abs(parts).sum(axis=1)
    return bool(((total.lower <= values + slack) & (values - slack <= total.upper)).all())


def try_problem(seed, number, tally, check=True):
    """Certify one problem at all points, and add what comes out to the tally."""
    kind, built, rng = problem_of(seed, number)
    if built is None:
        tally.refusals[f"{kind}: no exact problem in {DRAWS} draws"] += 1
        return
    try:
        with np.errstate(all="ignore"):
            problem = built.problem()
            start = start_of(problem)
            places = list(points(rng, problem, built))
    except ValueError as error:  # overflow at x = 0, free columns that separate the classes: said in a sentence
        tally.refusals[f"{kind}: {error}"] += 1
        return
    for k, x in enumerate(places):
        shown = check and (number * POINTS + k) % CHECKED == 0
        try:
            counts, wrong = _tried(built, problem, x, start, shown)
        except Exception as error:
            counts, wrong = Counter(certificates=1), [f"{type(error).__name__}: {error}"]
        tally.add(kind, built.traits, counts)
        if wrong:
            tally.faults.append({"number": number, "point": k, "kind": kind, "traits": built.traits, "wrong": wrong})


def _tried(built, problem, x, start, shown):
    """Return the counts of one certificate and what is wrong with it; `shown` asks the checker as well."""
    certificate = certify(problem, x.reshape(problem.shape), start)
    counts, wrong = judge(certificate, built.truth)
    if shown:
        verdict = verify(certificate, built.X, built.y, **built.told())
        counts.update(checked=1, refused=int(not verdict.valid))
        wrong += [] if verdict.valid else [f"refused: {verdict.reason}"]
    return counts, wrong


def run(seed, numbers, tally=None, check=True):
    """Return the tally of many problems."""
    tally = Tally() if tally is None else tally
    for number in numbers:
        try_problem(seed, number, tally, check)
    return tally


CUTS = {
    "gap": lambda: patch.object(certified, "prove", _with_a_smaller_gap(certified.prove)),
    "gap bound": lambda: _property("gap_bound", lambda bound: bound / 1e6),
    "radius": lambda: _property("radius", lambda radius: radius / 1e3),
    "twentieth": lambda: _property("radius", lambda radius: radius / 20),
    "spread": lambda: _shorter_columns(1e3),
    "curvatures": lambda: _property("curvatures", lambda both: (both[0] * 1e3, both[1])),
}
"""Proofs whose bounds are cut: they must be found out."""


@contextmanager
def cut(name):
    """Cut a bound within proofs."""
    with CUTS[name]():
        yield


def _with_a_smaller_gap(prove):
    def proven(*point):
        proof = prove(*point)
        return replace(proof, gap=proof.gap / 1e6)

    return proven


def _shorter_columns(factor):
    """Cut the lengths of columns in every metric."""

    def cut_short(lengths):
        return lambda statement, *arguments: lengths(statement, *arguments) / factor

    return patch.multiple(Statement, spreads=cut_short(Statement.spreads), widest=cut_short(Statement.widest))


def _property(name, change):
    honest = vars(Proof)[name]
    read = honest.fget if isinstance(honest, property) else honest.func
    return patch.object(Proof, name, property(lambda proof: change(read(proof))))
