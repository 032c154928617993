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


class Odd:
    """Returns what is no mask."""

    def __init__(self, answer):
        self.answer = answer

    def keep(self, point):  # noqa: ARG002
        return self.answer


@pytest.mark.parametrize("answer", [None, True, [True] * 30, np.ones(30), np.ones(7, dtype=bool), np.arange(30)])
def test_what_a_rule_returns_is_checked(answer):
    with pytest.raises(TypeError, match=r"Odd\.keep must return 30 truth values"):
        solve(problem(Square(0.1)), screening=Odd(answer))


class Unsafe:
    """Rules out everything but one block in three."""

    def keep(self, point):
        return np.arange(len(point.scores)) % 3 == 1


@pytest.mark.parametrize("penalty", [Linear(0.01), Square(0.1)])
def test_a_result_agrees_with_itself_whatever_a_rule_does(penalty):
    stated = problem(penalty)
    result = solve(stated, screening=Unsafe(), tol=1e-8)
    assert result.objective == pytest.approx(stated.at(stated.state(result.lifted)).objective)
    assert not (result.certificate().zero & solve(stated, tol=1e-10).certificate().nonzero).any()
