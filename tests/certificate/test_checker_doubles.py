"""The checker's bounds in doubles hold, with its balls as judge, whatever the scale of the data."""

import numpy as np
import pytest
from flint import arb, arb_mat, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array

from atomsieve import (
    L2,
    Group,
    Huber,
    Linear,
    Logistic,
    Multinomial,
    NonNegative,
    Poisson,
    Problem,
    Product,
    Square,
    Squared,
    SquaredHinge,
    solve,
)
from atomsieve.standalone.verify import Refused
from atomsieve.standalone.verify.checker import Checker
from atomsieve.standalone.verify.classes import Classes
from atomsieve.standalone.verify.data import Data
from atomsieve.standalone.verify.doubles import exp_below, lengths_above, product_above
from atomsieve.standalone.verify.face import Face
from atomsieve.standalone.verify.family import Family
from atomsieve.standalone.verify.gauges import gauge_of
from atomsieve.standalone.verify.gram import Inverse
from atomsieve.standalone.verify.losses import Loss


@pytest.fixture(autouse=True)
def _digits():
    before, ctx.prec = ctx.prec, 300
    yield
    ctx.prec = before


def checker_of(X, y, **pieces):
    """Return a checker that has evaluated the point of an honest certificate."""
    content = solve(Problem(X, y, **pieces), tol=1e-9).certificate().content()
    told = content["problem"]
    data = Data(X, y, None, None, None, told["loss"])
    kind = Classes if data.labels is not None else Checker
    checker = kind(content, data, gauge_of(told["gauge"], data, told["form"]))
    checker._evaluate()
    checker._duals()
    checker.shrink, checker.factor, checker.reach, checker.scores = checker.duals[0]
    checker._curvature()
    return checker


def problems():
    """Yield data of many scales, dense and sparse, with and without an intercept, and with several outputs."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((15, 9)) * 2.0 ** rng.integers(-40, 40, 9)
    X[:, 4] = 3.0
    X[:, 5] += 1e9 * np.abs(X[:, 5]).max()
    holes = np.where(rng.random(X.shape) < 0.6, 0.0, X)
    y = rng.standard_normal(15)
    for design in (X, csc_array(holes), X * 2.0**-300, X * 2.0**300, csc_array(holes * 2.0**-500)):
        for intercept in (False, True):
            yield design, y, {"intercept": intercept, "penalty": Square(1e-3)}
    yield X, np.column_stack([y, y**2]), {"gauge": Group(), "penalty": Square(1e-3), "intercept": True}
    yield csc_array(holes), np.sign(y), {"loss": Logistic(), "penalty": Linear(1e-3), "intercept": True}
    labels = rng.integers(0, 3, 15).astype(float)
    yield holes, labels, {"loss": Multinomial(3), "penalty": Linear(1e-2), "intercept": True}


@pytest.mark.parametrize("number", range(13))
def test_products_and_lengths(number):
    X, y, pieces = list(problems())[number]
    checker = checker_of(X, y, **pieces)
    z, low, high = checker.z, checker.z.low.copy(), checker.z.high.copy()
    for j in range(checker.d):
        assert not arb(float(low[j])) > z[j]
        assert not arb(float(high[j])) < z[j]
    assert np.isfinite(high).any()
    per = checker.data.tasks
    metric = checker.metric.reshape(-1, per)
    found = checker._lengths_in(metric)
    dense = X.toarray() if hasattr(X, "toarray") else X
    for j, column in enumerate(dense.T):
        for c in range(per):
            truth = least_length(column, metric[:, c], checker.intercept)
            assert not arb(float(found[j, c])) < truth
            assert arb(float(found[j, c])) <= truth * 1.001 + arb(float(np.abs(column).max())) * 1e-9


def least_length(column, metric, intercept):
    """Return the length of a column in a metric, modulo the constant if there is an intercept, in balls."""
    v, m = [arb(float(a)) for a in column], [arb(float(a)) for a in metric]
    square, total = sum((w * a * a for w, a in zip(m, v)), arb(0)), sum(m, arb(0))
    if intercept:
        square -= sum((w * a for w, a in zip(m, v)), arb(0)) ** 2 / total
    return square.sqrt() if square > 0 else arb(0)


@pytest.mark.parametrize("bend", [1.0, 1e-3, 1e-6, 1e-12])
def test_inverses(bend):
    """Of matrices that are nearly singular, the bounds are wide or refused; and they hold."""
    rng = np.random.default_rng(0)
    C = rng.standard_normal((40, 6)) * 2.0 ** rng.integers(-30, 30, 6)
    C[:, 5] = C[:, 0] * 2.0 ** rng.integers(-3, 3) + bend * C[:, 5] * np.abs(C[:, 0]).max() / np.abs(C[:, 5]).max()
    w = rng.random(40)
    try:
        found = Inverse(C, np.zeros(6), w, np.zeros(6))
    except Refused:
        assert bend < 1e-5
        return
    truth = gram(C, w).inv()
    for a in range(6):
        for b in range(6):
            assert abs(arb(float(found.mid[a, b])) - truth[a, b]) <= arb(float(found.rad[a, b]))
    assert (found.rad.diagonal() < 1e-3 * found.mid.diagonal()).all()


def gram(C, w):
    weighted = [[arb(float(w[i])) * arb(float(v)) for v in row] for i, row in enumerate(C)]
    return arb_mat(C.tolist()).transpose() * arb_mat(weighted)


def test_a_singular_matrix_is_refused():
    C = np.ones((5, 2))
    for columns in (C, C * 1e-200, C * 1e200, C * np.nan):
        with pytest.raises(Refused):
            Inverse(columns, np.zeros(2), np.ones(5), np.zeros(2))


@given(r=st.floats(0, 2000))
def test_exponentials(r):
    bound = exp_below(np.array([r]))[0]
    assert arb(float(bound)) <= (-arb(r)).exp()
    assert r > 1 or arb(float(bound)) >= (-arb(r)).exp() * 0.999


@settings(max_examples=300, deadline=None)
@given(
    kind=st.sampled_from([Squared(), Huber(0.3), SquaredHinge(), Logistic(), Poisson()]),
    u=st.floats(-30, 30),
    moved=st.one_of(st.just(0.0), st.floats(0, 1e-9), st.floats(0, 5)),
    place=st.floats(-1, 1),
    y=st.integers(0, 9),
)
def test_curvatures(kind, u, moved, place, y):
    """Bounds of loss'' hold between the slopes at two predictions, and around one of them."""
    loss = Loss({"type": type(kind).__name__} | kind.get_params())
    y = float(y if type(kind) in (Squared, Huber, Poisson) else 2 * (y % 2) - 1)
    at = [arb(u), arb(u) + arb(moved) * arb(place)]
    slopes = [float(loss.slope(v, y)) for v in at]
    low, high = np.nextafter(min(slopes), -np.inf), np.nextafter(max(slopes), np.inf)
    least, most = loss.bends(np.array([low]), np.array([high]), np.array([y]))
    around = loss.least_around(
        *(np.array([np.nextafter(slopes[0], e)]) for e in (-np.inf, np.inf)), np.array([y]), np.array([moved])
    )
    for v in at:
        bent = curvature(loss, v, y)
        if bent is None:
            continue
        assert not arb(float(least[0])) > bent
        assert not arb(float(most[0])) < bent
        assert not arb(float(around[0])) > bent


def curvature(loss, u, y):
    """Return loss''; None at a kink."""
    if loss.kind == "Poisson":
        return u.exp()
    if loss.kind == "Logistic":
        p = 1 / (1 + u.exp())
        return p * (1 - p)
    gap = {"Squared": arb(1), "Huber": loss.delta - abs(u - y), "SquaredHinge": 1 - y * u}[loss.kind]
    return arb(1) if gap > 0 else arb(0) if gap < 0 else None


@given(st.lists(st.floats(0, 1e308), min_size=1, max_size=5), st.integers(-1000, 0))
def test_lengths_of_any_size(sizes, exponent):
    column = np.array(sizes) * 2.0**exponent
    length = sum((arb(float(v)) ** 2 for v in column if v), arb(0)).sqrt()
    bound = float(lengths_above(column[:, None])[0])
    assert np.isinf(bound) or arb(bound) >= length


def test_scores_of_groups_beside_signs():
    """The bounds hold the scores, and those of coefficients that must not be negative have the sign of z."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((20, 6))
    y = X[:, 0] + X[:, 1] - X[:, 4]
    gauge = Product([([0, 3], L2()), ([1, 2, 4, 5], NonNegative())])
    checker = checker_of(X, y, gauge=gauge, penalty=Linear(0.05))
    scores = checker.scores
    low, high = scores.low.copy(), scores.high.copy()
    for g in range(len(checker.gauge.prices)):
        assert not arb(float(low[g])) > scores[g]
        assert not arb(float(high[g])) < scores[g]
    upward = sorted(checker.gauge.upward)
    assert len(upward) == 4
    assert (low[upward] == -np.inf).any()
    assert (low[upward] > 0).any()


