"""Whole paths in a few certificates."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import lars_path

from atomsieve import Group, Linear, Logistic, Problem, Squared, path, solve


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X / X.std(axis=0), (y - y.mean()) / y.std()


def test_events_are_the_knots_of_the_path():
    """For the squared loss, every knot of LARS lies between the bounds of an event, and there are no others."""
    X, y = diabetes()
    found = path(Problem(X, y), n=5, ratio=0.01).certificates()
    knots, _, coefs = lars_path(X, y, method="lasso")
    inner = knots[(knots < found.strengths[1]) & (knots > found.strengths[0])]
    assert len(found.events) == len(inner)
    for event, knot in zip(found.events, inner, strict=True):
        assert event.lower <= knot <= event.upper
        assert event.upper - event.lower < 1e-4 * knot
    assert len(found.certificates) == len(inner) + 1
    assert found.covered > 0.999
    assert coefs.shape[1] == len(knots)


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=lambda v: type(v).__name__)
def test_supports_within_ranges(loss):
    rng = np.random.default_rng(0)
    X, y = diabetes()
    y = y if loss.quadratic else np.sign(y)
    problem = Problem(X[:150], y[:150], loss=loss, intercept=True)
    found = path(problem, n=5, ratio=0.3).certificates()
    assert found.covered > 0.99
    for (low, high), certificate in zip(found.ranges, found.certificates, strict=True):
        strength = float(rng.uniform(low, high))
        x = solve(problem.at_penalty(Linear(strength)), tol=1e-12).x
        assert np.array_equal(x != 0, certificate.nonzero)
        assert (certificate.lower <= x + 1e-9).all()
        assert (x - 1e-9 <= certificate.upper).all()
    frame = found.to_frame()
    assert list(frame.columns) == ["lower", "upper", "enters", "leaves"]
    assert "certificates for" in repr(found)


def test_events_have_names():
    X, y = diabetes()
    found = path(Problem(X, y, names=[f"gene {k}" for k in range(10)]), n=5, ratio=0.5).certificates()
    assert found.events[0].enters[0].startswith("gene")


def test_paths_of_groups_are_refused():
    X, y = diabetes()
    with pytest.raises(ValueError, match="gauge of coordinates"):
        path(Problem(X, y, gauge=Group([0] * 5 + [1] * 5)), n=5, ratio=0.5).certificates()
