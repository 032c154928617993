"""Dask arrays in chunks of rows: the same answer as NumPy's, and nothing but small arrays on the client."""

import numpy as np
import pytest
from kinds import COUNTS, FREE, IN_CHUNKS, OFFSET, SIGNS, WEIGHTS, D, X, Y, in_dask, in_sparse_chunks, library
from scipy.sparse import csr_array

from atomsieve import (
    GCG,
    L1,
    Group,
    Huber,
    Linear,
    LineSearch,
    Logistic,
    Multinomial,
    Poisson,
    Problem,
    Square,
    Squared,
    SquaredHinge,
    solve,
    verify,
)
from atomsieve.certificate.identity import digest_of
from atomsieve.design import ALL, as_design
from atomsieve.design.dense import DenseDesign
from atomsieve.methods.corrective.inner import BESIDE
from atomsieve.methods.trail import _aimed_on
from atomsieve.numerics.namespace import like, on_host
from atomsieve.numerics.samplewise import Made, evaluate
from atomsieve.numerics.tasks import Later, received, watched
from atomsieve.problem.place import told_of

pytest.importorskip("dask.array", reason="dask is not installed")

LOSSES = {Squared(): Y, Logistic(): SIGNS, Huber(0.5): Y, SquaredHinge(): SIGNS, Poisson(): COUNTS}
SMALL = 1000
"""Bytes of single numbers."""
GROUPS = np.repeat(np.arange(D // 5), 5)


def assert_agrees(put, loss, tol=1e-15, **pieces):
    y = LOSSES[loss]
    samples = {name: value for name, value in pieces.items() if name in ("free", "offset", "sample_weight")}
    moved = pieces | {name: in_dask(value) for name, value in samples.items()}
    found = solve(Problem(put(X), in_dask(y), loss=loss, **moved), tol=tol)
    expected = solve(Problem(X, y, loss=loss, **pieces), tol=tol)
    assert np.abs(found.x - expected.x).max() <= 1e-10
    assert abs(found.intercept - expected.intercept) <= 1e-10
    assert abs(found.gap - expected.gap) <= tol * found.problem.baseline + 2 * found.point.uncertainty
    certificate, own = found.certificate(), expected.certificate()
    assert np.array_equal(certificate.zero, own.zero)
    assert np.array_equal(certificate.nonzero, own.nonzero)
    assert certificate.digest == own.digest
    assert verify(certificate, X, y, **samples).valid


def test_sparse_chunks():
    assert_agrees(in_sparse_chunks, Squared(), penalty=Linear(0.06), intercept=True)


def test_groups():
    assert_agrees(in_dask, Logistic(), gauge=Group(GROUPS), penalty=Linear(0.06))


@pytest.mark.deep
@pytest.mark.parametrize(("gauge", "put"), [(L1(), in_dask), (Group(GROUPS), in_sparse_chunks)], ids=["L1", "Group"])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_losses(loss, gauge, put):
    assert_agrees(put, loss, gauge=gauge, penalty=Linear(0.06), intercept=True)


@pytest.mark.deep
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_free_columns_offsets_and_weights(loss):
    pieces = {"free": FREE, "offset": OFFSET, "sample_weight": WEIGHTS}
    assert_agrees(in_dask, loss, penalty=Linear(0.05), intercept=True, **pieces)


@pytest.mark.parametrize("put", IN_CHUNKS.values(), ids=IN_CHUNKS)
def test_products(put):
    chunks, whole = as_design(put(X)), DenseDesign(X)
    rng = np.random.default_rng(0)
    r, w, basis = rng.standard_normal(len(X)), rng.uniform(0.1, 1, len(X)), rng.standard_normal((len(X), 2))
    there = [like(array, chunks.matrix) for array in (r, w, basis)]
    index = np.array([0, 3, 17])
    assert np.allclose(chunks.rmatvec(there[0]), whole.rmatvec(r))
    assert np.allclose(chunks.products([there[0], there[1]]), whole.products([r, w]))
    assert np.allclose(on_host(chunks.matvec(r[:3], index)), whole.matvec(r[:3], index))
    assert np.allclose(on_host(chunks.columns(index)), whole.columns(index))
    assert np.allclose(on_host(chunks.select(index).columns(ALL)), whole.columns(index))
    assert np.allclose(chunks.squared_norms(there[1], 2.0), whole.squared_norms(w, 2.0))
    assert chunks.largest() == whole.largest()
    for others in (index, np.array([5, 2])):
        for over, own in ((None, None), (there[2], basis)):
            expected = whole.gram(w, index, others, 2.0, own)
            assert np.allclose(chunks.gram(there[1], index, others, 2.0, over), expected)
    chosen = rng.random(len(X)) < 0.5
    chosen[:47] = False  # two chunks are left without rows
    assert np.array_equal(on_host(chunks.samples(chosen).columns(ALL)), X[chosen])


def test_gram_modulo_a_basis_that_some_weights_remove():
    w = np.zeros(len(X))
    w[:5] = 1.0
    basis = np.ones((len(X), 2))
    basis[:, 1] = np.arange(len(X)) >= 5  # all of it has no weight
    chunks, index = as_design(in_dask(X)), np.array([0, 3, 17])
    centred = X[:5, index] - X[:5, index].mean(axis=0)
    found = chunks.gram(like(w, chunks.matrix), index, index, 1.0, like(basis, chunks.matrix))
    assert np.allclose(found, centred.T @ centred)


def moments(u, v):
    """Return a formula of each kind."""
    return Made((u + v, v[:, None] * u[:, None]), ((u * v).sum(), v.sum()), (u.max(),))


def test_formulas_over_chunks():
    u, v = np.arange(90.0), np.sin(np.arange(90.0))
    found = evaluate(moments, in_dask(u), in_dask(v))
    expected = moments(u, v)
    for array, own in zip(found.arrays, expected.arrays, strict=True):
        assert array.chunks[0] == in_dask(u).chunks[0]
        assert np.array_equal(on_host(array), own)
    assert np.allclose(found.sums, expected.sums)
    assert found.maxima == (89.0,)


def test_nothing_long_comes_to_the_client(monkeypatch):
    array = library("dask.array").Array
    problem = Problem(in_dask(X), in_dask(SIGNS), loss=Logistic(), penalty=Linear(0.06), intercept=True)
    assert problem.baseline > 0  # the columns B are orthonormalised here, once
    sizes, compute = [], array.compute

    def watched(self, *args, **options):
        found = compute(self, *args, **options)
        sizes.append(np.size(found))
        return found

    monkeypatch.setattr(array, "compute", watched)
    point = solve(problem).point
    assert max(sizes, default=0) < len(X)
    for samples in (problem.y, point.u, point.theta, point.state.image):
        assert isinstance(samples, array)
        assert samples.chunks[0] == (40, 7, 43)


def test_methods_of_the_paper():
    problem = Problem(in_dask(X), in_dask(Y), penalty=Square(0.3))
    expected = solve(Problem(X, Y, penalty=Square(0.3)), GCG(LineSearch()), max_iter=6)
    found = solve(problem, GCG(LineSearch()), max_iter=6)
    assert np.abs(found.x - expected.x).max() <= 1e-12


def test_chunks_of_columns_unknown_heights_and_single_precision():
    da = library("dask.array")
    whole = da.from_array(X.astype(np.float32), chunks=(30, 11))
    kept = whole[da.from_array(np.arange(len(X)) % 3 > 0, chunks=30)]
    rows = np.arange(len(X)) % 3 > 0
    found = solve(Problem(kept, Y[rows], penalty=Linear(0.1)), tol=1e-12)
    expected = solve(Problem(X.astype(np.float32)[rows], Y[rows], penalty=Linear(0.1)), tol=1e-12)
    assert np.abs(found.x - expected.x).max() <= 1e-10
    assert found.problem.data.design.matrix.dtype == np.float32


def test_refusals():
    with pytest.raises(ValueError, match="several outputs or classes take NumPy arrays"):
        Problem(in_dask(X), np.arange(len(X)) % 3, loss=Multinomial())
    with pytest.raises(TypeError, match="y is a dask Array, and would be copied"):
        Problem(X, in_dask(Y))
    with pytest.raises(ValueError, match="X contains NaN"):
        Problem(in_dask(np.where(X[50, 3] == X, np.nan, X)), Y)


def test_frames():
    frames, pandas = library("dask.dataframe"), library("pandas")
    names = [f"gene {j}" for j in range(D)]
    lazy = frames.from_pandas(pandas.DataFrame(X, columns=names), npartitions=3)
    targets = frames.from_pandas(pandas.Series(Y), npartitions=3)
    found = solve(Problem(lazy, targets, penalty=Linear(0.1), intercept=True), tol=1e-15)
    expected = solve(Problem(X, Y, penalty=Linear(0.1), intercept=True), tol=1e-15)
    assert np.abs(found.x - expected.x).max() <= 1e-10
    assert found.problem.data.names == tuple(names)
    certificate = found.certificate()
    assert verify(certificate, lazy, targets).valid
    assert not verify(certificate, frames.from_pandas(pandas.DataFrame(X + 1e-9), npartitions=2), Y).valid


@pytest.mark.parametrize("put", IN_CHUNKS.values(), ids=IN_CHUNKS)
def test_the_checker_reads_chunks(put):
    certificate = solve(Problem(X, Y, penalty=Linear(0.1))).certificate()
    assert verify(certificate, put(X), in_dask(Y)).valid


def test_features_far_from_zero():
    """The Gram matrix modulo the constant loses no digits where little is left of a column without it."""
    far = X + 1e5 * np.arange(D)
    pieces = {"loss": Logistic(), "penalty": Linear(0.05), "intercept": True}
    # Rounding of 3e6 * theta leaves gaps of 1e-10; below that the number of iterations is chance.
    found, expected = (solve(Problem(data, SIGNS, **pieces), tol=1e-9) for data in (in_dask(far), far))
    assert found.converged
    assert found.n_iter <= expected.n_iter + 2
    assert np.abs(found.x - expected.x).max() <= 1e-6


ROWS, WIDTH = 4000, 60


def large():
    rng = np.random.default_rng(1)
    entries = rng.standard_normal((ROWS, WIDTH))
    return entries, np.sign(entries[:, :5].sum(axis=1) + rng.standard_normal(ROWS))


@pytest.mark.parametrize("intercept", [False, True])
def test_what_passes_through_the_client(intercept):
    """8 (d + m^2) bytes in a trip at most, and nothing as long as the samples; a few trips for a step."""
    entries, labels = large()
    problem = Problem(
        in_dask(entries, rows=500),
        in_dask(labels, rows=500),
        loss=Logistic(),
        penalty=Linear(0.02),
        intercept=intercept,
    )
    assert problem.baseline > 0  # the columns B are orthonormalised, once
    with watched() as traffic:
        result = solve(problem, tol=1e-9)
    working = 2 * max(np.count_nonzero(result.x), BESIDE)
    bound = 8 * (WIDTH + (working + intercept) ** 2) + SMALL
    assert result.converged
    assert traffic.most_received <= min(bound, 8 * ROWS)
    assert traffic.most_sent <= 3 * bound  # each chunk is told the working set
    assert traffic.trips <= (35 if intercept else 30)


def counted(monkeypatch, name=None, instead=None):
    """Return the result and the trips of a fit, perhaps with one of the ways to spare trips taken away."""
    entries, labels = large()
    with monkeypatch.context() as patch:
        if name is not None:
            patch.setattr(name, instead)
        pieces = {"loss": Logistic(), "penalty": Linear(0.02), "intercept": True}
        problem = Problem(in_dask(entries, rows=500), in_dask(labels, rows=500), **pieces)
        with watched() as traffic:
            result = solve(problem, tol=1e-9)
    return result, traffic.trips


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("atomsieve.methods.trail.Scouts.places", ()),
        ("atomsieve.methods.corrective.inner.foreseen", lambda _problem, view, *_: view),
    ],
    ids=["places at the end of a move", "the next Hessian"],
)
def test_what_comes_along_with_a_trip_changes_no_answer(monkeypatch, name, instead):
    """It spares trips, and what is found without it is the same to rounding."""
    found, trips = counted(monkeypatch)
    expected, more = counted(monkeypatch, name, instead)
    assert trips <= more - 3
    assert found.n_iter == expected.n_iter
    assert np.abs(found.x - expected.x).max() <= 1e-13
    assert found.gap == pytest.approx(expected.gap, rel=1e-6, abs=1e-15)


