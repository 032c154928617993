"""The checker accepts what is true, and refuses every change, with a reason."""

import ast
import copy
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, diags_array, save_npz
from sklearn.datasets import load_breast_cancer, load_diabetes

import atomsieve.certificate
from atomsieve import (
    L1,
    L2,
    Atoms,
    Ball,
    Certificate,
    Group,
    Huber,
    Image,
    Linear,
    LinearSquare,
    LogBarrier,
    Logistic,
    NonNegative,
    Poisson,
    Power,
    Problem,
    Scaled,
    Simplex,
    Square,
    Squared,
    SquaredHinge,
    solve,
    verify,
)
from atomsieve.certificate.file import seal

CHECKER = Path(atomsieve.standalone.__file__).with_name("verify")
X, Y = load_diabetes(return_X_y=True)
X, Y = X[:120] * 20, (Y[:120] - Y[:120].mean()) / 50
SIGNS = np.where(Y > 0, 1.0, -1.0)
LOSSES = [Squared(), Logistic(), SquaredHinge(), Huber(1.0), Poisson()]
PENALTIES = [Linear(0.05), Square(0.1), Ball(0.8), LogBarrier(2.0, 1.0), Power(0.1, 3.0), LinearSquare(0.02, 0.05)]
GAUGES = [
    L1(),
    L1([0.0, *[1.0] * 8, np.inf]),
    L1([1.0, 0.0, 2.0, np.inf, *[1.0] * 6], positive=[True, False, False, True] + [True, False] * 3),
    NonNegative(),
    Simplex(),
    Group(np.arange(10) // 3, [1.0, 2.0, 1.0, 1.5]),
    L2(),
    Scaled(L1(), 0.3),
    Scaled(L1(positive=[True, False] * 5), 0.3),
    Atoms(np.random.default_rng(0).integers(-2, 3, (10, 12)).astype(float)),
    Image(L1(positive=[False, True, True, False]), np.random.default_rng(2).standard_normal((10, 4))),
    Image(Group([0, 0, 1, 1]), np.random.default_rng(1).standard_normal((10, 4))),
]


def target(loss):
    """Return targets that the loss takes."""
    if isinstance(loss, Poisson):
        return np.round(np.exp(np.clip(Y, -3, 3)))
    return Y if isinstance(loss, (Squared, Huber)) else SIGNS


@pytest.mark.thin(5)
@pytest.mark.parametrize("gauge", GAUGES, ids=lambda g: type(g).__name__)
@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda v: type(v).__name__)
def test_every_piece(loss, penalty, gauge):
    y, weights = target(loss), np.random.default_rng(0).integers(0, 3, len(Y)).astype(float)
    problem = Problem(X, y, loss=loss, gauge=gauge, penalty=penalty, sample_weight=weights, intercept=True)
    certificate = solve(problem, tol=1e-10).certificate()
    assert certificate.valid, certificate.reason
    verdict = verify(certificate, X, y, sample_weight=weights)
    assert verdict.valid, verdict.reason
    assert verdict.checked > 3


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Return a certificate in a file, with its data."""
    data, labels = load_breast_cancer(return_X_y=True)
    data = (data - data.mean(axis=0)) / data.std(axis=0)
    y = 2.0 * labels - 1
    result = solve(Problem(data, y, loss=Logistic(), penalty=Square(0.02), intercept=True), tol=1e-12)
    path = tmp_path_factory.mktemp("certificates") / "certificate.json"
    result.certificate().save(path)
    return path, data, y


class TestFile:
    def test_round_trip(self, stored):
        path, data, y = stored
        assert verify(path, data, y).valid
        loaded = Certificate.load(path)
        assert not loaded.undecided.any()
        assert verify(loaded, data, y).valid
        again = path.with_name("again.json")
        loaded.save(again)
        assert json.loads(again.read_text())["claims"] == json.loads(path.read_text())["claims"]

    def test_text_says_it_in_words(self, stored):
        text = str(Certificate.load(stored[0]))
        assert "of 30 coefficients proven zero" in text
        assert "0 undecided; optimal value " in text

    def test_truncated(self, stored, tmp_path):
        path, data, y = stored
        short = tmp_path / "short.json"
        short.write_text(path.read_text()[:500])
        verdict = verify(short, data, y)
        assert not verdict.valid
        assert "truncated or no JSON" in verdict.reason
        with pytest.raises(ValueError, match="is not a certificate: it is no JSON"):
            Certificate.load(short)

    def test_another_file(self, stored, tmp_path):
        _, data, y = stored
        other = tmp_path / "other.json"
        other.write_text("{}")
        assert "no atomsieve certificate" in verify(other, data, y).reason
        with pytest.raises(ValueError, match="does not say format"):
            Certificate.load(other)
        assert "cannot be read" in verify(tmp_path / "none.json", data, y).reason

    def test_nothing_is_left_behind_when_writing_fails(self, stored, tmp_path, monkeypatch):
        certificate = Certificate.load(stored[0])
        monkeypatch.setattr(json, "dumps", lambda *_, **__: (_ for _ in ()).throw(RuntimeError("full")))
        with pytest.raises(RuntimeError):
            certificate.save(tmp_path / "c.json")
        assert not list(tmp_path.iterdir())


def leaves(value, path=()):
    """Yield the place of every number, text and truth value in a certificate."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, (*path, key))
    elif isinstance(value, list):
        for k, part in enumerate(value):
            yield from leaves(part, (*path, k))
    else:
        yield path


