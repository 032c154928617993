"""Total variation over trees: oracle, gauge, norms and solutions against the formulas, and what is proven of them."""

import json

import numpy as np
import pytest
from networks import TREES, drawn, false_claims, forest, jumps, reference, tree
from scipy.sparse import csr_array, eye_array

from atomsieve import Ball, Linear, LogBarrier, Problem, Scaled, Square, TotalVariation, solve, verify
from atomsieve.certificate import proof as proofs
from atomsieve.certificate.file import seal
from atomsieve.certificate.segments import SegmentInverse, segment_inverse
from atomsieve.core.signals import denoised
from atomsieve.core.trees import denoised_tree
from atomsieve.design import CumulatedDesign, TreeSteps, as_design, spanning
from atomsieve.numerics.enclosures import Enclosure


@pytest.mark.parametrize("kind", TREES)
@pytest.mark.parametrize("rows", [2, 5, 9])
def test_oracle_and_gauge_are_the_formulas(kind, rows):
    rng = np.random.default_rng(rows)
    edges = kind(rng, rows)
    gauge = TotalVariation(edges=edges, weights=rng.uniform(0.5, 2, len(edges)))
    D, weights = jumps(gauge, rows)
    x = rng.normal(size=rows)
    assert gauge.value(x) == pytest.approx(weights @ np.abs(D @ x))
    flow = rng.normal(size=len(D))  # the only f with D' f = z
    assert gauge.support(D.T @ flow) == pytest.approx((np.abs(flow) / weights).max())
    atom = gauge.lmo(D.T @ flow).toarray((rows,))
    assert gauge.value(atom) == pytest.approx(1)
    assert atom @ D.T @ flow == pytest.approx(gauge.support(D.T @ flow))


@pytest.mark.parametrize("kind", TREES)
def test_the_root_of_a_tree_is_in_its_middle(kind):
    rng = np.random.default_rng(0)
    for rows in (2, 3, 8, 31):
        steps = spanning(np.array(kind(rng, rows)), rows)
        below = steps.rmatvec(np.ones(rows))
        wholes = steps.matvec(np.where(steps.parents == np.arange(rows), below, 0.0))
        assert (2 * below <= wholes)[steps.parents != np.arange(rows)].all()


def formed(steps):
    """Return steps over trees as an array, place by place."""
    H = np.zeros(steps.shape)
    for place in range(steps.count):
        at = place
        H[place, at] = 1.0
        while steps.parents[at] != at:
            at = steps.parents[at]
            H[place, at] = 1.0
    return H


@pytest.mark.parametrize("kind", TREES)
@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("filled", [0.1, 0.7])
def test_steps_are_never_formed(kind, form, filled):
    rng, count = np.random.default_rng(3), 8
    steps = spanning(np.array(kind(rng, count)), count)
    A = rng.normal(size=(6, count)) * (rng.random((6, count)) < filled)
    design, Q = CumulatedDesign(as_design(form(A)), steps), A @ formed(steps)
    x, r, w, some = rng.normal(size=count), rng.normal(size=6), rng.uniform(size=6), np.array([0, 2, 5])
    pairs = [
        (design.matvec(x), Q @ x),
        (design.rmatvec(r), Q.T @ r),
        (design.columns(some), Q[:, some]),
        (design.matvec(x[:3], some), Q[:, some] @ x[:3]),
        (design.select(some).rmatvec(r), Q[:, some].T @ r),
        (design.select(some).matvec(x[:3]), Q[:, some] @ x[:3]),
        (design.squared_norms(w), w @ Q**2),
        (design.products([r, 2 * r]), [Q.T @ r, 2 * Q.T @ r]),
        (steps.jumps(steps.matvec(x))[steps.hung()[0] >= 0], x[steps.hung()[0] >= 0]),
    ]
    for found, expected in pairs:
        np.testing.assert_allclose(found, expected, atol=1e-13)
    lengths = np.sqrt(w @ Q**2)
    assert (design.norm_bounds(w) >= lengths * (1 - 1e-15)).all()
    np.testing.assert_allclose(design.norm_bounds(w), lengths, atol=1e-12)
    theta, every = Enclosure.exact(r), np.arange(count)
    for found, expected in [
        (design.enclose(Enclosure.exact(x)), Q @ x),
        (design.enclose_adjoint(theta), Q.T @ r),
        (design.sharp(x, every), Q @ x),
        (design.sharp_adjoint(theta, some), Q[:, some].T @ r),
        (design.enclose_columns(some), Q[:, some]),
    ]:
        assert (np.abs(found.mid - expected) <= found.rad + 1e-15).all()
        assert found.rad.max() < 1e-12


