"""A design in a file says what the matrix in memory says, and reads the file as often as it should."""

import numpy as np
import pytest
from kinds import library

from atomsieve import L1, Group, Linear, Logistic, Problem, Square, solve, verify
from atomsieve.design import ALL, FiledDesign, as_design, files
from atomsieve.design.base import bounded
from atomsieve.design.centred import CentredDesign
from atomsieve.design.dense import DenseDesign
from atomsieve.numerics.enclosures import Enclosure
from atomsieve.numerics.exact import fingerprint

N, D = 611, 40
RNG = np.random.default_rng(5)
X = RNG.standard_normal((N, D)).astype(np.float32)
SIGNS = np.where(X[:, :4].sum(axis=1) + RNG.standard_normal(N) > 0, 1.0, -1.0)
KEPT = np.arange(N) % 3 > 0
EVERY, SOME = (Enclosure.exact(RNG.standard_normal(size)) for size in (N, int(KEPT.sum())))
INDICES = (ALL, slice(0, 0), slice(3, 9), np.array([7]), np.array([1, 4, 5, 30]))


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(files, "MAPPED", 0)
    monkeypatch.setattr(files, "PIECE", 1 << 13)
    monkeypatch.setattr(files, "TALL", 1 << 13)


def mapped(folder, dtype, order):
    held = np.asarray(X, dtype=dtype, order=order)
    np.save(folder / "X.npy", held)
    return np.load(folder / "X.npy", mmap_mode="r")


def in_zarr(folder, dtype, order):
    stored = library("zarr").create_array(
        folder / "X.zarr", shape=X.shape, chunks=(50, 20) if order == "C" else (N, 3), dtype=dtype
    )
    stored[:] = X
    return stored


def in_hdf5(folder, dtype, order):
    file = library("h5py").File(folder / "X.h5", "w")
    return file.create_dataset("X", data=X.astype(dtype), chunks=None if order == "C" else (N, 2))


every_file = pytest.mark.parametrize(
    ("store", "dtype", "order"),
    [(mapped, dtype, order) for dtype in ("f4", "f8", "i2") for order in "CF"]
    + [(store, dtype, order) for store in (in_zarr, in_hdf5) for dtype in ("f4", "f8") for order in "CF"],
    ids=lambda value: getattr(value, "__name__", value),
)


def values(dtype):
    return X.astype(dtype).astype(np.float64)


def passes(design):
    return design.file.traffic.bytes / (N * D * design.file.dtype.itemsize)


@every_file
@pytest.mark.parametrize("kept", [False, True])
def test_products_and_bounds(tmp_path, store, dtype, order, kept):
    design, whole = as_design(store(tmp_path, dtype, order)), DenseDesign(values(dtype))
    assert isinstance(design, FiledDesign)
    r = EVERY
    if kept:
        design, whole, r = design.samples(KEPT), whole.samples(KEPT), SOME
    n = whole.shape[0]
    weights = RNG.uniform(0.5, 1.5, n)
    assert design.shape == whole.shape
    assert np.allclose(design.rmatvec(r.mid), whole.rmatvec(r.mid), atol=1e-10)
    two = np.stack([r.mid, weights], axis=1)
    assert np.allclose(design.rmatvec(two), whole.rmatvec(two), atol=1e-10)
    assert np.allclose(design.products(list(two.T)), whole.products(list(two.T)), atol=1e-10)
    for scale in (1.0, 4.0):
        for each in (weights, np.ones(n)):
            assert np.allclose(design.squared_norms(each, scale), whole.squared_norms(each, scale))
    assert np.allclose(design.centres, whole.centres)
    assert design.largest() == whole.largest()
    for index in INDICES:
        x = RNG.standard_normal(len(np.arange(D)[index]))
        assert np.allclose(design.matvec(x, index), whole.matvec(x, index), atol=1e-10)
        assert np.array_equal(design.columns(index), whole.columns(index))
        assert np.array_equal(design.select(index).columns(ALL), whole.columns(index))
        if not isinstance(index, slice):
            first, second = design.packed(index), whole.packed(index)
            pairs = zip(first.value_starts, second.value_starts, strict=True)
            assert all(np.array_equal(first.values[a:][:n], second.values[b:][:n]) for a, b in pairs)
    left, right = np.array([1, 5, 9]), np.array([2, 5])
    assert np.allclose(design.gram(weights, left, right, 2.0), whole.gram(weights, left, right, 2.0))
    assert np.allclose(design.gram(weights, left, left, 2.0), whole.gram(weights, left, left, 2.0))
    for one, other in ((design, whole), (design.centred(), CentredDesign(whole, design.centres))):
        assert_bounds(one, other, r, weights)
    told = [b"".join(bytes(part) for part in bounded(held).rows_as_bytes()) for held in (design, whole)]
    assert told[0] == told[1]


