"""Matrix completion: entries of a matrix as samples, and the estimator that fills in what is missing."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from atomsieve import (
    Ball,
    Completion,
    CriticalFraction,
    Linear,
    Logistic,
    LowRankImputer,
    Nuclear,
    Problem,
    Square,
    Squared,
    solve,
    verify,
)
from atomsieve.certificate import certify
from atomsieve.design import SparseDesign
from atomsieve.methods.corrective import cores
from atomsieve.numerics.enclosures import Enclosure
from atomsieve.numerics.rounding import EPS


def drawn(seed, rows=12, columns=9, rank=2, seen=0.6):
    """Return a table of low rank with noise, and which entries are seen."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns)) + 0.1 * rng.normal(size=(rows, columns))
    return table, rng.uniform(size=table.shape) < seen


def test_design():
    table, seen = drawn(0)
    observed = Completion(*np.nonzero(seen), table.shape)
    matrix = observed.tocsr().toarray()
    assert np.array_equal(matrix @ table.ravel(), table[seen])
    assert np.array_equal(observed.entries(table), table[seen])
    again = Completion.of(np.where(seen, table, np.nan))
    assert np.array_equal(again.rows, observed.rows)
    assert np.array_equal(again.columns, observed.columns)
    assert repr(observed) == f"Completion({seen.sum()} of 12 x 9 entries)"


@pytest.mark.parametrize(
    ("rows", "columns", "said"),
    [([0, 2], [0, 0], "rows"), ([0], [-1], "columns"), ([0.5], [0], "rows"), ([0], [0, 1], "one entry for each")],
)
def test_design_refuses(rows, columns, said):
    with pytest.raises(ValueError, match=said):
        Completion(rows, columns, (2, 3))


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate:UserWarning")  # of the reference, to 1e-11
@pytest.mark.parametrize("penalty", [Linear(0.01), Square(0.002), Ball(8.0)])
@pytest.mark.parametrize("small", [400, 10])
def test_same_optimum(penalty, small, monkeypatch):
    """By a Hessian that is formed, and by one that is known from its diagonal; with an intercept."""
    monkeypatch.setattr(cores, "SMALL", small)
    table, seen = drawn(1)
    y = table[seen] + 3.0
    observed = Completion(*np.nonzero(seen), table.shape)
    problem = Problem(observed, y, gauge=Nuclear(), penalty=penalty, intercept=True)
    result = solve(problem, tol=1e-9)
    assert result.converged
    assert result.x.shape == table.shape
    x, b, kappa = cp.Variable(table.shape), cp.Variable(), cp.Variable()
    price, more = {
        Linear: lambda: (penalty.strength * kappa, []),
        Square: lambda: (penalty.strength * cp.square(kappa) / 2, []),
        Ball: lambda: (0.0, [kappa <= penalty.radius]),
    }[type(penalty)]()
    lost = cp.sum_squares(cp.vec(x, order="C")[np.flatnonzero(seen)] + b - y) / 2 / len(y)
    stated = cp.Problem(cp.Minimize(lost + price), [cp.normNuc(x) <= kappa, *more])
    stated.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    assert result.objective == pytest.approx(stated.value, abs=1e-7 * problem.baseline)
    certificate = result.certificate()
    assert certificate.dual <= stated.value + 1e-7 * problem.baseline
    assert certificate.primal >= stated.value - 1e-7 * problem.baseline
    checked = verify(certificate, observed, y)
    assert checked.valid, checked.reason


@pytest.mark.parametrize("loss", [Squared(), Logistic()])
def test_few_passes_at_many_entries(loss):
    table, seen = drawn(2, rows=150, columns=60, rank=3, seen=0.3)
    y = table[seen] if isinstance(loss, Squared) else np.sign(table[seen])
    observed = Completion(*np.nonzero(seen), table.shape)
    critical = Problem(observed, y, loss=loss, gauge=Nuclear()).critical
    problem = Problem(observed, y, loss=loss, gauge=Nuclear(), penalty=Linear(0.1 * critical))
    result = solve(problem, tol=1e-6)
    assert result.converged
    assert problem.meter.passes <= 40
    assert np.corrcoef(result.x[~seen], table[~seen])[0, 1] > 0.6


