"""A certificate at a poor point decides less; it is never an error."""

import numpy as np
import pytest

from atomsieve import Huber, Linear, Logistic, Poisson, Problem, Square
from atomsieve.certificate import certify

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 4))
TARGETS = {
    Poisson(): RNG.poisson(2, 30).astype(float),
    Logistic(): np.sign(RNG.standard_normal(30)),
    Huber(1.0): RNG.standard_normal(30),
}


@pytest.mark.parametrize("size", [1e2, 1e100])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("loss", TARGETS, ids=repr)
def test_a_point_far_out_proves_nothing_and_says_why(loss, seed, size):
    problem = Problem(X, TARGETS[loss], loss=loss, penalty=Linear(0.1), intercept=True)
    x = np.random.default_rng(seed).standard_normal(4) * size
    certificate = certify(problem, x, problem.span.origin)
    assert not certificate.zero.any()
    assert certificate.valid or str(certificate).startswith("Nothing is proven: ")
    assert len(certificate.reason) > 20


@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("penalty", [Linear(0.1), Square(0.1)], ids=repr)
def test_rates_that_overflow_are_no_warning(penalty, ridge):
    problem = Problem(X, np.ones(30), loss=Poisson(), penalty=penalty, ridge=ridge)
    assert not certify(problem, np.array([1e3, 0.0, 0.0, 0.0]), np.zeros(0)).zero.any()
