"""Gauges over combinatorial atoms: oracles, bounds, values and facts against naive enumeration, optima against cvxpy,
certificates against the truth, and the checker against forgers.
"""

import itertools
import json
from unittest.mock import patch

import cvxpy as cp
import numpy as np
import pytest
from combinatorial_cases import CASES
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from atomsieve import (
    Ball,
    BasePolytope,
    Birkhoff,
    Certificate,
    Coverage,
    Linear,
    Logistic,
    PathsInDAG,
    Permutahedron,
    Problem,
    Scaled,
    Shifted,
    SpanningTrees,
    Square,
    Squared,
    solve,
    verify,
)
from atomsieve.certificate.file import seal
from atomsieve.certificate.proof import Proof
from atomsieve.gauges.facts import Evidence
from atomsieve.testing import check_gauge, check_oracle

KINDS = pytest.mark.parametrize("kind", CASES)
# linear programs, thousands of them, are slow
SLOW = pytest.mark.parametrize("kind", [pytest.param(k, marks=[pytest.mark.deep] * (k == "lovasz")) for k in CASES])
PENALTIES = [Linear(0.15), Square(0.3), Ball(0.8)]
seeds = st.integers(0, 10**6)


def draw(case, loss, seed, n=None):
    """Return data with a signal that two atoms carry."""
    rng = np.random.default_rng(seed)
    n = n or 2 * case.d
    X = rng.standard_normal((n, case.d))
    x = case.atoms @ np.where(np.isin(np.arange(case.atoms.shape[1]), rng.integers(case.atoms.shape[1], size=2)), 1, 0)
    signal = X @ x + 0.5 * rng.standard_normal(n)
    return X, np.sign(signal) if isinstance(loss, Logistic) else signal


def optimum(case, X, y, loss, penalty):
    """Return the optimal value and a solution, by an interior point method over all atoms."""
    c = cp.Variable(case.atoms.shape[1], nonneg=True)
    u = X @ case.atoms @ c
    losses = cp.square(u - y) / 2 if isinstance(loss, Squared) else cp.logistic(-cp.multiply(y, u))
    mass, limits = cp.sum(c), []
    if isinstance(penalty, Ball):
        added, limits = 0.0, [mass <= penalty.radius]
    else:
        added = penalty.strength * (mass if isinstance(penalty, Linear) else cp.square(mass) / 2)
    program = cp.Problem(cp.Minimize(cp.sum(losses) / len(y) + added), limits)
    program.solve(solver=cp.CLARABEL, **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-9))
    return float(program.value), case.atoms @ c.value, float(mass.value)


@KINDS
@settings(max_examples=25)
@given(seed=seeds)
def test_the_oracle_finds_the_best_of_all_atoms(kind, seed):
    case, rng = CASES[kind](seed), np.random.default_rng(seed)
    z = rng.normal(size=case.d) if seed % 3 else np.round(2 * rng.normal(size=case.d))
    err = 0.3 * rng.random(case.d)
    assert case.gauge.support(z) == pytest.approx(case.sigma(z), abs=1e-12)
    highest = case.atoms.T @ z + np.abs(case.atoms.T) @ err
    assert highest.max() - 1e-13 <= case.gauge.bound(z, err)  # the numbers on the left are rounded
    assert case.gauge.bound(z, 0 * err) == pytest.approx((case.atoms.T @ z).max(), abs=1e-9)
    known = {tuple(atom) for atom in case.atoms.T.round(9)}
    core = case.gauge.made(case.d)
    for atom in core.more(z, 5):
        assert tuple(atom.toarray((case.d,)).round(9)) in known


@SLOW
@pytest.mark.parametrize("seed", range(2))
def test_laws(kind, seed):
    case = CASES[kind](seed)
    check_oracle(case.gauge.oracle, (case.d,), seed=seed)
    check_gauge(case.gauge, (case.d,), seed=seed)
    check_gauge(Scaled(case.gauge, 0.3), (case.d,), seed=seed)


