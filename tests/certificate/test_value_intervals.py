"""Every problem has a proven interval for its optimal value, and single atoms can be excluded, whatever the gauge."""

import itertools
import pickle
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from flint import fmpq
from hypothesis import assume, given
from hypothesis import strategies as st
from test_attacks import Sealed
from truth import rational, solve_exactly
from truth_linf import solve_largest

from atomsieve import (
    L1,
    L2,
    Atoms,
    Ball,
    Certificate,
    Group,
    Huber,
    Image,
    Linear,
    LinearSquare,
    LInf,
    LogBarrier,
    Logistic,
    Multinomial,
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
from atomsieve.certificate import certify
from atomsieve.certificate.proof import Proof
from atomsieve.gauges.base import Atom, BlockGauge
from atomsieve.numerics.enclosures import Enclosure
from atomsieve.testing import check_gauge

RNG = np.random.default_rng(0)
X = RNG.standard_normal((14, 4)).round(2)
NOISE = X @ [1.5, -1.0, 0.5, 0.0] + RNG.standard_normal(14).round(2)
WEIGHTS = np.array([1.0, 2, 0, 1, 3, 1, 1, 2, 1, 0.5, 1, 1, 4, 1])
SHIFT = RNG.standard_normal(14).round(1)
FREE = np.arange(14.0)
LOSSES = {
    "Squared": (Squared(), NOISE),
    "Huber": (Huber(0.7), NOISE),
    "Poisson": (Poisson(), RNG.poisson(np.exp(NOISE / 3)).astype(float)),
    "Logistic": (Logistic(), np.sign(NOISE + 0.9 * RNG.standard_normal(14))),
    "SquaredHinge": (SquaredHinge(), np.sign(NOISE + 2 * RNG.standard_normal(14))),
}
PENALTIES = [Linear(0.2), Square(0.3), Ball(0.4), LogBarrier(1.0, 2.0), Power(0.2, 1.5), LinearSquare(0.1, 0.2)]
GIVEN = [{}, {"intercept": True}, {"intercept": True, "free": FREE, "offset": SHIFT, "sample_weight": WEIGHTS}]
SIGNS = [np.array(signs) for signs in itertools.product((-1.0, 1.0), repeat=4)]


def checked(certificate, X, y, given=None):
    """Return the verdict of the checker."""
    told = {key: value for key, value in (given or {}).items() if key != "intercept"}
    return verify(certificate, X, y, **told)


@dataclass(frozen=True, eq=False, repr=False)
class SortedL1(BlockGauge):
    """`kappa(x) = sum_i prices_i |x|_(i)`, largest first: a gauge without blocks, with two bounds of its own."""

    falling: Any

    def check(self, shape):
        pass

    def flat(self, _):
        return self

    def labels(self, shape):
        return np.zeros(shape, dtype=np.intp)

    def scores(self, z):
        return np.array([(np.sort(np.abs(z))[::-1].cumsum() / np.cumsum(self.falling)).max()])

    def sizes(self, x):
        return np.array([np.sort(np.abs(x))[::-1] @ self.falling])

    def atom(self, z, block):
        order = np.argsort(-np.abs(z))
        sums = np.abs(z)[order].cumsum() / np.cumsum(self.falling)
        chosen = order[: int(sums.argmax()) + 1]
        p = np.zeros(len(z))
        p[chosen] = np.where(z[chosen] < 0, -1.0, 1.0) / np.sum(self.falling[: len(chosen)])
        return Atom(slice(None), p, block)

    def spread(self, seminorm, _):
        return self.scores(seminorm.column_norms())

    def spread_bounds(self, norms):
        return self.enclose_scores(Enclosure.exact(norms)).high

    def enclose_sizes(self, x):
        size = (Enclosure.exact(np.sort(np.abs(x))[::-1]) * Enclosure.exact(self.falling)).sum()
        return Enclosure(np.array([size.mid]), np.array([size.rad]))

    def enclose_scores(self, z):
        least, most = np.sort(np.maximum(np.abs(z.mid) - z.rad, 0) * (1 - 1e-15))[::-1], np.sort(z.size)[::-1]
        ends = [
            [Enclosure.exact(part[:k]).sum() / Enclosure.exact(self.falling[:k]).sum() for k in range(1, len(part) + 1)]
            for part in (least, most)
        ]
        low, high = max(float(v.low) for v in ends[0]), max(float(v.high) for v in ends[1])
        return Enclosure.between(np.array([low]), np.array([high]))


OWL = SortedL1(np.array([1.0, 0.7, 0.3, 0.1]))


def optimum(loss, y, penalty, kappa, given):
    """Return the optimal value, from a general solver."""
    x, t, b = cp.Variable(4), cp.Variable(), cp.Variable(2)
    w = given.get("sample_weight", np.ones(14))
    u = X @ x + given.get("offset", np.zeros(14))
    u = u + b[0] * int("intercept" in given) + b[1] * given.get("free", np.zeros(14))
    losses = {
        "Squared": lambda: cp.square(u - y) / 2,
        "Huber": lambda: cp.huber(u - y, 0.7) / 2,
        "Poisson": lambda: cp.exp(u) - cp.multiply(y, u) + (y * np.log(np.maximum(y, 1)) - y),
        "Logistic": lambda: cp.logistic(-cp.multiply(y, u)),
        "SquaredHinge": lambda: cp.square(cp.pos(1 - cp.multiply(y, u))) / 2,
    }
    phi = {
        Linear: lambda p: p.strength * t,
        Square: lambda p: p.strength * cp.square(t) / 2,
        Ball: lambda _: 0.0,
        LogBarrier: lambda p: (-cp.log(1 - t / p.radius) - t / p.radius) / p.sharpness,
        Power: lambda p: p.strength * cp.power(t, p.p) / p.p,
        LinearSquare: lambda p: p.strength * t + p.square * cp.square(t) / 2,
    }
    within = [kappa(x) <= t, t >= 0] + ([t <= penalty.radius] if isinstance(penalty, Ball) else [])
    objective = (w @ losses[type(loss).__name__]()) / w.sum() + phi[type(penalty)](penalty)
    return cp.Problem(cp.Minimize(objective), within).solve(solver="CLARABEL")


KAPPA = {
    "LInf": (LInf(), cp.norm_inf),
    "scaled": (Scaled(LInf(), 0.5), lambda x: cp.norm_inf(x) / 0.5),
    "OWL": (OWL, lambda x: sum(w * cp.sum_largest(cp.abs(x), k) for k, w in enumerate([0.3, 0.4, 0.2, 0.1], 1))),
}


class TestValue:
    @pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
    @pytest.mark.parametrize("name", LOSSES)
    @pytest.mark.parametrize("gauge", KAPPA)
    def test_holds_the_optimum(self, gauge, name, penalty):
        """One kind of data for each problem, in turn: every kind meets every loss and every penalty."""
        given = GIVEN[(list(LOSSES).index(name) + PENALTIES.index(penalty) + list(KAPPA).index(gauge)) % 3]
        loss, y = LOSSES[name]
        measure, kappa = KAPPA[gauge]
        problem = Problem(X, y, loss=loss, gauge=measure, penalty=penalty, **given)
        certificate = solve(problem, tol=1e-9).certificate()
        assert certificate.valid, certificate
        assert 0 <= certificate.primal - certificate.dual <= 2e-8 * problem.baseline
        truth = optimum(loss, y, penalty, kappa, given)
        assert certificate.dual - 1e-6 <= truth <= certificate.primal + 1e-6
        if gauge != "OWL":
            assert checked(certificate, X, y, given).valid

    @given(st.integers(0, 2**32 - 1))
    def test_holds_the_exact_optimum(self, seed):
        case = Largest.draw(seed)
        certificate, truth = case.certificate(), case.truth()
        assume(truth is not None)
        assert rational(certificate.dual) <= truth.value <= rational(certificate.primal)
        assert not (certificate.zero.any() and not truth.empty)
        assert not (certificate.nonzero.any() and truth.empty)
        assert checked(certificate, case.A, case.y, {"sample_weight": case.counts}).valid

    def test_of_a_poor_point(self):
        problem = Problem(X, NOISE, gauge=LInf(), penalty=Square(0.3), intercept=True)
        best = solve(problem, tol=1e-12).certificate()
        for x in (np.zeros(4), np.ones(4), 1e3 * np.ones(4)):
            certificate = certify(problem, x, np.zeros(1))
            assert certificate.dual <= best.dual <= best.primal <= certificate.primal
            assert verify(certificate, X, NOISE).valid

    @pytest.mark.parametrize("gauge", [LInf(), Image(LInf(), np.eye(4)), OWL, Scaled(OWL, 2.0)], ids=type)
    def test_the_critical_slope(self, gauge):
        """All of x is proven zero a hair above it, and not zero below."""
        top = Problem(X, NOISE, gauge=gauge, intercept=True).critical
        for factor, zero in ((1.01, True), (0.9, False)):
            problem = Problem(X, NOISE, gauge=gauge, penalty=Linear(factor * top), intercept=True)
            certificate = solve(problem, tol=1e-12).certificate()
            assert certificate.zero.any() == certificate.zero.all() == zero
            assert certificate.nonzero.any() == (not zero)

    def test_several_classes(self):
        y = np.arange(14) % 3
        for penalty, intercept in itertools.product([Linear(0.01), Square(0.1), Linear(9.0)], [False, True]):
            problem = Problem(X, y, loss=Multinomial(), gauge=LInf(), penalty=penalty, intercept=intercept)
            certificate = solve(problem, tol=1e-9).certificate()
            assert certificate.primal - certificate.dual <= 2e-8 * problem.baseline
            assert certificate.zero.all() == (penalty == Linear(9.0))
            assert verify(certificate, X, y).valid
            # a number added to all classes may leave the largest entry as it is: no sum of a feature is known
            assert certificate.zero.all() or not np.isfinite(certificate.upper).any()

    def test_wide_data_decide_what_saturated_coefficients_leave(self):
        """Four columns of three entries are dependent, but two of the coefficients are proven to be one number."""
        certificate = solve(Problem(X[:3], NOISE[:3], gauge=LInf(), penalty=Square(0.1)), until="decided").certificate()
        assert certificate.nonzero.all()
        assert certificate.facts.saturated.tolist() == [True, False, True, False]
        assert verify(certificate, X[:3], NOISE[:3]).valid

    def test_wide_data_leave_the_coefficients_open(self):
        problem = Problem(X[:3], NOISE[:3], gauge=OWL, penalty=Square(0.1))  # which derives no facts
        certificate = solve(problem, until="decided").certificate()
        assert certificate.undecided.all()
        assert repr(certificate).startswith("Certificate(4 coefficients undecided as a whole; optimal value ")
        assert verify(certificate, X[:3], NOISE[:3]).known is False


@dataclass
class Largest:
    """A small least-squares problem over LInf, and the point at which it is certified."""

    A: np.ndarray
    y: np.ndarray
    counts: np.ndarray
    penalty: object
    x: np.ndarray

    @classmethod
    def draw(cls, seed):
        """Return the problem of a seed; its point is good, poor or far."""
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(1, 6)), int(rng.integers(1, 4))
        A = rng.integers(-3, 4, (n, d)).astype(float) if rng.random() < 0.5 else rng.standard_normal((n, d))
        y = rng.integers(-4, 5, n).astype(float)
        counts = rng.integers(1, 4, n).astype(float) if rng.random() < 0.5 else np.ones(n)
        strength = float(2.0 ** rng.integers(-4, 3))
        penalty = (Linear(strength), Square(strength), Ball(strength))[rng.integers(3)]
        problem = Problem(A, y, gauge=LInf(), penalty=penalty, sample_weight=counts)
        x = solve(problem, tol=1e-12, time_limit=2.0).lifted
        return cls(A, y, counts, penalty, x + rng.choice([0.0, 1e-9, 1e-6, 1e-3, 1.0]) * rng.standard_normal(d))

    def certificate(self):
        problem = Problem(self.A, self.y, gauge=LInf(), penalty=self.penalty, sample_weight=self.counts)
        return certify(problem, self.x, np.zeros(0))

    def truth(self):
        return solve_largest(self.A, self.y, self.penalty, self.counts)

    def lies(self):
        """Return how many atoms are excluded that may have weight in a solution; None where the truth is not known."""
        certificate, truth = self.certificate(), self.truth()
        if truth is None:
            return None
        atoms = [np.array(signs) for signs in itertools.product((-1.0, 0.5, 1.0), repeat=self.A.shape[1])]
        return sum(certificate.excludes(atom) and truth.may_carry(atom) for atom in atoms)


