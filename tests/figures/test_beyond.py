import numpy as np
import pytest

from atomsieve import Logistic, Problem, solve
from atomsieve.paper import maps
from atomsieve.paper.beyond import experiment, needed
from atomsieve.paper.cache import Cache
from atomsieve.paper.grids import ROWS, load_pair, penalty_of
from atomsieve.paper.numbers import plain

SETTINGS = {
    "data": "scikit-learn",
    "grids": {"square": [0.001, 0.1], "ball": [0.2, 5.0], "barrier": [0.1, 1000.0]},
    "looks": [30, 100, 400],
    "stage": 400,
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    seen = []
    found = experiment.run(SETTINGS, Cache(tmp_path_factory.mktemp("beyond")), lambda *step: seen.append(step))
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)
    assert seen[-1][0] == seen[-1][1]
    return found


def test_every_pixel_is_decided_and_rightly(tables):
    lines, digits = tables["beyond"], load_pair("scikit-learn")
    assert (lines.undecided == 0).all()
    for line in lines.itertuples():
        problem = Problem(digits.X, digits.y, loss=Logistic(), penalty=penalty_of(line.row, line.parameter))
        x = solve(problem, tol=1e-12).x
        truth = "".join({-1: "n", 0: "z", 1: "p"}[int(sign)] for sign in np.sign(np.where(np.abs(x) > 1e-9, x, 0.0)))
        assert line.signs == truth
        assert line.support == np.count_nonzero(np.abs(x) > 1e-9)


def test_the_lasso_of_the_same_slope_has_the_same_signs(tables):
    assert tables["beyond"].on_path.all()


def test_what_the_rule_says_is_safe_and_counted(tables):
    lines, pixels = tables["beyond"], tables["pixels"]
    assert (lines.wrong == 0).all()
    assert (lines.open >= lines.support).all()
    assert (lines.open > lines.support).any()
    assert (lines.used == lines.support - lines.missed + lines.spurious).all()
    counts = pixels.groupby("penalty", sort=False)
    assert counts.open.sum().tolist() == lines.open.tolist()
    towards = pixels.proven.str.startswith("towards").groupby(pixels.penalty, sort=False).sum()
    assert towards.tolist() == lines.support.tolist()


def test_blank_pixels_are_marked(tables):
    blank = np.flatnonzero(load_pair("scikit-learn").constant)
    pixels = tables["pixels"]
    assert sorted(pixels.pixel[pixels.constant].unique()) == blank.tolist()
    assert (pixels.proven[pixels.constant] == "zero").all()
    model = pixels[pixels.penalty == "ball, C = 0.2"]
    shown = maps.by_certificate(model)
    assert (shown[model.constant] == "always blank").all()
    assert set(shown) <= set(maps.STATES)
    assert set(maps.by_rule(model)) <= {"open", "zero", "always blank", "open, always blank"}


def test_iterations_that_the_rule_needs(tables):
    lines = tables["beyond"]
    closed = np.sqrt(lines.smoothness * lines.least_gap) < lines.delta / 4
    assert ((needed(lines) < lines.t) == closed).all()
    assert (lines.open[closed] == lines.support[closed]).all()


def test_pictures_words_and_verdicts(tables, tmp_path):
    files = experiment.draw(tables, tmp_path)
    assert files == ["beyond-pixels.png", "beyond-pixels.svg", "beyond-path.png", "beyond-path.svg"]
    assert all((tmp_path / file).stat().st_size > 10_000 for file in files)
    text, lines = experiment.section(tables).text, tables["beyond"]
    assert "Certificates leave 0 of 384 coefficients undecided." in text
    assert f"more than the support open at {(lines.open > lines.support).sum()} of 6 penalties" in text
    assert "No pixels are undecided." in text
    for row in ROWS:
        assert f"| {row} |" in text
    exact = lines.slope[lines.open == lines.support].min()
    assert (lines.open > lines.support)[lines.slope < exact].all()
    assert f"At every slope below {plain(exact)} the rule leaves more open" in text
    verdicts = {verdict.claim: verdict.holds for verdict in experiment.verdicts(tables)}
    assert verdicts["Screening is safe: no true non-zero is wrongly called a zero."] is True
    assert verdicts["Once sqrt(L gap) < δ/4, the features that are left are the support."] is True
    claim = "The generalization over atom type and choice of φ allows for a much richer collection of sparse models."
    assert verdicts[claim] is None
    measured = {verdict.claim: verdict.measured for verdict in experiment.verdicts(tables)}[claim]
    assert f"at {len(tables['beyond'])} of {len(tables['beyond'])} penalties" in measured


def test_an_unsafe_rule_would_be_seen(tables):
    verdicts = experiment.verdicts({"beyond": tables["beyond"].assign(wrong=1)})
    assert verdicts[0].holds is False
