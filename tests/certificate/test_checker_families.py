"""The checker accepts what follows for all members of a family of problems, and refuses what does not.

The claims are made here, by a small prover in plain floats; FAMILY in the text of the checker has the formulas.
"""

import copy
import json
import math
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from families import draw
from scipy.sparse import csr_array

from atomsieve import (
    L1,
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
    Square,
    Squared,
    solve,
)
from atomsieve.certificate.file import seal
from atomsieve.standalone.verify import verify
from atomsieve.standalone.verify.checker import Checker

RNG = np.random.default_rng(5)
N, D = 60, 8
X = np.round(RNG.standard_normal((N, D)), 3)
SIGNAL = X[:, :3] @ [1.5, -1.0, 0.8] + 0.3
NOISE = 0.3 * RNG.standard_normal(N)
THIN = np.where(RNG.random((N, D)) < 0.5, X, 0.0)
WEIGHTS = RNG.integers(1, 4, N).astype(float)
TARGETS = {
    "Squared": SIGNAL + NOISE,
    "Huber": SIGNAL + NOISE + np.where(np.arange(N) % 10 == 0, 4.0, 0.0),
    "Logistic": np.where(SIGNAL + 3 * NOISE > 0, 1.0, -1.0),
    "Poisson": np.round(np.exp(np.clip(SIGNAL + NOISE, -2, 2.5))),
}
STRENGTHS = {"Squared": 0.2, "Huber": 0.2, "Logistic": 0.1, "Poisson": 0.6}
LOSSES = [Squared(), Huber(1.0), Logistic(), Poisson()]
GROUPS = [0, 0, 1, 1, 2, 2, 3, 3]
GAUGES = [L1(), Group(GROUPS, [1.0, 1.2, 1.0, 1.5]), L1([1.0, 2.0, 1.0, 1.0, 1.0, 0.5, 1.0, np.inf])]
WIDER = 1.01
BARRED = 1e9
ROUNDING = 1e-11


def x_error(values, relative=False, zeros=True):
    return {"relative": relative, "zeros": zeros, "values": np.asarray(values).tolist()}


def family(x=None, y=None, strengths=None):
    return {"x_error": x, "y_error": y, "strengths": strengths}


# -- a prover in plain floats ------------------------------------------------------------------------------------------


def slopes_of(loss, u, y):
    if isinstance(loss, Poisson):
        return np.exp(u) - y
    if isinstance(loss, Logistic):
        return -y / (1 + np.exp(y * u))
    return u - y if isinstance(loss, Squared) else np.clip(u - y, -loss.delta, loss.delta)


def losses_of(loss, u, y):
    if isinstance(loss, Poisson):
        return np.exp(u) - y * u + np.where(y > 0, y * np.log(np.maximum(y, 1)) - y, 0.0)
    if isinstance(loss, Logistic):
        return np.log1p(np.exp(-y * u))
    t = slopes_of(loss, u, y)
    return t * (u - y - t / 2)


def curvatures(loss, t, away, y):
    """Return bounds of loss'' for slopes that move by at most `away`."""
    low, high = t - away, t + away
    if isinstance(loss, Poisson):
        return np.maximum(low + y, 0), high + y
    if isinstance(loss, Logistic):
        ends = [np.clip(np.where(y < 0, v, -w), 0, 1) for v, w in ((low, high), (high, low))]
        bends = [p * (1 - p) for p in ends]
        middle = (ends[0] <= 0.5) & (ends[1] >= 0.5)
        return np.minimum(*bends), np.where(middle, 0.25, np.maximum(*bends))
    if isinstance(loss, Huber):
        inside, beyond = (low > -loss.delta) & (high < loss.delta), (low >= loss.delta) | (high <= -loss.delta)
        return inside.astype(float), 1.0 - beyond
    return np.ones(len(t)), np.ones(len(t))


def solved(b, c):
    return b / 2 + math.sqrt(b * b / 4 + c)


