"""Run both sides of the pages in docs/coming and compare.

    .venv-bench/bin/python docs/peers.py

in the environment that `make bench` sets up. `python` fences are ours and scikit-learn's, `py` fences belong to another
peer, `r` fences to R. Each side leaves its coefficients in `theirs` or `ours`, and the two are compared.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

PAGES = Path(__file__).parent / "coming"
FENCE = re.compile(r"```(python|py|r)\n(.*?)```", re.DOTALL)
AGREE = 2e-3  # relative to the largest coefficient: peers stop at tolerances of their own


def fences(page: Path) -> Iterator[tuple[str, str]]:
    """Return language and code of the fences that can be run."""
    yield from FENCE.findall(page.read_text())


def run_r(code: str, state: dict[str, Any], before: list[str]) -> np.ndarray:
    """Run R code on the data of the page, after the R code that came before, and return its `theirs`."""
    with tempfile.TemporaryDirectory() as folder:
        reading = []
        for name in ("X", "y", "B", "labels"):
            np.savetxt(Path(folder) / name, state[name], fmt="%.17g")
            reading.append(f"{name} <- as.matrix(read.table('{folder}/{name}'))")
        script = [*reading, "y <- drop(y); labels <- drop(labels)", *before, code]
        script.append("cat('\\n@', format(as.vector(theirs), digits = 17))")
        done = subprocess.run(["Rscript", "-e", "\n".join(script)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return np.array(done.stdout.rsplit("@", 1)[1].split(), dtype=float)


def compare(page: Path) -> Iterator[float]:
    """Run a page and return how far each pair is apart, relative to the largest coefficient."""
    state: dict[str, Any] = {}
    said_in_r: list[str] = []
    for language, code in fences(page):
        if language == "r":
            state["theirs"] = run_r(code, state, said_in_r)
            said_in_r.append(code)
        else:
            exec(compile(code, page.name, "exec"), state)
        if "theirs" in state and "ours" in state:
            theirs, ours = (np.ravel(state.pop(side)).astype(float) for side in ("theirs", "ours"))
            yield float(np.abs(theirs - ours).max() / np.abs(ours).max())


def main() -> None:
    worst = 0.0
    for page in sorted(PAGES.glob("*.md")):
        for distance in compare(page):
            print(f"{page.stem:16s} {distance:.1e}")
            worst = max(worst, distance)
    if worst > AGREE:
        sys.exit(f"A pair differs by {worst:.1e}.")


if __name__ == "__main__":
    main()
