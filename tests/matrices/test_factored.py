"""Matrices that are held by their factors: the same answers as by all entries, and nothing as long as x is formed."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from atomsieve import (
    Ball,
    Completion,
    Huber,
    Linear,
    LInf,
    LogBarrier,
    Logistic,
    Nuclear,
    Problem,
    PSDTrace,
    Scaled,
    Square,
    Squared,
    solve,
    verify,
)
from atomsieve.core import _plain, factors
from atomsieve.design import SparseDesign
from atomsieve.design.places import CROWDED, Places
from atomsieve.gauges.matrix import Near
from atomsieve.gauges.triplets import Triplets
from atomsieve.methods.corrective.curvature import AtPlaces, Everywhere
from atomsieve.methods.corrective.surfaces import Surface, System, conjugate_gradients
from atomsieve.numerics.krylov import Beyond
from atomsieve.numerics.rounding import EPS


def drawn(seed, rows=14, columns=11, seen=0.5, *, symmetric=False):
    """Return a table of rank 2 with noise, and which entries are seen."""
    rng = np.random.default_rng(seed)
    left = rng.normal(size=(rows, 2))
    table = left @ (left.T if symmetric else rng.normal(size=(2, columns))) + 0.1 * rng.normal(size=(rows, columns))
    return table, rng.uniform(size=table.shape) < seen


@pytest.mark.parametrize("width", [0, 1, 3, 8])
def test_entries_of_a_product(width):
    rng = np.random.default_rng(width)
    left, right = rng.normal(size=(7, width)), rng.normal(size=(5, width))
    rows, columns = (rng.integers(0, count, 20).astype(np.int32) for count in (7, 5))
    expected = (left @ right.T)[rows, columns]
    np.testing.assert_allclose(factors.factored_entries(left, right, rows, columns), expected, atol=1e-14)
    if width:
        found = np.empty(20)
        _plain.factored_entries(left, right, width, rows, columns, found)
        np.testing.assert_allclose(found, expected, atol=1e-14)
        for wrong in (np.full(20, 7, dtype=np.int32), np.full(20, -1, dtype=np.int32)):
            with pytest.raises(ValueError, match="places within the table"):
                _plain.factored_entries(left, right, width, wrong, columns, found)
        with pytest.raises(ValueError, match="expected 20 numbers"):
            _plain.factored_entries(left, right, width, rows, columns, np.empty(19))


@pytest.mark.parametrize("seen", [0.05, 0.6])
def test_places_are_the_design(seen):
    """With entries that are seen twice, by other factors, and samples that see nothing; sparse and dense."""
    rng = np.random.default_rng(3)
    form, n = (9, 8), int(72 * seen) + 2
    dense = np.zeros((n, 72))
    dense[np.arange(n), rng.integers(0, 72, n)] = rng.normal(size=n)
    dense[0] = 0.0
    places = Places.of(SparseDesign.of(csr_array(dense), "X"), form)
    assert places.crowded == (len(places.rows) >= CROWDED * 72)
    left, right, theta = rng.normal(size=(9, 3)), rng.normal(size=(8, 3)), rng.normal(size=n)
    np.testing.assert_allclose(
        places.samples(places.entries(left, right)), dense @ (left @ right.T).ravel(), atol=1e-13
    )
    for table in (places.table, places.matrix):
        found = table(places.sums(theta))
        np.testing.assert_allclose(found @ np.eye(8), (dense.T @ theta).reshape(form), atol=1e-13)
    squares = places.table(places.squares(theta**2)).toarray().ravel()
    np.testing.assert_allclose(squares, (dense**2).T @ theta**2, atol=1e-13)
    dense[1, :2] = 1.0
    assert Places.of(SparseDesign.of(csr_array(dense), "X"), form) is None


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("rank", [0, 2])
def test_values_beyond_subspaces(symmetric, rank):
    """Of a small matrix exactly, of a large one as far as is asked; and never is a score above its bound."""
    rng = np.random.default_rng(rank)
    for count in (6, 450):
        dense = np.where(rng.uniform(size=(count, count)) < max(0.02, 6 / count), rng.normal(size=(count, count)), 0.0)
        left = np.linalg.qr(rng.normal(size=(count, rank)))[0]
        right = left if symmetric else np.linalg.qr(rng.normal(size=(count, rank)))[0]
        even = (dense + dense.T) / 2 if symmetric else dense
        rest = even - left @ (left.T @ even)
        rest = rest - (rest @ right) @ right.T
        values = np.linalg.eigvalsh(rest)[::-1] if symmetric else np.linalg.svd(rest, compute_uv=False)
        for table in (dense, csr_array(dense)):
            beyond = Beyond(table, left, right, symmetric)
            assert beyond.highest() == pytest.approx(max(values[0], 0.0), rel=1e-8)
            pairs = beyond.leading(3, rng.normal(size=(count, 3)))
            assert (pairs.values <= values[:3] * (1 + 1e-9) + 1e-12).all()
            np.testing.assert_allclose(np.sum(pairs.left * (rest @ pairs.right), axis=0), pairs.values, atol=1e-9)
        x = Triplets(left, np.ones(rank), right)
        gauge = PSDTrace() if symmetric else Nuclear()
        truth = max(gauge.scores(dense)[0], 0.0)
        bound = gauge.score_near(Near.of(csr_array(dense), x, symmetric=symmetric), max(values[0], 0.0))
        assert truth <= bound * (1 + 1e-9)
        if rank == 0:
            assert bound == pytest.approx(truth, rel=1e-8)


def same(observed, y, form, **stated):
    """Check that a problem by its entries and one by a dense matrix have the same solution."""
    one = solve(Problem(observed, y, **stated), tol=1e-10)
    other = solve(Problem(observed.tocsr().toarray(), y, shape=form, **stated), tol=1e-10)
    assert (one.point.state.factors is None) == ("ridge" in stated)
    assert other.point.state.factors is None
    scale = one.problem.baseline
    assert one.gap <= 1e-8 * scale
    assert other.gap <= 1e-8 * scale
    assert one.objective == pytest.approx(other.objective, abs=1e-8 * scale)
    assert one.problem.critical == pytest.approx(other.problem.critical, rel=1e-9)
    assert one.x.shape == form
    return one


@pytest.mark.thin(5)
@pytest.mark.parametrize("loss", [Squared(), Logistic(), Huber(0.3)], ids=repr)
@pytest.mark.parametrize("penalty", [Linear(0.02), Square(0.004), Ball(6.0), LogBarrier(9.0, 3.0)], ids=repr)
@pytest.mark.parametrize("gauge", [Nuclear(), Scaled(Nuclear(), 0.5), PSDTrace()], ids=repr)
def test_same_solution_by_all_entries(loss, penalty, gauge):
    table, seen = drawn(1, 11, 11, symmetric=isinstance(gauge, PSDTrace))
    y = np.where(table[seen] > 0, 1.0, -1.0) if isinstance(loss, Logistic) else table[seen]
    observed = Completion(*np.nonzero(seen), table.shape)
    result = same(observed, y, table.shape, loss=loss, gauge=gauge, penalty=penalty, intercept=True)
    certificate = result.certificate()
    rounded = 8 * EPS * result.problem.baseline  # that of an objective in doubles: the gap may be smaller
    assert certificate.dual - rounded <= result.objective
    assert abs(certificate.primal - result.objective) <= 1e-12 * result.problem.baseline  # of a point beside it
    checked = verify(certificate, observed, y)
    assert checked.valid, checked.reason


@pytest.mark.parametrize("seen", [0.12, 0.7])
def test_same_solution_beside_a_ridge_and_weights(seen):
    table, chosen = drawn(2, seen=seen)
    y, observed = table[chosen], Completion(*np.nonzero(chosen), table.shape)
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(y))
    same(observed, y, table.shape, gauge=Nuclear(), penalty=Linear(0.02), ridge=0.01)
    same(observed, y, table.shape, gauge=Nuclear(), penalty=Linear(0.02), sample_weight=weights)


def test_start_and_path_keep_the_factors():
    table, seen = drawn(4)
    problem = Problem(Completion(*np.nonzero(seen), table.shape), table[seen], gauge=Nuclear(), penalty=Linear(0.02))
    result = solve(problem, tol=1e-9)
    again = solve(problem.at_penalty(Linear(0.01)), start=result, tol=1e-9)
    assert again.point.state.factors is not None
    from_array = solve(problem.at_penalty(Linear(0.01)), start=result.x.ravel(), tol=1e-9)
    assert from_array.objective == pytest.approx(again.objective, abs=1e-9)
    within = solve(problem.at_penalty(Ball(2.0)), start=again, tol=1e-9)
    assert within.point.state.mass <= 2.0
    assert solve(problem, tol=1e-6, trace=True).trace.nonzero[-1] == 1


def test_nothing_as_long_as_x():
    """A matrix of 30,000 x 25,000 would take 6 gigabytes."""
    rng = np.random.default_rng(5)
    form = (30_000, 25_000)
    used = [np.sort(rng.choice(form[side], count, replace=False)) for side, count in ((0, 30), (1, 20))]
    table, seen = drawn(6, 30, 20)
    rows, columns = np.nonzero(seen)
    large = Problem(Completion(used[0][rows], used[1][columns], form), table[seen], gauge=Nuclear())
    small = Problem(Completion(rows, columns, table.shape), table[seen], gauge=Nuclear())
    assert large.critical == pytest.approx(small.critical, rel=1e-9)
    penalty = Linear(0.4 * small.critical)
    one, other = (solve(problem.at_penalty(penalty), tol=1e-7) for problem in (large, small))
    assert one.converged
    assert one.objective == pytest.approx(other.objective, abs=1e-7 * small.baseline)
    values = [np.linalg.norm(r.point.state.factors.left[:, 0]) for r in (one, other)]
    assert values == pytest.approx([1.0, 1.0])


def test_flat_losses_need_few_passes():
    """Outliers of Huber's loss leave no curvature; a long way is gone all the same."""
    table, seen = drawn(2, rows=150, columns=60, seen=0.3)
    problem = Problem(Completion(*np.nonzero(seen), table.shape), table[seen], loss=Huber(0.3), gauge=Nuclear())
    result = solve(problem.at_penalty(Linear(0.1 * problem.critical)), tol=1e-6)
    assert result.converged
    assert result.passes <= 60


