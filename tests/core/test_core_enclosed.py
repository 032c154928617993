"""Arithmetic with error bounds: arrays hold the truth in fractions and are as sharp as twins in NumPy."""

import itertools
import operator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import load

from atomsieve import core
from atomsieve.numerics.enclosures import LEAST, Enclosure, up
from atomsieve.numerics.rounding import EPS

LARGE = st.floats(-1e100, 1e100)
NUMBERS = st.one_of(st.floats(-1e3, 1e3), LARGE, st.sampled_from([0.0, -0.0, 1.0, -1.0, 5e-324, 2.2e-308, 1e-160]))
RADII = st.one_of(st.just(0.0), st.floats(0, 1e-9), st.floats(0, 1e3), st.sampled_from([5e-324, 1e-300]))
PAIRS = st.lists(st.tuples(NUMBERS, RADII, NUMBERS, RADII), min_size=1, max_size=13)


@pytest.fixture(params=["plain", "chosen"])
def build(request):
    return core._core if request.param == "chosen" else load("_plain", core._plain.__file__)


def product(a, r, b, s):
    mid = a * b
    exact = ((np.abs(a) == 1) & (r == 0)) | ((np.abs(b) == 1) & (s == 0))
    return mid, np.where(exact, r + s, up(np.abs(a) * s + np.abs(b) * r + r * s + EPS * np.abs(mid)))


def quotient(a, r, b, s):
    least = np.maximum(np.abs(b) - s, 0.0) * (1 - 2 * EPS)
    mid = a / b
    spread = np.where(least > 0, r / least + (np.abs(mid) + LEAST) * (s / least), np.inf)
    return mid, up(spread * (1 + 4 * EPS) + EPS * np.abs(mid))


def added(a, r, b, s):
    return a + b, up(r + s + EPS * np.abs(a + b))


TWINS = [added, lambda a, r, b, s: added(a, r, -b, s), product, quotient]
TRUTHS = [lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / y if y else None]


def corners(mid, rad):
    return [Fraction(mid) - Fraction(rad), Fraction(mid) + Fraction(rad)]


@settings(max_examples=60, deadline=None)
@given(pairs=PAIRS, single=st.sampled_from([None, 0, 1]))
def test_arrays_hold_the_truth_and_are_sharp(pairs, single):
    a, r, b, s = np.array(pairs).T.copy()
    if single == 0:
        a, r = a[:1], r[:1]
    elif single == 1:
        b, s = b[:1], s[:1]
    parts = np.broadcast_arrays(a, r, b, s)
    for chosen, (what, truth) in itertools.product(
        (core._core, load("_plain", core._plain.__file__)), enumerate(TRUTHS)
    ):
        out = np.empty((2, len(parts[0])))
        assert chosen.combine(what, a, r, b, s, out) is True
        with np.errstate(all="ignore"):
            mid, rad = TWINS[what](*parts)
        for i, (x, p, y, q) in enumerate(zip(*parts, strict=True)):
            if not np.isfinite(out[:, i]).all():
                assert not np.isfinite([mid[i], rad[i]]).all()
                continue
            assert out[0, i] == mid[i]
            assert out[1, i] <= rad[i] * (1 + 1e-15) + 2.0**-1021
            interval = corners(out[0, i], out[1, i])
            if what == 3 and Fraction(q) >= abs(Fraction(y)):
                pytest.fail("a quotient by what may be 0 has a bound")
            for first, second in itertools.product(corners(x, p), corners(y, q)):
                assert interval[0] <= truth(first, second) <= interval[1]


