"""Facts about single coefficients: slow twins of every rule, exact cases, certificates, files and forgeries."""

import itertools
import json
from dataclasses import replace
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from facts_built import build, judge_facts, try_facts
from hypothesis import given, settings
from hypothesis import strategies as st
from judge import Tally, cut, start_of
from test_attacks import Sealed

from atomsieve import (
    OSCAR,
    OWL,
    SLOPE,
    Ball,
    Certificate,
    KSparse,
    KSupport,
    Linear,
    LInf,
    LogBarrier,
    Logistic,
    Problem,
    Scaled,
    Square,
    solve,
    verify,
)
from atomsieve.certificate import certify, nothing
from atomsieve.certificate.file import seal
from atomsieve.certificate.pattern import Pattern
from atomsieve.gauges.facts import Evidence, Facts
from atomsieve.numerics.enclosures import Enclosure

RNG = np.random.default_rng(3)
X = RNG.standard_normal((20, 30))
X[:, 1] = X[:, 0] + 0.05 * RNG.standard_normal(20)
Y = X[:, :6] @ [2.0, 2.0, 2.0, -1.0, -1.0, 0.5] + 0.1 * RNG.standard_normal(20)


def reaching(gauge, evidence):
    """Yield all sets of entries whose atoms can have the best score: the specification, in fractions."""
    most, slope = [Fraction(v) for v in evidence.most.tolist()], Fraction(evidence.slope[0])
    weights = [Fraction(w) for w in gauge.weights.tolist()]
    for size in range(1, len(most) + 1):
        for chosen in itertools.combinations(range(len(most)), size):
            if sum(most[j] for j in chosen) >= slope * sum(weights[:size]):
                yield set(chosen)


def largest(evidence, k):
    """Yield all sets of k entries that are the largest of some |z*| between the bounds."""
    least, most = evidence.least.tolist(), evidence.most.tolist()
    for chosen in itertools.combinations(range(len(most)), min(k, len(most))):
        others = set(range(len(most))) - set(chosen)
        if all(most[i] >= least[j] for i in chosen for j in others):
            yield set(chosen)


grid = st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.25, 3.0, 4.0, 5.5])
brackets = st.lists(
    st.tuples(grid, st.sampled_from([0.0, 0.0, 0.25, 1.0]), st.sampled_from([-1.0, 1.0])), min_size=1, max_size=6
)


def evidence_of(bracket, slope):
    least, more, signs = (np.array(part) for part in zip(*bracket, strict=True))
    unknown = np.zeros(1), np.full(1, np.inf)
    return Evidence(least, least + more, np.where(least > 0, signs, 0.0), unknown, (slope, np.inf))


@settings(max_examples=100)
@given(brackets, st.lists(grid, min_size=6, max_size=6), st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0]))
def test_owl_rules_are_those_of_all_sets(bracket, weights, slope):
    weights = np.sort(weights)[::-1][: len(bracket)].copy()
    weights[0] += 0.5
    gauge, evidence = OWL(weights), evidence_of(bracket, slope)
    facts, d = gauge.decide(evidence), len(bracket)
    sets = list(reaching(gauge, evidence))
    known = evidence.signs != 0
    assert facts.zero.tolist() == [all(j not in s for s in sets) for j in range(d)]
    assert facts.nonzero.tolist() == [bool(known[j]) and all(j in s for s in sets) for j in range(d)]
    for i, j in itertools.combinations(range(d), 2):
        together = all((i in s) == (j in s) for s in sets)
        same = facts.clusters[i] >= 0 and facts.clusters[i] == facts.clusters[j]
        assert not same or together
        if together and known[[i, j]].all() and not facts.zero[[i, j]].any():
            between = (evidence.most - evidence.most[i]) * (evidence.most - evidence.most[j]) <= 0
            assert same or not known[between].all()  # an entry of unknown sign may stand between them