def test_scaled_passes_on_what_a_gauge_says():
    for gauge in (LInf(), Nuclear()):
        scaled = Scaled(gauge, 2.0)
        for name in ("dense", "ranked", "proximal", "split", "listed", "one_by_one", "entrywise", "decides"):
            assert getattr(scaled, name) == getattr(gauge, name), name


@pytest.mark.parametrize("symmetric", [False, True])
def test_pairs_stay_beyond(symmetric):
    """Although the search starts within the subspaces that are left out, but for what rounding has left."""
    rng = np.random.default_rng(1)
    dense = rng.normal(size=(90, 90))
    left = np.linalg.qr(rng.normal(size=(90, 6)))[0]
    right = left if symmetric else np.linalg.qr(rng.normal(size=(90, 6)))[0]
    start = right + 1e-9 * rng.normal(size=right.shape)
    pairs = Beyond(csr_array(dense), left, right, symmetric).leading(9, start)
    assert len(pairs.values) == 9
    for inside, found in ((left, pairs.left), (right, pairs.right)):
        np.testing.assert_allclose(inside.T @ found, 0.0, atol=1e-12)
        np.testing.assert_allclose(found.T @ found, np.eye(9), atol=1e-12)


def surface_at(curvature, gauge, rank, known):
    """Return the surface at a point of a rank, with so many pairs beyond that are known, and a change along it."""
    rng, (rows, columns) = np.random.default_rng(2), curvature.form
    left = np.linalg.qr(rng.normal(size=(rows, rank)))[0]
    right = left if gauge.symmetric else np.linalg.qr(rng.normal(size=(columns, rank)))[0]
    x, z = Triplets(left, np.linspace(3.0, 0.5, rank), right), rng.normal(size=(rows, columns))
    beyond = Beyond(z, left, right, gauge.symmetric)
    pairs = beyond.leading(known, rng.normal(size=(columns, rows)))
    found = Surface(x, 2.0, z, 2.0 / beyond.highest(), gauge, pairs)
    return found, found.parts(rng.normal(size=(rows, columns)))


