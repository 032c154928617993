"""The core can be built where Python has no headers: `interpreter.h` declares all that it uses."""

import shutil
import subprocess
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