def test_nothing_is_asked_twice_of_the_last_image():
    problem = Problem(in_dask(X), in_dask(SIGNS), loss=Logistic(), penalty=Linear(0.06), intercept=True)
    point = solve(problem).point
    with watched() as traffic:
        again = problem.lifted.view(point.state)
    assert traffic.trips == 0
    assert again.z is point.view.z
    assert again.state.x is point.state.x
    elsewhere = problem.state(np.zeros(D))
    with watched() as traffic:
        problem.lifted.view(elsewhere)
    assert traffic.trips > 0


@pytest.mark.parametrize("put", IN_CHUNKS.values(), ids=IN_CHUNKS)
def test_columns_that_are_kept(put):
    """The Gram matrix of any columns, in any order, after those of others."""
    chunks, whole = as_design(put(X)), DenseDesign(X)
    w = np.random.default_rng(0).uniform(0.1, 1, len(X))
    there, basis = like(w, chunks.matrix), np.ones((len(X), 1))
    for index in map(np.array, ([3, 7, 20], [20, 3], [7], [5, 3], range(D), [29, 0])):
        for over in (None, basis):
            own = None if over is None else like(over, chunks.matrix)
            expected = whole.gram(w, index, index, 2.0, over)
            assert np.allclose(chunks.gram(there, index, index, 2.0, own), expected, rtol=1e-12, atol=1e-12)
        kept = [columns.tolist() for columns, _ in chunks._kept]
        assert len(kept) == 1
        assert len(kept[0]) <= D / 2


