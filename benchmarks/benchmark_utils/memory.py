"""Peak memory of one call, beyond what was held before: Linux only, None elsewhere."""

import ctypes
import gc
import re
from collections.abc import Callable
from pathlib import Path

RESET, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


def _megabytes(field: str) -> float:
    return int(re.search(rf"{field}:\s+(\d+) kB", STATUS.read_text())[1]) / 1024


def peak_memory(action: Callable[[], object]) -> float | None:
    """Return by how many megabytes the resident memory rose at most during the action."""
    try:
        gc.collect()
        ctypes.CDLL("libc.so.6").malloc_trim(0)  # what earlier calls freed goes back to the system first
        RESET.write_text("5")  # the high-water mark begins anew
    except (OSError, AttributeError):
        return None
    before = _megabytes("VmRSS")
    action()
    return max(0.0, _megabytes("VmHWM") - before)
