"""Laws of carried hyper-parameters, and the numbers in the tables of the experiment."""

import numpy as np
import pandas as pd
import pytest

from atomsieve import Ball, Linear, Problem, Squared, path, solve
from atomsieve.paper.cache import Cache
from atomsieve.paper.carrying import SHAPES, TOL, Resample, Track, carry, choose, follow, jaccard
from atomsieve.paper.comparisons import JUDGED, compare, judge
from atomsieve.paper.jackknife import estimate, jackknife, off_diagonal, relative, spread
from atomsieve.paper.numbers import with_error
from atomsieve.paper.stability import experiment
from atomsieve.paper.tasks import PaperTask, available, load

SETTINGS = {"sets": ["tiny"], "resamples": 4, "folds": 3, "knots": 12, "ratio": 1e-3, "candidates": 0.85, "tol": TOL}


@pytest.fixture(scope="module")
def task():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((40, 12))
    y = X[:, 0] - 0.6 * X[:, 1] + 0.4 * X[:, 2] + 0.5 * rng.standard_normal(40)
    return PaperTask("tiny", X, (y - y.mean()) / y.std())


@pytest.fixture(scope="module")
def tables(task, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("atomsieve.paper.stability.load", {"tiny": task}.get)
        return experiment.run(SETTINGS, Cache(tmp_path_factory.mktemp("cache")), lambda *_: None)


@pytest.fixture
def resample(task):
    return Resample.draw(task, 3, folds=3, knots=30)


def test_a_place_has_one_solution_whatever_the_shape(resample):
    k = 14
    size, slope = resample.track.sizes[k], resample.track.slopes[k]
    expected = solve(resample.problem.at_penalty(Linear(slope)), tol=1e-12)
    for shape in SHAPES.values():
        found = solve(resample.problem.at_penalty(shape.through(size, slope)), tol=1e-12)
        np.testing.assert_allclose(found.x, expected.x, atol=1e-5)


@pytest.mark.parametrize("name", SHAPES)
def test_places_undo_strengths(resample, name):
    track, shape = resample.track, SHAPES[name]
    np.testing.assert_allclose(track.places(shape, track.strengths(shape)), np.arange(30), atol=1e-9)
    np.testing.assert_allclose(track.slopes_at(np.arange(30.0)), track.slopes, rtol=1e-12)


@pytest.mark.parametrize("name", SHAPES)
def test_places_between_knots_are_where_the_shape_has_its_solution(task, name):
    fine = Resample.draw(task, 3, folds=3, knots=60)
    shape = SHAPES[name].through(1.3 * fine.track.sizes[20], 0.7 * fine.track.slopes[20])
    log_strength = np.log([getattr(shape, "radius", getattr(shape, "strength", None))])
    place = fine.track.places(shape, log_strength)
    coefs, intercepts = fine.solutions(fine.track.slopes_at(place))
    exact = solve(fine.problem.at_penalty(shape), tol=1e-12)
    scale = np.abs(exact.x).max()
    np.testing.assert_allclose(coefs[0], exact.x, atol=2e-3 * scale)
    assert np.array_equal(coefs[0] != 0, exact.x != 0)
    assert intercepts[0] == pytest.approx(exact.intercept, abs=2e-3 * scale)


def test_blended_predictions_are_those_of_the_path(resample):
    found = follow(resample.problem, 60)
    track, places = Track.of(found), np.array([11.3, 30.0, 41.7])
    X = resample.task.X
    blended = track.blend(X @ found.coefs.T + found.intercepts, places)
    exact = path(resample.problem, track.slopes_at(places), tol=1e-12)
    np.testing.assert_allclose(blended, X @ exact.coefs.T + exact.intercepts, atol=5e-3)


def test_ends_attract_what_leads_beyond_them(resample):
    assert resample.track.places(Ball(), np.log([1e-9, 1e9])).tolist() == [0, 29]
    assert resample.track.places(Linear(), np.log([1e9, 1e-9])).tolist() == [0, 29]


def test_weights_are_copies(resample):
    """The path of the counts is that of the samples repeated as often as they were drawn."""
    task, copies = resample.task, np.repeat(np.arange(len(resample.counts)), resample.counts.astype(int))
    repeated = Problem(task.X[copies], task.y[copies], loss=Squared(), intercept=True)
    np.testing.assert_allclose(follow(repeated, 30).sizes, resample.track.sizes, rtol=1e-5)


def test_every_sample_drawn_is_in_one_fold_and_every_fold_has_both_classes():
    labelled = load("wine")
    drawn = Resample.draw(labelled, 0, folds=5, knots=10)
    assert drawn.counts.sum() == len(labelled.y)
    assert np.array_equal(drawn.folds >= 0, drawn.counts > 0)
    assert np.array_equal(drawn.beyond(0), drawn.counts == 0)
    other = Resample.draw(labelled, 7, folds=5, knots=10)
    assert np.array_equal(drawn.beyond(7), (drawn.counts == 0) & (other.counts == 0))
    for fold in range(5):
        assert set(labelled.y[drawn.folds == fold]) == {-1.0, 1.0}


def test_held_out_curves_are_those_of_plain_cross_validation(task):
    """One shape, one candidate, solved fold by fold without any path."""
    drawn = Resample.draw(task, 1, folds=3, knots=60)
    k, total = 25, dict.fromkeys(SHAPES, 0.0)
    size, slope = drawn.track.sizes[k], drawn.track.slopes[k]
    for fold in range(3):
        held = drawn.counts * (drawn.folds == fold)
        problem = drawn.task.problem(drawn.counts - held)
        for name, shape in SHAPES.items():
            found = solve(problem.at_penalty(shape.through(size, slope)), tol=1e-12)
            total[name] += held @ (task.X @ found.x + found.intercept - task.y) ** 2 / 2
    curves = drawn.curves()
    for name in SHAPES:
        assert curves[name][k] == pytest.approx(total[name] / drawn.counts.sum(), rel=2e-3)
    assert curves["Linear"][k] != pytest.approx(curves["Ball"][k], rel=1e-3)


def test_square_and_barrier_carry_between_linear_and_ball(task):
    full = Track.of(follow(task.problem(np.ones(len(task.y))), 40))
    track = Resample.draw(task, 2, folds=3, knots=40).track
    places = {name: full.places(shape, track.strengths(shape)) for name, shape in SHAPES.items()}
    low, high = np.minimum(places["Linear"], places["Ball"]), np.maximum(places["Linear"], places["Ball"])
    assert (high - low).max() > 0.5
    for name in ("Square", "LogBarrier"):
        assert (places[name] >= low - 0.02).all()
        assert (places[name] <= high + 0.02).all()


def test_a_choice_carried_to_itself_changes_nothing(task):
    drawn = Resample.draw(task, 0, folds=3, knots=20)
    chosen = choose(drawn, drawn.track)
    assert chosen["penalty"].tolist() == list(SHAPES)
    np.testing.assert_allclose(chosen["reference"], chosen["place"], atol=1e-9)
    carried = carry(drawn, chosen)
    assert (carried["shared"] == 1).all()
    assert (carried["swapped"] == 1).all()
    assert (carried["loss"] == carried["own loss"]).all()
    assert (carried["error"] == carried["own error"]).all()
    np.testing.assert_allclose(carried["place"], chosen["place"], atol=1e-9)


def test_tables_hold_every_pair_and_scores_are_those_of_the_model(task, tables):
    carried, choices = tables["carried"], tables["choices"]
    assert len(choices) == 4 * 4
    assert len(carried) == 4 * 4 * 4
    row = carried[(carried["penalty"] == "Ball") & (carried["donor"] == 1) & (carried["target"] == 2)].iloc[0]
    given = choices[(choices["penalty"] == "Ball") & (choices["resample"] == 1)].iloc[0]
    target = Resample.draw(task, 2, folds=3, knots=12)
    model = solve(target.problem.at_penalty(Ball(float(np.exp(given["log strength"])))), tol=1e-12)
    missing = (target.counts == 0) & (Resample.draw(task, 1, folds=3, knots=12).counts == 0)
    expected = np.mean((task.X[missing] @ model.x + model.intercept - task.y[missing]) ** 2)
    assert row["error"] == pytest.approx(expected, rel=0.02)
    assert row["loss"] == pytest.approx(row["error"] / 2)
    own = carried[carried["donor"] == carried["target"]]
    assert (own["swapped"] == 1).all()
    assert (own["shared"] == 1).all()
    assert (own["loss"] == own["own loss"]).all()
    assert tables["work"]["solves"].sum() > 4 * (4 * 12 + 12)


def test_measures_are_what_their_names_say(tables):
    choices, carried = tables["choices"], tables["carried"]
    wide = tables["compared"].set_index(["measure", "penalty"])["value"]
    for name in SHAPES:
        mine, brought = choices[choices["penalty"] == name], carried[carried["penalty"] == name]
        own = brought[brought["donor"] == brought["target"]]
        others = brought[brought["donor"] != brought["target"]]
        assert wide["spread on own paths", name] == pytest.approx(100 * mine["place"].std())
        assert wide["spread on full path", name] == pytest.approx(100 * mine["reference"].std())
        by_target = brought.groupby("target")["place"].std()
        assert wide["spread on other paths", name] == pytest.approx(100 * by_target.mean())
        assert wide["own loss", name] == pytest.approx(own["loss"].mean())
        excess = (others["loss"] - others["own loss"]).mean()
        assert wide["regret in loss", name] == pytest.approx(100 * excess / own["loss"].mean())
        assert wide["Jaccard, shared choice", name] == pytest.approx(others["shared"].mean())
    assert wide["Jaccard with Linear", "Linear"] == 1
    differences = tables["compared"].query("penalty == 'Linear'")[["difference", "difference error"]]
    assert (differences == 0).all(axis=None)


def test_compared_tables_come_from_the_others(tables):
    pd.testing.assert_frame_equal(tables["compared"], compare(tables["choices"], tables["carried"]))


def test_a_run_that_is_resumed_has_the_same_tables(task, tables, tmp_path, monkeypatch):
    monkeypatch.setattr("atomsieve.paper.stability.load", {"tiny": task}.get)
    seen, cache = [], Cache(tmp_path)

    def stop(done, total, text):
        seen.append((done, total, text))
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        experiment.run(SETTINGS, cache, stop)
    assert seen[-1] == (3, 8, "tiny: choice 3 of 4")
    again = experiment.run(SETTINGS, cache, lambda *_: None)
    for name, table in tables.items():
        pd.testing.assert_frame_equal(again[name], table)


def test_jackknife_is_exact_for_means_and_counts_resamples_not_pairs():
    rng = np.random.default_rng(0)
    values = rng.standard_normal(30)
    assert estimate(*jackknife(np.mean, values)).error == pytest.approx(values.std(ddof=1) / np.sqrt(30))
    rows = np.add.outer(values, np.zeros(30))
    assert estimate(*jackknife(off_diagonal, rows)).error == pytest.approx(values.std(ddof=1) / np.sqrt(30), rel=1e-6)


def test_statistics_of_small_tables():
    values = np.array([[1.0, 2.0], [4.0, 3.0]])
    assert off_diagonal(values) == 3
    assert relative(values) == 150
    assert off_diagonal(np.array([[1.0, np.nan], [4.0, 3.0]])) == 4
    assert spread(np.array([1.0, 3.0])) == pytest.approx(np.sqrt(2))
    assert spread(values) == pytest.approx(np.sqrt(0.5))


def test_jaccard_of_a_support_with_itself_is_one():
    masks = np.random.default_rng(0).random((5, 8)) < 0.4
    assert (jaccard(masks, masks) == 1).all()
    assert (jaccard(masks, ~masks) == 0).all()


def test_differences_are_called_beyond_chance_only():
    rows = [("a", m, p, 1.0, 0.1, d, 0.1) for m in JUDGED for p, d in (("Square", 0.0), ("Ball", 5.0))]
    columns = ["set", "measure", "penalty", "value", "error", "difference", "difference error"]
    judged = judge(pd.DataFrame(rows, columns=columns), 50).set_index(["penalty", "measure"])["stability"]
    assert (judged["Square"] == "alike").all()
    assert {judged["Ball", name] for name, better in JUDGED.items() if better < 0} == {"less"}
    assert {judged["Ball", name] for name, better in JUDGED.items() if better > 0} == {"more"}


def test_picture_and_words(tables, tmp_path):
    files = experiment.draw(tables, tmp_path)
    assert files == ["stability.png", "stability.svg"]
    assert all((tmp_path / file).stat().st_size > 10_000 for file in files)
    section = experiment.section(tables)
    row = tables["compared"].set_index(["measure", "penalty"]).loc[("spread on other paths", "Ball")]
    assert with_error(row["value"], row["error"]) in section.text
    assert f"{tables['work']['solves'].sum():,} solutions" in section.text
    assert "(stability.png)" in section.text


def test_few_resamples_settle_nothing(tables):
    verdicts = experiment.verdicts(tables)
    assert [verdict.holds for verdict in verdicts] == [None] * 3
    assert "of 4 comparisons" in verdicts[2].measured
    linear = tables["compared"].set_index(["measure", "penalty"]).loc[("spread on other paths", "Linear"), "value"]
    assert f"spread on other paths {linear:.2g} (Square " in verdicts[1].measured


def test_many_resamples_settle_the_claims(tables):
    """The same numbers from more resamples: what differs by much less than its error is alike."""
    more = dict(tables)
    copies = [tables["choices"].assign(resample=tables["choices"]["resample"] + 4 * k) for k in range(6)]
    more["choices"] = pd.concat(copies, ignore_index=True)
    more["compared"] = tables["compared"].assign(**{"difference error": 1e9})
    verdicts = experiment.verdicts(more)
    assert verdicts[1].holds is False
    assert verdicts[2].holds is False
    sure = tables["compared"].copy()
    better = sure["measure"].map(JUDGED).fillna(0)
    sure["difference"], sure["difference error"] = better, 1e-3
    assert [verdict.holds for verdict in experiment.verdicts(more | {"compared": sure})[1:]] == [True, True]


def test_four_sets_are_at_hand_with_and_without_files(tmp_path, monkeypatch):
    monkeypatch.delenv("ATOMSIEVE_DATA", raising=False)
    assert len(available()) == 4
    for name in available():
        found = load(name)
        assert len(found.y) == len(found.X)
        assert found.binary or found.y.std() == pytest.approx(1)
        assert np.ptp(found.X, axis=0).min() > 0
    with pytest.raises(ValueError, match="no data set 'colon' at hand"):
        load("colon")
    (tmp_path / "riboflavin.csv.gz").touch()
    (tmp_path / "colon-cancer.bz2").touch()
    monkeypatch.setenv("ATOMSIEVE_DATA", str(tmp_path))
    assert available() == ["diabetes", "breast cancer", "riboflavin", "colon"]
    assert load("diabetes").X.shape == (442, 64)


def test_settings_are_small_when_quick():
    quick, full = experiment.settings(quick=True), experiment.settings(quick=False)
    assert full["resamples"] == 50
    assert len(full["sets"]) >= 4
    assert quick["resamples"] < full["resamples"]
    assert len(quick["sets"]) == 4