def changed(content, path):
    """Return the content with one leaf changed."""
    content = copy.deepcopy(content)
    place = content
    for key in path[:-1]:
        place = place[key]
    old = place[path[-1]]
    if isinstance(old, bool):
        place[path[-1]] = not old
    elif isinstance(old, (int, float)):
        place[path[-1]] = old + 1 if isinstance(old, int) else float(np.nextafter(old, np.inf))
    else:
        place[path[-1]] = f"{old}x"
    return content


class TestTampering:
    def test_any_change_of_the_file(self, stored, tmp_path):
        path, data, y = stored
        content, forged = json.loads(path.read_text()), tmp_path / "forged.json"
        for place in leaves(content):
            forged.write_text(json.dumps(changed(content, place)))
            verdict = verify(forged, data, y)
            assert not verdict.valid, place
            assert verdict.reason

    def test_any_change_of_the_data(self, stored):
        path, data, y = stored
        rng = np.random.default_rng(0)
        for _ in range(10):
            i, j = rng.integers(len(y)), rng.integers(data.shape[1])
            other = data.copy()
            other[i, j] = np.nextafter(other[i, j], np.inf)
            assert "digest" in verify(path, other, y).reason
        flipped = y.copy()
        flipped[3] *= -1
        assert "digest" in verify(path, data, flipped).reason
        assert "digest" in verify(path, data, y, sample_weight=np.full(len(y), 2.0)).reason
        assert "fit together" in verify(path, data[:-1], y).reason

    def forge(self, content, tmp_path):
        """Return the file of a forger who knows how to seal."""
        forged = tmp_path / "forged.json"
        content["seal"] = seal(content)
        forged.write_text(json.dumps(content))
        return forged

    def test_false_claims_under_a_new_seal(self, stored, tmp_path):
        path, data, y = stored
        honest = json.loads(path.read_text())

        def reason(change):
            content = copy.deepcopy(honest)
            change(content)
            verdict = verify(self.forge(content, tmp_path), data, y)
            assert not verdict.valid
            return verdict.reason

        active = honest["claims"]["nonzero"][0]
        idle = next(j for j in range(30) if j not in honest["claims"]["nonzero"])
        assert f"block {active} is not proven zero" in reason(lambda c: c["claims"]["nonzero"].remove(active))

        def invent(content):
            claims = content["claims"]
            claims["nonzero"] = sorted([*claims["nonzero"], idle])
            rows = sorted([*zip(*claims["intervals"].values(), strict=True), (idle, None, None)])
            claims["intervals"] = dict(
                zip(("index", "lower", "upper"), map(list, zip(*rows, strict=True)), strict=True)
            )

        assert f"block {idle} is not proven non-zero" in reason(invent)
        assert "interval of coefficient" in reason(lambda c: c["claims"]["intervals"]["lower"].__setitem__(0, 5.0))
        assert "lower bound" in reason(lambda c: c["claims"]["value"].__setitem__("lower", 1.0))
        assert "upper bound" in reason(lambda c: c["claims"]["value"].__setitem__("upper", 0.0))
        assert "gap" in reason(lambda c: c["claims"].__setitem__("gap", 0.0))
        assert "gap" in reason(lambda c: c["point"]["x"]["value"].__setitem__(0, 1.0))
        assert reason(lambda c: c["problem"]["penalty"].__setitem__("strength", 0.021))
        assert reason(lambda c: c["problem"].__setitem__("intercept", False))
        assert reason(lambda c: c["point"].__setitem__("free", [0.0]))
        assert "has no interval" in reason(
            lambda c: [c["claims"]["intervals"][k].pop() for k in ("index", "lower", "upper")]
        )

    def test_a_free_column_cannot_be_hidden(self, tmp_path):
        """A free coefficient of 0 does not make its column one that adds nothing."""
        given = np.linspace(-1, 1, len(Y))
        honest = solve(Problem(X, Y, penalty=Square(0.1)), tol=1e-10).certificate().content()
        with_free = solve(Problem(X, Y, penalty=Square(0.1), free=given), tol=1e-10).certificate().content()
        for key in ("problem", "data"):
            honest[key] = with_free[key]
        honest["point"]["free"] = [0.0]
        honest["claims"]["free"] = {"lower": [None], "upper": [None]}
        verdict = verify(self.forge(honest, tmp_path), X, Y, free=given)
        assert not verdict.valid
        honest["claims"]["dependencies"] = [{"column": -1, "of": [], "times": []}]
        verdict = verify(self.forge(honest, tmp_path), X, Y, free=given)
        assert "not the sum of others" in verdict.reason


