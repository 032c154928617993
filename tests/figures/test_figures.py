"""Every experiment on tiny settings: the numbers in its tables, against independent ones wherever there are any."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from atomsieve import GCG, L1, Logistic, Power, Problem, solve
from atomsieve.paper import NAMES, load
from atomsieve.paper.cache import Cache

TINY = {
    "fig1": {"powers": [1.4, 2, "inf"], "iterations": 300, "patience": {"p": 1.75, "iterations": 400}},
    "fig2": {"iterations": 300},
    "fig3": {"strengths": [0.01, 1.0], "iterations": 200, "margins": [1.0, 0.5, 0.25]},
    "errata": {"iterations": 100},
}


def silent(done, total, text):
    assert 0 <= done <= total
    assert text


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """All tables, measured once for this module."""
    cache = Cache(tmp_path_factory.mktemp("cache"))
    experiments = {name: load(name) for name in TINY}
    return {name: e.run(e.settings(True) | TINY[name], cache, silent) for name, e in experiments.items()}


def design():
    return np.random.default_rng(0).standard_normal((100, 50))


def paper_problem(strength, p=2.0):
    return Problem(design(), np.ones(100), loss=Logistic(), gauge=L1(), penalty=Power(strength, p))


def plain_method(strength, p, iterations):
    """The paper's method in a few lines of NumPy: gaps and objectives."""
    A = design()
    x, gaps, objectives = np.zeros(50), [], []
    for t in range(1, iterations + 1):
        z = A.T @ expit(-A @ x) / 100
        sigma, size, q = np.abs(z).max(), np.abs(x).sum(), p / (p - 1)
        phi, conjugate = strength * size**p / p, strength * (sigma / strength) ** q / q
        gaps.append(phi + conjugate - x @ z)
        objectives.append(np.logaddexp(0, -A @ x).mean() + phi)
        s = np.zeros(50)
        s[np.abs(z).argmax()] = np.sign(z[np.abs(z).argmax()]) * (sigma / strength) ** (q - 1)
        x += 2 / (t + 1) * (s - x)
    return gaps, objectives


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("quick", [True, False])
def test_settings_are_the_papers_and_json(name, quick, tmp_path):
    settings = load(name).settings(quick)
    Cache(tmp_path).step("a", settings, lambda: pd.DataFrame({"x": [0]}))
    if name in ("fig1", "fig2", "fig3"):
        assert (settings["n"], settings["d"], settings["seed"]) == (100, 50, 0)
        assert quick or settings["iterations"] == 10_000


def test_an_unknown_experiment_is_refused():
    with pytest.raises(ValueError, match="no experiment 'fig9'"):
        load("fig9")


@pytest.mark.parametrize("p", [1.4, 2.0])
def test_fig1_has_the_gaps_of_the_plain_method(tables, p):
    found = tables["fig1"]["gaps"].query("p == @p")
    gaps, objectives = plain_method(0.01, p, 100)
    assert found.gap[:100].to_numpy() == pytest.approx(gaps, rel=1e-6)
    assert found.objective[:100].to_numpy() == pytest.approx(objectives, rel=1e-6)
    assert list(found.t) == list(range(1, 301))


def test_fig1_has_the_known_gaps(tables):
    gaps = tables["fig1"]["gaps"].set_index(["p", "t"]).gap
    assert [f"{gaps[2.0, t]:.2e}" for t in (1, 10, 100)] == ["4.59e-01", "5.38e+00", "2.76e-02"]
    assert [f"{gaps[math.inf, t]:.2e}" for t in (1, 10, 100)] == ["9.59e-02", "2.91e-02", "1.82e-03"]


def test_fig1_sums_up_its_runs(tables):
    rows, gaps = tables["fig1"]["summary"].set_index("p"), tables["fig1"]["gaps"]
    assert list(rows.settled) == [False, True, True]
    assert rows.back[2.0] == 25
    assert rows.peak_gap[1.4] == gaps[gaps.p == 1.4].gap.max()
    assert rows.radius[math.inf] == 1
    assert rows.radius[2.0] == pytest.approx(np.abs(design()).mean(axis=0).max() / 0.01)
    assert (rows.bound_ratio < 1).all()
    assert (rows.slope[[2.0, math.inf]] < -0.9).all()


def test_fig1_tells_what_diverges(tables):
    verdicts = {v.claim: v.holds for v in load("fig1").verdicts(tables["fig1"])}
    assert verdicts["For p < 1.5 the method diverged."] is None, "300 iterations cannot tell"
    back = tables["fig1"] | {"summary": tables["fig1"]["summary"].assign(settled=True)}
    assert load("fig1").verdicts(back)[0].holds is False


def test_fig2_has_the_gaps_and_errors_of_the_plain_method(tables):
    found, best = tables["fig2"]["residuals"], solve(paper_problem(1.0), tol=1e-13)
    gaps, objectives = plain_method(1.0, 2.0, 300)
    assert found.gap.to_numpy() == pytest.approx(gaps, rel=1e-6)
    assert found.objective_error.to_numpy() == pytest.approx(np.array(objectives) - best.objective, abs=1e-13)
    assert (found.squared_error == found.gradient_error**2).all()
    assert (found.smallest_gap == np.minimum.accumulate(found.gap)).all()


def test_fig2_leaves_what_the_library_leaves(tables):
    result = solve(paper_problem(1.0), GCG(), tol=0, max_iter=300, screening="paper", trace=True)
    assert list(tables["fig2"]["residuals"].left) == result.trace.alive[:300]


