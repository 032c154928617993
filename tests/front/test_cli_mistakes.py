"""Every mistake on the command line: an exit status, one clear sentence, no traceback, nothing written."""

import errno
import json
import os
import shutil

import numpy as np
import pytest
from patients import table

from atomsieve.certificate.file import seal
from atomsieve.intake import files as files_module


def refused(answer, status, *fragments):
    """Check how a command refuses: status, one sentence on standard error, nothing else."""
    assert answer.exit_code == status, answer.output
    assert answer.stdout == ""
    said = answer.stderr.strip()
    assert said.startswith("Error: ")
    assert "\n" not in said
    assert "Traceback" not in said
    assert said.endswith((".", "?"))
    for fragment in fragments:
        assert fragment in said


def with_column(name, change):
    """Return the table with one of its columns changed."""
    lines = [line.split(",") for line in table().splitlines()]
    place = lines[0].index(name)
    for k, line in enumerate(lines[1:]):
        line[place] = change(k, line[place])
    return "\n".join(map(",".join, lines)) + "\n"


@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        (with_column("outcome", lambda *_: "7"), ("'outcome'", "is 7.0 in all 60 rows", "right column?")),
        (with_column("outcome", lambda *_: "sick"), ("is 'sick' in all 60 rows",)),
        (with_column("x1", lambda k, v: "oops" if k == 5 else v), ("'x1'", "'oops' in row 7", "--exclude x1")),
        (with_column("x1", lambda k, v: "" if k % 3 == 0 else v), ("missing values", "x1 (20)", "--exclude x1")),
        (with_column("x1", lambda k, v: "NaN" if k == 3 else v), ("missing values", "x1 (1)")),
        (with_column("x1", lambda k, v: "inf" if k == 3 else v), ("infinite numbers in column 'x1'",)),
        (with_column("colour", lambda k, _: f"2020-01-{k % 28 + 1:02}"), ("'colour'", "holds dates")),
        (with_column("colour", lambda k, _: f"name{k}"), ("60 different texts in 60 rows", "--exclude colour")),
        (
            with_column("outcome", lambda k, _: "rare" if k < 2 else "usual"),
            ("at least 5 rows of the class rare", "--cv 2"),
        ),
        (with_column("outcome", lambda k, _: "rare" if k < 1 else "usual"), ("--fraction 0.1",)),
        (
            with_column("outcome", lambda k, _: f"class{k}"),
            ("60 classes in 60 rows", "'class0' in row 2", "fewer classes first."),
        ),
        (with_column("outcome", lambda k, _: f"€ {k}"), ("text, '€ 0' in row 2", "Write plain numbers: '0' here.")),
        (
            with_column("outcome", lambda k, _: f'"1.{k:03},5"'),
            ("text, '1.000,5' in row 2", "Write plain numbers: '1000.5' here."),
        ),
        (
            with_column("outcome", lambda k, v: "€ 355" if k == 5 else v),
            ("holds numbers, but '€ 355' in row 7. Write plain numbers: '355' here.",),
        ),
        (
            with_column("x1", lambda k, _: f"{k} kg"),
            ("'0 kg' in row 2. Write plain numbers: '0' here. Or leave it out",),
        ),
        (
            with_column("outcome", lambda k, v: "" if k < 2 else v),
            ("outcome (2). Drop the rows without outcome.",),
        ),
        (table().replace("x1", "x0", 1), ("several columns of the same name: x0",)),
        ("", ("is empty",)),
        ("x0,outcome\n", ("a header and no rows",)),
        ("x0,outcome\n1,2\n3\n", ("Row 3", "1 fields")),
        ("outcome\n1\n2\n3\n4\n5\n", ("no column but outcome",)),
        ("x0,outcome\n1,2\n3,4\n5,7\n", ("at least 5 rows, and there are 3", "--cv 3")),
    ],
)
def test_what_is_wrong_with_the_data(call, tmp_path, text, fragments):
    (tmp_path / "data.csv").write_text(text)
    refused(call("fit", "data.csv", "--target", "outcome", "--out", "o"), 2, *fragments)
    assert os.listdir(tmp_path) == ["data.csv"]


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (("dat.csv", "-t", "outcome"), ("There is no file dat.csv", "Did you mean 'data.csv'?")),
        (("nowhere/data.csv", "-t", "outcome"), ("no folder nowhere",)),
        ((".", "-t", "outcome"), ("is a folder",)),
        (("data.csv",), ("Which column", "--target", "x0, x1")),
        (("data.csv", "-t", "outcom"), ("no column 'outcom' (--target)", "Did you mean 'outcome'?")),
        (("data.csv", "-t", "OUTCOME"), ("Did you mean 'outcome'?",)),
        (("data.csv", "-t", "outcome", "--exclude", "colur"), ("(--exclude)", "Did you mean 'colour'?")),
        (("data.csv", "-t", "outcome", "--offset", "x9"), ("(--offset)",)),
        (("data.csv", "-t", "outcome", "--offset", "outcome"), ("cannot be both --target and --offset",)),
        (("data.csv", "-t", "outcome", "--offset", "colour"), ("(offset)", "holds text")),
        (("data.csv", "-t", "outcome", "--weights", "x0"), ("(--weights) must hold weights",)),
        (("data.csv", "-t", "outcome", "--weights", "w"), ("(--weights)",)),
        (("data.csv", "-t", "outcome", "--unpenalized", "x9"), ("(--unpenalized)",)),
        (("data.csv", "-t", "outcome", "--categorical", "x9"), ("(--categorical)",)),
        (("data.csv", "-t", "colour", "--loss", "squared"), ("holds text", "needs numbers", "logistic")),
        (("data.csv", "-t", "outcome", "--loss", "logistic"), ("60 classes in 60 rows",)),
        (("data.csv", "-t", "outcome", "--loss", "poisson"), ("--loss poisson is for counts",)),
        (("data.csv", "-t", "outcome", "--loss", "logistc"), ("--loss 'logistc'", "Did you mean 'logistic'?")),
        (("data.csv", "-t", "outcome", "--gauge", "grup"), ("Did you mean 'group'?",)),
        (("data.csv", "-t", "outcome", "--penalty", "bal"), ("Did you mean 'ball'?",)),
        (("data.csv", "-t", "outcome", "--select", "2se"), ("--select",)),
        (("data.csv", "-t", "outcome", "--strength", "-1"), ("--strength must be a positive number",)),
        (("data.csv", "-t", "outcome", "--strength", "nan"), ("--strength must be a positive number",)),
        (("data.csv", "-t", "outcome", "--strength", "1", "--cv", "5"), ("--strength and --cv both set",)),
        (("data.csv", "-t", "outcome", "--features", "0"), ("--features must be at least 1",)),
        (("data.csv", "-t", "outcome", "--cv", "1"), ("--cv must be at least 2",)),
        (("data.csv", "-t", "outcome", "--features", "3", "--select", "min"), ("--select is for cross-validation",)),
        (("data.csv", "-t", "outcome", "--time-limit", "0"), ("--time-limit",)),
        (("data.csv", "-t", "outcome", "--seed", "-1"), ("--seed must be at least 0",)),
        (("data.csv", "-t", "outcome", "--exponent", "1", "--penalty", "power"), ("--exponent",)),
        (("data.csv", "-t", "outcome", "--ridge", "-1"), ("--ridge must be a number that is not negative",)),
        (("data.csv", "-t", "outcome", "--lower", "much"), ("--lower must be a number, or COLUMN=NUMBER, got 'much'",)),
        (("data.csv", "-t", "outcome", "--upper", "x0=nan"), ("--upper must be a number, or COLUMN=NUMBER",)),
        (("data.csv", "-t", "outcome", "--upper", "=1"), ("--upper must be a number, or COLUMN=NUMBER",)),
        (("data.csv", "-t", "outcome", "--lower", "colur=1"), ("(--lower)", "Did you mean 'colour'?")),
        (
            ("data.csv", "-t", "outcome", "--lower", "1", "--upper", "x0=0"),
            ("--lower is above --upper for 'x0': 1 and 0",),
        ),
        (
            ("data.csv", "-t", "outcome", "--upper", "x0=1", "--unpenalized", "x0"),
            ("'x0' has limits and is --unpenalized",),
        ),
        (("data.csv", "-t", "outcome", "--gauge", "group", "--upper", "1"), ("limits of single coefficients",)),
        (("data.csv", "-t", "outcome", "--groups", "g.csv"), ("--groups needs --gauge group",)),
        (
            ("data.csv", "-t", "outcome", "--gauge", "group", "--groups", "g.csv"),
            ("There is no file g.csv (--groups)",),
        ),
        (("data.csv", "-t", "outcome", "--gauge", "group", "--unpenalized", "x0"), ("--unpenalized needs --gauge l1",)),
        (("data.csv", "-t", "outcome", "--separator", "comm"), ("--separator must be one character",)),
        (("data.csv", "-t", "outcome", "--separator", "tab"), ("(--target)",)),
    ],
)
def test_what_is_wrong_with_the_command(call, data, tmp_path, words, fragments):
    refused(call("fit", *words, "--out", "o"), 2, *fragments)
    assert os.listdir(tmp_path) == ["data.csv"]


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (("--lower", "much"), ("--lower must be a number, or COLUMN=NUMBER, got 'much'",)),
        (("--upper", "x0=nan"), ("--upper must be a number, or COLUMN=NUMBER",)),
        (("--lower", "colur=1"), ("(--lower)", "Did you mean 'colour'?")),
        (("--lower", "1", "--upper", "x0=0"), ("--lower is above --upper for 'x0': 1 and 0",)),
        (("--upper", "x0=1", "--unpenalized", "x0"), ("'x0' has limits and is --unpenalized",)),
        (("--gauge", "group", "--upper", "1"), ("limits of single coefficients",)),
    ],
)
def test_what_is_wrong_with_the_limits_of_a_path(call, data, tmp_path, words, fragments):
    refused(call("path", "data.csv", "-t", "outcome", *words), 2, *fragments)
    assert os.listdir(tmp_path) == ["data.csv"]


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("x0,g\nx9,g\n", "names 'x9'"),
        ("x0\n", "a line has 1 fields"),
        ('{"g": ["x0"], "h": ["x0"]}', "'x0' is in two groups"),
        ("x0,g\nx1,g\nx0,h\n", "'x0' is in two groups"),
        ("x0,x1\nx2,x1\n", "a group 'x1', which is also a column that is in no group"),
        ("x0,colour\n", "a group 'colour', which is also a column"),
        ("{broken", "holds no groups"),
        ("", "holds no groups"),
    ],
)
def test_what_is_wrong_with_groups(call, data, tmp_path, text, fragment):
    (tmp_path / "g.csv").write_text(text)
    refused(call("fit", data, "-t", "outcome", "--gauge", "group", "--groups", "g.csv", "--out", "o"), 2, fragment)
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(("word", "hint"), [("fti", "fit"), ("verifi", "verify"), ("reprot", "report")])
def test_misspelled_commands(call, word, hint):
    answer = call(word)
    assert answer.exit_code == 2
    assert f"Did you mean '{hint}'" in answer.stderr


