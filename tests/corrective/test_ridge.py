"""A ridge beside the penalty: the laws of its elimination, at any point, and safe rules at every iterate."""

import math

import numpy as np
import pytest
from scipy import optimize

from atomsieve import (
    GCG,
    L1,
    L2,
    Atoms,
    Away,
    Ball,
    Corrective,
    Group,
    Huber,
    Image,
    Linear,
    LinearSquare,
    LineSearch,
    LInf,
    LogBarrier,
    Logistic,
    Multinomial,
    NonNegative,
    Pairwise,
    Poisson,
    Power,
    Problem,
    Scaled,
    ShortStep,
    Square,
    Squared,
    path,
    solve,
)
from atomsieve.problem.shrinkage import Shrinkage
from atomsieve.screening.rules import PairwiseRule, PaperRule

PENALTIES = [Linear(0.3), Square(0.4), Ball(0.7), LinearSquare(0.1, 0.3), Power(0.2, 3.0), LogBarrier(1.5, 2.0)]
GROUPS = [0, 0, 1, 1, 1, 2, 3, 3]
GAUGES = [
    L1(),
    L1([1.0, 2, 0.5, 1, np.inf, 1, 1, 3], positive=np.arange(8) % 3 == 0),
    NonNegative(),
    Group(GROUPS, [1.0, 2.0, 0.5, 1.0]),
    Scaled(L2(), 2.0),
]
kinds = pytest.mark.parametrize("gauge", GAUGES, ids=lambda g: type(g).__name__)
shapes = pytest.mark.parametrize("penalty", PENALTIES, ids=repr)


def data(seed, n=12, d=8):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 1] = X[:, 0]
    return X, X[:, :3] @ np.array([2.0, -1.0, 1.0]) + 0.3 * rng.standard_normal(n)


def inside(problem, x):
    """Return coefficients that the gauge allows, within the domain of the penalty."""
    labels = problem.core.labels(problem.shape).ravel()
    x = np.where(problem.eligible[labels], x.ravel(), 0.0).reshape(x.shape)
    x = np.where(problem.core.signed, x, np.abs(x))
    return problem.state(x).x


@kinds
@shapes
def test_fenchel(gauge, penalty):
    """`h(x) + h*(z) >= x . z`, with equality where x is what attains h*."""
    X, y = data(0)
    rng = np.random.default_rng(1)
    problem = Problem(X, y, gauge=gauge, penalty=penalty, ridge=0.3)
    held = problem.shrinkage

    def h(x):
        return penalty.value(problem.core.value(x)) + held.value(x, np.arange(8))

    for _ in range(50):
        z = rng.standard_normal(8) * 10.0 ** rng.integers(-1, 2)
        scores = np.where(problem.eligible, problem.core.scores(z), -np.inf)
        value, slope = held.conjugate(penalty, scores)
        x = inside(problem, rng.standard_normal(8) * 10.0 ** rng.integers(-2, 1))
        assert h(x) + value >= x @ z - 1e-12 * (abs(value) + abs(x @ z))
        norms, prices = scores * held.prices, held.prices
        left = np.where(norms > slope * prices, 1 - slope * prices / np.where(norms > 0, norms, 1), 0.0)
        best = left[held.labels] * z / held.by_entry
        best = best * (1 - 1e-12) if penalty.limit < math.inf else best
        assert h(best) + value == pytest.approx(best @ z, rel=1e-9, abs=1e-12)


def test_the_conjugate_is_a_minimum_over_the_slope():
    rng = np.random.default_rng(2)
    for penalty in PENALTIES[1:]:
        for _ in range(20):
            scores, prices = rng.uniform(0, 3, 6), rng.uniform(0.5, 2, 6)
            held = Shrinkage(rng.uniform(0.1, 2, 6), prices, np.full(6, True), np.arange(6))

            def charged(t, penalty=penalty, scores=scores, held=held):
                over = np.maximum(scores - t, 0) * held.prices
                return penalty.conjugate(t) + (over * over / held.ridges).sum() / 2

            value, slope = held.conjugate(penalty, scores)
            found = optimize.minimize_scalar(charged, bounds=(penalty.slope(0.0), 4.0), method="bounded")
            assert value <= found.fun + 1e-12
            assert value == pytest.approx(found.fun, rel=1e-6, abs=1e-9)
            assert value == pytest.approx(charged(slope))