def carriers(result):
    """Return atoms that have weight in a solution."""
    problem, x = result.problem, result.lifted
    core = problem.core
    if core.prices(problem.shape) is not None:
        return [atom.toarray(problem.shape).reshape(problem.lifted.form) for atom in result.active.atoms]
    size = np.abs(x).max()
    if size == 0:
        return []
    scale = 1 / core.value(np.ones(problem.shape))
    sides = [(np.sign(v),) if abs(v) > (1 - 1e-6) * size else (-1.0, 1.0) for v in x.ravel()]
    return [scale * np.array(signs).reshape(problem.lifted.form) for signs in itertools.product(*sides)]


GAUGES = [L1(), L1([1.0, 2.0, 0.5, np.inf]), NonNegative(), Simplex(), Group([0, 0, 1, 1]), L2(), LInf()]
GAUGES += [Scaled(LInf(), 0.5), Image(LInf(), X[:4]), Image(L1(), X[:4, :2]), Atoms(X[:4])]


def false_exclusions(seed):
    """Return how many atoms with weight in a solution are excluded at a poor point, and how many others are."""
    rng = np.random.default_rng(seed)
    gauge, penalty = GAUGES[rng.integers(len(GAUGES))], PENALTIES[rng.integers(len(PENALTIES))]
    loss, y = LOSSES[rng.choice(list(LOSSES))]
    given = dict(GIVEN[rng.integers(3)])
    if rng.random() < 0.2 and not gauge.mapped and "LInf" not in repr(gauge):
        given["ridge"] = 0.2
    if rng.random() < 0.2 and isinstance(loss, Squared | Huber):
        y = np.column_stack([y, y[::-1] / 2])
        given = {key: value for key, value in given.items() if key != "offset"}
    problem = Problem(X, y, loss=loss, gauge=gauge, penalty=penalty, **given)
    best = solve(problem, tol=1e-13, time_limit=5.0)
    away = 10.0 ** rng.integers(-5, 0) * rng.standard_normal(best.lifted.shape)
    certificate = certify(problem, best.lifted + away, best.point.state.coordinates)
    held = carriers(best)
    shape = problem.lifted.form
    others = [
        problem.core.lmo(rng.standard_normal(problem.shape)).toarray(problem.shape).reshape(shape) for _ in "abcd"
    ]
    return sum(map(certificate.excludes, held)), sum(map(certificate.excludes, others))


