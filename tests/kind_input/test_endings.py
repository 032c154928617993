"""How runs end, start, repeat, and what they record."""

import numpy as np
import pandas as pd
import pytest
from plain import (
    BITS,
    HARD,
    METHODS,
    PENALTIES,
    SCORES,
    TARGETS,
    D,
    X,
    assert_same_value,
    assert_sound,
    every_gauge,
    every_loss,
    every_method,
    every_penalty,
    every_walk,
    quick_answer,
)
from scipy import sparse

from atomsieve import (
    GCG,
    Atoms,
    Away,
    Ball,
    LineSearch,
    LogBarrier,
    Logistic,
    NonNegative,
    OpenLoop,
    Pairwise,
    Power,
    Problem,
    ShortStep,
    Simplex,
    Square,
    Status,
    solve,
)


class TestEndings:
    @pytest.mark.parametrize("no", [False, np.False_])
    @every_walk
    def test_callback_that_returns_false_stops(self, method, no):
        result = solve(
            HARD, method, tol=0.0, max_iter=20, callbacks=[lambda progress: no if progress.iteration == 4 else None]
        )
        assert result.status is Status.STOPPED
        assert result.n_iter == 3
        assert_sound(result)

    @pytest.mark.parametrize("other", [None, True, 0, "no"])
    def test_callback_that_returns_anything_else_does_not_stop(self, other):
        result = solve(HARD, Pairwise(), max_iter=5, tol=0.0, callbacks=[lambda _: other])
        assert result.status is Status.MAX_ITER

    def test_every_callback_sees_every_iteration(self):
        first, second = [], []
        solve(HARD, Pairwise(), max_iter=5, tol=0.0, callbacks=(step for step in [first.append, second.append]))
        assert [progress.iteration for progress in first] == [1, 2, 3, 4, 5, 6]
        assert len(second) == 6

    @every_method
    def test_time_limit(self, method):
        result = solve(HARD, method, tol=0.0, time_limit=1e-9)
        assert result.status is Status.TIME_LIMIT
        assert not result.converged
        assert_sound(result)

    @every_walk
    @pytest.mark.parametrize("when", [1, 2, 5])
    def test_interrupt_returns_the_best_point_so_far(self, method, when):
        gaps = []

        def interrupt(progress):
            gaps.append(progress.gap)
            if progress.iteration == when:
                raise KeyboardInterrupt

        result = solve(HARD, method, tol=0.0, callbacks=[interrupt], trace=True)
        assert result.status is Status.INTERRUPTED
        assert not result.converged
        assert result.n_iter == when - 1
        assert result.gap == min(gaps)
        assert len(result.trace) == when
        assert_sound(result)

    def test_interrupt_can_be_resumed(self):
        def interrupt(progress):
            if progress.iteration == 10:
                raise KeyboardInterrupt

        result = solve(HARD, Pairwise(), tol=1e-9, callbacks=[interrupt])
        assert solve(HARD, Pairwise(), tol=1e-9, start=result).converged

    def test_other_errors_of_callbacks_are_not_swallowed(self):
        def fail(_):
            raise RuntimeError("mine")

        with pytest.raises(RuntimeError, match="mine"):
            solve(HARD, callbacks=[fail])

    @every_method
    @pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
    def test_converged_means_gap_within_tolerance(self, method, tol):
        result = solve(HARD, method, tol=tol, max_iter=100)
        assert result.converged == (result.gap <= tol * HARD.baseline)
        assert result.converged or result.status in (Status.MAX_ITER, Status.STALLED, Status.NO_PROGRESS)

    def test_no_iterations_leave_the_start(self):
        result = solve(HARD, max_iter=0)
        assert result.status is Status.MAX_ITER
        assert result.n_iter == 0
        assert result.objective == HARD.baseline

    @every_method
    def test_tolerance_of_zero_ends(self, method):
        result = solve(HARD, method, tol=0.0, max_iter=300)
        assert result.status in (Status.CONVERGED, Status.STALLED, Status.MAX_ITER, Status.NO_PROGRESS)
        assert_sound(result)

    def test_open_loop_steps_may_diverge_for_slow_penalties(self):
        data = np.random.default_rng(0).normal(size=(100, 50))
        problem = Problem(data, np.ones(100), loss=Logistic(), penalty=Power(0.01, 1.2))
        result = solve(problem, GCG(OpenLoop()))
        assert result.status is Status.DIVERGED
        assert "LineSearch" in str(result.status)
        assert_sound(result)
        assert result.objective <= problem.baseline

    @pytest.mark.parametrize("step", [LineSearch(), ShortStep()])
    def test_other_steps_do_not_diverge_for_slow_penalties(self, step):
        data = np.random.default_rng(0).normal(size=(100, 50))
        problem = Problem(data, np.ones(100), loss=Logistic(), penalty=Power(0.01, 1.2))
        result = solve(problem, GCG(step), max_iter=200)
        assert result.status in (Status.MAX_ITER, Status.CONVERGED)
        assert result.objective < problem.baseline
        assert_sound(result)


