"""The checker's pairs of doubles and slices: their bounds hold, with balls of many bits as judge, for any doubles."""

import numpy as np
import pytest
from flint import arb, arb_mat, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array

from atomsieve import (
    L1,
    Atoms,
    Group,
    Huber,
    Image,
    Linear,
    Logistic,
    Poisson,
    Problem,
    Square,
    Squared,
    SquaredHinge,
    solve,
    verify,
)
from atomsieve.certificate.file import seal
from atomsieve.standalone.verify import Refused, verification
from atomsieve.standalone.verify.checker import Checker
from atomsieve.standalone.verify.data import Data
from atomsieve.standalone.verify.gauges import gauge_of
from atomsieve.standalone.verify.losses import Loss
from atomsieve.standalone.verify.pair_losses import conjugates_of, slopes_of, values_of
from atomsieve.standalone.verify.paired import Paired
from atomsieve.standalone.verify.pairs import STEPS, Pairs, _inverse_of, _logarithm, _powers_of_two, sum_of, two_sum
from atomsieve.standalone.verify.slices import Block

BITS = 4000
"""Enough for every sum of doubles to be exact."""


@pytest.fixture(autouse=True)
def _digits():
    before, ctx.prec = ctx.prec, BITS
    yield
    ctx.prec = before


EXTREMES = [0.0, 1.0, -1.0, 5e-324, -5e-324, 2.0**-1022, 2.0**-1000, 2.0**1000, -(2.0**1023), 1e16, 1 + 2.0**-52]
ANY = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.floats(-10, 10), st.sampled_from(EXTREMES))


@st.composite
def pairs(draw, numbers=ANY, radii=True):
    """Draw pairs whose lows are anything that they may be, with radii of all sizes."""
    found = []
    for _ in range(3):
        high = draw(numbers)
        with np.errstate(all="ignore"):
            high, low = (float(v) for v in two_sum(np.float64(high), high * draw(st.floats(-1, 1)) * 2.0**-53))
        small = st.one_of(st.just(0.0), st.floats(0, 2.0**-90), st.floats(0, 1e3)) if radii else st.just(0.0)
        found.append((high, low, abs(high) * draw(small)))
    return Pairs(*np.array(found).T)


def places(numbers, k):
    """Return numbers within a ball: its middle and both ends."""
    middle, radius = arb(float(numbers.high[k])) + arb(float(numbers.low[k])), arb(float(numbers.radius[k]))
    return [middle, middle - radius, middle + radius] if np.isfinite(numbers.radius[k]) else []


def holds(found, k, truth):
    """Return whether a number is in the ball that was found for it, and the ball within the bounds in doubles."""
    radius = float(found.known_radius()[k])
    if not np.isfinite(radius):
        return True
    low, high = found.ends()
    inside = abs(truth - arb(float(found.high[k])) - arb(float(found.low[k]))) <= arb(radius)
    return inside and arb(float(low[k])) <= truth <= arb(float(high[k]))


def finite(numbers):
    """Return numbers of which none is inf or NaN."""
    parts = (numbers.high, numbers.low, numbers.radius)
    return numbers if all(np.isfinite(part).all() for part in parts) else Pairs.exactly(np.zeros(3))


OPERATIONS = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "max": lambda a, b: a.max(b),
    "min": lambda a, b: a.min(b),
}


@settings(max_examples=300, deadline=None)
@given(a=pairs(), b=pairs(), near=st.booleans(), name=st.sampled_from(sorted(OPERATIONS)))
def test_arithmetic(a, b, near, name):
    """Whatever the sizes, and where nearly everything cancels."""
    a = finite(a)
    b = finite(b * 2.0**-100 - a if near else b)
    with np.errstate(all="ignore"):
        found = OPERATIONS[name](a, b)
    for k in range(3):
        for x in places(a, k):
            for y in places(b, k):
                if name == "divide" and y == 0:
                    assert not np.isfinite(found.known_radius()[k])
                    continue
                assert holds(found, k, OPERATIONS[name](x, y))