@KINDS
@settings(max_examples=25)
@given(seed=seeds)
def test_the_gauge_is_that_of_the_cheapest_combination(kind, seed):
    case, rng = CASES[kind](seed), np.random.default_rng(seed)
    count = case.atoms.shape[1]
    x = case.atoms @ (rng.random(count) * (rng.random(count) < 3 / count))
    cheapest = linprog(np.ones(count), A_eq=case.atoms, b_eq=x, method="highs")
    assert case.gauge.value(x) == pytest.approx(cheapest.fun, abs=1e-7)
    outside = x + rng.normal(size=case.d)
    cheapest = linprog(np.ones(count), A_eq=case.atoms, b_eq=outside, method="highs")
    expected = cheapest.fun if cheapest.status == 0 else np.inf
    assert case.gauge.value(outside) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("kind", ["paths", "birkhoff", "trees"])
@settings(max_examples=40)
@given(seed=seeds, part=st.sampled_from([0.5, 0.9, 0.99, 1.0]))
def test_facts_are_those_of_all_atoms_that_reach_the_slope(kind, seed, part):
    """For every z* between bounds: what an atom can score at most decides."""
    case, rng = CASES[kind](seed), np.random.default_rng(seed)
    z, away = rng.normal(size=case.d), 0.1 * rng.random(case.d)
    best = float((case.atoms.T @ z).max())
    slope = best - (1 - part) * abs(best)
    evidence = evidence_of(z, away, slope)
    left = case.atoms[:, case.atoms.T @ (z + away) >= slope - 1e-12]
    facts = case.gauge.made(case.d).decide(evidence)
    assert facts.zero.tolist() == (left == 0).all(axis=1).tolist()
    assert facts.saturated.tolist() == (left == 1).all(axis=1).tolist()


def evidence_of(z, away, slope):
    least, most = np.maximum(np.abs(z) - away, 0.0), np.abs(z) + away
    unknown = np.zeros(1), np.full(1, np.inf)
    signs = np.where(least > 0, np.sign(z), 0.0)
    return Evidence(least, most, signs, unknown, (slope, np.inf), (z - away, z + away))


@KINDS
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=repr)
def test_agrees_with_an_interior_point_method(kind, loss, penalty):
    for seed in range(3):
        case = CASES[kind](seed)
        X, y = draw(case, loss, seed)
        value, x, _ = optimum(case, X, y, loss, penalty)
        result = solve(Problem(X, y, loss=loss, gauge=case.gauge, penalty=penalty), tol=1e-10)
        assert result.converged
        assert result.objective == pytest.approx(value, abs=1e-7)
        assert result.x == pytest.approx(x, abs=1e-3)
        certificate = result.certificate()
        assert certificate.valid
        assert certificate.dual - 1e-7 <= value <= certificate.primal + 1e-7
        assert certificate.primal - certificate.dual <= 1e-8
        assert verify(certificate, X, y).valid, verify(certificate, X, y).reason


def false_claims(kind, seeds):
    """Return how many claims are made at points of several qualities, and those that are false."""
    told, wrong = 0, 0
    for seed, penalty, loss in itertools.product(seeds, PENALTIES, [Squared(), Logistic()]):
        case = CASES[kind](seed)
        X, y = draw(case, loss, seed)
        _, x, mass = optimum(case, X, y, loss, penalty)
        room = 3e-4 * (mass + 0.01)
        for tol in (0.3, 1e-2, 1e-4):
            result = solve(Problem(X, y, loss=loss, gauge=case.gauge, penalty=penalty), tol=tol)
            certificate = result.certificate()
            facts = certificate.facts
            if not certificate.valid:
                continue
            claims = [np.abs(x[certificate.zero]) <= room, np.abs(x[certificate.nonzero]) > 1e-5 * mass]
            claims += [np.abs(x - mass)[facts.saturated] <= room] if case.marked else []
            claims += [certificate.lower <= x + room, x - room <= certificate.upper, (facts.signs * x) >= -room]
            claims += [case.order_holds(x, mass, facts, room)]
            told += sum(len(claim) for claim in claims)
            wrong += sum(int((~claim).sum()) for claim in claims)
    return told, wrong