@pytest.mark.parametrize("seed", range(8))
def test_denoising_over_a_tree_is_optimal(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([2, 3, 10, 200]))
    above = np.array([-1] + [int(rng.integers(-1 if rng.random() < 0.1 else 0, k)) for k in range(1, n)])
    y, w, prices = rng.normal(size=n), rng.uniform(0.5, 2, n), rng.uniform(0, 2, n)
    prices[rng.random(n) < 0.1] = np.inf
    x = denoised_tree(above, y, w, prices)
    flow = w * (y - x)  # what a subtree sends up its edge: at most the price, and all of it at a jump
    for k in range(n - 1, -1, -1):
        if above[k] < 0:
            assert flow[k] == pytest.approx(0, abs=1e-9)
            continue
        jump = x[k] - x[above[k]]
        assert abs(flow[k]) <= prices[k] + 1e-9
        assert jump == 0 or flow[k] == pytest.approx(prices[k] * np.sign(jump), abs=1e-9)
        flow[above[k]] += flow[k]
    line = np.arange(-1, n - 1)
    capped = np.minimum(prices, 3.0)
    np.testing.assert_allclose(denoised_tree(line, y, w, capped), denoised(y, w, capped[1:]), atol=1e-9)


@pytest.mark.parametrize("seed", range(16))
def test_objectives_are_those_of_another_solver(seed):
    problem, _, y, A = drawn(seed, TREES)
    result = solve(problem, tol=1e-10)
    value = reference(problem, A, y)
    assert result.point.objective == pytest.approx(value, rel=1e-7, abs=1e-7)
    assert result.gap <= 1e-8
    certificate = result.certificate()
    assert certificate.dual <= value + 1e-7
    assert certificate.primal >= value - 1e-7
    assert result.passes < 30


@pytest.mark.thin(9)
@pytest.mark.parametrize("seed", range(48))
def test_every_claim_is_true_and_checked(seed):
    problem, X, y, _ = drawn(seed, TREES)
    best = solve(problem, tol=1e-14)
    for tol in (1e-2, 1e-4, 1e-7):
        certificate = solve(problem, tol=tol).certificate()
        assert false_claims(certificate, best.lifted, best.point.gap) == 0
        checked = verify(certificate, X, y)
        assert checked.valid, checked.reason
    assert certificate.valid
    assert (certificate.zero | certificate.nonzero).any()


def test_with_a_radius_cut_to_a_fiftieth_claims_are_false(monkeypatch):
    radius = proofs.Proof.radius.fget
    monkeypatch.setattr(proofs.Proof, "radius", property(lambda self: radius(self) * 0.02))
    found = 0
    for seed in range(16):
        problem = drawn(seed, TREES)[0]
        best = solve(problem, tol=1e-14)
        for tol in (0.3, 1e-1, 1e-2):
            start = 0.5 * best.lifted if tol == 0.3 else None
            certificate = solve(problem, tol=tol, start=start).certificate()
            found += false_claims(certificate, best.lifted, best.point.gap)
    assert found > 0


RNG = np.random.default_rng(0)
EDGES = np.array(forest(RNG, 300))
LEVELS = RNG.normal(size=300) + 3 * (np.arange(300) > 150)
GAUGES = [TotalVariation(edges=EDGES), Scaled(TotalVariation(RNG.uniform(0.5, 2, len(EDGES)), EDGES), 2.0)]