@pytest.mark.parametrize("hessian", [0.3, 0.0, np.inf, np.nan])
@pytest.mark.parametrize("gradient", [0.0, 1.0, 1e308, -np.inf, np.nan])
def test_a_task_that_aims_raises_nothing(gradient, hessian):
    """Where a search has nowhere to go, the trip that looks ahead of it ends all the same."""
    told = Made((), (np.array([gradient]), np.array([[hessian]])), (3.0, 0.25))
    with np.errstate(all="ignore"):
        aim = _aimed_on(told, np.array([2.0]), 1.0)
    assert aim.shape == (1,)
    assert gradient != 0.0 or aim[0] == 2.0


class Unknown(Logistic):
    """A loss of which the core knows nothing."""


@pytest.mark.parametrize("known", [Squared(), Logistic(), Huber(0.5), SquaredHinge()], ids=repr)
@pytest.mark.parametrize("moves", [False, True])
def test_the_core_tells_what_the_formulas_do(monkeypatch, known, moves):
    rng = np.random.default_rng(3)
    image, move, w = rng.standard_normal((3, 700))
    arrays = (image, rng.standard_normal((700, 2)), np.sign(rng.standard_normal(700)), np.abs(w))
    moved, taken = ((move,), rng.standard_normal(2)) if moves else ((), None)
    pieces = {"loss": known, "coordinates": rng.standard_normal(2), "taken": taken}
    found = told_of(*arrays, *moved, **pieces)
    monkeypatch.setattr("atomsieve.problem.place.number_of", lambda _: None)
    expected = told_of(*arrays, *moved, **pieces)
    for part, own in zip((*found.sums, *found.maxima), (*expected.sums, *expected.maxima), strict=True):
        assert np.allclose(part, own, rtol=1e-11, atol=1e-11)


