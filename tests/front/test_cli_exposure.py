"""Counts with an exposure: its logarithm is the offset of the fit, of the proof and of predictions."""

import csv
import json

import numpy as np
import pytest
from patients import table

RNG = np.random.default_rng(3)
EXPOSURE = RNG.uniform(1, 500, 60).round(2)
COUNTS = RNG.poisson(0.05 * EXPOSURE)
FIT = ("fit", "data.csv", "-t", "outcome", "--loss", "poisson", "--fraction", "0.5")


@pytest.fixture(autouse=True)
def _counts(tmp_path):
    (tmp_path / "data.csv").write_text(
        table(outcome=COUNTS, exposure=EXPOSURE, logarithm=np.log(EXPOSURE), zero=np.arange(60) % 20)
    )


def predicted(answer):
    assert answer.exit_code == 0, answer.output
    return np.array([float(row["prediction"]) for row in csv.DictReader(answer.stdout.splitlines())])


def test_it_is_the_offset_of_its_logarithm(call, tmp_path):
    rest = ("--exclude", "zero")
    call(*FIT, *rest, "--exclude", "logarithm", "--exposure", "exposure", "-o", "a", "-q")
    call(*FIT, *rest, "--exclude", "exposure", "--offset", "logarithm", "-o", "b", "-q")
    ours, theirs = (json.loads((tmp_path / name / "model.json").read_text()) for name in "ab")
    assert ours["coefficients"] == theirs["coefficients"]
    assert ours["offset"] == {"column": "exposure", "logarithm": True}
    assert theirs["offset"] == {"column": "logarithm", "logarithm": False}
    assert call("verify", "a", "data.csv").exit_code == 0
    answers = [predicted(call("predict", name, "data.csv")) for name in "ab"]
    np.testing.assert_allclose(answers[0], answers[1], rtol=1e-12)
    assert np.corrcoef(answers[0], EXPOSURE)[0, 1] > 0.9


@pytest.mark.parametrize("option", ["exposure", "offset"])
def test_the_model_alone_knows_of_it(call, tmp_path, option):
    column = {"exposure": "exposure", "offset": "logarithm"}[option]
    call(*FIT, "--exclude", "colour", f"--{option}", column, "-q")
    before = predicted(call("predict", "fitted", "data.csv"))
    (tmp_path / "fitted" / "data.json").unlink()
    np.testing.assert_array_equal(predicted(call("predict", "fitted/model.json", "data.csv")), before)
    words = ("verify", "fitted/certificate.json", "data.csv", "-t", "outcome")
    assert call(*words, f"--{option}", column).exit_code == 0
    assert call(*words).exit_code == 1


@pytest.mark.parametrize(
    ("words", "fragment"),
    [
        (("--exposure", "zero"), "The exposure 'zero' of data.csv is 0 in row 2."),
        (("--exposure", "x0"), "must be positive"),
        (("--exposure", "expo"), "no column 'expo' (--exposure)"),
        (("--exposure", "exposure", "--offset", "logarithm"), "give one of them"),
        (("--exposure", "exposure", "--loss", "squared"), "--exposure is for counts: add --loss poisson."),
    ],
)
def test_what_is_refused(call, words, fragment):
    answer = call(*FIT, *words)
    assert answer.exit_code == 2
    assert fragment in answer.stderr


def test_an_exposure_that_is_given_as_an_offset_is_pointed_out(call):
    shown = call(*FIT, "--offset", "exposure")
    assert "if it holds exposures, take --exposure exposure." in " ".join(shown.stdout.split())
    assert "np.log" not in shown.stdout + shown.stderr
    assert "--exposure" not in call(*FIT, "--offset", "logarithm").stdout
    assert "--exposure" not in call(*FIT, "--exposure", "exposure").stdout
