"""Overlapping groups: how they are given, what is refused, latent parts, and what tables say of features."""

import numpy as np
import pandas as pd
import pytest

from atomsieve import Certificate, GaugeRegressor, Group, LatentGroup, Linear, Problem, solve, verify

RNG = np.random.default_rng(4)
NAMES = list("abcdef")
X = RNG.standard_normal((60, 6))
BOTH = X @ [1.0, 2.0, -3.0, 1.0, -2.0, 0.0] + 0.1 * RNG.standard_normal(60)
ONE = X @ [1.0, 2.0, -1.0, 0.0, 0.0, 0.0] + 0.1 * RNG.standard_normal(60)
GROUPS = {"first": ["a", "b", "c"], "second": ["c", "d"], "third": ["d", "e", "a"], "last": ["f"]}
PLACES = [[0, 1, 2], [2, 3], [3, 4, 0], [5]]


def solution(gauge, y=BOTH, penalty=Linear(0.1), **settings):  # noqa: B008
    return solve(Problem(X, y, gauge=gauge, penalty=penalty, intercept=True, names=NAMES, **settings), tol=1e-12)


@pytest.mark.parametrize("groups", [GROUPS, dict(zip(GROUPS, PLACES, strict=True)), PLACES, [(0, "b", 2), *PLACES[1:]]])
def test_forms_are_the_same_gauge(groups):
    np.testing.assert_allclose(solution(LatentGroup(groups)).x, solution(LatentGroup(GROUPS)).x, atol=1e-9)


def test_separate_groups_are_group():
    parts = [[0, 1], [2, 3, 4], [5]]
    one, other = solution(LatentGroup(parts)), solution(Group(parts))
    np.testing.assert_allclose(one.x, other.x, atol=1e-8)
    x = RNG.standard_normal(6)
    assert LatentGroup(parts).value(x) == pytest.approx(Group(parts).value(x))


def test_weights():
    by_name = LatentGroup(GROUPS, {"last": 0.5, "first": 3.0, "second": 1.0, "third": 1.0})
    assert by_name.weights.tolist() == [3.0, 1.0, 1.0, 0.5]
    assert by_name == LatentGroup(GROUPS, [3.0, 1.0, 1.0, 0.5])
    z = np.array([1.0, 2.0, 2.0, 0.0, 0.0, 7.0])
    np.testing.assert_allclose(LatentGroup(PLACES, [3.0, 1.0, 1.0, 0.5]).scores(z), [1.0, 2.0, 1.0, 14.0])
    np.testing.assert_allclose(LatentGroup(PLACES).scores(z)[0], np.sqrt(3.0))


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ({"first": ["a", "b", "c"], "second": ["c", "d"]}, "LatentGroup: groups leave out 'e', 'f'"),
        ([[0, 1, 2], [2, 3], [4]], "LatentGroup: groups leave out 'f'"),
        ([0, 0, 1, 1, 1, 1], "For one label per feature use Group"),
        ({"first": NAMES, "second": ["g"]}, "LatentGroup: groups names 'g'"),
        ({"first": NAMES, "second": []}, "LatentGroup: groups must give a list of features for 'second'"),
        ({"first": NAMES, "second": ["a", "a"]}, "each once, for 'second'"),
        ([[0, 1, 2, 3, 4, 5, 6]], "positions below 6"),
        ({}, "LatentGroup: groups is empty"),
    ],
)
def test_what_is_no_cover_is_refused(groups, words):
    with pytest.raises(ValueError, match=words):
        solution(LatentGroup(groups))


@pytest.mark.parametrize(
    ("weights", "words"),
    [("big", "LatentGroup: weights must be"), ([1.0], "one number per group"), ([1, 2, 3, -1], "positive finite")],
)
def test_bad_weights_are_refused(weights, words):
    with pytest.raises(ValueError, match=words):
        LatentGroup(PLACES, weights)


