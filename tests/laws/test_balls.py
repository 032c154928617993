"""Every function on enclosures contains the truth, with ball arithmetic of many digits as judge."""

import math

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st

from atomsieve.numerics import balls, scalars
from atomsieve.numerics.enclosures import Enclosure, Uncertain, Undecided, Verdict, possibly
from atomsieve.numerics.namespace import array_namespace

ANY = st.one_of(
    st.floats(-1e3, 1e3),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, -5e-324, 2.2e-308, 1e-160, 1e160, 709.5, 745.5, 1.7e308]),
)
RADII = st.one_of(
    st.just(0.0), st.floats(0, 1e-12), st.floats(0, 10), st.floats(0, 1e300), st.sampled_from([5e-324, 1e-300])
)
PLACES = st.floats(-1, 1)


@pytest.fixture(autouse=True)
def _digits():
    before, ctx.prec = ctx.prec, 2500  # sums of the largest and the least doubles
    yield
    ctx.prec = before


def inside(x, rad, place):
    """Return a number that the enclosure holds, as a ball of many digits."""
    return arb(x) + arb(rad) * arb(place)


def assert_holds(found, truth):
    """Check that an enclosure holds a true number; one that says nothing holds all."""
    assert found.shape == ()
    if not (np.isfinite(found.mid) and np.isfinite(found.rad)):
        return
    assert not abs(truth - arb(float(found.mid))) > arb(float(found.rad))


def entropy(x):
    return x * x.log() if x > 0 else arb(0)


def log1pmx(x):
    return x.log1p() - x


ONE = {
    "exp": (balls.exp, lambda x: x.exp() if x < 800 else None),
    "expm1": (balls.expm1, lambda x: x.expm1() if x < 800 else None),
    "log": (balls.log, lambda x: x.log() if x > 0 else None),
    "log1p": (balls.log1p, lambda x: x.log1p() if x > -1 else None),
    "log1pmx": (balls.log1pmx, lambda x: log1pmx(x) if x > -1 else None),
    "sinh": (balls.sinh, lambda x: x.sinh() if abs(x) < 700 else None),
    "cosh": (balls.cosh, lambda x: x.cosh() if abs(x) < 700 else None),
    "tanh": (balls.tanh, lambda x: x.tanh()),
    "sqrt": (balls.sqrt, lambda x: x.sqrt() if x >= 0 else None),
    "abs": (balls.abs, abs),
    "neg": (lambda x: -x, lambda x: -x),
    "square": (balls.square, lambda x: x * x),
    "x_log_x": (balls.x_log_x, entropy),
    "cube": (lambda x: x**3, lambda x: x * x * x),
    "whole": (lambda x: x**-3, lambda x: 1 / (x * x * x) if x != 0 else None),
    "power": (lambda x: x**1.5, lambda x: x * x.sqrt() if x >= 0 else None),
    "root of one over": (lambda x: x**-0.5, lambda x: 1 / x.sqrt() if x > 0 else None),
    "clip": (lambda x: balls.clip(x, -0.5, 2.0), lambda x: x.max(arb(-0.5)).min(arb(2))),
    "one minus": (lambda x: 1 - x, lambda x: 1 - x),
    "halves": (lambda x: x / 2 + 0.5 * x, lambda x: x),
    "one over": (lambda x: 1 / x, lambda x: 1 / x if x != 0 else None),
}


@settings(max_examples=150, deadline=None)
@pytest.mark.parametrize("name", ONE)
@given(x=ANY, rad=RADII, place=PLACES)
@example(x=0.0, rad=0.0, place=0.0)
@example(x=1e-10, rad=1.0, place=-1.0)
@example(x=1.7e308, rad=1.7e308, place=1.0)
def test_functions_of_one_number(name, x, rad, place):
    function, truth = ONE[name]
    exact = truth(inside(x, rad, place))
    if exact is not None:
        assert_holds(function(Enclosure(np.float64(x), np.float64(rad))), exact)


