"""A set that is given by its oracle alone: the optimum of others, few passes, proofs from a bound, any kind of atom."""

import pickle
from itertools import permutations

import cvxpy as cp
import numpy as np
import pytest
from oracles import Ladder, Permutations, k_sparse, l1, l1_bound, nuclear, simplex
from scipy import sparse

from atomsieve import (
    GCG,
    L1,
    Atoms,
    Away,
    Ball,
    Certificate,
    GaugeRegressor,
    Group,
    Image,
    KSparse,
    Linear,
    LinearSquare,
    LineSearch,
    LogBarrier,
    Logistic,
    Multinomial,
    Oracle,
    Pairwise,
    Poisson,
    Power,
    Problem,
    Product,
    Scaled,
    Shifted,
    Square,
    Squared,
    Status,
    Union,
    path,
    solve,
    verify,
)
from atomsieve.testing import check_gauge, check_oracle

N, D = 40, 12
PENALTIES = [Linear(0.3), Square(0.5), Power(0.5, 1.5), Ball(0.5), LogBarrier(0.5, 0.1), LinearSquare(0.2, 0.3)]


class Entry:
    """An atom of a user's own: one entry, told when it is asked for."""

    def __init__(self, place, value):
        self.place, self.value = place, value

    def entries(self):
        return [self.place], [self.value]


def as_object(z):
    (place,), (value,) = l1(z)
    return Entry(place, value)


def as_sparse(z):
    (place,), (value,) = l1(z)
    return sparse.csr_array(([value], ([0], [place])), shape=(1, z.size))


def as_array(z):
    atom = np.zeros(z.shape)
    places, values = l1(z)
    atom.ravel()[places] = values
    return atom


def draw(loss, seed, n=N, d=D):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    signal = X @ rng.standard_normal(d) + 0.3 * rng.standard_normal(n)
    if isinstance(loss, Poisson):
        return X, rng.poisson(np.exp(0.1 * signal)).astype(float)
    return X, np.sign(signal) if isinstance(loss, Logistic) else signal


@pytest.mark.thin(3)
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("loss", [Squared(), Logistic(), Poisson()], ids=repr)
@pytest.mark.parametrize(
    ("lmo", "gauge"), [(l1, L1()), (as_object, L1()), (as_sparse, L1()), (as_array, L1()), (k_sparse, KSparse(3))]
)
def test_agrees_with_the_gauge(lmo, gauge, loss, penalty):
    X, y = draw(loss, 1)
    weights = np.random.default_rng(2).uniform(size=N)
    given = {"loss": loss, "penalty": penalty, "intercept": True, "sample_weight": weights}
    known = solve(Problem(X, y, gauge=gauge, **given), tol=1e-11)
    found = solve(Problem(X, y, gauge=Oracle(lmo), **given), tol=1e-9)
    assert found.status is Status.CONVERGED
    assert found.objective == pytest.approx(known.objective, rel=1e-8)
    atoms, mass = found.active, found.point.state.mass
    assert atoms.weights.min(initial=1.0) > 0
    assert atoms.weights.sum() == pytest.approx(mass)
    assert mass <= penalty.limit
    assert sum(w * atom.toarray((D,)) for atom, w in zip(*atoms, strict=True)) == pytest.approx(found.x, abs=1e-12)
    assert all(isinstance(given, type(lmo(X[0]))) for given in atoms.given)


@pytest.mark.parametrize("shape", [(30, 100), (60, 20)], ids=["atoms", "model"])
@pytest.mark.parametrize("penalty", [Linear(0.4), Ball(1.0), Square(1.0)], ids=repr)
def test_wide_and_tall_data(shape, penalty):
    """Where d is large beside n, working sets are atoms, and models of all columns elsewhere: the optimum is one."""
    X, y = draw(Squared(), 3, *shape)
    found = solve(Problem(X, y, gauge=Oracle(l1), penalty=penalty), tol=1e-9)
    assert found.status is Status.CONVERGED
    assert found.objective == pytest.approx(solve(Problem(X, y, penalty=penalty), tol=1e-10).objective, rel=1e-8)


@pytest.mark.parametrize("method", [GCG(LineSearch()), Away(), Pairwise()], ids=repr)
@pytest.mark.parametrize("penalty", [Square(2.0), Ball(0.5)], ids=repr)
def test_other_methods(method, penalty):
    X, y = draw(Squared(), 4)
    found = solve(Problem(X, y, gauge=Oracle(k_sparse), penalty=penalty), method, tol=1e-5, trace=True)
    assert found.status is Status.CONVERGED
    dual = solve(Problem(X, y, gauge=KSparse(3), penalty=penalty), tol=1e-11).dual
    assert found.gap + found.point.uncertainty >= found.objective - dual
    assert found.active.weights.sum() == pytest.approx(found.point.state.mass)


