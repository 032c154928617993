"""Sums for proofs: they enclose what fractions say, in both builds; and fingerprints, which see every changed bit."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array
from twins import load

from atomsieve import core
from atomsieve.core import Packed
from atomsieve.design import DenseDesign, SparseDesign
from atomsieve.design.centred import CentredDesign
from atomsieve.design.sparse import packed_lines
from atomsieve.numerics import exact
from atomsieve.numerics.enclosures import Enclosure
from atomsieve.numerics.enclosures import dots as twin

SIZES = st.floats(-1e30, 1e30, allow_subnormal=False)


@pytest.fixture(params=["chosen", "plain"])
def build(request, monkeypatch):
    chosen = core._core if request.param == "chosen" else load("_plain", core._plain.__file__)
    monkeypatch.setattr(exact, "_core", chosen)
    return chosen


def encloses(found, truth):
    """Assert that fractions are within the radius of the midpoint."""
    for mid, rad, number in zip(found.mid.tolist(), found.rad.tolist(), truth, strict=True):
        assert abs(Fraction(mid) - number) <= Fraction(rad)


def matrix(seed, n, m, density):
    """Return a matrix whose columns have all sizes, stored by columns, with zeros."""
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.integers(-12, 13, (n, m))
    return np.asfortranarray(rng.standard_normal((n, m)) * sizes * (rng.random((n, m)) < density))


@pytest.mark.parametrize("density", [1.0, 0.2])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 3), (8, 2), (33, 5), (100, 4)])
def test_products_in_twice_the_precision(build, n, m, density):
    A = matrix(n, n, m, density)
    rng = np.random.default_rng(1)
    v = Enclosure(rng.standard_normal(n), np.abs(rng.standard_normal(n)) * 1e-15)
    x = rng.standard_normal(m) * 10.0 ** rng.integers(-8, 9, m)
    truth = [sum(Fraction(a) * Fraction(b) for a, b in zip(column, v.mid, strict=True)) for column in A.T]
    image = [sum(Fraction(a) * Fraction(b) for a, b in zip(row, x, strict=True)) for row in A]
    for packed in (Packed.of(A), packed_lines(csc_array(A))):
        exactly = exact.dots(packed, Enclosure.exact(v.mid))
        encloses(exactly, truth)
        encloses(exact.image(packed, x, n), image)
        blurred = exact.dots(packed, v)
        known = twin(A, v)
        np.testing.assert_allclose(blurred.mid, known.mid, rtol=0, atol=known.rad.max())
        assert (blurred.rad <= 1.001 * known.rad + 1e-300).all()
        assert (exactly.rad <= 1e-15 * np.abs(exactly.mid) + 1e-28 * (np.abs(A).T @ np.abs(v.mid)) + 1e-300).all()
        for end in (v.mid - v.rad / 2, v.mid + v.rad / 2):  # numbers inside the radius
            encloses(blurred, [sum(Fraction(a) * Fraction(b) for a, b in zip(c, end, strict=True)) for c in A.T])


@pytest.mark.parametrize("density", [1.0, 0.2])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 3), (33, 5), (260, 2), (1, 300), (600, 4)])
def test_a_survey_of_all_columns(build, n, m, density):
    A = matrix(n, n, m, density)
    rng = np.random.default_rng(1)
    v = Enclosure(rng.standard_normal(n), np.abs(rng.standard_normal(n)) * 1e-15)
    centres = A.mean(axis=0)
    plain = [DenseDesign(order(A)) for order in (np.asfortranarray, np.ascontiguousarray)]
    wide = [DenseDesign(np.vstack([A, A]).copy(order="F")[:n]), DenseDesign(np.hstack([A, A])[:, :m])]  # with gaps
    sparse = [SparseDesign(form(A)) for form in (csc_array, csr_array)]
    every = [(design, design.survey(v), np.zeros(m)) for design in [*plain, *wide, *sparse]]
    every += [(design, CentredDesign(design, centres).survey(v), centres) for design in [*plain, *wide]]
    for design, found, c in every:
        rests = [[Fraction(a) - Fraction(centre) for a in column] for column, centre in zip(A.T, c, strict=True)]
        for end in (v.mid, v.mid - v.rad, v.mid + v.rad):
            encloses(found.product, [sum(a * Fraction(b) for a, b in zip(rest, end, strict=True)) for rest in rests])
        squares = [sum(a * a for a in rest) for rest in rests]
        assert all(Fraction(length) ** 2 >= square for length, square in zip(found.lengths, squares, strict=True))
        roots = np.sqrt(np.array(squares, dtype=float))
        np.testing.assert_allclose(found.lengths, roots, rtol=1e-9, atol=1e-150)
        size = np.sqrt(np.sum(v.mid**2))
        assert (
            found.product.rad <= (roots + 1e-150) * (1e-13 * size + 1.001 * np.sqrt(np.sum(v.rad**2))) + 1e-300
        ).all()
        whole = isinstance(design.matrix, np.ndarray) and design.matrix.flags.forc
        assert found.fingerprint == (exact.fingerprint(design.parts()) if whole else None)


def test_a_survey_of_what_overflows_is_not_known(build):
    for entries in ((1e300, 1e300), (np.inf, 1.0), (np.nan, 1.0), (1e200, 1e200)):
        for form in (np.asfortranarray, np.ascontiguousarray, csc_array, csr_array):
            A = form(np.array([[entries[0], 1.0], [1e300, 1.0]]))
            design = DenseDesign(A) if isinstance(A, np.ndarray) else SparseDesign(A)
            found = design.survey(Enclosure.exact(np.array([entries[1], 1e10])))
            assert not np.isfinite(found.product.rad[0])
            assert not np.isfinite(found.lengths[0])


def test_a_survey_refuses_what_lies_outside(build):
    v, out = np.ones(2), np.empty(6)
    places, starts = np.array([0, 1], dtype=np.int32), np.array([0, 1, 2])
    for lines, by_rows in (
        ((np.ones(3), None, None, 2), False),
        ((np.ones(3), None, None, 2), True),
        ((np.ones(4), None, None, -2), False),
        ((np.ones(2), np.array([0, 2], dtype=np.int32), starts, 0), False),
        ((np.ones(2), np.array([0, -1], dtype=np.int32), starts, 0), True),
        ((np.ones(2), places, np.array([0, 3, 2]), 0), False),
        ((np.ones(2), places, np.array([0, 1, 3]), 0), True),
        ((np.ones(2), places, np.array([-1, 1, 2]), 0), False),
        ((np.ones(2), places[:1], starts, 0), False),
    ):
        with pytest.raises(ValueError, match=r"outside|expected"):
            exact._core.survey(lines, v, None, 1.0, 0.0, out, None, None, by_rows)
    keys, sums = exact.KEYS, np.empty(2, dtype=np.int64)
    with pytest.raises(ValueError, match="without gaps"):
        exact._core.survey((np.ones(5), None, None, 3), v, None, 1.0, 0.0, out, keys, sums, False)
    with pytest.raises(ValueError, match="expected"):
        exact._core.survey((np.ones(4), None, None, 2), v, None, 1.0, 0.0, out, exact.KEYS, sums[:1], False)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(SIZES, SIZES), min_size=1, max_size=40))
def test_cancelling_sums(pairs):
    a, b = np.array(pairs).T
    a, b = np.concatenate([a, a, [3.0]]), np.concatenate([b, -b, [7.0]])
    found = exact.dots(Packed.of(a[:, None]), Enclosure.exact(b))
    encloses(found, [Fraction(21)])
    encloses(exact.image(Packed.of(a[None]), b, 1), [Fraction(21)])


def test_what_overflows_is_not_known(build):
    for a, b in ((1e300, 1e300), (np.inf, 1.0), (np.nan, 1.0)):
        column = Packed.of(np.array([[1.0], [a]]))
        found = exact.dots(column, Enclosure.exact(np.array([1.0, b])))
        assert not np.isfinite(found.rad).any()
        assert not np.isfinite(exact.image(column, np.array([b]), 2).rad[1])


@pytest.mark.parametrize("order", ["C", "F", "part of rows", "part of columns", "sparse columns", "sparse rows"])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 5), (6, 1), (30, 7)])
def test_weighted_squares_in_every_layout(build, n, d, order):
    A = matrix(d, n, d, 0.6) if order.startswith("sparse") else matrix(d, n, d, 1.0)
    w = np.random.default_rng(0).random(n)
    if order.startswith("sparse"):
        stored = csc_array(A)
        designs = [(SparseDesign(stored if "columns" in order else stored.tocsr()), np.zeros(d))]
    else:
        wider = np.zeros((n + 2, d + 3), order="F" if order in ("F", "part of rows") else "C")
        wider[:n, :d] = A
        design = DenseDesign(wider[:n, :d] if "part" in order else np.array(A, order=order))
        designs = [(design, np.zeros(d)), (CentredDesign.of(design), CentredDesign.of(design).centres)]
    for design, centres in designs:
        bounds = design.norm_bounds(w)
        for j in range(d):
            square = sum(Fraction(w[i]) * (Fraction(A[i, j]) - Fraction(centres[j])) ** 2 for i in range(n))
            assert square <= Fraction(bounds[j]) ** 2 <= square * (1 + Fraction(1, 10**12)) + Fraction(1, 10**300)


@pytest.mark.parametrize("count", [1, 2, 7, 1023, 1024, 1025, 5000])
def test_fingerprints_see_every_bit(build, count):
    numbers = np.random.default_rng(count).standard_normal(count)
    before = exact.fingerprint([numbers])
    assert exact.fingerprint([numbers.copy()]) == before
    bits = numbers.view(np.uint64)
    for place in {0, count // 2, count - 1}:
        for bit in range(64):
            bits[place] ^= np.uint64(1 << bit)
            assert exact.fingerprint([numbers]) != before
            bits[place] ^= np.uint64(1 << bit)
    assert exact.fingerprint([numbers]) == before
    if count > 1:
        assert exact.fingerprint([numbers[::-1].copy()]) != before  # another order
        assert exact.fingerprint([numbers[:-1]]) != before


def test_fingerprints_of_short_numbers_and_of_several_arrays():
    short = np.arange(11, dtype=np.int32)
    before = exact.fingerprint([short])
    for place in range(11):
        short[place] ^= 1
        assert exact.fingerprint([short]) != before
        short[place] ^= 1
    one, two = np.ones(3), np.ones(4)
    assert len({exact.fingerprint(parts) for parts in ([one, two], [two, one], [np.ones(7)], [one])}) == 4
    assert exact.fingerprint([np.zeros(0)]) != exact.fingerprint([])


def test_builds_have_the_same_fingerprints():
    plain = load("_plain", core._plain.__file__)
    numbers = np.random.default_rng(0).standard_normal(3000)
    sums = np.empty((2, 6), dtype=np.int64)
    for build, row in zip((plain, core._core), sums, strict=True):
        build.fingerprint(numbers.view(np.uint8), exact.KEYS, row)
    assert (sums[0] == sums[1]).all()


def test_a_fingerprint_is_a_sum_of_products_of_halves():
    words = np.random.default_rng(0).integers(0, 2**63, 1500, dtype=np.int64)
    found = np.empty(4, dtype=np.int64)
    core._core.fingerprint(words.view(np.uint8), exact.KEYS, found)
    known = []
    for start in (0, 1024):
        for keys in (exact.KEYS[:1024], exact.KEYS[1024:]):
            pairs = zip(words[start : start + 1024].tolist(), keys.tolist(), strict=False)
            moved = [(word + key) % 2**64 for word, key in pairs]
            known.append(sum((x % 2**32) * (x >> 32) for x in moved) % 2**64)
    assert [int(number) % 2**64 for number in found] == known


def test_what_does_not_fit_is_refused():
    packed, v = Packed.of(np.ones((3, 2))), np.ones(3)
    with pytest.raises(ValueError, match="out: expected 8 numbers"):
        core._core.exact_dots(packed, v, v, np.zeros(2), np.empty((3, 2)))
    with pytest.raises(ValueError, match="column 0 lies outside"):
        core._core.exact_image(packed, np.ones(2), np.zeros((3, 2)))
    with pytest.raises(ValueError, match="a weight for each row"):
        core._core.lengths(packed, v, np.zeros(1), np.zeros(1), False)
    with pytest.raises(ValueError, match="keys: expected 2048"):
        core._core.fingerprint(np.zeros(8, dtype=np.uint8), np.zeros(5, dtype=np.int64), np.zeros(2, dtype=np.int64))
    rows = csc_array(np.random.default_rng(0).standard_normal((4, 3)))
    rows.indices[0] = 9
    with pytest.raises(ValueError, match="column 0 lies outside"):
        exact.image(packed_lines(rows), np.ones(3), 4)
