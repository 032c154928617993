"""Weights of samples and of gauges."""

import numpy as np
import pytest
from plain import (
    SCORES,
    TARGETS,
    D,
    N,
    X,
    answer,
    assert_same,
    assert_same_value,
    dense_and_sparse,
    every_gauge,
    every_loss,
    every_penalty,
    quick_answer,
    with_and_without_intercept,
)

from atomsieve import (
    L1,
    Ball,
    LinearSquare,
    NonNegative,
    Pairwise,
    Problem,
    Square,
    solve,
)


class TestSampleWeights:
    @pytest.mark.thin(3)
    @every_loss
    @dense_and_sparse
    @with_and_without_intercept
    def test_weight_of_zero_leaves_the_sample_out(self, loss, form, intercept):
        kept = np.arange(N) % 4 != 0
        y = TARGETS[loss]
        pieces = {"loss": loss, "intercept": intercept}
        assert_same(answer(form(X), y, sample_weight=kept, **pieces), answer(form(X[kept]), y[kept], **pieces))

    @pytest.mark.thin(3)
    @every_loss
    @pytest.mark.parametrize("junk", [-7.0, 99.0, 1e200])
    @with_and_without_intercept
    def test_target_of_a_sample_left_out_may_be_anything(self, loss, junk, intercept):
        kept = np.arange(N) % 4 != 0
        y = TARGETS[loss]
        pieces = {"loss": loss, "intercept": intercept}
        result = answer(X, np.where(kept, y, junk), sample_weight=kept, **pieces)
        assert_same(result, answer(X[kept], y[kept], **pieces))

    @pytest.mark.thin(3)
    @every_loss
    @dense_and_sparse
    def test_features_of_a_sample_left_out_may_be_huge(self, loss, form):
        kept = np.arange(N) % 4 != 0
        y = TARGETS[loss]
        result = answer(form(np.where(kept[:, None], X, 1e200 * X)), y, loss=loss, sample_weight=kept)
        assert_same(result, answer(X[kept], y[kept], loss=loss))

    @pytest.mark.thin(3)
    @every_loss
    @dense_and_sparse
    @with_and_without_intercept
    def test_whole_weights_are_repetitions(self, loss, form, intercept):
        times = np.arange(N) % 3 + 1
        y = TARGETS[loss]
        pieces = {"loss": loss, "intercept": intercept}
        weighted = answer(form(X), y, sample_weight=times, **pieces)
        assert_same(weighted, answer(form(np.repeat(X, times, axis=0)), np.repeat(y, times), **pieces))

    @every_gauge
    def test_whole_weights_are_repetitions_for_every_gauge(self, gauge):
        times = np.arange(N) % 3
        pieces = {"gauge": gauge, "penalty": LinearSquare(0.05, 0.1), "free": X[:, 0] ** 2}
        weighted = quick_answer(X, sample_weight=times, **pieces)
        repeated = quick_answer(
            np.repeat(X, times, axis=0), np.repeat(SCORES, times), **pieces | {"free": np.repeat(X[:, 0] ** 2, times)}
        )
        assert_same_value(weighted, repeated)

    @pytest.mark.parametrize("scale", [1e-320, 1e-200, 0.5, 1e200, 1e308])
    def test_only_ratios_of_weights_matter(self, scale):
        weights = np.arange(N) % 2 + 0.5
        assert_same(answer(X, sample_weight=scale * weights), answer(X, sample_weight=weights))

    @every_loss
    def test_equal_weights_are_none(self, loss):
        y = TARGETS[loss]
        assert_same(answer(X, y, loss=loss, sample_weight=np.full(N, 7)), answer(X, y, loss=loss))


class TestGaugeWeights:
    @pytest.mark.thin(3)
    @every_loss
    @dense_and_sparse
    @with_and_without_intercept
    def test_l1_weight_of_zero_is_a_free_column(self, loss, form, intercept):
        y = TARGETS[loss]
        pieces = {"loss": loss, "intercept": intercept}
        priced = answer(form(X), y, gauge=L1([0.0, 1.0, 1.0, 1.0, 1.0, 0.0]), **pieces)
        freed = answer(form(X[:, 1:5]), y, free=X[:, [0, 5]], **pieces)
        np.testing.assert_allclose(priced.objective, freed.objective, rtol=1e-8)
        np.testing.assert_allclose(priced.x[1:5], freed.x, atol=1e-4)
        np.testing.assert_allclose(priced.x[[0, 5]], freed.free, atol=1e-4)
        np.testing.assert_allclose(priced.intercept, freed.intercept, atol=1e-4)

    @pytest.mark.thin(3)
    @every_loss
    @dense_and_sparse
    @pytest.mark.parametrize("gauge", [L1, NonNegative])
    def test_infinite_weight_leaves_the_column_out(self, loss, form, gauge):
        y = TARGETS[loss]
        priced = answer(form(X), y, loss=loss, gauge=gauge([1.0, np.inf, 1.0, 2.0, 1.0, np.inf]))
        kept = [0, 2, 3, 4]
        without = answer(form(X[:, kept]), y, loss=loss, gauge=gauge([1.0, 1.0, 2.0, 1.0]))
        np.testing.assert_allclose(priced.objective, without.objective, rtol=1e-8)
        np.testing.assert_allclose(priced.x[kept], without.x, atol=1e-4)
        assert not priced.x[[1, 5]].any()

    def test_every_weight_zero_is_least_squares(self):
        result = answer(X, gauge=L1(np.zeros(D)), penalty=Ball(1e-3))
        np.testing.assert_allclose(result.x, np.linalg.lstsq(X, SCORES)[0], rtol=1e-9)
        assert result.converged

    @every_penalty
    def test_every_weight_infinite_leaves_nothing(self, penalty):
        result = answer(X, gauge=L1(np.full(D, np.inf)), penalty=penalty, intercept=True)
        assert result.converged
        assert not result.x.any()
        assert result.intercept == pytest.approx(SCORES.mean())

    def test_start_on_excluded_and_free_coordinates_is_no_obstacle(self):
        weights = [np.inf, 0.0, 1.0, 1.0, 1.0, 1.0]
        problem = Problem(X, SCORES, gauge=L1(weights), penalty=Square(0.1))
        assert_same(solve(problem, Pairwise(), tol=1e-10, start=np.ones(D)), answer(X, gauge=L1(weights)))