class TestExclusion:
    @given(st.integers(0, 2**32 - 1))
    def test_of_no_atom_with_weight(self, seed):
        assert false_exclusions(seed)[0] == 0

    @given(st.integers(0, 2**32 - 1))
    def test_against_exact_scores(self, seed):
        assert not Largest.draw(seed).lies()

    @given(st.integers(0, 2**32 - 1))
    def test_against_exact_scores_of_coordinates(self, seed):
        rng = np.random.default_rng(seed)
        A, y = rng.integers(-3, 4, (4, 3)).astype(float), rng.integers(-4, 5, 4).astype(float)
        penalty = (Linear(0.5), Square(0.25), Ball(0.5))[rng.integers(3)]
        ridge = np.full(3, rng.choice([0.0, 0.5]))
        pieces = {"counts": np.ones(4), "prices": np.ones(3), "signed": [True] * 3, "ridge": ridge}
        truth = solve_exactly(A, y, penalty, **pieces)
        assume(truth is not None)
        problem = Problem(A, y, penalty=penalty, ridge=float(ridge[0]))
        start = solve(problem, tol=1e-12).lifted + rng.choice([0.0, 1e-9, 1e-3]) * rng.standard_normal(3)
        certificate = certify(problem, start, np.zeros(0))
        p = rng.integers(-4, 5, 3) / 8
        p = p / max(np.abs(p).sum(), 1.0)
        x = truth.corners[0]
        rest = [rational(t) - sum((rational(a) * v for a, v in zip(row, x)), fmpq(0)) for t, row in zip(y, A)]
        z = [sum((rational(row[j]) * r for row, r in zip(A, rest)), fmpq(0)) for j in range(3)]
        z = [v - 4 * rational(r) * c for v, r, c in zip(z, ridge, x)]
        score = sum((rational(a) * b for a, b in zip(p, z)), fmpq(0))
        carries = any(v != 0 for v in x) and score >= max(map(abs, z))
        assert not (certificate.excludes(p) and carries)

    def test_says_something(self):
        found = [false_exclusions(seed)[1] for seed in range(60)]
        assert sum(found) > 60  # of 240

    def test_a_radius_that_is_too_small_is_noticed(self, monkeypatch):
        radius = Proof.radius.fget
        monkeypatch.setattr(Proof, "radius", property(lambda proof: radius(proof) / 1000))
        assert sum(false_exclusions(seed)[0] > 0 for seed in range(60)) > 10
        assert sum(bool(Largest.draw(seed).lies()) for seed in range(60)) > 3

    def test_of_what_is_proven_zero(self):
        """Several classes: bounds of one coefficient are sharper than those of any direction."""
        problem = Problem(X, np.arange(14) % 3, loss=Multinomial(), penalty=Linear(0.1), intercept=True)
        best = solve(problem, tol=1e-12)
        certificate = certify(problem, 0.9 * best.lifted, best.point.state.coordinates)
        assert certificate.zero.sum() > 4
        for place in np.flatnonzero(certificate.zero):
            atom = np.eye(12)[place].reshape(4, 3)
            assert certificate.excludes(atom)
            assert certificate.excludes(-atom)

    def test_by_the_distance_to_the_best_atom(self):
        """Four of the sign vectors have weight; at a poor point the lengths of the images alone tell four others."""
        problem = Problem(X, NOISE, gauge=LInf(), penalty=Square(0.3))
        best = solve(problem, tol=1e-12)
        certificate = certify(problem, 0.97 * best.lifted, np.zeros(0))
        assert sum(map(certificate.excludes, SIGNS)) == len(SIGNS) - len(carriers(best)) == 12

    def test_of_less_than_an_atom(self):
        """All the weight is on one atom; the same direction with a smaller gauge would cost more."""
        best = solve(Problem(X, NOISE, gauge=Group([0, 0, 1, 1]), penalty=Square(1.0)), tol=1e-12)
        atom = best.lifted / best.problem.core.value(best.lifted)
        assert not best.certificate().excludes(atom)
        assert best.certificate().excludes(0.99 * atom)

    def test_of_a_coefficient_that_another_beats(self):
        """A column that is nearly another: its distance is short, and its own length is not."""
        columns = np.c_[X, X[:, 0] + 0.2 * X[:, 3]]
        problem = Problem(columns, 10 * X[:, 0], penalty=Square(0.5))
        certificate = certify(problem, 0.95 * solve(problem, tol=1e-12).lifted, np.zeros(0))
        assert certificate.zero[4]
        assert certificate.excludes(np.eye(5)[4])

    @pytest.mark.parametrize(
        ("gauge", "atom", "words"),
        [
            (LInf(), np.ones(3), r"atom must have the shape \(4,\) of the coefficients in the certificate, got \(3,\)"),
            (LInf(), [1, 1, np.nan, 0], "atom must hold finite numbers, without NaN"),
            (LInf(), [1, 1, 2, 0], "a gauge of at most 1: its gauge is 2; divide it by that"),
            (LInf(), "north", "atom must be an array of numbers"),
            (L1(), [0.5, 0.5, 0.5, 0], "its gauge is 1.5; divide it by that"),
            (NonNegative(), [-1, 0, 0, 0], r"its gauge is inf\.$"),
            (L1([0, 1, 1, 1]), [1, 0, 0, 0], "atom must be 0 at coefficients without a price"),
        ],
    )
    def test_what_is_no_atom(self, gauge, atom, words):
        certificate = solve(Problem(X, NOISE, gauge=gauge)).certificate()
        with pytest.raises(ValueError, match=words):
            certificate.excludes(atom)

    def test_a_unit_vector_in_floats_is_an_atom(self):
        certificate = solve(Problem(X, NOISE, gauge=L2(), penalty=Linear(0.2)), tol=1e-12).certificate()
        for direction in RNG.standard_normal((50, 4)):
            assert certificate.excludes(direction / np.linalg.norm(direction))

    def test_needs_the_data(self, tmp_path):
        certificate = solve(Problem(X, NOISE, gauge=LInf(), penalty=Linear(0.2))).certificate()
        certificate.save(tmp_path / "certificate.json")
        for copied in (Certificate.load(tmp_path / "certificate.json"), pickle.loads(pickle.dumps(certificate))):  # noqa: S301
            with pytest.raises(ValueError, match=r"excludes\(atom\) needs the data"):
                copied.excludes(np.ones(4))
            assert str(copied) == str(certificate)

    def test_nothing_is_proven_of_a_point_that_is_not_finite(self):
        problem = Problem(X, NOISE, gauge=LInf(), penalty=Linear(0.2))
        assert not certify(problem, np.full(4, np.nan), np.zeros(0)).excludes(np.ones(4))