@pytest.mark.parametrize("beside", [{}, {"sample_weight": RNG.uniform(0.5, 2, 300)}, {"offset": RNG.normal(size=300)}])
@pytest.mark.parametrize("gauge", GAUGES)
@pytest.mark.parametrize("penalty", [Linear(0.005), Square(0.01), Ball(3.0), LogBarrier(9.0, 1.0)])
def test_one_step_denoises_and_is_proven(penalty, gauge, beside):
    X = eye_array(300)
    result = solve(Problem(X, LEVELS, gauge=gauge, penalty=penalty, **beside), tol=1e-12)
    assert result.n_iter == 1
    certificate = result.certificate()
    assert certificate.undecided.sum() <= 3
    checked = verify(certificate, X, LEVELS, **beside)
    assert checked.valid, checked.reason


def test_the_inverse_is_that_of_the_gram_matrix():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        count = int(rng.integers(2, 12))
        steps, weights = spanning(np.array(forest(rng, count)), count), rng.uniform(0.1, 2, count)
        design = CumulatedDesign(as_design(csr_array(np.eye(count))), steps)
        heads = np.flatnonzero((rng.random(count) < 0.5) & (steps.parents != np.arange(count)))
        free = steps.columns(steps.roots)
        found = segment_inverse(design, Enclosure.exact(free), heads, weights)
        assert isinstance(found, SegmentInverse)
        C = np.hstack([free, design.columns(heads)])
        inverse = np.linalg.inv(C.T @ (weights[:, None] * C))
        np.testing.assert_allclose(found.diagonal, inverse.diagonal(), rtol=1e-9)
        v = rng.normal(size=len(inverse))
        assert found.of(Enclosure.exact(v)) == pytest.approx(v @ inverse @ v, rel=1e-9)
        assert found.of(Enclosure.exact(v)) >= v @ inverse @ v * (1 - 1e-9)
        moved = v + 0.1 * rng.uniform(-1, 1, len(v))
        assert moved @ inverse @ moved <= found.of(Enclosure(v, np.full(len(v), 0.1))) * (1 + 1e-9)


def test_forged_certificates_are_refused(tmp_path):
    rng = np.random.default_rng(0)
    edges, y = np.array(tree(rng, 30)), rng.normal(size=30)
    X, path = eye_array(30), tmp_path / "certificate.json"
    certificate = solve(
        Problem(None, y, gauge=TotalVariation(edges=edges), penalty=Linear(0.02)), tol=1e-12
    ).certificate()
    certificate.save(path)
    assert verify(path, X, y).valid
    content = json.loads(path.read_text())
    claims, free = content["claims"], content["problem"]["unpenalised"]
    parents = content["problem"]["gauge"]["matrix"]["tree"]
    zero = next(j for j in range(30) if j not in claims["nonzero"] + claims["undecided"] + free)
    child = next(j for j in range(30) if parents[j] != j and parents[parents[j]] != parents[j])

    def refused(change):
        forged = json.loads(json.dumps(content))
        change(forged)
        path.write_text(json.dumps(forged | {"seal": seal(forged)}))
        return not verify(path, X, y).valid

    assert refused(lambda c: c["claims"]["nonzero"].remove(claims["nonzero"][0]))
    assert refused(lambda c: c["claims"].update(nonzero=sorted([*claims["nonzero"], zero])))
    ring = [child if j == parents[child] else parent for j, parent in enumerate(parents)]
    short, far, moved = parents[:-1], [*parents[:-1], 30], list(parents)
    moved[child] = parents[parents[child]]
    for other in (ring, short, far, moved, [-1, *parents[1:]]):
        assert refused(lambda c, other=other: c["problem"]["gauge"]["matrix"].update(tree=other))


