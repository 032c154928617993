"""Results on disk: one JSON file per cell, that is per problem, dataset and solver."""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

OUTPUTS = Path(__file__).resolve().parents[1] / "outputs"
ENDS = ("done", "skipped", "absent", "error", "timeout")
"""How a cell can end; what is absent today (data, packages) may be there tomorrow and is not kept."""

CELLS, STUDIES = OUTPUTS / "cells", OUTPUTS / "studies"


@dataclass
class Cell:
    """What one solver did on one problem: its rungs, from loose to tight, and how it ended."""

    task: str
    reg: float | str
    dataset: str
    solver: str
    status: str = "unknown"
    reason: str = ""
    shape: list[int] = field(default_factory=list)
    entries: int = 0
    rungs: list[dict[str, float]] = field(default_factory=list)
    megabytes: float | None = None
    limit: float = 0.0
    threads: int = 0

    @property
    def file(self) -> Path:
        """Return where the cell is kept."""
        parts = (self.task, str(self.reg), self.dataset, self.solver)
        return CELLS / ("--".join(re.sub(r"[^\w.+-]+", "_", part) for part in parts) + ".json")

    def save(self) -> None:
        """Write the cell, unless it says nothing but what is absent."""
        if self.status == "absent":
            return
        CELLS.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(asdict(self), indent=1) + "\n")

    def take(self, event: str, **facts: Any) -> None:
        """Note an event of the worker."""
        if event == "rung":
            self.rungs = [rung for rung in self.rungs if rung["tol"] != facts["tol"]] + [facts]
        elif event == "memory":
            self.megabytes = facts["megabytes"]
        elif event == "posed":
            self.shape, self.entries = facts["shape"], facts["entries"]
        elif event in ENDS:
            self.status, self.reason = event, facts.get("reason", "")

    def quickest_below(self, target: float) -> dict[str, float] | None:
        """Return the rung that reaches a gap in the least time."""
        return min((rung for rung in self.rungs if rung["gap"] <= target), key=lambda rung: rung["time"], default=None)

    def best(self) -> dict[str, float] | None:
        """Return the rung with the least gap."""
        return min(self.rungs, key=lambda rung: rung["gap"], default=None)


def load_cells() -> Iterator[Cell]:
    """Read every cell."""
    for path in sorted(CELLS.glob("*.json")):
        yield Cell(**json.loads(path.read_text()))


def save_study(name: str, rows: Any) -> None:
    """Write the rows of a study."""
    STUDIES.mkdir(parents=True, exist_ok=True)
    (STUDIES / f"{name}.json").write_text(json.dumps(rows, indent=1) + "\n")


def load_study(name: str) -> Any:
    """Read the rows of a study, None where it was not run."""
    path = STUDIES / f"{name}.json"
    return json.loads(path.read_text()) if path.is_file() else None
