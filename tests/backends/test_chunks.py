"""Rows in chunks say what the whole matrix says: products, Gram matrices, bounds, digests, solutions and proofs."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomsieve import L1, Group, Huber, Linear, LInf, Logistic, Multinomial, Poisson, Problem, Square, solve, verify
from atomsieve.design import ALL, ChunkedDesign, as_design, chunked
from atomsieve.design.base import bounded
from atomsieve.design.chunked import HeldRows, summed
from atomsieve.design.dense import DenseDesign
from atomsieve.numerics.enclosures import Enclosure

N, D = 157, 12
DTYPES = (np.float32, np.float16, np.int8, np.uint16, np.bool_)


def held(dtype=np.float32, order="C", seed=0, n=N, d=D):
    rng = np.random.default_rng(seed)
    return np.asarray((8 * rng.standard_normal((n, d))).astype(np.float32).astype(dtype), order=order)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Chunks of a few rows, so that there are many of them."""
    monkeypatch.setattr(chunked, "CHUNK", 16 * D)
    monkeypatch.setattr(chunked, "LEAST_ROWS", 4)
    monkeypatch.setattr("atomsieve.design.CHUNK", 16 * D)


def pair(dtype=np.float32, order="C", kept=None):
    """Return a design in chunks, and the same matrix in doubles as one."""
    X = held(dtype, order)
    rows = np.arange(N) if kept is None else kept
    return ChunkedDesign(HeldRows(X, kept)), DenseDesign(np.asarray(X[rows].astype(np.float64), order=order))


every_kind = pytest.mark.parametrize(
    ("dtype", "order", "kept"),
    [(dtype, order, None) for dtype in DTYPES for order in "CF"] + [(np.float32, "C", np.arange(3, N, 4))],
)
INDICES = (ALL, slice(2, 5), np.array([7]), np.array([1, 4, 5, 11]))


@every_kind
def test_products(dtype, order, kept):
    chunks, whole = pair(dtype, order, kept)
    n = whole.shape[0]
    rng = np.random.default_rng(1)
    r, w = rng.standard_normal((n, 3)), rng.uniform(0.1, 1.0, n)
    assert chunks.shape == whole.shape
    assert np.allclose(chunks.rmatvec(r), whole.rmatvec(r), atol=1e-11)
    assert np.allclose(chunks.rmatvec(r[:, 0]), whole.rmatvec(r[:, 0]), atol=1e-11)
    assert np.allclose(chunks.products(list(r.T)), whole.products(list(r.T)), atol=1e-11)
    assert np.allclose(chunks.squared_norms(w, 2.0), whole.squared_norms(w, 2.0))
    assert chunks.largest() == whole.largest()
    assert chunks.is_finite()
    for index in INDICES:
        x = rng.standard_normal(len(np.arange(D)[index]))
        assert np.allclose(chunks.matvec(x, index), whole.matvec(x, index), atol=1e-11)
        assert np.array_equal(chunks.columns(index), whole.columns(index))
        assert np.array_equal(chunks.select(index).columns(ALL), whole.columns(index))
    picked, own = chunks.packed(INDICES[-1]), whole.packed(INDICES[-1])
    for j in range(len(INDICES[-1])):
        first, second = ((part.values[part.value_starts[j] :][:n]) for part in (picked, own))
        assert np.array_equal(first, second)
    chosen = rng.random(n) < 0.4
    assert np.array_equal(chunks.samples(chosen).columns(ALL), whole.columns(ALL)[chosen])


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("columns", [0, 1, 3])
def test_gram(columns, signed):
    chunks, whole = pair()
    rng = np.random.default_rng(2)
    w = rng.uniform(-1.0, 1.0, N) if signed else rng.uniform(0.1, 1.0, N)
    basis = None if signed or not columns else rng.standard_normal((N, columns))
    left, right = INDICES[-1], np.array([0, 4])
    for others in (left, right):
        found, expected = (design.gram(w, left, others, 4.0, basis) for design in (chunks, whole))
        assert np.allclose(found, expected, atol=1e-12)


@every_kind
def test_digests_and_fingerprints(dtype, order, kept):
    chunks, whole = pair(dtype, order, kept)
    told = [b"".join(bytes(part) for part in design.rows_as_bytes()) for design in (chunks, whole)]
    assert told[0] == told[1]
    before = [part.tobytes() for part in chunks.parts()]
    assert before == [part.tobytes() for part in chunks.parts()]
    assert b"".join(before) == np.ascontiguousarray(chunks.chunks.matrix[ALL if kept is None else kept]).tobytes()


def exact(array):
    return [[Fraction(float(entry)) for entry in row] for row in np.atleast_2d(array)]


def inside(truth, found):
    """Whether every exact number lies within its enclosure, in exact arithmetic."""
    pairs = zip(truth, found.mid.ravel(), found.rad.ravel(), strict=True)
    return all(abs(number - Fraction(float(mid))) <= Fraction(float(rad)) for number, mid, rad in pairs)