@SLOW
def test_claims_are_true(kind):
    told, wrong = false_claims(kind, range(2))
    assert told > 300
    assert wrong == 0


@SLOW
def test_claims_with_a_smaller_radius_are_false(kind):
    """The test above is able to fail."""
    honest = Proof.radius.fget
    with patch.object(Proof, "radius", property(lambda proof: 0.02 * honest(proof))):
        assert false_claims(kind, range(2))[1] > 0


class Sealed:
    """What a forger hands in."""

    def __init__(self, certificate, change):
        self.told = json.loads(json.dumps(certificate.content()))
        change(self.told)
        self.told["seal"] = seal(self.told)

    def content(self):
        return self.told


def zero_more(told):
    told["claims"]["undecided"], told["claims"]["nonzero"] = [], told["claims"]["nonzero"][1:]


def raise_the_optimum(told):
    told["claims"]["value"]["lower"] = told["claims"]["value"]["upper"]
    told["claims"]["gap"] = 0.0


def lower_the_weights(told):
    for atom in told["point"]["atoms"]:
        atom["weight"] *= 0.5


def another_x(told):
    told["point"]["x"]["value"][0] += 0.01


def no_atoms(told):
    told["point"]["atoms"] = []


def a_half_atom(told):
    told["point"]["atoms"][0]["places"] = told["point"]["atoms"][0]["places"][:-1]


def an_atom_out_of_range(told):
    told["point"]["atoms"][0]["places"][-1] = 10**6


def an_atom_twice_over(told):
    told["point"]["atoms"][0]["places"] += told["point"]["atoms"][0]["places"][-1:]


FORGERIES = [
    zero_more,
    raise_the_optimum,
    lower_the_weights,
    another_x,
    no_atoms,
    a_half_atom,
    an_atom_out_of_range,
    an_atom_twice_over,
]


@KINDS
@pytest.mark.parametrize("change", FORGERIES, ids=lambda change: change.__name__)
def test_forgeries_are_refused(kind, change):
    case = CASES[kind](1)
    X, y = draw(case, Squared(), 1)
    certificate = solve(Problem(X, y, gauge=case.gauge, penalty=Square(0.3)), tol=1e-10).certificate()
    assert certificate.atoms
    assert verify(certificate, X, y).valid
    assert not verify(Sealed(certificate, change), X, y).valid


@KINDS
def test_until_decided(kind):
    """A run that goes on until everything is decided, with weights and an intercept."""
    case = CASES[kind](1)
    X, y = draw(case, Squared(), 1, 40)
    weights = np.random.default_rng(0).random(40) + 0.5
    problem = Problem(X, y, gauge=case.gauge, penalty=Square(0.2), intercept=True, sample_weight=weights)
    result = solve(problem, tol=1e-2, until="decided")
    certificate = result.certificate()
    assert certificate.valid
    if not isinstance(case.gauge, BasePolytope):  # an entry may be 0 there, which is not proven
        assert not certificate.undecided.any()
    assert verify(certificate, X, y, sample_weight=weights).valid


def test_facts_of_sets_are_those_of_all_that_reach_the_slope():
    decided = 0
    for seed in range(30):
        case, rng = CASES["lovasz"](seed), np.random.default_rng(seed)
        z, away = rng.normal(size=case.d), 0.05 * rng.random(case.d)
        slope = (0.9, 0.99, 1.0)[seed % 3] * case.sigma(z)
        facts = case.gauge.made(case.d).decide(evidence_of(z, away, slope))
        left = case.atoms[:, np.abs(case.atoms.T) @ (np.abs(z) + away) >= slope * (1 - 1e-9)]
        assert not (facts.zero & (left != 0).any(axis=1)).any()
        assert not (facts.nonzero & (left == 0).any(axis=1)).any()
        decided += facts.zero.sum() + facts.nonzero.sum()
    assert decided > 30