@settings(max_examples=60, deadline=None)
@given(pairs=PAIRS)
def test_bounds_and_hulls(pairs):
    a, r, b, _ = np.array(pairs).T.copy()
    for chosen in (core._core, load("_plain", core._plain.__file__)):
        ends = np.empty((3, len(a)))
        for which, row in enumerate(ends):
            assert chosen.ends(which, a, r, row)
            assert row.tolist() == [chosen.ends(which, *pair, None) for pair in zip(a, r, strict=True)]
        below, above = np.nextafter(a - r, -np.inf), np.nextafter(a + r, np.inf)
        assert np.array_equal(ends[0], np.where(r == 0, a, below))
        assert np.array_equal(ends[1], np.where(r == 0, a, above))
        assert np.array_equal(ends[2], np.where(r == 0, np.abs(a), np.nextafter(np.abs(a) + r, np.inf)))
        low, high = np.minimum(a, b), np.maximum(a, b)
        out = np.empty((2, len(a)))
        assert chosen.hulls(low, high, out)
        for mid, rad, least, most in zip(*out, low, high, strict=True):
            assert corners(mid, rad)[0] <= Fraction(least)
            assert Fraction(most) <= corners(mid, rad)[1]
            assert rad == 0 or rad <= (most / 2 - least / 2) * (1 + 1e-13) + 2 * np.spacing(abs(mid)) + 1e-307


def test_what_is_not_finite_stays_so(build):
    odd = [np.nan, np.inf, -np.inf, 1.0, 0.0]
    for what, (a, r, b, s) in itertools.product(range(5), itertools.product(odd, [0.0, 1.0, np.inf, np.nan], odd, odd)):
        if s < 0:
            continue
        out = np.empty((2, 5))
        parts = (np.full(5, part) for part in (a, r, b, s))
        assert build.combine(what, *parts, out)
        pair = build.combine(what, a, r, b, s, None)
        assert np.array_equal(out[:, 4], pair, equal_nan=True)
        finite = np.isfinite([a, r, b, s]).all()
        # of a quotient by infinity nothing but 0 comes, and the larger of two numbers may be the one that is known
        if not finite and what < 4 and not (what == 3 and np.isinf(b)):
            assert not np.isfinite(out[:, 4]).all()


def test_what_does_not_fit_is_told(build):
    a, out = np.ones(4), np.empty((2, 4))
    assert build.combine(0, a, a, a, a, out) is True
    for parts in (
        (np.ones((4, 2))[:, 0], a, a, a, out),  # not in a row
        (a, a[:1], a, a, out),
        (a[:3], a[:3], a, a, out),
        (a.astype(np.float32), a, a, a, out),
        (np.ones(4, dtype=np.int64), a, a, a, out),
        (a, a, a, a, np.empty((2, 3))),
        (a, a, a, a, np.empty(1)),
        (a, a, "no", a, out),
        (a, a, a, a, b"12345678"),
    ):
        assert build.combine(0, *parts) is False
    read_only = np.empty((2, 4))
    read_only.flags.writeable = False
    assert build.combine(0, a, a, a, a, read_only) is False
    for what in (-1, 5):
        with pytest.raises(ValueError, match="no such operation"):
            build.combine(what, a, a, a, a, out)
    with pytest.raises(ValueError, match="no such bound"):
        build.ends(3, a, a, np.empty(4))
    with pytest.raises(TypeError):
        build.combine(0, "a", 0.0, 0.0, 0.0, None)
    assert build.ends(0, a, a[:2], np.empty(4)) is False
    assert build.ends(0, a, a, np.empty(3)) is False
    assert build.hulls(a, a, np.empty(4)) is False
    assert build.total(a, a[:2]) is None
    assert build.combine(0, *[np.empty(0)] * 4, np.empty((2, 0))) is True
    assert build.total(np.empty(0), np.empty(0))[0] == 0


@pytest.mark.parametrize(
    "shapes", [((3, 4), (4,)), ((3, 4), (3, 1)), ((3, 1), (1, 4)), ((2, 3), ()), ((), (5,)), ((0, 3), (3,))]
)
def test_shapes_follow_numpy(shapes):
    rng = np.random.default_rng(0)
    first, second = (rng.uniform(1, 2, shape) for shape in shapes)
    a, b = Enclosure.exact(first), Enclosure.exact(second)
    for operation in (operator.add, operator.sub, operator.mul, operator.truediv):
        found, expected = operation(a, b), operation(first, second)
        assert np.array_equal(found.mid, expected)
        assert found.rad.shape == expected.shape
    across = Enclosure(rng.uniform(1, 2, (4, 3)).T, np.zeros((3, 4)))  # stored by columns
    assert np.array_equal((across * 3.0).mid, across.mid * 3.0)
    assert np.array_equal(across.low, across.mid)