def overlap(a, b):
    return bool((np.abs(a.mid - b.mid) <= a.rad + b.rad).all())


def assert_bounds(design, whole, r, weights):
    some, x = np.array([0, 3, 4, 20]), RNG.standard_normal(4)
    survey, own = design.survey(r), whole.survey(r)
    assert overlap(survey.product, own.product)
    assert (survey.product.rad <= 100 * own.product.rad + 1e-11).all()
    assert np.allclose(survey.lengths, own.lengths)
    if design.taken is None:
        assert survey.fingerprint == b"".join(fingerprint([part]) for part in design.parts())
    assert overlap(design.enclose_adjoint(r), whole.enclose_adjoint(r))
    assert overlap(design.sharp_adjoint(r, some), whole.sharp_adjoint(r, some))
    assert overlap(design.sharp(x, some), whole.sharp(x, some))
    assert overlap(design.enclose(Enclosure.exact(x), some), whole.enclose(Enclosure.exact(x), some))
    every = Enclosure.exact(RNG.standard_normal(D))
    assert overlap(design.enclose(every), whole.enclose(every))
    assert overlap(design.enclose_columns(some), whole.enclose_columns(some))
    assert np.allclose(design.norm_bounds(weights), whole.norm_bounds(weights))
    assert np.allclose(design.norm_bounds(weights, some), whole.norm_bounds(weights, some))
    gram, _ = design.squares_of(Enclosure.exact(weights[:, None]), some, weights)
    columns = np.concatenate([weights[:, None], whole.enclose_columns(some).mid], axis=1)
    assert np.allclose(gram, columns.T @ (weights[:, None] * columns))


@every_file
@pytest.mark.parametrize(
    "pieces",
    [
        {"loss": Logistic(), "penalty": Linear(0.05)},
        {"loss": Logistic(), "penalty": Square(0.5), "intercept": True},
        {"penalty": Linear(0.1), "gauge": Group(np.repeat(np.arange(10), 4)), "intercept": True},
        {"penalty": Linear(0.1), "sample_weight": KEPT * 1.0, "gauge": L1()},
    ],
    ids=["plain", "intercept", "groups", "weights"],
)
def test_solutions_and_proofs(tmp_path, store, dtype, order, pieces):
    given = store(tmp_path, dtype, order)
    found, expected = (solve(Problem(held, SIGNS, **pieces), tol=1e-12) for held in (given, values(dtype)))
    assert isinstance(found.problem.data.design, FiledDesign)
    assert np.abs(found.x - expected.x).max() <= 1e-9
    certificate, own = found.certificate(), expected.certificate()
    assert np.array_equal(certificate.zero, own.zero)
    assert np.array_equal(certificate.nonzero, own.nonzero)
    assert certificate.digest == own.digest
    assert verify(certificate, values(dtype), SIGNS, sample_weight=pieces.get("sample_weight")).valid


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("store", [in_zarr, in_hdf5])
def test_a_file_that_has_changed_is_read_again(tmp_path, store, order, outputs):
    """Columns are kept from the run before; a certificate is about X as it is when it is asked for."""
    given, targets = store(tmp_path, "f8", order), np.repeat(SIGNS[:, None], outputs, axis=1).squeeze()
    run, new = solve(Problem(given, targets, penalty=Linear(0.1)), tol=1e-12), values("f8")
    new[:, 0] = RNG.standard_normal(N)
    given[:] = new
    expected = solve(Problem(new, targets, penalty=Linear(0.1)), tol=1e-12).certificate()
    certificate = run.certificate()
    assert certificate.dual <= expected.primal
    assert certificate.primal >= expected.dual
    assert not (certificate.zero & expected.nonzero).any()
    assert certificate.digest == expected.digest
    assert verify(certificate, new, targets).valid


def test_a_file_that_changes_later_has_no_certificate_any_more(tmp_path):
    given = in_zarr(tmp_path, "f8", "C")
    certificate = solve(Problem(given, SIGNS, penalty=Linear(0.1)), tol=1e-12).certificate()
    given[:] = values("f8")[::-1]
    with pytest.raises(ValueError, match="X has changed since the proof"):
        certificate.save(tmp_path / "certificate.json")
