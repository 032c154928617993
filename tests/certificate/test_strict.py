"""The checker refuses what is no certificate, in a sentence, at once, also under a new seal and the right digest."""

import copy
import json

import fuzz
import numpy as np
import pytest
from scipy import sparse

from atomsieve import (
    L1,
    Atoms,
    Certificate,
    Group,
    Image,
    Linear,
    NonNegative,
    Power,
    Problem,
    Scaled,
    Square,
    load_model,
    solve,
    verify,
)
from atomsieve.certificate import certify
from atomsieve.certificate.file import seal

X = np.hstack([np.eye(3), np.eye(3)[:, :1]])
Y = np.array([3.0, 0.2, 0.1])
HONEST = solve(Problem(X, Y, penalty=Linear(0.1)), tol=1e-12).certificate().content()


def sealed(content):
    return fuzz.Told(content | {"seal": seal(content)})


def refusal(change, honest=HONEST, data=(X, Y)):
    """Return why a changed certificate is refused."""
    content = copy.deepcopy(honest)
    change(content)
    verdict = verify(sealed(content), *data)
    assert not verdict.valid
    return verdict.reason


def silent(content, entries=4):
    """Take back all claims."""
    nothing = {"index": list(range(entries)), "lower": [None] * entries, "upper": [None] * entries}
    content["claims"] |= {"valid": False, "nonzero": [], "undecided": list(range(entries)), "gap": None}
    content["claims"] |= {"value": {"lower": None, "upper": None}, "intervals": nothing, "dependencies": []}
    content["claims"]["sums"] = []


def with_silence(**changes):
    def change(content):
        silent(content)
        for part in ("claims", "problem"):
            content[part] |= {key: value for key, value in changes.items() if key in content[part]}

    return change


class TestGauges:
    """A gauge covers the columns of X: a certificate of some columns is none of all."""

    data = np.random.default_rng(3).standard_normal((40, 4))
    y = data[:, 2] + data[:, 3]

    @pytest.mark.parametrize(
        "gauge",
        [
            Group([0, 0]),
            Group([0, 1], [1.0, 2.0]),
            Image(L1(), np.eye(2)),
            Image(Group([0, 0, 1]), np.ones((2, 3))),
            Image(L1(), sparse.csr_array(np.eye(2))),
            Atoms(np.eye(2)),
            Scaled(Group([0, 0]), 2.0),
            Scaled(Image(Scaled(L1(), 0.5), np.eye(2)), 2.0),
            L1([1.0, 2.0]),
            L1(positive=[True, False]),
            NonNegative([1.0, 2.0]),
        ],
        ids=repr,
    )
    def test_of_some_columns(self, gauge):
        part = self.data[:, :2].copy()
        forged = solve(Problem(part, self.y, gauge=gauge, penalty=Linear(0.2)), tol=1e-12).certificate().content()
        assert verify(sealed(forged), part, self.y).valid
        forged["data"] = {"sha256": solve(Problem(self.data, self.y)).certificate().digest}
        assert not verify(sealed(forged), self.data, self.y).valid

    def test_groups_are_numbered_from_0(self):
        problem = Problem(self.data, self.y, gauge=Group(list("abab")), penalty=Linear(0.2))
        honest = solve(problem, tol=1e-12).certificate().content()
        for groups in ([0, 2, 0, 2], [1, 1, 1, 1], [0, 1, 0, -1], [0, 1, 0, 1.0], [0, 1, 0, "1"], [0, 1, 0, 10**12]):
            change = {"groups": groups}
            reason = refusal(lambda c, change=change: c["problem"]["gauge"].update(change), honest, (self.data, self.y))
            assert "groups" in reason

    def test_atoms_have_no_other_gauge(self):
        honest = solve(Problem(self.data, self.y, gauge=Atoms(np.eye(4)), penalty=Linear(0.2))).certificate().content()
        for gauge in ({"type": "L1", "weights": None}, {"type": "NonNegative", "weights": [1.0] * 4}, None):
            change = {"gauge": gauge}
            assert refusal(lambda c, change=change: c["problem"]["gauge"].update(change), honest, (self.data, self.y))