@settings(max_examples=100)
@given(brackets, st.integers(1, 7))
def test_rules_of_the_largest_entries_are_those_of_all_sets(bracket, k):
    evidence, d = evidence_of(bracket, 1.0), len(bracket)
    sets = list(largest(evidence, k))
    never = [all(j not in s for s in sets) for j in range(d)]
    always = [bool(evidence.least[j] > 0) and all(j in s for s in sets) for j in range(d)]
    strictly = [evidence.least[j] > 0 and sum(evidence.most >= evidence.least[j]) <= k for j in range(d)]
    for gauge in (KSupport(k), KSparse(k), *([LInf()] if k >= d else [])):
        facts = gauge.decide(evidence)
        assert (~facts.zero | never).all()
        assert (~facts.nonzero | always).all()
        assert facts.nonzero.tolist() == strictly
        assert facts.saturated.tolist() == (strictly if not isinstance(gauge, KSupport) else [False] * d)
        assert facts.zero.tolist() == [sum(evidence.least > evidence.most[j]) >= k for j in range(d)]


@settings(max_examples=60)
@given(brackets)
def test_tiers_are_in_the_order_of_z(bracket):
    evidence = evidence_of(bracket, 0.0)
    for gauge in (OWL(np.ones(len(bracket))), KSupport(2), KSparse(2)):
        facts = gauge.decide(evidence)
        for a, b in itertools.pairwise(facts.order):
            assert evidence.least[a].min() > evidence.most[b].max()
        for i, j in itertools.permutations(np.flatnonzero(~facts.zero), 2):
            assert facts.tiers[i] >= facts.tiers[j] or facts.tiers[i] < facts.tiers[j]
            if facts.tiers[i] < facts.tiers[j]:
                assert evidence.least[i] > evidence.most[j]


@settings(max_examples=60)
@given(brackets, st.floats(0.01, 100), st.floats(0.01, 10))
def test_scaled_rules_are_those_of_the_gauge(bracket, radius, slope):
    """Atoms and slope times a number: the same facts, or fewer where rounding decides."""
    inner = OWL(np.arange(len(bracket), 0, -1.0))
    plain, scaled = (
        inner.decide(evidence_of(bracket, slope)),
        Scaled(inner, radius).decide(evidence_of(bracket, slope * radius)),
    )
    assert (plain.zero | ~scaled.zero).all() or (scaled.zero | ~plain.zero).all()
    wide = inner.decide(evidence_of(bracket, slope * (1 - 1e-12)))
    assert (scaled.zero | ~wide.zero).all()


@settings(max_examples=100)
@given(st.lists(st.floats(-4, 4), min_size=1, max_size=8), st.floats(0, 0.5))
def test_evidence_covers_every_z_around(values, away):
    z = np.array(values)
    evidence = Evidence.around(Enclosure(z, np.full(len(z), 1e-3)), np.full(len(z), away), (z, z), (0.0, 1.0))
    for moved in (-1, -0.5, 0.7, 1):
        other = z + moved * (away + 1e-3)
        assert (evidence.least <= np.abs(other)).all()
        assert (np.abs(other) <= evidence.most).all()
        assert (other * evidence.signs >= 0).all()


def test_rounding_never_helps():
    """A sum that is a bit below what it needs, by less than the bound of its rounding, proves nothing."""
    d = 50
    gauge = OWL(np.ones(d))
    z = np.full(d, 1 - 2.0**-53)
    facts = gauge.decide(Evidence(z, z, np.ones(d), (np.zeros(1), np.ones(1)), (1.0, 1.0)))
    assert not facts.zero.any()
    assert gauge.decide(Evidence(z, z, np.ones(d), (np.zeros(1), np.ones(1)), (1 + 1e-12, 2.0))).zero.all()


