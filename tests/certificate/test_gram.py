"""Gram matrices and their inverses: bounds in exact arithmetic, sparse as dense, and who is suspected of dependence."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csc_array

from atomsieve.certificate.gram import Gram, Plain, Sparse, inverse_of
from atomsieve.numerics.enclosures import Enclosure


def exact_inverse(matrix):
    """Return the inverse of a matrix of fractions by elimination."""
    k = len(matrix)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(k))] for i, row in enumerate(matrix)]
    for i in range(k):
        pivot = next(r for r in range(i, k) if rows[r][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for r in range(k):
            if r != i:
                rows[r] = [v - rows[r][i] * w for v, w in zip(rows[r], rows[i], strict=True)]
    return [row[k:] for row in rows]


def columns(seed, n, k, density=1.0):
    rng = np.random.default_rng(seed)
    sizes = 2.0 ** rng.integers(-40, 41, k)
    return rng.standard_normal((n, k)) * sizes * (rng.random((n, k)) < density), rng.uniform(0.1, 3, n)


@pytest.mark.parametrize("seed", range(20))
def test_the_inverse_is_enclosed(seed):
    C, w = columns(seed, 12, 5)
    rad = np.abs(C) * 2.0**-30 * (seed % 2)
    ridge = np.zeros(5) if seed % 3 else np.random.default_rng(seed).uniform(0, 2, 5)
    found = inverse_of(Plain(Enclosure(C, rad), w), ridge)
    assert found is not None
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], C.shape)
    inside = [
        [Fraction(c) + Fraction(r) * int(s) for c, r, s in zip(*row, strict=True)]
        for row in zip(C, rad, signs, strict=True)
    ]
    G = [
        [sum(Fraction(v) * row[i] * row[j] for v, row in zip(w, inside, strict=True)) for j in range(5)]
        for i in range(5)
    ]
    for i in range(5):
        G[i][i] += Fraction(ridge[i])
    R = exact_inverse(G)
    assert all(R[i][i] <= Fraction(found.diagonal[i]) <= R[i][i] * Fraction(11, 10) for i in range(5))


@pytest.mark.parametrize("density", [0.05, 0.5])
@pytest.mark.parametrize("free", [0, 2])
def test_sparse_columns_are_as_dense_ones(free, density):
    C, w = columns(3, 60, 8, density)
    C[range(8), range(8)] += 1.0
    B, _ = columns(4, 60, free)
    given = Enclosure(B, 2.0**-40 * np.abs(B))
    sparse = Sparse(given, csc_array(C), w)
    dense = Plain(Enclosure(np.hstack([B, C]), np.hstack([given.rad, np.zeros(C.shape)])), w)
    assert sparse.shape == dense.shape
    np.testing.assert_array_equal(sparse.columns.rad, dense.columns.rad)
    for one, other in zip(sparse.products(), dense.products(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-14 * np.abs(other).max(initial=0.0))
    some = np.array([0, 3, 5])
    part, whole = sparse.select(some).products().gram, Gram.of(dense).select(some).matrix
    np.testing.assert_allclose(part, whole, rtol=1e-13, atol=1e-14 * np.abs(whole).max())


def test_twins_are_multiples_of_columns_that_are_none():
    columns = rng_columns()
    gram = Gram.of(Plain(Enclosure.exact(columns), np.linspace(0.5, 2, len(columns))))
    others, heads, times = gram.twins(0)
    assert others.tolist() == [3, 4, 6]
    assert heads.tolist() == [0, 0, 2]
    np.testing.assert_allclose(times, [1 / 3, -1.0, 1e5], rtol=1e-14)
    assert gram.twins(4)[0].tolist() == [4, 6]


def rng_columns():
    """Return columns of which the fourth, the fifth and the last are multiples of others."""
    first, second, third, other = np.random.default_rng(0).standard_normal((4, 40))
    return np.stack([first, second, third, first / 3, -first, other, 1e5 * third], axis=1)


def test_suspects_are_the_columns_of_dependent_sets():
    C, w = columns(5, 50, 10)
    C /= np.abs(C).max(axis=0)
    C[:, 7] = C[:, 2] - C[:, 4]
    C[:, 9] = C[:, 1] * (1 + 1e-9 * np.random.default_rng(0).standard_normal(50))
    assert Gram.of(Plain(Enclosure.exact(C), w)).suspects(1, 1e-5).tolist() == [0, 1, 2, 4, 7, 9]
    C[:, 3] = 0.0  # nothing can be divided by its length
    assert Gram.of(Plain(Enclosure.exact(C), w)).suspects(1, 1e-5).tolist() == list(range(10))


def test_no_columns_and_columns_of_zeros_have_no_inverse():
    C, w = columns(6, 9, 3)
    whole = Gram.of(Plain(Enclosure.exact(C), w))
    assert whole.select(np.zeros(0, dtype=np.intp)).inverse() is None
    assert Gram.of(Plain(Enclosure.exact(C[:, :0]), w)) is None
    C[:, 1] = 0.0
    with_zeros = Gram.of(Plain(Enclosure.exact(C), w))
    assert with_zeros.inverse() is None
    assert with_zeros.select(np.array([0, 2])).inverse() is not None


@pytest.mark.parametrize("n", [2, 7, 8, 9, 4096, 12289])
def test_sums(n):
    rng = np.random.default_rng(n)
    terms = rng.standard_normal(n) * 10.0 ** rng.integers(-15, 16, n)
    terms[: n // 2] = -terms[n - n // 2 :] * (1 + 2.0**-50)  # most of it cancels
    found = Enclosure(terms, np.full(n, 2.0**-60)).sum()
    truth = sum(map(Fraction, terms.tolist()))
    assert abs(Fraction(float(found.mid)) - truth) + n * Fraction(1, 2**60) <= Fraction(float(found.rad))
    twice = (n * 2.0**-53) ** 2 * np.abs(terms).sum()  # what sums in twice the precision lose (Ogita, Rump and Oishi)
    assert float(found.rad) <= 1.01 * (n * 2.0**-60 + abs(float(truth)) * 2.0**-52 + twice)
    assert not np.isfinite(Enclosure.exact(np.full(n, 1e308)).sum().rad)