class TestRuns:
    @pytest.mark.thin(2)
    @every_loss
    @every_method
    def test_same_input_gives_the_same_bits(self, loss, method):
        runs = [
            solve(Problem(X, TARGETS[loss], loss=loss, intercept=True), method, max_iter=30, trace=True)
            for _ in range(2)
        ]
        np.testing.assert_array_equal(runs[0].x, runs[1].x)
        np.testing.assert_array_equal(runs[0].alive, runs[1].alive)
        assert runs[0].gap == runs[1].gap
        frames = [run.trace.to_frame().drop(columns="time") for run in runs]
        pd.testing.assert_frame_equal(frames[0], frames[1], check_exact=True)

    def test_problem_can_be_solved_twice(self):
        problem = Problem(sparse.csr_array(BITS), SCORES, penalty=Square(0.1), intercept=True)
        runs = [solve(problem, Pairwise(), tol=1e-9) for _ in range(2)]
        np.testing.assert_array_equal(runs[0].x, runs[1].x)
        assert runs[0].n_iter == runs[1].n_iter

    @pytest.mark.parametrize("method", [GCG(), GCG(LineSearch()), Away(), Pairwise()])
    @pytest.mark.parametrize("screening", ["auto", "paper", "off"])
    def test_start_at_the_answer_needs_no_step(self, method, screening):
        problem = Problem(X, SCORES, penalty=Square(1.0), intercept=True)
        first = solve(problem, method, tol=1e-2, screening=screening)
        again = solve(problem, method, tol=1e-2, screening=screening, start=first)
        assert first.converged
        assert again.converged
        assert again.n_iter == 0
        np.testing.assert_array_equal(again.x, first.x)

    @pytest.mark.thin(4)
    @pytest.mark.parametrize("method", [GCG(LineSearch()), GCG(ShortStep()), Away(), Pairwise()])
    @every_loss
    def test_start_at_a_neighbour_takes_no_more_steps(self, method, loss):
        def at(strength):
            return Problem(X, TARGETS[loss], loss=loss, penalty=Square(strength), intercept=True)

        neighbour = solve(at(0.1), method, tol=1e-3)
        cold, warm = solve(at(0.101), method, tol=1e-3), solve(at(0.101), method, tol=1e-3, start=neighbour)
        assert warm.converged
        assert warm.n_iter <= cold.n_iter
        assert_same_value(warm, cold)

    @every_gauge
    def test_start_from_a_result_of_every_gauge(self, gauge):
        problem = Problem(X, SCORES, gauge=gauge, penalty=Square(0.1), free=X[:, 0] ** 2)
        first = solve(problem, Pairwise(), tol=1e-3)
        again = solve(problem, Pairwise(), tol=1e-3, start=first)
        assert again.n_iter == 0
        np.testing.assert_allclose(again.objective, first.objective, rtol=1e-12)

    @pytest.mark.thin(4)
    @every_gauge
    @pytest.mark.parametrize("method", METHODS[1:], ids=repr)
    def test_answer_does_not_depend_on_the_start(self, gauge, method):
        start = np.full(2 * D + 1 if isinstance(gauge, Atoms) else D, 2.0)
        if not isinstance(gauge, (NonNegative, Simplex, Atoms)):
            negative = np.arange(D) % 2 == 0
            start[negative & ~gauge.positive if getattr(gauge, "positive", None) is not None else negative] = -2.0
        afar = quick_answer(X, gauge=gauge, method=method, start=start, intercept=True)
        assert_same_value(afar, quick_answer(X, gauge=gauge, method=method, intercept=True))
        charge = afar.problem.penalty.value(afar.problem.core.value(afar.lifted))
        loss = np.mean((X @ afar.x + afar.intercept - SCORES) ** 2) / 2
        assert afar.objective == pytest.approx(loss + charge, rel=1e-9)

    @pytest.mark.parametrize("penalty", [Ball(0.5), LogBarrier(0.5), Power(1.0, np.inf)])
    @every_method
    def test_start_outside_the_ball_is_shrunk(self, penalty, method):
        problem = Problem(X, SCORES, penalty=penalty)
        masses = []
        result = solve(
            problem, method, tol=1e-3, start=np.full(D, 1e3), callbacks=[lambda p: masses.append(p.point.state.mass)]
        )
        assert all(penalty.admits(mass) for mass in masses)
        np.testing.assert_allclose(result.objective, solve(problem, method, tol=1e-3).objective, rtol=5e-3)

    @pytest.mark.thin(3)
    @every_loss
    @pytest.mark.parametrize("radius", [1e-6, 0.3, 1e4])
    @pytest.mark.parametrize("method", [*METHODS, Away(ShortStep()), Pairwise(ShortStep())], ids=repr)
    def test_iterates_stay_inside_the_domain(self, loss, radius, method):
        for penalty in (Ball(radius), LogBarrier(radius, 1.0), LogBarrier(radius, 1e6)):
            masses = []
            problem = Problem(X, TARGETS[loss], loss=loss, penalty=penalty, intercept=radius < 1)
            result = solve(
                problem, method, tol=1e-9, max_iter=15, callbacks=[lambda p, m=masses: m.append(p.point.state.mass)]
            )
            assert max(masses) <= radius
            assert isinstance(penalty, Ball) or max(masses) < radius
            assert np.abs(result.x).sum() <= radius * (1 + 1e-12)
            assert_sound(result)

    @pytest.mark.thin(4)
    @pytest.mark.parametrize("method", [GCG(), Pairwise()], ids=repr)
    @every_loss
    @every_gauge
    def test_no_number_is_ever_missing(self, method, loss, gauge):
        for penalty in [*PENALTIES, Power(0.1, 1.5)]:
            problem = Problem(X, TARGETS[loss], loss=loss, gauge=gauge, penalty=penalty, intercept=True)
            assert_sound(solve(problem, method, max_iter=5))

    @every_method
    @every_penalty
    def test_objective_is_what_it_says(self, method, penalty):
        result = solve(Problem(X, SCORES, penalty=penalty, intercept=True), method, max_iter=50)
        residual = X @ result.x + result.intercept - SCORES
        expected = np.mean(residual**2) / 2 + penalty.value(np.abs(result.x).sum())
        assert result.objective == pytest.approx(expected, rel=1e-9)


