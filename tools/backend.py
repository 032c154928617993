"""The build backend: setuptools; where no C compiler is found, the one of the `ziglang` package joins the build."""

import os
import shutil
import sys
import sysconfig
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import build_sdist, get_requires_for_build_sdist, prepare_metadata_for_build_wheel

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

prepare_metadata_for_build_editable = build_meta.prepare_metadata_for_build_editable


def has_compiler() -> bool:
    """Return whether the machine has a C compiler of its own: the one that CC names, Python's own, or a usual one."""
    if sys.platform == "win32":
        return True  # setuptools looks for Visual Studio itself
    named = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    return any(shutil.which(name) for name in (named.split()[0], "cc", "gcc", "clang"))


def choose_compiler() -> None:
    """Name a compiler that exists, for setuptools."""
    if sys.platform == "win32" or os.environ.get("CC"):
        return
    named = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(named):
        return
    other = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), f"{sys.executable} -m ziglang cc")
    os.environ["CC"] = other
    os.environ["LDSHARED"] = f"{other} -shared"


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Return what a build needs besides setuptools."""
    return build_meta.get_requires_for_build_wheel(config_settings) + ([] if has_compiler() else ["ziglang>=0.13"])


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """Return the same for an editable installation."""
    return get_requires_for_build_wheel(config_settings)


def build_wheel(directory: str, config_settings: Any = None, metadata: str | None = None) -> str:
    """Build a wheel."""
    choose_compiler()
    return build_meta.build_wheel(directory, config_settings, metadata)


def build_editable(directory: str, config_settings: Any = None, metadata: str | None = None) -> str:
    """Build the core in place, for an editable installation."""
    choose_compiler()
    return build_meta.build_editable(directory, config_settings, metadata)