class TestForm:
    """One description of the file: every key, and what stands there."""

    @pytest.fixture(params=range(len(fuzz.bases())))
    def base(self, request):
        return fuzz.bases()[request.param]

    def objects(self, content):
        return [p for p in [(), *fuzz.places(content)] if isinstance(fuzz.at(content, p), dict)]

    def test_an_unknown_key_anywhere(self, base):
        for place in self.objects(base.content):
            content = json.loads(base.stored)
            fuzz.at(content, place)["more"] = 1
            assert not base.verdict(sealed(content)).valid, place

    def test_a_missing_key_anywhere(self, base):
        for place in self.objects(base.content):
            for key in fuzz.at(base.content, place):
                content = json.loads(base.stored)
                fuzz.at(content, place).pop(key)
                assert not base.verdict(content if key == "seal" and not place else sealed(content)).valid, (place, key)

    def test_another_type_anywhere(self, base):
        """Texts, truth values, lists and objects do not stand for numbers, nor for each other."""
        for place in fuzz.places({key: part for key, part in base.content.items() if key != "seal"}):
            old = fuzz.at(base.content, place)
            for other in (str(old), [old], {"0": old}, True, 10**30):
                if type(other) is type(old):
                    continue
                content = json.loads(base.stored)
                fuzz.at(content, place[:-1])[place[-1]] = other
                verdict = base.verdict(sealed(content))
                assert not verdict.valid, (place, other)

    def test_truth_values_are_no_numbers(self):
        assert "version True" in refusal(lambda c: c.update(version=True))
        assert "version 1.0" in refusal(lambda c: c.update(version=1.0))
        assert "samples must be a whole number" in refusal(lambda c: c["problem"].update(samples=3.0))
        assert "times[0] must be a number" in refusal(lambda c: c["claims"]["dependencies"][0].update(times=["1"]))

    @pytest.mark.parametrize("key", ["claims", "undecided", "seal", "version"])
    def test_a_key_twice(self, key, tmp_path):
        """The first reader sees one value, the next another."""
        text, path = json.dumps(HONEST), tmp_path / "c.json"
        path.write_text(text.replace(f'"{key}": ', f'"{key}": 0, "{key}": ', 1))
        assert f"'{key}' is there twice" in verify(path, X, Y).reason

    @pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999", "1" * 5000, "1" * 25, '"1.0"'])
    def test_what_is_no_number(self, word, tmp_path):
        path = tmp_path / "c.json"
        path.write_text(json.dumps(HONEST).replace(str(HONEST["claims"]["gap"]), word))
        assert not verify(path, X, Y).valid

    @pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '"' + '\\"' * 100_000, "[" * 65 + "]" * 65])
    def test_depth(self, text, tmp_path):
        path = tmp_path / "c.json"
        path.write_text(text)
        assert not verify(path, X, Y).valid
        for load in (Certificate.load, load_model):
            with pytest.raises(ValueError, match="is not a"):
                load(path)

    @pytest.mark.parametrize(
        "change", [{"shape": [10**15]}, {"blocks": 10**15}, {"shape": [-1]}, {"shape": 7}, {"shape": [2**70]}], ids=str
    )
    def test_damaged_files_are_not_loaded(self, change, tmp_path):
        path = tmp_path / "c.json"
        path.write_text(json.dumps(HONEST | {"problem": HONEST["problem"] | change}))
        with pytest.raises(ValueError, match="is damaged"):
            Certificate.load(path)

    def test_objects_that_cannot_be_written(self):
        circle = copy.deepcopy(HONEST)
        circle["claims"]["more"] = circle
        deep = []
        for _ in range(100_000):
            deep = [deep]
        for told in (circle, HONEST | {"claims": deep}, HONEST | {"claims": {1, 2}}, HONEST | {"seal": np.nan}, 7):
            assert not verify(fuzz.Told(told), X, Y).valid