class TestFacts:
    facts = replace(
        Facts.none(6),
        zero=np.array([0, 0, 0, 0, 0, 1], dtype=bool),
        signs=np.array([1.0, -1, 1, -1, 0, 0]),
        clusters=np.array([0, 0, 0, 1, -1, -1]),
    )

    def test_a_fitted_point_has_the_zeros_and_the_clusters(self):
        x = self.facts.fitted(np.array([3.0, -1, 2, 5, 7, 1]))
        np.testing.assert_array_equal(x, [2.0, -2, 2, 0, 7, 0])
        np.testing.assert_array_equal(self.facts.fitted(x), x)

    def test_equal_numbers_are_not_rounded(self):
        x = np.array([0.1, -0.1, 0.1, 0, 0, 0])
        np.testing.assert_array_equal(self.facts.fitted(x), x)

    def test_what_a_point_does_not_have_is_dropped(self):
        left = self.facts.held_by(np.array([3.0, -3, 3.5, -1, 0, 2]))
        assert left.zero.tolist() == [False] * 6
        assert left.clusters.tolist() == [-1, -1, -1, 1, -1, -1]

    def test_the_pattern_adds_up_columns_with_signs(self):
        columns = np.random.default_rng(0).standard_normal((4, 7))
        pattern = Pattern.of(~self.facts.zero, self.facts)
        assert pattern.heads.tolist() == [0, 3, 4]
        folded = pattern.folded(Enclosure.exact(columns[:, :6]), 1)
        expected = np.stack(
            [columns[:, 0], columns[:, 1] - columns[:, 2] + columns[:, 3], columns[:, 4], columns[:, 5]], axis=1
        )
        assert (np.abs(folded.mid - expected) <= folded.rad + 1e-300).all()
        assert (folded.rad < 1e-14).all()
        assert not folded.rad[:, [0, 2, 3]].any()


class TestExactCases:
    """A = I: the solution is the prox."""

    @staticmethod
    def certificate(gauge, y, tol=1e-14):
        y = np.array(y, dtype=float)
        return solve(Problem(np.eye(len(y)), y, gauge=gauge, penalty=Linear(1 / len(y))), tol=tol).certificate()

    def test_owl_with_four_sizes(self):
        certificate = self.certificate(OWL([4, 3, 2, 1]), [8, 6, 4, 2])
        assert certificate.nonzero.all()
        assert (certificate.lower <= [4, 3, 2, 1]).all()
        assert (certificate.upper >= [4, 3, 2, 1]).all()
        assert [tier.tolist() for tier in certificate.facts.order] == [[0], [1], [2], [3]]

    def test_owl_with_a_cluster_and_zeros(self):
        certificate = self.certificate(OWL([4, 3, 2, 1]), [5, -5, 1, 0])
        assert certificate.zero.tolist() == [False, False, True, True]
        assert certificate.nonzero.tolist() == [True, True, False, False]
        assert [cluster.tolist() for cluster in certificate.facts.sets] == [[0, 1]]
        assert certificate.facts.signs.tolist() == [1, -1, 0, 0]
        np.testing.assert_allclose(certificate.lower[:2], [1.5, -1.5], atol=1e-6)
        assert "2 features share one absolute value: x0, -x1." in str(certificate)

    def test_k_support_with_a_tie(self):
        """At a tie for the last place neither rule decides, and intervals do."""
        certificate = self.certificate(KSupport(2), [5.0, 3.0, 3.0, 0.5])
        assert certificate.zero.tolist() == [False, False, False, True]
        assert certificate.nonzero.tolist() == [True, True, True, False]

    def test_k_sparse_saturates(self):
        """Two entries share what the norm takes away, 1 in all, until they are equal: 4.25."""
        certificate = self.certificate(KSparse(2), [5.0, -4.5, 0.1, 0.05])
        assert certificate.facts.saturated.tolist() == [True, True, False, False]
        assert [cluster.tolist() for cluster in certificate.facts.sets] == [[0, 1]]
        assert certificate.zero.tolist() == [False, False, True, True]
        np.testing.assert_allclose(certificate.x, [4.25, -4.25, 0, 0], atol=1e-7)

    def test_linf_saturates_and_leaves_the_others(self):
        certificate = self.certificate(LInf(), [5.0, -4.5, 1.0, 0.5])
        assert certificate.facts.saturated.tolist() == [True, True, False, False]
        np.testing.assert_allclose(certificate.x, [4.25, -4.25, 1.0, 0.5], atol=1e-7)
        assert "2 features saturated, of the largest absolute value of all: x0, -x1." in str(certificate)


PIECES = [OSCAR(0.5, 0.02), SLOPE(0.1), KSupport(3), KSparse(4), LInf(), Scaled(OSCAR(0.5, 0.02), 2.0)]


