"""The command: what it runs, what it says, and how it goes on after Ctrl-C."""

import os
import signal
from dataclasses import dataclass, field

import pandas as pd
import pytest
from typer.testing import CliRunner

import atomsieve
from atomsieve.cli.app import app
from atomsieve.paper import NAMES, runner
from atomsieve.paper.experiment import Finding, Section


@dataclass
class Toy:
    """Three steps, and a finger on Ctrl-C at one of them."""

    name: str = "fig1"
    title: str = "A toy"
    interrupted_at: int = -1
    measured: list = field(default_factory=list)

    def settings(self, quick):
        return {"factor": 1 if quick else 10}

    def run(self, settings, cache, progress):
        tables = {}
        for i in range(3):
            progress(i, 3, f"step {i}")
            tables[f"step{i}"] = cache.step(f"toy-{i}", settings, lambda i=i: self.measure(i, settings))
        return tables

    def measure(self, i, settings):
        if i == self.interrupted_at:
            os.kill(os.getpid(), signal.SIGINT)
        self.measured.append(i)
        return pd.DataFrame({"value": [i * settings["factor"]]})

    def draw(self, *_):
        return []

    def section(self, tables):
        return Section(self.title, f"The sum is {sum(table.value[0] for table in tables.values())}.")

    def verdicts(self, *_):
        return [Finding("Sums add up.", "here", "yes", True)]


@pytest.fixture
def toy(monkeypatch):
    toy = Toy()
    monkeypatch.setattr(runner, "load", lambda name: Toy(name="other") if name != "fig1" else toy)
    return toy


def invoke(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_version():
    assert invoke("--version").output == f"atomsieve {atomsieve.__version__}\n"


def test_help_names_every_experiment():
    text = " ".join(CliRunner().invoke(app, ["reproduce", "--help"], env={"COLUMNS": "200"}).output.split())
    assert f"{'|'.join(NAMES)}|all" in text
    assert "After Ctrl-C the same command goes on from there." in text


def test_unknown_experiments_are_refused(tmp_path):
    result = invoke("reproduce", "fig9", "--out", tmp_path)
    assert result.exit_code == 2
    assert "no experiment 'fig9'" in result.output


def test_a_run_writes_the_report(toy, tmp_path):
    result = invoke("reproduce", "fig1", "--quick", "--out", tmp_path / "new" / "folder")
    assert result.exit_code == 0, result.output
    assert "Of 1 claims, some tested on several data: 1 hold" in result.output
    text = (tmp_path / "new" / "folder" / "report.md").read_text()
    assert "The sum is 3." in text
    assert "A quick run" in text
    assert "Seeds are fixed" in text


def test_settings_of_the_quick_run_do_not_serve_the_full_one(toy, tmp_path):
    invoke("reproduce", "fig1", "--quick", "--out", tmp_path)
    invoke("reproduce", "fig1", "--out", tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "The sum is 30." in text
    assert "A quick run" not in text
    assert toy.measured == [0, 1, 2, 0, 1, 2]


def test_an_interrupted_run_goes_on_where_it_stopped(toy, tmp_path):
    toy.interrupted_at = 1
    result = invoke("reproduce", "fig1", "--out", tmp_path)
    assert result.exit_code == 130
    assert "the same command goes on from there" in " ".join(result.output.split())
    assert not (tmp_path / "report.md").exists()
    assert toy.measured == [0]
    toy.interrupted_at = -1
    assert invoke("reproduce", "fig1", "--out", tmp_path).exit_code == 0
    assert toy.measured == [0, 1, 2]
    assert "The sum is 30." in (tmp_path / "report.md").read_text()


@pytest.mark.parametrize(("words", "expected"), [([], NAMES), (["all"], NAMES), (["fig3", "fig1"], ("fig1", "fig3"))])
def test_experiments_run_in_the_order_of_the_report(monkeypatch, tmp_path, words, expected):
    asked = []
    monkeypatch.setattr(runner, "load", lambda name: asked.append(name) or Toy(name=name))
    assert invoke("reproduce", *words, "--out", tmp_path).exit_code == 0
    assert tuple(asked) == tuple(expected)


def test_a_real_experiment_from_end_to_end(tmp_path):
    assert invoke("reproduce", "errata", "--quick", "--out", tmp_path).exit_code == 0
    page = (tmp_path / "report.html").read_text()
    assert "If the subproblem returns s = 0 then optimality is achieved." in page
    assert "the gap is 4 and the solution 0.5" in page
