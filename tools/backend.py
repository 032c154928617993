"""The build backend: setuptools; where no C compiler works, the one of the `ziglang` package joins the build."""

import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

USUAL = ("cc", "gcc", "clang")
PROBE = "#include <math.h>\n#include <stdlib.h>\ndouble probe(double x) { return exp(x); }\n"


def is_given() -> bool:
    """Return whether the choice is not ours: the user names a compiler, or setuptools looks for Visual Studio."""
    return sys.platform == "win32" or "CC" in os.environ


def works(*command: str) -> bool:
    """Return whether a compiler makes a library of a few lines of C: it is there, and so are the headers of C."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.c")
        source.write_text(PROBE)
        words = [*command, "-shared", "-fPIC", str(source), "-lm", "-o", str(source.with_suffix(".so"))]
        try:
            return subprocess.run(words, capture_output=True, check=False).returncode == 0  # noqa: S603
        except OSError:
            return False


def variable(name: str) -> list[str]:
    """Return the words of a variable of Python's own build."""
    return shlex.split(sysconfig.get_config_var(name) or "")


@cache
def is_own_there() -> bool:
    """Return whether the compiler that built Python is here, and understands what setuptools will say to it."""
    return works(*(variable("CC") or ["cc"]), *variable("CFLAGS"))


@cache
def other() -> str | None:
    """Return the first usual compiler that works, if any does."""
    return next((name for name in USUAL if works(name)), None)


def extra() -> list[str]:
    """Return what the build needs besides setuptools."""
    return [] if is_given() or is_own_there() or other() else ["ziglang>=0.13"]


def chosen(folder: str) -> dict[str, str]:
    """Return the variables that name a compiler to setuptools; the options of the one that built Python are left out.

    Zig would build for the very machine that it runs on, but the wheel may be kept for others.
    """
    if is_given() or is_own_there():
        return {}
    command = other() or f"{shlex.quote(sys.executable)} -m ziglang cc -mcpu=baseline"
    shared = "-bundle -undefined dynamic_lookup" if sys.platform == "darwin" else "-shared"
    return {
        "CC": command,
        "LDSHARED": f"{command} {shared}",
        "CFLAGS": "-DNDEBUG",
        "ZIG_GLOBAL_CACHE_DIR": str(Path(folder, "zig")),
    }


@contextmanager
def workshop() -> Iterator[None]:
    """Build in a folder of its own: what an earlier build left behind must not get into a wheel."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder, "build.cfg")
        settings.write_text(f"[build]\nbuild_base = {Path(folder, 'build')}\n")
        named = {"DIST_EXTRA_CONFIG": str(settings), **chosen(folder)}
        named = {name: value for name, value in named.items() if name not in os.environ}
        os.environ.update(named)
        try:
            yield
        finally:
            for name in named:
                del os.environ[name]


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Return what a build needs besides setuptools."""
    return build_meta.get_requires_for_build_wheel(config_settings) + extra()


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """Return the same for an editable installation."""
    return build_meta.get_requires_for_build_editable(config_settings) + extra()


def build_wheel(directory: str, config_settings: Any = None, metadata: str | None = None) -> str:
    """Build a wheel."""
    with workshop():
        return build_meta.build_wheel(directory, config_settings, metadata)


def build_editable(directory: str, config_settings: Any = None, metadata: str | None = None) -> str:
    """Build the core in place, for an editable installation."""
    with workshop():
        return build_meta.build_editable(directory, config_settings, metadata)
