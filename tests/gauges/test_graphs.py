"""Total variation over graphs with cycles: flows, oracle, prox and solutions, and what is proven of them."""

import json

import numpy as np
import pytest
from networks import drawn, false_claims, jumps, reference
from scipy.optimize import linprog
from scipy.sparse import eye_array

from atomsieve import Linear, Poisson, Problem, Scaled, Square, SquaredHinge, TotalVariation, solve, verify
from atomsieve.certificate import certify
from atomsieve.certificate import proof as proofs
from atomsieve.certificate.file import seal
from atomsieve.core import _plain
from atomsieve.numerics.flows import Network


def cycle(rng, rows):
    return [[i, (i + 1) % rows] for i in range(rows)]


def grid(rng, rows):
    places = np.arange(rows).reshape(3, -1) if rows % 3 == 0 else np.arange(rows).reshape(2, -1)
    across, down = (places[:, :-1], places[:, 1:]), (places[:-1], places[1:])
    return np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in (across, down)]).tolist()


def wheel(rng, rows):
    return [[0, i] for i in range(1, rows)] + [[i, i + 1] for i in range(1, rows - 1)]


def two(rng, rows):
    half = rows // 2
    return cycle(rng, half) + [[half + i, half + j] for i, j in cycle(rng, rows - half)]


def scattered(rng, rows):
    pairs = [[i, j] for i in range(rows) for j in range(i) if rng.random() < 0.3]
    return [*pairs, *([[0, 1], [1, 2], [0, 2]] if not pairs else [])]


GRAPHS = [cycle, grid, wheel, two, scattered]


def any_graph(seed, rows):
    rng = np.random.default_rng(seed)
    edges = np.array(GRAPHS[seed % len(GRAPHS)](rng, rows))
    return rng, Network(edges, rows)


@pytest.mark.parametrize("seed", range(20))
def test_denoised_levels_have_a_flow(seed):
    """The conditions that hold of the solution and of no other point, with and without a ground."""
    rng, network = any_graph(seed, 4 + 2 * (seed % 5))
    count, m = network.count, len(network.edges)
    y, w, prices = np.round(rng.normal(size=count), 1), rng.uniform(0.5, 2, count), rng.uniform(0, 1, m)
    for ground in (None, 0):
        x, flow = network.denoised(y, w, prices, ground)
        assert (np.abs(flow) <= prices * (1 + 1e-12)).all()
        left = network.out(flow) - w * (y - x)
        np.testing.assert_allclose(left[slice(ground is not None, None)], 0, atol=1e-12)
        across = x[network.edges[:, 0]] - x[network.edges[:, 1]]
        np.testing.assert_allclose(flow * across, prices * np.abs(across), atol=1e-12)
        assert ground is None or x[0] == 0


@pytest.mark.parametrize("seed", range(20))
def test_the_least_congestion_is_that_of_a_linear_program(seed):
    rng, network = any_graph(seed, 4 + 2 * (seed % 4))
    m = len(network.edges)
    weights = rng.uniform(0.2, 1, m)
    z = network.out(rng.normal(size=m))
    found, flow, best = network.least_congestion(z, weights)
    D = np.zeros((network.count, m))
    D[network.edges[:, 0], np.arange(m)] = 1.0
    D[network.edges[:, 1], np.arange(m)] -= 1.0
    limits = np.block([[np.eye(m), -weights[:, None]], [-np.eye(m), -weights[:, None]]])
    program = linprog(
        np.append(np.zeros(m), 1.0),
        A_eq=np.hstack([D, np.zeros((network.count, 1))]),
        b_eq=z,
        A_ub=limits,
        b_ub=np.zeros(2 * m),
        bounds=[(None, None)] * m + [(0, None)],
    )
    assert found == pytest.approx(program.fun, rel=1e-7)
    np.testing.assert_allclose(network.out(flow), z, atol=1e-12)
    assert (np.abs(flow) <= found * weights * (1 + 1e-12)).all()
    cut = weights[best[network.edges[:, 0]] != best[network.edges[:, 1]]].sum()
    assert z[best].sum() / cut == pytest.approx(found, rel=1e-9)


def test_what_the_core_refuses():
    edges = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    arcs, numbers = (np.array([0, 1, 2]), np.array([0, 1])), (np.ones(1), np.zeros(1), np.zeros(2))
    apart = np.empty(2, dtype=np.uint8)
    _plain.send_flow(*edges, *arcs, *numbers, apart)
    for bad in ((edges[0], edges[1] + 1), (edges[0] - 1, edges[1])):
        with pytest.raises(ValueError, match="edges between nodes"):
            _plain.send_flow(*bad, *arcs, *numbers, apart)
    for bad in ((arcs[0], arcs[1] + 1), (arcs[0] + 1, arcs[1]), (np.array([0, 2, 2]), arcs[1])):
        with pytest.raises(ValueError, match="arcs of each node"):
            _plain.send_flow(*edges, *bad, *numbers, apart)
    with pytest.raises(ValueError, match="come before"):
        _plain.tree_sums(np.array([0, -1]), True, np.zeros(2))


