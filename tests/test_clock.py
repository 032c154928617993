"""Time limits hold in every inner loop, and runs that cannot end well end in a sentence."""

import threading
import time

import numpy as np
import pytest

from atomsieve import (
    GCG,
    L2,
    GaugeClassifier,
    Group,
    Linear,
    LineSearch,
    LInf,
    Logistic,
    Multinomial,
    Problem,
    Square,
    Status,
    path,
    solve,
)
from atomsieve.core.clock import TimeUp, deadline, late, look
from atomsieve.numerics.threads import _libraries, one_thread

SLACK = 3.0
"""Seconds beyond a limit that tests allow: machines are slow and busy. Without looks at the clock it is minutes."""


def data(n=600, d=3000):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, X[:, :50] @ rng.standard_normal(50) + rng.standard_normal(n)


def test_deadlines_nest_and_the_earlier_one_holds():
    now = time.perf_counter()
    with deadline(now + 1000):
        assert not late()
        with deadline(now - 1), deadline(now + 1000), pytest.raises(TimeUp):
            look()
        look()


def test_threads_have_deadlines_of_their_own():
    seen = []
    with deadline(time.perf_counter() - 1):
        other = threading.Thread(target=lambda: seen.append(late()))
        other.start()
        other.join()
        assert late()
    assert seen == [False]


@pytest.mark.parametrize("until", [None, "decided"])
@pytest.mark.parametrize(
    "pieces",
    [
        {"penalty": Linear(1e-3)},
        {"penalty": Square(1e-5)},
        {"penalty": Linear(1e-4), "intercept": True},
        {"gauge": L2(), "penalty": Square(1e-4)},
        {"gauge": LInf(), "penalty": Square(1e-4)},
        {"gauge": Group(np.arange(3000) // 10), "penalty": Linear(1e-3)},
    ],
    ids=lambda pieces: " ".join(map(str, pieces.values())),
)
def test_time_limits_hold_in_solve(pieces, until):
    problem = Problem(*data(), **pieces)
    started = time.perf_counter()
    result = solve(problem, tol=1e-14, time_limit=0.2, until=until)
    assert time.perf_counter() - started < 0.2 + SLACK
    assert result.status is Status.TIME_LIMIT or result.time < 0.4
    assert np.isfinite(result.gap)


def test_time_limits_hold_in_line_searches_and_paths():
    X, y = data()
    problem = Problem(X, np.sign(y), loss=Logistic(), penalty=Square(1e-3), intercept=True)
    started = time.perf_counter()
    assert solve(problem, GCG(LineSearch()), tol=1e-12, time_limit=0.2).status is Status.TIME_LIMIT
    found = path(problem, n=100, ratio=1e-4, tol=1e-10, time_limit=0.2)
    assert time.perf_counter() - started < 0.4 + 2 * SLACK
    assert len(found.results) < 100


def test_an_interrupt_during_a_proof_ends_the_run_with_its_best_point(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("atomsieve.certificate.certify", interrupted)
    problem = Problem(*data(60, 60), penalty=Linear(0.1))
    result = solve(problem, until="decided")
    assert result.status is Status.INTERRUPTED
    assert result.objective < problem.baseline


def test_what_was_found_before_the_time_was_up_is_kept():
    problem = Problem(*data(), penalty=Linear(1e-3))
    assert solve(problem, tol=1e-14, time_limit=0.5).objective < problem.baseline


@pytest.mark.parametrize("seed", range(12))
def test_multinomial_with_weights_over_sixteen_decades_ends(seed):
    """Three nested loops ran for minutes here: predictions of a million, and losses that are flat there."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((5, 20)) + 1e6, np.array([0, 1, 2, 0, 1])
    weights = 10.0 ** rng.uniform(-8, 8, 5)
    pieces = {"loss": Multinomial(), "penalty": Linear(1e-3), "sample_weight": weights, "intercept": True}
    if seed in (5, 9):  # one class has next to no weight
        with pytest.raises(ValueError, match="run off to infinity"):
            solve(Problem(X - 1e6, y, **pieces))
        return
    near = Problem(X - 1e6, y, **pieces)
    result, truth = solve(Problem(X, y, **pieces), time_limit=20), solve(near, tol=1e-10)
    assert result.status is not Status.TIME_LIMIT
    if result.converged:
        assert result.objective <= truth.objective + 2e-6 * near.baseline
    assert not (~result.alive & (np.abs(truth.lifted.ravel()) > 1e-4)).any()


def test_threads_are_as_many_after_a_run_as_before():
    before = [library.get_num_threads() for library in _libraries()]
    with one_thread(), one_thread():
        solve(Problem(*data(30, 50), penalty=Linear(0.1)))
        assert {library.get_num_threads() for library in _libraries()} <= {1}
    workers = [threading.Thread(target=solve, args=(Problem(*data(30, 50), penalty=Linear(0.1)),)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [library.get_num_threads() for library in _libraries()] == before


class TestProofs:
    """What is proven when time is up stays proven, and one proof is made in any case."""

    def test_a_certificate_that_was_made_in_time_is_kept(self, monkeypatch):
        def time_is_up(*_):
            raise TimeUp

        monkeypatch.setattr("atomsieve.run.decide._further", time_is_up)
        X, y = data(90, 60)
        result = solve(Problem(X, y, penalty=Linear(0.05)), tol=1e-2, until="decided")
        assert result.status is Status.TIME_LIMIT
        assert result.known is not None
        assert result.certificate() is result.known

    def test_an_estimator_proves_once_without_time_and_better_with_it(self):
        X, y = data(90, 60)
        model = GaugeClassifier(penalty=Linear(0.02), tol=0.1).fit(X, y > 0)
        hasty, patient = model.certify(X, y > 0, time_limit=1e-9), model.certify(X, y > 0)
        assert hasty.valid
        assert hasty.gap > 10 * patient.gap