class Prover:
    """FAMILY in floats, for L1 and Group."""

    def __init__(self, problem, content, told):
        self.loss, self.y, self.s = problem.loss, problem.y, problem.data.stated_weights
        self.A = problem.data.design.columns(slice(None))
        self.B = np.ones((len(self.y), int(content["problem"]["intercept"])))
        self.b = np.array(content["point"]["free"])
        self.x = np.zeros(self.A.shape[1])
        self.x[content["point"]["x"]["index"]] = content["point"]["x"]["value"]
        gauge = problem.gauge
        self.labels = np.array(GROUPS) if isinstance(gauge, Group) else np.arange(len(self.x))
        blocks = self.labels.max() + 1
        self.prices = np.ones(blocks) if gauge.weights is None else np.minimum(gauge.weights, BARRED)
        self.E, self.e = np.zeros(self.A.shape), np.zeros(len(self.y))
        if told["x_error"]:
            values = np.broadcast_to(told["x_error"]["values"], self.A.shape)
            absolute = np.where(told["x_error"]["zeros"] | (self.A != 0), values, 0.0)
            self.E = values * np.abs(self.A) if told["x_error"]["relative"] else absolute
        if told["y_error"]:
            relative = told["y_error"]["relative"]
            self.e = told["y_error"]["values"] * (np.abs(self.y) if relative else np.ones(len(self.y)))
        u = self.A @ self.x + self.B @ self.b
        self.u, self.t = u, slopes_of(self.loss, u, self.y)
        self.theta = self.s * self.t
        self.z = -self.A.T @ self.theta
        self.eta = self.E @ np.abs(self.x) + self.e
        self.blur = self.E.T @ np.abs(self.theta)
        self.charge(problem.penalty)

    def charge(self, penalty):
        """Take note of the penalty and its slope at the point and at 0, times S."""
        total, mass = self.s.sum(), self.prices @ self.norms(self.x)
        self.slack, self.first = 0.0, 0.0
        if isinstance(penalty, Ball):
            best = np.max(self.norms(self.z) / self.prices)
            self.slope, self.charges, self.slack = best, 0.0, best * max(penalty.radius - mass, 0)
            return
        self.slope, self.charges = total * penalty.slope(mass), total * penalty.value(mass)
        self.first = total * penalty.slope(0.0)

    def norms(self, v):
        return np.sqrt(np.bincount(self.labels, v * v))

    def prove(self):
        """Return bounds for the blocks that are not proven zero, after adding blocks until all others are."""
        alive = self.norms(self.x) > 0
        while True:
            bounds = self.bounds(alive)
            left = ~self.zeros(bounds) & (self.prices < BARRED)
            if not (left & ~alive).any():
                return alive, bounds
            alive = alive | left

    def bounds(self, alive):
        self.K = np.flatnonzero(alive[self.labels])
        away = np.zeros(len(self.y))
        for _ in range(8):
            bounds = self.travel(*curvatures(self.loss, self.t, away, self.y))
            needed = np.sqrt(bounds.most / self.s) * bounds.way
            if (needed < away).all():
                return self.travel(*curvatures(self.loss, self.t, needed, self.y))
            away = 2 * needed + 1e-12
        raise AssertionError("the family is too wide for this test")

    def travel(self, least, most):
        C = np.hstack([self.B, self.A[:, self.K]])
        errors = np.hstack([0 * self.B, self.E[:, self.K]])
        inverse = np.linalg.inv(C.T @ ((self.s * least)[:, None] * C))
        rho = math.sqrt(np.einsum("i,ij,jk,ik->", self.s * least, errors, np.abs(inverse), errors))
        assert rho < 1

        def length(middle, radii):
            return (math.sqrt(middle @ inverse @ middle) + math.sqrt(radii @ np.abs(inverse) @ radii)) / (1 - rho)

        free = np.zeros(self.B.shape[1])
        size = np.maximum(self.norms(self.x), 1e-300)[self.labels]
        carried = self.norms(self.x)[self.labels] > 0
        rest = self.z - self.slope * self.prices[self.labels] * self.x / size
        score = self.norms(self.z) / self.prices
        excess = np.abs(self.z) * np.maximum(1 - self.slope / np.maximum(score, 1e-300), 0)[self.labels]
        middle, radii = np.where(carried, rest, 0), self.blur + np.where(carried, 0, excess)
        d = length(np.append(free, middle[self.K]), np.append(free, radii[self.K]))
        e = math.sqrt(np.sum(self.s * most * self.eta**2))
        way = solved(d + e, d * e + self.slack)
        curved = least > 0
        drag = math.sqrt(np.sum((self.s * most**2 * self.eta**2)[curved] / least[curved]))
        drag += sum(self.s[i] * most[i] * self.eta[i] * length(C[i], errors[i]) for i in np.flatnonzero(~curved))
        reach = min(way + e, solved(d + drag, self.slack))
        away = np.sqrt(np.diag(inverse)) * reach / (1 - rho)
        lost = d * reach + self.slack
        return SimpleNamespace(way=way, most=most, lost=lost, gap=lost + e * e / 2, away=away)

    def zeros(self, bounds):
        metric = (self.s * bounds.most)[:, None]
        rest = self.A
        if self.B.shape[1]:
            rest = self.A - self.A.mean(axis=0)
            rest = rest - (metric * rest).sum(axis=0) / metric.sum()
        lengths = np.sqrt((metric * rest**2).sum(axis=0)) + np.sqrt((metric * self.E**2).sum(axis=0))
        score = self.norms(self.z) / self.prices
        moved = self.norms(bounds.way * lengths + self.blur) / self.prices
        floor = max(self.first, np.max(score - moved))
        return score + moved * WIDER < floor

    def claims(self):
        """Return the claims of a file, wider than proven by one hundredth."""
        alive, bounds = self.prove()
        free = len(self.b)
        away, K = WIDER * bounds.away + ROUNDING, self.K
        middle = np.append(self.b, self.x[K])
        low, high = middle - away, middle + away
        radii = np.zeros(len(self.x))
        radii[K] = away[free:]
        nonzero = (self.norms(self.x) > self.norms(radii)) & alive
        ends = [losses_of(self.loss, self.u + side * self.eta, self.y) for side in (1, -1)]
        total = self.s.sum()
        top = (self.s @ np.maximum(*ends) + self.charges) / total
        point = (self.s @ losses_of(self.loss, self.u, self.y) + self.charges) / total
        fall = WIDER * (np.abs(self.theta) @ self.eta + bounds.lost) / total
        return {
            "valid": True,
            "value": {"lower": point - fall - ROUNDING, "upper": top + ROUNDING},
            "gap": WIDER * bounds.gap / total + ROUNDING,
            "nonzero": np.flatnonzero(nonzero).tolist(),
            "undecided": np.flatnonzero(alive & ~nonzero).tolist(),
            "dependencies": [],
            "sums": [],
            "intervals": {"index": K.tolist(), "lower": low[free:].tolist(), "upper": high[free:].tolist()},
            "free": {"lower": low[:free].tolist(), "upper": high[:free].tolist()},
        }