def test_pulls_at_the_ends_of_a_line():
    """The bounds of `z + t change` hold it, for columns of all scales and changes of both signs."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((30, 7)) * 2.0 ** rng.integers(-30, 30, 7)
    y = X @ np.append([1.0, -1.0], np.zeros(5)) / np.abs(X[:, :2]).max()
    a = 1e-3 * np.abs(X).max()
    result = solve(Problem(X, y, penalty=Linear(a), intercept=True), tol=1e-12)
    content = result.certificate(strengths=(0.999 * a, 1.001 * a)).content()
    data = Data(X, y, None, None, None, content["problem"]["loss"])
    gauge = gauge_of(content["problem"]["gauge"], data, content["problem"]["form"])
    face = Face(content, data, gauge, Family(content, data, gauge))
    face._evaluate()
    face._place()
    for side in (-1, 1):
        change = face._adjoint(face.lean)
        pulls = face._pulls_at(side, change)
        low, high = pulls.low.copy(), pulls.high.copy()
        for j in range(face.d):
            truth = face.z[j] + side * face.step * change[j]
            assert not arb(float(low[j])) > truth
            assert not arb(float(high[j])) < truth
        assert np.isfinite(high - low).all()


@given(st.lists(st.floats(0, 1e300), min_size=4, max_size=4), st.lists(st.floats(0, 1e300), min_size=4, max_size=4))
def test_products_of_matrices(a, b):
    left, right = np.array(a).reshape(2, 2), np.array(b).reshape(2, 2)
    found = product_above(left, right)
    for i in range(2):
        for k in range(2):
            truth = sum((arb(float(left[i, m])) * arb(float(right[m, k])) for m in range(2)), arb(0))
            assert not arb(float(found[i, k])) < truth
            assert (found[i, k] == 0) == (truth == 0)