class TestForgedFiles:
    """Files of gauges without blocks of their own, changed and sealed anew."""

    problem = Problem(X, NOISE, gauge=LInf(), penalty=Linear(0.2), intercept=True)

    def refusal(self, change, problem=problem):
        """Return why a changed certificate is refused; its point is not the best, so that the gap is no rounding."""
        found = solve(problem, tol=1e-12)
        honest = certify(problem, 0.999 * found.lifted, found.point.state.coordinates)
        assert verify(honest, X, NOISE).valid
        verdict = verify(Sealed(honest, change), X, NOISE)
        assert not verdict.valid
        return verdict.reason

    @pytest.mark.parametrize("side", [1, -1])
    def test_values(self, side):
        def narrower(content):
            value = content["claims"]["value"]
            width = value["upper"] - value["lower"]
            value["lower" if side > 0 else "upper"] += side * 0.9 * width

        assert "bound" in self.refusal(narrower)

    def test_gap(self):
        assert "gap" in self.refusal(lambda c: c["claims"].update(gap=c["claims"]["gap"] / 2))

    def test_all_of_x(self):
        def claim_zero(content):
            content["claims"].update(nonzero=[], undecided=[])

        assert "coefficient 0 is claimed zero and carries weight" in self.refusal(claim_zero)
        empty = Problem(X, NOISE, gauge=LInf(), penalty=Linear(1e3), intercept=True)
        nothing = {"index": [0, 1, 2, 3], "lower": [None] * 4, "upper": [None] * 4}
        told = self.refusal(lambda c: c["claims"].update(nonzero=[0], intervals=nothing), empty)
        assert "is not proven non-zero" in told

    def test_intervals(self):
        def narrower(content):
            ends = content["claims"]["intervals"]
            ends["upper"][0] -= 0.9 * (ends["upper"][0] - content["point"]["x"]["value"][0])

        assert "the interval of coefficient 0 is too narrow" in self.refusal(narrower)

    def test_coefficients_of_several_classes(self):
        """A block of l2 norm has coefficients with the sum 0; the largest entry does not fix the sum."""
        y = np.arange(14) % 3
        problem = Problem(X, y, loss=Multinomial(), gauge=LInf(), penalty=Linear(0.01), intercept=True)
        honest = solve(problem, tol=1e-12).certificate()

        def claim(content):
            content["claims"]["intervals"] |= {"lower": [-1e6] * 12, "upper": [1e6] * 12}

        assert verify(honest, X, y).valid
        assert "the interval of coefficient 0 is too narrow" in verify(Sealed(honest, claim), X, y).reason

    def test_the_gauge_of_another_problem(self):
        """The mass of the point is another one, and so is the optimum."""
        for gauge in ({"type": "L2"}, {"type": "Scaled", "gauge": {"type": "LInf"}, "radius": 2.0}):
            assert self.refusal(lambda c, gauge=gauge: c["problem"].update(gauge=gauge))

    def test_a_ridge_that_was_not_there_is_refused(self):
        honest = solve(self.problem).certificate()
        verdict = verify(Sealed(honest, lambda c: c["problem"].update(ridge=1.0)), X, NOISE)
        assert not verdict.valid


