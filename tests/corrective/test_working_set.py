"""The working set: kept while it suffices, chosen anew when it does not."""

import numpy as np
import pytest

from atomsieve import Linear, Logistic, Problem
from atomsieve.methods.corrective.working_set import RowSet

RNG = np.random.default_rng(11)
X = RNG.standard_normal((30, 400))
LABELS = np.where(X[:, 0] + X[:, 1] > 0, 1.0, -1.0)


@pytest.fixture
def problem():
    return Problem(X, LABELS, loss=Logistic())


def at_slope(problem, share):
    """Return the origin for a slope, as a part of the critical one."""
    return problem.origin.under(problem.at_penalty(Linear(share * problem.origin.sigma)))


def test_the_same_set_serves_while_no_block_outside_comes_near(problem):
    kept = RowSet()
    first, _ = kept.enter(at_slope(problem, 0.99))
    assert kept.complete
    prepared = first.packed
    second, point = kept.enter(at_slope(problem, 0.98))
    assert second.packed is prepared
    assert point.problem.penalty == Linear(0.98 * problem.origin.sigma)


def test_a_set_that_blocks_outside_may_join_is_not_complete(problem):
    kept = RowSet()
    kept.enter(at_slope(problem, 0.1))
    assert not kept.complete


def test_a_set_without_the_support_is_chosen_anew(problem):
    kept = RowSet()
    origin = at_slope(problem, 0.99)
    first, _ = kept.enter(origin)
    x = np.zeros(400)
    x[int(origin.scores.argmin())] = 1e-3  # the last block that scores would choose
    here = origin.problem.at(origin.problem.state(x), problem.eligible)
    second, _ = kept.enter(here)
    assert not np.array_equal(second.columns, first.columns)
    small = second.restrict(here)
    assert small.state.mass == here.state.mass
    np.testing.assert_array_equal(second.widen(small.state).x, x)


def test_a_part_of_a_point_keeps_its_objective(problem):
    part, point = RowSet().enter(at_slope(problem, 0.5))
    assert not part.whole
    assert part.restrict(point).objective == point.objective