TWO = {
    "+": (lambda x, y: x + y, lambda x, y: x + y),
    "-": (lambda x, y: x - y, lambda x, y: x - y),
    "*": (lambda x, y: x * y, lambda x, y: x * y),
    "/": (lambda x, y: x / y, lambda x, y: x / y if y != 0 else None),
    "maximum": (balls.maximum, lambda x, y: x.max(y)),
    "minimum": (balls.minimum, lambda x, y: x.min(y)),
    "where": (lambda x, y: balls.where(x > y, x, -y), lambda x, y: x if x > y else -y),
    "where or": (lambda x, y: balls.where((x > 0) | (y < 0), x, y), lambda x, y: x if x > 0 or y < 0 else y),
    "where not": (lambda x, y: balls.where(~(x >= 0), x, y), lambda x, y: x if x < 0 else y),
    "sum": (lambda x, y: balls.sum(Enclosure(np.array([x.mid, y.mid, x.mid]), np.array([x.rad, y.rad, x.rad]))), None),
    "logaddexp": (balls.logaddexp, lambda x, y: (x.exp() + y.exp()).log() if max(abs(x), abs(y)) < 800 else None),
}


@settings(max_examples=150, deadline=None)
@pytest.mark.parametrize("name", TWO)
@given(x=ANY, rad=RADII, place=PLACES, y=ANY, other=RADII, there=PLACES)
@example(x=1e-170, rad=0.0, place=0.0, y=1e160, other=0.999e160, there=-1.0)
def test_functions_of_two_numbers(name, x, rad, place, y, other, there):
    function, truth = TWO[name]
    a, b = inside(x, rad, place), inside(y, other, there)
    exact = a + b + a if truth is None else truth(a, b)
    if exact is not None:
        found = function(Enclosure(np.float64(x), np.float64(rad)), Enclosure(np.float64(y), np.float64(other)))
        assert_holds(found, exact)


@settings(max_examples=300, deadline=None)
@given(x=ANY, rad=RADII, place=PLACES, y=ANY, other=RADII, there=PLACES)
def test_comparisons_are_right_or_open(x, rad, place, y, other, there):
    a, b = inside(x, rad, place), inside(y, other, there)
    first, second = Enclosure(np.float64(x), np.float64(rad)), Enclosure(np.float64(y), np.float64(other))
    for verdict, truth in (
        (first < second, a < b),
        (first <= second, a <= b),
        (first > second, a > b),
        (first >= second, a >= b),
        (first == second, a == b),
        (first != second, a != b),
    ):
        assert not (verdict.true and not truth)
        assert not (verdict.false and truth)
        assert not (verdict.true and verdict.false)