class TestCertificates:
    @pytest.mark.parametrize("gauge", PIECES, ids=lambda gauge: type(gauge).__name__)
    @pytest.mark.parametrize("penalty", [Linear(0.3), Square(0.1)], ids=str)
    def test_all_is_decided_where_the_columns_are_dependent(self, gauge, penalty, tmp_path):
        """30 columns of 20 entries: intervals follow from the pattern alone, and the checker derives them too."""
        problem = Problem(X, Y, gauge=gauge, penalty=penalty, intercept=True)
        certificate = solve(problem, tol=1e-12).certificate()
        assert certificate.zero.shape == (30,)
        assert not certificate.undecided.any()
        assert np.isfinite(certificate.upper - certificate.lower).all()
        verdict = verify(certificate, X, Y)
        assert verdict, verdict
        certificate.save(tmp_path / "certificate.json")
        again = Certificate.load(tmp_path / "certificate.json")
        assert str(again) == str(certificate)
        assert again.content()["claims"] == certificate.content()["claims"]

    def test_verdicts_are_those_of_features(self):
        certificate = solve(Problem(X, Y, gauge=KSupport(3), penalty=Linear(0.3)), tol=1e-12).certificate()
        frame = certificate.to_frame()
        assert (frame.verdict == np.where(certificate.zero, "zero", "non-zero")).all()
        assert len(frame) == 30

    def test_several_outputs(self):
        outputs = np.stack([Y, -Y + X[:, 7]], axis=1)
        gauge = OWL(np.linspace(2.0, 0.5, 60))
        certificate = solve(Problem(X, outputs, gauge=gauge, penalty=Linear(0.3)), tol=1e-12).certificate()
        assert certificate.zero.shape == (60,)
        assert certificate.zero.any()
        verdict = verify(certificate, X, outputs)
        assert verdict, verdict

    def test_predictions_hold_those_of_the_optimum(self):
        problem = Problem(X, Y, gauge=OSCAR(0.5, 0.02), penalty=Linear(0.3), intercept=True)
        certificate = solve(problem, tol=1e-13).certificate()
        coarse = solve(problem, tol=1e-6).certificate()
        exact = X[:5] @ certificate.x + certificate.free[0]
        found = coarse.predict(X[:5])
        assert ((found.lower <= exact) & (exact <= found.upper)).all()
        assert (found.upper - found.lower < 1).all()

    def test_nothing_is_proven_of_single_coefficients_without_data(self):
        certificate = nothing(Problem(X, Y, gauge=LInf()), np.zeros(30), "for no reason")
        assert certificate.undecided.shape == (30,)
        assert verify(certificate, X, Y)


def forged(certificate, change):
    """Return why a forged certificate is refused."""
    verdict = verify(Sealed(certificate, change), X, Y)
    assert not verdict.valid
    return verdict.reason