def test_a_loss_that_the_core_does_not_know():
    pieces = {"penalty": Linear(0.06), "intercept": True}
    found = solve(Problem(in_dask(X), in_dask(SIGNS), loss=Unknown(), **pieces), tol=1e-15)
    expected = solve(Problem(X, SIGNS, loss=Logistic(), **pieces), tol=1e-15)
    assert np.abs(found.x - expected.x).max() <= 1e-10


def test_rows_that_are_made_as_they_are_read():
    first, second = np.arange(10_000.0), np.sin(np.arange(10_000.0))
    inner = Later(np.multiply, first, second)
    outer = Later(lambda a, b: a - b, inner, first)
    assert len(outer) == 10_000
    assert np.array_equal(outer[4095:4099], (first * second - first)[4095:4099])
    assert np.array_equal(received(outer), first * second - first)
    assert received(Later(np.negative, np.zeros(0))).shape == (0,)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("heights", [(13,), (4, 1, 2, 6), (1,) * 13, (7, 6)])
def test_digests_are_made_where_the_chunks_are(kind, heights):
    """Rows are hashed together by threes here: such blocks lie in one chunk, in two, or in three."""
    rng, width = np.random.default_rng(0), 300_000
    rows = rng.standard_normal((13, width)) * (rng.random((13, width)) < 0.02)
    y = rng.standard_normal(13)
    there = library("dask.array").from_array(rows, chunks=(heights, width))
    there = there.map_blocks(csr_array) if kind == "sparse" else there
    data = Problem(there, library("dask.array").from_array(y, chunks=13)).hosted.data
    with watched() as traffic:
        found = digest_of(data)
    assert found == digest_of(Problem(rows, y).data)
    assert traffic.trips == 1
    assert traffic.received + traffic.sent < SMALL
