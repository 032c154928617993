"""The corrective method: every loss, penalty and gauge to full precision, hard data, and what a step is made of."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import Lasso

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
    Poisson,
    Power,
    Problem,
    Scaled,
    Simplex,
    Square,
    Squared,
    SquaredHinge,
    Status,
    solve,
)
from atomsieve.core import restricted

D = 20
LOSSES = [Squared(), Logistic(), SquaredHinge(), Huber(0.5), Multinomial(), Poisson()]
PENALTIES = [
    Linear(0.1),
    Square(0.05),
    Power(0.1, 3),
    Power(0.1, 1.5),
    Ball(2.0),
    LogBarrier(2.0, 10.0),
    LinearSquare(0.05, 0.1),
]
GAUGES = {
    "L1": lambda _: L1(),
    "weighted L1": lambda rng: L1(rng.choice([0.5, 1.0, 2.0], D)),
    "NonNegative": lambda _: NonNegative(),
    "Simplex": lambda _: Simplex(),
    "L2": lambda _: L2(),
    "LInf": lambda _: LInf(),
    "Group": lambda _: Group(np.arange(D) // 3),
    "rows": lambda _: Group(),
    "Atoms": lambda rng: Atoms(rng.standard_normal((D, 20))),
    "Scaled": lambda _: Scaled(L1(), 3.0),
    "Image": lambda rng: Image(Group(np.arange(15) // 3), rng.standard_normal((D, 15))),
    "positive": lambda rng: L1(rng.choice([0.5, 1.0, 2.0], D), positive=rng.random(D) < 0.5),
}


def draw(loss, penalty, gauge, wide):
    """Return a problem with many samples, or with few samples and columns that are equal or nearly so."""
    key = [LOSSES.index(loss), PENALTIES.index(penalty), list(GAUGES).index(gauge), wide]
    rng = np.random.default_rng(key)
    n = 12 if wide else 40
    X = rng.standard_normal((n, D))
    if wide:
        X[:, 3], X[:, 4] = X[:, 2], X[:, 5] * (1 + 1e-9)
    signal = X @ np.where(rng.random(D) < 0.3, rng.standard_normal(D), 0) + 0.3 * rng.standard_normal(n)
    if isinstance(loss, Multinomial):
        y = np.digitize(signal, [-0.5, 0.5])
        y[:3] = [0, 1, 2]
    elif isinstance(loss, Poisson):
        y = np.round(np.exp(np.clip(signal, -3, 3)))
    else:
        y = signal if isinstance(loss, (Squared, Huber)) else np.where(signal > 0, 1.0, -1.0)
    form = rng.choice([np.asarray, sparse.csr_array, sparse.csc_array])
    return Problem(form(X), y, loss=loss, gauge=GAUGES[gauge](rng), penalty=penalty, intercept=bool(rng.integers(2)))


@pytest.mark.thin(6)
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("gauge", GAUGES)
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_full_precision(loss, penalty, gauge, wide):
    problem = draw(loss, penalty, gauge, wide)
    result = solve(problem, Corrective(), tol=1e-12)
    assert result.converged, result


# Hard data, all to 1e-9.

RNG = np.random.default_rng(5)
TALL = RNG.standard_normal((60, 20))
SIGNAL = TALL[:, :5].sum(axis=1) + 0.1 * RNG.standard_normal(60)
LABELS = np.where(SIGNAL > 0, 1.0, -1.0)
HARD = {
    "duplicated": (np.repeat(TALL, 3, axis=1), SIGNAL),
    "nearly duplicated": (np.hstack([TALL, TALL * (1 + 1e-10), TALL + 1e-8 * RNG.standard_normal(TALL.shape)]), SIGNAL),
    "rank one": (np.outer(SIGNAL, RNG.standard_normal(30)), SIGNAL),
    "two samples": (RNG.standard_normal((2, 50)), np.array([1.0, -1.0])),
    "one column": (TALL[:, :1], SIGNAL),
    "scales": (TALL * 10.0 ** np.linspace(-8, 8, 20), SIGNAL),
    "offset": (TALL + 1e3, SIGNAL),
}


@pytest.mark.parametrize("gauge", [L1(), LInf()], ids=repr)
@pytest.mark.parametrize("offset", [1e2, 1e5])
def test_counts_far_from_zero(gauge, offset):
    """Steps move all predictions far along the intercept, where exponentials overflow."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((15, 4)) + offset
    counts = rng.poisson(np.exp(X[:, 0] - offset)).astype(float)
    result = solve(Problem(X, counts, loss=Poisson(), gauge=gauge, penalty=Square(0.03), intercept=True), max_iter=50)
    assert result.gap <= 1e-6 * result.problem.baseline, result