def test_names_need_a_problem():
    with pytest.raises(TypeError, match="which only a problem knows"):
        LatentGroup(GROUPS).scores(np.zeros(6))


def test_parts_add_up_to_x_and_their_norms_to_the_mass():
    gauge = LatentGroup(GROUPS)
    result = solution(gauge)
    parts = gauge.parts(result.lifted)
    assert list(parts) == list(GROUPS)
    total = dict.fromkeys(NAMES, 0.0)
    for name, part in parts.items():
        for feature, value in zip(GROUPS[name], part, strict=True):
            total[feature] += value
    np.testing.assert_allclose(list(total.values()), result.x, atol=1e-12)
    mass = sum(np.sqrt(len(part)) * np.linalg.norm(part) for part in parts.values())
    assert mass == pytest.approx(result.point.state.mass)


def test_no_column_is_copied():
    problem = Problem(X, BOTH, gauge=LatentGroup(PLACES), penalty=Linear(0.1))
    assert problem.design.shape == (60, 9)
    assert np.shares_memory(problem.design.unmetered.design.matrix, X)


def test_a_feature_is_zero_when_all_of_its_groups_are(tmp_path):
    result = solution(LatentGroup(GROUPS), ONE)
    certificate = result.certificate()
    groups = certificate.group_frame().set_index("group").verdict
    assert groups.to_dict() == {"first": "non-zero", "second": "zero", "third": "zero", "last": "zero"}
    told = certificate.feature_frame()
    assert told.verdict.tolist() == ["non-zero"] * 3 + ["zero"] * 3
    assert result.zero.tolist() == [False] * 3 + [True] * 3
    table = certificate.to_frame()
    assert table.feature.tolist() == [feature for features in GROUPS.values() for feature in features]
    assert table.group.tolist() == [name for name, features in GROUPS.items() for _ in features]
    certificate.save(tmp_path / "certificate.json")
    pd.testing.assert_frame_equal(Certificate.load(tmp_path / "certificate.json").feature_frame(), told)
    assert verify(tmp_path / "certificate.json", X, ONE).valid


def test_shared_features_have_intervals_although_their_parts_have_none():
    certificate = solution(LatentGroup(GROUPS)).certificate()
    lifted, told = certificate.to_frame(), certificate.feature_frame()
    assert np.isinf(lifted.lower[lifted.feature == "a"]).all()
    assert told.verdict.tolist() == ["non-zero"] * 5 + ["zero"]
    assert (told.upper - told.lower < 1e-4).all()
    assert "'a' in 'first', 'a' in 'third'" in certificate.reason
    assert ["a in first", "a in third"] in certificate.dependent_sets
    assert "a in first + a in third" in certificate.sums_frame()["sum"].tolist()


@pytest.mark.parametrize("standardize", [False, True])
def test_in_an_estimator(standardize):
    frame = pd.DataFrame(X * [1.0, 2.0, 0.5, 1.0, 3.0, 1.0], columns=NAMES)
    model = GaugeRegressor(gauge=LatentGroup(GROUPS), penalty=Linear(0.1), standardize=standardize, tol=1e-12)
    report = model.fit(frame, BOTH).support_report()
    assert report.verdict.tolist() == ["non-zero"] * 5 + ["zero"]
    assert (report.lower <= report.coefficient + 1e-7).all()
    assert (report.coefficient - 1e-7 <= report.upper).all()
    if standardize:
        return
    assert report.group.tolist()[:3] == ["first, third", "first", "first, second"]
    groups = model.group_report()
    assert groups.group.tolist() == list(GROUPS)
    assert groups.features.tolist() == [3, 2, 3, 1]
    assert groups.norm.tolist()[-1] == 0.0


def test_printed_briefly():
    assert repr(LatentGroup([range(5), range(3, 8)])) == "LatentGroup(groups=<2 groups of 5 features>, weights='sqrt')"
    assert repr(LatentGroup([[0], [0, 1]])) == "LatentGroup(groups={0: (0,), 1: (0, 1)}, weights='sqrt')"