def test_words_are_about_jumps():
    gauge = TotalVariation(edges=[[0, 1], [0, 2], [0, 3]])
    problem = Problem(None, [0.0, 0.0, 0.1, 4.0], gauge=gauge, penalty=Linear(0.05), names=list("abcd"))
    certificate = solve(problem, tol=1e-12).certificate()
    assert str(certificate).startswith("2 of 3 places proven to have no jump, 1 proven jump, 0 undecided")
    assert certificate.to_frame()["preimage"].tolist() == ["level", "a to b", "a to c", "a to d"]
    two = solve(Problem(None, [0.0, 1.0, 5.0], gauge=TotalVariation(edges=[[0, 1]]), penalty=Linear(0.05)))
    assert "level of x2" in two.certificate().to_frame()["preimage"].tolist()
    assert two.x[2] == pytest.approx(5.0)


def test_edges_without_a_price_and_edges_without_a_jump():
    y = np.array([0.0, 1.0, 5.0, 6.0])
    line = [[0, 1], [1, 2], [2, 3]]
    parted = TotalVariation(edges=line, weights=[1.0, 0.0, 1.0])
    np.testing.assert_allclose(solve(Problem(None, y, gauge=parted, penalty=Linear(9.0))).x, [0.5, 0.5, 5.5, 5.5])
    joined = TotalVariation(edges=line, weights=[np.inf, 0.1, 1.0])
    result = solve(Problem(np.eye(4), y, gauge=joined, penalty=Linear(0.1)), tol=1e-10)
    assert result.x[0] == result.x[1]
    assert joined.value(y) == np.inf
    assert joined.value(np.array([1.0, 1.0, 2.0, 2.0])) == pytest.approx(0.1)


def test_a_tree_that_is_a_line_is_the_line():
    rng = np.random.default_rng(1)
    A, y = rng.normal(size=(40, 10)), rng.normal(size=40)
    same = [
        solve(Problem(A, y, gauge=gauge, penalty=Linear(0.05)), tol=1e-12).point.objective
        for gauge in (TotalVariation(), TotalVariation(edges=[[i, i + 1] for i in range(9)]))
    ]
    assert same[0] == pytest.approx(same[1], rel=1e-10)


def test_several_outputs():
    rng = np.random.default_rng(0)
    X, gauge = rng.normal(size=(30, 8)), TotalVariation(edges=tree(rng, 8))
    Y = X @ rng.normal(size=(8, 2)) + 0.1 * rng.normal(size=(30, 2))
    result = solve(Problem(X, Y, gauge=gauge, penalty=Linear(0.1)), tol=1e-10)
    single = solve(Problem(X, Y[:, 0], gauge=gauge, penalty=Linear(0.1)), tol=1e-10)
    np.testing.assert_allclose(result.x[:, 0], single.x, atol=1e-5)
    assert verify(result.certificate(), X, Y).valid


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"edges": [[0, 0]]}, "join two different features"),
        ({"edges": [[0, 1], [1, 0]]}, r"\[1, 0\] repeats"),
        ({"edges": [[0, 1.5]]}, "whole numbers"),
        ({"edges": [[0, -1]]}, "whole numbers from 0 on"),
        ({"edges": [[0, np.nan]]}, "whole numbers"),
        ({"edges": [0, 1]}, "pairs of features"),
        ({"edges": np.zeros((0, 2))}, "pairs of features"),
        ({"edges": [["a", "b"]]}, "real numbers"),
        ({"edges": [[0, 1]], "weights": [-1.0]}, "not be negative"),
        ({"edges": [[0, 1]], "weights": [0.0]}, "some positive"),
        ({"edges": [[0, 1]], "weights": [np.nan]}, "not be negative"),
        ({"edges": [[0, 1]], "weights": [1.0, 1.0]}, "1 in all"),
    ],
)
def test_what_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        TotalVariation(**given)
    with pytest.raises(ValueError, match="join the 4 features"):
        Problem(np.ones((3, 4)), np.ones(3), gauge=TotalVariation(edges=[[0, 4]]))


def test_pieces_compare_by_what_they_hold():
    assert TreeSteps(np.array([0, 0])).stated() == {"tree": [0, 0]}
    with pytest.raises(ValueError, match="read-only"):
        TotalVariation(edges=[[0, 1]]).edges[0, 0] = 3