@pytest.mark.parametrize("penalty", [Linear(0.1), Square(0.3)], ids=repr)
def test_groups_of_one_in_any_order(penalty):
    """Block j is then not entry j, and prices belong to blocks."""
    order = np.random.default_rng(0).permutation(20)
    prices = np.linspace(0.5, 3.0, 20)
    grouped = Problem(TALL, SIGNAL, gauge=Group(order, prices), penalty=penalty)
    plain = Problem(TALL, SIGNAL, gauge=L1(prices[order]), penalty=penalty)
    one, other = solve(grouped, tol=1e-12), solve(plain, tol=1e-12)
    assert one.converged
    np.testing.assert_allclose(one.x, other.x, atol=1e-9)
    np.testing.assert_allclose(one.objective, other.objective, rtol=1e-11)
    np.testing.assert_array_equal(one.zero, other.zero)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("penalty", [Linear, Square], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=repr)
@pytest.mark.parametrize("name", HARD)
def test_hard_data(name, loss, penalty, intercept):
    X, y = HARD[name]
    target = y if isinstance(loss, Squared) else np.where(y > 0, 1.0, -1.0)
    origin = Problem(X, target, loss=loss, intercept=intercept)
    strength = 0.02 * max(origin.at(origin.state()).sigma, 1e-3)
    problem = Problem(X, target, loss=loss, penalty=penalty(strength), intercept=intercept)
    result = solve(problem, tol=1e-9)
    assert result.converged, result


@pytest.mark.parametrize("strength", [1e-4, 1e-6])
def test_separable_labels_and_a_weak_penalty(strength):
    result = solve(
        Problem(TALL, np.where(TALL[:, 0] > 0, 1.0, -1.0), loss=Logistic(), penalty=Square(strength)), tol=1e-9
    )
    assert result.converged, result


@pytest.mark.deep
def test_support_of_thousands():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((7000, 6000))
    y = X @ rng.standard_normal(6000)
    result = solve(Problem(X, y, penalty=Linear(1e-3 * np.abs(X.T @ y).max() / len(y))), tol=1e-9)
    assert result.converged, result
    assert np.count_nonzero(result.x) >= 5000


@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array])
@pytest.mark.parametrize("intercept", [False, True])
def test_each_of_hundreds_of_columns_three_times(form, intercept):
    rng = np.random.default_rng(3)
    few = rng.standard_normal((300, 50)) @ rng.standard_normal((50, 200)) + 0.1 * rng.standard_normal((300, 200))
    y = few @ rng.standard_normal(200) / 10 + 0.1 * rng.standard_normal(300)
    alone = Problem(few, y, intercept=intercept)
    chosen = Linear(1e-3 * alone.origin.sigma)
    often = Problem(form(np.hstack([few, few / 3 * 3, few * 7.1 / 7.1])), y, penalty=chosen, intercept=intercept)
    best, result = solve(alone.at_penalty(chosen), tol=1e-12), solve(often, tol=1e-9)
    assert result.converged, result
    assert result.objective - best.objective <= max(result.gap, 1e-14 * best.objective)


def test_agrees_with_scikit_learn():
    alpha = 0.05
    ours = solve(Problem(TALL, SIGNAL, penalty=Linear(alpha), intercept=True), tol=1e-14)
    theirs = Lasso(alpha=alpha, tol=1e-12, max_iter=100_000).fit(TALL, SIGNAL)
    np.testing.assert_allclose(ours.x, theirs.coef_, atol=1e-8)
    np.testing.assert_allclose(ours.intercept, theirs.intercept_, atol=1e-8)


def test_a_start_is_used():
    problem = Problem(TALL, SIGNAL, penalty=Linear(0.01))
    first = solve(problem, tol=1e-10)
    assert solve(problem, tol=1e-9, start=first).n_iter == 0
    assert solve(problem, tol=1e-9, start=first.x).n_iter == 0
    again = solve(Problem(TALL, SIGNAL, gauge=LInf(), penalty=Square(0.1)), tol=1e-9, start=first.x)
    assert again.converged


def test_few_passes_are_counted():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 2000))
    y = X[:, :10].sum(axis=1) + rng.standard_normal(200)
    fast = solve(Problem(X, y, penalty=Square(0.01)), tol=1e-6)
    slow = solve(Problem(X, y, penalty=Square(0.01)), Pairwise(), tol=1e-6)
    assert fast.converged
    assert fast.n_iter < fast.passes < 20
    assert slow.passes > 5 * fast.passes
    assert slow.passes >= slow.n_iter * 0.01


def test_dead_columns_leave_the_count():
    rng = np.random.default_rng(2)
    X = np.hstack([rng.standard_normal((100, 5)), 1e-3 * rng.standard_normal((100, 500))])
    problem = Problem(X, X[:, :5].sum(axis=1) + 0.1 * rng.standard_normal(100), penalty=Square(0.1))
    with_rule, without = (solve(problem, Pairwise(), tol=1e-10, screening=rule) for rule in ("auto", "off"))
    assert with_rule.passes < without.passes / 2


