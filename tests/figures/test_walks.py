from itertools import pairwise

import numpy as np
import pytest

from atomsieve import GCG, Ball, LogBarrier, Logistic, OpenLoop, Problem, Square, solve
from atomsieve.paper.grids import load_pair
from atomsieve.paper.walks import Standing, Walks

PENALTIES = [
    Square(1e-4),
    Square(0.03),
    Square(0.3),
    Ball(0.1),
    Ball(2.0),
    Ball(30.0),
    LogBarrier(10.0, 0.03),
    LogBarrier(10.0, 100.0),
]


def data():
    digits = load_pair("scikit-learn")
    return digits.X, digits.y


def seen_by_solve(penalty, looks):
    """Return gap, x and what is alive at some iterations of the public loop, and the smallest gap up to the last."""
    X, y = data()
    problem, seen, least = Problem(X, y, loss=Logistic(), penalty=penalty), {}, []

    def note(progress):
        least.append(progress.gap)
        if progress.iteration in looks:
            state = progress.point.state
            x = np.zeros(X.shape[1])
            x[progress.point.problem.columns] = state.x
            seen[progress.iteration] = (progress.gap, x, progress.alive)

    solve(problem, GCG(OpenLoop(2, 1)), screening="paper", tol=0, max_iter=max(looks) - 1, callbacks=[note])
    return seen, min(least)


def test_walks_in_step_are_those_of_the_public_loop():
    looks = (1, 2, 10, 100, 600)
    X, y = data()
    walks = Walks(X, y, PENALTIES)
    standings = {1: walks.begin()}
    for before, t in pairwise(looks):
        standings[t] = walks.advance(standings[before], t)
    compared = 0
    for k, penalty in enumerate(PENALTIES):
        seen, least = seen_by_solve(penalty, looks)
        for t, (gap, x, alive) in seen.items():  # a run that comes down to rounding ends before
            here = standings[t]
            assert here.t == t
            np.testing.assert_allclose(here.gap[k], gap, rtol=1e-9, atol=1e-14)
            np.testing.assert_allclose(here.x[k], x, rtol=1e-9, atol=1e-12 * np.abs(x).max())
            assert here.alive[k].sum() == alive
            compared += 1
        if len(seen) == len(looks):
            assert standings[looks[-1]].least[k] == pytest.approx(least, rel=1e-9, abs=1e-14)
    assert compared >= 30


def test_weight_on_features_that_are_ruled_out_is_dropped():
    X, y = data()
    walks = Walks(X, y, [Square(0.03)])
    standing = walks.advance(walks.begin(), 140)
    dropped = 0
    for t in range(141, 155):
        before, standing = standing, walks.advance(standing, t)
        dropped += np.count_nonzero(before.x[before.alive & ~standing.alive])
        assert not standing.x[~standing.alive].any()
        assert not (standing.alive & ~before.alive).any()
    assert dropped > 0


def test_stages_of_different_lengths_lead_to_the_same_place():
    X, y = data()
    walks = Walks(X, y, PENALTIES)
    whole = walks.advance(walks.begin(), 300)
    parts = walks.begin()
    for t in (50, 51, 299, 300):
        parts = walks.advance(parts, t)
    np.testing.assert_allclose(parts.x, whole.x, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(parts.alive, whole.alive)
    np.testing.assert_allclose(parts.least, whole.least, rtol=1e-9, atol=1e-14)


def test_advance_leaves_its_start_as_it_was():
    X, y = data()
    walks = Walks(X, y, PENALTIES)
    start = walks.advance(walks.begin(), 20)
    kept = Standing(start.t, start.x.copy(), start.alive.copy(), start.gap.copy(), start.least.copy())
    walks.advance(start, 40)
    for name in ("x", "alive", "gap", "least"):
        np.testing.assert_array_equal(getattr(start, name), getattr(kept, name))
    assert walks.advance(start, 20) is start


def test_mass_stays_in_the_ball():
    X, y = data()
    for penalty in (Ball(0.3), Ball(7.7), LogBarrier(3.0, 1e12)):
        walks = Walks(X, y, [penalty])
        standing = walks.advance(walks.begin(), 200)
        assert penalty.admits(float(np.abs(standing.x).sum()))
        assert np.isfinite(standing.gap).all()