def permutahedron(w, loss, X, y):
    """Return the optimal value over the permutahedron itself."""
    x = cp.Variable(len(w))
    high = np.sort(w)[::-1]
    inside = [cp.sum(x) == high.sum()] + [cp.sum_largest(x, k) <= high[:k].sum() for k in range(1, len(w))]
    losses = cp.square(X @ x - y) / 2 if isinstance(loss, Squared) else cp.logistic(-cp.multiply(y, X @ x))
    program = cp.Problem(cp.Minimize(cp.sum(losses) / len(y)), inside)
    program.solve(solver=cp.CLARABEL, **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11))
    return program.value


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=repr)
def test_points_of_the_set_itself(loss):
    w = np.arange(1.0, 8.0)
    X, y = draw(loss, 5, 30, 7)
    perms = Permutations(w)
    gauge = Shifted(Oracle(perms.lmo, perms.bound), by=w)
    result = solve(Problem(X, y, loss=loss, gauge=gauge, penalty=Ball(1.0), offset=gauge.offset(X)), tol=1e-11)
    value = permutahedron(w, loss, X, y)
    assert result.objective == pytest.approx(value, abs=1e-7)
    x = gauge.point(result.x)
    assert x.sum() == pytest.approx(w.sum())
    assert (np.cumsum(np.sort(x)) >= np.cumsum(w) - 1e-9).all()
    certificate = result.certificate()
    assert certificate.valid
    assert certificate.dual - 1e-7 <= value <= certificate.primal + 1e-7
    assert certificate.primal - certificate.dual <= 1e-8


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=repr)
@pytest.mark.parametrize("share", [0.5, 0.1])
@pytest.mark.parametrize("kind", [Linear, Square, Ball])
def test_few_passes(loss, share, kind):
    """The permutahedron by its oracle alone on 300 x 200, to a relative gap of 1e-6: at most 60 passes in all."""
    w = (np.arange(200.0) - 99.5) / 200
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 200))
    signal = X @ rng.permutation(w) / 2
    y = signal + 0.3 * signal.std() * rng.standard_normal(300)
    y = y if isinstance(loss, Squared) else np.sign(y)
    gauge = Oracle(Permutations(w).lmo)
    critical = Problem(X, y, loss=loss, gauge=gauge).critical
    problem = Problem(X, y, loss=loss, gauge=gauge, penalty=kind(share / 2 if kind is Ball else share * critical))
    result = solve(problem, tol=1e-6)
    assert result.status is Status.CONVERGED
    assert problem.meter.passes <= 60


def test_paths_agree_with_the_list_of_all():
    ladder = Ladder(4)
    X, y = draw(Squared(), 6, 30, 16)
    for penalty in (Linear(0.1), Square(0.2), Ball(1.0)):
        listed = solve(Problem(X, y, gauge=Atoms(ladder.all_paths()), penalty=penalty), tol=1e-11)
        found = solve(Problem(X, y, gauge=Oracle(ladder.lmo, ladder.bound), penalty=penalty), tol=1e-10)
        assert found.objective == pytest.approx(listed.objective, rel=1e-8)
        certificate = found.certificate()
        assert certificate.dual <= listed.objective <= certificate.primal * (1 + 1e-9)
        for path_, score in zip(ladder.all_paths().T, ladder.all_paths().T @ found.point.z, strict=True):
            assert not (certificate.excludes(path_) and score > found.point.sigma - 1e-9)
        assert any(certificate.excludes(path_) for path_ in ladder.all_paths().T)
        assert not any(certificate.excludes(atom) for atom in found.active.given)


@pytest.mark.parametrize("seed", range(4))
def test_certificates_are_true(seed):
    """With all atoms listed, the exact optimum is known from the dual of another certificate."""
    rng = np.random.default_rng(seed)
    perms = Permutations(rng.normal(size=4))
    X, y = draw(Squared(), seed, 20, 4)
    every = np.array(list(permutations(perms.w))).T
    penalty = [Linear(0.1), Square(0.3), Ball(0.4), LogBarrier(0.5, 0.2)][seed]
    given = {"penalty": penalty, "intercept": seed % 2 == 1}
    truth = solve(Problem(X, y, gauge=Atoms(every), **given), tol=1e-14).certificate()
    for tol in (1e-2, 1e-5, 1e-12):
        result = solve(Problem(X, y, gauge=Oracle(perms.lmo, perms.bound), **given), tol=tol)
        certificate = result.certificate()
        assert certificate.valid
        assert certificate.dual <= truth.primal
        assert truth.dual <= certificate.primal
        best = solve(Problem(X, y, gauge=Oracle(perms.lmo, perms.bound), **given), tol=1e-14)
        assert (certificate.lower <= best.x + 1e-9).all()
        assert (best.x - 1e-9 <= certificate.upper).all()
        for atom in every.T:
            if certificate.excludes(atom):
                assert atom @ best.point.z < best.point.sigma
    assert np.isfinite(certificate.upper).all()
    assert sum(certificate.excludes(atom) for atom in every.T) >= 10


