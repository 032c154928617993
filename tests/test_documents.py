"""What the documents show works: every Python block of README, docs and CONTRIBUTING is run."""

import re
from pathlib import Path

import pytest

from atomsieve.testing import check_loss

ROOT = Path(__file__).parents[1]
HEADER = """
from dataclasses import dataclass
from array_api_compat import array_namespace
from atomsieve.losses.base import Loss, infinite_where_not
"""


def blocks(name):
    return "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), flags=re.DOTALL))


@pytest.mark.parametrize("name", ["README.md", "docs/start.md"])
def test_python_blocks_run(name, capsys):
    code = blocks(name)
    assert "solve(" in code
    exec(compile(code, name, "exec"), {})  # noqa: S102
    assert capsys.readouterr().out


def test_the_loss_of_the_contributing_guide_obeys_its_laws():
    namespace = {}
    exec(compile(HEADER + blocks("CONTRIBUTING.md"), "CONTRIBUTING.md", "exec"), namespace)  # noqa: S102
    check_loss(namespace["PseudoHuber"]())