@pytest.mark.parametrize("gauge", [Nuclear(), PSDTrace()], ids=repr)
def test_ease_is_the_inverse_of_an_even_curvature(gauge):
    """If all pairs beyond are known."""
    curvature = Everywhere(0.3 * np.eye(81), (9, 9))
    surface, change = surface_at(curvature, gauge, 2, 7)
    system = System(surface, curvature, 0.0)
    np.testing.assert_allclose(system.times(surface.eased(change, 0.3)), change, atol=1e-11)
    roughly, _ = surface_at(curvature, gauge, 2, 3)
    assert not np.allclose(System(roughly, curvature, 0.0).times(roughly.eased(change, 0.3)), change, atol=1e-3)


def test_known_pairs_save_products():
    """Where a few values beyond nearly reach the slope, an ease that knows no pair takes three times as many."""
    table, seen = drawn(3, 120, 100, seen=0.2)
    places = Places.of(SparseDesign.of(Completion(*np.nonzero(seen), table.shape).tocsr(), "X"), table.shape)
    curvature = AtPlaces(places, np.full(len(places.rows), 0.05), np.zeros((len(places.rows), 0)))
    counts = []
    for known in (20, 0):
        surface, change = surface_at(curvature, Nuclear(), 3, known)
        system, count = System(surface, curvature, 0.0), 0

        def times(step, system=system):
            nonlocal count
            count += 1
            return system.times(step)

        conjugate_gradients(times, change, lambda r, surface=surface: surface.eased(r, curvature.mean), 1e-6, 500)
        counts.append(count)
    assert 3 * counts[0] <= counts[1], counts