def test_without_a_bound_nothing_is_proven_and_the_certificate_says_so():
    X, y = draw(Squared(), 7)
    result = solve(Problem(X, y, gauge=Oracle(l1), penalty=Linear(0.3)))
    certificate = result.certificate()
    assert not certificate.valid
    assert "lower bound" in certificate.reason
    assert not certificate.excludes(([0], [1.0]))
    assert result.alive.all()


def test_a_bound_that_an_atom_refutes_proves_nothing():
    X, y = draw(Squared(), 7)
    low = Oracle(l1, lambda z, _err: 0.9 * np.abs(z).max())
    certificate = solve(Problem(X, y, gauge=low, penalty=Square(0.3))).certificate()
    assert not certificate.valid
    assert "too low" in certificate.reason


def test_zero_is_proven_above_the_critical_slope():
    X, y = draw(Squared(), 8)
    gauge = Oracle(l1, l1_bound)
    critical = Problem(X, y, gauge=gauge).critical
    result = solve(Problem(X, y, gauge=gauge, penalty=Linear(1.01 * critical)))
    assert result.certificate().zero.all()
    assert not result.active.atoms


def test_matrices_outputs_and_classes():
    X, y = draw(Squared(), 9)
    ball = solve(Problem(X, y, gauge=Oracle(nuclear), shape=(4, 3), penalty=Ball(1.0)), tol=1e-5)
    assert ball.status is Status.CONVERGED
    x = cp.Variable((4, 3))
    columns = cp.hstack([x[i, j] for i in range(4) for j in range(3)])
    program = cp.Problem(cp.Minimize(cp.sum_squares(X @ columns - y) / 2 / N), [cp.normNuc(x) <= 1])
    program.solve(solver=cp.CLARABEL)
    assert program.value - 1e-6 <= ball.objective <= program.value + ball.gap + 1e-6

    def longest_row(z):
        j = int(np.linalg.norm(z, axis=1).argmax())
        atom = np.zeros(z.shape)
        atom[j] = z[j] / np.linalg.norm(z[j])
        return atom

    outputs = np.stack([y, y[::-1]], axis=1)
    rows = solve(Problem(X, outputs, gauge=Oracle(longest_row), penalty=Square(1.0)), tol=1e-6)
    known = solve(Problem(X, outputs, gauge=Group(), penalty=Square(1.0)), tol=1e-9)
    assert rows.x.shape == (D, 2)
    assert known.dual <= rows.objective <= known.objective + rows.gap
    classes = np.random.default_rng(0).integers(0, 3, N)
    several = solve(Problem(X, classes, loss=Multinomial(), gauge=Oracle(l1), penalty=Square(0.5)), tol=1e-8)
    one = solve(Problem(X, classes, loss=Multinomial(), penalty=Square(0.5)), tol=1e-9)
    assert several.objective == pytest.approx(one.objective, rel=1e-7)


def test_calculus_and_starts():
    X, y = draw(Squared(), 10)
    gauge = Oracle(l1, l1_bound)
    plain = solve(Problem(X, y, gauge=gauge, penalty=Linear(0.5)), tol=1e-11)
    scaled = solve(Problem(X, y, gauge=Scaled(gauge, 2.0), penalty=Linear(1.0)), tol=1e-11)
    assert scaled.objective == pytest.approx(plain.objective)
    assert scaled.certificate().valid
    matrix = np.random.default_rng(0).normal(size=(D, 5))
    mapped = solve(Problem(X, y, gauge=Image(gauge, matrix), penalty=Linear(0.5)), tol=1e-11)
    assert mapped.objective == pytest.approx(solve(Problem(X @ matrix, y, penalty=Linear(0.5)), tol=1e-11).objective)
    again = solve(plain.problem, start=plain)
    assert again.n_iter == 0
    assert again.active.given == plain.active.given
    near = solve(plain.problem.at_penalty(Linear(0.45)), start=plain)
    assert near.status is Status.CONVERGED
    assert all(result.converged for result in path(plain.problem).results)
    with pytest.raises(ValueError, match="Start from an earlier Result"):
        solve(plain.problem, start=plain.x)
    with pytest.raises(ValueError, match="mass"):
        gauge.value(plain.x)
    for made in (lambda: Union(L1(), gauge), lambda: Product([([0], L1()), (list(range(1, D)), gauge)])):
        with pytest.raises(TypeError, match="one oracle of the whole set"):
            Problem(X, y, gauge=made())
    assert solve(Problem(X, y, gauge=gauge, ridge=1.0)).converged


