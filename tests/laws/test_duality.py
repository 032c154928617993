"""Weak duality, for any data and any two states: the dual value of one never exceeds the objective of the other."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from atomsieve import (
    L1,
    L2,
    Atoms,
    Ball,
    Corrective,
    Group,
    Huber,
    Image,
    Linear,
    LinearSquare,
    LInf,
    LogBarrier,
    Logistic,
    Multinomial,
    NonNegative,
    Pairwise,
    Power,
    Problem,
    Scaled,
    Simplex,
    Square,
    Squared,
    SquaredHinge,
    solve,
)
from atomsieve.screening.rules import PairwiseRule, PaperRule

ENTRIES = st.sampled_from([-3.0, -1.0, -0.5, 0.0, 0.0, 1e-3, 1.0, 2.0, 100.0])
STRENGTHS = st.sampled_from([1e-3, 0.1, 1.0, 30.0])


@st.composite
def penalties(draw):
    a = draw(STRENGTHS)
    return draw(
        st.sampled_from(
            [
                Linear(a),
                Square(a),
                Power(a, 1.5),
                Power(a, 4),
                Power(a, math.inf),
                Ball(a),
                LogBarrier(a, 2.0),
                LinearSquare(a, 0.5),
            ]
        )
    )


@st.composite
def gauges(draw, d):
    choices = [L1(), NonNegative(), Simplex(), L2(), LInf(), Group(np.arange(d) // 2), Scaled(L1(), 3.0)]
    choices += [L1(positive=np.arange(d) % 2 == 0), L1(np.linspace(0.5, 2.0, d), positive=np.arange(d) % 3 == 1)]
    choices += [L1(np.linspace(0.5, 2.0, d)), Image(L1(), np.tri(d)), Atoms(np.hstack([np.eye(d), -np.tri(d)]))]
    return draw(st.sampled_from(choices))


@st.composite
def problems(draw):
    n, d = draw(st.integers(2, 6)), draw(st.integers(1, 5))
    X = draw(arrays(float, (n, d), elements=ENTRIES))
    loss = draw(st.sampled_from([Squared(), Huber(0.7), Logistic(), SquaredHinge(), Multinomial()]))
    y = draw(arrays(float, n, elements=ENTRIES))
    if isinstance(loss, (Logistic, SquaredHinge)):
        y = np.where(np.arange(n) == 0, -1.0, np.where(np.arange(n) == 1, 1.0, np.where(y > 0, 1.0, -1.0)))
    if isinstance(loss, Multinomial):
        y = np.where(np.arange(n) < 2, np.arange(n), np.where(y > 0, 1, 0))
    weights = draw(st.one_of(st.none(), arrays(float, n, elements=st.sampled_from([0.5, 1.0, 3.0]))))
    return Problem(
        X,
        y,
        loss=loss,
        gauge=draw(gauges(d)),
        penalty=draw(penalties()),
        sample_weight=weights,
        intercept=draw(st.booleans()),
    )


def draw_state(data, problem):
    x = data.draw(arrays(float, problem.shape, elements=ENTRIES))
    if not math.isfinite(problem.core.value(x)):
        x = np.abs(x)
    return problem.state(x)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_every_dual_value_is_below_every_objective(data):
    problem = data.draw(problems())
    points = [problem.at(draw_state(data, problem)) for _ in range(2)]
    for one in points:
        assert one.gap >= 0
        for other in points:
            room = 1e-9 * problem.baseline + one.rounding + other.rounding + 1e-12 * abs(one.objective)
            room += problem.negligible  # what rounding makes of an objective that is 0
            assert one.dual <= other.objective + room


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_the_strong_rule_removes_whatever_the_papers_rule_removes(data):
    problem = data.draw(problems())
    point = problem.at(draw_state(data, problem))
    assert not (PairwiseRule().keep(point) & ~PaperRule().keep(point)).any()


@pytest.mark.parametrize(
    ("method", "max_iter"), [(Corrective(), 50), pytest.param(Pairwise(), 2000, marks=pytest.mark.deep)], ids=repr
)
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_nothing_with_weight_in_a_solution_is_removed_anywhere(method, max_iter, data):
    """The solution is found without screening; at any other point neither rule removes one of its blocks."""
    problem = data.draw(problems())
    assume(problem.penalty.superlinear)
    solution = solve(problem, method, tol=1e-12, max_iter=max_iter, screening="off")
    # weight that an error of this gap could not have put there: the mass of the block moves the objective
    certain = problem.core.sizes(solution.lifted) > 1e-3
    assume(solution.converged and certain.any())
    point = problem.at(draw_state(data, problem))
    strict = unique_solution(problem, certain)
    for rule in (PaperRule(), PairwiseRule()):
        assert (rule.keep(point) | ~(certain & strict)).all()


def unique_solution(problem, certain):
    """Return True where the active columns are independent, so that the weights are the same in every solution."""
    rows = np.isin(problem.core.labels(problem.shape), np.flatnonzero(certain))
    rows = rows if rows.ndim == 1 else rows.any(axis=1)
    columns = np.asarray(problem.design.columns(np.flatnonzero(rows)))
    columns = columns - columns.mean(axis=0) if problem.span is not None else columns
    values = np.linalg.svd(columns, compute_uv=False)
    return len(values) == columns.shape[1] and values[-1] > 1e-6 * values[0]


@pytest.mark.parametrize("loss", [Squared(), Huber()], ids=repr)
def test_scaling_the_atoms_is_scaling_the_design(loss):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 8)), rng.standard_normal(20)
    runs = [
        solve(Problem(design, y, loss=loss, gauge=gauge, penalty=Square(0.5)), Pairwise(), tol=1e-12)
        for design, gauge in ((X, Scaled(L1(), 4.0)), (4.0 * X, L1()))
    ]
    assert runs[0].x == pytest.approx(4.0 * runs[1].x)
    assert runs[0].objective == pytest.approx(runs[1].objective)