@pytest.mark.parametrize("kind", GRAPHS)
def test_oracle_and_gauge_are_the_formulas(kind):
    rng = np.random.default_rng(1)
    edges = kind(rng, 6)
    gauge = TotalVariation(edges=edges, weights=rng.uniform(0.5, 2, len(edges)))
    D, weights = jumps(gauge, 6)
    x, z = rng.normal(size=6), D.T @ rng.normal(size=len(D))
    assert gauge.value(x) == pytest.approx(weights @ np.abs(D @ x))
    sets = np.array([[k >> j & 1 for j in range(6)] for k in range(64)], dtype=float)
    cuts = np.abs(sets @ D.T) @ weights
    best = max(s @ z / cut for s, cut in zip(sets, cuts, strict=True) if cut > 0)
    assert gauge.support(z) == pytest.approx(best)
    atom = gauge.lmo(z).toarray((6,))
    assert gauge.value(atom) == pytest.approx(1)
    assert atom @ z == pytest.approx(best)


@pytest.mark.parametrize("seed", range(16))
def test_objectives_are_those_of_another_solver(seed):
    problem, _, y, A = drawn(seed, GRAPHS)
    result = solve(problem, tol=1e-10)
    value = reference(problem, A, y)
    assert result.point.objective == pytest.approx(value, rel=1e-7, abs=1e-7)
    assert result.gap <= 1e-8
    certificate = result.certificate()
    assert certificate.dual <= value + 1e-7
    assert certificate.primal >= value - 1e-7
    assert result.passes < 30


def in_jumps(certificate, x):
    """Return levels in the coefficients that a certificate is about."""
    parents = np.array(certificate.statement["gauge"]["matrix"]["tree"])
    return np.where(parents == np.arange(len(x)), 0.0, x - x[parents])


@pytest.mark.thin(9)
@pytest.mark.parametrize("seed", range(60))
def test_every_claim_is_true_and_checked(seed):
    problem, X, y, _ = drawn(seed, GRAPHS)
    best = solve(problem, tol=1e-14)
    for tol in (1e-2, 1e-4, 1e-7, 1e-12):
        certificate = solve(problem, tol=tol).certificate()
        assert false_claims(certificate, in_jumps(certificate, best.x), best.point.gap) == 0
        checked = verify(certificate, X, y)
        assert checked.valid, checked.reason
    assert certificate.valid
    assert certificate.undecided.sum() <= 4


def test_with_a_radius_cut_to_a_fiftieth_claims_are_false(monkeypatch):
    radius = proofs.Proof.radius.fget
    monkeypatch.setattr(proofs.Proof, "radius", property(lambda self: radius(self) * 0.02))
    found = 0
    for seed in range(24):
        problem = drawn(seed, GRAPHS)[0]
        best = solve(problem, tol=1e-14)
        for tol in (0.3, 1e-1, 1e-2):
            start = 0.5 * best.lifted if tol == 0.3 else None
            certificate = solve(problem, tol=tol, start=start).certificate()
            found += false_claims(certificate, in_jumps(certificate, best.x), best.point.gap)
    assert found > 0


@pytest.mark.parametrize("seed", range(8))
def test_sets_in_no_solution_are_excluded(seed):
    """A set of every other place is; those that a solution is made of are not."""
    problem = drawn(seed, GRAPHS)[0]
    result = solve(problem, tol=1e-12)
    certificate, x = result.certificate(), result.x
    sets = [(x >= level, False) for level in np.unique(x)[1:]]
    for places, is_excluded in [*sets, (np.arange(len(x)) % 2 == 0, True)]:
        levels = places / problem.gauge.value(places.astype(float))
        assert certificate.excludes(in_jumps(certificate, levels)) == is_excluded


def image(seed, side):
    rng = np.random.default_rng(seed)
    truth = np.zeros((side, side))
    truth[side // 4 : side // 2, side // 3 :] = 2.0
    return (truth + 0.3 * rng.normal(size=truth.shape)).ravel(), _edges(side)


def _edges(side):
    places = np.arange(side * side).reshape(side, side)
    across, down = (places[:, :-1], places[:, 1:]), (places[:-1], places[1:])
    return np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in (across, down)])