@pytest.mark.parametrize("x", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("rad", [0.0, 1.0, math.inf, math.nan])
def test_what_is_no_number_decides_nothing(x, rad):
    odd = Enclosure(np.float64(x), np.float64(rad))
    for function, _ in ONE.values():
        found = function(odd)
        known = np.isfinite(found.mid) and np.isfinite(found.rad)
        infinite = not math.isnan(x) and math.isfinite(rad)  # a number beyond all others: one over it is 0
        assert not known or infinite or function is ONE["clip"][0]
    if math.isnan(x) or math.isnan(rad):
        for verdict in (odd < 1, odd <= 1, odd > 1, odd >= 1, odd == 1):
            assert not verdict.true
            assert not verdict.false


def test_exact_numbers_are_compared_exactly():
    x = Enclosure.exact(0.1)
    assert x <= 0.1
    assert x == 0.1
    assert not x < 0.1
    assert bool(Enclosure.exact(math.inf) == math.inf)
    assert x * -1.0 == -0.1
    with pytest.raises(Undecided, match="too close"):
        bool(Enclosure(0.1, 1e-300) <= 0.1)


def test_a_branch_that_may_be_infinite_says_nothing():
    found = balls.where(Enclosure(0.0, 1.0) < 0, 2.0, math.inf)
    assert not np.isfinite(found.high)
    assert balls.where(Enclosure(-2.0, 1.0) < 0, 2.0, math.inf) == 2.0


def test_verdicts():
    x = Enclosure(np.array([-2.0, 0.0, 2.0]), np.ones(3))
    open_, mask = x > 0, np.array([True, True, False])
    assert open_.true.tolist() == [False, False, True]
    assert possibly(open_).tolist() == [False, True, True]
    assert (mask & open_).true.tolist() == [False, False, False]
    assert (mask & open_).false.tolist() == [True, False, True]
    assert (mask | open_).true.tolist() == [True, True, True]
    assert balls.all(open_).false
    assert balls.any(open_).true
    assert possibly(mask) is mask
    with pytest.raises(ValueError, match="use where"):
        bool(open_)
    assert bool(Verdict.of(True))


@pytest.mark.parametrize(
    "slip",
    [
        np.exp,
        np.sum,
        np.asarray,
        float,
        math.exp,
        lambda x: np.where(x > 0, 1.0, 2.0),
        lambda x: np.maximum(x, 0.0),
        lambda x: np.array([x, x]),
        lambda x: x + "1",
        lambda x: x + 2**60,
        lambda x: x + np.longdouble(1),
        lambda x: x + 1j,
        lambda x: np.any(x > 0),
        hash,
    ],
)
def test_no_bound_is_dropped_in_silence(slip):
    with pytest.raises(TypeError):
        slip(Enclosure.exact(np.array([1.0, 2.0])))


def test_arrays_beside_enclosures_are_exact():
    x = Enclosure(np.array([1.0, 2.0]), np.array([0.0, 0.5]))
    y = np.array([3.0, 4.0])
    for found, mid in ((y * x, [3, 8]), (y - x, [2, 2]), (y + x, [4, 6]), (np.float64(2) / x, [2, 1]), (2 * x, [2, 4])):
        assert isinstance(found, Enclosure)
        assert found.mid.tolist() == mid
    assert (y > x).true.tolist() == [True, True]


def test_sums_and_largest_along_an_axis():
    rng = np.random.default_rng(0)
    x = Enclosure(rng.normal(size=(4, 3)), rng.uniform(size=(4, 3)))
    corner = x.mid + x.rad
    for function, plain in ((balls.sum, np.sum), (balls.max, np.max)):
        for keepdims in (False, True):
            found, most = function(x, axis=1, keepdims=keepdims), plain(corner, axis=1, keepdims=keepdims)
            assert found.shape == most.shape
            assert (np.abs(found.mid - most) <= found.rad).all()


@settings(max_examples=200, deadline=None)
@given(x=st.floats(-1e4, 1e4))
def test_functions_of_floats_agree_with_those_of_enclosures(x):
    for name in scalars.__all__:
        if name in ("inf", "where", "maximum", "minimum", "pow", "full_like"):
            continue
        found, bounds = getattr(scalars, name)(x), getattr(balls, name)(x)
        if math.isfinite(found) and np.isfinite(bounds.high):
            assert bounds.low - 1e-15 * abs(found) <= found <= bounds.high + 1e-15 * abs(found)
    assert scalars.pow(abs(x), 1e6) >= 0
    assert scalars.where(x > 0, 1.0, 2.0) == (1.0 if x > 0 else 2.0)


def test_namespaces():
    assert array_namespace(0.5) is array_namespace(np.float64(0.5)) is array_namespace(1) is scalars
    assert array_namespace(Enclosure.exact(0.5)) is balls
    assert array_namespace(np.zeros(2)) is np
    assert issubclass(Undecided, Uncertain)


@pytest.mark.parametrize("exponent", [Enclosure.of(3.0) - 1, 66, np.array([2.0])])
def test_negative_numbers_have_whole_powers(exponent):
    found = Enclosure(np.array([-0.5]), np.array([2.5])) ** exponent
    whole = float(np.ravel(exponent.mid if isinstance(exponent, Enclosure) else exponent)[0])
    assert found.high >= 3.0**whole


def test_verdicts_are_compared_entry_by_entry():
    x = Enclosure(np.array([-1.0, 0.2, 1.0]), np.array([0.1, 0.1, 0.1]))
    same = (x > 0) == (x > 0.25)
    assert same.true.tolist() == [True, False, True]
    assert not same.false.any()
    assert (~(x > 0) != (x > 0)).true.all()


def test_nothing_is_changed_in_place_or_true():
    x = Enclosure.exact(np.ones(1))
    for change in ("x += 1", "x -= 1", "x *= 2", "x /= 2", "x **= 2"):
        with pytest.raises(TypeError, match="in place"):
            exec(change, {"x": x})  # noqa: S102
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(x)
