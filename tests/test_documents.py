"""What the documents show works: every snippet of README, docs and CONTRIBUTING is run, and prints what is shown."""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_diabetes

import atomsieve
from atomsieve import Linear
from atomsieve.gauges import Gauge
from atomsieve.testing import check_loss, check_penalty, check_rule

ROOT = Path(__file__).parents[1]
GENERATED = {"api", "gallery", "_build"}
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if not GENERATED & set(page.relative_to(ROOT).parts)),
]
FENCE = re.compile(r"^```(python|bash|text)\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)


def fences(page):
    """Return the language and the code of every fence that runs."""
    return FENCE.findall(page.read_text())


def with_python(pages):
    return [page for page in pages if any(language == "python" for language, _ in fences(page))]


def name(page):
    return str(page.relative_to(ROOT))


@pytest.fixture(autouse=True)
def _somewhere_else(tmp_path, monkeypatch):
    """Examples write files and draw; those of README begin with a reader's own table."""
    monkeypatch.chdir(tmp_path)
    load_diabetes(as_frame=True).frame.rename(columns={"target": "y"}).to_csv("data.csv", index=False)
    mpl.use("agg")
    yield
    plt.close("all")


def run_commands(code):
    """Run the lines of a shell snippet that call the program; installing is not for tests."""
    for line in code.splitlines():
        if line.startswith("atomsieve "):
            command = [sys.executable, "-m", "atomsieve", *shlex.split(line, comments=True)[1:]]
            done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 -- our own documents
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


def check_printed(shown, printed):
    """Check that a program prints what is shown; how far numbers are proven depends on the last digits of a run."""
    found = [[float(value) for value in re.findall(r"± ([\d.e-]+)", text)] for text in (shown, printed)]
    assert len(found[0]) == len(found[1]) or "..." in shown
    assert all(value / 4 <= other <= value * 4 for value, other in zip(*found, strict=False))
    checker, how = doctest.OutputChecker(), doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    masked = [re.sub(r"± [\d.e-]+", "±", text) for text in (shown, printed)]
    assert checker.check_output(*masked, how), f"shown:\n{shown}\nprinted:\n{printed}"


@pytest.mark.parametrize("page", with_python(PAGES), ids=name)
def test_snippets_run_and_print_what_is_shown(page, capsys):
    namespace = {}
    printed = ""
    for language, code in fences(page):
        if language == "text":
            check_printed(code, printed)
        elif language == "bash":
            run_commands(code)
        else:
            exec(compile(code, name(page), "exec"), namespace)  # noqa: S102
            printed = capsys.readouterr().out
    if page.parent.name == "coming" and "theirs" in namespace and "ours" in namespace:
        np.testing.assert_allclose(namespace["ours"], namespace["theirs"], atol=1e-3)


def test_the_pieces_of_the_contributing_guide_obey_their_laws():
    namespace = {}
    code = "\n".join(code for language, code in fences(ROOT / "CONTRIBUTING.md") if language == "python")
    exec(compile(code, "CONTRIBUTING.md", "exec"), namespace)  # noqa: S102
    check_loss(namespace["PseudoHuber"]())
    check_penalty(namespace["Exponential"](0.5))
    check_rule(namespace["SphereRule"], penalties=[Linear])


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_placeholder_is_left(page):
    assert not re.search(r"^[A-Z]{4,}_[A-Z_]+$|TODO|FIXME|XXX", page.read_text(), flags=re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if "://" in target or "gallery/" in target:
            continue
        assert (page.parent / target).exists(), f"{target} is not there"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_to_the_gallery_lead_to_examples(page):
    for target in re.findall(r"gallery/(\w+/plot_\w+)", page.read_text()):
        assert (ROOT / "examples" / f"{target}.py").exists(), f"{target} is not there"


def test_the_reference_has_every_public_name():
    text = re.sub(r"<!--.*?-->", "", (ROOT / "docs" / "api.md").read_text(), flags=re.DOTALL)
    listed = set(re.findall(r"^   (\w+)$", text, flags=re.MULTILINE))
    assert set(atomsieve.__all__) <= listed


def test_the_table_of_gauges_has_every_gauge():
    """What an oracle costs, how many passes there are, and what is proven, is told of every gauge that is exported."""
    gauges = {name for name in atomsieve.__all__ if is_gauge(getattr(atomsieve, name))}
    page = (ROOT / "docs/guide/pieces.md").read_text()
    header = "| gauge | oracle | passes | proven | picture |"
    rows = page[page.index(header) :].split("\n\n")[0].splitlines()[2:]
    assert all(row.count("|") == header.count("|") for row in rows)
    assert gauges == {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}


def is_gauge(value):
    return isinstance(value, type) and issubclass(value, Gauge)


@pytest.mark.parametrize("page", ["changelog", "breaking", "contributing"])
def test_the_documentation_includes_what_stands_beside_readme(page):
    assert f"{{include}} ../{page.upper()}.md" in (ROOT / "docs" / f"{page}.md").read_text()
    assert page in (ROOT / "docs" / "background.md").read_text().splitlines()


def test_the_gallery_has_what_it_promises():
    examples = sorted((ROOT / "examples").rglob("plot_*.py"))
    assert len(examples) >= 10
    for example in examples:
        assert example.read_text().startswith('"""\n'), f"{example.name} has no title"


@pytest.mark.deep
@pytest.mark.parametrize("example", sorted((ROOT / "examples").rglob("plot_*.py")), ids=lambda path: path.stem)
def test_examples_run(example):
    code = compile(example.read_text(), example.name, "exec")
    exec(code, {"__name__": "__main__"})  # noqa: S102
    import matplotlib.pyplot as plt  # noqa: PLC0415 -- after the backend is chosen

    assert plt.get_fignums()
    plt.close("all")