@kinds
@shapes
@pytest.mark.parametrize("loss", [Squared(), Logistic(), Huber(0.5)], ids=repr)
def test_the_gap_bounds_all_distances(loss, gauge, penalty):
    """`gap >= |theta - theta*|^2 / (w M) + ridge (|x - x*|^2 + |x^ - x*|^2) / 2` at paired points, near and far."""
    X, y = data(3)
    y = np.where(y > 0, 1.0, -1.0) if isinstance(loss, Logistic) else y
    problem = Problem(X, y, loss=loss, gauge=gauge, penalty=penalty, ridge=0.2)
    best = solve(problem, tol=1e-14)
    optimum = problem.at(problem.state(best.lifted))
    assert 0 <= optimum.gap <= 1e-12 * problem.baseline
    rng = np.random.default_rng(4)
    paired = 0
    for size in (0.0, 1e-6, 1e-3, 0.1, 1.0):
        x = inside(problem, best.lifted + size * rng.standard_normal(8))
        point = problem.at(problem.state(x), problem.eligible)
        assert point.objective - best.objective <= point.gap + 1e-11
        assert point.gap >= -1e-15
        if not point.paired:
            continue
        paired += 1
        held = problem.shrinkage
        slope = held.conjugate(penalty, point.loose_scores).slope
        norms = point.loose_scores * held.prices
        with np.errstate(invalid="ignore", divide="ignore"):
            left = np.where(norms > slope * held.prices, 1 - slope * held.prices / norms, 0.0)
        there = left[held.labels] * point.view.z / held.by_entry
        moved = point.theta - optimum.theta
        apart = (moved * moved / problem.weights).sum() / loss.smoothness
        apart += 0.1 * ((x - best.lifted) ** 2).sum() + 0.1 * ((there - best.lifted) ** 2).sum()
        assert apart <= point.gap * (1 + 1e-9) + 1e-11
        middle = (x + there) / 2 - best.lifted
        assert 0.2 * (middle @ middle) <= point.gap * (1 + 1e-9) + 1e-11
        augmented = penalty.value(point.state.mass) + penalty.conjugate(point.sigma) - point.pull
        assert point.gap <= augmented + 1e-12 * (1 + abs(augmented))
    assert paired >= 3


METHODS = [Corrective(), GCG(), GCG(LineSearch()), GCG(ShortStep()), Away(), Pairwise(), Pairwise(ShortStep())]


@pytest.mark.thin(11)
@kinds
@shapes
@pytest.mark.parametrize("rule", [PairwiseRule, PaperRule])
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_rules_are_safe_at_every_iterate(method, rule, gauge, penalty):
    """No block that carries weight at the optimum is ever ruled out, wherever a method is."""
    method = method if penalty.superlinear else Corrective()  # the oracle of a linear penalty is unbounded
    X, y = data(5, n=15)
    problem = Problem(X, y, gauge=gauge, penalty=penalty, ridge=0.1, intercept=True)
    best = solve(problem, tol=1e-14, screening="off").lifted
    carries = problem.core.sizes(best) > 1e-9
    looked = []

    def look(progress):
        point = problem.at(progress.point.state, problem.eligible)
        looked.append(rule().keep(point))
        looked.append(rule().keep(problem.at(problem.state(0.5 * progress.point.state.x), problem.eligible)))

    result = solve(problem, method, tol=1e-6, max_iter=100, screening="off", callbacks=[look])
    assert not any((carries & ~kept).any() for kept in looked)
    if result.converged and type(rule()) is PairwiseRule:
        assert (looked[-2] | ~carries).all()
    screened = solve(problem, method, tol=1e-6, max_iter=100)
    assert not (carries & ~screened.alive).any()


def test_rules_rule_out_what_is_zero():
    X, y = data(6, n=30)
    for penalty in PENALTIES[:4]:
        result = solve(Problem(X, y, penalty=penalty, ridge=0.5, intercept=True), tol=1e-13)
        assert (result.alive == (result.lifted != 0)).all()
        assert not result.alive.all()


@shapes
@pytest.mark.parametrize("method", METHODS[1:], ids=repr)
def test_conditional_gradients_find_the_same(method, penalty):
    if not penalty.superlinear:
        with pytest.raises(ValueError, match="unbounded"):
            solve(Problem(*data(7), penalty=penalty, ridge=0.1), method)
        return
    problem = Problem(*data(7), penalty=penalty, ridge=0.1)
    best = solve(problem, tol=1e-13)
    found = solve(problem, method, tol=1e-4, max_iter=5000)
    assert found.gap >= found.objective - best.objective - 1e-12
    assert found.objective <= best.objective + 2e-3 * problem.baseline
    objectives = solve(problem, method, tol=0.0, max_iter=60, trace=True).trace.objective
    if not isinstance(method, GCG) or method.step.looks:  # other steps are fixed in advance
        assert (np.diff(objectives) <= 1e-12).all()