def test_fig2_closes_certificates_in_the_order_of_their_strength(tables):
    moment, known = tables["fig2"]["moments"].set_index("key").t, tables["fig2"]["constants"].iloc[0]
    assert known.support == 4
    assert known.decided
    assert 4 * known.smoothness == pytest.approx((design() ** 2).mean(axis=0).max())
    assert dict(moment) == {"gap": 2, "oracle": 4, "gradient": 9, "auto": 9, "paper": 9, "bound": 33}


def test_fig2_fits_slopes(tables):
    slopes = tables["fig2"]["slopes"].set_index(["step", "key"]).slope
    for step in ("2/(t+1)", "4/(t+2)"):
        assert slopes[step, "squared_error"] == pytest.approx(2 * slopes[step, "gradient_error"])
        assert slopes[step, "objective_error"] < -1.2
        assert -1.5 < slopes[step, "gap"] < -0.6


def test_fig2_judges(tables):
    verdicts = {v.where: v.holds for v in load("fig2").verdicts(tables["fig2"])}
    assert verdicts["Lemma 1"] is True
    assert verdicts["Theorem 1 (slip 8)"] is True
    assert verdicts["Lemma 8, gradient suboptimality bound (slip 10)"] is False
    assert verdicts["Section 4.2 (slip 6)"] is False


def test_fig2_verdicts_can_fail(tables):
    broken = tables["fig2"]["residuals"].assign(gradient_error=1.0, oracle_error=1)
    verdicts = {v.where: v.holds for v in load("fig2").verdicts(tables["fig2"] | {"residuals": broken})}
    assert verdicts["Lemma 1"] is False


def test_fig3_leaves_what_the_library_leaves(tables):
    rows, steps = tables["fig3"]["summary"].set_index("strength"), tables["fig3"]["screening"]
    for strength in (0.01, 1.0):
        result = solve(paper_problem(strength), GCG(), tol=0, max_iter=200, screening="paper", trace=True)
        assert list(steps[steps.strength == strength].alive) == result.trace.alive[:200]
        assert rows.left[strength] == result.trace.alive[199]
    assert list(rows.support) == [25, 4]
    assert list(rows.lost) == [0, 0]
    assert rows.delta[1.0] == pytest.approx(0.0091696, rel=1e-4)
    assert list(rows.exact) == [0, 9]
    assert list(rows.promised) == [0, 33]


def test_fig3_shrinks_delta_and_nothing_else(tables):
    margins = tables["fig3"]["margins"]
    assert list(margins.support) == [4, 4, 4]
    assert (margins.delta / margins.delta[0]).to_numpy() == pytest.approx([1, 0.5, 0.25], rel=1e-6)
    assert margins.promised.is_monotonic_increasing
    assert (margins.exact <= margins.promised).all()


def test_fig3_judges(tables):
    verdicts = {v.claim: v.holds for v in load("fig3").verdicts(tables["fig3"])}
    assert verdicts["Screening is more aggressive for larger λ."] is True
    assert verdicts["For larger values of λ screening may be much slower."] is False
    lossy = tables["fig3"] | {"summary": tables["fig3"]["summary"].assign(lost=1)}
    safety = {v.where: v.holds for v in load("fig3").verdicts(lossy)}
    assert safety["Theorem 2"] is False


def test_errata_have_their_numbers(tables):
    facts = tables["errata"]["facts"].iloc[0]
    assert facts.L_printed == pytest.approx(100 * facts.L)
    assert facts.left < facts.left_printed
    assert facts.diam_bound < facts.L_large <= facts.square_bound
    assert facts.subproblem == pytest.approx(-facts.conjugate)
    assert (facts.oracle_sigma, facts.oracle_gap) == (0, 4)
    assert facts.oracle_solution == pytest.approx(0.5)
    assert facts.delta_weak_printed < 0 < facts.delta_weak
    judged = {v.where: v.holds for v in load("errata").verdicts(tables["errata"])}
    assert judged["Property 1"]
    assert judged["Property 3"]
    assert not any(holds for where, holds in judged.items() if "slip" in where)


@pytest.mark.parametrize("name", TINY)
def test_pictures_and_words(tables, name, tmp_path):
    experiment = load(name)
    files = experiment.draw(tables[name], tmp_path)
    assert sorted(files) == sorted(path.name for path in tmp_path.iterdir())
    text = experiment.section(tables[name]).text
    assert all(file in text for file in files if file.endswith(".png"))
    assert "nan" not in text


def test_the_same_numbers_make_the_same_picture(tables, tmp_path):
    bytes_of = [[(tmp_path / file).read_bytes() for file in load("fig3").draw(tables["fig3"], tmp_path)] for _ in "ab"]
    assert bytes_of[0] == bytes_of[1]


def test_captions_speak_of_the_tables(tables):
    rows = tables["fig3"]["summary"]
    text = load("fig3").section(tables["fig3"] | {"summary": rows.assign(left=[31, 17])}).text
    assert "31 and 17 are left" in text
    assert "After 200 iterations" in text


@pytest.mark.deep
def test_the_papers_settings_give_the_known_numbers(tmp_path):
    figures = {name: load(name) for name in ("fig1", "fig3")}
    powers = figures["fig1"].settings(False) | {"powers": [2, "inf"], "patience": {}}
    rows = figures["fig1"].run(powers, Cache(tmp_path), silent)["summary"]
    assert [f"{gap:.2e}" for gap in rows.last_gap] == ["1.79e-04", "1.45e-05"]
    rows = figures["fig3"].run(figures["fig3"].settings(False), Cache(tmp_path), silent)["summary"]
    assert list(rows.left) == [50, 37, 10, 4, 2]
    assert list(rows.support) == [42, 25, 10, 4, 2]
