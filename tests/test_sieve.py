"""The sieve: columns that are ruled out leave the products, weights leave with them, and nothing else changes."""

import io

import numpy as np
import pytest
from scipy import sparse

from atomsieve import GCG, L1, Group, LineSearch, Logistic, Multinomial, Pairwise, Problem, Square, solve
from atomsieve.display.live import LiveLine
from atomsieve.methods.steps import monotone_zero
from atomsieve.run.progress import ProgressLine
from atomsieve.run.trace import Progress
from atomsieve.screening import Sieve
from atomsieve.screening.rules import KeepAll, PairwiseRule


def wide_problem(kind=np.asarray, loss=None, gauge=None, d=120):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, d))
    signal = X[:, :3].sum(axis=1)
    y = np.digitize(signal, [-1, 1]) if isinstance(loss, Multinomial) else np.sign(signal)
    return Problem(kind(X), y, loss=loss or Logistic(), gauge=gauge or L1(), penalty=Square(1.0), intercept=True)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize(
    ("loss", "gauge"),
    [
        (Logistic(), L1()),
        (Logistic(), L1(np.linspace(0.5, 2, 120))),
        (Logistic(), Group(np.arange(120) // 4)),
        (Multinomial(), L1()),
        (Multinomial(), Group()),
    ],
    ids=repr,
)
def test_dead_columns_leave_the_products(kind, loss, gauge):
    problem = wide_problem(kind, loss, gauge)
    sieve = Sieve(problem, PairwiseRule())
    state, method = problem.state(), Pairwise()
    for t in range(1, 60):
        point = sieve.look(sieve.at(state))
        state, _ = method.advance(point, t)
    assert sieve.problem.shape[0] < problem.shape[0] / 2
    assert sieve.count <= len(point.scores)
    full = np.zeros(problem.shape)
    full[sieve.held.columns] = point.state.x
    again = problem.at(problem.state(full), sieve.alive)
    assert again.gap == pytest.approx(point.gap, rel=1e-6, abs=1e-12)
    assert again.sigma == pytest.approx(point.sigma)
    assert not problem.core.sizes(full)[~sieve.alive].any()


def test_excluded_columns_leave_the_products_even_without_screening():
    weights = np.where(np.arange(120) < 30, 1.0, np.inf)
    problem = wide_problem(gauge=L1(weights))
    sieve = Sieve(problem, KeepAll())
    for _ in range(3):
        point = sieve.look(sieve.at(sieve.problem.state()))
    assert sieve.problem.shape == (30,)
    assert point.z.shape == (30,)


def test_weight_on_removed_atoms_is_dropped():
    problem = wide_problem()
    best = solve(problem, Pairwise(), tol=1e-12)
    x = best.x.copy()
    x[~best.alive] = 1e-9
    sieve = Sieve(problem, PairwiseRule())
    point = sieve.look(sieve.at(problem.state(x)))
    assert not point.state.x[~sieve.alive].any()
    assert point.state.image == pytest.approx(np.asarray(problem.design.matvec(point.state.x)))


@pytest.mark.parametrize("screening", ["paper", "auto"])
def test_no_weight_on_ruled_out_blocks_in_the_result(screening):
    for iterations in (1, 3, 10, 30, 100, 300):
        result = solve(wide_problem(), GCG(LineSearch()), tol=0, max_iter=iterations, screening=screening)
        assert not result.x[~result.alive].any()


@pytest.mark.thin(3)
@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("method", [GCG(), GCG(LineSearch()), Pairwise()], ids=repr)
def test_no_weight_on_ruled_out_blocks_after_a_warm_start(seed, method):
    """The best point may have been seen before an atom with weight in it was ruled out."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((int(rng.integers(5, 30)), int(rng.integers(3, 15))))
    problem = Problem(X, X[:, :3].sum(axis=1), penalty=Square(10 ** rng.uniform(-1, 1)))
    best = solve(problem, Pairwise(), tol=1e-10)
    start = best.x + 10 ** rng.uniform(-6, -1) * rng.standard_normal(len(best.x))
    for screening in ("paper", "auto"):
        result = solve(problem, method, tol=0, max_iter=10, screening=screening, start=start)
        assert not result.x[result.zero].any()
        assert result.alive[best.x != 0].all()


@pytest.mark.parametrize("exponent", [1, 2, 3])
@pytest.mark.parametrize("root", [1e-8, 0.3, 0.999])
def test_monotone_zero_finds_the_zero(exponent, root):
    found = monotone_zero(lambda s: np.sign(s - root) * abs(s - root) ** exponent, 1.0)
    assert abs(found - root) <= 1e-9 ** (1 / exponent) * 2


def test_monotone_zero_at_the_ends_and_past_overflow():
    assert monotone_zero(lambda s: s - 2.0, 1.0) == 1.0
    assert monotone_zero(lambda s: s + 1.0, 1.0) == 0.0
    assert monotone_zero(lambda s: np.inf if s > 0.75 else s - 0.5, 1.0) == pytest.approx(0.5)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("stream", "spoken"), [(Terminal(), True), (io.StringIO(), False)], ids=["terminal", "file"])
def test_progress_is_shown_on_terminals_only_and_cleared(stream, spoken):
    problem = wide_problem()
    point = problem.at(problem.state())
    with ProgressLine(stream) as line:
        line.show(Progress(1, 0.5, point, 120), 1e-6)
        assert stream.getvalue() == ""
        line.show(Progress(9, 1.5, point, 120), 1e-6)
    assert ("iteration 9" in stream.getvalue()) == spoken
    assert stream.getvalue().endswith("\r\x1b[K") == spoken


def test_work_without_iterations_is_told_in_words():
    stream = Terminal()
    with LiveLine(stream) as line:
        line.tell("the beginning")
        line._begun -= 2.1
        line.tell("half of it")
        line.tell("a moment later")
    assert "half of it  2 s" in stream.getvalue()
    assert "beginning" not in stream.getvalue()
    assert "moment" not in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")
