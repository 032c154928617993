"""The compiled core: one C file, built for every machine and, on x86-64, once more for vectors of four numbers."""

import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

CORE = Path("src/atomsieve/core")
FLAGS = {
    "win32": ["/O2", "/std:c11"],
    "other": ["-O3", "-g0", "-std=c11", "-fopenmp-simd", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"],
}
WIDE = {
    "win32": ["/arch:AVX2"],
    "darwin": ["-Xarch_x86_64", "-mavx2", "-Xarch_x86_64", "-mfma"],  # one build may be for two kinds of machine
    "other": ["-mavx2", "-mfma"],
}
LIBRARIES = {"win32": [], "other": ["m"]}

# One build serves Python 3.11 and all later ones, but for those that do without the interpreter lock.
LIMITED = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")


def here(table: dict[str, list[str]]) -> list[str]:
    """Return what a table has for this system."""
    return table.get(sys.platform, table["other"])


def core(name: str, flags: list[str]) -> Extension:
    """Return the extension of one build of the core."""
    limited = [("Py_LIMITED_API", "0x030B0000")] if LIMITED else []
    return Extension(
        f"atomsieve.core.{name}",
        [str(CORE / "module.c")],
        depends=[str(header) for header in sorted(CORE.glob("*.h"))],
        define_macros=[*limited, ("MODULE", f"PyInit_{name}"), ("MODULE_NAME", f'"{name}"')],
        extra_compile_args=[*here(FLAGS), *flags],
        libraries=here(LIBRARIES),
        py_limited_api=LIMITED,
    )


builds = [core("_plain", [])]
if sysconfig.get_platform().endswith(("x86_64", "amd64", "universal2")):
    builds.append(core("_wide", here(WIDE)))
setup(ext_modules=builds, options={"bdist_wheel": {"py_limited_api": "cp311"}} if LIMITED else {})
