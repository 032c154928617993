"""Choices over all blocks: the best scores and the blocks that a rule keeps, exactly as one by one."""

import numpy as np
import pytest
import twins
from hypothesis import given, settings
from hypothesis import strategies as st

from atomsieve import core
from atomsieve.core import best, highest_outside, kept

numbers = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e-300, 1e300, 5e-324, 1.7e308, np.inf, -np.inf])
scores = st.lists(st.one_of(numbers, st.floats(allow_nan=False)), max_size=40).map(lambda v: np.array(v, dtype=float))


@settings(max_examples=400, deadline=None)
@given(scores, st.integers(1, 45))
def test_the_best_scores(values, count):
    np.testing.assert_array_equal(best(values, count), twins.best(values, count))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([np.inf, -np.inf, 0.0, -1.0, -2.0]), max_size=300), st.integers(1, 300))
def test_the_best_where_no_finite_score_is_positive(values, count):
    """Scores of the support are infinite, and those of excluded blocks are not above -inf."""
    np.testing.assert_array_equal(best(np.array(values), count), twins.best(np.array(values), count))


@pytest.mark.parametrize("size", [1, 255, 256, 257, 10_000])
@pytest.mark.parametrize("draw", ["normal", "ties", "equal", "decades", "one far"])
def test_the_best_of_many(draw, size):
    rng = np.random.default_rng(size)
    values = {
        "normal": lambda: np.abs(rng.standard_normal(size)),
        "ties": lambda: rng.integers(0, 5, size).astype(float),
        "equal": lambda: np.ones(size),
        "decades": lambda: 10.0 ** rng.uniform(-300, 300, size),
        "one far": lambda: np.append(rng.random(size - 1), 1e300),
    }[draw]()
    for count in {1, 2, size // 3 + 1, max(size - 1, 1), size, size + 7}:
        order = np.argsort(-values, kind="stable")[:count]
        np.testing.assert_array_equal(best(values, count), np.sort(order))


def test_a_score_that_is_no_number_is_not_among_the_best():
    values = np.array([np.nan, 1.0, np.nan, 2.0, 3.0])
    np.testing.assert_array_equal(best(values, 2), [3, 4])
    assert len(best(values[:1], 1)) == 0
    assert len(best(np.empty(0), 3)) == 0


@settings(max_examples=200, deadline=None)
@given(scores, st.data(), st.integers(1, 45))
def test_outside_of_some_blocks(values, data, count):
    inside = data.draw(st.lists(st.sampled_from(range(len(values))), unique=True)) if len(values) else []
    inside = np.array(sorted(inside), dtype=np.int64)
    others = np.delete(np.arange(len(values)), inside)
    assert highest_outside(values, inside) == max(values[others], default=-np.inf)
    beside = others[twins.best(values[others], count)]
    np.testing.assert_array_equal(best(values, count, inside), np.sort(np.concatenate([inside, beside])))


@pytest.mark.parametrize("draw", ["normal", "ties", "rising", "falling"])
def test_the_best_of_many_beside_some(draw):
    """Among thousands most scores are passed over in vectors, and those that are held are sorted out several times."""
    rng = np.random.default_rng(0)
    values = {
        "normal": lambda: rng.standard_normal(10_000),
        "ties": lambda: rng.integers(0, 5, 10_000).astype(float),
        "rising": lambda: np.arange(10_000.0),
        "falling": lambda: -np.arange(10_000.0),
    }[draw]()
    values[rng.integers(0, 10_000, 500)] = np.nan
    values[rng.integers(0, 10_000, 500)] = -np.inf
    inside = np.unique(rng.integers(0, 10_000, 300))
    others = np.setdiff1d(np.flatnonzero(values > -np.inf), inside)
    assert highest_outside(values, inside) == values[others].max()
    for count in (0, 1, 17, 150, 9000):
        order = others[np.argsort(-values[others], kind="stable")[:count]]
        np.testing.assert_array_equal(best(values, count, inside), np.sort(np.concatenate([inside, order])))


whole = st.integers(-20, 20).map(float)
odd = st.one_of(whole, st.sampled_from([np.inf, -np.inf, np.nan]))


@settings(max_examples=300, deadline=None)
@given(st.data(), st.integers(1, 12), st.booleans())
def test_what_is_kept(data, size, odd_ones):
    """Exactly, where nothing is rounded."""
    one = odd if odd_ones else whole
    values, spread, lengths = (np.array(data.draw(st.lists(one, min_size=size, max_size=size))) for _ in range(3))
    radius, doubt, floor = (abs(data.draw(whole)) / 4 for _ in range(3))
    marks, known = (
        kept(values, spread, lengths, radius, doubt, floor),
        twins.kept(values, spread, lengths, radius, doubt, floor),
    )
    with np.errstate(invalid="ignore"):
        if np.isnan(values - (radius * spread + doubt * lengths)).any():
            known[:] = True  # a NaN rules nothing out
    np.testing.assert_array_equal(marks, known)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_kept_up_to_rounding(seed):
    rng = np.random.default_rng(seed)
    values, spread, lengths = rng.random((3, 5000))
    marks = kept(values, spread, lengths, 0.1, 1e-3, 0.2)
    reach = 0.1 * spread + 1e-3 * lengths
    floor = max(0.2, (values - reach).max())
    np.testing.assert_array_equal(
        marks[np.abs(values + reach - floor) > 1e-15], (values + reach >= floor)[np.abs(values + reach - floor) > 1e-15]
    )
    assert marks.any()
    assert not marks.all()


def test_builds_agree_on_choices():
    rng = np.random.default_rng(0)
    values, spread, lengths = rng.random((3, 1000))
    chosen = [np.empty(100, dtype=np.int64) for _ in range(2)]
    marks = [np.empty(1000, dtype=bool) for _ in range(2)]
    for build, one, other in zip((core._plain, core._core), chosen, marks, strict=True):
        assert build.best(values, core.NO_PLACES, 100, one) == 100
        build.kept(values, spread, lengths, 0.05, 0.0, 0.1, other)
    np.testing.assert_array_equal(*chosen)
    np.testing.assert_array_equal(*marks)
