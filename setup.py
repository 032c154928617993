"""The compiled core: one C file, built for every machine and, on x86-64, once more for vectors of four numbers."""

import platform
import sys

from setuptools import Extension, setup

FLAGS = ["/O2", "/std:c11"] if sys.platform == "win32" else ["-O3", "-std=c11", "-fopenmp-simd", "-ffp-contract=fast"]
WIDE = ["/arch:AVX2"] if sys.platform == "win32" else ["-mavx2", "-mfma"]
LIBRARIES = [] if sys.platform == "win32" else ["m"]


def core(name: str, *flags: str) -> Extension:
    """Return the extension of one build of the core."""
    return Extension(
        f"atomsieve.core.{name}",
        ["src/atomsieve/core/module.c"],
        depends=[f"src/atomsieve/core/{part}.h" for part in ("blas", "columns", "losses", "choice", "gram", "model", "newton")],
        define_macros=[("MODULE", f"PyInit_{name}"), ("MODULE_NAME", f'"{name}"')],
        extra_compile_args=[*FLAGS, *flags],
        libraries=LIBRARIES,
        py_limited_api=True,
    )


builds = [core("_plain")]
if platform.machine().lower() in ("x86_64", "amd64"):
    builds.append(core("_wide", *WIDE))
setup(ext_modules=builds, options={"bdist_wheel": {"py_limited_api": "cp311"}})
