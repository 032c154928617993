"""What the documents show works: every Python block of README, docs and CONTRIBUTING is run."""

import re
from pathlib import Path

import pytest

from atomsieve import Linear
from atomsieve.testing import check_loss, check_penalty, check_rule

ROOT = Path(__file__).parents[1]


def blocks(name):
    return "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), flags=re.DOTALL))


@pytest.fixture(autouse=True)
def _somewhere_else(tmp_path, monkeypatch):
    """Examples write files."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "name", ["README.md", "docs/start.md", "docs/certificates.md", "docs/estimators.md", "docs/reproduce.md"]
)
def test_python_blocks_run(name, capsys):
    code = blocks(name)
    assert "solve(" in code or ".fit(" in code or ".run(" in code
    exec(compile(code, name, "exec"), {})  # noqa: S102
    assert capsys.readouterr().out


def test_the_pieces_of_the_contributing_guide_obey_their_laws():
    namespace = {}
    exec(compile(blocks("CONTRIBUTING.md"), "CONTRIBUTING.md", "exec"), namespace)  # noqa: S102
    check_loss(namespace["PseudoHuber"]())
    check_penalty(namespace["Exponential"](0.5))
    check_rule(namespace["SphereRule"], penalties=[Linear])


@pytest.mark.parametrize("path", sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").glob("*.md")), ids=lambda p: p.name)
def test_no_placeholder_is_left(path):
    assert not re.search(r"^[A-Z]{4,}_[A-Z_]+$|TODO|FIXME|XXX", path.read_text(), flags=re.MULTILINE)


def test_the_readme_shows_what_is_printed(capsys):
    code = blocks("README.md")
    shown = re.search(r"# (Result\(.*?) \.\.\. (.*)", code)
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102
    printed = capsys.readouterr().out
    assert "6 of 10 coefficients proven zero, 4 proven non-zero, 0 undecided" in printed
    assert "The certificate is valid" in printed
    assert all(part.strip(" ,") in printed for part in shown.groups())