@KINDS
def test_files_and_scales(kind, tmp_path):
    case = CASES[kind](2)
    X, y = draw(case, Squared(), 2)
    certificate = solve(Problem(X, y, gauge=Scaled(case.gauge, 0.5), penalty=Square(0.1)), tol=1e-10).certificate()
    certificate.save(tmp_path / "proof.json")
    assert verify(tmp_path / "proof.json", X, y).valid
    again = Certificate.load(tmp_path / "proof.json")
    assert again.atoms == certificate.atoms
    assert again.facts.saturated.tolist() == certificate.facts.saturated.tolist()
    weights = sum(atom["weight"] for atom in again.atoms)
    assert case.gauge.value(again.x) / 0.5 == pytest.approx(weights)


class TestPaths:
    def test_a_saturated_edge_is_forged(self):
        case = CASES["paths"](1)
        X, y = draw(case, Squared(), 1)
        certificate = solve(Problem(X, y, gauge=case.gauge, penalty=Square(0.1)), tol=1e-10).certificate()
        others = np.flatnonzero(certificate.nonzero & ~certificate.facts.saturated).tolist()
        assert others

        def change(told):
            told["claims"]["facts"]["saturated"] = others[:1]

        assert not verify(Sealed(certificate, change), X, y).valid

        def order(told):
            told["claims"]["facts"]["order"] = [others[:1], others[1:2]]

        assert not verify(Sealed(certificate, order), X, y).valid

    def test_one_path_is_all(self):
        gauge = PathsInDAG([(0, 1), (1, 2), (2, 3)], 0, 3)
        X, y = np.eye(3), np.array([1.0, 2.0, 3.0])
        certificate = solve(Problem(X, y, gauge=gauge, penalty=Linear(0.1)), tol=1e-12).certificate()
        assert certificate.facts.saturated.all()
        assert certificate.nonzero.all()
        assert certificate.lower == pytest.approx(np.full(3, 1.9), abs=1e-4)

    @pytest.mark.parametrize(
        ("edges", "source", "target", "message"),
        [
            ([(0, 1), (1, 2), (2, 0)], 0, 2, "cycle"),
            ([(0, 1), (2, 3)], 0, 3, "no path"),
            ([(0, 1)], 0, 7, "target must be a node"),
            ([(0, 1)], 0, 0, "two nodes"),
            ([0, 1], 0, 1, "list of pairs"),
        ],
    )
    def test_bad_graphs_are_refused(self, edges, source, target, message):
        with pytest.raises(ValueError, match=message):
            PathsInDAG(edges, source, target)

    def test_sizes_must_fit(self):
        with pytest.raises(ValueError, match="measures 2 coefficients"):
            Problem(np.eye(3), np.ones(3), gauge=PathsInDAG([(0, 1), (1, 2)], 0, 2))


class TestTheSetItself:
    """x in P, not only in the hull of P and 0: `Shifted` with `Ball(1)`."""

    @pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=repr)
    @pytest.mark.parametrize("kind", ["birkhoff", "permutahedron"])
    def test_agrees_with_an_interior_point_method(self, kind, loss):
        for seed in range(3):
            case = CASES[kind](seed)
            X, y = draw(case, loss, seed)
            c = cp.Variable(case.atoms.shape[1], nonneg=True)
            u = X @ case.atoms @ c
            losses = cp.square(u - y) / 2 if isinstance(loss, Squared) else cp.logistic(-cp.multiply(y, u))
            program = cp.Problem(cp.Minimize(cp.sum(losses) / len(y)), [cp.sum(c) == 1])
            program.solve(solver=cp.CLARABEL, **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-9))
            gauge = Shifted(case.gauge, by=case.atoms[:, 0])
            problem = Problem(X, y, loss=loss, gauge=gauge, penalty=Ball(1.0), offset=gauge.offset(X))
            result = solve(problem, tol=1e-10)
            assert result.objective == pytest.approx(program.value, abs=1e-7)
            assert case.gauge.value(gauge.point(result.x)) == pytest.approx(1.0)
            certificate = result.certificate()
            assert certificate.valid
            assert certificate.dual - 1e-7 <= program.value <= certificate.primal + 1e-7

    def test_a_matrix_of_assignments(self):
        rng = np.random.default_rng(0)
        X, truth = rng.standard_normal((60, 16)), np.eye(4)[[2, 0, 3, 1]]
        gauge = Shifted(Birkhoff(4), by=np.eye(4))
        problem = Problem(X, X @ truth.ravel(), gauge=gauge, penalty=Ball(1.0), shape=(4, 4), offset=gauge.offset(X))
        result = solve(problem, tol=1e-12)
        assert gauge.point(result.x) == pytest.approx(truth, abs=1e-5)


