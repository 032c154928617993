"""Write a file completely or not at all."""

import contextlib
import errno
import os
import secrets
import stat
import sys
from pathlib import Path

LINKS = 40
"""Longest chain of links that is followed, as in Linux."""


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file; an existing file stays complete until the new content is on disk.

    A link is followed: the file at its end is replaced and keeps its permissions. Devices and pipes (/dev/stdout,
    /dev/null, a FIFO) are written to, as `tee` does. Folders, disks and sockets are refused.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be the name of a file, a string or a pathlib.Path, got {type(path).__name__}.")
    content, place = text.encode(), _followed(Path(path))
    number = _descriptor(place)
    if number is not None:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()  # text printed earlier must come first
        _pour(os.dup(number), content)
        return
    there = _status(place)
    if there is None or stat.S_ISREG(there.st_mode):
        _replace(place, content, there)
    elif stat.S_ISCHR(there.st_mode) or stat.S_ISFIFO(there.st_mode):
        _pour(os.open(place, os.O_WRONLY), content)
    elif stat.S_ISDIR(there.st_mode):
        raise IsADirectoryError(errno.EISDIR, f"{path} is a folder: give the name of a file in it.")
    else:
        raise OSError(errno.EINVAL, f"{path} is a disk or a socket, not a file: nothing was written.")


def _followed(path: Path) -> Path:
    """Return the path at the end of a chain of links; it need not exist."""
    place = path
    for _ in range(LINKS + 1):
        try:
            linked = place.is_symlink()
        except PermissionError:
            message = f"{path} could not be looked at: a folder on the way to it may not be entered."
            raise PermissionError(errno.EACCES, message) from None
        if not linked or _descriptor(place) is not None:
            return place
        place = place.parent / place.readlink()
    raise OSError(errno.ELOOP, f"{path} is a link that leads round in a circle: nothing was written.")


def _descriptor(place: Path) -> int | None:
    """Return the file descriptor of a name such as /dev/fd/1, None for other names."""
    if not (place.name.isdecimal() and place.is_absolute()):
        return None
    own = os.path.realpath(place.parent) in ("/dev/fd", f"/proc/{os.getpid()}/fd")
    return int(place.name) if own else None


def _status(place: Path) -> os.stat_result | None:
    """Return the status of a path, None if nothing is there; raise an error if its folder is missing."""
    try:
        return place.stat()
    except FileNotFoundError:
        if place.parent.is_dir():
            return None
        folder = place.parent.absolute()
        raise FileNotFoundError(
            errno.ENOENT, f"There is no folder {folder}: make it first, Path({str(folder)!r}).mkdir(parents=True)."
        ) from None
    except NotADirectoryError:
        raise NotADirectoryError(errno.ENOTDIR, f"{place.parent} is no folder, so that no file can be in it.") from None


def _pour(handle: int, content: bytes) -> None:
    """Write to an open device or pipe and close it."""
    with open(handle, "wb") as file:
        file.write(content)


def _replace(place: Path, content: bytes, there: os.stat_result | None) -> None:
    """Write a temporary file in the same folder, and rename it when all of it is on disk."""
    if there is not None and not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, f"{place} is write-protected: choose another name, or allow writing to it.")
    temporary = place.parent / f".saving-{secrets.token_hex(8)}"
    mode = 0o666 if there is None else 0o600  # the umask decides the permissions of a new file
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    except OSError as error:
        raise OSError(
            error.errno, f"The folder {place.parent.absolute()} takes no new file: {error.strerror}."
        ) from error
    try:
        with open(handle, "wb") as file:
            if there is not None:
                _keep_status(temporary, there)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(place)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            message = f"{place} could not be written: {error.strerror}. What was there before is unchanged."
            raise OSError(error.errno, message) from error
        raise
    _settle(place.parent)


def _keep_status(temporary: Path, there: os.stat_result) -> None:
    """Give a file the permissions of another and, if we are allowed to, its owner."""
    if hasattr(os, "chown"):
        with contextlib.suppress(PermissionError):
            os.chown(temporary, there.st_uid, there.st_gid)
    temporary.chmod(there.st_mode & 0o777)


def _settle(folder: Path) -> None:
    """Write the new name in a folder to disk, on systems that can open folders."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
