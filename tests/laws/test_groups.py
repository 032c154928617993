"""Groups by names, positions or labels: the same gauge, and what is no partition of the features is refused."""

import numpy as np
import pandas as pd
import pytest

from atomsieve import (
    CriticalFraction,
    GaugeClassifier,
    GaugeRegressor,
    Group,
    Image,
    Linear,
    Logistic,
    Problem,
    Scaled,
    solve,
    verify,
)

RNG = np.random.default_rng(3)
X = RNG.standard_normal((40, 5))
Y = X @ [1.0, -1.0, 0.0, 0.0, 2.0] + 0.1 * RNG.standard_normal(40)
NAMES = ["age1", "age2", "sex", "weight", "height"]
PARTS = {"size": ["weight", "height"], "sex": ["sex"], "age": ["age1", "age2"]}
LABELS = ["age", "age", "sex", "size", "size"]
PLACES = {"size": [3, 4], "sex": [2], "age": [0, 1]}


def solution(gauge, **settings):
    return solve(Problem(X, Y, gauge=gauge, penalty=Linear(0.05), names=NAMES, **settings), tol=1e-12)


class TestForms:
    @pytest.mark.parametrize(
        "groups",
        [
            PARTS,
            PLACES,
            list(PLACES.values()),
            [(3, 4), [2], np.array([0, 1])],
            {"a": ["age1", 1], "b": [2, "weight", 4]},
        ],
        ids=repr,
    )
    @pytest.mark.parametrize("wrap", [lambda gauge: gauge, lambda gauge: Scaled(gauge, 2.0)])
    def test_are_the_same_gauge(self, groups, wrap):
        labels = LABELS if not isinstance(groups, dict) or "a" not in groups else [0, 0, 1, 1, 1]
        found = solution(wrap(Group(groups)))
        assert np.allclose(found.x, solution(wrap(Group(labels))).x, atol=1e-9)
        assert found.problem.gauge.value(found.x) == pytest.approx(wrap(Group(labels)).value(found.x))

    def test_names_reach_the_certificate_and_its_file(self, tmp_path):
        certificate = solution(Group(PARTS)).certificate()
        assert certificate.names["blocks"] == ("age", "sex", "size")
        assert certificate.to_frame()["group"].tolist() == LABELS
        certificate.save(tmp_path / "certificate.json")
        assert verify(tmp_path / "certificate.json", X, Y).valid

    def test_a_data_frame_names_the_features_of_an_estimator(self):
        frame = pd.DataFrame(X, columns=NAMES)
        model = GaugeRegressor(gauge=Group(PARTS), penalty=Linear(0.1), tol=1e-12)
        plain = GaugeRegressor(gauge=Group(LABELS), penalty=Linear(0.1), tol=1e-12)
        for standardize in (False, True):
            named = model.set_params(standardize=standardize).fit(frame, Y)
            same = plain.set_params(standardize=standardize).fit(X, Y)
            assert np.allclose(named.coef_, same.coef_, atol=1e-9)
        shuffled = frame[NAMES[::-1]]
        assert np.allclose(model.fit(shuffled, Y).coef_[::-1], same.coef_, atol=1e-6)

    def test_inside_an_image_features_have_positions(self):
        matrix = np.eye(5)
        assert np.allclose(solution(Image(Group(PLACES), matrix)).x, solution(Group(LABELS)).x, atol=1e-9)
        with pytest.raises(ValueError, match="names 'weight', but X has no feature names"):
            solution(Image(Group(PARTS), matrix))

    def test_is_a_value(self):
        assert Group(PARTS) == Group(dict(PARTS))
        assert hash(Group(PARTS)) == hash(Group(dict(PARTS)))
        assert Group(PARTS) != Group(PARTS, "equal")
        assert "'size': ('weight', 'height')" in repr(Group(PARTS))


class TestReports:
    @pytest.mark.parametrize("standardize", [False, True])
    def test_of_features_name_the_group(self, standardize):
        frame = pd.DataFrame(X, columns=NAMES)
        model = GaugeRegressor(gauge=Group(PARTS), penalty=CriticalFraction(0.3), standardize=standardize).fit(frame, Y)
        features, groups = model.support_report(), model.group_report()
        assert features["group"].tolist() == LABELS
        assert groups["group"].tolist() == ["age", "sex", "size"]
        assert groups["features"].tolist() == [2, 1, 2]
        assert groups["norm"].tolist() == pytest.approx(
            [np.linalg.norm(model.coef_[[label == name for label in LABELS]]) for name in groups["group"]]
        )
        assert groups["verdict"].tolist() == ["non-zero", "zero", "non-zero"]
        table = model.certificate_.group_frame()
        assert table["verdict"].tolist() == groups["verdict"].tolist()
        assert table["coefficients"].tolist() == [2, 1, 2]

    def test_of_several_outputs_and_classes(self):
        frame = pd.DataFrame(X, columns=NAMES)
        both = GaugeRegressor(gauge=Group(PARTS), penalty=CriticalFraction(0.3)).fit(frame, np.stack([Y, -Y], axis=1))
        assert both.support_report()["group"].tolist() == LABELS * 2
        assert both.group_report()["features"].tolist() == [2, 1, 2]
        classes = GaugeClassifier(Logistic(), Group(PARTS), CriticalFraction(0.3)).fit(frame, np.digitize(Y, [-1, 1]))
        assert classes.group_report()["class"].tolist() == np.repeat([0, 1, 2], 3).tolist()
        assert classes.support_report()["group"].tolist() == LABELS * 3

    def test_without_groups_are_refused(self):
        model = GaugeRegressor().fit(X, Y)
        assert "group" not in model.support_report()
        with pytest.raises(ValueError, match=r"group_report\(\) needs a gauge"):
            model.group_report()
        with pytest.raises(ValueError, match=r"group_frame\(\) needs groups"):
            model.certificate_.group_frame()

    def test_overlapping_groups_have_no_table(self):
        twice = np.array([[1.0, 0, 0], [0, 1.0, 1.0], [0, 0, 0], [0, 0, 0], [0, 0, 1.0]])
        model = GaugeRegressor(gauge=Image(Group(["a", "a", "b"]), twice), penalty=Linear(0.1)).fit(X, Y)
        assert model.support_report()["group"].tolist() == ["a", "", "", "", "b"]
        with pytest.raises(ValueError, match="every feature in one group"):
            model.group_report()


