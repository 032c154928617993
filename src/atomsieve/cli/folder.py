"""Files that appear in a folder together, or not at all."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from atomsieve.cli.said import NotWrittenError


@contextmanager
def together(folder: Path, stale: Sequence[str] = ()) -> Iterator[Path]:
    """Make a folder, if need be, and give a hidden one in it; what is written there moves up at the end.

    Files of an earlier run, by the patterns in `stale`, are removed then: they are about another model. If anything
    goes wrong, files that were there before are untouched, and folders that were made are removed.
    """
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    staging: Path | None = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        staging = Path(mkdtemp(prefix=".writing-", dir=folder))
        yield staging
        names = sorted(file.name for file in staging.iterdir())
        for name in names:
            (staging / name).replace(folder / name)
        staging.rmdir()
        for old in {old for pattern in stale for old in folder.glob(pattern) if old.name not in names}:
            old.unlink()
    except BaseException as error:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)
        for place in made:
            if place.is_dir() and not any(place.iterdir()):
                place.rmdir()
        if isinstance(error, OSError) and _about(error, folder):
            raise NotWrittenError(_sentence(folder, error)) from error
        raise


def _about(error: OSError, folder: Path) -> bool:
    """Whether an error is about writing: it has no file name, or one in the folder or on the way to it."""
    if error.filename is None:
        return True
    place = Path(str(error.filename)).absolute()
    return folder.absolute().is_relative_to(place) or place.is_relative_to(folder.absolute())


def _sentence(folder: Path, error: OSError) -> str:
    why = error.strerror or str(error)
    reason = (
        why if " could not be written: " not in why else why.partition(" could not be written: ")[2].partition(".")[0]
    )
    return (
        f"The folder {folder} (--out) cannot be written: {reason}. Nothing was written; choose another folder by --out."
    )
