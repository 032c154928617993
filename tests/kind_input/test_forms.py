"""What X and vectors may be made of: the answer is that of the plain float64 array that says the same."""

import numpy as np
import pandas as pd
import pytest
from plain import (
    BITS,
    BOOLEAN_FORMS,
    FORMS,
    SCORES,
    TARGETS,
    WHOLE,
    N,
    X,
    answer,
    assert_same,
    assert_same_value,
    dense_and_sparse,
    every_gauge,
    every_loss,
    every_vector,
    quick_answer,
    read_only,
    strided,
    with_and_without_intercept,
)
from scipy import sparse

from atomsieve import (
    L1,
    Ball,
    Group,
    LinearSquare,
    LogBarrier,
    Logistic,
    Multinomial,
    NonNegative,
    Pairwise,
    Problem,
    Square,
    SquaredHinge,
    solve,
)


class TestFormsOfX:
    @pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
    def test_whole_numbers(self, form):
        assert_same(answer(form(WHOLE), penalty=Square(1e4)), answer(WHOLE, penalty=Square(1e4)))

    @pytest.mark.parametrize("form", (FORMS | BOOLEAN_FORMS).values(), ids=(FORMS | BOOLEAN_FORMS).keys())
    def test_zeros_and_ones_with_intercept(self, form):
        assert_same(answer(form(BITS), intercept=True), answer(BITS, intercept=True))

    @pytest.mark.thin(2)
    @pytest.mark.parametrize("dtype", [np.float32, np.float16])
    @every_loss
    def test_low_precision_means_its_own_values(self, loss, dtype):
        low = X.astype(dtype)
        assert_same(
            answer(low, TARGETS[loss], loss=loss, intercept=True),
            answer(low.astype(np.float64), TARGETS[loss], loss=loss, intercept=True),
            atol=0,
        )

    @pytest.mark.parametrize("mode", ["r", "c", "r+"])
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_memory_map(self, tmp_path, mode, order):
        file = tmp_path / "X.npy"
        np.save(file, np.asarray(X, order=order))
        assert_same(answer(np.load(file, mmap_mode=mode)), answer(X))

    @pytest.mark.thin(2)
    @every_gauge
    @pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, np.asfortranarray, strided])
    def test_every_gauge(self, gauge, form):
        pieces = {"gauge": gauge, "penalty": LinearSquare(0.05, 0.1), "intercept": True}
        assert_same_value(quick_answer(form(X), **pieces), quick_answer(X, **pieces))

    @pytest.mark.thin(3)
    @every_loss
    @dense_and_sparse
    @with_and_without_intercept
    def test_every_loss(self, loss, form, intercept):
        pieces = {"loss": loss, "intercept": intercept}
        assert_same(answer(form(X), TARGETS[loss], **pieces), answer(X, TARGETS[loss], **pieces))


class TestFormsOfVectors:
    @every_vector
    def test_y(self, form):
        whole = np.round(3 * SCORES)
        assert_same(answer(X, form(whole)), answer(X, whole), atol=0)

    @pytest.mark.thin(3)
    @pytest.mark.parametrize("loss", [Logistic(), SquaredHinge(), Multinomial()])
    @every_vector
    def test_labels(self, loss, form):
        labels = TARGETS[loss].astype(float)
        assert_same(answer(X, form(labels), loss=loss), answer(X, labels, loss=loss), atol=0)

    def test_bool_targets_are_zeros_and_ones(self):
        assert_same(answer(X, SCORES > 0), answer(X, (SCORES > 0).astype(float)), atol=0)
        assert_same(
            answer(X, SCORES > 0, loss=Multinomial()), answer(X, (SCORES > 0).astype(int), loss=Multinomial()), atol=0
        )

    @every_vector
    def test_sample_weight(self, form):
        weights = np.arange(N) % 4.0
        assert_same(answer(X, sample_weight=form(weights)), answer(X, sample_weight=weights), atol=0)

    @every_vector
    def test_free(self, form):
        free = np.round(3 * SCORES) % 5
        result, plain = answer(X, free=form(free)), answer(X, free=free[:, None])
        assert_same(result, plain, atol=0)
        np.testing.assert_array_equal(result.free, plain.free)

    @pytest.mark.parametrize("form", [pd.DataFrame, np.asfortranarray, strided, list, read_only])
    def test_free_with_several_columns(self, form):
        free = BITS[:, :2]
        assert_same(answer(X, free=form(free), intercept=True), answer(X, free=free, intercept=True))

    def test_free_without_columns(self):
        result = answer(X, free=np.zeros((N, 0)))
        assert_same(result, answer(X), atol=0)
        assert result.free.shape == (0,)

    @every_vector
    def test_start(self, form):
        problem = Problem(X, SCORES, penalty=Square(0.1))
        start = np.array([2.0, -1.0, 0.0, 0.0, 1.0, 0.0])
        result, plain = solve(problem, Pairwise(), start=form(start)), solve(problem, Pairwise(), start=start)
        np.testing.assert_array_equal(result.x, plain.x)

    @pytest.mark.thin(3)
    @every_vector
    @pytest.mark.parametrize("gauge", [L1, NonNegative, lambda weights: Group(weights=weights)])
    def test_gauge_weights(self, gauge, form):
        weights = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 1.0])
        assert_same(answer(X, gauge=gauge(form(weights))), answer(X, gauge=gauge(weights)), atol=0)

    @pytest.mark.parametrize(
        "groups",
        [list("aabbcc"), np.array([7, 7, 8, 8, 99, 99]), pd.Series([0.5, 0.5, 1, 1, 2, 2]), (0, 0, 1, 1, 2, 2)],
    )
    def test_group_labels(self, groups):
        named, numbered = quick_answer(X, gauge=Group(groups)), quick_answer(X, gauge=Group([0, 0, 1, 1, 2, 2]))
        np.testing.assert_array_equal(named.x, numbered.x)

    @pytest.mark.parametrize("strength", [1, np.float32(1.0), np.int64(1), np.float64(1.0)])
    def test_numbers_of_other_types(self, strength):
        for penalty in (Square, LinearSquare, Ball, LogBarrier):
            assert_same(answer(X, penalty=penalty(strength)), answer(X, penalty=penalty(1.0)), atol=0)