@pytest.mark.parametrize("centred", [False, True])
def test_bounds_hold_in_exact_arithmetic(centred):
    chunks, _ = pair()
    if centred:
        chunks = chunks.centred()
    centres = np.zeros(D) if chunks.taken is None else chunks.taken
    entries = [[a - c for a, c in zip(row, exact(centres)[0], strict=True)] for row in exact(chunks.columns(ALL))]
    rng = np.random.default_rng(3)
    r, x = rng.standard_normal(N) * 1e3, rng.standard_normal(D)
    adjoint = [sum(entries[i][j] * Fraction(float(r[i])) for i in range(N)) for j in range(D)]
    image = [sum(a * Fraction(float(b)) for a, b in zip(row, x, strict=True)) for row in entries]
    every, theta = np.arange(D), Enclosure.exact(r)
    survey = chunks.survey(theta)
    for found in (chunks.enclose_adjoint(theta), chunks.sharp_adjoint(theta, every), survey.product):
        assert inside(adjoint, found)
    assert inside(adjoint[3:4], chunks.sharp_adjoint(theta, every[3:4]))
    for found in (chunks.enclose(Enclosure.exact(x)), chunks.sharp(x, every)):
        assert inside(image, found)
    assert inside([entry for row in entries for entry in row], chunks.enclose_columns(ALL))
    for lengths in (chunks.norm_bounds(np.ones(N)), survey.lengths):
        for j in range(D):
            assert Fraction(float(lengths[j])) ** 2 >= sum(entries[i][j] ** 2 for i in range(N))


@pytest.mark.parametrize("centred", [False, True])
def test_bounds_are_as_narrow_as_those_of_one_matrix(centred):
    chunks, whole = pair()
    chunks = chunks.centred() if centred else chunks
    theta = Enclosure.exact(np.random.default_rng(4).standard_normal(N))
    sharp, plain = chunks.sharp_adjoint(theta, np.arange(D)), bounded(whole).sharp_adjoint(theta, np.arange(D))
    assert (sharp.rad <= 8 * plain.rad.max()).all()
    assert (chunks.survey(theta).product.rad <= 2 * bounded(whole).survey(theta).product.rad).all()


@given(st.lists(st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=2), min_size=1, max_size=8), st.floats(0, 1e10))
def test_sums_of_enclosures_hold_in_exact_arithmetic(rows, rad):
    parts = [Enclosure(np.array(row), np.full(2, rad)) for row in rows]
    found = summed(iter(parts))
    for j in range(2):
        total = sum(Fraction(row[j]) for row in rows)
        if np.isfinite(found.mid[j]) and np.isfinite(found.rad[j]):
            distance = abs(total - Fraction(float(found.mid[j]))) + len(rows) * Fraction(rad)
            assert distance <= Fraction(float(found.rad[j]))


@pytest.mark.parametrize("dtype", [np.float32, np.int8])
@pytest.mark.parametrize(
    "pieces",
    [
        {"penalty": Linear(0.3)},
        {"loss": Logistic(), "penalty": Square(1.0), "intercept": True},
        {"loss": Huber(0.5), "gauge": Group(np.repeat(np.arange(4), 3)), "penalty": Linear(0.2), "intercept": True},
        {"loss": Poisson(), "penalty": Linear(0.5), "intercept": True},
        {"loss": Multinomial(), "penalty": Linear(0.3), "intercept": True},
        {"gauge": LInf(), "penalty": Square(1.0)},
        {"penalty": Linear(0.2), "ridge": 0.1, "sample_weight": np.arange(N) % 3.0},
    ],
    ids=repr,
)
def test_solutions_and_proofs(dtype, pieces):
    X = held(dtype)
    scores = X[:, 0].astype(float) - X[:, 1] + np.random.default_rng(5).standard_normal(N)
    kind = pieces.get("loss", Huber()).targets
    y = {"signs": np.sign(scores), "counts": np.floor(np.abs(scores)), "classes": np.arange(N) % 3}.get(kind, scores)
    found, expected = (solve(Problem(data, y, **pieces), tol=1e-13) for data in (X, X.astype(np.float64)))
    assert isinstance(found.problem.data.design, ChunkedDesign)
    assert np.allclose(found.x, expected.x, atol=1e-9)
    certificate, own = found.certificate(), expected.certificate()
    assert np.array_equal(certificate.zero, own.zero)
    assert np.array_equal(certificate.nonzero, own.nonzero)
    assert certificate.digest == own.digest
    weights = pieces.get("sample_weight")
    for data in (X, X.astype(np.float64)):
        assert verify(certificate, data, y, sample_weight=weights).valid


def test_a_matrix_of_one_chunk_is_widened():
    assert isinstance(as_design(held(n=10)), DenseDesign)
    assert isinstance(as_design(held()), ChunkedDesign)
    assert as_design(whole := held()).chunks.matrix is whole


def test_numbers_that_are_not_finite():
    X = held()
    X[-1, 3] = np.inf
    with pytest.raises(ValueError, match="NaN or infinite"):
        Problem(X, np.zeros(N))


def test_data_that_change_after_the_proof_have_no_digest():
    X = held()
    certificate = solve(Problem(X, X[:, 0].astype(float), gauge=L1(), penalty=Linear(0.1))).certificate()
    X[0, 0] += 1
    with pytest.raises(ValueError, match="X has changed"):
        certificate.digest  # noqa: B018
