"""Attacks on gauges over combinatorial atoms and on steps: balls around 0, weights of both signs, tiny squares."""

import copy

import fuzz
import numpy as np
import pytest
from flint import arb
from scipy import sparse

from atomsieve import (
    Coverage,
    Linear,
    Logistic,
    LovaszNorm,
    Permutahedron,
    Problem,
    TotalVariation,
    solve,
    verify,
)
from atomsieve.certificate.file import seal
from atomsieve.standalone.verify.gauges import KINDS

Y = np.repeat([1.0, -1.0], [36, 4])


def sealed(content):
    return fuzz.Told(content | {"seal": seal(content)})


def weak(seed, scales):
    """Return data that say little beside the intercept, so that a wide ball of z holds 0."""
    X, residual = np.random.default_rng(seed).standard_normal((40, 2)) * scales, Y - Y.mean()
    X -= X.mean(axis=0)
    X -= np.outer(residual, residual @ X) / (residual @ residual)
    return X + 1e-4 * np.outer(residual, [1.0, 0.5])


def all_zero(gauge, X, strength):
    """Return a file that says that all is zero, which holds for a larger strength only."""
    problem = Problem(X, Y, loss=Logistic(), gauge=gauge, penalty=Linear(10.0), intercept=True)
    content = copy.deepcopy(solve(problem, tol=1e-12).certificate().content())
    assert not content["claims"]["nonzero"] + content["claims"]["undecided"]
    content["problem"]["penalty"]["strength"] = strength
    content["claims"] |= {"value": {"lower": None, "upper": None}, "free": {"lower": [None], "upper": [None]}}
    content["claims"]["gap"] = None
    return content


@pytest.mark.parametrize("away", [0.05, -0.3, 0.8])
def test_a_ball_around_zero_counts_in_the_score_of_sets(away):
    """A poor intercept blurs z; what may be 0 may be something else as well."""
    gauge, X = LovaszNorm(Coverage([[0], [1]], [1.0, 1.0])), weak(0, 1.0)
    truth = solve(Problem(X, Y, loss=Logistic(), gauge=gauge, penalty=Linear(1e-6), intercept=True), tol=1e-10)
    assert truth.x[0] > 1e-4
    content = all_zero(gauge, X, 1e-6)
    content["point"]["free"][0] += away
    assert not verify(sealed(content), X, Y).valid


def test_scores_of_weights_of_both_signs_do_not_grow_with_z():
    class Shape:
        shape, rows, tasks = (3, 2), (3, 2), 1

    gauge = KINDS["Permutahedron"]({"type": "Permutahedron", "weights": [1.0, -1.0]}, arb(1), None, Shape, [2])
    low, high = gauge.scores(np.array([0.0, 0.5]), np.array([1.0, 1.0]))
    assert low[0] <= 0.0
    assert high[0] >= 1.0


def test_a_blurred_intercept_hides_no_permutation():
    for seed in range(2):
        gauge, X = Permutahedron([1.0, -1.0]), weak(seed, [1.0, 3.0])
        problem = Problem(X, Y, loss=Logistic(), gauge=gauge, penalty=Linear(1.0), intercept=True)
        content = all_zero(gauge, X, 0.6 * problem.critical)
        for away in np.geomspace(1e-3, 0.1, 30):
            for side in (-1, 1):
                forged = copy.deepcopy(content)
                forged["point"]["free"][0] += side * away
                assert not verify(sealed(forged), X, Y).valid


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("place", [0, 1, 4])
def test_squares_of_steps_that_are_too_small_meet_large_weights(place):
    """Squares of 2^-540 are no doubles, and times weights of 2^1000 they matter."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((12, 5))
    y = rows @ [1.0, 1.0, 1.0, 2.0, 3.0] + 0.1 * rng.standard_normal(12)
    true = solve(Problem(rows, y, gauge=TotalVariation(), penalty=Linear(0.05)), tol=1e-12).certificate()
    assert true.nonzero[[3, 4]].all()
    X, y, weights = sparse.csr_array(rows * 2.0**-540), y * 2.0**-500, 2.0**1000 / np.repeat([2.0, 1.0], [1, 11])
    problem = Problem(X, y, gauge=TotalVariation(), penalty=Linear(0.05 * 2.0**-1040), sample_weight=weights)
    content = copy.deepcopy(solve(problem, tol=1e-10).certificate().content())
    content["point"]["x"] = {"index": [], "value": []}
    nothing = [None] * len(content["claims"]["intervals"]["index"])
    content["claims"]["intervals"] |= {"lower": nothing, "upper": nothing}
    content["claims"] |= {"nonzero": [], "undecided": [place], "dependencies": [], "sums": [], "gap": None}
    content["claims"] |= {"value": {"lower": None, "upper": None}, "free": {"lower": [None], "upper": [None]}}
    assert not verify(sealed(content), X, y, sample_weight=weights).valid


def test_a_tiny_weight_elsewhere_allows_no_other_x():
    """How far x may be from the sum of its atoms is a matter of each coefficient."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3))
    y = X[:, 0] + 0.1 * rng.standard_normal(20)
    X[:, 2] *= 2.0**-70
    gauge = LovaszNorm(Coverage([[0], [1], [2]], [1.0, 1.0, 2.0**-60]))
    content = copy.deepcopy(solve(Problem(X, y, gauge=gauge, penalty=Linear(0.1)), tol=1e-8).certificate().content())
    assert verify(sealed(content), X, y).valid
    content["point"]["x"]["value"][0] += 100.0
    assert "sum of its atoms" in verify(sealed(content), X, y).reason


def test_sets_with_an_intercept_are_proven():
    """Balls of z are wider than 2^-100 there, and the best set is bounded all the same."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((30, 3))
    y = np.sign(X[:, 0] + 0.3 * rng.standard_normal(30))
    gauge = LovaszNorm(Coverage([[0, 1], [1, 2], [3]], [1.0, 0.5, 1.0, 2.0]))
    problem = Problem(X, y, loss=Logistic(), gauge=gauge, penalty=Linear(0.03), intercept=True)
    certificate = solve(problem, tol=1e-11).certificate()
    assert certificate.gap < 1e-8
    assert verify(certificate, X, y).valid