class TestForgeries:
    owl = solve(Problem(X, Y, gauge=OSCAR(0.5, 0.02), penalty=Linear(0.3), intercept=True), tol=1e-12).certificate()
    linf = solve(Problem(X, Y, gauge=LInf(), penalty=Linear(0.3), intercept=True), tol=1e-12).certificate()
    k_support = solve(Problem(X, Y, gauge=KSupport(3), penalty=Linear(0.3)), tol=1e-12).certificate()

    @pytest.mark.parametrize("name", ["owl", "k_support"])
    def test_a_wrong_zero(self, name):
        certificate = getattr(self, name)
        smallest = int(np.where(certificate.nonzero, np.abs(certificate.x), np.inf).argmin())

        def change(told):
            told["claims"]["nonzero"].remove(smallest)
            held = told["claims"]["intervals"]
            k = held["index"].index(smallest)
            for part in held.values():
                del part[k]
            signs, facts = told["claims"]["facts"]["signs"], told["claims"]["facts"]
            if smallest in signs["index"]:
                del signs["value"][signs["index"].index(smallest)]
                signs["index"].remove(smallest)
            facts["order"] = [tier for tier in facts["order"] if tier != [smallest]]
            facts["clusters"] = [c for c in facts["clusters"] if smallest not in c]
            k = told["point"]["x"]["index"].index(smallest)
            for part in told["point"]["x"].values():
                del part[k]

        reason = forged(certificate, change)
        assert "not proven zero" in reason or "gap" in reason or "objective" in reason or "value" in reason

    def test_a_wrong_zero_that_is_0_at_the_point(self):
        """A point far from the solution, where nothing is proven."""
        problem = Problem(X, Y, gauge=OSCAR(0.5, 0.02), penalty=Linear(0.3), intercept=True)
        honest = certify(problem, np.zeros(30), start_of(problem))
        assert honest.undecided.any()
        j = int(np.flatnonzero(honest.undecided)[0])

        def change(told):
            told["claims"]["undecided"].remove(j)
            facts = told["claims"]["facts"]
            facts["clusters"] = []
            facts["order"] = []
            facts["signs"] = {"index": [], "value": []}
            held = told["claims"]["intervals"]
            held["lower"], held["upper"] = [None] * len(held["index"]), [None] * len(held["index"])

        assert forged(honest, change) == f"coefficient {j} is not proven zero"

    def test_a_wrong_cluster(self):
        apart = [next(cluster for cluster in self.owl.facts.sets if 2 not in cluster)[0], 2]

        def change(told):
            told["claims"]["facts"]["clusters"] = [sorted(int(j) for j in apart)]

        assert "does not have the cluster" in forged(self.owl, change)

        def hidden(told):
            change(told)
            place = told["point"]["x"]["index"].index(2)
            other = told["point"]["x"]["index"].index(int(apart[0]))
            told["point"]["x"]["value"][place] = told["point"]["x"]["value"][other]

        assert forged(self.owl, hidden)

    def test_a_wrong_sign(self):
        def change(told):
            told["claims"]["facts"]["signs"]["value"][0] *= -1
            told["claims"]["facts"]["clusters"] = []

        assert forged(self.owl, change) == "the sign of coefficient 0 is not proven"

    def test_a_wrong_saturated_coefficient(self):
        inside = int(np.flatnonzero(~self.linf.facts.saturated)[0])

        def change(told):
            told["claims"]["facts"]["saturated"] = sorted([*told["claims"]["facts"]["saturated"], inside])

        assert forged(self.linf, change) == f"coefficient {inside} is not proven to be as large as the gauge"

    def test_a_wrong_order(self):
        def change(told):
            told["claims"]["facts"]["order"].reverse()

        assert "not proven to be in order" in forged(self.owl, change)

    @pytest.mark.parametrize("gauge", [OSCAR(0.5, 0.02), LInf(), KSupport(3)], ids=lambda gauge: type(gauge).__name__)
    def test_a_narrower_interval(self, gauge):
        """At a point whose gap is not rounding alone, half of an interval is no claim that follows."""
        problem = Problem(X, Y, gauge=gauge, penalty=Linear(0.3), intercept=True)
        best = solve(problem, tol=1e-13)
        certificate = certify(problem, best.lifted * (1 + 1e-7), start_of(problem))
        assert np.isfinite(certificate.upper).all()
        assert verify(certificate, X, Y)

        def change(told):
            held = told["claims"]["intervals"]
            held["upper"] = [
                x + (u - x) / 2 for x, u in zip(certificate.x[held["index"]].tolist(), held["upper"], strict=True)
            ]

        assert "too narrow" in forged(certificate, change)

    def test_a_wrong_non_zero(self):
        problem = Problem(X, Y, gauge=OSCAR(0.5, 0.02), penalty=Linear(0.3), intercept=True)
        honest = certify(problem, np.zeros(30), start_of(problem))
        j = int(np.flatnonzero(honest.undecided)[0])

        def change(told):
            told["claims"]["undecided"].remove(j)
            told["claims"]["nonzero"] = [j]

        assert forged(honest, change) == f"coefficient {j} is not proven non-zero"

    def test_facts_where_none_are_derived(self):
        plain = solve(Problem(X, Y, penalty=Linear(0.3)), tol=1e-9).certificate()
        facts = self.owl.content()["claims"]["facts"]

        def change(told):
            told["version"] = 5
            told["claims"]["facts"] = facts

        assert "facts are for one problem" in forged(plain, change)

    def test_the_version_goes_with_facts(self):
        assert "version 4" in forged(self.owl, lambda told: told.update(version=4))

    def test_places_that_are_not_there(self):
        assert "in range" in forged(self.owl, lambda told: told["claims"]["facts"].update(saturated=[99]))

    def test_a_silent_certificate_says_nothing(self):
        silent = nothing(Problem(X, Y, gauge=LInf()), np.zeros(30), "for no reason")
        assert "makes claims" in forged(silent, lambda told: told["claims"]["facts"].update(saturated=[0]))

    def test_versions_that_are_not_known(self, tmp_path):
        told = self.owl.content() | {"version": 6}
        (tmp_path / "new.json").write_text(json.dumps(told))
        with pytest.raises(ValueError, match="this package reads versions 4 and 5"):
            Certificate.load(tmp_path / "new.json")