# -- files -------------------------------------------------------------------------------------------------------------


def sealed(content):
    content["seal"] = seal(content)
    return SimpleNamespace(content=lambda: content)


def stated(problem, told):
    """Return the content of an ordinary certificate, with a family."""
    content = solve(problem, tol=1e-12).certificate().content()
    return content | {"family": told}


def proven(problem, told):
    content = stated(problem, told)
    return content | {"claims": Prover(problem, content, told).claims()}


def judged(content, X, y, weights=None):
    return verify(sealed(copy.deepcopy(content)), X, y, sample_weight=weights)


def problem_of(loss, gauge=GAUGES[0], *, X=X, weights=None, intercept=True, penalty=None):
    y = TARGETS[type(loss).__name__]
    penalty = Linear(STRENGTHS[type(loss).__name__]) if penalty is None else penalty
    return Problem(X, y, loss=loss, gauge=gauge, penalty=penalty, sample_weight=weights, intercept=intercept)


ERRORS = {
    "all": family(x_error(0.002)),
    "columns": family(x_error(np.linspace(0, 0.004, D))),
    "entries": family(x_error(0.003 * RNG.random((N, D)))),
    "relative": family(x_error(0.002, relative=True)),
    "nothing": family(),
}


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("gauge", GAUGES, ids=["L1", "Group", "prices"])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda v: type(v).__name__)
def test_honest_claims_follow(loss, gauge, name):
    odd = len(name) % 2 == 0
    weights = WEIGHTS if odd else None
    problem = problem_of(loss, gauge, weights=weights, intercept=odd)
    content = proven(problem, ERRORS[name])
    verdict = judged(content, X, problem.y, weights)
    assert verdict, verdict
    assert content["claims"]["nonzero"]
    assert len(content["claims"]["intervals"]["index"]) < D


@pytest.mark.parametrize("penalty", [Square(0.1), Ball(2.0), Ball(2.6)], ids=repr)
@pytest.mark.parametrize("loss", LOSSES[:3], ids=lambda v: type(v).__name__)
def test_honest_claims_with_other_penalties(loss, penalty):
    problem = problem_of(loss, penalty=penalty)
    content = proven(problem, family(x_error(0.001)))
    verdict = judged(content, X, problem.y)
    assert verdict, verdict
    members_agree(problem, content, trials=4)


