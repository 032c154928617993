"""Open a file as text, compressed or not."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from atomsieve.tables.errors import TableError, closest

OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
"""What reads a compressed file, by its ending."""


@contextmanager
def opened(path: str) -> Iterator[IO[str]]:
    """Open a text file in UTF-8; what goes wrong while it is read is said in a sentence."""
    opener = OPENERS.get(Path(path).suffix.lower(), open)
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            yield file
    except UnicodeDecodeError:
        raise TableError(
            f"{path} is not text in UTF-8. Save it as UTF-8, or convert it from what it is (latin1, UTF-16): "
            f"iconv -f latin1 -t utf8 {path} > converted.csv"
        ) from None
    except (gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError) as error:
        raise TableError(f"{path} cannot be decompressed: {error}.") from None


def require_file(path: str, option: str = "") -> None:
    """Refuse a path at which there is no file, with the option that gave it and the closest name in its folder."""
    place = Path(path)
    if place.is_dir():
        raise TableError(f"{path}{option} is a folder: name a file in it.")
    if place.exists():
        return
    if not place.parent.is_dir():
        raise TableError(f"There is no file {path}{option}: there is no folder {place.parent} either.")
    others = [other.name for other in place.parent.iterdir() if not other.name.startswith(".")]
    hint = closest(place.name, others) if others else ""
    raise TableError(f"There is no file {path}{option}. {hint if hint.startswith('Did') else ''}".strip())
