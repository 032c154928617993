"""A problem is stated without being solved, and its parts are ordinary problems."""

import numpy as np
import pytest

from atomsieve import L1, Ball, Group, Linear, Logistic, Multinomial, Problem, Square, Squared, path, solve
from atomsieve.design.base import bounded

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 8)), RNG.normal(size=30)


def test_nothing_is_solved_when_a_problem_is_made():
    problem = Problem(X, Y, intercept=True)
    assert problem.meter.passes == 0
    assert not {"span", "targets"} & set(vars(problem.smooth))
    assert not {"origin", "spreads", "seminorm"} & set(vars(problem.lifted))


@pytest.mark.parametrize("loss", [Squared(), Logistic(), Multinomial()])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_restricted_problem_is_the_problem_of_its_columns(loss, intercept):
    y = {"reals": Y, "signs": np.sign(Y), "classes": np.arange(30) % 3}[loss.targets]
    columns = np.array([1, 4, 5])
    pieces = {"loss": loss, "penalty": Linear(0.02), "intercept": intercept}
    part, alone = Problem(X, y, **pieces).restrict(columns), Problem(X[:, columns], y, **pieces)
    assert part.origin.gap == pytest.approx(alone.origin.gap)
    assert part.baseline == pytest.approx(alone.baseline)
    assert part.spread == pytest.approx(alone.spread)
    assert part.columns.tolist() == columns.tolist()
    assert solve(part, tol=1e-10).x == pytest.approx(solve(alone, tol=1e-10).x, abs=1e-6)


@pytest.mark.parametrize("gauge", [L1(), Group([0, 0, 1, 1, 2, 2, 3, 3])])
def test_another_penalty_shares_what_was_computed(gauge):
    problem = Problem(X, Y, gauge=gauge, penalty=Square(0.1), intercept=True)
    solve(problem)
    passes = problem.meter.passes
    other = problem.at_penalty(Ball(0.5))
    assert other.lifted is problem.lifted
    assert other.origin.objective == problem.origin.objective == problem.baseline
    assert problem.meter.passes == passes
    assert problem.penalty == Square(0.1)
    again = Problem(X, Y, gauge=gauge, penalty=Ball(0.5), intercept=True)
    assert solve(other, tol=1e-9).x == pytest.approx(solve(again, tol=1e-9).x, abs=1e-6)


def test_the_critical_slope_does_not_depend_on_the_penalty():
    slopes = {
        Problem(X, Y, penalty=penalty, intercept=True).critical for penalty in (Linear(0.01), Linear(9.0), Square())
    }
    assert len(slopes) == 1
    critical = slopes.pop()
    assert not solve(Problem(X, Y, penalty=Linear(critical * (1 + 1e-9)), intercept=True)).x.any()
    assert solve(Problem(X, Y, penalty=Linear(0.99 * critical), intercept=True)).x.any()
    assert path(Problem(X, Y, penalty=Linear(0.01), intercept=True), n=3).slopes[0] == pytest.approx(critical)


def test_a_penalty_of_several_slopes_grows_faster_than_a_line():
    class Slow(Square):
        superlinear = False

    with pytest.raises(TypeError, match="one slope"):
        Problem(X, Y, penalty=Slow(1.0))


def test_a_bounded_design_is_itself():
    problem = Problem(X, np.column_stack([Y, Y]), gauge=Group())
    design = bounded(problem.design)
    assert bounded(design) is design
    assert design.shape == (60, 16)
