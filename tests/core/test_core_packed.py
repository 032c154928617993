"""Columns as the core reads them, of every kind of design, against the columns themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from atomsieve import Linear, Problem, solve
from atomsieve.design import Meter, Metered, ProductDesign, RepeatedDesign, as_design

RNG = np.random.default_rng(0)


def unpacked(packed, n):
    """Return packed columns as a matrix, with the checks that the core makes."""
    matrix = np.zeros((n, len(packed.counts)))
    for array, kind in zip(packed, (np.float64, np.int32, np.int64, np.int64, np.int64), strict=True):
        assert array is None or (array.dtype == kind and array.ndim == 1 and array.flags.c_contiguous)
    for j, (start, count) in enumerate(zip(packed.value_starts, packed.counts, strict=True)):
        values = packed.values[start : start + count]
        assert len(values) == count
        if packed.rows is None:
            assert count == n
            matrix[:, j] = values
        else:
            rows = packed.rows[packed.row_starts[j] : packed.row_starts[j] + count]
            assert len(np.unique(rows)) == count
            matrix[rows, j] = values
    return matrix


def holey(n, d):
    return np.where(RNG.random((n, d)) < 0.4, RNG.standard_normal((n, d)), 0.0)


FORMS = {
    "by rows": holey,
    "by columns": lambda n, d: np.asfortranarray(holey(n, d)),
    "every second column": lambda n, d: np.asfortranarray(holey(n, 2 * d))[:, ::2],
    "every second column of rows": lambda n, d: holey(n, 2 * d)[:, ::2],
    "every second row": lambda n, d: np.asfortranarray(holey(2 * n, d))[::2],
    "some rows of columns": lambda n, d: np.asfortranarray(holey(n + 3, d))[1 : n + 1],
    "some columns of rows": lambda n, d: holey(n, d + 3)[:, 1 : d + 1],
    "backwards": lambda n, d: holey(n, d)[::-1, ::-1],
    "backwards by columns": lambda n, d: np.asfortranarray(holey(n, d))[:, ::-1],
    "one column many times": lambda n, d: np.broadcast_to(holey(n, 1), (n, d)),
    "one row many times": lambda n, d: np.broadcast_to(holey(1, d), (n, d)),
    "float32": lambda n, d: holey(n, d).astype(np.float32),
    "swapped bytes": lambda n, d: holey(n, d).astype(">f8"),
    "CSC": lambda n, d: sparse.csc_array(holey(n, d)),
    "CSR": lambda n, d: sparse.csr_array(holey(n, d)),
    "COO": lambda n, d: sparse.coo_array(holey(n, d)),
    "CSC with long indices": lambda n, d: long_indices(sparse.csc_array(holey(n, d))),
    "CSR with long indices": lambda n, d: long_indices(sparse.csr_array(holey(n, d))),
    "CSC with zeros": lambda n, d: stored_zeros(sparse.csc_array(holey(n, d))),
    "CSC in any order": lambda n, d: unsorted(sparse.csc_array(holey(n, d))),
    "CSC with duplicates": lambda n, d: sparse.csc_array(
        (np.ones(4 * d), np.tile([0, 0, n - 1, n - 1], d), 4 * np.arange(d + 1)), shape=(n, d)
    ),
    "empty CSC": lambda n, d: sparse.csc_array((n, d)),
}


def long_indices(matrix):
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def stored_zeros(matrix):
    matrix.data[::2] = 0.0
    return matrix


def unsorted(matrix):
    """Return a matrix whose columns list their rows backwards."""
    for start, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        matrix.data[start:end] = matrix.data[start:end][::-1].copy()
        matrix.indices[start:end] = matrix.indices[start:end][::-1].copy()
    matrix.has_sorted_indices = False
    return matrix


KINDS = {
    "itself": lambda design: design,
    "metered": lambda design: Metered(design, Meter(design.shape[1])),
    "three outputs": lambda design: RepeatedDesign.of(design, 3),
    "some of three outputs": lambda design: RepeatedDesign.of(design, 3).select(np.arange(0, 3 * design.shape[1], 2)),
    "a product": lambda design: ProductDesign(design, as_design(RNG.standard_normal((design.shape[1], 5)))),
    "a sparse product": lambda design: ProductDesign(design, as_design(sparse.csc_array(holey(design.shape[1], 5)))),
    "selected": lambda design: design.select(np.arange(design.shape[1])[::-1].copy()),
    "a slice": lambda design: design.select(slice(0, max(1, design.shape[1] - 1))),
    "samples": lambda design: design.samples(np.arange(design.shape[0]) % 2 == 0),
}


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 9), st.integers(1, 7), st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_packed_columns_are_the_columns(form, kind, n, d, seed):
    rng = np.random.default_rng(seed)
    design = KINDS[kind](as_design(FORMS[form](n, d)))
    rows, columns = design.shape
    for index in (
        np.arange(columns),
        np.sort(rng.permutation(columns)[: rng.integers(1, columns + 1)]),
        rng.permutation(columns),
        np.array([columns - 1]),
        rng.integers(0, columns, 5),
        np.empty(0, dtype=np.intp),
    ):
        if not len(index) and kind in ("a product", "a sparse product"):
            continue
        np.testing.assert_allclose(unpacked(design.packed(index), rows), design.columns(index), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("which", ["data", "indices"])
def test_sparse_matrices_of_strided_arrays(which):
    X = sparse.csc_array(holey(30, 10))
    y = RNG.standard_normal(30)
    parts = {"data": X.data, "indices": X.indices}
    parts[which] = np.repeat(parts[which], 2)[::2]
    strided = sparse.csc_array((parts["data"], parts["indices"], X.indptr), shape=X.shape)
    assert not getattr(strided, which).flags.c_contiguous
    np.testing.assert_array_equal(
        solve(Problem(strided, y, penalty=Linear(0.01))).x, solve(Problem(X, y, penalty=Linear(0.01))).x
    )
