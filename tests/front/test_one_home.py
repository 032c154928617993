"""Ideas that many rooms speak of have one home: verdicts, rules of choice, names in messages."""

import re
from pathlib import Path

import numpy as np
import pytest

import atomsieve
from atomsieve.display.coefficients import verdict_words
from atomsieve.intake.names import position

SOURCES = [
    file for file in Path(atomsieve.__file__).parent.rglob("*.py") if not {"standalone", "paper"} & set(file.parts)
]


@pytest.mark.parametrize(
    ("pattern", "home"),
    [
        (r"np\.select\(", "display/coefficients.py"),
        (r"get_close_matches\(", "intake/names.py"),
        (r'f"x\{j\}" for j in range\(count\)', "intake/names.py"),
        (r'"the strongest penalty within one standard error', "display/reading.py"),
    ],
)
def test_each_has_one_home(pattern, home):
    found = [file.as_posix() for file in SOURCES if re.search(pattern, file.read_text(encoding="utf-8"))]
    assert len(found) == 1
    assert found[0].endswith(home)


def test_words_of_verdicts():
    zero, nonzero = np.array([True, False, False, False, False]), np.array([False, True, True, False, False])
    lower, upper = np.array([0.0, 1.0, -1.0, -1.0, 2.0]), np.array([0.0, 2.0, 1.0, 1.0, 3.0])
    free = np.array([False, False, False, False, True])
    words = ["zero", "non-zero", "in a non-zero group", "undecided", "unpenalised"]
    assert verdict_words(zero, nonzero, lower, upper, free).tolist() == words
    assert verdict_words(zero, nonzero).tolist() == ["zero", "non-zero", "non-zero", "undecided", "undecided"]


def test_a_misspelt_feature_is_answered_with_what_there_is():
    with pytest.raises(ValueError, match="Did you mean 'Age'"):
        position("age", 2, {"Age": 0, "bmi": 1}, "unpenalized")
    with pytest.raises(ValueError, match=r"There are: Age, bmi\."):
        position("zzz", 2, {"Age": 0, "bmi": 1}, "unpenalized")