@kinds
@shapes
def test_no_ridge_is_the_limit(gauge, penalty):
    X, y = data(8)
    X = X + 1e-1 * np.random.default_rng(9).standard_normal(X.shape)
    without = solve(Problem(X, y, gauge=gauge, penalty=penalty), tol=1e-13)
    for ridge, near in ((1e-4, 1e-1), (1e-8, 1e-4), (1e-13, 1e-6), (1e-40, 1e-6)):
        problem = Problem(X, y, gauge=gauge, penalty=penalty, ridge=ridge)
        found = solve(problem, tol=1e-12)  # a gap leaves x off by its root
        assert found.converged
        assert found.x == pytest.approx(without.x, abs=near * max(np.abs(without.x).max(), 1e-3))
        assert found.objective >= without.dual - 1e-12
    none = Problem(X, y, gauge=gauge, penalty=penalty, ridge=0.0)
    assert none.shrinkage is None
    assert "ridge" not in repr(none)


def test_a_huge_ridge_leaves_next_to_nothing():
    X, y = data(10)
    for ridge in (1e6, 1e100, 1e280):
        result = solve(Problem(X, y, penalty=Linear(0.01), ridge=ridge), tol=1e-13)
        assert result.converged
        assert np.abs(result.x).max() <= 10 / ridge


def test_columns_of_any_length():
    X, y = data(11)
    for scale in (1e-150, 1e-20, 1.0, 1e20):
        A = X * scale
        result = solve(Problem(A, y, penalty=Linear(0.1 * scale), ridge=0.3 * scale * scale), tol=1e-12)
        same = solve(Problem(X, y, penalty=Linear(0.1), ridge=0.3), tol=1e-12)
        assert result.x * scale == pytest.approx(same.x, abs=1e-9)
    mixed = X * np.array([1e-150, 1, 1, 1, 1, 1, 1, 1])
    assert solve(Problem(mixed, y, penalty=Linear(0.1), ridge=0.3), tol=1e-12).converged


def test_ridges_of_single_features():
    """Each as a further sample of its own."""
    X, y = data(12)
    ridge = np.linspace(0.1, 2.0, 8)
    stacked = np.vstack([X, np.diag(np.sqrt(12 * ridge))])
    weights = np.append(y, np.zeros(8))
    same = solve(Problem(stacked, weights, penalty=Linear(0.1 * 12 / 20)), tol=1e-15)
    found = solve(Problem(X, y, penalty=Linear(0.1), ridge=ridge), tol=1e-15)
    assert found.x == pytest.approx(same.x, abs=1e-9)


def test_a_path_keeps_the_ridge_and_the_critical_slope():
    X, y = data(13)
    problem = Problem(X, y, ridge=0.4, intercept=True)
    assert problem.critical == Problem(X, y, intercept=True).critical
    found = path(problem, n=30)
    assert not found.coefs[0].any()
    assert found.coefs[1].any()
    assert (np.diff(found.sizes) >= -1e-9).all()
    assert all(result.problem.ridge == 0.4 for result in found.results)
    ball = Problem(X, y, penalty=Ball(0.5), ridge=0.4, intercept=True)
    assert found.at(Ball(0.5), tol=1e-12).x == pytest.approx(solve(ball, tol=1e-12).x, abs=1e-9)


@pytest.mark.parametrize("gauge", [L1(), Group()], ids=repr)
def test_losses_that_the_core_does_not_know(gauge):
    X, y = data(14, n=40)
    labels = np.digitize(y, [-1.0, 1.0])
    problem = Problem(X, labels, loss=Multinomial(3), gauge=gauge, penalty=Linear(0.02), ridge=0.1, intercept=True)
    result = solve(problem, tol=1e-12)
    assert result.converged
    x = result.x + 1e-4 * np.random.default_rng(0).standard_normal(result.x.shape)
    assert problem.at(problem.state(x)).objective > result.objective
    counts = np.random.default_rng(1).poisson(np.exp(np.clip(y, -2, 2))).astype(float)
    for shape in PENALTIES:
        assert solve(Problem(X, counts, loss=Poisson(), penalty=shape, ridge=0.1), tol=1e-11).converged


@pytest.mark.parametrize(
    ("ridge", "gauge", "sentence"),
    [
        (-1.0, L1(), "not negative"),
        (np.nan, L1(), "not negative"),
        (np.inf, L1(), "finite"),
        (True, L1(), "ridge must be a number"),
        ("1", L1(), "ridge must hold real numbers"),
        ([1.0, 2.0], L1(), "one for each of the 8 features"),
        (np.zeros(8), L1(), "positive finite numbers"),
        (np.ones(8), Group(GROUPS), "one number for a gauge whose blocks"),
        (np.ones(8), LInf(), "one number for a gauge whose blocks"),
        (np.ones(8), Image(Group(GROUPS), np.eye(8)), "one number for a gauge whose blocks"),
    ],
)
def test_refusals(ridge, gauge, sentence):
    with pytest.raises(ValueError, match=sentence):
        Problem(*data(0), gauge=gauge, ridge=ridge)


def test_an_image_without_a_ridge_is_welcome():
    assert Problem(*data(0), gauge=Atoms(np.eye(8)), ridge=0).shrinkage is None