def test_a_point_that_is_optimal_for_all_members_has_no_gap():
    problem = problem_of(Huber(0.1), penalty=Linear(2.0), intercept=False)
    content = proven(problem, family(y={"relative": False, "values": 0.01}))
    content["claims"]["gap"] = 3e-5
    assert not content["claims"]["intervals"]["index"]
    assert judged(content, X, problem.y)


Y_ERRORS = [
    {"relative": False, "values": 0.01},
    {"relative": True, "values": 0.01},
    {"relative": False, "values": (0.02 * RNG.random(N)).tolist()},
]


@pytest.mark.parametrize("y_error", Y_ERRORS, ids=["all", "relative", "each"])
@pytest.mark.parametrize("loss", LOSSES[:2], ids=lambda v: type(v).__name__)
def test_targets_with_errors(loss, y_error):
    problem = problem_of(loss)
    content = proven(problem, family(x_error(0.001), y_error))
    verdict = judged(content, X, problem.y)
    assert verdict, verdict
    assert "for all X and y within the stated errors" in str(verdict)
    members_agree(problem, content)


@pytest.mark.parametrize("zeros", [True, False])
@pytest.mark.parametrize("relative", [True, False])
def test_sparse_columns(relative, zeros):
    problem = problem_of(Squared(), X=csr_array(THIN))
    content = proven(
        Problem(THIN, problem.y, penalty=problem.penalty, intercept=True), family(x_error(0.002, relative, zeros))
    )
    verdict = judged(content, csr_array(THIN), problem.y)
    assert verdict, verdict
    if not (relative or zeros):  # with errors of all entries, these claims are too bold
        content["family"]["x_error"]["zeros"] = True
        assert not judged(content, csr_array(THIN), problem.y)


def test_several_outputs():
    y = np.column_stack([SIGNAL + NOISE, SIGNAL[::-1] - NOISE])
    told = family(x_error(1e-9), {"relative": False, "values": 1e-9})
    content = stated(Problem(X, y, penalty=Linear(0.2), intercept=True), told)
    intervals, free = content["claims"]["intervals"], content["claims"]["free"]
    content["claims"] |= {"gap": None, "value": {"lower": None, "upper": None}}
    for ends in (intervals, free):
        ends["lower"], ends["upper"] = [v - 1e-7 for v in ends["lower"]], [v + 1e-7 for v in ends["upper"]]
    verdict = judged(content, X, y)
    assert verdict, verdict
    content["family"]["y_error"]["values"] = [1e-9] * N + [1e-5] * N
    assert "narrow" in str(judged(content, X, y))


def members_agree(problem, content, trials=8):
    """Solve members at random corners, and at corners that pull coefficients one way; all claims hold for them."""
    prover = Prover(problem, content, content["family"])
    rng, claims = np.random.default_rng(1), content["claims"]
    index, free = claims["intervals"]["index"], len(prover.b)
    ends = [np.append(claims["free"][side], claims["intervals"][side]) for side in ("lower", "upper")]
    for trial in range(trials):
        signs, sides = rng.choice([-1, 1], prover.A.shape), rng.choice([-1, 1], len(prover.y))
        if trial % 2:
            sides = np.where(prover.A[:, index[trial % len(index)]] > 0, 1, -1)
            signs = -np.outer(sides, np.where(prover.x < 0, -1, 1))
        columns, targets = prover.A + prover.E * signs, prover.y + prover.e * sides
        member = Problem(
            columns,
            targets,
            loss=problem.loss,
            gauge=problem.gauge,
            penalty=problem.penalty,
            sample_weight=prover.s,
            intercept=bool(free),
        )
        found = solve(member, tol=1e-12)
        values = np.append(np.full(free, found.intercept), found.x[index])
        assert (values >= ends[0] - 1e-6).all()
        assert (values <= ends[1] + 1e-6).all()
        assert not np.delete(found.x, index).any()
        assert np.isin(claims["nonzero"], prover.labels[np.flatnonzero(found.x)]).all()
        assert claims["value"]["lower"] - 1e-9 <= found.objective <= claims["value"]["upper"] + 1e-9
        losses = losses_of(problem.loss, columns @ prover.x + prover.B @ prover.b, targets)
        objective = (prover.s @ losses + prover.charges) / prover.s.sum()
        assert objective - found.objective <= claims["gap"] + 1e-9


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda v: type(v).__name__)
def test_solutions_of_members_are_as_claimed(loss, name):
    gauge = GAUGES[len(name) % 2]
    problem = problem_of(loss, gauge, weights=WEIGHTS)
    members_agree(problem, proven(problem, ERRORS[name]))