OUTER, INNER = RNG.integers(-2, 3, (4, 3)).astype(float), RNG.integers(-2, 3, (3, 5)).astype(float)
TWICE = [
    Image(Image(L1(), INNER), OUTER),
    Image(Scaled(Image(Group([0, 0, 1, 1, 2]), INNER), 2.0), OUTER),
    Image(Atoms(INNER), OUTER),
    Scaled(Image(Image(Image(LInf(), np.eye(5)[:, :2]), INNER), OUTER), 0.5),
    Image(Image(L1([0.0, 1.0, 1.0]), INNER[:, :3]), OUTER),
]


class TestImagesOfImages:
    @pytest.mark.parametrize("gauge", TWICE, ids=repr)
    @pytest.mark.parametrize("given", GIVEN, ids=len)
    def test_are_checked(self, gauge, given):
        certificate = solve(Problem(X, NOISE, gauge=gauge, penalty=Linear(0.1), **given), tol=1e-10).certificate()
        assert certificate.valid
        assert checked(certificate, X, NOISE, given).valid

    def test_are_the_image_under_the_product(self):
        whole, parts = (
            solve(Problem(X, NOISE, gauge=gauge, penalty=Square(0.3)), tol=1e-12).certificate()
            for gauge in (Image(L1(), OUTER @ INNER), TWICE[0])
        )
        assert max(whole.dual, parts.dual) <= min(whole.primal, parts.primal)

    @pytest.mark.parametrize("place", ["inner", "outer"])
    def test_another_matrix_is_refused(self, place):
        honest = solve(Problem(X, NOISE, gauge=TWICE[0], penalty=Linear(0.1)), tol=1e-12).certificate()

        def change(content):
            gauge = content["problem"]["gauge"]
            (gauge if place == "outer" else gauge["gauge"])["matrix"][0][0] += 1.0

        assert not verify(Sealed(honest, change), X, NOISE).valid

    def test_sizes_must_fit(self):
        honest = solve(Problem(X, NOISE, gauge=TWICE[0], penalty=Linear(0.1))).certificate()
        longer = Sealed(honest, lambda c: c["problem"]["gauge"]["gauge"]["matrix"].append([0.0] * 5))
        assert "has 4 rows, and the matrix around it has 3 columns" in verify(longer, X, NOISE).reason

    def test_sums_of_columns_are_checked(self):
        """What is true, or nearly, is accepted; what is not is refused."""
        inner = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
        gauge = Image(Image(L1([1.0, 1.0, 2.0]), inner), OUTER)
        honest = solve(Problem(X, NOISE, gauge=gauge, penalty=Linear(0.01)), tol=1e-12).certificate()
        assert honest.undecided[[0, 2]].all()

        def twice(times):
            found = {"column": 2, "of": [0], "times": [times]}
            return lambda c: c["claims"].update(dependencies=[found], sums=[])

        assert verify(Sealed(honest, twice(2.0)), X, NOISE).valid
        assert "is not the sum" in verify(Sealed(honest, twice(2.0 + 2.0**-8)), X, NOISE).reason
        assert "is too narrow" in verify(Sealed(honest, twice(2.0 + 2.0**-12)), X, NOISE).reason


