"""What the core does for proofs: bounds of sizes, of the logistic loss, and inverses; exact answers and twins judge."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import load

from atomsieve import core
from atomsieve.certificate.gram import Inverse
from atomsieve.numerics.enclosures import LEAST, Enclosure, gamma, root, up
from atomsieve.numerics.rounding import EPS

SLOPES, CURVATURES, VALUES, BENDS = range(4)
NUMBERS = st.one_of(
    st.floats(-40, 40),
    st.floats(-800, 800),
    st.floats(-1e-300, 1e-300),
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 5e-324, -2.2e-308, 707.99, -708.0, 708.01, 745.2, -1e5, 1e300, 36.7, 0.5]),
)
RADII = st.one_of(st.just(0.0), st.floats(0, 1e-12), st.floats(0, 30), st.sampled_from([5e-324, 1e-17, 1e300]))


@pytest.fixture(params=["plain", "chosen"], scope="module")
def build(request):
    return core._core if request.param == "chosen" else load("_plain", core._plain.__file__)


@pytest.fixture(autouse=True)
def _digits():
    before, ctx.prec = ctx.prec, 2500
    yield
    ctx.prec = before


def written(build, name, *arguments):
    out = np.full((2, len(arguments[-1])), np.nan)
    assert getattr(build, name)(*arguments, out) is True
    return out


def inside(mid, rad, truth):
    """Return whether a number is proven to lie in an enclosure; one without a bound says nothing."""
    return not np.isfinite([mid, rad]).all() or bool(abs(truth - arb(float(mid))) <= arb(float(rad)))


@settings(max_examples=200, deadline=None)
@given(numbers=st.lists(st.tuples(st.one_of(NUMBERS, st.floats()), RADII), min_size=1, max_size=13))
def test_sizes_hold_the_truth(build, numbers):
    mid, rad = np.array(numbers).T.copy()
    least, most = written(build, "sizes", mid, rad)
    for m, r, low, high in zip(mid, rad, least, most, strict=True):
        if not np.isfinite(m):
            assert np.isnan(high) if np.isnan(m) else high == np.inf
            continue
        assert 0 <= Fraction(low) <= max(abs(Fraction(m)) - Fraction(r), 0)
        assert high == np.inf or Fraction(high) >= abs(Fraction(m)) + Fraction(r)
        with np.errstate(over="ignore"):
            assert low >= (abs(m) - r) * (1 - 8 * EPS)
            assert high <= (abs(m) + r) * (1 + 8 * EPS) + 2.0**-1021


@pytest.mark.parametrize("rad", [np.nan, np.inf])
def test_what_has_no_bound_gets_none(build, rad):
    least, most = written(build, "sizes", np.array([1.0]), np.array([rad]))
    assert least[0] == 0
    assert not most[0] < np.inf
    ones = np.ones(1)
    assert not written(build, "logistic", CURVATURES, ones, np.array([rad]), ones)[1, 0] < np.inf
    two = np.array([2.0])  # no label
    assert written(build, "logistic", SLOPES, ones, ones, two)[1, 0] == np.inf
    assert written(build, "logistic", VALUES, ones, ones, two)[1, 0] == np.inf
    assert written(build, "logistic", BENDS, ones, ones, two).ravel().tolist() == [0.0, 0.25]
    assert written(build, "logistic", BENDS, np.array([rad]), ones, ones)[1, 0] == 0.25


def test_what_does_not_fit_is_refused(build):
    one, two = np.ones(1), np.ones(2)
    assert build.sizes(one, two, np.ones((2, 1))) is False
    assert build.sizes(one, one, np.ones(1)) is False
    assert build.logistic(4, one, one, one, np.ones((2, 1))) is False
    assert build.logistic(-1, one, one, one, np.ones((2, 1))) is False
    assert build.logistic(0, one, two, one, np.ones((2, 1))) is False
    assert build.logistic(0, one, one, two, np.ones((2, 1))) is False
    assert build.logistic(0, one, one, np.ones(1, dtype=np.float32), np.ones((2, 1))) is False
    square, beside = np.ones((1, 1)), np.ones((2, 1))
    with pytest.raises(ValueError, match="gram: expected 1 numbers"):
        build.inverse(1, np.ones((2, 2)), one, one, square, beside, 1.0)
    with pytest.raises(ValueError, match="beside"):
        build.inverse(1, square, one, one, square.copy(), np.ones(1), 1.0)
    with pytest.raises(ValueError, match="1 to 32767 columns"):
        build.inverse(1, square, np.zeros(0), one, square, beside, 1.0)
    with pytest.raises(ValueError, match="1 to 32767 columns"):
        build.inverse(-1, square, one, one, square, beside, 1.0)


def decay_of(u):
    return (-abs(arb(float(u)))).exp()


def curvature_of(u):
    decay = decay_of(u)
    return decay / (1 + decay) ** 2


@settings(max_examples=150, deadline=None)
@given(numbers=st.lists(st.tuples(NUMBERS, RADII, st.sampled_from([-1.0, 1.0])), min_size=1, max_size=13))
def test_bounds_of_the_logistic_loss_hold_the_truth_and_are_sharp(build, numbers):
    u, rad, y = np.array(numbers).T.copy()
    slopes, values = (written(build, "logistic", what, u, u, y) for what in (SLOPES, VALUES))
    curvatures = written(build, "logistic", CURVATURES, u, rad, y)
    for i, (p, r, label) in enumerate(numbers):
        margin, decay = label * arb(p), decay_of(p)
        slope = -label * (decay if margin > 0 else 1) / (1 + decay)
        value = max(-margin, arb(0)) + decay.log1p()
        assert inside(*slopes[:, i], slope)
        assert inside(*values[:, i], value)
        assert slopes[1, i] <= 16 * EPS * abs(slopes[0, i]) + 2.0**-1018
        assert values[1, i] <= 24 * EPS * abs(values[0, i]) + 2.0**-1018
        size = abs(Fraction(p))
        for end in (size + Fraction(r), max(size - Fraction(r), Fraction(0))):
            assert inside(*curvatures[:, i], curvature_of(0) if end == 0 else curvature_at(end))
        width = curvature_at(max(size - Fraction(r), Fraction(0))) - curvature_at(size + Fraction(r))
        blur = 2 * EPS * (20 + 8 * min(abs(p), 800) + 8 * min(r, 800)) * float(curvatures[0, i] + curvatures[1, i])
        assert arb(float(curvatures[1, i])) <= width * (1 + 2.0**-40) / 2 + blur + 2.0**-1017


def curvature_at(size):
    """Return the curvature at a fraction."""
    decay = (-arb(size.numerator) / size.denominator).exp()
    return decay / (1 + decay) ** 2


@settings(max_examples=150, deadline=None)
@given(
    numbers=st.lists(
        st.tuples(
            st.one_of(st.floats(-0.2, 1.2), st.floats(0, 1e-300), st.sampled_from([0.0, 0.5, 1.0, 5e-324])),
            st.one_of(st.just(0.0), st.floats(0, 1e-9), st.floats(0, 1)),
            st.sampled_from([-1.0, 1.0]),
        ),
        min_size=1,
        max_size=13,
    )
)
def test_bends_hold_the_truth(build, numbers):
    p, width, y = np.array(numbers).T.copy()
    slopes = np.sort(np.stack([-y * p, -y * (p + width)]), axis=0)
    least, most = written(build, "logistic", BENDS, slopes[0].copy(), slopes[1].copy(), y)
    for low, high, label, below, above in zip(*slopes, y, least, most, strict=True):
        ends = [min(max(-Fraction(label) * Fraction(t), Fraction(0)), Fraction(1)) for t in (low, high)]
        truths = [e * (1 - e) for e in ends]
        middle = min(ends) <= Fraction(1, 2) <= max(ends)
        assert Fraction(below) <= min(truths)
        assert Fraction(above) >= (Fraction(1, 4) if middle else max(truths))
        assert float(min(truths)) <= below * (1 + 16 * EPS) + 2.0**-1021  # what is added is a normal number
        assert above <= (0.25 if middle else float(max(truths)) * (1 + 16 * EPS) + 2.0**-1021)


def twin(rows, matrix, blurs, ridge):
    """Return the inverse, its errors and its scales, as `inverse.h` does; None where it is not proven."""
    k = len(matrix)
    lost, least = 1 + gamma(rows + 10), 4 * rows * LEAST
    radii = np.where(blurs != 0, root(up(blurs * lost + least)), 0.0)
    lengths = up(root(up((up(root(up(matrix.diagonal() * lost + least)) + radii)) ** 2 + ridge)))
    if not (lengths > 1e-140).all():
        return None
    scale = 2.0 ** -np.round(np.log2(lengths))
    gram = matrix * scale * scale[:, None] + np.diag(ridge * scale * scale)
    largest, unit, wide = up(lengths * scale).max(), max(1.0, scale.max()), up(radii * scale).max()
    error = largest**2 * gamma(rows + 12) + 8 * (rows + 1) * LEAST * unit**2 + 2 * largest * wide + wide**2
    try:
        inverse = np.linalg.inv(np.linalg.cholesky(gram))
    except np.linalg.LinAlgError:
        return None
    inverse = inverse.T @ inverse
    sizes, rest = np.abs(inverse).sum(axis=1), np.abs(inverse @ gram - np.eye(k)).sum(axis=1)
    alpha = (rest + k * sizes * (gamma(k + 2) * np.abs(gram).max() + error)).max()
    return (inverse, alpha / (1 - alpha) * np.abs(inverse).max(axis=0), scale) if alpha < 0.5 else None


def gram_of(seed, n, k):
    rng = np.random.default_rng(seed)
    C = rng.standard_normal((n, k)) * 2.0 ** rng.integers(-60, 61, k)
    if seed % 4 == 0 and k > 1:
        C[:, 0] = C[:, 1] * (1 + 10.0 ** rng.integers(-16, -4) * rng.standard_normal(n))
    squares = np.sum(C * C, axis=0)
    ridge = squares * rng.uniform(0, 2, k) if seed % 3 == 0 else np.zeros(k)
    return C.T @ C, squares * 2.0**-40 * (seed % 2), ridge


@pytest.mark.parametrize("size", [(1, 1), (9, 4), (40, 23), (600, 300)])
@pytest.mark.parametrize("seed", range(12))
def test_inverses_are_those_of_the_twin(build, seed, size):
    n, k = size
    gram, blurs, ridge = gram_of(seed, n, k)
    approximate, beside = np.full((k, k), np.nan), np.full((2, k), np.nan)
    before = gram.copy()
    proven = build.inverse(n, gram, blurs, ridge, approximate, beside, 60.0)
    np.testing.assert_array_equal(gram, before)
    known = twin(n, gram, blurs, ridge)
    assert proven is (known is not None)
    if known is None:
        return
    np.testing.assert_array_equal(approximate, approximate.T)
    np.testing.assert_array_equal(beside[1], known[2])
    np.testing.assert_allclose(beside[0], known[1], rtol=0.5)
    assert (np.abs(approximate - known[0]) <= 2 * (beside[0] + known[1])).all()


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("seed", range(8))
def test_forms_hold_the_truth_and_are_those_of_rows(build, seed, k):
    rng = np.random.default_rng(seed)
    columns = rng.integers(-9, 10, (12, k)) * 2.0 ** rng.integers(-8, 9, k)
    v = Enclosure(rng.standard_normal(k), 0.01 * seed * rng.random(k))
    gram, approximate, beside = columns.T @ columns, np.empty((k, k)), np.empty((2, k))  # whole numbers: exact
    assert build.inverse(12, gram, np.zeros(k), np.zeros(k), approximate, beside, 60.0) is True
    found = build.form(approximate, *beside, v.mid, v.rad)
    inverse = Inverse(approximate, *beside)
    assert found == pytest.approx(float(inverse.lengths(v[None])[0]) ** 2, rel=1e-11)
    for signs in itertools.product([-1, 0, 1], repeat=k):
        corner = [Fraction(m) + s * Fraction(r) for m, r, s in zip(v.mid, v.rad, signs, strict=True)]
        assert Fraction(found) >= form_of(gram, corner)


def form_of(gram, v):
    """Return `v . inv(G) v` in fractions: what elimination leaves of the corner of a larger matrix, less its sign."""
    rows = [[*map(Fraction, row), end] for row, end in zip(gram.tolist(), v, strict=True)]
    rows.append([*v, Fraction(0)])
    for i in range(len(v)):
        for j in range(i + 1, len(rows)):
            factor = rows[j][i] / rows[i][i]
            rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return -rows[-1][-1]


def test_forms_of_what_does_not_fit_are_refused(build):
    one, two = np.ones(1), np.ones(2)
    with pytest.raises(ValueError, match="approximate: expected 1 numbers"):
        build.form(two, one, one, one, one)
    with pytest.raises(ValueError, match="rad: expected 1 numbers"):
        build.form(one, one, one, one, two)
    assert not np.isfinite(build.form(one, one, one, np.array([np.nan]), one))
    assert build.form(one, one, one, one, np.array([np.inf])) == np.inf


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (1, 1), (2, 0), (0, 2), (1, 2)])
def test_what_is_no_number_has_no_inverse(build, wrong, place):
    gram, blurs, ridge = np.diag([2.0, 3.0, 4.0]), np.zeros(3), np.zeros(3)
    approximate, beside = np.empty((3, 3)), np.empty((2, 3))
    assert build.inverse(9, gram, blurs, ridge, approximate, beside, 60.0) is True
    gram[place] = wrong
    assert build.inverse(9, gram, blurs, ridge, approximate, beside, 60.0) is False
    for part, value in itertools.product((blurs, ridge), (wrong, -1.0)):
        part[1] = value
        assert build.inverse(9, np.eye(3), blurs, ridge, approximate, beside, 60.0) is False
        part[1] = 0.0


def test_no_inverse_when_time_is_up(build):
    assert build.inverse(9, np.eye(3), np.zeros(3), np.zeros(3), np.empty((3, 3)), np.empty((2, 3)), -1.0) is False