# -- forgeries ---------------------------------------------------------------------------------------------------------


@pytest.fixture(params=[Squared(), Logistic()], ids=lambda v: type(v).__name__)
def honest(request):
    problem = problem_of(request.param)
    content = proven(problem, family(x_error(0.001)))
    assert judged(content, X, problem.y)
    return problem, content


def shrink(low, high):
    return (0.985 * low + 0.015 * high, 0.015 * low + 0.985 * high)


def narrower(claims):
    ends = claims["intervals"]
    ends["lower"][0], ends["upper"][0] = shrink(ends["lower"][0], ends["upper"][0])


def narrower_intercept(claims):
    ends = claims["free"]
    ends["lower"][0], ends["upper"][0] = shrink(ends["lower"][0], ends["upper"][0])


def false_zero(claims):
    ends = claims["intervals"]
    claims["nonzero"].remove(ends["index"].pop(0))
    ends["lower"].pop(0), ends["upper"].pop(0)


def false_nonzero(claims):
    ends, block = claims["intervals"], max(set(range(D)) - set(claims["nonzero"]) - set(claims["undecided"]))
    claims["nonzero"] = sorted([*claims["nonzero"], block])
    place = sum(j < block for j in ends["index"])
    ends["index"].insert(place, block)
    ends["lower"] = ends["upper"] = [None] * len(ends["index"])
    claims |= {"gap": None, "value": {"lower": None, "upper": None}, "free": {"lower": [None], "upper": [None]}}


def smaller_gap(claims):
    claims["gap"] *= 0.97


def higher_value(claims):
    claims["value"]["lower"] += 0.03 * (claims["value"]["upper"] - claims["value"]["lower"])


def lower_value(claims):
    claims["value"]["upper"] -= 0.03 * (claims["value"]["upper"] - claims["value"]["lower"])


FORGERIES = {
    narrower: "the interval of coefficient 0 is too narrow",
    narrower_intercept: "the interval of free coefficient 0 is too narrow",
    false_zero: "block 0 is not proven zero",
    false_nonzero: "is not proven non-zero",
    smaller_gap: "the gap at the point is larger",
    higher_value: "the optimal value may be below",
    lower_value: "the objective is above",
}


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda f: f.__name__)
def test_forged_claims_are_refused(honest, forge):
    problem, content = honest
    forge(content["claims"])
    verdict = judged(content, X, problem.y)
    assert not verdict
    assert FORGERIES[forge] in verdict.reason, verdict


LARGER = {
    "X": {"x_error": x_error(0.0012)},
    "a column": {"x_error": x_error([0.001, 0.002] + [0.001] * 6)},
    "a zero column": {"x_error": x_error([0.001] * 7 + [2.0])},
    "y": {"y_error": {"relative": False, "values": 0.01}},
}


@pytest.mark.parametrize("name", LARGER)
def test_a_larger_family_needs_weaker_claims(name):
    problem = problem_of(Squared())
    told = family(x_error(0.001))
    content, larger = proven(problem, told), told | LARGER[name]
    assert not judged(content | {"family": larger}, X, problem.y)


def test_wide_families_are_refused_with_the_reason():
    problem = problem_of(Logistic())
    content = proven(problem, family(x_error(0.001)))
    wide = judged(content | {"family": family(x_error(10.0))}, X, problem.y)
    assert "may depend on each other" in wide.reason
    wide = judged(content | {"family": family(x_error(0.3))}, X, problem.y)
    assert not wide
    assert wide.known


def test_the_family_is_part_of_the_seal():
    problem = problem_of(Squared())
    content = proven(problem, family(x_error(0.001)))
    certificate = sealed(content)
    content["family"]["x_error"]["values"] = 0.0
    assert "seal" in verify(certificate, X, problem.y).reason