@pytest.mark.parametrize("gauge", [*GAUGES, Group(), *TWICE], ids=repr)
def test_several_outputs(gauge):
    """Losses, offsets and free columns take turns; all pairs of them meet."""
    for k, (name, data) in enumerate(itertools.product(LOSSES, GIVEN)):
        loss, y = LOSSES[name]
        both = np.column_stack([y, y[::-1]])
        told = dict(data)
        if "offset" in told:
            told["offset"] = np.column_stack([SHIFT, SHIFT[::-1]])
        penalty = PENALTIES[k % len(PENALTIES)]
        certificate = solve(Problem(X, both, loss=loss, gauge=gauge, penalty=penalty, **told), tol=1e-8).certificate()
        assert certificate.valid, (name, told, certificate)
        assert checked(certificate, X, both, told).valid


def test_free_columns_of_an_image_and_an_intercept():
    """Such columns have rounding errors, and cannot be compared exactly with the constant."""
    problem = Problem(X, NOISE, gauge=Image(L1([0.0, 1.0, 1.0]), OUTER), penalty=Linear(0.1), intercept=True)
    certificate = solve(problem, tol=1e-12).certificate()
    assert certificate.valid
    assert verify(certificate, X, NOISE).valid


def test_a_gauge_of_ones_own_keeps_the_laws():
    check_gauge(OWL, (4,))


def test_bounds_that_are_none_break_a_law():
    class Low(SortedL1):
        def enclose_scores(self, z):
            return Enclosure.exact(0.9 * self.scores(z.mid))

    with pytest.raises(AssertionError, match="enclose_scores must hold the scores"):
        check_gauge(Low(OWL.falling), (4,))