def test_the_checker_imports_nothing_of_the_package():
    allowed = {"flint", "numpy"} | set(sys.stdlib_module_names)
    for file in CHECKER.rglob("*.py"):
        depth = len(file.relative_to(CHECKER).parts)
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                assert {name.name.split(".")[0] for name in node.names} <= allowed
            if isinstance(node, ast.ImportFrom):
                assert node.level <= depth
                assert node.level or node.module.split(".")[0] in allowed


@pytest.mark.parametrize("way", ["folder", "another name", "module"])
def test_on_the_command_line(way, stored, tmp_path):
    """A copy of the folder is run as a folder, whatever it is called, or as a module from the folder that it is in."""
    path, data, y = stored
    np.save(tmp_path / "X.npy", data)
    np.savetxt(tmp_path / "y.csv", y, delimiter=",", fmt="%.17g")
    alone = tmp_path / ("checker 2" if way == "another name" else "verify")
    shutil.copytree(CHECKER, alone)  # anywhere, without the package
    python = ["-m", "verify"] if way == "module" else ["-I", str(alone)]
    command = [sys.executable, *python, str(path), str(tmp_path / "X.npy"), str(tmp_path / "y.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "The certificate is valid" in done.stdout
    np.save(tmp_path / "X.npy", data[:, ::-1])
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert "NOT valid" in done.stdout


@pytest.mark.parametrize("form", ["names,", "names ", "plain,", "comment "])
def test_text_on_the_command_line(form, stored, tmp_path):
    path, data, y = stored
    separator = form[-1]
    header = separator.join(f"f{j}" for j in range(data.shape[1])) if form[:-1] != "plain" else ""
    comments = "# " if form.startswith("comment") else ""
    np.savetxt(tmp_path / "X.csv", data, fmt="%.17g", delimiter=separator, header=header, comments=comments)
    np.savetxt(tmp_path / "y.txt", y, fmt="%.17g", header="target", comments="")
    command = [sys.executable, "-I", str(CHECKER), str(path), str(tmp_path / "X.csv"), str(tmp_path / "y.txt")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "The certificate is valid" in done.stdout, done.stdout + done.stderr
    (tmp_path / "X.csv").write_text("a,b\n1,2\n3,many\n")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "X.csv holds something else than numbers: could not convert string 'many'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "duplicates"])
def test_sparse_files_on_the_command_line(form, tmp_path):
    data, y = np.round(X[:6, :3]), Y[:6]
    parts = (np.r_[data.ravel(), 0.5], (np.r_[np.repeat(range(6), 3), 2], np.r_[np.tile(range(3), 6), 1]))
    stored = coo_array(parts, shape=(6, 3)) if form == "duplicates" else csr_array(data).asformat(form)
    solve(Problem(stored, y, penalty=Linear(0.05))).certificate().save(tmp_path / "c.json")
    save_npz(tmp_path / "X.npz", stored)
    np.save(tmp_path / "y.npy", y)
    files = [str(tmp_path / name) for name in ("c.json", "X.npz", "y.npy")]
    done = subprocess.run([sys.executable, "-I", str(CHECKER), *files], capture_output=True, text=True, check=False)
    assert "The certificate is valid" in done.stdout, done.stdout + done.stderr


def test_the_verdict_says_in_which_arithmetic():
    certificate = solve(
        Problem(X, SIGNS, loss=Logistic(), penalty=Linear(0.03), intercept=True), tol=1e-12
    ).certificate()
    verdict = verify(certificate, X, SIGNS)
    assert verdict.valid, verdict.reason
    assert verdict.method == "ball arithmetic and bounded doubles"


@pytest.mark.parametrize(
    "change",
    [
        {"row": [0, 0, 2, 3]},
        {"column": [0, 1, 2, 9]},
        {"row": [-1, 1, 2, 3]},
        {"row": [0.0, 1, 2, 3]},
        {"row": [True, 1, 2, 3]},
        {"row": [0, 1, 2]},
        {"value": [2.0, 2.0, 2.0]},
        {"value": [2.0, 2.0, 2.0, "2"]},
        {"shape": [4]},
        {"shape": [2, 2]},
        {"value": [2.0, 2.0, 2.0, 3.0]},
        {"column": [0, 1, 3, 2]},
    ],
    ids=str,
)
def test_a_matrix_given_by_its_places(change, tmp_path):
    """Sparse matrices are written as places and values; what is no matrix, or another one, is refused."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 4)), rng.standard_normal(12)
    gauge = Image(Group([0, 0, 1, 1], "equal"), diags_array(np.full(4, 2.0), format="csc"))
    content = solve(Problem(X, y, gauge=gauge, penalty=Linear(0.3)), tol=1e-9).certificate().content()
    matrix = content["problem"]["gauge"]["matrix"]
    assert sorted(matrix) == ["column", "row", "shape", "value"]

    def answer(matrix):
        forged = {k: v for k, v in content.items() if k != "seal"}
        forged["problem"] = forged["problem"] | {"gauge": forged["problem"]["gauge"] | {"matrix": matrix}}
        (tmp_path / "c.json").write_text(json.dumps(forged | {"seal": seal(forged)}))
        return verify(tmp_path / "c.json", X, y)

    assert answer(matrix).valid
    assert not answer(matrix | change).valid
