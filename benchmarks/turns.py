"""Packages that take turns, each in a Python of its own, and climb their tolerances until a gap is small enough."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

TARGET = 1e-6
"""The relative gap that is asked for."""

ROUNDS = 2
"""Processes of each package for a case."""

SECONDS = 60
"""Time after which no smaller tolerance is tried."""


def climbed(fit: Callable[[float], Any], gap: Callable[[Any], float], first: float) -> None:
    """Print seconds and gap of the first tolerance that led to the target, or of the last one tried."""
    print(json.dumps(climb(fit, gap, first)[:2]))


def climb(
    fit: Callable[[float], Any], gap: Callable[[Any], float], first: float, target: float = TARGET
) -> tuple[float, float, Any]:
    """Return seconds, gap and coefficients of the first tolerance that led to the target, or of the last one tried.

    Tolerances fall by half decades from the exponent `first`. Times are those of the processor, the best of several.
    """
    fit(0.1)  # the first fit imports what it needs, and is not timed
    spent = 0.0
    for exponent in np.arange(first, -15, -0.5):
        times: list[float] = []
        while not times or (sum(times) < 1 and len(times) < 5):
            start = process_time()
            coefs = fit(float(10.0**exponent))
            times.append(process_time() - start)
        found, spent = gap(coefs), spent + sum(times)
        if found <= target or spent > SECONDS:
            break
    return min(times), found, coefs


def measured(script: str, pythons: Mapping[str, str], packages: Iterable[str], *case: str) -> dict[str, list[float]]:
    """Return seconds and gap of each package on a case, and what else it prints, processes taking turns."""
    found: dict[str, list[float]] = {}
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    for _ in range(ROUNDS):
        for package in packages:
            if package not in pythons:
                continue
            command = [pythons[package], script, "worker", package, *case]
            ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
            if ran.returncode == 0:
                found[package] = min(found.get(package, [np.inf, 1.0]), json.loads(ran.stdout.splitlines()[-1]))
            else:
                print(package, *case, ran.stderr[-500:], file=sys.stderr)
    return found


def cell(result: list[float] | None) -> str:
    """Return seconds, in brackets where the target was not reached."""
    if result is None:
        return ""
    seconds, gap = result
    return f"{seconds:.2g}" if gap <= TARGET else f"({seconds:.2g} at {gap:.0e})"


def into_page(heading: str, text: str) -> None:
    """Put a section into docs/benchmarks.md in the place of the one before, or as the last one of the tables."""
    page = Path(__file__).parents[1] / "docs" / "benchmarks.md"
    words = page.read_text()
    if heading in words:
        before, rest = words.split(heading, 1)
        after = rest[rest.index("\n## ") + 1 :]
    else:
        before, after = words.split("## Machine and versions", 1)
        after = "## Machine and versions" + after
    page.write_text(f"{before}{heading}\n\n{text}\n\n{after}")