class TestTrace:
    COLUMNS = ("iteration", "time", "objective", "gap", "alive", "nonzero", "step")

    @every_walk
    def test_frame_has_one_row_per_point(self, method):
        result = solve(HARD, method, max_iter=7, tol=0.0, trace=True)
        frame = result.trace.to_frame()
        assert tuple(frame.columns) == self.COLUMNS
        assert list(frame.iteration) == list(range(1, 9))
        assert frame.time.is_monotonic_increasing
        assert frame.alive.is_monotonic_decreasing
        assert frame.gap.min() == result.gap
        assert frame.objective.iloc[0] == HARD.baseline
        assert frame.nonzero.iloc[0] == 0
        assert frame.drop(columns="step").notna().all(axis=None)
        assert list(frame.step.notna()) == [True] * 7 + [False]

    def test_open_loop_steps_are_recorded(self):
        frame = solve(HARD, GCG(), max_iter=4, tol=0.0, trace=True).trace.to_frame()
        np.testing.assert_array_equal(frame.step[:4], [1, 2 / 3, 2 / 4, 2 / 5])

    def test_frame_is_empty_without_trace(self):
        frame = solve(HARD, max_iter=2).trace.to_frame()
        assert tuple(frame.columns) == self.COLUMNS
        assert not len(frame)
