"""One version: the package, its metadata, the changelog, the list of breaking changes and the citation agree."""

import re
import tomllib
from pathlib import Path

import pytest

import atomsieve

ROOT = Path(__file__).parents[1]


def headings(name):
    """Return the versions of a file, the newest first, each with its date or `unreleased`."""
    return re.findall(r"^## (\S+) \((\d{4}-\d\d-\d\d|unreleased)\)$", (ROOT / name).read_text(), flags=re.MULTILINE)


def cited(key):
    return re.findall(rf"^ *{key}: (\S+)$", (ROOT / "CITATION.cff").read_text(), flags=re.MULTILINE)


@pytest.mark.parametrize("name", ["CHANGELOG.md", "BREAKING.md"])
def test_the_newest_section_is_of_this_version(name):
    version, date = headings(name)[0]
    assert atomsieve.__version__ == (f"{version}.dev0" if date == "unreleased" else version)


def test_the_citation_is_of_the_newest_release():
    version, date = next(section for section in headings("CHANGELOG.md") if section[1] != "unreleased")
    assert set(cited("version")) == {version}
    assert cited("date-released") == [date]
    assert cited("year")[0] == date[:4]


def test_metadata_and_documentation_take_the_version_from_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in project["project"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "atomsieve.__version__"}
    assert "version = release = atomsieve.__version__\n" in (ROOT / "docs" / "conf.py").read_text()
