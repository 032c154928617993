"""What a fit says beside its result: columns that name rows, numbers of features, time limits, what proves nothing."""

import json
from dataclasses import replace

import numpy as np
import pytest
from patients import table

from atomsieve import Certificate
from atomsieve.report import Findings


def said(answer, status=0):
    """Return what a command said, in one line."""
    assert answer.exit_code == status, answer.output
    return " ".join(answer.stdout.split())


@pytest.fixture
def kinds(tmp_path):
    """Write a file with three classes."""
    path = tmp_path / "kinds.csv"
    path.write_text(table(outcome=np.random.default_rng(2).choice(["a", "b", "c"], 60)))
    return path


class TestColumnsThatNameRows:
    def note(self, call, tmp_path, name, values):
        (tmp_path / "data.csv").write_text(table(**{name: values}))
        return said(call("fit", "data.csv", "-t", "outcome", "--fraction", "0.5"))

    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("nr", np.arange(60) + 1000),
            ("nr", np.arange(60)[::-1]),
            ("nr", np.cumsum(np.arange(60) % 7 + 1)),
            ("patient_id", (np.arange(60) * 7919) % 100003),
            ("patientId", (np.arange(60) * 7919) % 100003),
        ],
    )
    def test_they_are_pointed_out(self, call, tmp_path, name, values):
        text = self.note(call, tmp_path, name, values)
        assert f"as if to name it: {name}. If so, leave out what names rows: --exclude {name}." in text

    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("size", (np.arange(60) * 7919) % 100003),
            ("patient_id", np.arange(60) // 2),
            ("id", np.linspace(0, 1, 60)),
            ("arid", (np.arange(60) * 7919) % 100003),
        ],
    )
    def test_others_are_not(self, call, tmp_path, name, values):
        assert "as if to name it" not in self.note(call, tmp_path, name, values)


def test_more_features_than_there_are(call, data):
    words = ("fit", data, "-t", "outcome", "--features")
    assert "--features asks" not in said(call(*words, "2"))
    assert "--features asks for 50: the model has all 4 features." in said(call(*words, "50", "--exclude", "colour"))
    text = said(call(*words, "50"))
    assert "--features asks for 50: the model has 6 of the 7 features, and no strength was found for more." in text


def test_a_long_table_goes_on_in_a_file(call, tmp_path):
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.standard_normal((60, 40)), rng.standard_normal(60)])
    lines = [",".join([*(f"g{j}" for j in range(40)), "y"]), *(",".join(map(str, row)) for row in table)]
    (tmp_path / "many.csv").write_text("\n".join(lines))
    text = said(call("fit", "many.csv", "-t", "y", "--fraction", "0.001"))
    assert "more: coefficients.csv" in text
    assert "to_frame" not in text
    (tmp_path / "groups.csv").write_text("altogether,a\n")
    answer = call("fit", "many.csv", "-t", "y", "--gauge", "group", "--groups", "groups.csv")
    assert answer.exit_code == 2
    assert "There are: g0, g1, g2, g3" in " ".join(answer.stderr.split())


def test_groups_of_one(call, data, tmp_path):
    words = ("fit", data, "-t", "outcome", "--gauge", "group", "--fraction", "0.5")
    note = "Every group is a single feature, so that --gauge group is the same as --gauge l1."
    assert note in said(call(*words, "--exclude", "colour"))
    assert note not in said(call(*words))  # the levels of colour are a group
    (tmp_path / "g.csv").write_text("x0,x1\nx1,x1\n")
    assert note not in said(call(*words, "--exclude", "colour", "--groups", "g.csv"))
    (tmp_path / "g.csv").write_text("x0,a\nx1,b\n")
    assert note in said(call(*words, "--exclude", "colour", "--groups", "g.csv"))


def test_groups_of_one_have_a_coefficient_for_each_class(call, kinds):
    words = ("fit", kinds, "-t", "outcome", "--gauge", "group", "--exclude", "colour", "--fraction", "0.5")
    assert "Every group is a single feature" in said(call(*words))
    assert "Every group is a single feature" not in said(call(*words, "--loss", "multinomial"))


def test_one_is_not_plural(call, tmp_path):
    (tmp_path / "one.csv").write_text("a,y\n" + "".join(f"{(7 * k) % 11},{k * k % 13}.5\n" for k in range(30)))
    text = said(call("fit", "one.csv", "-t", "y", "--fraction", "0.5"))
    assert "30 rows, 1 feature;" in text
    assert "Of 1 coefficient:" in text
    assert "30 rows, 1 feature;" in said(call("path", "one.csv", "-t", "y", "--count", "3"))