def test_misspelled_options(call, data):
    answer = call("fit", data, "--taget", "outcome")
    assert answer.exit_code == 2
    assert "--target" in answer.stderr


class TestOutput:
    def words(self, data, out):
        return "fit", data, "-t", "outcome", "--fraction", "0.3", "--out", out

    def test_a_file_in_the_way(self, call, data, tmp_path):
        (tmp_path / "o").write_text("mine")
        refused(call(*self.words(data, "o")), 3, "The folder o (--out) cannot be written", "Nothing was written")
        assert (tmp_path / "o").read_text() == "mine"

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_a_write_protected_folder(self, call, data, tmp_path):
        (tmp_path / "o").mkdir(mode=0o500)
        refused(call(*self.words(data, "o")), 3, "cannot be written: Permission denied")

    def test_a_folder_that_takes_no_files(self, call, data):
        refused(call(*self.words(data, "/proc/o")), 3, "The folder /proc/o (--out) cannot be written", "another folder")

    def test_a_full_disk_leaves_what_was_there(self, call, data, tmp_path, monkeypatch):
        assert call(*self.words(data, "o"), "-q").exit_code == 0
        before = {file.name: file.read_bytes() for file in (tmp_path / "o").iterdir()}

        def full(number):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patch:
            patch.setattr(files_module.os, "fsync", full)
            refused(call(*self.words(data, "o"), "-q"), 3, "No space left on device", "Nothing was written")
            refused(call(*self.words(data, "new/one"), "-q"), 3, "No space left on device")
        assert {file.name: file.read_bytes() for file in (tmp_path / "o").iterdir()} == before
        assert not (tmp_path / "new").exists()

    def test_predictions_to_a_full_disk(self, call, data):
        call(*self.words(data, "o"))
        refused(call("predict", "o", data, "--out", "/dev/full"), 3, "/dev/full (--out) cannot be written")
        refused(call("path", data, "-t", "outcome", "--count", "3", "--out", "/dev/full"), 3, "/dev/full (--out)")

    @pytest.mark.parametrize("words", [("predict", "o"), ("path", "-t", "outcome")])
    def test_a_file_in_no_folder_is_refused_before_the_work(self, call, data, words):
        call(*self.words(data, "o"))
        way = "there is no folder no/such place. Make it first: mkdir -p 'no/such place'."
        refused(call(*words, data, "--out", "no/such place/p.csv"), 3, way)


