"""From a data file to a verified certificate, by the command line."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
from inspect import signature
from types import SimpleNamespace

import numpy as np
import pytest
from patients import table
from sklearn.datasets import dump_svmlight_file
from sklearn.linear_model import Lasso

import atomsieve
from atomsieve import GaugeRegressor, GaugeRegressorCV, load_model
from atomsieve.cli import fit as fit_module
from atomsieve.cli import result as result_module
from atomsieve.cli.choices import GAUGES, LOSSES, PENALTIES, RULES
from atomsieve.cli.live import Watch
from atomsieve.run.progress import watched_by

FILES = {"model.json", "certificate.json", "coefficients.csv", "data.json"}
REPORT = {"findings.json", "report.html"}


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def fitted(call, *words):
    answer = call("fit", *words, "--json")
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.stdout)


def test_a_fit_with_all_defaults(call, data, tmp_path):
    answer = call("fit", data, "--target", "outcome")
    assert answer.exit_code == 0, answer.output
    assert "squared loss, chosen by the target" in answer.stdout
    assert "5-fold cross-validation, the strongest penalty within one standard error" in answer.stdout
    assert "Check it: atomsieve verify fitted" in answer.stdout
    assert "Held-out loss: half the mean squared error." in answer.stdout
    assert "training data  cross-validation" in answer.stdout
    assert {file.name for file in (tmp_path / "fitted").iterdir()} - REPORT == FILES
    rows = rows_of(tmp_path / "fitted" / "coefficients.csv")
    verdicts = {row["feature"]: row["verdict"] for row in rows}
    assert verdicts["x0"] == verdicts["x1"] == "non-zero"
    for row in rows:
        assert float(row["lower"]) <= float(row["upper"])
    check = call("verify", "fitted", data)
    assert check.exit_code == 0, check.output
    assert "every claim follows from the data" in check.stdout


def test_the_coefficients_are_those_of_the_lasso(call, data, tmp_path):
    content = fitted(call, data, "-t", "outcome", "--strength", "0.1", "--no-standardize", "--exclude", "colour")
    raw = np.genfromtxt(data, delimiter=",", skip_header=1, usecols=(0, 1, 2, 3, 5))
    peer = Lasso(alpha=0.1, tol=1e-12).fit(raw[:, :4], raw[:, 4])
    bounds = {row["feature"]: (row["lower"], row["upper"]) for row in content["coefficients"]}
    for j, value in enumerate(peer.coef_):
        low, high = bounds.get(f"x{j}", (0.0, 0.0))
        assert low - 1e-9 <= value <= high + 1e-9
    assert content["strength"] == 0.1
    assert content["target"] == "outcome"


def test_the_same_command_gives_the_same_files(call, data, tmp_path):
    for folder in ("one", "two"):
        call("fit", data, "-t", "outcome", "--out", folder)
    for name in FILES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize(
    ("words", "features"),
    [
        (("--features", "1"), 1),
        (("--fraction", "0.999"), 1),
        (("--strength", "1000"), 0),
        (("--gauge", "nonnegative", "--fraction", "0.5"), None),
        (("--gauge", "group", "--fraction", "0.3"), None),
        (("--penalty", "ball", "--strength", "1"), None),
        (("--penalty", "square", "--fraction", "0.3"), None),
        (("--penalty", "power", "--exponent", "3", "--fraction", "0.3"), None),
        (("--penalty", "log-barrier", "--fraction", "0.3"), None),
        (("--loss", "huber", "--delta", "2", "--fraction", "0.2"), None),
        (("--unpenalized", "colour", "--fraction", "0.3"), None),
        (("--cv", "3", "--select", "min", "--seed", "5"), None),
    ],
)
def test_models_of_all_kinds_are_verified(call, data, words, features):
    content = fitted(call, data, "-t", "outcome", *words)
    assert content["proven"]
    if features is not None:
        assert content["counts"].get("non-zero", 0) == features
    if "nonnegative" in words:
        assert all(row["coefficient"] >= 0 for row in content["coefficients"])
    assert call("verify", "fitted", data).exit_code == 0


@pytest.mark.skipif("ridge" not in signature(GaugeRegressor).parameters, reason="there is no ridge in this version")
def test_a_ridge_shares_weight_between_twins(call, data):
    plain, shrunk = (fitted(call, data, "-t", "outcome", "--fraction", "0.3", "--ridge", ridge) for ridge in ("0", "2"))
    first = [next(r["coefficient"] for r in c["coefficients"] if r["feature"] == "x0") for c in (plain, shrunk)]
    assert 0 < first[1] < first[0]
    assert call("verify", "fitted", data).exit_code == 0


def test_two_classes(call, tmp_path):
    rng = np.random.default_rng(1)
    (tmp_path / "data.csv").write_text(table(outcome=np.where(rng.standard_normal(60) > 0, "sick", "well")))
    answer = call("fit", "data.csv", "-t", "outcome", "--fraction", "0.3")
    assert answer.exit_code == 0
    assert "classes sick, well" in answer.stdout
    assert "Positive coefficients speak for well, negative ones for sick." in answer.stdout
    assert call("verify", "fitted/certificate.json", "data.csv").exit_code == 0
    lines = call("predict", "fitted", "data.csv").stdout.splitlines()
    assert lines[0] == "prediction,probability of sick,probability of well"
    assert {line.split(",")[0] for line in lines[1:]} <= {"sick", "well"}


def test_three_classes_have_three_certificates(call, tmp_path):
    rng = np.random.default_rng(2)
    (tmp_path / "data.csv").write_text(table(outcome=rng.choice(["a", "b", "c"], 60)))
    content = fitted(call, "data.csv", "-t", "outcome", "--fraction", "0.3")
    assert content["loss"] == "logistic"
    assert len(list((tmp_path / "fitted").glob("certificate-*.json"))) == 3
    assert rows_of(tmp_path / "fitted" / "coefficients.csv")[0].keys() >= {"class", "feature"}
    check = call("verify", "fitted", "data.csv", "--json")
    assert check.exit_code == 0, check.output
    assert len(json.loads(check.stdout)["certificates"]) == 3


def test_nothing_proven_is_exit_status_one(call, tmp_path):
    rng = np.random.default_rng(2)
    (tmp_path / "data.csv").write_text(table(outcome=rng.choice(["a", "b", "c"], 60)))
    answer = call("fit", "data.csv", "-t", "outcome", "--loss", "multinomial", "--fraction", "0.3", "--json")
    content = json.loads(answer.stdout)
    assert answer.exit_code == (0 if content["proven"] else 1)
    assert content["proven"] or any("othing is proven" in note for note in content["notes"])


def test_counts_with_exposure_and_weights(call, tmp_path):
    rng = np.random.default_rng(3)
    exposure = rng.uniform(1, 5, 60)
    (tmp_path / "data.csv").write_text(
        table(outcome=rng.poisson(exposure), logexp=np.log(exposure), w=rng.integers(1, 4, 60))
    )
    words = (
        "data.csv",
        "-t",
        "outcome",
        "--loss",
        "poisson",
        "--offset",
        "logexp",
        "--weights",
        "w",
        "--fraction",
        "0.5",
    )
    content = fitted(call, *words)
    assert not {"logexp", "w"} & {row["feature"] for row in rows_of(tmp_path / "fitted" / "coefficients.csv")}
    assert content["proven"]
    assert call("verify", "fitted", "data.csv").exit_code == 0
    assert len(call("predict", "fitted", "data.csv").stdout.splitlines()) == 61


def test_groups_from_a_file(call, data, tmp_path):
    for name, text in (("g.csv", "column,group\nx0,first\nx1,first\n"), ("g.json", '{"first": ["x0", "x1"]}')):
        (tmp_path / name).write_text(text)
        fitted(
            call, data, "-t", "outcome", "--gauge", "group", "--groups", name, "--fraction", "0.3", "-o", name + ".d"
        )
        held = json.loads((tmp_path / (name + ".d") / "certificate.json").read_text())
        assert "first" in held["names"]["blocks"]
        assert "colour" in held["names"]["blocks"]


def test_files_of_an_earlier_fit_do_not_stay(call, data, tmp_path):
    fitted(call, data, "-t", "colour", "--fraction", "0.5")
    assert (tmp_path / "fitted" / "certificate-3.json").exists()
    (tmp_path / "fitted" / "mine.txt").write_text("kept")
    fitted(call, data, "-t", "outcome", "--fraction", "0.5")
    assert {file.name for file in (tmp_path / "fitted").iterdir()} - REPORT == FILES | {"mine.txt"}
    assert call("verify", "fitted", data).exit_code == 0


def test_a_time_limit_is_kept_and_told(call, data):
    content = fitted(call, data, "-t", "outcome", "--time-limit", "0.000001")
    assert any("time limit" in note and "raise --time-limit." in note for note in content["notes"])
    assert "time_limit or tol" not in call("fit", data, "-t", "outcome", "--time-limit", "0.000001").stdout
    assert call("verify", "fitted", data).exit_code == 0


def test_quiet_says_nothing(call, data):
    answer = call("fit", data, "-t", "outcome", "--fraction", "0.5", "--quiet")
    assert (answer.exit_code, answer.output) == (0, "")


def test_svmlight_from_end_to_end(call, tmp_path):
    rng = np.random.default_rng(4)
    X = np.where(rng.random((50, 8)) < 0.4, rng.standard_normal((50, 8)), 0.0)
    dump_svmlight_file(X, np.sign(X[:, 0] + 0.1), str(tmp_path / "d.svm"), zero_based=False)
    assert fitted(call, "d.svm", "--fraction", "0.3")["classes"] == [-1, 1]
    assert call("verify", "fitted", "d.svm").exit_code == 0
    assert call("predict", "fitted", "d.svm").exit_code == 0


def test_predictions_are_those_of_the_model_file(call, data, tmp_path):
    fitted(call, data, "-t", "outcome", "--fraction", "0.3")
    answer = call("predict", "fitted", data, "--out", "p.csv")
    assert answer.exit_code == 0
    assert "60 predictions written to p.csv" in answer.stderr
    model, rows = load_model(tmp_path / "fitted" / "model.json"), rows_of(data)
    columns = {
        name: [float(r["colour"] == name[7:]) if "=" in name else float(r[name]) for r in rows] for name in model.names
    }
    u = model.intercept + sum(c * np.array(columns[name]) for c, name in zip(model.coef[0], model.names, strict=True))
    np.testing.assert_allclose([float(r["prediction"]) for r in rows_of(tmp_path / "p.csv")], u, rtol=1e-12)


def test_a_path_is_written(call, data, tmp_path):
    answer = call("path", data, "-t", "outcome", "--count", "20")
    assert answer.exit_code == 0, answer.output
    assert "in the model from here on" in answer.stdout
    rows = rows_of(tmp_path / "path.csv")
    assert len(rows) == 20
    assert rows[0]["features"] == "0"
    assert [float(r["explained"]) for r in rows] == sorted(float(r["explained"]) for r in rows)
    steps = json.loads(call("path", data, "-t", "outcome", "--count", "5", "--json").stdout)["paths"][0]["steps"]
    assert len(steps) == 5


def test_a_path_within_limits_is_that_of_fits_within_limits(call, data, tmp_path):
    words = ("-t", "outcome", "--lower", "0", "--upper", "9", "--upper", "x0=0.01", "--unpenalized", "x1")
    answer = call("path", data, *words, "--count", "6")
    assert answer.exit_code == 0, answer.output
    rows = rows_of(tmp_path / "path.csv")
    names = list(rows[0])[4:]
    assert {"x0", "x1"} <= set(names)
    assert max(float(row["x0"]) for row in rows) == 0.01
    assert min(float(row[name]) for row in rows for name in names if name != "x1") == 0.0
    assert min(float(row["x1"]) for row in rows) < 0  # no limit of what has no price
    for row in (rows[2], rows[-1]):
        content = fitted(call, data, *words, "--strength", row["strength"])
        told = {r["feature"]: r["coefficient"] for r in content["coefficients"]}
        assert float(row["intercept"]) == pytest.approx(content["intercept"][0], abs=1e-3)
        np.testing.assert_allclose(
            [float(row[name]) for name in names], [told.get(name, 0.0) for name in names], atol=1e-3
        )
    assert [float(row["explained"]) for row in rows] == sorted(float(row["explained"]) for row in rows)


def test_the_demo_goes_the_whole_way(call, tmp_path):
    answer = call("demo", "--out", "d")
    assert answer.exit_code == 0, answer.output
    assert "worst radius" in answer.stdout
    assert "every claim follows from the data" in answer.stdout
    assert (tmp_path / "d" / "tumours.csv").exists()


class TestReport:
    @pytest.fixture
    def room(self, monkeypatch):
        """Stand in for the report, by its contract."""
        told = {}

        class Findings:
            @classmethod
            def of(cls, model, *, target, data, settings):
                told.update(model=model, target=target, data=data, settings=settings)
                return cls()

            def save(self, path):
                path.write_text("{}")

            @classmethod
            def load(cls, path):
                assert path.name == "findings.json"
                return cls()

        room = SimpleNamespace(
            Findings=Findings, write_report=lambda findings, path: path.write_text(type(findings).__name__)
        )
        real = result_module.import_module
        monkeypatch.setattr(
            result_module, "import_module", lambda name: room if name == "atomsieve.report" else real(name)
        )
        monkeypatch.setattr("atomsieve.cli.report.import_module", lambda _: room)
        return told

    def test_fit_writes_it_and_report_makes_it_again(self, call, data, tmp_path, room):
        assert set(fitted(call, data, "-t", "outcome", "--fraction", "0.3")["files"]) >= {"fitted/report.html"}
        assert room["target"] == "outcome"
        assert room["data"]["rows"] == 60
        assert all(isinstance(value, str) for value in room["settings"].values())
        (tmp_path / "fitted" / "report.html").unlink()
        assert call("report", "fitted").exit_code == 0
        assert (tmp_path / "fitted" / "report.html").exists()

    def test_without_what_it_needs_there_is_a_sentence(self, call, data, monkeypatch):
        def missing(name):
            raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")

        monkeypatch.setattr(result_module, "import_module", missing)
        answer = call("fit", data, "-t", "outcome", "--fraction", "0.3")
        assert answer.exit_code == 0
        assert "There is no report.html: it needs matplotlib: pip install matplotlib (or" in answer.stdout


class TestInterruption:
    def test_nothing_is_kept(self, call, data, tmp_path, monkeypatch):
        def pressed(*_, **__):
            os.kill(os.getpid(), signal.SIGINT)

        monkeypatch.setattr(fit_module, "certified", pressed)
        answer = call("fit", data, "-t", "outcome", "--out", "deep/er")
        assert answer.exit_code == 130
        assert "Interrupted. Nothing was written." in answer.stderr
        assert not (tmp_path / "deep").exists()

    def test_a_real_process(self, tmp_path):
        rng = np.random.default_rng(0)
        np.savez(tmp_path / "d.npz", X=rng.standard_normal((200, 2000)), y=rng.standard_normal(200))
        words = [sys.executable, "-m", "atomsieve", "fit", "d.npz", "--cv", "50", "--out", "o"]
        process = subprocess.Popen(  # noqa: S603 -- this command
            words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert "200 rows" in process.stdout.readline()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
        assert process.returncode == 130
        assert said == "Interrupted. Nothing was written.\n"
        assert not (tmp_path / "o").exists()


class TestStart:
    def check(self, code):
        words = [sys.executable, "-c", code]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout  # noqa: S603 -- this package

    def test_help_has_all_words_that_options_take(self, call):
        text = call("fit", "--help").stdout
        for word in (*LOSSES, *GAUGES, *PENALTIES, *RULES):
            assert re.search(rf"\b{word}\b", text), word

    def test_help_imports_nothing_heavy(self):
        code = (
            "import sys; sys.argv = ['atomsieve', '--help']\n"
            "from atomsieve.__main__ import main\n"
            "try: main()\n"
            "except SystemExit: pass\n"
            "print({'numpy', 'scipy', 'sklearn', 'pandas', 'matplotlib'} & set(sys.modules))"
        )
        assert self.check(code).endswith("set()\n")

    def test_names_are_imported_when_they_are_asked_for(self):
        assert self.check("import sys, atomsieve; print('numpy' in sys.modules)") == "False\n"
        for name in atomsieve.__all__:
            found = getattr(atomsieve, name)
            assert found.__module__.startswith("atomsieve.") or not callable(found)

    def test_predictions_do_without_scikit_learn(self, call, data, tmp_path):
        fitted(call, data, "-t", "outcome", "--fraction", "0.3")
        code = (
            f"import sys; sys.argv = ['atomsieve', 'predict', {str(tmp_path / 'fitted')!r}, {str(data)!r}]\n"
            "from atomsieve.__main__ import main\n"
            "try: main()\n"
            "except SystemExit: pass\n"
            "print({'scipy', 'sklearn', 'pandas', 'matplotlib'} & set(sys.modules))"
        )
        assert self.check(code).endswith("set()\n")


def test_a_watcher_sees_gaps_zeros_and_the_time_left():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 200))
    shown = []
    watch = Watch(lambda text, done: shown.append((text, done)), 6, 60.0)
    with pytest.MonkeyPatch.context() as patch, watched_by(watch):
        patch.setattr("atomsieve.cli.live.INTERVAL", 0.0)
        GaugeRegressorCV(cv=5).fit(X, X[:, 0] + 0.1 * rng.standard_normal(80))
    texts, parts = zip(*shown, strict=True)
    assert all("gap" in text and "proven zero" in text and "undecided" in text and "left" in text for text in texts)
    known = [part for part in parts if part is not None]
    assert 0 <= min(known) < 0.5 < max(known) <= 1


class TestOtherText:
    """A model reads other files of the same table, however they are written."""

    @pytest.fixture
    def semicolons(self, data, tmp_path):
        path = tmp_path / "semicolons.csv"
        path.write_text(data.read_text().replace(",", ";"))
        return path

    def test_another_separator(self, call, data, semicolons, tmp_path):
        fitted(call, data, "-t", "outcome", "--fraction", "0.3")
        assert call("verify", tmp_path / "fitted", semicolons).exit_code == 0
        answers = [call("predict", tmp_path / "fitted", path).stdout for path in (data, semicolons)]
        assert answers[0] == answers[1] != ""


def test_a_ridge_is_cross_validated(call, data, tmp_path):
    fitted(call, data, "-t", "outcome", "--ridge", "0.1", "--cv", "3")
    assert call("verify", tmp_path / "fitted", data).exit_code == 0


def test_whole_numbers_may_be_classes_or_counts(call, tmp_path):
    path = tmp_path / "kinds.csv"
    rows = [f"{k % 3},{k % 7},{(k * k) % 11}" for k in range(40)]
    path.write_text("\n".join(["kind,a,b", *rows]))
    said = call("fit", path, "-t", "kind", "--fraction", "0.5", "--out", tmp_path / "kinds").stdout
    assert "if they are classes, take --loss logistic or, if they are counts, --loss poisson" in " ".join(said.split())


@pytest.mark.parametrize("ridge", ["0", "0.5"])
def test_limits_hold_are_proven_and_checked(call, data, tmp_path, ridge):
    words = (
        "-t",
        "outcome",
        "--fraction",
        "0.1",
        "--ridge",
        ridge,
        "--lower",
        "0",
        "--upper",
        "9",
        "--upper",
        "x0=0.01",
    )
    content = fitted(call, data, *words, "--unpenalized", "x1")
    rows = {row["feature"]: row for row in content["coefficients"]}
    assert rows["x0"]["coefficient"] == 0.01
    assert rows["x0"]["verdict"] == "at its upper limit"
    assert all(row["coefficient"] >= 0 for name, row in rows.items() if name != "x1")
    assert call("verify", tmp_path / "fitted", data).exit_code == 0