MALFORMED = {
    "negative": (family(x_error(-0.1)), "not negative"),
    "too few columns": (family(x_error([0.1] * 7)), "x_error has the shape (7,)"),
    "too few rows": (family(x_error(np.ones((N - 1, D)))), "x_error has the shape (59, 8)"),
    "ragged": (family({"relative": False, "zeros": True, "values": [[0.1] * D] * (N - 1) + [[0.1]]}), "lengths"),
    "no list of lists": (family({"relative": False, "zeros": True, "values": [0.1] * 7 + [[0.1]]}), "malformed"),
    "too few targets": (family(y={"relative": False, "values": [0.1] * 3}), "y_error has the shape (3,)"),
    "a negative target": (family(y={"relative": False, "values": -0.1}), "not negative"),
    "strengths elsewhere": (family(strengths=[0.3, 0.4]), "around the stated strength"),
    "one strength": (family(strengths=[0.2]), "two numbers around the stated strength"),
    "no strength": (family(strengths=[0, 0.4]), "positive"),
    "an unknown word": (family() | {"z_error": None}, "z_error"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_families_are_refused(name):
    told, reason = MALFORMED[name]
    problem = problem_of(Squared())
    verdict = judged(stated(problem, told), X, problem.y)
    assert not verdict
    assert reason in verdict.reason, verdict


def test_errors_are_finite(tmp_path):
    problem = problem_of(Squared())
    content = stated(problem, family(x_error(math.inf)))
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(content | {"seal": seal(content)}).replace("Infinity", "1e999"))
    assert "finite number that is not negative, not inf" in verify(path, X, problem.y).reason


def test_a_file_says_whether_there_is_a_family():
    problem = problem_of(Squared())
    content = stated(problem, None)
    assert str(judged(content, X, problem.y)).startswith(
        "The certificate is valid: every claim follows from the data. ("
    )
    del content["family"]
    assert "lacks 'family'" in judged(content, X, problem.y).reason


def test_families_without_formulas_are_not_judged():
    problem = Problem(X, TARGETS["Squared"], gauge=LInf(), penalty=Linear(0.2))
    verdict = judged(stated(problem, family(x_error(1e-9))), X, problem.y)
    assert not verdict.known
    assert "facts are for one problem" in verdict.reason
    assert "cannot be checked here" in str(verdict)


IMAGES = {
    "atoms": Image(L1(), np.round(RNG.standard_normal((D, D)), 2)),
    "steps": Image(L1([0.0] + [1.0] * (D - 1)), np.tril(np.ones((D, D)))),
    "image of an image": Image(Image(L1(), np.round(RNG.standard_normal((D, D)), 2)), np.tril(np.ones((D, D)))),
    "groups": Image(Group(GROUPS), csr_array(np.round(RNG.standard_normal((D, D)), 2))),
    "no price": L1([0.0] + [1.0] * (D - 1)),
}


@pytest.mark.parametrize("name", IMAGES)
class TestImages:
    """Certificates of the package for images, and for features without a price, with errors of X."""

    @staticmethod
    def made(name):
        problem = problem_of(Squared(), IMAGES[name], penalty=Linear(0.05))
        strengths = None if name == "no price" else (0.0499, 0.0501)
        content = solve(problem, tol=1e-13).certificate(x_error=1e-5, strengths=strengths).content()
        assert content["claims"]["nonzero"]
        return problem, content

    def test_honest(self, name):
        problem, content = self.made(name)
        verdict = judged(content, X, problem.y)
        assert verdict, verdict

    def test_larger_errors_need_weaker_claims(self, name):
        problem, content = self.made(name)
        content["family"]["x_error"]["values"] = 1.5e-5
        assert not judged(content, X, problem.y)

    def test_narrower_intervals_are_refused(self, name):
        problem, content = self.made(name)
        ends = content["claims"]["free" if name == "no price" else "intervals"]
        place = len(ends["lower"]) - 1
        low, high = ends["lower"][place], ends["upper"][place]
        ends["lower"][place], ends["upper"][place] = 0.95 * low + 0.05 * high, 0.05 * low + 0.95 * high
        assert "too narrow" in judged(content, X, problem.y).reason


def test_exact_sums_need_exact_columns():
    twins = np.column_stack([X[:, 0], X])
    problem = Problem(twins, TARGETS["Squared"], gauge=L1([0.0, 0.0] + [1.0] * (D - 1)), penalty=Linear(0.2))
    content = solve(problem, tol=1e-13).certificate(x_error=[0, 0] + [1e-6] * (D - 1)).content()
    assert judged(content, twins, problem.y)
    content["family"]["x_error"]["values"] = [1e-12, 0] + [1e-6] * (D - 1)
    assert "depend on each other have errors" in judged(content, twins, problem.y).reason


def test_a_silent_certificate_names_no_slopes():
    problem = problem_of(Squared(), penalty=Square(0.1))
    certificate = solve(problem, tol=1e-12).certificate(strengths=(1e-6, 100.0))
    assert not certificate.valid
    assert "claims nothing" in verify(certificate, X, problem.y).reason


def test_exact_features_without_a_price_may_be_in_a_family():
    problem = problem_of(Squared(), L1([0.0] + [1.0] * 7))
    content = stated(problem, family(x_error([0.0] + [1e-9] * 7)))
    claims = content["claims"] | {"gap": None, "value": {"lower": None, "upper": None}}
    for name in ("intervals", "free"):
        lower, upper = claims[name]["lower"], claims[name]["upper"]
        claims[name] |= {"lower": [v - 1e-6 for v in lower], "upper": [v + 1e-6 for v in upper]}
    verdict = judged(content | {"claims": claims}, X, problem.y)
    assert verdict, verdict


@pytest.mark.parametrize("penalty", [Ball(2.0), Power(0.2, np.inf)], ids=repr)
def test_balls_have_no_strengths(penalty):
    problem = problem_of(Squared(), penalty=penalty)
    assert "for a ball" in judged(stated(problem, family(strengths=[0.1, 3.0])), X, problem.y).reason


SHAPES = [Square(0.1), Power(0.1, 1.5), LinearSquare(0.1, 0.05), LogBarrier(8.0, 1.0)]


@pytest.fixture(params=SHAPES, ids=repr)
def shaped(request):
    penalty = request.param
    problem = problem_of(Squared(), penalty=penalty)
    here = getattr(penalty, penalty.main)
    asked = {"strengths": (0.99 * here, 1.01 * here), "y_error": 1e-4}
    content = solve(problem, tol=1e-13).certificate(**asked).content()
    assert judged(content, X, problem.y)
    return problem, content


def test_slopes_that_are_too_few(shaped):
    """A narrower range of slopes would not hold those of all strengths, and a wider one would need weaker claims."""
    problem, content = shaped
    low, high = content["family"]["slopes"]
    content["family"]["slopes"] = [low + 0.05 * (high - low), high - 0.05 * (high - low)]
    assert "beyond the stated range of slopes" in judged(content, X, problem.y).reason
    content["family"]["slopes"] = [low - 0.05 * (high - low), high + 0.05 * (high - low)]
    assert not judged(content, X, problem.y)


def test_wider_strengths_have_other_slopes(shaped):
    problem, content = shaped
    low, high = content["family"]["strengths"]
    content["family"]["strengths"] = [low - 0.1 * (high - low), high + 0.1 * (high - low)]
    assert "beyond the stated range of slopes" in judged(content, X, problem.y).reason


SLOPES = {"none": None, "one": [0.2], "falling": [0.4, 0.2]}


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_are_two_rising_numbers(name):
    problem = problem_of(Squared(), penalty=Square(0.1))
    told = family(strengths=[0.09, 0.11]) | ({"slopes": SLOPES[name]} if SLOPES[name] else {})
    assert "need a range of slopes" in judged(stated(problem, told), X, problem.y).reason


def test_strengths_of_linear_name_no_slopes():
    problem = problem_of(Squared())
    told = family(strengths=[0.1, 0.3]) | {"slopes": [0.1, 0.3]}
    assert "not linear" in judged(stated(problem, told), X, problem.y).reason


@pytest.mark.parametrize("claim", ["lower", "upper", "gap"])
def test_values_of_shapes_are_as_claimed(shaped, claim):
    problem, content = shaped
    claims = content["claims"]
    width = claims["value"]["upper"] - claims["value"]["lower"]
    if claim == "gap":
        claims["gap"] *= 0.9
    else:
        claims["value"][claim] += 0.4 * width * (1 if claim == "lower" else -1)
    assert not judged(content, X, problem.y)


BESIDE = {
    "alone": {},
    "groups": {"gauge": Group(GROUPS, [1.0, 1.2, 1.0, 1.5])},
    "ridge": {"ridge": 0.05},
    "errors": {},
    "all": {"gauge": Group(GROUPS), "ridge": 0.05},
}


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("wide", [1e-6, 1e-2])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda v: type(v).__name__)
class TestStrengths:
    """Certificates of the package for a range of strengths; the checker has a line of its own."""

    @staticmethod
    def made(loss, wide, beside):
        name = type(loss).__name__
        weights, penalty = WEIGHTS if wide > 1e-3 else None, Linear(STRENGTHS[name] / 2)
        pieces = {"loss": loss, "penalty": penalty, "sample_weight": weights, "intercept": True} | BESIDE[beside]
        problem = Problem(X, TARGETS[name], **pieces)
        asked = {"strengths": (penalty.strength * (1 - wide), penalty.strength * (1 + wide))}
        if beside in ("errors", "all"):
            asked["x_error"] = wide / 100
        content = solve(problem, tol=1e-13).certificate(**asked).content()
        assert content["claims"]["nonzero"]
        return problem, content, weights

    def test_honest(self, loss, wide, beside):
        problem, content, weights = self.made(loss, wide, beside)
        verdict = judged(content, X, problem.y, weights)
        assert verdict, verdict
        assert "all strengths from" in str(verdict)

    def test_a_wider_range_needs_weaker_claims(self, loss, wide, beside):
        problem, content, weights = self.made(loss, wide, beside)
        low, high = content["family"]["strengths"]
        content["family"]["strengths"] = [low - (high - low), high + (high - low)]
        assert not judged(content, X, problem.y, weights)

    def test_a_narrower_interval_is_refused(self, loss, wide, beside):
        problem, content, weights = self.made(loss, wide, beside)
        intervals = content["claims"]["intervals"]
        middle, half = (
            (intervals["upper"][0] + intervals["lower"][0]) / 2,
            (intervals["upper"][0] - intervals["lower"][0]) / 2,
        )
        intervals["upper"][0] = middle + 0.9 * half
        verdict = judged(content, X, problem.y, weights)
        assert "is too narrow" in verdict.reason

    def test_a_false_zero_is_refused(self, loss, wide, beside):
        problem, content, weights = self.made(loss, wide, beside)
        claims = content["claims"]
        gone = claims["nonzero"].pop()
        labels = np.array(GROUPS if "gauge" in BESIDE[beside] else range(D))
        places = [k for k, j in enumerate(claims["intervals"]["index"]) if labels[j] != gone]
        for name, part in claims["intervals"].items():
            claims["intervals"][name] = [part[k] for k in places]
        assert not judged(content, X, problem.y, weights)