@pytest.mark.parametrize("penalty", [Linear(0.3 / 144), Square(1e-4)])
@pytest.mark.parametrize(
    "beside", [{}, {"sample_weight": np.linspace(0.5, 2, 144)}, {"offset": np.linspace(0, 1, 144)}]
)
def test_an_image_takes_one_step(penalty, beside):
    y, edges = image(0, 12)
    result = solve(Problem(None, y, gauge=TotalVariation(edges=edges), penalty=penalty, **beside), tol=1e-10)
    assert result.n_iter == 1
    dense = solve(Problem(np.eye(144), y, gauge=TotalVariation(edges=edges), penalty=penalty, **beside), tol=1e-10)
    assert result.point.objective == pytest.approx(dense.point.objective, rel=1e-9)
    certificate = result.certificate()
    assert certificate.undecided.sum() <= 3
    checked = verify(certificate, eye_array(144), y, **beside)
    assert checked.valid, checked.reason


def test_forged_certificates_are_refused(tmp_path):
    y, edges = image(1, 6)
    path, X = tmp_path / "certificate.json", eye_array(36)
    gauge = TotalVariation(edges=edges)
    solve(Problem(None, y, gauge=gauge, penalty=Linear(0.3 / 36)), tol=1e-12).certificate().save(path)
    assert verify(path, X, y).valid
    content = json.loads(path.read_text())
    claims, stated = content["claims"], content["problem"]["gauge"]
    free = content["problem"]["unpenalised"]
    zero = next(j for j in range(36) if j not in claims["nonzero"] + claims["undecided"] + free)

    def refused(change):
        forged = json.loads(json.dumps(content))
        change(forged)
        path.write_text(json.dumps(forged | {"seal": seal(forged)}))
        return not verify(path, X, y).valid

    inner = stated["gauge"]
    other = {
        "flow": [2 * flow for flow in inner["flow"]],
        "chords": [[1, 0], *inner["chords"][1:]],
        "chord_weights": [0.1, *inner["chord_weights"][1:]],
        "weights": [w / 2 for w in inner["weights"]],
        "toward": {"index": [35], "value": [1.0, 2.0]},
    }
    assert refused(lambda c: c["claims"]["nonzero"].remove(claims["nonzero"][0]))
    assert refused(lambda c: c["claims"].update(nonzero=sorted([*claims["nonzero"], zero])))
    for name in ("flow", "weights", "toward"):
        assert refused(lambda c, name=name: c["problem"]["gauge"]["gauge"].update({name: other[name]}))
    for short in ("flow", "chords", "chord_weights", "weights"):
        assert refused(lambda c, short=short: c["problem"]["gauge"]["gauge"][short].pop())
    assert refused(lambda c: c["problem"]["gauge"]["gauge"]["chords"].__setitem__(0, [0, 36]))
    assert refused(lambda c: c["problem"]["gauge"]["gauge"]["chords"].__setitem__(0, [0, 0]))
    root = next(j for j, parent in enumerate(stated["matrix"]["tree"]) if j == parent)
    assert refused(lambda c: c["problem"]["gauge"]["gauge"]["weights"].__setitem__(root, 1.0))


def test_levels_under_a_matrix_are_not_bounded_by_their_sum(tmp_path):
    """X has no negative entry, but X Q has: a set of places can be longer than all of them."""
    Q = np.array([[-191.0, 1.0, 193.0], [-128.0, 65.0, 66.0], [-64.0, 65.0, 0.0]]) / 64
    y, X = np.array([8.0, -8.0, -8.0]), np.eye(3)
    gauge, path = TotalVariation(edges=[[0, 1], [1, 2], [2, 0]]), tmp_path / "certificate.json"
    problem = Problem(Q, y, gauge=gauge, penalty=Linear(1.0))
    assert np.abs(solve(problem, tol=1e-12).x[[0, 2]] @ [1, -1]) > 6
    content = json.loads(json.dumps(certify(problem, np.zeros(3), problem.span.origin).content()))
    content["problem"]["gauge"] = {"type": "Image", "matrix": Q.tolist(), "gauge": content["problem"]["gauge"]}
    content["data"]["sha256"] = solve(Problem(X, y, gauge=gauge, penalty=Linear(1.0))).certificate().digest
    claims = content["claims"]
    claims |= {"sums": [], "dependencies": [], "free": {"lower": [None], "upper": [None]}}
    path.write_text(json.dumps(content | {"seal": seal(content)}))
    assert verify(path, X, y).valid
    claims |= {"undecided": [], "intervals": {"index": [], "lower": [], "upper": []}}
    path.write_text(json.dumps(content | {"seal": seal(content)}))
    assert "proven zero" in verify(path, X, y).reason


