"""Steps that are measured once: a table in a CSV file, with its settings in a JSON file beside it."""

import hashlib
import inspect
import io
import json
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

import atomsieve
from atomsieve.intake.files import write_text


class Cache:
    """A folder of finished steps; a run that was interrupted goes on with the first step that is not there.

    >>> import tempfile
    >>> cache = Cache(tempfile.mkdtemp())
    >>> squares = lambda: pd.DataFrame({"square": [i * i for i in range(3)]})
    >>> cache.step("squares", {"n": 3}, squares).square.tolist()
    [0, 1, 4]
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def step(self, key: str, settings: Mapping[str, Any], function: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """Return the table of a step: from its file if settings and function are the same, else from the function.

        The table is always read back from the file, so that a resumed run sees what the first one saw, bit for bit. The
        settings are written last: a step without them does not count.
        """
        record = {"key": key, "settings": dict(settings), "version": atomsieve.__version__}
        text = json.dumps(record, sort_keys=True, allow_nan=False) + source_of(function)
        name = f"{re.sub(r'[^A-Za-z0-9.=_-]+', '-', key)}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        table, note = self.folder / f"{name}.csv", self.folder / f"{name}.json"
        if not (table.exists() and note.exists()):
            begun = time.perf_counter()
            with heeding_interrupts():
                found = function()
            write_text(table, found.to_csv(index=False))
            write_text(note, json.dumps(record | {"seconds": time.perf_counter() - begun}, indent=1) + "\n")
        return read_table(table.read_text(encoding="utf-8"))


def source_of(function: Any) -> str:
    """Return the text of a function, and of those it is given by `partial`: a step that was rewritten is another."""
    if isinstance(function, partial):
        return "".join(source_of(part) for part in (function.func, *function.args) if callable(part))
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):  # typed into a shell, or no function
        return ""


def read_table(text: str) -> pd.DataFrame:
    """Return a table with every digit that was written (as pandas 3.1 does); only empty fields are missing values."""
    return pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=[""])


@contextmanager
def heeding_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt at the end if Ctrl-C was pressed meanwhile, whoever caught it.

    `solve` answers Ctrl-C with the best point so far, which is kind to users and would make half a step look whole.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed = []

    def note(number: int, frame: Any) -> None:
        pressed.append(number)
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt
