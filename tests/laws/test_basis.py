"""The basis of the unpenalised columns: orthonormal, of the right span, with all the digits that columns still tell."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomsieve.numerics.basis import combination, orthonormal


def gram(basis, weights):
    return basis.T @ (weights[:, None] * basis)


@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([0.0, 1e-14, 1e-11, 1e-7, 1.0]))
def test_bases_are_orthonormal_and_of_the_right_size(seed, count, apart):
    rng = np.random.default_rng(seed)
    n, weights = 30, rng.uniform(0.1, 1.0, 30)
    weights /= weights.sum()
    columns = rng.standard_normal((n, count)) * 10.0 ** rng.uniform(-5, 5, count)
    twin = columns[:, :1] * (1 + apart * rng.standard_normal((n, 1)))
    both = np.hstack([columns, twin])
    basis, transform = orthonormal(both, weights)
    assert basis.shape[1] == count + (not np.array_equal(twin, columns[:, :1]))
    np.testing.assert_allclose(gram(basis, weights), np.eye(basis.shape[1]), atol=1e-13)
    scale = np.abs(both) @ np.abs(transform)
    assert (np.abs(both @ transform - basis) <= 1e-12 * scale + 1e-12).all()


@pytest.mark.parametrize("size", [1e6, 1e9, 1e11, 1e13])
def test_what_a_nearly_constant_column_tells_is_in_the_basis(size):
    rng = np.random.default_rng(0)
    weights = np.full(40, 1 / 40)
    column = size + rng.standard_normal(40)
    h = column - size  # no rounding
    basis, _ = orthonormal(np.column_stack([np.ones(40), column]), weights)
    left = h - basis @ (basis.T @ (weights * h))
    assert np.abs(left).max() <= 1e-14 * np.abs(h).max()


def test_exact_sums_are_recognised_and_an_ulp_is_not_one():
    indicators = np.eye(3)[np.arange(30) % 3]
    columns = np.column_stack([np.ones(30), indicators])
    assert orthonormal(columns, np.full(30, 1 / 30))[0].shape[1] == 3
    columns[7, 2] = np.nextafter(columns[7, 2], 2.0)
    assert orthonormal(columns, np.full(30, 1 / 30))[0].shape[1] == 4


@given(st.integers(0, 10**6))
def test_combinations_are_right_to_the_last_digits(seed):
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((5, 4)) * 10.0 ** rng.uniform(-8, 8, (5, 4))
    shares = rng.standard_normal(4) * 10.0 ** rng.uniform(-8, 8, 4)
    shares[3] = -float(np.round(columns[0, :3] @ shares[:3] / columns[0, 3], 3))
    found = combination(columns, shares)
    for row, value in zip(columns, found, strict=True):
        exact = sum(Fraction(a) * Fraction(b) for a, b in zip(row.tolist(), shares.tolist(), strict=True))
        size = sum(abs(Fraction(a) * Fraction(b)) for a, b in zip(row.tolist(), shares.tolist(), strict=True))
        assert abs(Fraction(float(value)) - exact) <= abs(exact) * 2**-50 + size * 2**-95


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 6))
def test_there_are_no_more_directions_than_samples(seed, n, count):
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((n, 1)) * (1 + 10.0 ** rng.uniform(-30, 0, count) * rng.standard_normal((n, count)))
    basis, _ = orthonormal(columns, np.full(n, 1 / n))
    assert basis.shape[1] <= min(n, count)
    np.testing.assert_allclose(gram(basis, np.full(n, 1 / n)), np.eye(basis.shape[1]), atol=1e-12)