def test_models_and_files(tmp_path):
    X, y = draw(Squared(), 11)
    model = GaugeRegressor(gauge=Oracle(l1, l1_bound), penalty=Linear(0.3), keep_data=True).fit(X, y)
    assert model.certificate_.valid
    pickle.loads(pickle.dumps(model)).predict(X)  # noqa: S301 -- our own bytes
    certificate = solve(Problem(X, y, gauge=Oracle(l1, l1_bound), penalty=Linear(0.3))).certificate()
    certificate.save(tmp_path / "certificate.json")
    assert Certificate.load(tmp_path / "certificate.json").dual == certificate.dual
    checked = verify(tmp_path / "certificate.json", X, y)
    assert not checked.known
    assert "not known to this checker" in str(checked)


@pytest.mark.parametrize(
    ("atom", "message"),
    [
        (np.zeros(3), "shape"),
        (np.full(D, np.nan), "NaN"),
        (([0, 0], [1.0, 1.0]), "twice"),
        (([D], [1.0]), "outside"),
        (([0], [1.0, 2.0]), "different lengths"),
        (sparse.csr_array(np.eye(3)), "sparse"),
        ("a", "got 'a'"),
    ],
    ids=["shape", "nan", "twice", "outside", "lengths", "matrix", "text"],
)
def test_odd_atoms_are_refused(atom, message):
    X, y = draw(Squared(), 12)
    with pytest.raises(ValueError, match=message):
        solve(Problem(X, y, gauge=Oracle(lambda _z: atom)))


def test_odd_arguments_are_refused():
    with pytest.raises(TypeError, match="lmo must be a function"):
        Oracle(np.eye(3))
    with pytest.raises(TypeError, match="bound must be a function"):
        Oracle(l1, 3.0)
    with pytest.raises(ValueError, match="point of P"):
        Shifted(Oracle(simplex))
    with pytest.raises(ValueError, match="shape"):
        Problem(np.eye(3), np.ones(3), gauge=Shifted(Oracle(simplex), by=np.ones(2)))


@pytest.mark.parametrize("seed", range(3))
def test_laws(seed):
    perms, ladder = Permutations([3.0, -1.0, 0.5, 2.0]), Ladder(2)
    for gauge, shape in (
        (Oracle(perms.lmo, perms.bound), (4,)),
        (Oracle(ladder.lmo, ladder.bound), (8,)),
        (Oracle(l1, l1_bound), (5,)),
        (Shifted(Oracle(perms.lmo, perms.bound), by=perms.w), (4,)),
        (Scaled(Oracle(perms.lmo, perms.bound), 0.3), (4,)),
    ):
        check_gauge(gauge, shape, seed=seed)


@pytest.mark.parametrize(
    "broken",
    [
        Oracle(lambda z: -as_array(z)),
        Oracle(lambda z: as_array(np.round(z))),
        Oracle(lambda z: as_array(z) * (1 + 1e-3 * np.abs(z).max())),
        Oracle(l1, lambda z, _err: np.abs(z).max()),
        Oracle(l1, lambda z, err: (np.abs(z) + err).max() * (1 - 1e-15)),
        Oracle(l1, lambda z, err: np.abs(z).max() + err.mean()),
        Oracle(l1, l1_bound, more=lambda z, _count: [2.0 * as_array(z)]),
    ],
    ids=["worst", "rounded", "grows", "no box", "an ulp", "mean", "more"],
)
def test_broken_oracles_are_caught(broken):
    with pytest.raises(AssertionError):
        check_oracle(broken, (5,))


def test_an_oracle_may_name_more_atoms():
    """With all coordinates above the slope at once, wide data take fewer passes than with one atom a pass."""
    X, y = draw(Squared(), 13, 40, 400)
    asked = []

    def more(z, count):
        asked.append(count)
        places = np.argsort(-np.abs(z))[:count]
        return [([j], [np.sign(z[j])]) for j in places]

    penalty = Linear(0.1 * Problem(X, y).critical)
    alone = solve(Problem(X, y, gauge=Oracle(l1, more=lambda _z, _count: []), penalty=penalty), tol=1e-6)
    found = solve(Problem(X, y, gauge=Oracle(l1, more=more), penalty=penalty), tol=1e-6)
    assert min(asked) >= 9
    assert found.converged
    assert found.passes < alone.passes / 2


def test_sparse_atoms_on_wide_data():
    ladder = Ladder(7)
    X, y = draw(Squared(), 14, 10, 28)
    listed = solve(Problem(X, y, gauge=Atoms(ladder.all_paths()), penalty=Square(1.0)), tol=1e-11)
    found = solve(Problem(X, y, gauge=Oracle(ladder.lmo, ladder.bound), penalty=Square(1.0)), tol=1e-10)
    assert found.objective == pytest.approx(listed.objective, rel=1e-8)
    assert found.certificate().dual <= listed.objective <= found.certificate().primal * (1 + 1e-9)
