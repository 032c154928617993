"""The bounds that certificates take from losses and penalties hold, with the formulas of the checker as judge."""

from types import SimpleNamespace

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from atomsieve import (
    Ball,
    Huber,
    Linear,
    LinearSquare,
    LogBarrier,
    Logistic,
    Multinomial,
    Poisson,
    Power,
    Square,
    Squared,
    SquaredHinge,
)
from atomsieve.certificate.gap import scaling_cost
from atomsieve.numerics.enclosures import Enclosure, up
from atomsieve.standalone.verify import losses, penalties

LOSSES = [Squared(), Huber(0.3), Huber(1e5), SquaredHinge(), Logistic(), Poisson()]
PENALTIES = [
    Linear(0.3),
    Square(0.7),
    LinearSquare(0.3, 0.7),
    Power(0.3, 1.1),
    Power(0.3, 3),
    Power(0.3, 17.5),
    Ball(1.3),
    LogBarrier(1.3, 0.7),
    LogBarrier(1e-5, 1e3),
]
PREDICTIONS = st.one_of(
    st.floats(-40, 40),
    st.floats(-800, 800),
    st.floats(-1e12, 1e12),
    st.sampled_from([0.0, 1.0, -1.0, 0.3, 1e-300, 5e-324, -1e-20, 36.0, -745.0]),
)
RADII = st.one_of(st.just(0.0), st.floats(0, 1e-12), st.floats(0, 1e-3), st.floats(0, 30))
PLACES = st.floats(-1, 1)


@pytest.fixture(autouse=True)
def _digits():
    before, ctx.prec = ctx.prec, 2500
    yield
    ctx.prec = before


def below(bound, truth):
    """Return whether a lower bound holds; one that is no number says nothing."""
    return not np.isfinite(bound) or not arb(float(bound)) > truth


def target(loss, number):
    if loss.targets == "signs":
        return 1.0 if number > 0 else -1.0
    return float(abs(np.round(number))) if loss.targets == "counts" else number


def curvatures(judge, slope, y):
    """Return loss'' where the slope is this, twice; at a kink both limits of it."""
    if judge.kind == "Poisson":
        return slope + arb(y), slope + arb(y)
    if judge.kind == "Logistic":
        return abs(slope) * (1 - abs(slope)), abs(slope) * (1 - abs(slope))
    inside = {"Squared": True, "Huber": abs(slope) < judge.delta, "SquaredHinge": not slope == 0}[judge.kind]
    beyond = {"Squared": False, "Huber": False, "SquaredHinge": slope == 0}[judge.kind]
    return arb(int(inside)), arb(int(not beyond))


@settings(max_examples=250, deadline=None)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@given(
    u=PREDICTIONS, rad=RADII, place=PLACES, y=st.one_of(st.floats(-50, 50), st.sampled_from([0.0, 1e9])), part=PLACES
)
def test_losses(loss, u, rad, place, y, part):
    y = target(loss, y)
    judge = losses.Loss({"type": type(loss).__name__} | loss.get_params())
    at = arb(u) + arb(rad) * arb(place)
    targets = np.array([y])
    here = Enclosure(np.array([u]), np.array([rad]))
    slopes = loss.bounds.slopes(here, targets)
    slope = judge.slope(at, y)
    value = judge.value(at, y, slope)
    assert below(slopes.low[0], slope)
    assert below(-slopes.high[0], -slope)
    values = loss.bounds.values(here, slopes, targets)
    assert below(values.low[0], value)
    assert below(-values.high[0], -value)
    bent = curvatures(judge, slope, y)
    for least, most in (
        loss.bounds.curvatures(slopes.low, slopes.high, targets),
        (loss.bounds.least_curvatures(here, targets), [np.inf]),
    ):
        assert below(least[0], bent[1])
        assert below(-most[0], -bent[0])
    if not np.isfinite(slopes.high[0]):
        return
    scale = abs(part)
    ends = [-up(np.maximum(-slopes.low * scale, 0.0)), up(np.maximum(slopes.high * scale, 0.0))]
    bound = loss.bounds.conjugates(*ends, targets)
    assert below(-bound[0], -judge.conjugate(arb(0.999) * arb(scale) * slope, y))
    towards = loss.bounds.largest(slopes.low, slopes.high, targets, np.array([0.0]))
    assert below(-towards[0], -bent[0])