def told_of(certificate, dropped):
    """Return the content of a certificate without any fact about some coefficients, which stay undecided."""
    told = certificate.content()
    facts, claims = told["claims"]["facts"], told["claims"]
    held = [(j, s) for j, s in zip(*facts["signs"].values(), strict=True) if j not in dropped]
    facts["signs"] = {"index": [j for j, _ in held], "value": [s for _, s in held]}
    facts["clusters"] = [c for c in facts["clusters"] if not dropped & set(c)]
    facts["saturated"] = [j for j in facts["saturated"] if j not in dropped]
    facts["order"] = []
    claims["undecided"] = sorted({*claims["undecided"], *claims["nonzero"], *dropped})
    claims["nonzero"] = []  # others may be so because of these
    claims["intervals"] = {"index": list(range(certificate.x.size))} | {
        side: [None] * certificate.x.size for side in ("lower", "upper")
    }
    claims["free"] = {side: [None] * certificate.free.size for side in ("lower", "upper")}
    claims["sums"], claims["dependencies"] = [], []
    return told


class Told:
    """What a forger hands in."""

    def __init__(self, told):
        self.told = told | {"seal": seal(told)}

    def content(self):
        return self.told


@pytest.mark.thin(4)
@pytest.mark.parametrize("seed", range(40))
def test_false_facts_are_refused(seed):
    """At a point that was moved so as to fit the lie: a zero, a cluster, a saturated coefficient, a sign, an order."""
    rng = np.random.default_rng([21, seed])
    built = build(rng)
    while np.count_nonzero(built.x) < 2 or built.given["intercept"]:
        built = build(rng)
    problem, sizes = built.problem(), np.abs(built.x)
    i, j = (int(k) for k in rng.choice(np.flatnonzero(built.x), 2, replace=False))
    i, j = (i, j) if sizes[i] >= sizes[j] else (j, i)
    turns = np.sign(built.x).astype(int).tolist()

    def verdict(x, change):
        certificate = certify(problem, x, start_of(problem))
        told = told_of(certificate, {i, j})
        assert verify(Told(told), built.X, built.y, **built.told), "what is left is honest"
        change(told["claims"], told["claims"]["facts"])
        return verify(Told(told), built.X, built.y, **built.told)

    def zero(claims, _):
        claims["undecided"].remove(j)

    def sign(_, facts):
        pairs = sorted([*zip(*facts["signs"].values(), strict=True), (j, -turns[j])])
        facts["signs"] = {"index": [k for k, _ in pairs], "value": [s for _, s in pairs]}

    def cluster(_, facts):
        pairs = sorted([*zip(*facts["signs"].values(), strict=True), (i, turns[i]), (j, turns[j])])
        facts["signs"] = {"index": [k for k, _ in pairs], "value": [s for _, s in pairs]}
        facts["clusters"].append(sorted([i, j]))

    def saturated(_, facts):
        cluster(_, facts)
        facts["clusters"].pop()
        facts["saturated"] = sorted([*facts["saturated"], j])

    without, same = built.x.copy(), built.x.copy()
    without[j] = 0.0
    same[j] = sizes[i] * np.sign(same[j])
    assert not verdict(without, zero)
    assert not verdict(built.x, sign)
    if sizes[i] > sizes[j] * (1 + 1e-6):
        assert not verdict(same, cluster)
        assert not verdict(built.x, saturated)
        assert not verdict(built.x, lambda _, facts: facts.update(order=[[j], [i]]))


