"""What the paper claims, measured: its numbers, its rates, its invariance, its identification theorem."""

import math

import numpy as np
import pytest

from atomsieve import (
    GCG,
    L1,
    L2,
    Atoms,
    Away,
    Ball,
    Group,
    Image,
    LinearSquare,
    LineSearch,
    LInf,
    LogBarrier,
    Logistic,
    NonNegative,
    OpenLoop,
    Pairwise,
    Power,
    Problem,
    Scaled,
    Square,
    Squared,
    solve,
)

A = np.random.default_rng(0).standard_normal((100, 50))


def paper_problem(penalty):
    return Problem(A, np.ones(100), loss=Logistic(), gauge=L1(), penalty=penalty)


@pytest.mark.parametrize(
    ("p", "gaps"),
    [
        (2, ["4.59e-01", "5.38e+00", "2.76e-02", "1.83e-03", "1.79e-04"]),
        (math.inf, ["9.59e-02", "2.91e-02", "1.82e-03", "1.63e-04", "1.45e-05"]),
    ],
)
def test_gap_at_the_point_from_which_step_t_is_taken(p, gaps):
    result = solve(paper_problem(Power(0.01, p)), GCG(), tol=0, max_iter=10_000, screening="off", trace=True)
    assert [f"{result.trace.gap[t - 1]:.2e}" for t in (1, 10, 100, 1000, 10_000)] == gaps


@pytest.mark.thin(2)
@pytest.mark.parametrize(("strength", "left"), [(0.001, 50), (0.01, 37), (0.1, 10), (1, 4), (10, 2)])
def test_coordinates_left_by_the_papers_rule(strength, left):
    result = solve(paper_problem(Power(strength, 2)), GCG(), tol=0, max_iter=10_000, screening="paper", trace=True)
    assert result.trace.alive[9_999] == left


def random_problem(seed, penalty):
    rng = np.random.default_rng(seed)
    design = rng.standard_normal((60, 30))
    signal = design @ (rng.standard_normal(30) * (rng.uniform(size=30) < 0.3)) + 0.5 * rng.standard_normal(60)
    loss, y = ((Squared(), signal), (Logistic(), np.sign(signal)), (Squared(), signal))[seed % 3]
    gauge = NonNegative() if seed % 3 == 2 else L1()
    return Problem(design, y, loss=loss, gauge=Scaled(gauge, 2.0), penalty=penalty)


def fitted_slope(values, first=100):
    t = np.arange(1, len(values) + 1)
    chosen = (t >= first) & (np.asarray(values) > 0)
    return np.polyfit(np.log(t[chosen]), np.log(np.asarray(values)[chosen]), 1)[0]


@pytest.mark.thin(3)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "penalty",
    [Square(0.3), Power(0.3, 3), Power(1.0, math.inf), Ball(2.0), LogBarrier(3.0, 5.0), LinearSquare(0.02, 0.3)],
    ids=repr,
)
@pytest.mark.parametrize("step", [OpenLoop(2, 1), pytest.param(OpenLoop(4, 2), marks=pytest.mark.deep)], ids=repr)
def test_objective_error_and_smallest_gap_fall_like_one_over_t(penalty, seed, step):
    problem = random_problem(seed, penalty)
    best = solve(problem, Pairwise(), tol=1e-13)
    assert best.gap <= 1e-12 * problem.baseline
    result = solve(problem, GCG(step), tol=0, max_iter=10_000, screening="off", trace=True)
    errors = np.array(result.trace.objective) - best.dual
    floor = 1e-13 * problem.baseline
    assert fitted_slope(np.where(errors > floor, errors, 0.0)) <= -0.9
    assert fitted_slope(np.minimum.accumulate(result.trace.gap)) <= -0.9


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("gauge", [L1(), Group([0, 0, 1, 1, 1, 2])], ids=repr)
def test_linear_invariance(seed, gauge):
    """With f(x) = g(Q x), the problem over Q P is the problem over P: same support function, oracle and gaps."""
    rng = np.random.default_rng(seed)
    design, Q = rng.standard_normal((20, 9)), rng.standard_normal((9, 6)) / 3
    y = rng.standard_normal(20)
    direct = Problem(design @ Q, y, gauge=gauge, penalty=Square(1.0))
    image = Problem(design, y, gauge=Image(gauge, Q), penalty=Square(1.0))
    z = -design.T @ rng.standard_normal(20)
    mapped = image.gauge
    assert mapped.support(z) == pytest.approx(gauge.support(Q.T @ z))
    assert mapped.lmo(z).toarray((9,)) == pytest.approx(Q @ gauge.lmo(Q.T @ z).toarray((6,)))
    c = rng.standard_normal(6)
    assert mapped.value(Q @ c) == pytest.approx(gauge.value(c))
    assert image.smoothness == pytest.approx(direct.smoothness)
    runs = [solve(problem, GCG(), tol=0, max_iter=200, trace=True) for problem in (direct, image)]
    common = min(len(run.trace) for run in runs)  # at the level of rounding one run may end a step earlier
    assert runs[1].trace.gap[:common] == pytest.approx(runs[0].trace.gap[:common], rel=1e-8, abs=1e-12)
    assert runs[1].x == pytest.approx(Q @ runs[0].x)
    assert (runs[0].alive == runs[1].alive).all()


