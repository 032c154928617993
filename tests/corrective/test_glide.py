"""Proximal steps on all columns: they descend, keep to what is allowed, and lead to the same optimum."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from atomsieve import (
    L1,
    Ball,
    Corrective,
    Group,
    Huber,
    Linear,
    LinearSquare,
    LogBarrier,
    Logistic,
    NonNegative,
    Power,
    Problem,
    Square,
    Squared,
    solve,
)
from atomsieve.methods.corrective import method
from atomsieve.methods.corrective.blocks import Blocks
from atomsieve.run.limits import Limits

PENALTIES = [Linear(1e-3), Square(0.01), Power(0.01, 3.0), Ball(2.0), LogBarrier(2.0, 10.0), LinearSquare(0.01, 1e-3)]


def scattered(seed, scale=1.0):
    """Return columns with few entries each, nearly orthogonal, and targets that many of them matter for."""
    rng = np.random.default_rng(seed)
    X = sparse.random(300, 500, 0.015, format="csc", random_state=rng, data_rvs=rng.standard_normal)
    y = X @ np.where(rng.random(500) < 0.4, rng.standard_normal(500), 0.0) + 0.1 * rng.standard_normal(300)
    return X * scale, y


def glide(point):
    """Return the state that proximal steps on all columns lead to."""
    return Corrective().begin(point.problem, Limits.of(point.problem, 1e-6, 100, None))._glide(point)


@pytest.mark.thin(4)
@pytest.mark.parametrize("gauge", ["L1", "weighted L1", "NonNegative", "Group"])
@pytest.mark.parametrize(
    ("loss", "penalty", "intercept"),
    list(product([Squared(), Logistic(), Huber(0.5)], PENALTIES, [False, True])),
    ids=repr,
)
def test_a_glide_descends_and_keeps_to_what_is_allowed(loss, penalty, intercept, gauge):
    X, y = scattered(0)
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0, np.inf], 500, p=[0.01, 0.3, 0.3, 0.3, 0.09])
    groups, prices = np.arange(500) * 7 % 160, np.random.default_rng(2).uniform(0.5, 2.0, 160)
    gauges = {"L1": L1(), "weighted L1": L1(weights), "NonNegative": NonNegative(), "Group": Group(groups, prices)}
    targets = np.where(y > 0, 1.0, -1.0) if isinstance(loss, Logistic) else y
    problem = Problem(X, targets, loss=loss, gauge=gauges[gauge], penalty=penalty, intercept=intercept)
    alive = problem.eligible & (np.arange(len(problem.eligible)) % 5 > 0)
    start = problem.at(problem.state(), alive)
    state = glide(start)
    after = problem.at(state, alive)
    assert after.gap < start.gap / 2
    assert after.objective < start.objective
    assert penalty.admits(state.mass)
    assert not problem.core.sizes(state.x)[~alive].any()
    assert gauge != "NonNegative" or state.x.min() >= 0
    np.testing.assert_allclose(state.image, X @ state.x, atol=1e-12)


@pytest.mark.parametrize("exponent", [-500, 400])
def test_a_glide_does_not_mind_the_scale(exponent):
    (X, y), (scaled, _) = scattered(2), scattered(2, 2.0**exponent)
    plain = Problem(X, y, penalty=Linear(1e-3))
    other = Problem(scaled, y, penalty=Linear(1e-3 * 2.0**exponent))
    x = glide(plain.origin).x
    np.testing.assert_allclose(glide(other.origin).x * 2.0**exponent, x, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("gauge", [L1(), Group(np.arange(500) // 4)], ids=["L1", "Group"])
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_a_glide_leads_to_the_optimum(penalty, gauge):
    X, y = scattered(3)
    problem = Problem(X, y, gauge=gauge, penalty=penalty, intercept=True)
    plain, start = solve(problem, tol=1e-12), glide(problem.origin).x
    assert np.mean((start != 0) == (plain.x != 0)) > 0.9
    np.testing.assert_allclose(solve(problem, tol=1e-12, start=start).x, plain.x, atol=1e-6)


def test_working_sets_that_fill_up_lead_to_a_glide(monkeypatch):
    """Every column of the first set matters, and thousands ask to join."""
    rng = np.random.default_rng(4)
    X = sparse.random(3000, 6000, 2e-3, format="csc", random_state=rng, data_rvs=rng.standard_normal)
    problem = Problem(X, rng.standard_normal(3000))
    problem = problem.at_penalty(Linear(0.15 * problem.origin.sigma))
    glided, steps = [], method.glide
    monkeypatch.setattr(method, "glide", lambda *given: glided.append(1) or steps(*given))
    result = solve(problem, tol=1e-8)
    assert len(glided) == 1
    assert result.status.name == "CONVERGED"
    assert result.n_iter < 10


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=repr)
@pytest.mark.parametrize("penalty", [Linear, Square], ids=["Linear", "Square"])
def test_groups_that_fill_a_working_set_lead_to_a_glide(monkeypatch, loss, penalty):
    """With more groups than fit into two sets, each of which matters, dense columns are glided on too."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((600, 1200))
    y = X @ rng.standard_normal(1200)
    targets = np.where(y > 0, 1.0, -1.0) if isinstance(loss, Logistic) else y / y.std()
    problem = Problem(X, targets, loss=loss, gauge=Group(np.arange(1200) // 3))
    slope = 0.05 * problem.origin.sigma
    mass = solve(problem.at_penalty(Linear(slope)), tol=1e-9).point.state.mass
    glided, steps = [], method.glide
    monkeypatch.setattr(method, "glide", lambda *given: glided.append(1) or steps(*given))
    result = solve(problem.at_penalty(penalty(slope if penalty is Linear else slope / mass)), tol=1e-8)
    assert len(glided) == 1
    assert result.converged
    assert result.point.state.mass == pytest.approx(mass, rel=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_shrunk_blocks_are_proximal_points(seed):
    """The subgradient of the norms at the answer is what was taken away."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(40) % 9)
    blocks, x, by = Blocks(labels, np.ones(9), True), rng.standard_normal(40), rng.uniform(0, 4, 9)
    answer = blocks.shrink(x, by)
    norms = blocks.norms(answer)
    assert 0 < np.count_nonzero(norms) < 9
    taken = x - answer
    for b in range(9):
        part = labels == b
        if norms[b] > 0:
            np.testing.assert_allclose(taken[part], by[b] * answer[part] / norms[b], atol=1e-12)
        else:
            assert np.linalg.norm(taken[part]) <= by[b]
    np.testing.assert_array_equal(blocks.shrink(np.zeros(40), by), np.zeros(40))
