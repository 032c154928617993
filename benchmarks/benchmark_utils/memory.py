"""Peak memory of one call, beyond what was held before: Linux only, None elsewhere."""

import re
from collections.abc import Callable
from pathlib import Path

RESET, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


def _megabytes(field: str) -> float:
    return int(re.search(rf"{field}:\s+(\d+) kB", STATUS.read_text())[1]) / 1024


def peak_memory(action: Callable[[], object]) -> float | None:
    """Return by how many megabytes the resident memory rose at most during the action."""
    try:
        RESET.write_text("5")  # the high-water mark begins anew
    except OSError:
        return None
    before = _megabytes("VmRSS")
    action()
    return max(0.0, _megabytes("VmHWM") - before)
