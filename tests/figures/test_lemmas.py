"""Property 2, conjugate pairs and lemmas: numbers against independent ones, and verdicts that can fall either way."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog, minimize_scalar

from atomsieve.paper import load
from atomsieve.paper.cache import Cache
from atomsieve.paper.conjugates import polygon
from atomsieve.paper.diameter import diameter, independent
from atomsieve.paper.rate_lemmas import averages, followed, partial_sums

TINY = {"instances": 60, "iterations": 60, "strengths": [0.1, 1.0]}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    lemmas = load("lemmas")
    return lemmas.run(lemmas.settings(True) | TINY, Cache(tmp_path_factory.mktemp("lemmas")), lambda *_: None)


def verdicts(tables, **changed):
    return {finding.where: finding.holds for finding in load("lemmas").verdicts(tables | changed)}


def test_what_holds_and_what_fails(tables):
    found = verdicts(tables)
    held = {where for where, holds in found.items() if holds}
    assert held == {
        "Property 2, first part",
        "Property 2, second part",
        "Section 2.4, monomials",
        "Section 2.4, barrier functions",
        "Lemma 2, with what its proof needs",
    }
    assert all(holds is False for where, holds in found.items() if "slip" in where)
    assert len(found) == 15


@pytest.mark.parametrize(
    ("table", "column", "value", "where"),
    [
        ("maximisers", "missed", 1e-6, "Property 2, first part"),
        ("maximisers", "exceeded", 1e-6, "Property 2, first part"),
        ("slopes", "held", False, "Property 2, second part"),
        ("monomials", "met", False, "Section 2.4, monomials"),
        ("monomials", "least", -1e-9, "Section 2.4, monomials"),
        ("ends", "met", False, "Section 2.4, monomials"),
        ("barrier", "met", False, "Section 2.4, barrier functions"),
        ("diameters", "with_zero_holds", False, "Lemma 2, with what its proof needs"),
    ],
)
def test_what_holds_could_fail(tables, table, column, value, where):
    broken = tables[table].copy()
    broken.loc[0, column] = value
    assert verdicts(tables, **{table: broken})[where] is False


@pytest.mark.parametrize(
    ("table", "changes", "where"),
    [
        ("barrier", {"maximiser_below": 1.0, "defined_below": True}, "Section 2.4, barrier functions (slip 14)"),
        ("diameters", {"printed_holds": True}, "Lemma 2 (slip 15)"),
        ("averaged", {"exact": 0.0}, "Lemma 10, averaged error (slip 17)"),
        ("inductions", {"largest": 0.9}, "Lemma 10, induction (slip 17)"),
        ("helper", {"bracket": True}, "Lemma 11, first part (slip 18)"),
        ("helper", {"printed": -1.0}, "Lemma 11 (slip 18)"),
        ("gap_bounds", {"printed": 0.9}, "Lemma 12 (slip 19)"),
    ],
)
def test_what_fails_could_hold(tables, table, changes, where):
    assert verdicts(tables, **{table: tables[table].assign(**changes)})[where] is True


def test_an_attained_supremum_would_be_no_counterexample(tables):
    where = "Property 2, first part, as printed (slip 7)"
    assert verdicts(tables, jump=tables["jump"].assign(attained=True))[where] is None


def test_one_step_needs_both_the_small_case_and_the_runs(tables):
    where = "Lemma 9 (slip 16)"
    runs, small = tables["one_step"].assign(printed=0.5), tables["one_dimension"].assign(printed=1e9)
    assert verdicts(tables, one_step=runs)[where] is False
    assert verdicts(tables, one_step=runs, one_dimension=small)[where] is True


def test_the_right_forms_hold_on_the_same_instances(tables):
    assert tables["one_step"].right.max() <= 1
    assert tables["one_dimension"].eval("change <= right").all()
    assert (tables["averaged"].exact <= tables["averaged"].right * (1 + 1e-15)).all()
    assert (tables["inductions"].query("kind == 'right'").largest < 1).all()
    assert tables["helper"].bracket_proven.all()
    assert (tables["helper"].right < 0).all()
    assert (tables["gap_bounds"].right <= 1).all()


def test_the_second_step_in_one_dimension(tables):
    """By hand: x = 10, s = -90, x+ = -170/3; f + h there and before, gap 500, errors 1/2.2 and 45 + 1/2.2."""
    row = tables["one_dimension"].iloc[0]

    def objective(x):
        return x**2 / 2 - x + x**2 / 20

    assert row.change == pytest.approx(objective(-170 / 3) - objective(10.0) + 2 / 3 * 500)
    errors = objective(0.0) - objective(1 / 1.1) + objective(10.0) - objective(1 / 1.1)
    assert row.printed == pytest.approx((2 / 3) ** 2 / 2 * (6 / 11**2 + 3 * errors))


def test_subgradients_of_the_jump_are_those_of_its_convex_hull():
    """The supremum at 6/5 by a solver, left and right of the jump."""
    left = minimize_scalar(lambda xi: xi**2 / 2 - 1.2 * xi, bounds=(0, 1), method="bounded", options={"xatol": 1e-12})
    right = max(1.2 * xi - xi**2 / 2 - 1 for xi in np.linspace(1, 5, 1000))
    assert -left.fun == pytest.approx(0.7)
    assert right < 0.7


@pytest.mark.parametrize("seed", range(10))
def test_gauges_of_the_polytopes_by_linear_programming(seed):
    rng = np.random.default_rng(seed)
    vertices = np.array(independent(rng), dtype=float)
    weights = rng.uniform(size=len(vertices))
    solved = linprog(np.ones(len(vertices)), A_eq=vertices.T, b_eq=vertices.T @ weights)
    assert solved.fun == pytest.approx(weights.sum())
    with_zero = np.vstack([vertices, np.zeros(len(vertices))])
    again = linprog(np.ones(len(with_zero)), A_eq=with_zero.T, b_eq=vertices.T @ weights)
    assert again.fun == pytest.approx(weights.sum())


def test_diameters_are_those_of_the_farthest_vertices():
    assert diameter([[0, 0], [3, 4], [1, 1]]) == 25
    assert diameter([[1], [2]]) == 1, "and kappa(2) = 1, so that 1 >= 2 would be needed"


def test_the_average_has_the_papers_weights():
    errors = np.array([9.0, 4.0, 1.0])
    assert averages(errors)[-1] == pytest.approx(((3 + 2 * 2 + 3 * 1) / 6) ** 2)


def test_partial_sums_are_sums():
    exact = sum(Fraction(1, i * i) for i in range(3, 8))
    assert partial_sums(2, np.array([3]), np.array([7]))[0] == pytest.approx(float(exact))


def test_the_recursion_without_noise_falls_faster_than_one_over_t():
    assert followed(0.0, 1.0, 20, 100) < 1


def test_the_polygon_comes_near_the_bound_and_stays_below():
    assert 0.99 < polygon() < 1


@pytest.mark.parametrize("seed", range(5))
def test_the_derivative_of_the_conjugate_by_a_solver(seed):
    """Largest maximiser of nu xi - phi(xi) on a grid, for phi = max(0, a xi - b, mu xi^2 - phi_0)."""
    rng = np.random.default_rng(seed)
    a, b, mu, least, nu = rng.uniform(0.1, 3, size=5)
    xi = np.linspace(0, 60, 600_001)
    phi = np.maximum(np.maximum(0, a * xi - b), mu * xi**2 - least)
    best = xi[np.argmax(nu * xi - phi)]
    assert best <= nu / mu + math.sqrt(least / mu) + 1e-3