class TestSizes:
    """Nothing is listed or allocated that file and data do not pay for."""

    @pytest.mark.parametrize("entries", [10**12, 3 * 10**7, 5, 3])
    def test_shapes(self, entries):
        assert "does not fit" in refusal(with_silence(shape=[entries]))
        assert "does not fit" in refusal(lambda c: c["problem"].update(shape=[entries]))
        assert "does not fit" in refusal(with_silence(blocks=entries))

    @pytest.mark.parametrize("shape", [[10**6, 10**6], [4, 10**12], [4, 10**6], [4, 0], [4], [], [4, 4, 4]])
    def test_matrices_without_entries(self, shape):
        matrix = {"shape": shape, "row": [], "column": [], "value": []}
        gauge = {"type": "Image", "gauge": {"type": "L1", "weights": None, "positive": None}, "matrix": matrix}
        assert "matrix" in refusal(lambda c: c["problem"].update(gauge=gauge))

    @pytest.mark.parametrize("rows", [[[1.0]] * 3 + [[1.0, 2.0]], [[]] * 4, [], [[1.0]] * 5, [[None]] * 4, [1.0] * 4])
    def test_matrices_that_are_none(self, rows):
        gauge = {"type": "Atoms", "gauge": {"type": "NonNegative", "weights": None}, "matrix": rows}
        assert "matri" in refusal(lambda c: c["problem"].update(gauge=gauge))

    def test_factors(self):
        for factor in ("1e999999999", "1/3", 0.0):
            times = {"times": [factor]}
            assert refusal(lambda c, times=times: c["claims"]["dependencies"][0].update(times))

    def test_dependencies_that_could_be_read_in_two_ways(self):
        (known,) = HONEST["claims"]["dependencies"]
        for change in (
            {"of": known["of"] * 2},
            {"times": known["times"] * 2},
            {"of": known["of"] * 2, "times": [0.5] * 2},
        ):
            assert refusal(lambda c, change=change: c["claims"]["dependencies"][0].update(change))
        assert "twice" in refusal(lambda c: c["claims"]["dependencies"].append(known))


class TestSilence:
    def test_honest(self):
        content = copy.deepcopy(HONEST)
        silent(content)
        assert verify(sealed(content), X, Y).reason == "it claims nothing."

    def test_dependencies_are_claims(self):
        false = [{"column": 0, "of": [1], "times": [1.0]}]
        assert "makes claims" in refusal(with_silence(dependencies=false))
        assert "makes claims" in refusal(with_silence(dependencies=HONEST["claims"]["dependencies"]))

    def test_of_other_data(self):
        for change in ({"samples": 4}, {"free": 1}, {"weighted": True}, {"unpenalised": [0]}, {"intercept": True}):
            assert refusal(with_silence(**change))
        assert "-1 and 1" in refusal(with_silence(loss={"type": "Logistic"}))


def test_power_of_infinity_is_a_ball():
    problem = Problem(X, Y, penalty=Power(0.1, np.inf))
    honest = solve(problem, tol=1e-12).certificate().content()
    assert verify(sealed(honest), X, Y).valid
    assert refusal(lambda c: c["problem"]["penalty"].update(p=1.0), honest)
    assert refusal(lambda c: c["problem"]["penalty"].update(p="Inf"), honest)


def test_a_point_that_is_not_finite_decides_nothing():
    certificate = certify(Problem(X, Y, penalty=Square(0.1)), np.array([np.inf, np.nan, 0.0, 1.0]), np.zeros(0))
    assert verify(certificate, X, Y).valid


@pytest.mark.parametrize("base", fuzz.bases())
def test_the_judge_of_forgeries_knows_the_truth_of_every_honest_file(base):
    assert fuzz.Truth.of(base, base.content["problem"], base.X, base.y).contradiction(base.content) is None


def test_forged_certificates(tmp_path):
    _, faults = fuzz.run(0, 400, tmp_path)
    assert not faults


@pytest.mark.deep
def test_many_forged_certificates(tmp_path):
    tally, faults = fuzz.run(1, 4_000, tmp_path)
    assert not faults
    assert tally["accepted"] > 200