@settings(max_examples=50, deadline=None)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@given(
    samples=st.lists(st.tuples(PREDICTIONS, st.floats(-50, 50), st.floats(1e-3, 1e3)), min_size=1, max_size=3),
    cut=st.one_of(st.floats(0, 1), st.floats(0, 1e-6), st.sampled_from([1e-9, 2.0**-53, 1.0])),
)
def test_what_scaling_a_dual_point_costs(loss, samples, cut):
    """The conjugates at scaled slopes are above their tangents by no more than the bound."""
    shrink, counts = 1 - cut, np.array([weight for *_, weight in samples])
    u, y = np.array([v for v, *_ in samples]), np.array([target(loss, number) for _, number, _ in samples])
    judge = losses.Loss({"type": type(loss).__name__} | loss.get_params())
    slopes = loss.bounds.slopes(Enclosure.exact(u), y)
    problem, bounds = SimpleNamespace(loss=loss), loss.bounds
    flat = bounds.curvatures(0 * y, 0 * y, y) if loss.quadratic else None
    statement = SimpleNamespace(loss=bounds, problem=problem, counts=counts, y=y, constant_curvatures=flat)
    bound, cost = scaling_cost(statement, slopes, shrink), arb(0)
    if not np.isfinite(bound):
        return
    for v, t, w in zip(u, y, counts, strict=True):
        slope = judge.slope(arb(v), t)
        conjugate = judge.conjugate(arb(shrink) * slope, t)
        cost += arb(w) * (conjugate + judge.value(arb(v), t, slope) - arb(shrink) * slope * arb(v))
    assert below(-bound, -cost)
    if loss.quadratic:  # then it is what it costs
        assert arb(bound) <= cost * (1 + arb(2) ** -40) + arb(2) ** -1000


@settings(max_examples=250, deadline=None)
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@given(
    s=st.one_of(st.floats(0, 2), st.floats(0, 1e6), st.sampled_from([0.0, 5e-324, 1e-200, 0.3, 1.3])),
    rad=st.one_of(st.just(0.0), st.floats(0, 1e-12), st.floats(0, 1)),
    place=PLACES,
)
def test_penalties(penalty, s, rad, place):
    p = {name: arb(value) for name, value in penalty.get_params().items()}
    value, conjugate, _ = penalties.PENALTIES[type(penalty).__name__]
    at = arb(s) + arb(rad) * arb(place)
    if at < 0:
        return
    for bounds, truth in ((penalty.bounds.value, value), (penalty.bounds.conjugate, conjugate)):
        held = bounds(Enclosure(s, rad))
        if truth is None or not np.isfinite(held.high):
            continue
        assert below(held.low, truth(p, at))
        assert below(-held.high, -truth(p, at))
    if isinstance(penalty, Linear):
        assert not np.isfinite(penalty.bounds.conjugate(Enclosure(s, rad)).high) or s <= penalty.strength


@settings(max_examples=150, deadline=None)
@given(
    u=st.lists(PREDICTIONS, min_size=3, max_size=3),
    rad=st.one_of(st.just(0.0), st.floats(0, 1e-9), st.floats(0, 2)),
    places=st.lists(PLACES, min_size=3, max_size=3),
    label=st.integers(0, 2),
)
def test_multinomial(u, rad, places, label):
    y, bounds = np.array([label]), Multinomial().bounds
    here = Enclosure(np.array([u]), np.full((1, 3), rad))
    at = [arb(v) + arb(rad) * arb(p) for v, p in zip(u, places)]
    at = [v - at[label] for v in at]
    top = arb(float(max(v.mid() for v in at)))
    total = sum(((v - top).exp() for v in at), arb(0))
    slopes = bounds.slopes(here, y)
    values = bounds.values(here, slopes, y)
    value = top + total.log()
    assert below(values.low[0], value)
    assert below(-values.high[0], -value)
    p = [(v - top).exp() / total for v in at]
    for k in range(3):
        slope = p[k] - int(k == label)
        assert below(slopes.low[0, k], slope)
        assert below(-slopes.high[0, k], -slope)
    entropy = sum((q * q.log() for q in p if q > 0), arb(0))
    assert below(-bounds.conjugates(slopes.low, slopes.high, y)[0], -entropy)
