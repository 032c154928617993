"""Steps are measured once; what was cut short is measured again; what differs in a setting is another step."""

import json
import math
import os
import signal

import numpy as np
import pandas as pd
import pytest

from atomsieve import GCG, Problem, Status, solve
from atomsieve.paper.cache import Cache


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path)


class Counter:
    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return pd.DataFrame({"call": [self.calls]})


def test_the_same_settings_are_measured_once(cache, tmp_path):
    measure = Counter()
    first = cache.step("a step", {"n": 1, "names": ["b", "c"]}, measure)
    again = Cache(tmp_path).step("a step", {"names": ["b", "c"], "n": 1}, measure)
    assert measure.calls == 1
    pd.testing.assert_frame_equal(first, again)


@pytest.mark.parametrize("other", [{"n": 2}, {"n": 1, "seed": 0}, {}, {"n": "1"}])
def test_other_settings_are_another_step(cache, other):
    measure = Counter()
    assert cache.step("a", {"n": 1}, measure).call[0] == 1
    assert cache.step("a", other, measure).call[0] == 2
    assert cache.step("a", {"n": 1}, measure).call[0] == 1, "the first is still there"


def test_another_function_is_another_step(cache):
    assert cache.step("a", {}, lambda: pd.DataFrame({"x": [1]})).x[0] == 1
    assert cache.step("a", {}, lambda: pd.DataFrame({"x": [2]})).x[0] == 2


def test_numbers_come_back_to_the_last_bit(cache):
    rng = np.random.default_rng(0)
    numbers = np.r_[rng.standard_normal(1000) * 10.0 ** rng.uniform(-300, 300, 1000), math.inf, math.nan, 5e-324]
    table = pd.DataFrame({"number": numbers, "word": ["None"] * len(numbers), "count": range(len(numbers))})
    pd.testing.assert_frame_equal(cache.step("digits", {}, lambda: table), table, check_exact=True)


def test_the_settings_lie_beside_the_table(cache, tmp_path):
    cache.step("fig1-p=2", {"p": 2}, lambda: pd.DataFrame({"x": [1]}))
    (note,) = tmp_path.glob("fig1-p=2-*.json")
    assert json.loads(note.read_text())["settings"] == {"p": 2}
    assert note.with_suffix(".csv").read_text() == "x\n1\n"


def test_settings_that_json_cannot_hold_are_refused(cache):
    with pytest.raises(ValueError, match="JSON"):
        cache.step("a", {"p": math.inf}, Counter())


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_half_a_step_does_not_count(cache, tmp_path, suffix):
    measure = Counter()
    cache.step("a", {}, measure)
    next(tmp_path.glob(f"*{suffix}")).unlink()
    assert cache.step("a", {}, measure).call[0] == 2


def test_an_error_leaves_nothing(cache, tmp_path):
    def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cache.step("a", {}, fail)
    assert not list(tmp_path.iterdir())


def test_a_solve_that_ctrl_c_cut_short_is_not_kept(cache, tmp_path):
    """`solve` answers Ctrl-C with the best point so far; the step must not pass for whole."""
    problem = Problem(np.eye(3), [1.0, 2.0, 3.0])
    statuses = []

    def press(progress):
        if progress.iteration == 5:
            os.kill(os.getpid(), signal.SIGINT)

    def measure():
        result = solve(problem, GCG(), tol=0, max_iter=10, callbacks=[press], trace=True)
        statuses.append(result.status)
        return result.trace.to_frame()

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        cache.step("a", {}, measure)
    assert statuses == [Status.INTERRUPTED]
    assert not list(tmp_path.iterdir())
    assert signal.getsignal(signal.SIGINT) is before
