"""Files of numbers are read by rows: memory maps of float32, and Zarr."""

import tracemalloc

import numpy as np
import pytest
from kinds import library

from atomsieve import CertifiedLasso, Linear, Problem, solve, verify
from atomsieve.design import ChunkedDesign

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