# The parts.


@settings(max_examples=100, deadline=None)
@given(st.floats(1e-3, 1e3), st.floats(0, 10), st.floats(1e-4, 1e2))
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_rise_meets_the_subdifferential(penalty, mass, slope, pull):
    """At the size that is left the penalty charges just the slope: `mass - r pull^2` attains phi* there."""
    rise = penalty.rise(slope, mass, pull)
    alpha, size = slope + rise, mass - rise * pull * pull
    assert alpha >= penalty.slope(0.0) * (1 - 1e-12)
    if isinstance(penalty, Linear):
        assert alpha == pytest.approx(penalty.strength)
    elif size > 1e-9 * mass and alpha > 1e-9 * slope:
        scale = (mass + abs(rise) * pull * pull) * 1e-9
        assert penalty.argmax(alpha) == pytest.approx(size, rel=1e-6, abs=scale)


@pytest.mark.parametrize("seed", range(5))
def test_no_weight_on_what_was_ruled_out(seed):
    """Entries of one row of a matrix x are ruled out one by one; the others stay in the working set."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((60, 15)), rng.integers(0, 3, 60)
    points = []
    problem = Problem(X, y, loss=Multinomial(), penalty=Linear(0.03), intercept=True)
    result = solve(problem, tol=1e-10, callbacks=[lambda progress: points.append(progress.point)])
    assert result.converged
    assert not result.x[result.zero].any()
    for point in points:
        assert not point.state.x.ravel()[point.scores == -np.inf].any()


@pytest.mark.parametrize("density", [0.5, 0.04])
def test_classes_read_sparse_data_no_more_often_than_dense_data(density):
    rng = np.random.default_rng(5)
    X = sparse.random(60, 2000, density, format="csr", random_state=5)
    y = rng.integers(0, 4, 60)
    passes, objectives = [], []
    for data in (X, X.toarray()):
        result = solve(Problem(data, y, loss=Multinomial(), penalty=Linear(0.004), intercept=True), tol=1e-10)
        assert result.converged
        passes.append(result.passes)
        objectives.append(result.objective)
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-9)
    assert passes[0] < 2 * passes[1]  # working columns alone are used for the intercept, not all of them for each pair


@pytest.mark.parametrize("seed", [27, 38, 75, 99, 102])
def test_weight_in_a_ball_is_not_spent_on_what_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(30, 2))
    y = np.where(A @ rng.normal(size=2) * 2 + rng.normal(size=30) > 0, 1.0, -1.0)
    problem = Problem(np.c_[A, np.ones(30)], y, loss=Logistic(), penalty=Ball(5.0), intercept=True)
    result = solve(problem, tol=1e-9)
    assert result.converged
    assert result.x[2] == 0


@pytest.mark.parametrize("outputs", [1, 2], ids=["one output", "two outputs"])
@pytest.mark.parametrize("loss", [Squared(), Logistic(), Huber(0.5)], ids=repr)
def test_features_far_from_zero(loss, outputs):
    """What a column has beside the intercept is all that counts, and is not taken for rounding."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 8))
    y = X[:, :2] @ np.ones((2, outputs)) + rng.standard_normal((60, outputs))
    y = (np.where(y > 0, 1.0, -1.0) if isinstance(loss, Logistic) else y).squeeze()
    near = solve(Problem(X, y, loss=loss, penalty=Linear(0.05), intercept=True), tol=1e-9)
    far = solve(Problem(X + 1e6, y, loss=loss, penalty=Linear(0.05), intercept=True), tol=1e-6)
    assert far.status is Status.CONVERGED
    assert far.n_iter <= near.n_iter + 1
    assert np.abs(far.x - near.x).max() < 1e-3


@pytest.mark.parametrize("penalty", [Linear(0.02), Square(0.05), Ball(3.0)], ids=repr)
def test_no_target_of_the_core_is_below_the_rounding_of_the_gap(penalty, monkeypatch):
    """Steps towards a smaller gap follow noise, and went on for 12 seconds on 2000 x 10000."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((100, 300))
    y = np.where(X[:, :5].sum(axis=1) + rng.standard_normal(100) > 0, 1.0, -1.0)
    targets = []

    def recorded(*arguments):
        targets.append(arguments[8])
        return restricted(*arguments)

    monkeypatch.setattr("atomsieve.methods.corrective.inner.restricted", recorded)
    result = solve(Problem(X, y, loss=Logistic(), penalty=penalty), tol=0.0)
    assert result.status is Status.STALLED
    assert result.gap <= result.point.rounding
    assert min(targets) >= 0.1 * result.point.rounding
