"""Data without content, repeated, constant, in any unit: sound answers."""

import numpy as np
import pytest
from plain import (
    SCORES,
    TARGETS,
    D,
    N,
    X,
    answer,
    assert_same_value,
    assert_sound,
    dense_and_sparse,
    every_gauge,
    every_loss,
    every_method,
    every_penalty,
    quick_answer,
    with_and_without_intercept,
)

from atomsieve import (
    L1,
    L2,
    Ball,
    Group,
    Huber,
    LinearSquare,
    LInf,
    NonNegative,
    Pairwise,
    Problem,
    Scaled,
    Simplex,
    Square,
    Squared,
    solve,
)


class TestDegenerateData:
    @pytest.mark.thin(3)
    @every_gauge
    @every_loss
    def test_zero_column_gets_nothing(self, gauge, loss):
        blank = X.copy()
        blank[:, 2] = 0.0
        result = solve(Problem(blank, TARGETS[loss], loss=loss, gauge=gauge), max_iter=200)
        assert_sound(result)
        if isinstance(gauge, (L1, NonNegative, Simplex)):
            assert not result.x[2].any()

    @pytest.mark.parametrize("gauge", [L1(), NonNegative(), Group(), Simplex()])
    @dense_and_sparse
    def test_zero_column_is_no_column(self, gauge, form):
        blank = X.copy()
        blank[:, 2] = 0.0
        result, without = answer(form(blank), gauge=gauge), answer(form(np.delete(X, 2, axis=1)), gauge=gauge)
        np.testing.assert_allclose(np.delete(result.x, 2), without.x, atol=1e-4)
        np.testing.assert_allclose(result.objective, without.objective, rtol=1e-8)
        assert result.x[2] == 0

    @pytest.mark.thin(3)
    @every_gauge
    @every_method
    def test_nothing_but_zeros(self, gauge, method):
        result = solve(Problem(np.zeros((N, D)), SCORES, gauge=gauge), method)
        assert_sound(result)
        assert result.converged
        assert result.objective == pytest.approx(0.5 * np.mean(SCORES**2))

    @pytest.mark.thin(3)
    @every_penalty
    @pytest.mark.parametrize("loss", [Squared(), Huber(0.5)])
    @pytest.mark.parametrize("constant", [0.1, 1.0, -3.7e5])
    def test_constant_target_is_the_intercept(self, constant, loss, penalty):
        result = solve(Problem(X, np.full(N, constant), loss=loss, penalty=penalty, intercept=True), Pairwise())
        assert result.converged
        assert result.intercept == pytest.approx(constant, rel=1e-12)
        np.testing.assert_allclose(result.x, 0.0, atol=1e-9 * abs(constant))

    @pytest.mark.thin(3)
    @every_gauge
    @every_method
    def test_zero_target_needs_nothing(self, gauge, method):
        result = solve(Problem(X, np.zeros(N), gauge=gauge), method)
        assert result.converged
        assert result.objective == 0
        assert not result.x.any()

    @pytest.mark.thin(3)
    @every_loss
    @dense_and_sparse
    def test_constant_column_beside_an_intercept_gets_nothing(self, loss, form):
        constant = np.column_stack([np.full(N, 3.0), X])
        result = answer(form(constant), TARGETS[loss], loss=loss, intercept=True)
        without = answer(X, TARGETS[loss], loss=loss, intercept=True)
        np.testing.assert_allclose(result.x[1:], without.x, atol=1e-4)
        np.testing.assert_allclose(result.x[0], 0.0, atol=1e-9)

    @pytest.mark.thin(4)
    @every_loss
    @pytest.mark.parametrize(
        "columns", [np.full((N, 1), 3.0), np.zeros((N, 1)), np.ones((N, 3)), 1e-8 * np.ones((N, 1))]
    )
    def test_free_columns_that_the_intercept_covers_change_nothing(self, loss, columns):
        result = answer(X, TARGETS[loss], loss=loss, intercept=True, free=columns)
        without = answer(X, TARGETS[loss], loss=loss, intercept=True)
        np.testing.assert_allclose(result.x, without.x, atol=1e-4)
        np.testing.assert_allclose(result.objective, without.objective, rtol=1e-8)
        constant = result.intercept + columns[0] @ result.free
        np.testing.assert_allclose(constant, without.intercept, atol=1e-4)

    def test_one_hot_free_columns_beside_an_intercept(self):
        levels = np.eye(4)[np.arange(N) % 4]
        result, without = answer(X, free=levels, intercept=True), answer(X, free=levels)
        np.testing.assert_allclose(result.x, without.x, atol=1e-4)
        np.testing.assert_allclose(result.intercept + levels @ result.free, levels @ without.free, atol=1e-4)

    @pytest.mark.thin(3)
    @every_loss
    @dense_and_sparse
    def test_duplicated_columns_share_what_one_would_carry(self, loss, form):
        double = answer(form(np.column_stack([X, X[:, 1], X[:, 1]])), TARGETS[loss], loss=loss)
        single = answer(X, TARGETS[loss], loss=loss)
        np.testing.assert_allclose(double.objective, single.objective, rtol=1e-8)
        np.testing.assert_allclose(double.x[1] + double.x[6] + double.x[7], single.x[1], atol=1e-4)
        assert double.alive.reshape(8, -1)[[1, 6, 7]].any(axis=1).all()

    @every_method
    def test_opposite_columns_share_what_one_would_carry(self, method):
        problem = Problem(np.column_stack([X, -X[:, 1]]), SCORES, penalty=Square(0.1))
        result = solve(problem, method, tol=1e-3)
        assert result.converged
        assert result.alive[1]
        assert result.alive[6]

    @pytest.mark.thin(3)
    @every_loss
    @every_gauge
    def test_single_sample(self, loss, gauge):
        y = TARGETS[loss][:1] * 0 + 1
        result = solve(Problem(X[:1], y, loss=loss, gauge=gauge), Pairwise(), max_iter=300)
        assert_sound(result)

    def test_single_sample_with_intercept_is_fitted_by_it(self):
        result = answer(X[:1], SCORES[:1], intercept=True)
        assert result.intercept == pytest.approx(SCORES[0])
        assert not result.x.any()

    @pytest.mark.thin(3)
    @every_loss
    @pytest.mark.parametrize("gauge", [L1(), NonNegative(), Simplex(), Group(), L2(), LInf(), Scaled(L1(), 2.0)])
    @dense_and_sparse
    def test_single_feature(self, loss, gauge, form):
        y = TARGETS[loss]
        result = solve(Problem(form(X[:, :1]), y, loss=loss, gauge=gauge, intercept=True), Pairwise())
        assert_sound(result)
        assert result.converged

    def test_single_number(self):
        result = answer([[2.0]], [3.0], penalty=Square(1.0))
        assert result.x == pytest.approx([6.0 / 5.0])

    def test_more_features_than_samples(self):
        assert_sound(answer(X.T, X[0]))

    @pytest.mark.thin(2)
    @every_loss
    @every_method
    @with_and_without_intercept
    def test_strength_beyond_the_largest_score_leaves_nothing(self, loss, method, intercept):
        result = solve(
            Problem(X, TARGETS[loss], loss=loss, penalty=LinearSquare(1e3, 1.0), intercept=intercept), method
        )
        assert result.converged
        assert result.n_iter <= 1
        assert not result.x.any()
        assert not len(result.active.blocks)

    @pytest.mark.parametrize("gauge", [NonNegative(), Simplex()])
    @every_method
    def test_atoms_that_all_point_the_wrong_way_leave_nothing(self, gauge, method):
        result = solve(Problem(np.abs(X), -np.abs(SCORES), gauge=gauge, penalty=Square(0.1)), method)
        assert result.converged
        assert result.n_iter <= 1
        assert not result.x.any()

    @pytest.mark.thin(3)
    @pytest.mark.parametrize("unit", [1e-200, 1e-160, 1e-100, 1e-8, 1e8, 1e100, 1e160, 1e200])
    @every_method
    def test_unit_of_the_features_does_not_matter(self, unit, method):
        """The products stay moderate in any unit; squares of the features alone would overflow or vanish."""
        plain = quick_answer(X, penalty=Ball(1.0), method=method)
        assert_same_value(quick_answer(unit * X, penalty=Ball(1.0 / unit), method=method), plain)

    @pytest.mark.parametrize("unit", [1e-100, 1e-8, 1e8, 1e100])
    @with_and_without_intercept
    def test_unit_of_the_target_does_not_matter(self, unit, intercept):
        plain = answer(X, SCORES, intercept=intercept)
        other = answer(X, unit * SCORES, intercept=intercept)
        assert other.converged
        np.testing.assert_allclose(other.x / unit, plain.x, atol=1e-4)
        np.testing.assert_allclose(other.intercept / unit, plain.intercept, atol=1e-4)

    @pytest.mark.thin(2)
    @pytest.mark.parametrize("shift", [1e3, -1e6])
    @every_loss
    def test_offset_of_the_features_does_not_matter_with_an_intercept(self, shift, loss):
        plain = answer(X, TARGETS[loss], loss=loss, intercept=True)
        other = solve(Problem(X + shift, TARGETS[loss], loss=loss, penalty=Square(0.1), intercept=True), Pairwise())
        assert other.converged
        np.testing.assert_allclose(other.x, plain.x, atol=1e-2)

    @pytest.mark.parametrize("shift", [1e2, 1e4, -1e6])
    @pytest.mark.parametrize("loss", [Squared(), Huber(0.5)])
    def test_offset_of_the_target_does_not_matter_with_an_intercept(self, shift, loss):
        plain = answer(X, SCORES, loss=loss, intercept=True)
        other = solve(Problem(X, SCORES + shift, loss=loss, penalty=Square(0.1), intercept=True), Pairwise())
        assert other.converged
        np.testing.assert_allclose(other.x, plain.x, atol=1e-2)
        np.testing.assert_allclose(other.intercept - shift, plain.intercept, atol=1e-2)
