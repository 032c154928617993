"""What the core sees of the samples of a proof: exact answers judge, and the formulas in Python are the twins."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import load

from atomsieve import Logistic, Squared, core
from atomsieve.certificate.free import with_free
from atomsieve.losses.bounds import SETTLED, LossBounds
from atomsieve.numerics.enclosures import Enclosure, Uncertain, gamma, quiet, up
from atomsieve.numerics.rounding import EPS

SQUARED, LOGISTIC = range(2)
LOSSES = {SQUARED: Squared(), LOGISTIC: Logistic()}
BLURS = [0.0, 1e-12, 1e-3]


@pytest.fixture(params=["plain", "chosen"], scope="module")
def build(request):
    return core._core if request.param == "chosen" else load("_plain", core._plain.__file__)


@pytest.fixture(autouse=True)
def _digits():
    before, ctx.prec = ctx.prec, 2500
    yield
    ctx.prec = before


def samples(seed, kind, n, blur):
    """Return targets, weights, an image and a free column."""
    rng = np.random.default_rng(seed)
    y = rng.standard_normal(n) if kind == SQUARED else np.append([1.0, -1.0], rng.choice([-1.0, 1.0], n - 2))
    weights = np.ones(n) if seed % 2 else rng.uniform(0.1, 3, n)
    column = np.ones(n) if seed % 3 else rng.uniform(-1, 1, n)
    image = Enclosure(rng.standard_normal(n) * 10.0 ** (seed % 3 - 1), blur * rng.uniform(0, 1, n))
    return y, weights, image, Enclosure(column, np.zeros(n) if seed % 5 else EPS * np.abs(column))


def see(build, kind, y, weights, image, column, b):
    """Return shift, slopes, theta and losses; None if they are not known."""
    n = len(y)
    slopes, rest = np.empty((2, n)), np.empty((8, n))
    free = (None, None) if column is None else (column.mid, column.rad)
    shift, *losses = build.see(kind, y, weights, image.mid, image.rad, *free, b, slopes, rest)
    return None if shift < 0 else (shift, Enclosure(*slopes), Enclosure(rest[2], rest[3]), Enclosure(*losses))


def twin(kind, y, weights, image, column, b):
    """Return the same from the formulas."""
    loss = LOSSES[kind].bounds
    span = None if column is None else object()
    free = None if column is None else Enclosure(column.mid[:, None], column.rad[:, None])
    statement = SimpleNamespace(
        loss=loss, y=y, counts=weights, problem=SimpleNamespace(span=span), used=np.arange(1), free_scale=np.ones(1),
        unpenalised=free, weights_of=lambda _: Enclosure.exact(weights),
    )  # fmt: skip
    try:
        u, shift, slopes = with_free(statement, image, np.array([b]))
    except Uncertain:
        return None
    losses = (loss.values(u, slopes, y) * Enclosure.exact(weights)).sum()
    return shift, slopes, slopes * Enclosure.exact(weights), losses


def near_best(kind, y, weights, image, column):
    """Return a float near the best coefficient."""
    b = 0.0
    for _ in range(60):
        u = image.mid + column.mid * b
        slopes, bends = LOSSES[kind].gradient(u, y), LOSSES[kind].curvature(u, y)
        step = (weights * slopes) @ column.mid / ((weights * bends) @ column.mid**2)
        b -= float(np.clip(step, -1, 1))
    return b


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("blur", BLURS)
@pytest.mark.parametrize("kind", [SQUARED, LOGISTIC])
@pytest.mark.parametrize("seed", range(15))
def test_samples_are_seen_as_by_the_twin(build, seed, kind, blur, free):
    y, weights, image, column = samples(seed, kind, 3 + 4 * seed, blur)
    column = column if free else None
    b = near_best(kind, y, weights, image, column) if free else 0.0
    found, expected = (way(kind, y, weights, image, column, b) for way in (lambda *a: see(build, *a), twin))
    if expected is None:
        assert found is None
        return
    assert found[0] == pytest.approx(expected[0], rel=1e-9, abs=1e-290)
    for mine, theirs in zip(found[1:], expected[1:], strict=True):
        # sums in any order, and normal numbers are added where the twin adds the least ones
        assert np.allclose(mine.mid, theirs.mid, rtol=1e-15, atol=1e-15)
        assert np.allclose(mine.rad, theirs.rad, rtol=1e-6, atol=1e-300)


@pytest.mark.parametrize("kind", [SQUARED, LOGISTIC])
@pytest.mark.parametrize("seed", range(20))
def test_the_best_coefficient_is_where_it_is_said_to_be(build, seed, kind):
    y, weights, image, column = samples(seed, kind, 12, 0.0)
    column = Enclosure(column.mid, np.zeros(12))
    b = near_best(kind, y, weights, image, column) + (0.0 if seed % 2 else 1e-7)
    shift, slopes, theta, losses = see(build, kind, y, weights, image, column, b)
    given = [[arb(float(v)) for v in part] for part in (y, weights, image.mid, column.mid)]

    def at(best):
        """Return slopes and losses at a coefficient, and the derivative."""
        u = [p + c * best for p, c in zip(given[2], given[3], strict=True)]
        if kind == SQUARED:
            each = [(p - t, (p - t) ** 2 / 2) for p, t in zip(u, given[0], strict=True)]
        else:
            each = [(-t / (1 + (t * p).exp()), (-t * p).exp().log1p()) for p, t in zip(u, given[0], strict=True)]
        rise = sum(w * c * slope for w, c, (slope, _) in zip(given[1], given[3], each, strict=True))
        return each, rise

    low, high = arb(b) - arb(shift), arb(b) + arb(shift)
    assert at(low)[1] < 0 < at(high)[1]  # convex: the best one lies between
    for _ in range(200):
        middle = ((low + high) / 2).mid()
        low, high = (middle, high) if at(middle)[1] < 0 else (low, middle)
    each = at(low)[0]
    tiny = arb(2) ** -150
    total = sum(w * value for w, (_, value) in zip(given[1], each, strict=True))
    assert abs(total - arb(float(losses.mid))) <= arb(float(losses.rad)) + tiny
    for i, (slope, _) in enumerate(each):
        assert abs(slope - arb(float(slopes.mid[i]))) <= arb(float(slopes.rad[i])) + tiny
        assert abs(given[1][i] * slope - arb(float(theta.mid[i]))) <= arb(float(theta.rad[i])) + tiny


def test_nothing_is_known_where_nothing_can_be(build):
    y, weights, image, column = samples(1, LOGISTIC, 9, 0.0)
    assert see(build, LOGISTIC, y, weights, image, column, 1e4) is None  # no curvature there
    assert see(build, LOGISTIC, y, weights, image, column, np.nan) is None
    nothing = Enclosure(np.zeros(9), np.zeros(9))
    assert see(build, SQUARED, y, weights, image, nothing, 0.0) is None
    large = np.full(9, 1e308)  # their sum overflows, and so does the curvature along the column
    assert see(build, SQUARED, 0 * y, large, 0 * image, Enclosure(np.ones(9), np.zeros(9)), 1e-300) is None
    assert twin(SQUARED, 0 * y, large, 0 * image, Enclosure(np.ones(9), np.zeros(9)), 1e-300) is None
    unknown = Enclosure(image.mid, np.full(9, np.inf))
    assert not np.isfinite(see(build, SQUARED, y, weights, unknown, None, 0.0)[3].rad)
    assert not np.isfinite(see(build, LOGISTIC, 2 * y, weights, image, None, 0.0)[3].rad)  # no labels


SCALES = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 1 - 2.0**-40]))


@settings(max_examples=100, deadline=None)
@given(
    numbers=st.lists(
        st.tuples(st.floats(0, 1), st.sampled_from(BLURS), st.floats(0.1, 10), st.sampled_from([-1.0, 1.0])),
        min_size=1,
        max_size=9,
    ),
    scale=SCALES,
    gap=st.sampled_from([0.0, 1e-18, 1e-9, 1e-2, 1.0]),
)
def test_curvatures_are_those_of_the_twin(build, numbers, scale, gap):
    p, rad, weights, y = np.array(numbers).T.copy()
    slopes, out = Enclosure(-y * p, rad), np.empty((5, len(y)))
    assert build.reach(slopes.mid, slopes.rad, y, weights, scale, gap, SETTLED, out) is True
    loss = Logistic().bounds
    least, most = LossBounds.between(loss, slopes, scale, y, weights, gap)
    assert np.allclose(out[0], least, rtol=1e-12, atol=1e-150)  # the root of the least normal number
    assert np.allclose(out[1], most, rtol=1e-12, atol=1e-150)
    found = build.stiffness(LOGISTIC, slopes.mid, slopes.rad, y, weights, scale, out)
    assert found == pytest.approx(LossBounds.stiffness(loss, slopes, scale, y, weights), rel=1e-12)
    exact = Fraction(0)  # no curvature on the way to the scaled slope is smaller than that at one of its ends
    for slope, weight, label in zip(slopes.mid, weights, y, strict=True):
        ends = [Fraction(label) * -Fraction(part) * Fraction(slope) for part in (1.0, scale)]
        bends = [e * (1 - e) for e in ends]
        if slope and min(bends) <= 0:
            exact = None
            break
        exact += Fraction(weight) * Fraction(slope) ** 2 / min(bends) if slope else 0
    assert found == np.inf if exact is None else Fraction(min(found, 1e308)) >= min(exact, Fraction(1e308))


ENDS = st.one_of(st.floats(0, 1), st.floats(0, 1e-12), st.sampled_from([0.0, 0.5, 1.0, 1 - EPS, 5e-324, 1e-300]))


@settings(max_examples=150, deadline=None)
@given(numbers=st.lists(st.tuples(ENDS, ENDS, st.sampled_from([-1.0, 1.0])), min_size=1, max_size=9))
def test_conjugates_of_the_logistic_loss_are_bounded_sharply(build, numbers):
    first, second, y = np.array(numbers).T.copy()
    ends, out = np.sort([-y * first, -y * second], axis=0), np.empty(len(y))
    assert build.conjugates(LOGISTIC, ends[0].copy(), ends[1].copy(), y, out) is True
    for p, q, bound in zip(first, second, out, strict=True):
        most = max((entropy(end) for end in (p, q)), key=float)
        assert arb(float(bound)) >= most
        assert float(bound) <= float(most) * (1 - 64 * EPS) + 2.0**-1019


def entropy(p):
    """Return `p log p + (1 - p) log(1 - p)`."""
    p = arb(float(p))
    return sum((part * part.log() for part in (p, 1 - p) if part > 0), arb(0))


@settings(max_examples=60, deadline=None)
@given(
    numbers=st.lists(
        st.tuples(st.floats(-1e3, 1e3), st.sampled_from([0.0, 1e-9, 1.0]), st.floats(-1e3, 1e3)), min_size=1, max_size=9
    )
)
def test_conjugates_of_the_squared_loss_are_those_of_the_twin(build, numbers):
    low, width, y = np.array(numbers).T.copy()
    high, out = low + width, np.empty(len(y))
    assert build.conjugates(SQUARED, low, high, y, out) is True
    sizes = np.max([np.abs(t) * (np.abs(t) / 2 + np.abs(y)) for t in (low, high)], axis=0)
    apart = np.abs(out - LossBounds.conjugates(Squared().bounds, low, high, y))
    assert (apart <= 16 * EPS * sizes + 2.0**-1019).all()  # both are bounds, and round on the way
    for a, b, target, bound in zip(low, high, y, out, strict=True):
        assert all(Fraction(t) * (Fraction(t) / 2 + Fraction(target)) <= Fraction(bound) for t in (a, b))


@pytest.mark.parametrize("scale", [1.0, 0.5, 1 - 2.0**-40])
@pytest.mark.parametrize("kind", [SQUARED, LOGISTIC])
@pytest.mark.parametrize("seed", range(6))
def test_sums_over_scaled_slopes_are_those_of_the_twin(build, seed, kind, scale):
    y, weights, image, _ = samples(seed, kind, 3 + 4 * seed, 1e-12)
    slopes, loss, out = LOSSES[kind].bounds.slopes(image, y), LOSSES[kind].bounds, np.empty((5, len(y)))
    found = Enclosure(*build.dual_sum(kind, slopes.mid, slopes.rad, y, weights, scale, out))
    expected = LossBounds.dual_sum(loss, slopes, scale, y, weights)
    assert found.mid == pytest.approx(expected.mid, rel=1e-13)
    assert found.rad == pytest.approx(expected.rad, rel=1e-6)
    found = build.stiffness(kind, slopes.mid, slopes.rad, y, weights, scale, out)
    assert found == pytest.approx(LossBounds.stiffness(loss, slopes, scale, y, weights), rel=1e-12)


def test_slopes_outside_of_the_domain_have_no_conjugate(build):
    out = np.empty(6)
    low, high = np.array([1.5, -0.5, np.nan, 0.2, -1.0, -0.5]), np.array([2.0, -0.2, 0.5, 0.1, 2.0, -0.5])
    y = np.array([-1.0, -1.0, -1.0, -1.0, -1.0, 0.5])
    assert build.conjugates(LOGISTIC, low, high, y, out) is True
    assert out.tolist()[:4] == [np.inf] * 4
    assert 0 <= out[4] < 1e-300  # 0 and 1 lie between
    assert out[5] == np.inf  # no label


@settings(max_examples=100, deadline=None)
@given(
    pairs=st.lists(
        st.tuples(st.floats(-1e100, 1e100), st.floats(-1e100, 1e100) | st.sampled_from([1.0, -1.0])), max_size=40
    )
)
def test_products_and_sums_hold_the_truth(build, pairs):
    a, b = np.array(pairs).reshape(-1, 2).T.copy()
    truth = sum((Fraction(x) * Fraction(y) for x, y in pairs), Fraction(0))
    total, small, lost = build.product(a, b)
    assert abs(truth - Fraction(total) - Fraction(small)) <= Fraction(lost)
    sizes = sum((abs(Fraction(x) * Fraction(y)) for x, y in pairs), Fraction(0))
    assert lost <= 1e-25 * float(sizes) + 1e-290
    parts = (np.array([v]) for v in (total, small, abs(small) + 1.0, 2.0))
    out = np.empty((2, 1))
    assert build.rounded(*parts, len(pairs), out) is True
    with quiet():
        part = gamma(4 * len(pairs) + 64)
        rad = up(2.0 + part * (1 + part) * (abs(small) + 1.0) + EPS * abs(total + small))
    assert out[0, 0] == total + small
    assert out[1, 0] == pytest.approx(rad, rel=1e-15)


def test_what_does_not_fit_is_told(build):
    one, two, n = np.ones(1), np.ones(2), None
    slopes, rest, five = np.ones((2, 1)), np.ones((8, 1)), np.ones((5, 1))
    assert build.see(0, one, one, one, one, n, n, 0.0, slopes, rest) is not None
    assert build.see(2, one, one, one, one, n, n, 0.0, slopes, rest) is None
    assert build.see(0, two, one, one, one, n, n, 0.0, slopes, rest) is None
    assert build.see(0, one, two, one, one, n, n, 0.0, slopes, rest) is None
    assert build.see(0, one, one, one, two, n, n, 0.0, slopes, rest) is None
    assert build.see(0, one, one, one, one, two, two, 0.0, slopes, rest) is None
    assert build.see(0, one, one, one, one, n, n, 0.0, rest, rest) is None
    assert build.see(0, one, one, one, one, n, n, 0.0, slopes, slopes) is None
    assert build.reach(one, one, one, one, 1.0, 1.0, SETTLED, five) is True
    assert build.reach(one, two, one, one, 1.0, 1.0, SETTLED, five) is False
    assert build.reach(one, one, one, two, 1.0, 1.0, SETTLED, five) is False
    assert build.reach(one, one, one, one, 1.0, 1.0, SETTLED, slopes) is False
    assert build.stiffness(0, one, one, two, one, 1.0, five) is None
    assert build.stiffness(2, one, one, one, one, 1.0, five) is None
    assert build.dual_sum(1, one, one, one, one, 1.0, slopes) is None
    assert build.conjugates(2, one, one, one, np.ones(1)) is False
    assert build.conjugates(0, one, two, one, np.ones(1)) is False
    assert build.conjugates(0, one, one, one, np.ones(2)) is False
    assert build.rounded(one, one, two, n, 3, slopes) is False
    assert build.rounded(one, one, one, n, 3, five) is False
    with pytest.raises(ValueError, match="second: expected 1 numbers"):
        build.product(one, two)
    with pytest.raises(TypeError):
        build.product(one, np.ones(1, dtype=np.float32))