def test_chords_join_places_of_one_tree_and_jumps_have_both_signs(tmp_path):
    edges = [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]]
    y, path, X = np.array([0.0, 1.0, 4.0, 2.0, 2.0, 9.0]), tmp_path / "certificate.json", np.eye(6)
    solve(Problem(X, y, gauge=TotalVariation(edges=edges), penalty=Linear(0.1)), tol=1e-12).certificate().save(path)
    content = json.loads(path.read_text())
    assert verify(path, X, y).valid
    outer = content["problem"]["gauge"]
    inner = outer["gauge"]
    for gauge, reason in (
        (inner | {"chords": [[0, 3], *inner["chords"][1:]]}, "joins two trees"),
        ({"type": "Orthant", "gauge": inner}, "depends on signs"),
    ):
        content["problem"]["gauge"] = outer | {"gauge": gauge}
        path.write_text(json.dumps(content | {"seal": seal(content)}))
        assert reason in verify(path, X, y).reason


def test_what_is_all_but_full_is_checked():
    """An edge that is full but for a part of 1e-11, while little is known of the best score from below."""
    edges = [[2, 1], [6, 5], [2, 3], [7, 4], [5, 4], [6, 7], [3, 0], [1, 0]]
    weights, y = [0.5, 1.0, 0.5, 1.0, 2.0, 1.0, 0.5, 0.5], np.array([1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0])
    offset = np.array([-16.0, 32.0, 5 * 2.0**-33 - 36.0, 32.0 - 5 * 2.0**-33, 27.0, -36.0, 17.0, 4.0])
    gauge = TotalVariation(weights=weights, edges=edges)
    problem = Problem(np.eye(8), y, loss=SquaredHinge(), gauge=gauge, penalty=Linear(5.0), offset=offset)
    lifted = np.array([2e-9, -3.000000001, -1e-9, -3e-9, -4e-9, -2.999999997, 2e-9, -3e-9])
    checked = verify(certify(problem, lifted, problem.span.origin), np.eye(8), y, offset=offset)
    assert checked.valid, checked.reason


def test_places_of_several_graphs_are_told_apart_where_nothing_is_proven():
    edges = [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]]
    gauge, y = TotalVariation(edges=edges), np.arange(6.0)
    certificate = solve(Problem(np.eye(6), y, gauge=Scaled(gauge, 2.0), penalty=Linear(0.1))).certificate()
    roots = certificate.statement["unpenalised"]
    assert np.flatnonzero(~certificate.undecided).tolist() == roots
    assert not certificate.content()["claims"]["nonzero"]
    proven = solve(Problem(np.eye(6), y, gauge=gauge, penalty=Linear(0.1))).certificate()
    assert (proven.to_frame()["verdict"] == "unpenalised").sum() == len(roots)


def test_far_out_it_is_said_what_is_not_finite():
    gauge = TotalVariation(edges=[[0, 1], [1, 2], [2, 0]])
    problem = Problem(np.eye(3), [1.0, 2.0, 9.0], loss=Poisson(), gauge=gauge, penalty=Linear(0.1))
    certificate = certify(problem, np.array([0.0, 800.0, -800.0]), problem.span.origin)
    assert not certificate.valid
    assert "inside another gauge" not in certificate.reason


def test_what_is_not_there_yet_says_so():
    y, edges = image(2, 4)
    scaled = solve(Problem(np.eye(16), y, gauge=Scaled(TotalVariation(edges=edges), 2.0), penalty=Linear(0.1)))
    plain = solve(Problem(np.eye(16), y, gauge=TotalVariation(edges=edges), penalty=Linear(0.05)))
    assert scaled.point.objective == pytest.approx(plain.point.objective, rel=1e-5)
    certificate = scaled.certificate()
    assert not certificate.valid
    assert "inside another gauge" in certificate.reason
    with pytest.raises(ValueError, match="cycles are for one output"):
        Problem(np.eye(16), np.ones((16, 2)), gauge=TotalVariation(edges=edges))
    with pytest.raises(ValueError, match="finite where edges form a cycle"):
        TotalVariation(edges=[[0, 1], [1, 2], [0, 2]], weights=[1.0, 1.0, np.inf])


def test_a_larger_image():
    y, edges = image(3, 40)
    result = solve(Problem(None, y, gauge=TotalVariation(edges=edges), penalty=Linear(0.5 / 1600)), tol=1e-10)
    certificate = result.certificate()
    assert result.n_iter == 1
    assert certificate.undecided.sum() <= 10
    assert certificate.zero.sum() > 1500