def test_entries_seen_twice_count_twice():
    table, seen = drawn(3)
    rows, columns = np.nonzero(seen)
    twice = Completion(np.append(rows, rows), np.append(columns, columns), table.shape)
    y = table[seen]
    once = solve(Problem(Completion(rows, columns, table.shape), y, gauge=Nuclear(), penalty=Linear(0.01)), tol=1e-10)
    again = solve(Problem(twice, np.append(y, y), gauge=Nuclear(), penalty=Linear(0.01)), tol=1e-10)
    assert again.objective == pytest.approx(once.objective, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_small_singular_values_are_checked(seed):
    """Some are 1e-9 of the largest, others as large as rounding."""
    table, seen = drawn(seed, rows=7, columns=6)
    y, observed = table[seen], Completion(*np.nonzero(seen), table.shape)
    problem = Problem(observed, y, gauge=Nuclear(), penalty=Square(0.05))
    best, rng = solve(problem, tol=1e-13).x, np.random.default_rng(seed)
    small = 1e-9 * np.outer(rng.normal(size=7), rng.normal(size=6)) + 1e-15 * rng.normal(size=(7, 6))
    checked = verify(certify(problem, (best + small).reshape(problem.shape), np.zeros(0)), observed, y)
    assert checked.valid, checked.reason


@parametrize_with_checks([LowRankImputer()])
def test_rules_of_scikit_learn(estimator, check):
    check(estimator)


def test_imputer_fills_in():
    table, seen = drawn(4, rows=60, columns=20)
    given = np.where(seen, table + 5.0, np.nan)
    imputer = LowRankImputer(CriticalFraction(0.05), tol=1e-8)
    filled = imputer.fit_transform(given)
    assert np.array_equal(filled[seen], given[seen])
    assert np.sqrt(np.mean((filled - table - 5.0)[~seen] ** 2)) < 0.5 * np.sqrt(np.mean(table[~seen] ** 2))
    assert imputer.components_.shape == (imputer.rank_, 20)
    assert np.allclose(imputer.components_ @ imputer.components_.T, np.eye(imputer.rank_))


def test_imputer_is_the_minimiser():
    """What is filled in is the solution of the problem that the class states, by an independent solver."""
    table, seen = drawn(5)
    given = np.where(seen, table, np.nan)
    imputer = LowRankImputer(0.02, tol=1e-12)
    filled = imputer.fit_transform(given)
    mean = np.nanmean(given, axis=0)
    x = cp.Variable(table.shape)
    lost = cp.sum_squares(cp.multiply(seen, x - np.where(seen, table - mean, 0.0))) / 2 / seen.sum()
    stated = cp.Problem(cp.Minimize(lost + 0.02 * cp.normNuc(x)))
    stated.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    assert np.allclose(filled[~seen], (x.value + mean)[~seen], atol=1e-3)


def test_imputer_at_the_edges():
    table, seen = drawn(6)
    given = np.where(seen, table, np.nan)
    assert LowRankImputer(1e6).fit(given).rank_ == 0
    assert np.allclose(
        LowRankImputer(1e6).fit_transform(given)[~seen], np.broadcast_to(np.nanmean(given, 0), given.shape)[~seen]
    )
    imputer = LowRankImputer().fit(given)
    unseen = imputer.transform(np.full((1, 9), np.nan))
    assert np.allclose(unseen, imputer.mean_)
    assert np.array_equal(LowRankImputer().fit_transform(np.ones((3, 2))), np.ones((3, 2)))
    with pytest.raises(ValueError, match="Column 1 of X has no value"):
        LowRankImputer().fit([[1.0, np.nan], [2.0, np.nan]])
    with pytest.raises(ValueError, match="alpha must be"):
        LowRankImputer(-1.0).fit(given)


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_predictions_are_known_to_all_digits(form):
    """A sample sees one entry of many: errors are those of one product, and not of as many as x has entries."""
    rng = np.random.default_rng(2)
    shape, count = (900, 800), 500
    observed = Completion(rng.integers(0, 900, count), rng.integers(0, 800, count), shape)
    x = rng.normal(size=shape)
    found = SparseDesign(observed.tocsr().asformat(form)).enclose(Enclosure.exact(x.ravel()))
    assert np.array_equal(found.mid, observed.entries(x))
    assert (found.rad <= 10 * EPS * np.abs(found.mid)).all()