class TestWeights:
    def test_are_the_root_of_the_size_by_default(self):
        roots = np.sqrt([2.0, 1.0, 2.0])
        assert Group(LABELS).value(np.ones(5)) == pytest.approx(roots @ roots)
        assert Group(LABELS).prices((5,)) == pytest.approx(roots)
        assert Group(LABELS, "equal").value(np.ones(5)) == pytest.approx(roots.sum())

    def test_count_features_not_outputs(self):
        assert Group().prices((3, 7)).tolist() == [1.0, 1.0, 1.0]
        assert Group([0, 0, 1]).prices((3, 7)) == pytest.approx(np.sqrt([2.0, 1.0]))
        assert Group([0, 0, 1]).flat((3, 2)).prices((6,)) == pytest.approx(np.sqrt([2.0, 1.0]))

    @pytest.mark.parametrize("groups", [PARTS, LABELS], ids=["dict", "labels"])
    def test_by_name(self, groups):
        weights = {"sex": 3.0, "age": 1.0, "size": 2.0}
        found = solution(Group(groups, weights))
        assert found.problem.core.prices((5,)).tolist() == [1.0, 3.0, 2.0]
        assert np.allclose(found.x, solution(Group(LABELS, [1.0, 3.0, 2.0])).x, atol=1e-9)

    @pytest.mark.parametrize("groups", [PARTS, PLACES, list(PLACES.values())], ids=["names", "places", "lists"])
    def test_of_a_dict_are_in_its_order(self, groups):
        found = solution(Group(groups, [2.0, 3.0, 1.0]))  # size, sex, age
        assert np.allclose(found.x, solution(Group(LABELS, [1.0, 3.0, 2.0])).x, atol=1e-9)

    def test_survive_the_restriction_to_some_columns(self):
        assert Group(LABELS).restrict(np.array([3, 4])).prices((2,)) == pytest.approx([np.sqrt(2)])
        assert Group(LABELS).restrict(np.array([2, 3])).prices((2,)) == pytest.approx([1.0, np.sqrt(2)])

    @pytest.mark.parametrize("weights", ["sqrt", "equal", [1.0, 2.0, 3.0]])
    def test_are_verified(self, weights):
        certificate = solution(Group(LABELS, weights)).certificate()
        assert verify(certificate, X, Y).valid
        stated = certificate.statement["gauge"]["weights"]
        assert stated == {"sqrt": [2**0.5, 1.0, 2**0.5], "equal": None}.get(str(weights), weights)


class TestRefused:
    @pytest.mark.parametrize(
        ("groups", "message"),
        [
            ({"a": ["age1", "age2"]}, "leave out 'sex', 'weight', 'height'. Put every feature in a group"),
            ({**PARTS, "more": ["age1"]}, "have 'age1' twice"),
            ({**PARTS, "more": ["hieght"]}, "no feature of that name. Did you mean 'height'?"),
            ({**PARTS, "more": "sex"}, "a list of features for 'more'"),
            ({**PARTS, "more": []}, "a list of features for 'more'"),
            ({}, "groups is empty"),
            ([[0, 1], [3, 4]], "leave out 2"),
            ([[0, 1], [10**12]], "leave out 2"),
            ([[0, 0, 0, 1, 1]], "have 0 twice.*one label per feature"),
            ([[0, 1], [2]], r"one label per feature, 5 in all, got shape \(3,\)"),
            ([[0, 1, 2.5], [3, 4]], "feature names or positions"),
        ],
    )
    def test_groups(self, groups, message):
        with pytest.raises(ValueError, match=message):
            Problem(X, Y, gauge=Group(groups), names=NAMES)

    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            ("squared", 'must be "sqrt", "equal"'),
            (None, '"equal" weighs all groups alike'),
            ({"age": 1.0, "sex": 2.0}, "no weight for 'size'"),
            ({"age": 1.0, "sex": 2.0, "size": 1.0, "shape": 1.0}, "a weight for 'shape', which is no group"),
            ({"age": 1.0, "sex": 0.0, "size": 1.0}, "positive finite"),
            ([1.0, 2.0], "one number per group, 3 in all"),
        ],
    )
    @pytest.mark.parametrize("groups", [PARTS, LABELS], ids=["dict", "labels"])
    def test_weights(self, weights, groups, message):
        with pytest.raises(ValueError, match=message):
            Problem(X, Y, gauge=Group(groups, weights), names=NAMES)

    def test_names_without_names(self):
        with pytest.raises(ValueError, match="names 'weight', but X has no feature names; give positions"):
            Problem(X, Y, gauge=Group(PARTS))
        with pytest.raises(TypeError, match="which only a problem knows"):
            Group(PARTS).value(np.ones(5))
        with pytest.raises(ValueError, match="need groups with names"):
            Group(weights={"a": 1.0})