@settings(max_examples=100, deadline=None)
@given(a=pairs(st.floats(-10, 10)), b=pairs(st.floats(0.1, 10), radii=False))
def test_arithmetic_has_a_hundred_bits(a, b):
    a = Pairs(a.high, a.low, np.zeros(3))
    for name, found in ((name, OPERATIONS[name](a, b)) for name in ("multiply", "divide")):
        assert (found.radius <= np.abs(found.high) * 2.0**-99 + 2.0**-1000).all(), name
    found = a + b
    assert (found.radius <= (np.abs(a.high) + b.high) * 2.0**-102).all()


@settings(max_examples=200, deadline=None)
@given(a=pairs(st.one_of(st.floats(-700, 700), st.floats(-1e-9, 1e-9), ANY)))
def test_exponentials(a):
    a = finite(a)
    found = a.exp()
    for k in range(3):
        wide = float(found.known_radius()[k])
        assert np.isfinite(wide) == (abs(a.high[k]) <= 690 and a.radius[k] <= 1)
        if np.isfinite(wide):
            with ctx.workprec(400):
                assert all(holds(found, k, v.exp()) for v in places(a, k))
            assert a.radius[k] > 0 or wide <= found.high[k] * 2.0**-91 + 2.0**-1015


@settings(max_examples=200, deadline=None)
@given(a=pairs(st.one_of(st.floats(0, 1e9), st.floats(0.99, 1.01), ANY)))
def test_logarithms(a):
    a = finite(a)
    with np.errstate(all="ignore"):
        found = a.log()
    for k in range(3):
        for v in places(a, k):
            with ctx.workprec(400):
                assert holds(found, k, v.log()) if v > 0 else not np.isfinite(found.known_radius()[k])
        if a.radius[k] == 0 and 1e-9 < a.high[k] < 1e9:
            assert found.radius[k] <= 2.0**-89


def test_constants():
    """The logarithm of 2 has parts that no product with 18 bits rounds, and powers of 2 are as near as pairs can be."""
    parts = _logarithm()
    for part in parts[:2]:
        assert float(part).as_integer_ratio()[0].bit_length() <= 34
    with ctx.workprec(400):
        assert abs(sum(map(arb, parts), arb(0)) - arb(2).log() / STEPS) < arb(2) ** -125
        for k, (high, low) in enumerate(zip(*_powers_of_two())):
            truth = (arb(2).log() * k / STEPS).exp()
            assert abs(arb(float(high)) + arb(float(low)) - truth) < arb(2) ** -104
        for factor in (24, 6, 2, 1):
            assert abs(sum(map(arb, _inverse_of(factor)), arb(0)) * factor - 1) < arb(2) ** -104


@settings(max_examples=100, deadline=None)
@given(st.lists(ANY, max_size=6))
def test_sums_of_doubles_are_exact(values):
    found = sum_of(np.array(values, dtype=float))
    assert found == sum(map(arb, values), arb(0))
    assert found.is_exact()


@settings(max_examples=100, deadline=None)
@given(pairs(), st.booleans())
def test_totals(a, cancelling):
    a = finite(a)
    if cancelling:
        a = Pairs(*(np.append(v, -v if k < 2 else v) for k, v in enumerate((a.high, a.low, a.radius))))
    try:
        found = a.total()
    except Refused:
        assert not np.isfinite(a.radius).all()
        return
    for choice in range(3):
        assert found.contains(sum((places(a, k)[choice] for k in range(len(a.high))), arb(0)))


def test_what_is_no_number_is_refused():
    for high, radius in ((np.inf, 0.0), (np.nan, 0.0), (1.0, np.nan), (1.0, np.inf)):
        numbers = Pairs(np.array([high]), np.zeros(1), np.array([radius]))
        with pytest.raises(Refused):
            numbers.total()
        assert [v.tolist() for v in numbers.ends()] == [[-np.inf], [np.inf]]
        with np.errstate(all="ignore"):
            for found in (numbers + 1.0, numbers * 2.0, numbers.exp(), numbers.log(), numbers.max(np.ones(1))):
                assert not np.isfinite(found.known_radius()).any()


# -- slices ------------------------------------------------------------------------------------------------------------


