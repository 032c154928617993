"""Files of numbers are read by rows: memory maps of float32, and Zarr."""

import tracemalloc

import numpy as np
import pytest
from kinds import library

from atomsieve import (
    CertifiedLasso,
    CertifiedLassoCV,
    CertifiedLogisticRegressionCV,
    CertifiedSelector,
    Linear,
    Parquet,
    Problem,
    solve,
    verify,
)
from atomsieve.design import ChunkedDesign
from atomsieve.estimators.task import TrainingData

RNG = np.random.default_rng(3)
N, D = 3000, 120
X = RNG.standard_normal((N, D)).astype(np.float32)
Y = X[:, :3].sum(axis=1) + RNG.standard_normal(N)
WEIGHTS = (np.arange(N) % 5 > 0).astype(float)


def assert_same(stored, **pieces):
    found = solve(Problem(stored, Y, penalty=Linear(0.2), **pieces), tol=1e-12)
    expected = solve(Problem(X.astype(np.float64), Y, penalty=Linear(0.2), **pieces), tol=1e-12)
    assert isinstance(found.problem.data.design, ChunkedDesign)
    assert np.abs(found.x - expected.x).max() <= 1e-10
    certificate = found.certificate()
    assert np.array_equal(certificate.zero, expected.certificate().zero)
    assert certificate.digest == expected.certificate().digest
    assert verify(certificate, X, Y, sample_weight=pieces.get("sample_weight")).valid


@pytest.mark.parametrize("pieces", [{}, {"intercept": True, "sample_weight": WEIGHTS}], ids=["plain", "weights"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_maps_of_single_precision(tmp_path, order, pieces):
    np.save(tmp_path / "X.npy", np.asarray(X, order=order))
    assert_same(np.load(tmp_path / "X.npy", mmap_mode="r"), **pieces)


@pytest.mark.parametrize("pieces", [{}, {"intercept": True, "sample_weight": WEIGHTS}], ids=["plain", "weights"])
def test_zarr(tmp_path, pieces):
    zarr = library("zarr")
    stored = zarr.create_array(tmp_path / "X.zarr", shape=X.shape, chunks=(500, 50), dtype="f4")
    stored[:] = X
    assert_same(stored, **pieces)


@pytest.mark.parametrize("order", ["C", "F"])
def test_single_precision_is_not_widened_as_a_whole(order):
    held = np.asarray(RNG.standard_normal((1000, 4000)).astype(np.float32), order=order)
    y = held[:, :3].sum(axis=1) + RNG.standard_normal(1000)
    tracemalloc.start()
    model = CertifiedLasso(alpha=0.5).fit(held, y)
    certificate = solve(Problem(held, y, penalty=Linear(0.5), intercept=True)).certificate()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert certificate.valid
    assert model.coef_.dtype == np.float64
    assert peak < held.nbytes  # half of what X takes in doubles


def in_parquet(folder):
    pa, pq = library("pyarrow"), library("pyarrow.parquet")
    table = pa.table({"y": Y} | {f"gene {j}": column for j, column in enumerate(X.T)})
    pq.write_table(table, folder / "X.parquet", row_group_size=700)
    return Parquet(folder / "X.parquet", leave_out=["y"])


def in_hdf5(folder):
    return library("h5py").File(folder / "X.h5", "w").create_dataset("X", data=X, chunks=(400, D))


def in_zarr(folder):
    stored = library("zarr").create_array(folder / "X.zarr", shape=X.shape, chunks=(500, 50), dtype="f4")
    stored[:] = X
    return stored


every_store = pytest.mark.parametrize("store", [in_parquet, in_hdf5, in_zarr])


@every_store
@pytest.mark.parametrize("standardize", [False, True])
def test_estimators_read_files_in_pieces(tmp_path, store, standardize):
    stored = store(tmp_path)
    model = CertifiedLasso(0.2, standardize=standardize, tol=1e-12).fit(stored, Y)
    plain = CertifiedLasso(0.2, standardize=standardize, tol=1e-12).fit(X, Y)
    assert TrainingData.of(model, stored, Y, None, None, reset=True).X is stored
    assert model.coef_ == pytest.approx(plain.coef_, rel=1e-9, abs=1e-10)
    assert model.predict(stored) == pytest.approx(plain.predict(X), rel=1e-9)
    assert model.score(stored, Y) == pytest.approx(plain.score(X, Y), rel=1e-9)
    assert np.array_equal(model.certificate_.zero, plain.certificate_.zero)
    assert model.verify(stored, Y).valid
    assert "R²" in str(model.summary())
    if store is in_parquet:
        assert model.feature_names_in_[3] == "gene 3"
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(Parquet(tmp_path / "X.parquet", leave_out=["gene 3"]))


@every_store
def test_choices_on_files(tmp_path, store):
    stored, labels = store(tmp_path), np.where(Y > 0, "yes", "no")
    for kind, y in ((CertifiedLassoCV(alphas=5, cv=3), Y), (CertifiedLogisticRegressionCV(Cs=4, cv=3), labels)):
        model, plain = kind.fit(stored, y).cv_scores_, kind.fit(X, y).cv_scores_
        assert model == pytest.approx(plain, rel=1e-4)
    shuffled = [(np.random.default_rng(0).permutation(N)[:2000], np.arange(2000, N))]
    models = [CertifiedLassoCV(alphas=5, cv=shuffled, scoring="r2").fit(held, Y) for held in (stored, X)]
    assert models[0].cv_scores_ == pytest.approx(models[1].cv_scores_, rel=1e-4)


@every_store
def test_the_checker_and_selectors(tmp_path, store):
    stored = store(tmp_path)
    certificate = solve(Problem(stored, Y, penalty=Linear(0.2))).certificate()
    assert verify(certificate, stored, Y).valid
    assert not verify(certificate, stored, Y + 1).valid
    with pytest.raises(TypeError, match=r"do that yourself, with (np.asarray\(X\)|pandas.read_parquet) where it fits"):
        CertifiedSelector(CertifiedLasso(0.2)).fit(stored, Y)
