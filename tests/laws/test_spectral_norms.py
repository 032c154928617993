"""Spectral norms of blocks of columns: the same taken together as one by one, and as NumPy finds them."""

import numpy as np
import pytest
from scipy import sparse

from atomsieve import Group, Problem
from atomsieve.design.seminorm import NARROW_BLOCK


@pytest.mark.parametrize(
    "form", [np.ascontiguousarray, np.asfortranarray, sparse.csc_array], ids=["rows", "columns", "sparse"]
)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_of_any_width_and_order(form, intercept, weighted):
    rng = np.random.default_rng([intercept, weighted])
    widths = [1, 1, 2, 3, 3, 3, NARROW_BLOCK, NARROW_BLOCK, NARROW_BLOCK + 1, 60]
    labels = rng.permutation(np.repeat(np.arange(len(widths)), widths))
    labels[:8] = [3, 2, 3, 2, 3, 4, 2, 4]
    X = rng.standard_normal((50, len(labels))) * np.exp(rng.standard_normal(len(labels)))
    X[:, labels == 1] = 0.0
    weights = rng.uniform(0.5, 2.0, 50) if weighted else np.ones(50)
    problem = Problem(form(X), X[:, 0], gauge=Group(labels, "equal"), sample_weight=weights, intercept=intercept)
    weights = weights / weights.sum()
    centred = X - weights @ X if intercept else X
    rooted = np.sqrt(weights)[:, None] * centred
    expected = [np.linalg.norm(rooted[:, labels == b], 2) for b in np.unique(labels)]
    np.testing.assert_allclose(problem.spread, expected, rtol=1e-9, atol=1e-7)
    assert (problem.spread >= np.array(expected) * (1 - 1e-15)).all()


@pytest.mark.parametrize("exponent", [-900, -500, 400])
def test_blocks_of_any_size(exponent):
    """One block is far smaller or larger than the other, beyond what squares can hold."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 6))
    plain = Problem(X, X[:, 0], gauge=Group([0, 1, 0, 1, 0, 1])).spread
    scale = np.where(np.arange(6) % 2 == 1, 2.0**exponent, 1.0)
    scaled = Problem(X * scale, X[:, 0], gauge=Group([0, 1, 0, 1, 0, 1])).spread
    np.testing.assert_allclose(scaled, plain * [1.0, 2.0**exponent], rtol=1e-12)


@pytest.mark.parametrize("widths", [(3, 5, NARROW_BLOCK), (NARROW_BLOCK + 1, 70)], ids=["together", "one by one"])
@pytest.mark.parametrize("offset", [2.0**10, 2.0**24, 2.0**30])
def test_far_from_zero(widths, offset):
    """What cancels against the intercept must not make a bound too small: these integers are exact."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(len(widths)), widths)
    small = rng.integers(-8, 9, (64, len(labels))).astype(float)
    problem = Problem(small + offset, small[:, 0], gauge=Group(labels, "equal"), intercept=True)
    centred = (small - small.mean(axis=0)) / 8
    expected = [np.linalg.norm(centred[:, labels == b], 2) for b in range(len(widths))]
    assert (problem.spread >= np.array(expected) * (1 - 1e-12)).all()
