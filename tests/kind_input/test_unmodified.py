"""What is given stays as it was."""

import numpy as np
import pandas as pd
import pytest
from plain import (
    BITS,
    METHODS,
    SCORES,
    TARGETS,
    D,
    N,
    X,
    assert_sound,
    every_gauge,
    every_loss,
    with_duplicates,
    with_duplicates_in_rows,
    with_explicit_zeros,
    with_unsorted_indices,
)

from atomsieve import (
    L1,
    Atoms,
    Group,
    Image,
    Multinomial,
    NonNegative,
    Pairwise,
    Problem,
    Square,
    solve,
)


class TestNothingIsModified:
    @pytest.mark.thin(4)
    @every_loss
    @every_gauge
    def test_dense(self, loss, gauge):
        y = TARGETS[loss].copy()
        width = 2 * D + 1 if isinstance(gauge, Atoms) else D
        start = np.full((width, 3) if isinstance(loss, Multinomial) else width, 0.01)
        given = [X.copy(), y, np.arange(N) % 3 + 1.0, X[:, 0] ** 2, start]
        before = [array.copy() for array in given]
        for array in given:
            array.flags.writeable = False
        matrix, y, weights, free, start = given
        problem = Problem(matrix, y, loss=loss, gauge=gauge, sample_weight=weights, free=free, intercept=True)
        for method in METHODS:
            assert_sound(solve(problem, method, start=start, max_iter=4))
        for array, was in zip(given, before, strict=True):
            np.testing.assert_array_equal(array, was)

    @pytest.mark.parametrize(
        "form", [with_unsorted_indices, with_duplicates_in_rows, with_explicit_zeros, with_duplicates]
    )
    def test_sparse(self, form):
        matrix, untouched = form(BITS), form(BITS)
        solve(Problem(matrix, SCORES, intercept=True), max_iter=20)
        np.testing.assert_array_equal(matrix.data, untouched.data)
        assert matrix.nnz == untouched.nnz
        if matrix.format == "csr":
            np.testing.assert_array_equal(matrix.indices, untouched.indices)
            np.testing.assert_array_equal(matrix.indptr, untouched.indptr)

    def test_pandas(self):
        frame, series = pd.DataFrame(X), pd.Series(SCORES)
        solve(Problem(frame, series), max_iter=20)
        pd.testing.assert_frame_equal(frame, pd.DataFrame(X))
        pd.testing.assert_series_equal(series, pd.Series(SCORES))

    def test_gauge(self):
        weights, groups, matrix = np.arange(1.0, 7.0), np.array([1, 1, 0, 0, 2, 2]), np.tril(np.ones((D, D)))
        for array in (weights, groups, matrix):
            array.flags.writeable = False
        for gauge in (L1(weights), NonNegative(weights), Group(groups, weights[:3]), Image(L1(weights), matrix)):
            assert_sound(solve(Problem(X, SCORES, gauge=gauge), Pairwise(), max_iter=20))

    def test_result_does_not_change_with_a_later_run_from_it(self):
        problem = Problem(X, SCORES, penalty=Square(0.1))
        first = solve(problem, Pairwise(), max_iter=3)
        x = first.x.copy()
        solve(problem, Pairwise(), start=first)
        np.testing.assert_array_equal(first.x, x)