@pytest.mark.thin(2)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("screening", ["paper", "auto"])
def test_identification_once_the_gap_is_small_against_delta(seed, screening):
    """Once sqrt(L min gap) < delta / 4 the atoms that are left are exactly the support."""
    problem = random_problem(3 * seed, Square(0.5))
    best = solve(problem, Pairwise(), tol=1e-14)
    support = best.x != 0
    scores = problem.core.scores(problem.at(problem.state(best.x)).z)
    delta = scores.max() - scores[~support].max()
    assert delta > 0
    seen = []

    def watch(progress):
        enough = math.sqrt(problem.smoothness * progress.gap) < delta / 4
        seen.append((enough, progress.alive))
        return not enough

    result = solve(problem, GCG(), tol=0, max_iter=50_000, screening=screening, callbacks=[watch])
    assert seen[-1][0], "the gap never became small enough"
    assert (result.alive == support).all()


@pytest.mark.parametrize(("loss", "M"), [(Squared(), 1.0), (Logistic(), 0.25)], ids=repr)
def test_smoothness_constants_carry_the_weights(loss, M):
    """L is M times the largest norm(A p)_w^2: exact for l1 and l2, the paper's bound for l-infinity."""
    rng = np.random.default_rng(0)
    design, weights = rng.standard_normal((30, 8)), rng.uniform(size=30)
    y = np.sign(rng.standard_normal(30))
    scaled = np.sqrt(weights / weights.sum())[:, None] * design
    columns = np.linalg.norm(scaled, axis=0)
    expected = {L1(): columns.max() ** 2, L2(): np.linalg.norm(scaled, 2) ** 2, LInf(): columns.sum() ** 2}
    for gauge, largest in expected.items():
        problem = Problem(design, y, loss=loss, gauge=gauge, sample_weight=weights)
        assert problem.smoothness == pytest.approx(M * largest)


def test_a_zero_from_the_oracle_does_not_end_the_run():
    """P = {1}, f = (x - 1)^2 / 2, phi = s^2 / 2 from x = 2: the oracle returns 0 there, and the solution is 1/2."""
    problem = Problem([[1.0]], [1.0], gauge=Atoms([[1.0]]), penalty=Square(1.0))
    first = problem.at(problem.state(np.array([2.0])))
    assert first.sigma == 0
    for method in (GCG(), GCG(LineSearch()), Away(), Pairwise()):
        result = solve(problem, method, start=[2.0], tol=1e-6, max_iter=100_000)
        assert result.converged
        assert result.x == pytest.approx([0.5], abs=1e-2)


def test_objective_error_bounds_the_gradient_error():
    """sigma(z - z*) <= sqrt(2 L (objective - optimum)) <= sqrt(2 L gap), and <= sqrt(L gap)."""
    problem = random_problem(1, Square(0.3))
    best = solve(problem, Pairwise(), tol=1e-14)
    z = problem.at(problem.state(best.x)).z

    def watch(progress):
        error = 2.0 * np.abs(progress.point.z - z).max()  # the atoms have size 2
        excess = max(progress.objective - best.dual, 0.0)
        assert error <= math.sqrt(2 * problem.smoothness * excess) * (1 + 1e-6) + 1e-7
        assert error <= math.sqrt(problem.smoothness * progress.gap) * (1 + 1e-6) + 1e-7

    solve(problem, GCG(), tol=0, max_iter=300, screening="off", callbacks=[watch])
