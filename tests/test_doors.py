"""What users may bring: a rule of their own for runs and paths, a method for paths."""

import numpy as np
import pytest

from atomsieve import GCG, Corrective, Linear, Problem, Rule, Square, path, solve


class Half:
    """Rules out what scores less than half of what would be safe, by the data-space rule."""

    def __init__(self):
        self.looks = 0

    def keep(self, point):
        self.looks += 1
        room = 2 * point.radius * point.problem.widest + 2 * point.doubt * point.problem.lengths.max()
        return ~(point.scores + 2 * room < point.sigma)


def problem(penalty):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 30))
    return Problem(X, X[:, 0] + 0.1 * rng.standard_normal(40), penalty=penalty)


@pytest.mark.parametrize("method", [None, GCG()])
def test_a_rule_of_ones_own(method):
    rule: Rule = Half()
    ours, theirs = (solve(problem(Square(0.1)), method, screening=screening, tol=1e-4) for screening in (rule, "off"))
    np.testing.assert_allclose(ours.x, theirs.x, atol=1e-2)
    assert rule.looks >= ours.n_iter
    assert ours.alive.sum() < theirs.alive.sum()


def test_a_path_with_a_rule_and_a_method():
    rule = Half()
    found = path(problem(Linear(0.1)), n=5, screening=rule, method=Corrective())
    np.testing.assert_allclose(found.coefs, path(problem(Linear(0.1)), n=5).coefs, atol=1e-4)
    assert rule.looks >= 5
    with pytest.raises(ValueError, match="unbounded"):
        path(problem(Linear(0.1)), method=GCG())


@pytest.mark.parametrize("screening", ["best", None, 3, Half])
def test_what_is_no_rule_is_refused(screening):
    with pytest.raises(ValueError, match="screening must be one of"):
        solve(problem(Square(0.1)), screening=screening)
    with pytest.raises(ValueError, match="screening must be one of"):
        path(problem(Square(0.1)), screening=screening)