@pytest.mark.parametrize("part", range(3))
def test_what_the_package_claims_follows(part):
    """Random families of all kinds: errors, strengths and both, with groups, prices, signs and ridges."""
    judged_of, refused = Counter(), []
    for number in range(40):
        drawn = draw(np.random.default_rng([part, number]))
        if drawn is None or not drawn.certificate.valid:
            continue
        stored = drawn._stored(drawn.X) if drawn.is_sparse else drawn.X
        given = {name: drawn.pieces[name] for name in ("sample_weight", "free", "offset")}
        verdict = verify(drawn.certificate, stored, drawn.y, **given)
        judged_of.update({*drawn.traits, "all"} & {"all", "strengths", "ridge", "Group", "X"})
        refused += [] if verdict else [(number, drawn.traits, verdict.reason)]
    assert refused == []
    assert judged_of["all"] > 15
    assert min(judged_of[name] for name in ("strengths", "ridge", "Group", "X")) >= 1


def test_columns_have_one_centre():
    """Products and lengths are those of the same columns, in whatever pieces these are read."""
    far = np.random.default_rng(0).standard_normal((301, 20)) + 1e8
    checker = SimpleNamespace(intercept=True)
    pieces = [far, far[:, list(range(20))], np.asfortranarray(far)]
    first, *others = (Checker._centres(checker, piece) for piece in pieces)
    others.append(np.concatenate([Checker._centres(checker, far[:, [j]]) for j in range(20)]))
    assert all(np.array_equal(first, other) for other in others)


@pytest.mark.parametrize("loss", [Logistic(), Poisson()], ids=lambda v: type(v).__name__)
def test_labels_and_counts_are_exact(loss):
    problem = problem_of(loss)
    told = family(y={"relative": False, "values": 0.1})
    assert "only for losses of u - y" in judged(stated(problem, told), X, problem.y).reason


def test_columns_with_errors_depend_on_no_others():
    problem = problem_of(Squared())
    content = proven(problem, family(x_error(1e-6)))
    content["claims"]["dependencies"] = [{"column": 0, "of": [1], "times": [1.0]}]
    assert "only free columns" in judged(content, X, problem.y).reason


def test_coefficients_that_must_not_be_negative():
    problem = problem_of(Squared(), NonNegative())
    content = stated(problem, family(x_error(1e-9)))
    claims, ends = content["claims"], content["claims"]["intervals"]
    claims |= {"gap": None, "value": {"lower": None, "upper": None}}
    free = claims["free"]
    for part in (ends, free):
        part["lower"], part["upper"] = [v - 1e-6 for v in part["lower"]], [v + 1e-6 for v in part["upper"]]
    verdict = judged(content, X, problem.y)
    assert verdict, verdict
