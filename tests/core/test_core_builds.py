"""The builds of the core: they agree, they compile without a warning, and memory checkers find nothing."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from twins import LOSSES, load, make

from atomsieve import core as package

HERE = Path(__file__).parent
SOURCE = Path(package.__file__).with_name("module.c")
FLAGS = ["-std=c11", "-fopenmp-simd", "-fPIC", "-shared", f"-I{sysconfig.get_paths()['include']}"]
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
OURS = re.compile(r"\((" + "|".join(re.escape(file.name) for file in sorted(SOURCE.parent.glob("*.[ch]"))) + r"):\d+\)")


@pytest.fixture(scope="module")
def builds():
    if package._core is package._plain:
        pytest.skip("this machine has one build only")
    return load("_plain", package._plain.__file__), package._core


@pytest.mark.parametrize("blocks", ["single", "mixed"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("line", ["linear", "both"])
@pytest.mark.parametrize("loss", LOSSES)
def test_builds_agree(builds, loss, line, sparse, blocks):
    for seed in range(3):
        case = make(seed, LOSSES[loss], 60, 8, "random", blocks, line, sparse=sparse, free=1, offset=True)
        case = case.but(delta=1.0)
        plain, wide = (case.run(build, target=-1.0, respond=True) for build in builds)
        scale = np.abs(plain.x / case.unit_of).max(initial=1e-3)
        np.testing.assert_allclose(wide.x / case.unit_of, plain.x / case.unit_of, rtol=1e-10, atol=1e-10 * scale)
        np.testing.assert_allclose(wide.c, plain.c, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose([wide.mass, wide.response], [plain.mass, plain.response], rtol=1e-7)


def test_a_build_without_blas_refuses():
    """In a process of its own, where nobody has given it one."""
    script = (
        "import importlib.machinery as m, importlib.util as u, sys\n"
        "loader = m.ExtensionFileLoader('_plain', sys.argv[1])\n"
        "core = u.module_from_spec(u.spec_from_loader('_plain', loader)); loader.exec_module(core)\n"
        "sys.path.insert(0, sys.argv[2]); from twins import make\n"
        "try: make(0).run(core)\n"
        "except RuntimeError as error: print(error)\n"
    )
    command = [sys.executable, "-c", script, package._plain.__file__, str(HERE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    assert done.stdout == "take_blas() must be called first.\n", done.stderr


def compiled(to, *flags):
    """Compile the core to a file."""
    command = ["gcc", *FLAGS, *flags, str(SOURCE), "-o", str(to), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr


@needs_gcc
@pytest.mark.deep
@pytest.mark.parametrize("wide", [[], ["-mavx2", "-mfma"]], ids=["plain", "wide"])
@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_no_warnings(tmp_path, level, wide):
    if wide and not package._plain.wide_vectors():
        pytest.skip("this machine does not have AVX2 and FMA")
    strict = ["-Wall", "-Wextra", "-Wconversion", "-Wno-sign-conversion", "-Werror"]
    compiled(tmp_path / "_plain.so", level, "-ffp-contract=fast", *strict, *wide)


def library(name):
    """Return the path of a library of gcc's; skip where it is not installed."""
    done = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)  # noqa: S603, S607
    path = Path(done.stdout.strip())
    if not path.is_absolute():
        pytest.skip(f"gcc has no {name}")
    return str(path)


def watched(command, **environment):
    """Run calls of the core under a checker; return what it wrote."""
    quiet = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONMALLOC": "malloc"}
    done = subprocess.run(  # noqa: S603
        command, env=os.environ | quiet | environment, capture_output=True, text=True, timeout=1800, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout == "all calls ended\n"
    return done.stderr


@needs_gcc
@pytest.mark.deep
def test_sanitizers_find_nothing(tmp_path):
    preload = " ".join(library(name) for name in ("libasan.so", "libubsan.so"))
    build = tmp_path / "_plain.so"
    compiled(build, "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover")
    command = [sys.executable, str(HERE / "core_fuzz.py"), str(build), "0", "3000"]
    watched(command, LD_PRELOAD=preload, ASAN_OPTIONS="detect_leaks=0")  # Python itself leaks


@needs_gcc
@pytest.mark.deep
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="there is no valgrind")
def test_valgrind_finds_nothing(tmp_path):
    """Values that nobody has set are its part; what it finds in Python and NumPy is theirs."""
    build, log = tmp_path / "_plain.so", tmp_path / "log"
    compiled(build, "-O1", "-g")
    checker = ["valgrind", "--quiet", "--error-limit=no", "--num-callers=30", f"--log-file={log}"]
    command = [*checker, sys.executable, str(HERE / "core_fuzz.py"), str(build), "0", "120"]
    watched(command, OPENBLAS_CORETYPE="Haswell")  # valgrind knows no wider vectors
    reports = log.read_text().split("== \n")
    ours = [report for report in reports if OURS.search(report)]
    assert not ours, ours[0]