@st.composite
def blocks(draw):
    """Draw columns of any doubles, some of one scale, dense or sparse."""
    n, k = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    numbers = draw(st.sampled_from([ANY, st.floats(-4, 4), st.integers(-3, 3).map(float)]))
    dense = np.array(draw(st.lists(numbers, min_size=n * k, max_size=n * k))).reshape(n, k)
    if draw(st.booleans()):
        return dense, Block(dense)
    sparse = csc_array(dense)
    return dense, Block(sparse.data, sparse.indices, sparse.indptr, n)


@settings(max_examples=300, deadline=None)
@given(blocks(), st.data())
def test_products_of_slices(both, data):
    dense, block = both
    n, k = dense.shape
    v = data.draw(st.lists(ANY, min_size=n, max_size=n))
    lows = [h * data.draw(st.floats(-1, 1)) * 2.0**-53 for h in v]
    with np.errstate(all="ignore"):
        numbers = Pairs(*two_sum(np.array(v), np.array(lows)), np.zeros(n))
    if not np.isfinite(numbers.high + numbers.low).all():
        return
    columns = arb_mat(dense.tolist())
    middle = arb_mat([[arb(float(a)) + arb(float(b))] for a, b in zip(numbers.high, numbers.low)])
    truth = (columns.transpose() * middle).entries()
    for j, found in enumerate(block.adjoint(numbers)):
        assert found.contains(truth[j])
        assert arb(found.rad()) <= arb(2) ** -105 * n * float(np.abs(dense[:, j]).max()) * max(5e-324, *map(abs, v), 0)
    x = data.draw(st.lists(ANY, min_size=k, max_size=k))
    with np.errstate(all="ignore"):
        found = block.image(x)
    truth = (columns * arb_mat([[a] for a in x])).entries()
    for i in range(n):
        assert holds(found, i, truth[i])
    sizes = np.abs(dense).max(axis=0) * np.abs(x) if max(np.abs(dense).max(), *map(abs, x)) < 1e100 else None
    if sizes is not None:
        assert (found.radius <= k * k * sizes.max() * 2.0**-100 + 2.0**-1000).all()


def test_long_sums_of_slices():
    """No partial sum is rounded: with the most terms, and with numbers that fill all bits of a slice."""
    rng = np.random.default_rng(0)
    for n in (4095, 4096, 20000):
        for X in (np.full((n, 2), 1 - 2.0**-53), rng.standard_normal((n, 2))):
            high = rng.standard_normal(n) if X[0, 0] != X[1, 0] else np.full(n, 1 - 2.0**-53)
            numbers = Pairs(high, high * 2.0**-53, np.zeros(n))
            for j, found in enumerate(Block(X).adjoint(numbers)):
                parts = (arb(float(a)) * arb(float(h)) for v in (numbers.high, numbers.low) for a, h in zip(X[:, j], v))
                assert found.contains(sum(parts, arb(0)))
                assert arb(found.rad()) < n * arb(2) ** -100
            x = [0.1, 1 / 3]
            image = Block(np.ascontiguousarray(X[:200])).image(x)
            assert all(holds(image, i, arb(X[i, 0]) * x[0] + arb(X[i, 1]) * x[1]) for i in range(200))


# -- losses ------------------------------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(
    kind=st.sampled_from([Squared(), Huber(0.3), SquaredHinge(), Logistic(), Poisson()]),
    u=st.one_of(st.floats(-40, 40), st.floats(-1e-12, 1e-12), st.floats(-600, 600), st.just(0.3), st.just(1.0)),
    moved=st.one_of(st.just(0.0), st.floats(0, 2.0**-80), st.floats(0, 0.1)),
    place=st.floats(-1, 1),
    shrink=st.floats(0.1, 1.0),
    y=st.integers(0, 9),
)
def test_losses(kind, u, moved, place, shrink, y):
    """Slopes, values and conjugates are those of balls, everywhere within the radius."""
    loss = Loss({"type": type(kind).__name__} | kind.get_params())
    y = float(y if type(kind) in (Squared, Huber, Poisson) else 2 * (y % 2) - 1)
    y_all, around = np.array([y]), Pairs(np.array([u]), np.zeros(1), np.array([moved]))
    slopes = slopes_of(loss, around, y_all)
    values = values_of(loss, around, y_all, slopes)
    duals = conjugates_of(loss, slopes * shrink, y_all)
    with ctx.workprec(2000):
        at = arb(u) + arb(moved) * arb(place)
        slope = loss.slope(at, y)
        assert holds(slopes, 0, slope)
        assert holds(values, 0, loss._at(at, y))
        assert holds(duals, 0, loss.conjugate(slope * arb(shrink), y))
    if moved == 0 and abs(u) < 30:
        assert slopes.radius[0] <= 2.0**-80 * max(1.0, np.exp(u), abs(slopes.high[0]))
        assert values.radius[0] <= 2.0**-40 * max(1.0, np.exp(u))


