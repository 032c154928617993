"""The sparse group norm against slow twins: conic programs, subgradients, exact cases, its two ends."""

import math
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from atomsieve import L1, Group, Scaled, SparseGroup
from atomsieve.gauges.mixed_norms import MixedNorms
from atomsieve.numerics.enclosures import Enclosure

numbers = st.sampled_from([0.0, 1.0, -1.0, 2.0, -3.0, 0.3, 1e-3, -2.5])
vectors = st.lists(numbers, min_size=1, max_size=6).map(np.array)
lines = st.tuples(st.sampled_from([0.0, 0.1, 1.0, 7.0]), st.sampled_from([0.0, 0.2, 3.0])).filter(any)
seeds = st.integers(0, 1000)


def gauges(d, seed=0):
    """Return gauges with groups in any order, and all kinds of balance; the ends among them."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, max(d // 2, 1), size=d)
    count = len(np.unique(labels))
    return [SparseGroup(labels, balance) for balance in (0.0, 0.1, 0.5, 0.95, 1.0)] + [
        SparseGroup(labels, 0.5, rng.uniform(0.2, 3.0, size=count)),
        SparseGroup(labels, 1 - 1e-9, "equal"),
        SparseGroup(np.zeros(d), 0.3),
        SparseGroup(None, 0.3),
        Scaled(SparseGroup(labels, 0.4), 0.3),
    ]


def stated(gauge, x):
    """Return kappa(x) for cvxpy."""
    if isinstance(gauge, Scaled):
        return stated(gauge.gauge, x) / gauge.radius
    d = x.shape[0]
    labels = gauge.labels((d,))
    prices = np.ones(labels.max() + 1)
    if isinstance(gauge.weights, str) and gauge.weights == "sqrt":
        prices = np.sqrt(np.bincount(labels))
    elif not isinstance(gauge.weights, str):
        prices = gauge.weights
    norms = [price * cp.norm2(x[np.flatnonzero(labels == g)]) for g, price in enumerate(prices)]
    return gauge.balance * cp.norm1(x) + (1 - gauge.balance) * sum(norms)


@settings(max_examples=5)
@given(vectors.filter(lambda z: z.any()), seeds)
def test_support_function_is_the_optimum_of_a_conic_program(z, seed):
    for gauge in gauges(len(z), seed):
        x = cp.Variable(len(z))
        size = np.abs(z).max()  # the solver has absolute tolerances
        best = cp.Problem(cp.Maximize(z / size @ x), [stated(gauge, x) <= 1]).solve(solver=cp.CLARABEL)
        assert gauge.support(z) == pytest.approx(size * best, rel=1e-6)


@settings(max_examples=10)
@given(vectors, seeds)
def test_value_is_the_formula(x, seed):
    for gauge in gauges(len(x), seed):
        assert gauge.value(x) == pytest.approx(stated(gauge, cp.Constant(x)).value, rel=1e-13)


@settings(max_examples=300)
@given(vectors, seeds)
def test_scores_solve_their_equation_to_rounding(z, seed):
    for gauge in gauges(len(z), seed)[:9]:
        if gauge.balance in (0.0, 1.0):
            continue
        labels, scores = gauge.labels(z.shape), gauge.scores(z)
        prices = gauge._norms(z.shape).prices
        for g, t in enumerate(scores):
            part = np.abs(z[labels == g])
            left = np.linalg.norm(np.maximum(part - t * gauge.balance, 0.0))
            # a change of t by an ulp changes the left side by as much as all soft thresholds together
            assert abs(left - t * prices[g]) <= 8e-16 * (1 + prices[g]) * part.max(initial=0.0) * math.sqrt(len(part))


@settings(max_examples=60)
@given(vectors, lines, seeds)
@example(np.array([1.0, 2.0, -3.0, -2.5, 1.0, 1.0]), (0.1, 0.2), 0)  # the slope is one at which three entries vanish
def test_prox_satisfies_the_conditions_of_optimality(v, line, seed):
    """v - x is in the slope times the polar ball, and aligned with x."""
    for gauge in gauges(len(v), seed):
        x = gauge.prox(v, line)
        kappa = gauge.value(x)
        slope, size = line[0] + line[1] * kappa, 1 + np.abs(v).sum()
        assert gauge.support(v - x) <= slope + 1e-12 * size / getattr(gauge, "radius", 1.0)
        assert abs(x @ (v - x) - slope * kappa) <= 1e-12 * size**2 / getattr(gauge, "radius", 1.0)


@settings(max_examples=30)
@given(vectors, st.floats(1e-12, 1.0), seeds)
def test_bounds_hold_for_all_of_an_enclosure(z, radius, seed):
    rng = np.random.default_rng(seed)
    for gauge in gauges(len(z), seed):
        found = gauge.enclose_scores(Enclosure(z, np.full(len(z), radius)))
        for _ in range(5):
            inside = z + radius * rng.uniform(-1, 1, len(z))
            assert (found.low <= gauge.scores(inside) * (1 + 1e-14)).all()
            assert (gauge.scores(inside) * (1 - 1e-14) <= found.high).all()
        exact = gauge.enclose_scores(Enclosure.exact(z))
        assert (exact.high - exact.low <= 1e-13 * exact.high + 1e-300).all()


@settings(max_examples=300)
@given(
    st.lists(st.floats(0, 1e6), min_size=1, max_size=8), st.floats(0, 1), st.floats(1e-6, 1e6), st.integers(-900, 900)
)
def test_bounds_of_the_polar_norm_hold_in_exact_arithmetic(sizes, single, price, exponent):
    """The root lies between two numbers if the residual has both signs there, in fractions."""
    values = np.ldexp(np.array(sizes), exponent)
    norms = MixedNorms(np.zeros(len(values), dtype=np.intp), single, np.array([price]))
    low, high = (Fraction(float(bound[0])) for bound in (norms.polar_below(values), norms.polar_above(values)))

    def residual(t):
        left = [max(Fraction(float(v)) - t * Fraction(single), 0) for v in values]
        return sum(v * v for v in left) - (t * Fraction(price)) ** 2

    assert residual(low) >= 0 >= residual(high)
    if single == 0 or single > 1e-100:  # beyond, quotients overflow, and bounds are those of the l2 norm
        assert high - low <= Fraction(1, 10**13) * high + Fraction(1, 10**300)


@given(vectors, seeds)
def test_both_ends_of_the_balance(z, seed):
    groups, features = (gauges(len(z), seed)[k] for k in (0, 4))
    labels = groups.groups
    assert groups.value(z) == pytest.approx(Group(labels).value(z), rel=1e-14)
    np.testing.assert_allclose(groups.scores(z), Group(labels).scores(z), rtol=1e-14)
    assert features.value(z) == pytest.approx(L1().value(z), rel=1e-14)
    assert features.support(z) == L1().support(z)


def test_exact_cases():
    gauge = Scaled(SparseGroup([0, 0], 0.5, "equal"), 0.5)  # kappa = |x|_1 + |x|_2
    z = np.array([3.0, 4.0])
    assert gauge.support(z) == pytest.approx(7 - math.sqrt(24), rel=1e-15)
    assert gauge.value(z) == 12.0
    np.testing.assert_allclose(gauge.prox(z, (1.0, 0.0)), np.array([2.0, 3.0]) * (1 - 1 / math.sqrt(13)), rtol=1e-15)


def test_a_group_in_part_is_again_one():
    gauge = SparseGroup([1, 0, 0, 1, 2, 0], 0.4)
    part, x = gauge.restrict(np.array([1, 2, 4])), np.array([0.0, 2.0, -1.0, 0.0, 3.0, 0.0])
    assert part.value(x[[1, 2, 4]]) == pytest.approx(gauge.value(x), rel=1e-15)
    assert len(part.scores(np.ones(3))) == 2


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"groups": [0, 0], "balance": 1.5}, "balance must be a number from 0"),
        ({"groups": [0, 0], "balance": "sqrt"}, "balance must be a number from 0"),
        ({"groups": [0, 0], "balance": math.nan}, "balance must be a number from 0"),
        ({"groups": [[0, 1], [1]]}, "SparseGroup: groups have 1 twice"),
        ({"groups": [0, 0], "weights": [0.0]}, "SparseGroup: weights must be positive"),
    ],
)
def test_mistakes_are_refused_in_a_sentence(wrong, message):
    with pytest.raises(ValueError, match=message):
        SparseGroup(**wrong)


def test_names_of_features_and_groups():
    gauge = SparseGroup({"b": ["x2", "x0"], "a": ["x1"]}, 0.25, {"a": 2.0, "b": 1.0})
    known = gauge.named(["x0", "x1", "x2"], 3)
    assert known.names() == ("a", "b")
    assert known.value(np.array([3.0, 1.0, 4.0])) == pytest.approx(0.25 * 8 + 0.75 * (5 + 2))