def kappa_of(gauge, x):
    """Return a gauge for cvxpy."""
    if isinstance(gauge, Scaled):
        return kappa_of(gauge.gauge, x) / gauge.radius
    if isinstance(gauge, OWL):
        weights = np.append(gauge.weights, 0.0)
        return sum((weights[k] - weights[k + 1]) * cp.sum_largest(cp.abs(x), k + 1) for k in range(len(gauge.weights)))
    if isinstance(gauge, LInf):
        return cp.norm_inf(x)
    if isinstance(gauge, KSparse):
        return cp.maximum(cp.norm_inf(x), cp.norm1(x) / gauge.k)
    sets = [list(s) for s in itertools.combinations(range(x.size), min(gauge.k, x.size))]
    parts = [cp.Variable(len(s)) for s in sets]
    return sum(cp.norm2(part) for part in parts), [
        x == sum(np.eye(x.size)[:, s] @ part for s, part in zip(sets, parts, strict=True))
    ]


def optimum_of(built):
    """Return the optimal value of a built problem, from a general solver."""
    gauge, penalty, x, b = built.given["gauge"], built.given["penalty"], cp.Variable(built.x.size), cp.Variable()
    found = kappa_of(gauge, x)
    kappa, held = found if isinstance(found, tuple) else (found, [])
    weights = built.told.get("sample_weight", np.ones(len(built.y)))
    u = built.X @ x + built.told.get("offset", 0.0) + (b if built.given["intercept"] else 0.0)
    logistic = isinstance(built.given["loss"], Logistic)
    losses = cp.logistic(-cp.multiply(built.y, u)) if logistic else cp.square(u - built.y) / 2
    t = cp.Variable(nonneg=True)
    phi = {
        Linear: lambda p: p.strength * t,
        Square: lambda p: p.strength * cp.square(t) / 2,
        Ball: lambda _: 0.0,
        LogBarrier: lambda p: (-cp.log(1 - t / p.radius) - t / p.radius) / p.sharpness,
    }[type(penalty)](penalty)
    held += [kappa <= t] + ([t <= penalty.radius] if isinstance(penalty, Ball) else [])
    return cp.Problem(cp.Minimize(weights @ losses / weights.sum() + phi), held).solve(solver="CLARABEL")


def built_small(seed):
    """Return a problem of few features, for cones of all sets."""
    rng = np.random.default_rng([77, seed])
    built = build(rng)
    while built.x.size > 7 or (isinstance(built.given["gauge"], Scaled) and built.kind == "KSupport"):
        built = build(rng)
    return built


@pytest.mark.thin(2)
@pytest.mark.parametrize("seed", range(12))
def test_built_problems_have_the_optimum_that_a_general_solver_finds(seed):
    built = built_small(seed)
    assert optimum_of(built) == pytest.approx(built.value, rel=1e-6, abs=1e-8)


def test_no_claim_is_false():
    tally = Tally()
    for number in range(40):
        try_facts(0, number, tally, check=number % 4 == 0)
    assert not tally.faults
    assert all(tally.whole[kind] > 10 for kind in ("zeros", "nonzeros", "clusters", "saturated", "ordered", "signs"))


@pytest.mark.deep
def test_no_claim_of_many_is_false():
    tally = Tally()
    for number in range(1000, 1400):
        try_facts(0, number, tally)
    assert not tally.faults
    assert not tally.whole["refused"]


def test_a_radius_that_is_too_small_is_found_out():
    tally = Tally()
    with cut("twentieth"):
        for number in range(25):
            try_facts(3, number, tally, check=False)
    kinds = {claim.split()[0] for fault in tally.faults for claim in fault["wrong"]}
    assert tally.whole["false"] > 30
    assert {"zero", "cluster", "saturated"} & kinds


def test_the_checker_accepts_what_is_claimed():
    rng = np.random.default_rng(8)
    for _ in range(25):
        built = build(rng)
        problem = built.problem()
        certificate = certify(problem, built.x, start_of(problem))
        assert not judge_facts(certificate, built)[1]
        verdict = verify(certificate, built.X, built.y, **built.told)
        assert verdict, (built, verdict)