def test_the_end_of_the_grid_is_told_in_options_of_the_command(call, tmp_path):
    wave = np.sin(np.arange(60.0))
    (tmp_path / "line.csv").write_text("a,y\n" + "".join(f"{v},{3 * v}\n" for v in wave))
    text = said(call("fit", "line.csv", "-t", "y", "--cv", "3", "--select", "min"))
    assert "try --fraction 0.0005, or a weaker --strength" in text
    assert "smaller ratio" not in text


def test_columns_may_be_given_with_commas(call, data, tmp_path):
    text = said(
        call("fit", data, "-t", "outcome", "--exclude", "x3, colour", "--unpenalized", "x0,x1", "--fraction", "0.5")
    )
    assert "60 rows, 3 features" in text
    facts = dict(Findings.load(tmp_path / "fitted" / "findings.json").data)
    assert facts["columns left out"] == "x3, colour"


def test_the_report_records_the_command(call, data, tmp_path):
    words = ["fit", data.name, "--target", "outcome", "--exclude", "x3", "--fraction", "0.5", "--no-standardize"]
    call(*words, "--out", "a b")
    command = dict(Findings.load(tmp_path / "a b" / "findings.json").settings)["command"]
    assert command == "atomsieve " + " ".join([*words, "--out", "'a b'"])
    assert command in (tmp_path / "a b" / "report.html").read_text().replace("&#x27;", "'")


class TestSeveralClasses:
    def test_all_at_once_are_proven_and_verified(self, call, kinds):
        text = said(call("fit", kinds, "-t", "outcome", "--loss", "multinomial", "--fraction", "0.3"))
        assert "othing is proven" not in text
        assert "Check it" in text
        assert call("verify", "fitted", kinds).exit_code == 0

    def test_verify_does_not_blame_the_data(self, call, kinds, tmp_path):
        call("fit", kinds, "-t", "outcome", "--loss", "multinomial", "--fraction", "0.3", "-q")
        file = tmp_path / "fitted" / "certificate.json"
        found = Certificate.load(file)
        fields = {"valid": False, "reason": "the weather is bad", "zero": found.zero & False}
        fields |= {name: np.full_like(getattr(found, name), -np.inf) for name in ("lower", "free_lower")}
        fields |= {name: np.full_like(getattr(found, name), np.inf) for name in ("upper", "free_upper")}
        silent = replace(found, nonzero=found.zero & False, primal=np.inf, dual=-np.inf, gap=np.inf, **fields)
        silent.save(file)
        answer = call("verify", "fitted", kinds)
        assert answer.exit_code == 1
        assert "the certificate claims nothing, because the weather is bad." in answer.stderr
        assert "data of the fit" not in answer.stderr

    def test_verify_names_the_class_of_each_certificate(self, call, kinds):
        call("fit", kinds, "-t", "outcome", "--fraction", "0.3", "-q")
        text = said(call("verify", "fitted", kinds))
        assert [f"class {name} against the rest" in text for name in "abc"] == [True] * 3

    def test_what_is_undecided_is_explained_once(self, call, data):
        text = said(call("fit", data, "-t", "outcome", "--gauge", "l1", "--fraction", "0.001", "--no-standardize"))
        assert text.count("linearly dependent") <= 1
        notes = json.loads(call("fit", data, "-t", "outcome", "--fraction", "0.001", "--json").stdout)["notes"]
        assert sum("linearly dependent" in note for note in notes) == text.count("linearly dependent")


def test_a_time_limit_ends_the_proofs_of_the_report_too(call, data, tmp_path):
    call("fit", data, "-t", "outcome", "-o", "long", "-q")
    call("fit", data, "-t", "outcome", "-o", "short", "-q", "--time-limit", "0.000001")
    long, short = (Findings.load(tmp_path / name / "findings.json") for name in ("long", "short"))
    assert len(long.path.supports) > 1
    assert not short.path.supports
    assert (tmp_path / "short" / "report.html").exists()


def test_a_path_that_is_cut_short_says_so(call, kinds):
    words = ("path", kinds, "-t", "outcome", "--count", "20")
    assert "The time limit ended the path after" in said(call(*words, "--time-limit", "0.000001"))
    assert "The time limit" not in said(call(*words))


def test_classes_that_hold_numbers_are_pointed_out(call, tmp_path):
    (tmp_path / "data.csv").write_text(table(outcome=[f"{k % 3} mg" for k in range(60)]))
    text = said(call("fit", "data.csv", "-t", "outcome", "--fraction", "0.5"))
    assert "The target holds text, such as '0 mg'" in text
    assert "Write plain numbers: '0' here." in text


def test_what_estimators_say_is_said_in_options(call, data):
    answer = call("fit", data, "-t", "outcome", "--penalty", "ball", "--fraction", "2")
    assert answer.exit_code == 2
    assert "Choose a smaller fraction, or --penalty linear." in answer.stderr
