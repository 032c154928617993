import numpy as np
import pytest

from atomsieve import GCG, Logistic, Problem, solve
from atomsieve.paper.cache import Cache
from atomsieve.paper.fig4 import experiment
from atomsieve.paper.grids import ROWS, load_pair, misclassified, paper_grids, penalty_of, points_of
from atomsieve.paper.walks import Walks

SETTINGS = {
    "data": "scikit-learn",
    "grids": {"square": [0.001, 0.1], "ball": [0.2, 5.0], "barrier": [0.1, 1000.0]},
    "looks": [30, 100, 200],
    "stage": 60,
}


def silent(done, total, text):
    assert 0 <= done <= total


def run(folder, settings=SETTINGS):
    return experiment.run(settings, Cache(folder), silent)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return run(tmp_path_factory.mktemp("fig4"))


def test_every_number_is_that_of_the_public_loop(tables):
    lines, digits = tables["fig4"], load_pair("scikit-learn")
    assert len(lines) == 6 * 3
    for row, parameter in points_of(SETTINGS["grids"]):
        seen = {}

        def note(progress, seen=seen):
            x = np.zeros(64)
            x[progress.point.problem.columns] = progress.point.state.x
            seen[progress.iteration] = (progress.alive, progress.nonzero, progress.gap, x)

        problem = Problem(digits.X, digits.y, loss=Logistic(), penalty=penalty_of(row, parameter))
        solve(problem, GCG(), screening="paper", tol=0, max_iter=199, callbacks=[note])
        for line in lines.query("row == @row and parameter == @parameter").itertuples():
            alive, nonzero, gap, x = seen.get(line.t, seen[max(seen)])  # a run may come down to rounding before
            assert (line.open, line.nonzero) == (alive, nonzero)
            assert line.gap == pytest.approx(gap, rel=1e-8, abs=1e-14)
            assert line.train == pytest.approx(misclassified(digits.X, digits.y, x))
            assert line.test == pytest.approx(misclassified(digits.X_test, digits.y_test, x))


def test_open_features_and_smallest_gaps_fall(tables):
    for _, lines in tables["fig4"].groupby("penalty"):
        assert lines.open.is_monotonic_decreasing
        assert lines.least_gap.is_monotonic_decreasing
        assert (lines.least_gap <= lines.gap).all()
        assert (lines.nonzero <= lines.open).all()


def test_an_interrupted_run_goes_on_where_it_was_and_ends_the_same(tables, tmp_path, monkeypatch):
    whole, calls, broken = Walks.advance, [], [120]

    def advance(walks, standing, t):
        calls.append(t)
        if t in broken:
            raise KeyboardInterrupt
        return whole(walks, standing, t)

    monkeypatch.setattr(Walks, "advance", advance)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    assert calls == [30, 60, 100, 120]
    broken.clear()
    again = run(tmp_path)["fig4"]
    assert calls[4:] == [120, 180, 200]
    assert again.equals(tables["fig4"])


def test_pictures_words_and_verdicts(tables, tmp_path):
    assert experiment.draw(tables, tmp_path) == ["fig4.png", "fig4.svg"]
    assert (tmp_path / "fig4.png").stat().st_size > 10_000
    text = experiment.section(tables).text
    last = tables["fig4"].query("t == 200")
    all_open = (last.open == 64).sum()
    assert f"At {all_open} of 6 penalties the rule has not ruled out a single one of 64 features" in text
    assert f"The least test error, {last.test.min():.1%}" in text
    assert all(verdict.holds is None for verdict in experiment.verdicts(tables))  # these are not the paper's images


def test_verdicts_follow_the_numbers(tables):
    lines = tables["fig4"].assign(features=784)
    claims = {verdict.claim: verdict.holds for verdict in experiment.verdicts({"fig4": lines})}
    assert claims["It is possible that more features would be screened away after more iterations."] is True
    still = lines.assign(open=784, nonzero=1)
    claims = {verdict.claim: verdict.holds for verdict in experiment.verdicts({"fig4": still})}
    assert claims["It is possible that more features would be screened away after more iterations."] is False
    assert claims["The number of non-zeros of the last iterate is observed to be stable."] is True
    assert claims["The task performs best without extreme sparsity."] is False
    assert None in claims.values()  # with everything open, nothing can be said of models with few open features


def test_the_grids_are_those_of_the_paper():
    full, quick = experiment.settings(quick=False), experiment.settings(quick=True)
    assert full["data"] == "mnist"
    assert full["looks"] == [1000, 5000, 10_000]
    assert [len(full["grids"][row]) for row in ROWS] == [13, 13, 13]
    assert quick["data"] == "scikit-learn"
    assert penalty_of("barrier", 3.0).radius == 10
    assert paper_grids()["ball"][6] == 10


def test_a_blank_prediction_is_a_four():
    X, y = np.eye(3), np.array([-1.0, 1.0, 1.0])
    assert misclassified(X, y, np.array([0.0, 0.0, 1.0])) == pytest.approx(1 / 3)