# -- all of it ---------------------------------------------------------------------------------------------------------


def problems():
    """Yield problems of every loss, dense and sparse, with weights, outputs, free columns and images."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((15, 6)) * 2.0 ** rng.integers(-20, 20, 6)
    X[:, 5] += 1e6 * np.abs(X[:, 5]).max()
    holes = csc_array(np.where(rng.random(X.shape) < 0.5, 0.0, X))
    y, signs, counts = rng.standard_normal(15), rng.choice([-1.0, 1.0], 15), rng.poisson(2.0, 15).astype(float)
    for loss, targets in (
        (Squared(), y),
        (Huber(0.5), y),
        (Logistic(), signs),
        (SquaredHinge(), signs),
        (Poisson(), counts),
    ):
        for design in (X, holes):
            yield design, targets, {"loss": loss, "intercept": True, "penalty": Linear(1e-3)}
            yield design, targets, {"loss": loss, "penalty": Square(1e-2)}
    weights, free = rng.random(15) + 0.1, rng.standard_normal((15, 2))
    more = {"sample_weight": weights, "free": free, "intercept": True}
    yield X, y, {"penalty": Linear(1e-2), **more}
    yield X, np.column_stack([y, y**2]), {"gauge": Group(), "penalty": Square(1e-3), "intercept": True}
    Q = rng.integers(-2, 3, (6, 5)).astype(float)
    for intercept in (False, True):
        yield X, y, {"gauge": Image(L1(), Q), "penalty": Square(1e-3), "intercept": intercept}
        yield holes, signs, {"gauge": Atoms(Q), "loss": Logistic(), "penalty": Linear(1e-2), "intercept": intercept}
    nested = Image(Image(L1(), rng.standard_normal((5, 4))), Q)
    yield X, np.column_stack([y, -y]), {"gauge": nested, "penalty": Square(1e-3), "intercept": True}


PROBLEMS = list(problems())


def both_of(X, y, pieces):
    """Return the certificate of a problem, and both checkers after they have evaluated its point."""
    certificate = solve(Problem(X, y, **pieces), tol=1e-11).certificate()
    content = certificate.content()
    told = content["problem"]
    found = []
    for kind in (Paired, Checker):
        data = Data(X, y, pieces.get("sample_weight"), pieces.get("free"), None, told["loss"])
        checker = kind(content, data, gauge_of(told["gauge"], data, told["form"]))
        with ctx.workprec(128):
            checker._evaluate()
            checker._duals()
        found.append(checker)
    return certificate, *found


@pytest.mark.parametrize("number", range(len(PROBLEMS)))
def test_both_agree(number):
    """Every number of the point in pairs meets the ball for it, and is nearly as narrow; so do z and its bounds."""
    X, y, pieces = PROBLEMS[number]
    _, paired, balls = both_of(X, y, pieces)
    steep = max(1.0, np.abs(paired.slopes.high).max() + np.abs(y).max())  # no curvature is larger: a rate of Poisson
    for mine, other in ((paired.u, balls.u), (paired.slopes, balls.slopes), (paired.theta, balls.theta.entries())):
        assert all(a.overlaps(b) for a, b in zip(mine.balls(), other))
        assert (mine.radius <= 2.0**-70 * steep * max(1.0, np.abs(mine.high).max())).all()
    assert paired.losses.overlaps(balls.losses)
    assert abs(arb(paired.losses.rad())) <= arb(2) ** -60 * abs(balls.losses)
    for checker in (paired, balls):
        low, high = checker.z.low.copy(), checker.z.high.copy()
        checker.z.sharpen(range(checker.d))
        assert all(arb(float(low[j])) <= balls.z[j] <= arb(float(high[j])) for j in range(checker.d))
    assert all(paired.z[j].overlaps(balls.z[j]) for j in range(paired.d))
    assert [d[1] for d in paired.duals] == [d[1] for d in balls.duals]
    shrink = arb(0.75)
    assert paired._dual_loss(shrink).overlaps(balls._dual_loss(shrink))


@pytest.mark.parametrize("number", range(len(PROBLEMS)))
def test_honest_certificates_need_no_balls(number, monkeypatch):
    X, y, pieces = PROBLEMS[number]
    given = {name: pieces[name] for name in ("sample_weight", "free") if name in pieces}
    certificate = solve(Problem(X, y, **pieces), tol=1e-13).certificate()
    monkeypatch.setattr(Checker, "_slopes_at", None)
    assert verify(certificate, X, y, **given).valid


def test_balls_decide_what_pairs_leave_open(monkeypatch):
    """Where pairs prove nothing the verdict is that of balls: for what is true, and for what is not."""
    X, y, pieces = PROBLEMS[0]
    certificate = solve(Problem(X, y, **pieces), tol=1e-13).certificate()
    asked = []

    def refuse(checker):
        asked.append(checker)
        raise Refused("pairs do not suffice")

    monkeypatch.setattr(Paired, "check", refuse)
    assert verify(certificate, X, y).valid
    content = certificate.content()
    content["claims"]["gap"] *= 1e-9
    content["seal"] = seal(content)
    verdict = verification.verify(Told(content), X, y)
    assert not verdict.valid
    assert "gap" in verdict.reason
    assert len(asked) == 2


class Told:
    """A certificate of any content."""

    def __init__(self, content):
        self._content = content

    def content(self):
        return self._content


def lengths_of(checker, X, metric):
    """Return the lengths of all columns of an Image modulo constants, in balls."""
    columns = checker._columns(list(range(checker.d)))
    found = []
    for column in columns:
        v, m = column.entries(), [arb(float(a)) for a in metric]
        square, total = sum((w * a * a for w, a in zip(m, v)), arb(0)), sum(m, arb(0))
        if checker.intercept:
            square -= sum((w * a for w, a in zip(m, v)), arb(0)) ** 2 / total
        found.append(square.sqrt() if square > 0 else arb(0))
    return found


@pytest.mark.parametrize("scale", [1.0, 2.0**-300, 2.0**300])
@pytest.mark.parametrize("intercept", [False, True])
def test_lengths_of_images(scale, intercept):
    """The lengths of columns of products of matrices are bounded from above, and nearly reached."""
    rng = np.random.default_rng(6)
    X = rng.standard_normal((12, 6)) * 2.0 ** rng.integers(-20, 20, 6)
    X[:, 1] = X[:, 0] + 1e-9 * X[:, 0] * rng.standard_normal(12)  # the first column of the image cancels
    X[:, 3] = X[:, 2] * (1 + 2.0**-50 * rng.integers(-3, 4, 12))  # and the second but for its last digits
    Q = rng.integers(-2, 3, (6, 5)).astype(float)
    Q[:, 0] = [1, -1, 0, 0, 0, 0]
    Q[:, 1] = [0, 0, 1, -1, 0, 0]
    Q[:, 4] = 0
    for gauge in (Image(L1(), Q), Image(Image(L1(), rng.standard_normal((5, 4))), Q)):
        y = rng.standard_normal(12)
        pieces = {"gauge": gauge, "penalty": Square(1e-2 * scale**2), "intercept": intercept}
        for design in (X * scale, csc_array(X * scale)):
            _, checker, _ = both_of(design, y, pieces)
            metric = rng.random(12)
            found = checker._lengths_in(metric[:, None])[:, 0]
            for bound, truth in zip(found, lengths_of(checker, design, metric)):
                assert arb(float(bound)) >= truth
                assert arb(float(bound)) <= truth * 1.001 + arb(float(np.abs(X).max() * scale)) * 1e-25
