"""The core can be built where Python has no headers: `interpreter.h` declares all that it uses. Imports are few."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CORE = Path(__file__).parents[1] / "src" / "atomsieve" / "core"
COMPILER = shutil.which("cc")


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.skipif(not (CORE / "module.c").exists(), reason="no sources")
def test_the_core_needs_no_headers_of_python():
    flags = ["-std=c11", "-fsyntax-only", "-Werror=implicit-function-declaration", "-DPy_LIMITED_API=0x030B0000"]
    done = subprocess.run([COMPILER, *flags, CORE / "module.c"], capture_output=True, text=True)  # noqa: PLW1510, S603
    assert done.returncode == 0, done.stderr


def test_a_fit_imports_no_more_than_it_needs():
    """The first fit of a process is mostly imports, and these would take longer than many fits."""
    code = (
        "import sys, numpy as np; from atomsieve import Linear, Problem, solve\n"
        "found = solve(Problem(np.eye(3), [3.0, 1.0, 0.0], penalty=Linear(0.1)))\n"
        "print([name for name in sys.modules if name.startswith('atomsieve.certificate')])\n"
        "found.certificate()\n"
        "slow = {'scipy.optimize', 'scipy.special', 'sklearn', 'pandas', 'matplotlib', 'dask', 'torch', 'flint'}\n"
        "print(slow & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert ran.stdout == "[]\nset()\n"