class TestCertificates:
    @pytest.fixture(autouse=True)
    def _fitted(self, call, data, tmp_path):
        assert call("fit", data, "-t", "outcome", "--fraction", "0.3", "--out", "o", "-q").exit_code == 0
        self.certificate = tmp_path / "o" / "certificate.json"

    def test_there_is_none(self, call, data, tmp_path):
        refused(call("verify", "p", data), 2, "There is no file p")
        (tmp_path / "empty").mkdir()
        refused(call("verify", "empty", data), 2, "holds no certificate.json")

    @pytest.mark.parametrize(
        ("change", "fragment"),
        [
            (lambda text: text[: len(text) // 2], "is no JSON"),
            (lambda _: "", "is no JSON"),
            (lambda _: "[1, 2]", "is not a certificate"),
            (lambda text: text.replace('"version": 4', '"version": 99'), "version 99"),
            (lambda text: text.replace('"valid": true', '"valid": false'), "seal does not fit"),
        ],
    )
    def test_corrupt_ones(self, call, data, change, fragment):
        self.certificate.write_text(change(self.certificate.read_text()))
        refused(call("verify", "o", data), 1, fragment)

    def test_other_files_are_none(self, call, data, tmp_path):
        way = "Name the folder that fit wrote, or certificate.json in it, and then the data."
        model = tmp_path / "o" / "model.json"
        refused(call("verify", model, data), 2, "is no certificate: its format is 'atomsieve model'.", way)
        refused(call("verify", data, tmp_path / "o"), 2, "is no certificate: it is no JSON.", way)

    def test_a_claim_that_was_changed_and_sealed_again(self, call, data):
        content = json.loads(self.certificate.read_text())
        content["claims"]["intervals"]["lower"] = content["claims"]["intervals"]["upper"]
        self.certificate.write_text(json.dumps(content | {"seal": seal(content)}))
        refused(call("verify", "o", data), 1, "NOT valid")

    def test_a_foreign_one(self, call, data, tmp_path):
        (tmp_path / "other.csv").write_text(table(seed=5))
        assert call("fit", "other.csv", "-t", "outcome", "--fraction", "0.3", "--out", "p", "-q").exit_code == 0
        shutil.copy(tmp_path / "p" / "certificate.json", self.certificate)
        refused(call("verify", "o", data), 1, "NOT valid")

    def test_wrong_data(self, call, data):
        text = data.read_text()
        number = text.splitlines()[1].split(",")[0]
        data.write_text(
            text.replace(number, repr(float(np.nextafter(float(number), 9))), 1)
        )  # the last bit of one number
        refused(call("verify", "o", data), 1, "NOT valid", "Are these the data of the fit?")
        data.write_text("\n".join(text.splitlines()[:-1]) + "\n")
        refused(call("verify", "o", data), 1, "NOT valid")
        data.write_text(text.replace("x1", "other", 1))
        refused(call("verify", "o", data), 2, "lacks x1, which the model was fitted to")

    def test_options_that_contradict_the_fit(self, call, data):
        refused(
            call("verify", "o", data, "--target", "x0"),
            2,
            "--target x0 is not what the model was fitted with",
            "'outcome'",
        )
        refused(call("verify", "o", data, "--offset", "x0"), 2, "says none")

    def test_a_record_that_was_changed(self, call, data, tmp_path):
        record = tmp_path / "o" / "data.json"
        content = json.loads(record.read_text())
        record.write_text(json.dumps(content | {"numbers": content["numbers"][::-1]}))
        refused(call("verify", "o", data), 1, "about other features")
        record.write_text("{}")
        refused(call("verify", "o", data), 2, "does not say how the data were read")

    def test_a_certificate_alone_is_read_by_its_names(self, call, data, tmp_path):
        (tmp_path / "o" / "data.json").unlink()
        assert call("verify", self.certificate, data, "--target", "outcome").exit_code == 0
        said = "Beside the features data.csv has outcome."
        refused(
            call("verify", self.certificate, data.name), 2, "Which column does the model explain?", "--target", said
        )


class TestModels:
    def test_what_is_no_model(self, call, data, tmp_path):
        refused(call("predict", "nothing.json", data), 2, "There is no file nothing.json")
        (tmp_path / "m.json").write_text("{}")
        refused(call("predict", "m.json", data), 2, "is not a model")

    def test_data_that_do_not_fit_the_model(self, call, data, tmp_path):
        assert call("fit", data, "-t", "outcome", "--features", "5", "--out", "o", "-q").exit_code == 0
        text = data.read_text()
        for change, fragment in (
            (text.replace("x0", "y0", 1), "lacks x0"),
            (text.replace("red", "pink"), "'pink', which the model has not seen"),
            (
                "\n".join(
                    line.replace(line.split(",")[0], "", 1) if k == 3 else line
                    for k, line in enumerate(text.splitlines())
                ),
                "x0 (1). Fill them in, or drop those rows.",
            ),
        ):
            (tmp_path / "new.csv").write_text(change)
            answer = call("predict", "o", "new.csv")
            refused(answer, 2, fragment)
            assert "--exclude" not in answer.stderr

    def test_reports_without_findings(self, call, tmp_path):
        refused(call("report", "nowhere"), 2, "There is no folder nowhere")
        (tmp_path / "o").mkdir()
        refused(call("report", "o"), 2, "no findings.json")


def test_a_target_that_is_left_out(call, data):
    answer = call("fit", data, "-t", "outcome", "--exclude", "outcome")
    assert answer.exit_code == 2
    assert "is left out, so it cannot be the --target" in " ".join(answer.stderr.split())


def test_a_certificate_alone_and_data_without_a_target(call, data, tmp_path):
    assert call("fit", data, "-t", "outcome", "--exclude", "colour", "--fraction", "0.5").exit_code == 0
    (tmp_path / "fitted" / "data.json").unlink()
    rows = [line.split(",") for line in data.read_text().splitlines()]
    (tmp_path / "X.csv").write_text("\n".join(",".join(row[:4]) for row in rows))
    refused(call("verify", "fitted", "X.csv"), 2, "Beside the features X.csv has no column: add that of the target.")
    refused(call("verify", "fitted", data), 2, "data.csv has outcome, colour.")