class TestBadInput:
    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: Birkhoff(0), "whole number"),
            (lambda: Birkhoff(2.5), "whole number"),
            (lambda: Permutahedron([0.0, 0.0]), "must not be 0"),
            (lambda: Permutahedron([[1.0]]), "one list"),
            (lambda: SpanningTrees([(0, 0)]), "two nodes"),
            (lambda: SpanningTrees([(0, 1), (2, 3)]), "connected"),
            (lambda: SpanningTrees([1, 2]), "list of pairs"),
            (lambda: Shifted(Birkhoff(2)), "point of P"),
        ],
    )
    def test_is_refused_in_a_sentence(self, make, message):
        with pytest.raises(ValueError, match=message):
            make()


def test_tight_sums_are_forged():
    case = CASES["permutahedron"](0)
    X, y = draw(case, Squared(), 0)
    certificate = solve(Problem(X, y, gauge=case.gauge, penalty=Square(0.3)), tol=1e-4).certificate()
    assert certificate.facts.tight
    assert verify(certificate, X, y).valid
    assert "Tight sums" in str(certificate)
    order = np.argsort(case.gauge.best(X.T @ y).order).tolist()

    def change(told):
        told["claims"]["facts"]["tight"] = [[j] for j in order[::-1][:3]]

    assert not verify(Sealed(certificate, change), X, y).valid


class TestFunctionsOfOnesOwn:
    """f(S) = sqrt(|S|) or a cut, which may fall: what is certified is not what a checker knows."""

    @pytest.mark.parametrize("seed", range(3))
    def test_a_cut_agrees_with_its_corners(self, seed):
        rng = np.random.default_rng(seed)
        joined = np.triu(rng.random((4, 4)), 1)

        def function(chosen):
            inside = np.isin(np.arange(4), chosen)
            across = joined[np.ix_(inside, ~inside)].sum() + joined[np.ix_(~inside, inside)].sum()
            return float(across + 2 * inside.sum())

        gauge = BasePolytope(function, 4)
        corners = []
        for order in itertools.permutations(range(4)):
            values = [function(list(order[:k])) if k else 0.0 for k in range(5)]
            corners.append(np.diff(values)[np.argsort(order)])
        corners = np.array(corners)
        check_oracle(gauge.oracle, (4,), seed=seed)
        for _ in range(20):
            z, err = rng.normal(size=4), rng.random(4)
            assert gauge.support(z) == pytest.approx(max((corners @ z).max(), 0.0))
            assert (corners @ z + np.abs(corners) @ err).max() <= gauge.bound(z, err) + 1e-13
        X, y = rng.standard_normal((20, 4)), rng.standard_normal(20)
        certificate = solve(Problem(X, y, gauge=gauge, penalty=Ball(0.1)), tol=1e-10).certificate()
        assert certificate.valid
        verdict = verify(certificate, X, y)
        assert not verdict.valid
        assert "not known to this checker" in verdict.reason

    def test_what_is_no_function_is_refused(self):
        with pytest.raises(TypeError, match="Coverage or a function"):
            BasePolytope(3.0)
        with pytest.raises(ValueError, match="number of elements"):
            BasePolytope(len)
        with pytest.raises(ValueError, match="every element must cover"):
            Coverage([[0], []])
        with pytest.raises(ValueError, match="one positive number"):
            Coverage([[0], [1]], [1.0, -1.0])
